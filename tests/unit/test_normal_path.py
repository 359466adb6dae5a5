#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of tools/bench/normal_path.py: speeds, shares, waits and bars of invented figures."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / "bench"), str(TOOLS / "demo"), str(TOOLS)]

import normal_path  # noqa: E402

DRIVE = {"busy_ns": 10**9, "rmw_reads": 0, "merge_copies": 0, "read_bytes": 0,
         "write_bytes": 100 * 10**6}


def fio(reads, writes, p99):
    """What fio says of so many requests in a second, each kind in a group of its own."""
    def kind(count):
        return {"total_ios": count, "runtime": 1000 if count else 0, "iops": float(count),
                "lat_ns": {"mean": 1e6, "percentile": {"99.000000": p99 * 1e6}}}
    return {"jobs": [{"read": kind(0), "write": kind(writes)},
                     {"read": kind(reads), "write": kind(0)}]}


class NormalPathTest(unittest.TestCase):
    """Rows of figures that a guest could have left."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def load(self, profile, name, sides):
        """A load whose sides have these figures, or this of fio."""
        place = normal_path.place(profile, name, self.folder)
        place.mkdir(parents=True)
        lines = []
        for side, found in sides.items():
            if "jobs" in found:
                (place / f"{name}.{side}.json").write_text(json.dumps(found))
                found = {}
            lines += [f"{name}.{side}.{key} {value}" for key, value in {**DRIVE, **found}.items()]
        (place / "figures").write_text("\n".join(lines) + "\n")
        return normal_path.Load(profile, name, self.folder)

    def rows(self, *loads):
        """Rows by their ids."""
        return {row["id"]: row for row in normal_path.rows_of([list(loads)])}

    def postmark(self, profile="samsung"):
        """Ten seconds on none, eight with PASA."""
        own = {"requests": 200, "aligned": 180, "within": 199, "ms": 8000}
        return self.load(profile, "postmark-8m", {
            "none": {"requests": 100, "aligned": 40, "within": 25, "ms": 10000},
            "mq-deadline": {"requests": 100, "aligned": 40, "within": 25, "ms": 9000},
            "pasa-pai": own})

    def test_the_best_policy_beside_none_and_the_kernel(self):
        rows = self.rows(self.postmark())
        self.assertEqual(rows["pas/samsung/postmark-8m.pasa-pai.gain"]["value"], 1.25)
        best = rows["pas/samsung/postmark-8m.best-gain"]
        self.assertEqual((best["value"], best["bar"], best["ok"]), (1.25, ">=1.2", True))
        self.assertEqual(rows["pas/samsung/postmark-8m.best-over-kernel"]["value"], 1.125)
        mean = rows["pas/low-end/best-over-kernel"]
        self.assertEqual((mean["value"], mean["ok"]), (1.125, False))

    def test_several_runs_count_with_their_mean(self):
        load = self.postmark()
        with open(load.folder / "figures", "a", encoding="utf-8") as file:
            file.write("postmark-8m.pasa-pai.ms 4000\n")
        load = normal_path.Load("samsung", "postmark-8m", self.folder)
        self.assertAlmostEqual(load.gain("pasa-pai"), 10 / 6)

    def test_the_log_is_compared_apart(self):
        load = self.load("samsung", "mixed", {"mq-deadline": fio(100, 50, 80),
                                              "bundle-rp-2": fio(150, 75, 80),
                                              "log-advised": fio(300, 150, 20)})
        rows = self.rows(load)
        self.assertEqual(rows["pas/samsung/mixed.best-over-kernel"]["value"], 1.5)
        self.assertEqual(rows["pas/low-end/best-over-kernel"]["value"], 1.5)
        logged = rows["pas/low-end/logged-over-kernel"]
        self.assertEqual((logged["value"], logged["ok"]), (3, None))

    def test_shares_and_their_bars_on_samsung(self):
        rows = self.rows(self.postmark())
        self.assertTrue(rows["pas/samsung/postmark-8m.pasa-pai.aligned"]["ok"])
        within = rows["pas/samsung/postmark-8m.pasa-pai.within"]
        self.assertEqual((within["value"], within["ok"]), (99.5, False))

    def test_other_drives_have_no_bar_of_shares(self):
        rows = self.rows(self.postmark("transcend"))
        self.assertIsNone(rows["pas/transcend/postmark-8m.pasa-pai.aligned"]["ok"])

    def test_reads_beside_writes(self):
        load = self.load("samsung", "mixed", {"none": fio(100, 50, 80),
                                              "bundle-rp": fio(300, 60, 20)})
        rows = self.rows(load)
        self.assertEqual(rows["pas/samsung/mixed.bundle-rp.gain"]["value"], 2.4)
        ratio = rows["pas/samsung/mixed.bundle-rp.read-p99-over-none"]
        self.assertEqual((ratio["value"], ratio["ok"]), (0.25, True))
        writes = rows["pas/samsung/mixed.bundle-rp.writes-over-none"]
        self.assertEqual((writes["value"], writes["ok"]), (1.2, None))

    def test_waits_of_reads_have_a_bar_on_low_end_drives(self):
        for profile, good in (("transcend", False), ("intel", None), ("emmc", None)):
            load = self.load(profile, "mixed", {"none": fio(100, 50, 80),
                                                "bundle-rp": fio(300, 50, 60)})
            row = self.rows(load)[f"pas/{profile}/mixed.bundle-rp.read-p99-over-none"]
            self.assertEqual((row["value"], row["ok"]), (0.75, good))

    def test_loads_of_a_drive(self):
        self.assertIn("postmark-8m", normal_path.loads_of("samsung"))
        self.assertNotIn("mixed-single", normal_path.loads_of("samsung"))
        self.assertIn("mixed-single", normal_path.loads_of("intel"))
        self.assertEqual(normal_path.loads_of("emmc"), ["mixed"])
        self.assertEqual(normal_path.loads_of("tlc"), ["mixed", "mixed-single"])

    def test_what_the_drive_lost(self):
        sequential = self.load("samsung", "sequential", {"none": fio(0, 100, 1)})
        postmark = self.load("samsung", "postmark-8m", {
            "none": {"requests": 1, "aligned": 1, "within": 1, "ms": 10000, "busy_ns": 9 * 10**9,
                     "write_bytes": 400 * 10**6}})
        # A stream would have taken 4 of its 9 busy seconds.
        self.assertEqual(self.rows(sequential, postmark)["pas/samsung/postmark-8m.lost"]["value"],
                         50)

    def test_nothing_to_do(self):
        load = self.load("intel", "sequential", {
            "none": fio(0, 100, 1), "nopas": fio(0, 100, 1), "pasa-pai": fio(0, 98, 1)})
        row = self.rows(load)["pas/intel/sequential.pasa-pai.over-nopas"]
        self.assertEqual((row["value"], row["ok"]), (0.98, False))

    def test_a_chart_is_made_of_what_there_is(self):
        mixed = self.load("samsung", "mixed", {"none": fio(1, 5, 8), "bundle-rp": fio(3, 6, 2)})
        from matplotlib import pyplot
        with mock.patch.object(pyplot, "close"):
            path = normal_path.chart([[self.postmark(), mixed]], self.folder / "chart.png")
        self.addCleanup(pyplot.close, "all")
        self.assertEqual([axes.get_ylabel() for axes in pyplot.gcf().axes],
                         ["speed, times that of none", "p99 of reads, times that of none"])
        self.assertEqual(path.read_bytes()[1:4], b"PNG")
        self.assertIsNone(normal_path.chart([[]], self.folder / "none.png"))
        other = self.load("emmc", "mixed", {"none": fio(1, 5, 8), "bundle-rp": fio(3, 6, 2)})
        self.assertIsNone(normal_path.chart([[other]], self.folder / "none.png"))


if __name__ == "__main__":
    unittest.main()
