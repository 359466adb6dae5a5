#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of tools/papers: generated traces, rows, resuming, and the page, from invented runs."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / name) for name in ("papers", "bench", "demo")]
sys.path.insert(1, str(TOOLS))

import beyond  # noqa: E402
import charts  # noqa: E402
import kept as keeping  # noqa: E402
import pa_ir  # noqa: E402
import page  # noqa: E402
import papers  # noqa: E402
import parameters  # noqa: E402
import re_bandwidth  # noqa: E402
import re_memory  # noqa: E402
import re_oltp  # noqa: E402
import re_postmark  # noqa: E402
import runs  # noqa: E402
import sc  # noqa: E402
import sc_real  # noqa: E402
import sc_traces  # noqa: E402
from guests import GuestError  # noqa: E402
from published import PUBLISHED, Number  # noqa: E402
from rows import missing_rows, row, verdict  # noqa: E402

COMMIT = "abc 2026-11-20"


def finish(top, run, commit=COMMIT):
    """What a run leaves that has ended well."""
    (run.folder(top) / "commit").write_text(f"{commit}\n")
    (run.folder(top) / "settings").write_text(run.settings())


def whole(figure, top):
    """What is kept of a figure that was measured here only: rows by their IDs, data, text."""
    found = keeping.complete(figure, keeping.measured(figure, top)[0])
    return {entry["id"]: entry for entry in found["rows"]}, found["data"], found["text"]


def write_replay(path, mean, tail):
    """What guest-sc.sh leaves of one replay: two requests in a burst, a write of half a block."""
    result = {"all": {"response": {"mean_ns": mean * 1e6, "worst_ns": tail * 1e6}}}
    path.with_suffix(".json").write_text(json.dumps(result))
    path.with_suffix(".csv").write_text(
        "line,kind,offset,bytes,due_ns,submitted_ns,completed_ns\n"
        f"1,r,0,4096,0,0,{mean * 5e5:.0f}\n2,w,4096,8192,10,20,{mean * 1e6 + 10:.0f}\n"
        f"3,w,512,2048,10,20,{tail * 1e6 + 10:.0f}\n")


def invent_sc(top, trace, **means):
    """A run of SC with these means for D64 of its sides, 2 for all others; ten times the tail."""
    run = sc.run_of(trace)
    folder = run.folder(top)
    folder.mkdir(parents=True)
    if trace in sc.TRACES:
        sc_traces.generate(trace, 1000, folder / "trace.spc")
    for side, (_options, distributions) in sc.SIDES.items():
        for distribution in distributions:
            mean = means.get(side, 2) if distribution == "D64" else \
                BARE[distribution] if side == "bare" else 2
            write_replay(folder / f"{side}-{distribution}", mean, 10 * mean)
            with open(folder / "figures", "a", encoding="ascii") as out:
                out.write(f"{side}-{distribution}.erases 30\n"
                          f"{side}-{distribution}.drain_erases {0 if side == 'bare' else 4}\n")
    finish(top, run)
    return run


def invent_postmark(top, run, ours=10, commit=COMMIT):
    """40 s on the bare drive, 10 or so by our options, 20 by the paper's."""
    run.folder(top).mkdir(parents=True)
    seconds = {"bare": 40, "ours": ours, "paper": 20}[run.side]
    (run.folder(top) / "figures").write_text("".join(
        f"postmark.{run.load}.{figure}\n" for figure in (
            f"ms {seconds}000", f"moved {0 if run.size == 'unlimited' else 1000}", "logged 2000",
            "moves 1002", "moves_12k 101", "moved_sectors 10136", "moved_sectors_12k 4128",
            "small_permille 200")))
    finish(top, run, commit)


def invent_normal_path(top, run, **seconds):
    """A work on files that takes 10 s on each side, or so many."""
    run.folder(top).mkdir(parents=True)
    counts = {"busy_ns": 1, "merge_copies": 7, "requests": 200, "aligned": 50, "within": 150,
              "reads": 40, "reads_within": 40, "read_bytes": 8 << 20, "write_bytes": 17 << 20}
    (run.folder(top) / "figures").write_text("".join(
        f"{run.name_of_load}.{side}.{key} {value}\n" for side in run.sides()
        for key, value in {**counts, "ms": 1000 * seconds.get(side.replace("-", "_"), 10)}.items()))
    finish(top, run)


BARE = {"D1": 1, "D4": 1.5, "D16": 2}


class Traces(unittest.TestCase):
    """Generated traces match Table 1."""

    def test_table_1(self):
        """Shares, sizes and intervals within four standard errors or so."""
        with tempfile.TemporaryDirectory() as place:
            for name, wanted in sc_traces.TABLE_1.items():
                path = Path(place) / name
                sc_traces.generate(name, 10000, path)
                reads, read_sectors, write_sectors, interval = sc.describe(path)
                self.assertAlmostEqual(reads, wanted.reads, delta=2)
                self.assertLess(abs(read_sectors / wanted.read_sectors - 1), 0.1)
                self.assertLess(abs(write_sectors / wanted.write_sectors - 1), 0.1)
                self.assertLess(abs(interval / wanted.interval - 1), 0.05)
                lines = [line.split(",") for line in path.read_text().splitlines()]
                self.assertTrue(all(int(words[1]) + int(words[2]) // 512
                                    <= sc_traces.SPAN_MB * 2048 for words in lines))

    def test_repeatable(self):
        """The same trace each time."""
        with tempfile.TemporaryDirectory() as place:
            for name in ("a", "b"):
                sc_traces.generate("hm0", 100, Path(place) / name)
            self.assertEqual((Path(place) / "a").read_text(), (Path(place) / "b").read_text())


