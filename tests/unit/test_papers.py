#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of tools/papers: generated and real traces, and rows, from invented runs."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / name) for name in ("papers", "bench", "demo")]
sys.path.insert(1, str(TOOLS))

import kept as keeping  # noqa: E402
import pa_ir  # noqa: E402
import page  # noqa: E402
import papers  # noqa: E402
import re_bandwidth  # noqa: E402
import re_memory  # noqa: E402
import re_oltp  # noqa: E402
import re_postmark  # noqa: E402
import sc  # noqa: E402
import sc_real  # noqa: E402
import sc_traces  # noqa: E402
from guests import GuestError  # noqa: E402
from invented_papers import (  # noqa: E402
    finish,
    invent_normal_path,
    invent_postmark,
    invent_sc,
    whole,
)
from published import PUBLISHED, Number  # noqa: E402
from rows import missing_rows, row, verdict  # noqa: E402


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


if __name__ == "__main__":
    unittest.main()
