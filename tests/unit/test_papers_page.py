#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of tools/papers: resuming, charts, command line and page, from invented runs."""

import contextlib
import io
import json
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
import page  # noqa: E402
import papers  # noqa: E402
import parameters  # noqa: E402
import re_oltp  # noqa: E402
import re_postmark  # noqa: E402
import runs  # noqa: E402
import sc  # noqa: E402
from guests import GuestError  # noqa: E402
from invented_papers import (  # noqa: E402
    CURVES,
    MODEL,
    PATTERNS,
    PROBE,
    TRANSCEND,
    finish,
    invent_postmark,
    invent_sc,
)
from published import PUBLISHED  # noqa: E402
from rows import row  # noqa: E402


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