class RealTraces(unittest.TestCase):
    """Traces of others, from made-up lines."""

    def convert(self, name, text, requests=9):
        """The lines of the trace that is made of it."""
        with tempfile.TemporaryDirectory() as place, \
                mock.patch.dict(os.environ, {sc_real.FOLDER: place}):
            (Path(place) / f"{name}.trace").write_text(text)
            sc_real.convert(name, requests, Path(place) / "out")
            return (Path(place) / "out").read_text().splitlines()

    def test_columns(self):
        """Places and sizes have units of their own; whole sectors, in order, so many."""
        self.assertEqual(self.convert("fin1-head", "26.214\t0\t303574\t2\t0\n78.6 0 16 1 1\n"),
                         ["0,303574,8192,w,0.026214", "0,16,4096,r,0.078600"])
        text = "5.5 0 1024 700 1\n1.25 0 1000 100 0\n9 0 0 512 0\n"
        self.assertEqual(self.convert("msr-cut-rw_20_80", text, 2),
                         ["0,1,1024,w,0.001250", "0,2,1024,r,0.005500"])

    def test_refused(self):
        """Lines that are none name themselves."""
        for line in ("1 0 2 3", "1 0 x 512 1", "1 0 0 0 1", "1 0 0 512 2", "-1 0 0 512 1"):
            self.assertRaisesRegex(GuestError, "line 2 is not", self.convert,
                                   "msr-cut-rand-iops", f"0 0 0 512 1\n{line}\n")

    def test_without_folder(self):
        """No run then, and it is not an error; what was measured is still shown."""
        run = sc.run_of("fin1-head")
        with tempfile.TemporaryDirectory() as place, \
                mock.patch.dict(os.environ, {sc_real.FOLDER: ""}), \
                mock.patch.object(papers, "FOLDER", Path(place)):
            self.assertFalse(run.is_possible())
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                papers.measure_all([run])
            self.assertIn("sc/fin1-head is left out", output.getvalue())
            with mock.patch.dict(os.environ, {sc_real.FOLDER: place}):
                (Path(place) / "fin1-head.trace").write_text("1 0 2 3 0\n")
                self.assertTrue(run.is_possible())
                invent_sc(Path(place), "fin1-head", burst=0.5)
                self.assertEqual(run.guest(Path(place)).arguments[:3], ["pack", "bare", "none"])
            found, data, text = whole(papers.FIGURES["sc-real"], Path(place))
            self.assertEqual(data["groups"], ["fin1-head"])
            self.assertIn("real traces", data["drive"])
            self.assertTrue(found["sc-real/mean-burst-D64-over-bare-D1/fin1-head"]["reached"])
            self.assertIn("2 of 6 figures", text)


