#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of tools/papers: generated traces, rows, resuming, and the page, from invented runs."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / name) for name in ("papers", "bench", "demo")]
sys.path.insert(1, str(TOOLS))

import page  # noqa: E402
import papers  # noqa: E402
import re_bandwidth  # noqa: E402
import sc  # noqa: E402
import sc_traces  # noqa: E402
from rows import row  # noqa: E402


def write_replay(folder, distribution, mean, tail):
    """What guest-sc.sh leaves of one replay."""
    result = {"all": {"response": {"mean_ns": mean * 1e6, "worst_ns": tail * 1e6}},
              "late": {"late_max_ns": 0}}
    (folder / f"{distribution}.json").write_text(json.dumps(result))


def invent_sc(top, trace, side, means):
    """A run of SC with these means for its distributions; the tail is ten times as long."""
    run = sc.Run(trace, side)
    folder = run.folder(top)
    folder.mkdir(parents=True)
    for distribution, mean in means.items():
        write_replay(folder, distribution, mean, 10 * mean)
    (folder / "settings").write_text(run.settings())
    return run


BARE = {"D1": 1, "D4": 1.5, "D16": 2, "D64": 5}


class Traces(unittest.TestCase):
    """Generated traces match Table 1."""

    def test_table_1(self):
        """Shares, sizes and intervals within four standard errors or so."""
        with tempfile.TemporaryDirectory() as place:
            for name, wanted in sc_traces.TABLE_1.items():
                path = Path(place) / name
                sc_traces.generate(name, 10000, path)
                lines = [line.split(",") for line in path.read_text().splitlines()]
                reads = [int(words[2]) / 512 for words in lines if words[3] == "r"]
                writes = [int(words[2]) / 512 for words in lines if words[3] == "w"]
                self.assertAlmostEqual(len(reads) / 100, wanted.reads, delta=2)
                self.assertLess(abs(sum(reads) / len(reads) / wanted.read_sectors - 1), 0.1)
                self.assertLess(abs(sum(writes) / len(writes) / wanted.write_sectors - 1), 0.1)
                self.assertLess(abs(float(lines[-1][4]) / 10000 / wanted.interval - 1), 0.05)
                self.assertTrue(all(int(words[1]) + int(words[2]) // 512
                                    <= sc_traces.SPAN_MB * 2048 for words in lines))

    def test_repeatable(self):
        """The same trace each time."""
        with tempfile.TemporaryDirectory() as place:
            for name in ("a", "b"):
                sc_traces.generate("hm0", 100, Path(place) / name)
            self.assertEqual((Path(place) / "a").read_text(), (Path(place) / "b").read_text())


class Rows(unittest.TestCase):
    """Numbers beside published ones."""

    def test_within(self):
        """A quarter either way."""
        self.assertTrue(row("re-3/a/b", 2.5, 2)["within_25_percent"])
        self.assertFalse(row("re-3/a/b", 2.51, 2)["within_25_percent"])
        self.assertIsNone(row("re-3/a/b", 2)["within_25_percent"])

    def test_claims(self):
        """Reached or not."""
        self.assertTrue(row("re-3/a/b", 8, 2, claim=(">=", 2))["reached"])
        self.assertFalse(row("sc-future/a/b", 1.01, claim=("<=", 1))["reached"])

    def test_range_needs_all_traces(self):
        """The paper's range is that of five traces, prn0's tail left out."""
        with tempfile.TemporaryDirectory() as place:
            top = Path(place)
            for trace in sc.TRACES[1:]:
                invent_sc(top, trace, "bare", BARE)
            self.assertFalse(sc.FIGURES[0].is_measured(top))
            invent_sc(top, sc.TRACES[0], "bare", {**BARE, "D64": 7})
            self.assertTrue(sc.FIGURES[0].is_measured(top))
            found = {entry["id"]: entry for entry in sc.FIGURES[0].rows(top)}
            self.assertEqual(found["sc-1/D64-over-D1/most"]["value"], 7)
            self.assertEqual(found["sc-1/D64-over-D1/most"]["published"], 9.1)
            self.assertEqual(found[f"sc-1/D16/{sc.TRACES[2]}"]["value"], 2)

    def test_future(self):
        """D64 with ressd is held against D1 bare, not against D64."""
        with tempfile.TemporaryDirectory() as place:
            top = Path(place)
            invent_sc(top, "hm0", "bare", BARE)
            self.assertFalse(sc.FIGURES[2].is_measured(top))
            for side in list(sc.SIDES)[1:]:
                invent_sc(top, "hm0", side, {"D1": 0.1, "D64": 2 if side == "burst" else 0.2})
            found = {entry["id"]: entry for entry in sc.FIGURES[2].rows(top)}
            self.assertFalse(found["sc-future/mean-burst-D64-over-bare-D1/hm0"]["reached"])
            self.assertTrue(found["sc-future/tail-even-D64-over-bare-D1/hm0"]["reached"])
            self.assertIn("mean of hm0 with `pace burst` 2.00", sc.FIGURES[2].text(top))

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
                (run.folder(top) / "settings").write_text(run.settings())
            table, figure_3, figure_4 = re_bandwidth.FIGURES
            found = {entry["id"]: entry for entry in
                     table.rows(top) + figure_3.rows(top) + figure_4.rows(top)}
            self.assertEqual(found["re-table2/SSD-A/seqread"]["value"], 4)
            entry = found["re-3/paper-SSD-A/randwrite-4k"]
            self.assertEqual((entry["value"], entry["published"], entry["reached"]), (2, 2, True))
            self.assertNotIn("re-3/ours-SSD-B/randwrite-4k", found)


class Page(unittest.TestCase):
    """What is written."""

    def test_only_what_was_measured(self):
        """A page with the figures that are there, their charts, and no others."""
        with tempfile.TemporaryDirectory() as place:
            top, docs = Path(place) / "papers", Path(place) / "docs"
            for trace in sc.TRACES:
                invent_sc(top, trace, "bare", BARE)
            shown = [figure for figure in papers.FIGURES.values() if figure.is_measured(top)]
            self.assertEqual([figure.name for figure in shown], ["sc-1", "sc-2"])
            rows = [entry for figure in shown for entry in figure.rows(top)]
            page.write(shown, rows, top, docs)
            text = (docs / "papers.md").read_text()
            self.assertIn("| hm0 | 1 | 1.5 | 2 | 5 |", text)
            self.assertIn("| `sc-1/D64-over-D1/least` | 3.7 | 5 | x | **differs** |", text)
            self.assertNotIn("re-3", text)
            self.assertEqual(sorted(path.name for path in (docs / "papers").iterdir()),
                             ["sc-1.png", "sc-2.png"])
            self.assertEqual((docs / "papers/sc-1.png").read_bytes()[1:4], b"PNG")

    def test_resumable(self):
        """A run is there if it has ended well with the same settings."""
        with tempfile.TemporaryDirectory() as place:
            papers.FOLDER = Path(place)
            run = sc.Run("hm0", "bare")
            self.assertFalse(papers.is_done(run))
            invent_sc(Path(place), "hm0", "bare", BARE)
            self.assertTrue(papers.is_done(run))
            (run.folder(Path(place)) / "settings").write_text("other options\n")
            self.assertFalse(papers.is_done(run))

    def test_runs_are_shared(self):
        """Figs. 1 and 2 are one measurement."""
        self.assertEqual(len(papers.runs_of(["sc-1", "sc-2"])), len(sc.TRACES))


if __name__ == "__main__":
    unittest.main()
