#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of tools/bench: rows of drives, Postmark and costs, from invented figures."""

import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / "bench"), str(TOOLS / "demo"), str(TOOLS)]

import drives  # noqa: E402
import fast_device  # noqa: E402
import overhead  # noqa: E402
import postmark  # noqa: E402


def rows_by_id(rows):
    """Rows, to be found by their ids."""
    return {row["id"]: row for row in rows}


def drive(figures, profile="ocz", kind=drives.Drive, folder=""):
    """A drive with these figures."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / (folder or profile)
        home.mkdir()
        (home / "figures").write_text("".join(f"{key} {value}\n"
                                              for key, value in figures.items()))
        return kind(profile, Path(place))


def pattern(times):
    """Figures of one pattern, 1 MB in so many ms and 10 ms of bringing home on each side."""
    figures = {}
    for side, milliseconds in times.items():
        figures |= {f"{side}.p-write-4k.bytes": 1000000, f"{side}.p-write-4k.ms": milliseconds,
                    f"{side}.p-write-4k.drain_ms": 10, f"{side}.p-write-4k.max_ns": 1,
                    f"{side}.p-write-4k.erases": 0}
    return figures


class DrivesTest(unittest.TestCase):
    """The patterns of page-mapped drives, with and without dm-linear beside them."""

    def test_a_pattern_is_told_beside_dm_linear(self):
        rows = rows_by_id(drives.rows_of(drive(pattern({"bare": 90, "linear": 110, "ressd": 115}))))
        self.assertEqual(rows["pattern-write-4k/ocz/ratio"]["value"], 0.8)
        self.assertFalse(rows["pattern-write-4k/ocz/ratio"]["ok"])
        self.assertEqual(rows["pattern-write-4k/ocz/dm-linear"]["value"], 0.8333)
        self.assertEqual(rows["worst/ocz/over-dm-linear"]["value"], 0.96)
        self.assertIsNone(rows["worst/ocz/over-dm-linear"]["ok"])

    def test_dm_linear_may_be_missing(self):
        rows = rows_by_id(drives.rows_of(drive(pattern({"bare": 90, "ressd": 90}))))
        self.assertEqual(rows["worst/ocz/ratio"]["value"], 1.0)
        self.assertNotIn("worst/ocz/over-dm-linear", rows)

    def test_dm_linear_takes_a_step_where_patterns_are(self):
        folder = Path("nowhere")
        self.assertIn("linear-p-write-4k", drives.guest("ocz", folder, ["patterns"]).steps)
        self.assertNotIn("linear-randread", drives.guest("ocz", folder, ["randread"]).steps)

    def test_patterns_may_be_chosen_one_by_one(self):
        guest = drives.guest("ocz", Path("nowhere"), ["p-strided-4k", "p-fsync-4k"], "")
        self.assertEqual(guest.arguments[2:], ["p-fsync-4k", "p-strided-4k"])
        self.assertEqual(list(guest.steps), ["start", "bare-p-fsync-4k", "ressd-p-fsync-4k",
                                             "bare-p-strided-4k", "ressd-p-strided-4k"])

    def test_options_beside_the_advised_ones_need_the_probe(self):
        folder = Path("nowhere")
        for guest in (drives.guest, postmark.guest):
            self.assertIn("probe", guest("samsung", folder, options="probe pace burst").steps)
            self.assertNotIn("probe", guest("samsung", folder, options="pace burst").steps)

    def test_options_beside_the_advised_ones_go_before(self):
        script = (TOOLS / "bench/guest-loads.sh").read_text()
        function = script[script.index("set_options() {"):].split("\n}\n")[0] + "\n}\n"
        told = subprocess.run(
            ["bash", "-euc", function + "options='pace even open_units 27 dispatch_depth 4'\n"
             "set_options pace burst dispatch pai\necho \"$options\""],
            check=True, capture_output=True, text=True).stdout
        self.assertEqual(told, "open_units 27 dispatch_depth 4 pace burst dispatch pai\n")

    def test_the_patterns_are_those_of_the_script(self):
        script = (TOOLS / "bench/guest-drive.sh").read_text()
        told = [line.split()[1] for line in script.splitlines() if line.startswith("\tpattern p-")]
        self.assertEqual(told, drives.PATTERNS)

    def test_the_rates_are_those_of_the_script(self):
        script = (TOOLS / "bench/guest-drive.sh").read_text()
        rates = " ".join(str(percent) for percent in drives.PACE_PERCENT)
        self.assertIn(f"\tfor percent in {rates}; do\n", script)

    def test_pace_has_bars_up_to_80_percent(self):
        figures = {f"ressd.pace-{percent}-{pace}.{kind}_ns": 1000 * (5 if pace == "burst" else 1)
                   for percent in drives.PACE_PERCENT for pace in ("burst", "even")
                   for kind in ("p999", "mean", "max")}
        rows = rows_by_id(drives.pace_rows(drive(figures, "samsung")))
        self.assertEqual(rows["pace-80-p999/samsung/burst-over-even"]["bar"], ">=5")
        self.assertTrue(rows["pace-80-p999/samsung/burst-over-even"]["ok"])
        self.assertIsNone(rows["pace-90-p999/samsung/burst-over-even"]["ok"])


class PostmarkTest(unittest.TestCase):
    """Percent less time, and which bar holds."""

    def rows(self, seconds, setting=postmark.USUAL_SETTING):
        """Rows of a drive whose runs took so long with ressd; 100 s bare."""
        figures = {}
        for run in setting.runs():
            milliseconds = 100000 if run.endswith("bare") else seconds * 1000
            figures |= {f"postmark.{run}.ms": milliseconds, f"postmark.{run}.drain_ms": 0,
                        f"postmark.{run}.small_permille": 200, f"postmark.{run}.erases": 1}
        return rows_by_id(postmark.rows_of(drive(
            figures, "samsung", lambda *where: postmark.Drive(*where, setting),
            setting.place("samsung", Path()).name)))

    def test_the_papers_figures_are_the_bars(self):
        rows = self.rows(65)
        self.assertEqual((rows["postmark-a/samsung/percent-less"]["value"],
                          rows["postmark-a/samsung/percent-less"]["bar"]), (35.0, ">=28"))
        self.assertTrue(rows["postmark-a/samsung/percent-less"]["ok"])
        self.assertEqual(rows["postmark-c/samsung/percent-less"]["bar"], ">=36.3")
        self.assertFalse(rows["postmark-c/samsung/percent-less"]["ok"])

    def test_every_run_is_told(self):
        rows = self.rows(50)
        self.assertEqual(len([name for name in rows if name.endswith("/percent-less")]), 5)
        self.assertIn("postmark-c-8mb/samsung/percent-less", rows)

    def test_another_scale_has_rows_of_its_own(self):
        setting = postmark.Setting(4, ("c",))
        self.assertEqual(setting.runs(), ["c-bare", "c-32", "c-64", "c-192"])
        rows = self.rows(50, setting)
        self.assertEqual([name for name in rows if name.endswith("/percent-less")],
                         ["postmark-c-32mb-4th/samsung/percent-less",
                          "postmark-c-4th/samsung/percent-less",
                          "postmark-c-192mb-4th/samsung/percent-less"])


class OverheadTest(unittest.TestCase):
    """Memory for 100 MB of reserved area, and waits for the lock."""

    def test_memory_is_that_of_map_and_buffers(self):
        mebibyte = 1 << 20
        rows = rows_by_id(overhead.memory_rows({
            "memory.100mb.map": 0.8 * mebibyte, "memory.100mb.buffers": mebibyte,
            "memory.512mb.map": 4.096 * mebibyte, "memory.512mb.buffers": 1.024 * mebibyte,
            "memory.512mb.taken": 5.632 * mebibyte}))
        self.assertEqual((rows["memory/any/mb-per-100mb"]["value"],
                          rows["memory/any/mb-per-100mb"]["ok"]), (1.0, False))
        self.assertEqual(rows["memory-map/any/mb-per-100mb"]["value"], 0.8)
        self.assertEqual(rows["memory-taken/any/mb-per-100mb"]["value"], 1.1)

    def test_ids_are_unique(self):
        """Small writes beside the large map had the id of large writes: no row was written."""
        rows = overhead.overhead_rows(defaultdict(int))
        self.assertEqual(len(rows_by_id(rows)), len(rows))

    def test_waits_are_told_for_a_thousand(self):
        figures = {}
        for load in overhead.CONTENTION_LOADS:
            for number in (1, 2):
                figures |= {f"{load}.ressd-{number}.waits": 30 * (number - 1),
                            f"{load}.ressd-{number}.ios": 20000 * number}
        rows = rows_by_id(overhead.contention_rows(figures))
        self.assertIs(rows["lock-waits-read-1/nullblk/permille"]["ok"], True)
        self.assertIs(rows["lock-waits-read-2/nullblk/permille"]["ok"], False)
        self.assertEqual(rows["lock-waits-small-write-2/nullblk/permille"]["value"], 0.75)


class KernelTest(unittest.TestCase):
    """A fast device, and a second processor."""

    def test_arguments_of_guests_are_words(self):
        """The rounds were numbers, which no command line takes."""
        with tempfile.TemporaryDirectory() as folder:
            guests = [guest for guest, *_ in fast_device.parts(Path(folder))]
        self.assertEqual(len({guest.name for guest in guests}), 3)
        self.assertEqual([guest.processors for guest in guests if guest.mode == "functional"],
                         [2, 4])
        for guest in guests:
            self.assertTrue(all(isinstance(word, str) for word in guest.arguments))

    def test_a_read_that_takes_too_many_instructions_is_missed(self):
        figures = {f"{kind}.{layer}": 1000 for kind in overhead.KINDS
                   for layer in ("dm-linear", "ressd-empty", "ressd-mapped")}
        figures |= {"read.ressd-empty": 1120, "read.ressd-mapped": 1121, "write.ressd-empty": 1300}
        rows = rows_by_id(overhead.linear_rows(figures))
        self.assertIs(rows["overhead/read/instructions"]["ok"], True)
        self.assertIs(rows["overhead/read-mapped/instructions"]["ok"], False)
        self.assertEqual((rows["overhead/write/instructions"]["value"],
                          rows["overhead/write/instructions"]["ok"]), (300, None))

    def test_rows_of_the_lock_are_of_the_test_that_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = rows_by_id(fast_device.lock_rows(Path(folder)))
        self.assertEqual(sorted(rows), [f"lock-hold/{size}/instructions"
                                        for size in ("1-gib", "16-gib", "4-gib", "64-mib")])
        self.assertTrue(all(row["ok"] for row in rows.values()))

    def test_cost_is_told_over_dm_linear(self):
        figures = {f"{side}.{load}.us": 20.0 for side in fast_device.SIDES
                   for load in fast_device.LOADS}
        figures |= {"adaptive.fdatasync.us": 21.01, "never.fdatasync.us": 21.0,
                    "always.fdatasync.us": 57.8, "adaptive.small_to_log": 1}
        rows = rows_by_id(fast_device.fast_rows(figures))
        told = {name: (rows[f"fast-device/fdatasync{name}/us-over-linear"]["value"],
                       rows[f"fast-device/fdatasync{name}/us-over-linear"]["ok"])
                for name in fast_device.ROUTES.values()}
        self.assertEqual(told, {"": (1.01, False), "-never": (1.0, True), "-always": (37.8, None)})
        self.assertIs(rows["fast-device/randwrite-deep/small-to-log"]["ok"], False)

    def test_scaling_is_two_threads_over_one(self):
        figures = {}
        for load in fast_device.SCALING_BARS:
            figures |= {f"{load}.ressd-1.ios": 20000, f"{load}.ressd-1.ms": 1000,
                        f"{load}.ressd-2.ios": 40000, f"{load}.ressd-2.ms": 1200,
                        f"{load}.ressd-1.waits": 0, f"{load}.ressd-2.waits": 0,
                        f"{load}.dm-linear-1.ios": 20000, f"{load}.dm-linear-1.ms": 1000,
                        f"{load}.dm-linear-2.ios": 40000, f"{load}.dm-linear-2.ms": 1250}
        rows = rows_by_id(fast_device.scaling_rows(figures))
        self.assertEqual((rows["scaling/small-write/ratio"]["value"],
                          rows["scaling/small-write/ratio"]["ok"],
                          rows["scaling/read/ratio"]["ok"]), (1.67, True, False))
        self.assertEqual(rows["scaling-linear/read/ratio"]["value"], 1.6)
        self.assertNotIn("scaling-linear/small-write/ratio", rows)


if __name__ == "__main__":
    unittest.main()