class Rows(unittest.TestCase):
    """Numbers beside published ones."""

    def test_verdict(self):
        """A quarter either way; better is passed, if the paper claims it of its own design."""
        self.assertEqual(verdict(2.5, Number(2, "x")), "within 25 %")
        self.assertEqual(verdict(2.51, Number(2, "x")), "differs")
        self.assertEqual(verdict(2.51, Number(2, "x", ">=")), "passed")
        self.assertEqual(verdict(1.49, Number(2, "x", ">=")), "differs")
        self.assertEqual(verdict(1.49, Number(2, "s", "<=")), "passed")
        self.assertEqual(verdict(0, Number(0, "KB")), "within 25 %")
        self.assertEqual(verdict(1, Number(0, "KB")), "differs")
        self.assertEqual(verdict(None, Number(2, "x")), "not measured")
        self.assertIsNone(verdict(2, None))
        # What a design gains is what it is above 1, or below.
        self.assertEqual(verdict(1, Number(1.2, "x", ">=", True)), "differs")
        self.assertEqual(verdict(1.16, Number(1.2, "x", ">=", True)), "within 25 %")
        self.assertEqual(verdict(1.3, Number(1.2, "x", ">=", True)), "passed")
        self.assertEqual(verdict(0.99, Number(0.964, "x", "<=", True)), "differs")

    def test_gains(self):
        """Of designs, in ratios; not what is the same as bare, nor percent, nor SC's bursts."""
        for name in ("pa-9/most/over-NoPAS-noop", "ir-8/most/over-kernel",
                     "re-6/paper-SSD-A/OLTP-C-0.75-GB", "re-3/ours-SSD-B/randwrite-4k",
                     "ir-11/Samsung/IRBW-FIFO-RP-over-IRBW-FIFO-mean-response"):
            self.assertTrue(PUBLISHED[name].is_gain, name)
        for name in ("re-3/ours-SSD-C/randwrite-4k", "re-3/paper-SSD-A/seqread",
                     "re-5/ours-SSD-A/PM-A-0.25-GB", "sc-1/D64-over-D1/most"):
            self.assertFalse(PUBLISHED[name].is_gain, name)
        self.assertEqual(row("pa-9/most/over-NoPAS-noop", 1)["verdict"], "differs")

    def test_row(self):
        """What is published is found by the name."""
        entry = row("re-3/ours-SSD-A/randwrite-4k", 8, why="because")
        self.assertEqual((entry["published"], entry["verdict"], entry["reached"]),
                         (2, "passed", True))
        entry = row("re-3/paper-SSD-A/randwrite-4k", 8, why="because")
        self.assertEqual((entry["verdict"], entry["why"], entry["within_25_percent"]),
                         ("differs", "because", False))
        self.assertFalse(row("sc-future/a/b", 1.01, claim=("<=", 1))["reached"])
        entry = row("re-8/ours/OLTP-C-0.25-GB-data", None, why="nothing was moved")
        self.assertEqual((entry["verdict"], entry["why"], entry["within_25_percent"]),
                         ("differs", "nothing was moved", False))

    def test_claims(self):
        """Gains of the papers' designs: not memory, nor the mover's writes, nor what is equal."""
        rows = [row("re-3/ours-SSD-A/randwrite-4k", 8), row("re-5/paper-SSD-A/PM-A-0.25-GB", 25),
                row("re-5/ours-SSD-A/PM-A-0.25-GB", 1), row("re-memory/ours/128-MB", 9e9),
                row("re-7/ours/PM-B-0.25-GB-data", 1), row("re-3/ours-SSD-A/seqread", 0),
                row("sc-1/D64-over-D1/most", 9), *missing_rows([])[:3]]
        text = page.claims(rows)
        self.assertIn("Of the 3 ratios", text)
        self.assertIn(" 1 are reached and 1 more are within", text.replace("\n", " "))
        self.assertIn("1 of its 1 are", text.replace("\n", " "))

    def test_every_published_number(self):
        """Each has its row, once."""
        rows = [row("sc-1/D64-over-D1/most", 9)]
        rows += missing_rows(rows)
        self.assertEqual(sorted(entry["id"] for entry in rows), sorted(PUBLISHED))
        self.assertEqual(sum(entry["verdict"] == "not measured" for entry in rows),
                         len(PUBLISHED) - 1)

    def test_range_needs_all_traces(self):
        """The paper's range is that of five traces, prn0's tail left out."""
        with tempfile.TemporaryDirectory() as place:
            top = Path(place)
            for trace in sc.TRACES[1:]:
                invent_sc(top, trace, bare=5)
            self.assertNotIn("sc-1/D64-over-D1/most", whole(sc.FIGURES[0], top)[0])
            invent_sc(top, sc.TRACES[0], bare=7)
            found = whole(sc.FIGURES[0], top)[0]
            self.assertEqual(found["sc-1/D64-over-D1/most"]["value"], 7)
            self.assertEqual(found["sc-1/D64-over-D1/most"]["published"], 9.1)
            # There D64 is said to be the shorter one.
            entry = whole(sc.FIGURES[1], top)[0]["sc-2/D64-over-D1/prn0"]
            self.assertEqual((entry["value"], entry["published"], entry["reached"]),
                             (5, 1, False))
            self.assertEqual(found[f"sc-1/D16/{sc.TRACES[2]}"]["value"], 2)

    def test_erases(self):
        """All traces together; of each replay the last pass counts."""
        with tempfile.TemporaryDirectory() as place, \
                mock.patch.object(sc, "SSDSIM_RUN", Path(__file__)):
            top, figure = Path(place), papers.FIGURES["sc-3"]
            for number, run in enumerate(figure.runs(), 1):
                run.folder(top).mkdir(parents=True)
                for distribution in sc.DISTRIBUTIONS:
                    erased = 200 * number if distribution == "D64" else 100 * number
                    (run.folder(top) / distribution).write_text(
                        "# drive\n9 bytes written, 7 blocks erased\n"
                        f"9 bytes written, {erased} blocks erased\n")
                self.assertNotIn("sc-3/D64-over-D1/erased-blocks",
                                 whole(figure, top)[0] if number > 1 else {})
                finish(top, run)
            found = whole(figure, top)[0]
            entry = found["sc-3/D64-over-D1/erased-blocks"]
            self.assertEqual((entry["value"], entry["verdict"]), (2, "differs"))
            self.assertEqual(figure.data(top)["series"]["D4"], [100, 200, 300, 400, 500])
            # 0.94 of proj0's requests write 42 KB.
            self.assertEqual(sc.Erases("proj0").requests(), 12979)

    def test_future(self):
        """D64 with ressd is held against D1 bare, not against D64."""
        with tempfile.TemporaryDirectory() as place:
            top = Path(place)
            self.assertFalse(papers.FIGURES["sc-future"].is_measured(top))
            invent_sc(top, "hm0", bare=5, burst=2, even=0.2, idle=0.2)
            found = {entry["id"]: entry for entry in papers.FIGURES["sc-future"].rows(top)}
            self.assertFalse(found["sc-future/mean-burst-D64-over-bare-D1/hm0"]["reached"])
            self.assertTrue(found["sc-future/tail-even-D64-over-bare-D1/hm0"]["reached"])
            self.assertIn("4 of 6 figures", whole(papers.FIGURES["sc-future"], top)[2])
            more = dict(papers.FIGURES["sc-future"].data(top)["more"])
            self.assertEqual(more["times D1 bare"]["mean, pace burst"], [2])
            self.assertEqual(more["blocks erased, also until the log is drained"],
                             {"D1 bare": [30], "D64 bare": [30], "D64, pace burst": [34],
                              "D64, pace even": [34], "D64, pace idle": [34]})
            self.assertEqual(found["sc-future/erases-even-D64/hm0"]["value"], 34)
            slower = more["requests of 3000 slower than the slowest of D1 bare"]
            self.assertEqual(slower, {"D64 bare": [1], "D64, pace burst": [1],
                                      "D64, pace even": [0], "D64, pace idle": [0]})
            self.assertEqual(sc.largest_burst(top, "hm0"), 2.5)
            # A read of 0.5 ms; 2 and 2.5 blocks over buses that take 0.0512 for one.
            self.assertAlmostEqual(sc.bound(top, "hm0", 0), (0.5 + 1.0024 + 1.028) / 3)
            self.assertAlmostEqual(sc.bound(top, "hm0", 2), (0.5 + 0.9256) / 3)
            self.assertAlmostEqual(sc.bound(top, "hm0", 3), 0.5 / 3)
            kinds = more["mean by kind, ms"]
            self.assertEqual(kinds["other writes, D64, pace burst"], [20])
            self.assertEqual(kinds["writes of whole 4 KB, D1 bare"], [1])

    def test_no_gain(self):
        """RE's SSD-C gains nothing by a small area; no claim counts that as a gain."""
        self.assertEqual(row("re-5/ours-SSD-C/PM-C-0.25-GB", 0.5)["verdict"], "passed")
        self.assertEqual(row("re-5/paper-SSD-C/PM-C-0.25-GB", -18)["verdict"], "passed")
        entry = row("re-5/paper-SSD-C/PM-C-0.25-GB", 4)
        self.assertEqual(entry["verdict"], "differs")
        self.assertIn("Of the 0 ratios", page.claims([entry]))
        self.assertEqual(row("re-4/ours-SSD-C/randwrite-8k", 1.1)["verdict"], "within 25 %")

    def test_sizes_of_re(self):
        """RE Tables 3 and 5: what is set here, times 16; a table's size is not known."""
        with tempfile.TemporaryDirectory() as place:
            top, run = Path(place), re_postmark.Sizes()
            run.folder(top).mkdir(parents=True)
            run.measure(top)
            finish(top, run)
            found = {**whole(papers.FIGURES["re-table3"], top)[0],
                     **whole(papers.FIGURES["re-table5"], top)[0]}
            self.assertEqual(found["re-table3/PM-B/files"]["value"], 160000)
            self.assertEqual(found["re-table3/PM-B/directories"]["value"], 20000)
            self.assertEqual(found["re-table3/PM-A/file-set"]["value"], 0.82)
            self.assertEqual(found["re-table5/OLTP-C/rows"]["value"], 60000000)
            self.assertNotIn("re-table5/OLTP-C/table", found)
            self.assertEqual(sum(entry["verdict"] == "within 25 %" for entry in found.values()), 15)

    def test_transforms(self):
        """SC Table 2: from the log of a replay at another speed."""
        with tempfile.TemporaryDirectory() as place, \
                mock.patch.object(sc, "TRACE_TOOL", Path(__file__)):
            top, run = Path(place), sc.Transforms()
            run.folder(top).mkdir(parents=True)
            for name in ("original", *sc.DISTRIBUTIONS):
                (run.folder(top) / f"{name}.csv").write_text(
                    "line,kind,offset,bytes,due_ns,submitted_ns,completed_ns\n"
                    "1,r,0,4096,0,0,9\n2,w,4096,8192,100000,0,9\n3,w,512,2048,300000,0,9\n")
            finish(top, run)
            found = whole(papers.FIGURES["sc-table2"], top)[0]
            self.assertEqual([found[f"sc-table2/D16/{what}"]["value"]
                              for what in sc.TraceTable.POINTS], [33.33333, 8, 10, 0.15])
            self.assertEqual(found["sc-table2/original/reads"]["published"], 32.73)

    def test_rules_of_re(self):
        """RE gathers nothing in RAM; the page has the very options."""
        self.assertIn(" commit writethrough", re_bandwidth.RULES["paper"])
        self.assertIn(f"`{re_bandwidth.RULES['paper']}`", page.PAPERS["re"][2])
        self.assertNotIn("%", page.PAPERS["re"][2])

    def test_published_of_re(self):
        """Ratios of Fig. 3 and figures of Table 2 come from the bench's figures."""
        with tempfile.TemporaryDirectory() as place:
            top = Path(place)
            for rules in re_bandwidth.RULES:
                run = re_bandwidth.Run("samsung", rules)
                run.folder(top).mkdir(parents=True)
                (run.folder(top) / "figures").write_text("".join(
                    f"{side}.{load}.bytes {4e6 if side == 'bare' else 8e6}\n{side}.{load}.ms 1000\n"
                    for side in ("bare", "ressd")
                    for load in ("randwrite-4k", "randwrite-8k", "randread", "seqwrite",
                                 "seqread")))
                finish(top, run)
            table, figure_3, figure_4 = re_bandwidth.FIGURES
            found = {entry["id"]: entry for entry in
                     table.rows(top) + figure_3.rows(top) + figure_4.rows(top)}
            self.assertEqual(found["re-table2/SSD-A/seqread"]["value"], 4)
            entry = found["re-3/paper-SSD-A/randwrite-4k"]
            self.assertEqual((entry["value"], entry["published"], entry["verdict"]),
                             (2, 2, "within 25 %"))
            self.assertNotIn("re-3/ours-SSD-B/randwrite-4k", found)

    def test_postmark(self):
        """Percent less than the same configuration on the bare drive; the mover's writes."""
        with tempfile.TemporaryDirectory() as place:
            top = Path(place)
            _, elapsed, _, _, table, moves = re_postmark.FIGURES
            *runs, last = [*elapsed.of("b"), re_postmark.Run("samsung", "bare", "b")]
            for run in runs:
                invent_postmark(top, run)
            self.assertFalse(elapsed.is_measured(top))
            invent_postmark(top, last)
            found = {entry["id"]: entry for entry in elapsed.rows(top) + moves.rows(top)}
            self.assertEqual(found["re-5/ours-SSD-A/PM-B-0.125-GB"]["value"], 75)
            self.assertEqual(found["re-5/paper-SSD-A/PM-B-unlimited"]["value"], 50)
            entry = found["re-7/paper/PM-B-0.25-GB-writes"]
            self.assertEqual((entry["value"], entry["published"]), (10, 15.6))
            self.assertEqual(found["re-7/ours/PM-B-0.125-GB-data"]["value"], 40)
            self.assertEqual(elapsed.data(top)["series"]["bare"], [40])
            self.assertEqual(moves.data(top)["series"]["published"], [13, 39, 15.6, 44])
            self.assertIn("nothing", whole(elapsed, top)[2])
            self.assertEqual([entry["value"] for entry in table.rows(top)], [20])
            advice = re_postmark.Advice("samsung").folder(top)
            advice.mkdir()
            (advice / "options").write_text("streams 16 route always\n")
            self.assertEqual(re_postmark.Run("samsung", "ours", "a", "unlimited").guest(top)
                             .arguments, ["samsung", "streams 16 route always", "16", "a-256"])

    def test_transactions(self):
        """RE Fig. 6: of each run with ressd over bare; Table 6 by the paper's rules only."""
        with tempfile.TemporaryDirectory() as place:
            top, figure, table = Path(place), papers.FIGURES["re-6-a"], papers.FIGURES["re-table6"]
            area = re_oltp.Run("samsung", "ours", "C", "0.75-GB")
            for run, tps in ((area, 30), (re_oltp.Run("samsung", "paper", "C", "0.75-GB"), 18),
                             (re_oltp.Run("samsung", "bare", "C"), 10)):
                self.assertFalse(figure.is_measured(top))
                folder = run.folder(top) / "apps-samsung/oltp/new"
                folder.mkdir(parents=True)
                side = "bare" if run.side == "bare" else "ressd"
                (folder / "figures").write_text("".join(
                    f"{side}.{key} {value}\n" for key, value in {
                        "tps": tps, "small_permille": 940, "logged": 900, "moves": 70,
                        "moved_sectors": 800}.items()))
                finish(top, run)
            found = {entry["id"]: entry for entry in figure.rows(top) + table.rows(top)}
            self.assertEqual(sorted(found), ["re-6/ours-SSD-A/OLTP-C-0.75-GB",
                                             "re-6/paper-SSD-A/OLTP-C-0.75-GB",
                                             "re-table6/small-random/OLTP-C"])
            entry = found["re-6/ours-SSD-A/OLTP-C-0.75-GB"]
            self.assertEqual((entry["value"], entry["verdict"]), (3, "passed"))
            self.assertEqual(figure.why(top, area), "bare 10 transactions a second, with it 30; 94 "
                             "% of the writes were small and random, 900 blocks, of which 100 were "
                             "moved in 70 writes")
            self.assertEqual(found["re-table6/small-random/OLTP-C"]["value"], 94)
            self.assertEqual(figure.data(top)["series"],
                             {"bare": [10], "ours, 0.75 GB": [30], "paper, 0.75 GB": [18]})
            # The area is that of the run, the table that of all runs.
            with mock.patch.object(re_oltp.apps.app_inputs, "files_of", return_value=[]):
                guest = area.guest(top)
            self.assertEqual(guest.arguments, ["samsung", "probe", "oltp", "ressd"])
            sizes = (area.folder(top) / "apps-samsung/oltp/apps.conf").read_text()
            self.assertIn("APPS_RESERVED_MB='48'", sizes)
            small = re_oltp.Run("samsung", "ours", "A", "0.125-GB")
            with mock.patch.object(re_oltp.apps.app_inputs, "files_of", return_value=[]) as files:
                small.guest(top)
            sizes = (small.folder(top) / "apps-samsung/oltp/apps.conf").read_text()
            self.assertIn("APPS_RESERVED_MB='8'", sizes)
            self.assertIn("OLTP_ROWS='1250000'", sizes)
            self.assertEqual(files.call_args.args[1]["APPS_RESERVED_MB"], 48)

    def test_moves_of_transactions(self):
        """RE Fig. 8: the mover's writes; if there were none, there is no share."""
        with tempfile.TemporaryDirectory() as place:
            top, figure = Path(place), papers.FIGURES["re-8"]
            for run in figure.runs():
                moves = (0, 0, 0, 0) if run.side == "ours" else (100, 5, 1000, 200)
                folder = run.folder(top) / "apps-samsung/oltp/new"
                folder.mkdir(parents=True)
                counts = zip([*figure.COVERS, "logged"], [*moves, 390], strict=True)
                (folder / "figures").write_text("".join(
                    f"ressd.{key} {count}\n" for key, count in counts))
                finish(top, run)
            found = {entry["id"]: entry for entry in figure.rows(top)}
            self.assertEqual(len(found), 9)
            self.assertEqual(found["re-8/paper/mover-begins"]["verdict"], "not measured")
            begun = re_oltp.Run("samsung", "paper", "C", "0.125-GB")
            with open(begun.results(top) / "figures", "a", encoding="utf-8") as file:
                file.write("ressd.first_move_ms 40000\n")
            entry = next(entry for entry in figure.rows(top)
                         if entry["id"] == "re-8/paper/mover-begins")
            self.assertEqual((entry["value"], entry["verdict"]), (640, "within 25 %"))
            still = re_oltp.Run("samsung", "ours", "C", "0.125-GB")
            entry = figure.begin(top, still)
            self.assertEqual((entry["value"], entry["verdict"]), (None, "differs"))
            self.assertIn("has 1024 blocks, 390 ", entry["why"])
            entry = found["re-8/paper/OLTP-C-0.125-GB-writes"]
            self.assertEqual((entry["value"], entry["published"]), (5, 6))
            self.assertEqual(found["re-8/paper/OLTP-C-0.25-GB-data"]["value"], 20)
            entry = found["re-8/ours/OLTP-C-0.25-GB-data"]
            self.assertEqual((entry["value"], entry["verdict"]), (None, "differs"))
            self.assertIn("390 blocks", entry["why"])
            self.assertIn("by then: ours, 0.125 GB, ours, 0.25 GB.", whole(figure, top)[2])
            self.assertEqual(figure.data(top)["series"]["published"], [6, 21, 8, 27])

    def test_requests_that_reach_the_drive(self):
        """PA Table 4: shares of the sides with PAI, and why they differ."""
        with tempfile.TemporaryDirectory() as place:
            top, figure = Path(place), papers.FIGURES["pa-table4"]
            invent_normal_path(top, pa_ir.Run("samsung", "postmark-8m-through"))
            found = {entry["id"]: entry for entry in figure.rows(top)}
            self.assertEqual(found["pa-table4/8-MB/PASA-requests"]["value"], 1)
            self.assertEqual(found["pa-table4/8-MB/NoPAS-aligned"]["value"], 25)
            self.assertIn("40 of the 200 requests are reads, 100 %",
                          found["pa-table4/8-MB/NoPAS-within"]["why"])
            self.assertIn("128 KB in the mean", found["pa-table4/8-MB/NoPAS-aligned"]["why"])
            data = figure.data(top)
            self.assertEqual(data["groups"], ["NoPAS\n8 MB", "PAS\n8 MB", "PASA\n8 MB"])
            self.assertEqual(data["series"]["within, published"], [23.34, 100, 100])
            self.assertEqual(data["series"]["within, here"], [75, 75, 75])

    def test_gains_over_noop(self):
        """PA Figs. 9 and 10: of the drives that are there, each side over NoPAS-noop."""
        with tempfile.TemporaryDirectory() as place:
            top = Path(place)
            large, filebench = papers.FIGURES["pa-9"], papers.FIGURES["pa-10"]
            self.assertFalse(large.is_measured(top))
            invent_normal_path(top, pa_ir.Run("samsung", "postmark-8m-through"), none=12,
                               pas_pai=9, pasa_pai=8)
            invent_normal_path(top, pa_ir.Run("transcend", "postmark-256k"), pas_pai=5)
            found = {name: entry["value"] for name, entry in whole(large, top)[0].items()}
            self.assertEqual(found["pa-9/SSD-A-8-MB/PASA-PAI-over-NoPAS-PAI"], 1.25)
            self.assertEqual(found["pa-9/SSD-A-8-MB/PASA-PAI-over-PAS-PAI"], 1.125)
            self.assertEqual(found["pa-9/most/over-NoPAS-noop"], 2)
            self.assertEqual(found["pa-9/SSD-D-256-KB/PASA-PAI-over-NoPAS-noop"], 1)
            self.assertIn("SSD-A\n8 MB\nflushing", large.data(top)["groups"])
            self.assertNotIn("transcend", [run.profile for run in large.runs()
                                           if run.name_of_load.endswith("-through")])
            invent_normal_path(top, pa_ir.Run("transcend", "filebench-oltp"), pasa_pai=2.5)
            entry = next(entry for entry in filebench.rows(top) if entry["published"])
            self.assertEqual((entry["id"], entry["value"], entry["verdict"]),
                             ("pa-10/SSD-D-OLTP/PASA-PAI-over-NoPAS-noop", 4, "within 25 %"))

    def test_schedulers(self):
        """IR Fig. 8: the better of IR's beside the best of the kernel's, not beside noop."""
        with tempfile.TemporaryDirectory() as place:
            top, figure = Path(place), papers.FIGURES["ir-8"]
            invent_normal_path(top, pa_ir.Run("samsung", "postmark-a"), kyber=8, bundle_rp=5,
                               log_bundle_rp=1)
            invent_normal_path(top, pa_ir.Run("samsung", "postmark-b"), bundle=20, bundle_rp=16)
            found = {name: entry["value"] for name, entry in whole(figure, top)[0].items()}
            self.assertEqual(found["ir-8/postmark-a/bundle-rp-over-none"], 2)
            self.assertEqual(found["ir-8/most/over-kernel"], 1.6)
            self.assertEqual(found["ir-8/postmark-b/over-kernel"], 0.625)
            self.assertEqual(figure.data(top)["series"]["IRBW-FIFO-RP"], [2, 0.625])

    def test_responses(self):
        """IR Fig. 11: what comes while Postmark is at work; points are drawn, but not kept."""
        def event(seconds, name, rest):
            return f"  task-1 [000] ..... {seconds:.6f}: {name}: {rest}\n"

        with tempfile.TemporaryDirectory() as place:
            top, figure = Path(place) / "papers", papers.FIGURES["ir-11"]
            run = pa_ir.Run("samsung", "postmark-a-responses")
            invent_normal_path(top, run)
            for side, took in (("bundle", 0.004), ("bundle-rp", 0.002)):
                (run.folder(top) / f"{run.name_of_load}.{side}.bios").write_text(
                    event(1, "block_bio_queue", "253,0 W 0 + 8 [task]") +
                    event(2, "block_bio_complete", "253,0 W 0 + 8 [0]") +
                    event(3, "tracing_mark_write", "phase run") +
                    event(4, "block_bio_queue", "253,0 R 8 + 8 [task]") +
                    event(4, "block_bio_queue", "253,0 W 16 + 8 [task]") +
                    event(4 + took, "block_bio_complete", "253,0 R 8 + 8 [0]") +
                    event(4 + 3 * took, "block_bio_complete", "253,0 W 16 + 8 [0]") +
                    event(5, "tracing_mark_write", "phase end"))
            self.assertEqual(figure.rows(top)[0]["value"], 0.5)
            data = figure.data(top)
            self.assertEqual(data["series"]["IRBW-FIFO"], [8, 12, 4, 4, 12, 12])
            self.assertEqual(data["points"]["IRBW-FIFO-RP"], [2, 6])
            kept = keeping.update([figure], top, Path(place) / "docs")
            self.assertNotIn("points", kept["ir-11"]["data"])
            self.assertTrue((Path(place) / "docs/papers/ir-11.png").exists())

    def test_memory(self):
        """The map's bytes beside RE's KB, of the sizes that are there."""
        with tempfile.TemporaryDirectory() as place:
            top, figure = Path(place), re_memory.FIGURES[0]
            for run in figure.runs():
                run.folder(top).mkdir(parents=True)
                (run.folder(top) / "figures").write_text(
                    "mapped 60000\nmap 3072000\nbuffers 1024\nvmalloc 4096000\n")
                finish(top, run)
            found, *_ = whole(figure, top)
            self.assertEqual(found["re-memory/ours/512-MB-60000-blocks"]["value"], 3000)
            entry = found["re-memory/paper/MB-for-100-MB"]
            self.assertEqual((entry["value"], entry["published"]), (0.57220, 1))
            self.assertEqual(figure.data(top)["series"]["all by vmalloc(), paper"], [4000, 4000])


PROBE = """samsung clustered-page correct high measured:16384+0 16384+0 shows 0.6s writes are slow
samsung read-buffer correct high measured:262144+0 262144+0 shows 4.2s a read is remembered
samsung open-units correct medium measured:27+0 27+0 shows 2.8s 27 blocks can be written in turn
samsung advice log_page_sectors 32
samsung advice log_rewrite on
samsung advice move_block_sectors 8192
samsung advice move_fill_blocks 230
samsung advice open_units 27
"""
TRANSCEND = "".join(
    f"transcend {name} correct high measured:65536+0 65536+0 shows 0.6s because\n"
    for name in ("clustered-page", "clustered-block", "read-buffer", "write-buffer"))
CURVES = "".join(f"transcend chart {name} {size} {value}\n" for name, values in {
    "page": (1, 2), "read-first": (0.22, 0.3), "read-again": (0.2, 0.1),
    "write-full": (2, 3), "write-empty": (3, 4)}.items()
    for size, value in zip((1, 4), values, strict=True))
PATTERNS = """# samsung.conf: 61056 MiB, page 16 KB, block 4096 KB, 427 log blocks, span 4070 MiB
sequential write 512 KB         86.183 MB/s     6083.4 us (longest    23482.6)     0.01 copies
random read        4 KB         16.296 MB/s      251.3 us (longest      251.4)     0.00 copies
"""
MODEL = """waits, ms: mean 0.734  p99 0.01  p99.9 38.97  p99.99 2397.2  longest 2407.3
  5.5722 MB/s      735.1 us a write      850 erases  18980 moved  0 holes  longest 2407 ms
"""


class Programs(unittest.TestCase):
    """What the programs print is understood."""

    def test_findings(self):
        """Of probe-score: parameters in the paper's units, times, and nothing else."""
        found = parameters.findings(PROBE)
        self.assertEqual(list(found), ["clustered-page", "read-buffer"])
        self.assertEqual((found["read-buffer"].value, found["read-buffer"].seconds), (256, 4.2))

    def test_curves(self):
        """Points of each series, from which PA and ME have numbers, too; the chart is drawn."""
        with tempfile.TemporaryDirectory() as place, \
                mock.patch.object(parameters, "PROBE", Path(__file__)):
            top, docs = Path(place) / "papers", Path(place)
            figures = [papers.FIGURES[name] for name in ("pa-4", "pa-6", "pa-7")]
            run = parameters.Probe("transcend")
            run.folder(top).mkdir(parents=True)
            finish(top, run)
            # Of a run from before there were charts.
            (run.folder(top) / "output").write_text(TRANSCEND)
            self.assertFalse(figures[0].is_measured(top))
            (run.folder(top) / "output").write_text(TRANSCEND + CURVES)
            kept = keeping.update(figures, top, docs)
            self.assertTrue((docs / "papers/pa-6.png").exists())
            self.assertNotIn("points", kept["pa-6"]["data"])
            self.assertEqual(kept["pa-4"]["data"]["series"], {"published": [128], "found": [64]})
            found = {entry["id"]: (entry["value"], entry["verdict"])
                     for figure in kept.values() for entry in figure["rows"]}
            self.assertEqual(found, {"pa-6/SSD-D/faster-from": (4, "differs"),
                                     "me-8/SSD-D/read-1-KB": (220, "within 25 %"),
                                     "me-9/SSD-D/write-1-KB": (3000, "differs")})

    def test_bandwidths(self):
        """Of ssdsim-run, by the names that the figures use."""
        found = parameters.bandwidths(PATTERNS)
        self.assertEqual(found, {parameters.LOADS["seqwrite"]: 86.183,
                                 parameters.LOADS["randread-4k"]: 16.296})

    def test_model(self):
        """Of mover-model; no figures are an error."""
        self.assertEqual(beyond.parse(MODEL), {"mb_s": 5.5722, "erases": 850, "longest_ms": 2407})
        self.assertRaises(GuestError, beyond.parse, "waits\n")

    def test_steps(self):
        """Each step keeps what the ones before have set; the advice is in the model's units."""
        advice = beyond.advised(PROBE)
        self.assertEqual(advice["visit"], "1024")
        first, last = (beyond.settings_of(step, advice) for step in (0, len(beyond.STEPS) - 1))
        self.assertIn("apart=1", first)
        self.assertNotIn("visit=1024", first)
        for word in ("apart=0", "writethrough=0", "visit=1024", "page=4", "fill=230", "rewrite=1",
                     "even=1", "open_units=27", "threshold=50"):
            self.assertIn(word, last)
        self.assertRaises(GuestError, beyond.advised, "samsung verdict unknown 0\n")

    def test_failure(self):
        """A program that fails is an error, not a result."""
        class Failing(runs.ProgramRun):
            """Ends with 1."""

            name = "failing"

            def commands(self):
                """One."""
                return {"output": ["false"]}

        with tempfile.TemporaryDirectory() as place:
            self.assertRaises(GuestError, Failing().measure, Path(place))
            self.assertFalse(Failing().is_there(Path(place)))

    # What the settings of a run name: that programs may be built meanwhile is no matter.
    @mock.patch.multiple(beyond, MODEL=Path(__file__), PROBE=Path(__file__))
    def test_waterfall(self):
        """Of invented runs: the page has each step, and the chart is drawn."""
        with tempfile.TemporaryDirectory() as place:
            top, docs = Path(place) / "papers", Path(place) / "docs"
            run = beyond.Run("hot", "samsung")
            run.folder(top).mkdir(parents=True)
            for step in range(len(beyond.STEPS)):
                (run.folder(top) / f"step-{step}").write_text(MODEL.replace("5.5", f"{step + 2}.5"))
            (run.folder(top) / "bare").write_text(MODEL.replace("5.5722", "0.5"))
            finish(top, run)
            figure = papers.FIGURES["beyond-hot"]
            rows = figure.rows(top)
            self.assertEqual([entry["value"] for entry in rows[::2]][:3], [0.5, 2.5722, 3.5722])
            page.write([figure], keeping.update([figure], top, docs), docs)
            text = (docs / "papers/beyond.md").read_text()
            self.assertIn("samsung 5.1 and 23.1", text)
            self.assertIn("| NAND blocks erased for a MB | samsung |", text)
            self.assertTrue((docs / "papers/beyond-hot.png").exists())


class Charts(unittest.TestCase):
    """What is drawn."""

    def test_labels(self):
        """Labels of many groups are wrapped; those with lines of their own are not."""
        self.assertEqual(charts.wrapped("clustered-block", 7), "clustered-\nblock")
        self.assertEqual(charts.wrapped("clustered-block", 2), "clustered-block")
        self.assertEqual(charts.wrapped("a long label\nfor two", 12), "a long label\nfor two")

    def test_series_without_values(self):
        """Has no place in the legend, nor between the bars."""
        from matplotlib import pyplot
        figure, axes = pyplot.subplots()
        charts.bars(axes, {"unit": "%", "groups": ["a", "b"],
                           "series": {"there": [1, 2], "here": [None, None], "then": [None, 3]}})
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        self.assertEqual(names, ["there", "then"])
        self.assertAlmostEqual(axes.containers[0][0].get_width(), 0.42)
        pyplot.close(figure)


class CommandLine(unittest.TestCase):
    """What is chosen."""

    @staticmethod
    def chosen(*words):
        """Figures that these words name."""
        with mock.patch.object(sys, "argv", ["papers", *words]), \
                contextlib.redirect_stderr(io.StringIO()):
            return papers.parse().figure

    def test_figures(self):
        """A name is that figure only; a shorter one all whose names go on after it."""
        self.assertIsNone(self.chosen())
        self.assertEqual(self.chosen("--figure", "sc-1"), ["sc-1"])
        self.assertEqual(self.chosen("--figure", "re-5", "--figure", "re-2"),
                         ["re-5-a", "re-5-b", "re-5-c", "re-2"])
        self.assertEqual(self.chosen("--figure", "ir"), ["ir-8", "ir-9", "ir-10", "ir-11"])
        self.assertIn("pa-table4", self.chosen("--figure", "pa"))
        # No figure goes on after a part of a word.
        for wrong in ("re-", "sc-t", "xy"):
            self.assertRaises(SystemExit, self.chosen, "--figure", wrong)


class Page(unittest.TestCase):
    """What is written."""

    def test_only_what_was_measured(self):
        """A page with the figures that are there, their charts, and no others."""
        with tempfile.TemporaryDirectory() as place:
            top, docs = Path(place) / "papers", Path(place) / "docs"
            for trace in sc.TRACES:
                invent_sc(top, trace, bare=5)
            shown = [figure for figure in papers.FIGURES.values() if figure.is_measured(top)]
            self.assertEqual([figure.name for figure in shown],
                             ["sc-1", "sc-2", "sc-future", "sc-table1"])
            page.write(shown, keeping.update(shown, top, docs), docs)
            text = (docs / "papers/sc.md").read_text()
            self.assertIn("| hm0 | 1 | 1.5 | 2 | 5 |", text)
            self.assertIn("| read size, sectors | 14.7 |", text)
            self.assertIn("| `sc-1/D64-over-D1/least` | 3.7 | 5 | x | **differs** |", text)
            self.assertIn("| `sc-3/D64-over-D1/erased-blocks` | 1 |  | x | not measured |", text)
            self.assertIn("`sc-1/D64-over-D1/least`, ", text.partition("Why they differ:")[2])
            self.assertNotIn("re-3", text)
            self.assertEqual((docs / "papers/sc-1.png").read_bytes()[1:4], b"PNG")
            self.assertEqual([path.name for path in (docs / "papers").glob("*.png")
                              if not path.name.startswith("sc-")], [])
            text = (docs / "papers.md").read_text()
            self.assertRegex(text, r"\[SC\]\(papers/sc.md\).* \| 46 \| 0 \| 21 \| 4 \| 21 \|")
            self.assertRegex(text, rf"\| all \| {len(PUBLISHED)} \|")

    def test_keeps_what_was_measured(self):
        """What the pages have of runs that are gone, all or some of a figure, stays."""
        with tempfile.TemporaryDirectory() as place:
            top = papers.FOLDER = Path(place) / "papers"
            papers.DOCS, papers.RESULT = Path(place) / "docs", Path(place) / "papers.json"
            (papers.DOCS / "papers").mkdir(parents=True)
            other = {"runs": {"re-ours/ocz": None}, "text": "",
                     "rows": [{**row("re-4/a/b", 3), "commits": ["def 2026-11-19"]}],
                     "data": {"unit": "x", "drive": "", "groups": ["1"], "series": {"a": [2]}}}
            (papers.DOCS / "papers/figures.json").write_text(json.dumps({"re-4": other}))
            for trace in sc.TRACES:
                invent_sc(top, trace, bare=5)

            def write():
                with mock.patch.object(keeping.charts, "draw"):
                    rows = {entry["id"]: (entry["value"], entry["verdict"], entry["why"])
                            for entry in papers.report()}
                return rows, {path.stem: path.read_text() for path in papers.DOCS.glob("**/*.md")}

            before = write()
            self.assertEqual(before[0]["re-4/a/b"][0], 3)
            self.assertIn("## re-4: ", before[1]["re"])
            self.assertIn("Measured at `def` (2026-11-19).", before[1]["re"])
            self.assertIn("Why they differ", before[1]["sc"])
            for trace in sc.TRACES[::-1]:
                self.assertEqual(write(), before)
                (sc.Run(trace).folder(top) / "settings").unlink()

    def test_merge(self):
        """A run that is made here replaces its rows and numbers; those of other machines stay."""
        with tempfile.TemporaryDirectory() as place, mock.patch.object(keeping.charts, "draw"):
            top, docs, figure = Path(place) / "there", Path(place), papers.FIGURES["re-5-a"]

            def update():
                kept = keeping.update([figure], top, docs)["re-5-a"]
                return {entry["id"]: (entry["value"], entry["commits"])
                        for entry in kept["rows"]}, kept

            runs = {(run.side, run.configuration, run.size): run for run in figure.runs()[1:]}
            for key in (("bare", "c", None), ("ours", "c", "0.25-GB"), ("paper", "c", "0.25-GB"),
                        ("ours", "c", "unlimited")):
                invent_postmark(top, runs[key])
            ours, theirs = ("re-5/ours-SSD-A/PM-C-0.25-GB", "re-5/paper-SSD-A/PM-C-0.25-GB")
            rows, kept = update()
            self.assertEqual((rows[ours], rows[theirs]),
                             ((75, ["abc 2026-11-20"]), (50, ["abc 2026-11-20"])))
            # On another machine.
            top = Path(place) / "here"
            for key in (("bare", "a", None), ("ours", "a", "0.25-GB"), ("bare", "c", None),
                        ("ours", "c", "0.25-GB")):
                invent_postmark(top, runs[key], ours=4, commit="def 2026-11-22")
            rows, kept = update()
            self.assertEqual((rows[ours], rows[theirs], rows["re-5/ours-SSD-A/PM-A-0.25-GB"]),
                             ((90, ["def 2026-11-22"]), (50, ["abc 2026-11-20"]),
                              (90, ["def 2026-11-22"])))
            self.assertEqual(kept["data"]["groups"], ["PM-A", "PM-C"])
            self.assertEqual(kept["data"]["series"],
                             {"bare": [40, 40], "ours, 0.25 GB": [4, 4],
                              "ours, unlimited": [None, 10], "paper, 0.25 GB": [None, 20]})
            self.assertIn("`abc` (2026-11-20), `def` (2026-11-22)", page.origin(kept))
            # What has been measured again since is not taken back.
            top = Path(place) / "there"
            self.assertEqual(update()[0], rows)

    def test_stale(self):
        """Guests whose module has changed since, or is not known; no others."""
        def git(*words):
            subprocess.run(["git", "-C", place, "-c", "user.name=a", "-c", "user.email=a@b",
                            *words], check=True, stdout=subprocess.DEVNULL)

        def commit(module, tools):
            for name, text in (("dm-ressd", module), ("tools", tools)):
                (Path(place) / name).mkdir(exist_ok=True)
                (Path(place) / name / "file").write_text(text)
            git("add", ".")
            git("commit", "-qm", "message")
            return papers.result_files.commit() + " 2026-11-20"

        with tempfile.TemporaryDirectory() as place, \
                mock.patch.object(papers, "PROJECT", place), \
                mock.patch.object(papers.result_files, "PROJECT", place):
            git("init", "-q")
            first, second, third = commit("1", "1"), commit("2", "1"), commit("2", "2")
            papers.FOLDER, figure = Path(place) / "papers", papers.FIGURES["sc-1"]
            there = dict(zip([f"sc/{trace}" for trace in sc.TRACES],
                             [first, second, third, None, f"{third[:7]}-dirty"], strict=True))
            kept = {"sc-1": {"runs": there}}
            self.assertEqual(list(papers.stale_runs(figure, kept)),
                             ["sc/hm0", "sc/fin1", "sc/fin2"])
            # Made here again.
            finish(papers.FOLDER, invent_sc(papers.FOLDER, "hm0"), second)
            self.assertEqual(list(papers.stale_runs(figure, kept)), ["sc/fin1", "sc/fin2"])
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                papers.show_stale(figure, kept)
            self.assertIn("stale, with the module of a commit that was not noted: sc/fin1\n",
                          output.getvalue())
            # It has no guest.
            erases = papers.FIGURES["sc-3"]
            kept = {"sc-3": {"runs": {run.name: first for run in erases.runs()}}}
            self.assertEqual(papers.stale_runs(erases, kept), {})

    def test_missing(self):
        """Only runs that the pages have nothing of, behind what they need."""
        figure = papers.FIGURES["re-6-b"]
        needed = re_oltp.Run("supertalent", "ours", "B", "0.25-GB")
        runs = {run.name: None for run in figure.runs() if run != needed}
        self.assertEqual(papers.missing_runs(["re-6-b"], {"re-6-b": {"runs": runs}}),
                         [needed.bare(), needed])
        ours = re_postmark.Run("ocz", "ours", "a", "0.25-GB")
        self.assertEqual(ours.needs(), [ours.bare(), re_postmark.Advice("ocz")])
        self.assertEqual(len(papers.missing_runs(["re-6-b"], {})), len(figure.runs()))

    def test_fresh_clone(self):
        """Without any run the results come from what the pages keep; without both: an error."""
        with tempfile.TemporaryDirectory() as place:
            papers.FOLDER = Path(place) / "papers"
            papers.DOCS, papers.RESULT = Path(place) / "docs", Path(place) / "build/papers.json"
            self.assertRaises(GuestError, papers.report)
            (papers.DOCS / "papers").mkdir(exist_ok=True, parents=True)
            shutil.copy(TOOLS.parent / "docs/papers/figures.json", papers.DOCS / "papers")
            with mock.patch.object(keeping.charts, "draw") as draw:
                papers.report()
            drawn = [call.args[0].name for call in draw.mock_calls]
            self.assertIn("re-4", drawn)
            # Points are not kept.
            self.assertNotIn("ir-11", drawn)
            rows = {entry["id"]: entry for entry in json.loads(papers.RESULT.read_text())["rows"]}
            self.assertTrue(set(PUBLISHED) <= set(rows))
            self.assertEqual(rows["re-6/ours-SSD-A/OLTP-C-0.75-GB"]["value"], 2.21619)
            self.assertIn("## re-6-a: ", (papers.DOCS / "papers/re.md").read_text())

    def test_resumable(self):
        """A run is there if it has ended well with the same settings."""
        with tempfile.TemporaryDirectory() as place:
            papers.FOLDER = Path(place)
            run = sc.Run("hm0")
            self.assertFalse(papers.is_done(run))
            invent_sc(Path(place), "hm0")
            self.assertTrue(papers.is_done(run))
            (run.folder(Path(place)) / "settings").write_text("other options\n")
            self.assertFalse(papers.is_done(run))

    def test_runs_are_shared(self):
        """Figs. 1 and 2 are one measurement."""
        self.assertEqual(len(papers.runs_of(["sc-1", "sc-2"])), len(sc.TRACES))


if __name__ == "__main__":
    unittest.main()
