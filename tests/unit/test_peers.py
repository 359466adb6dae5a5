#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of tools/bench/peers.py: who is the best of the others, and which bar holds."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / "bench"), str(TOOLS / "demo"), str(TOOLS)]

import peers  # noqa: E402
import results  # noqa: E402


def comparison(profile, times, load="randwrite-4k", drains=None):
    """A drive on which each side took so many ms for 1 MB."""
    with tempfile.TemporaryDirectory() as folder:
        for side, milliseconds in times.items():
            place = peers.place(profile, side, Path(folder))
            place.mkdir(parents=True)
            lines = [f"{side}.{load}.bytes 1000000", f"{side}.{load}.ms {milliseconds}"]
            if side in (drains or {}):
                lines.append(f"{side}.{load}.drain_ms {drains[side]}")
            (place / "figures").write_text("\n".join(lines) + "\n")
        return peers.Comparison(profile, Path(folder))


class PeersTest(unittest.TestCase):
    """Rows of invented figures."""

    times = {"bare": 2000, "ressd": 100, "writecache": 1000, "dmcache": 4000, "bcache": 250}

    def row(self, drive, name):
        """The row with this id."""
        return {row["id"]: row for row in peers.rows_of(drive)}[name]

    def test_the_fastest_peer_counts(self):
        drive = comparison("samsung", self.times)
        self.assertEqual(drive.best_peer("randwrite-4k"), ("bcache", 4.0))
        row = self.row(drive, "peers-randwrite-4k/samsung/over-best")
        self.assertEqual((row["value"], row["bar"], row["ok"]), (2.5, ">=1.5", True))

    def test_bringing_home_may_change_the_order(self):
        drive = comparison("samsung", self.times, drains={"ressd": 900, "bcache": 9750})
        row = self.row(drive, "peers-randwrite-4k/samsung/over-best-drained")
        self.assertEqual((row["value"], row["bar"]), (1.0, None))

    def test_a_low_end_drive_asks_for_more(self):
        times = {**self.times, "bcache": 120}
        for profile, ok in (("sdcard", False), ("ocz", True)):
            row = self.row(comparison(profile, times), f"peers-randwrite-4k/{profile}/over-best")
            self.assertEqual(row["ok"], ok)

    def test_a_debt_counts_on_page_mapped_drives(self):
        times = {**self.times, "ressd": 200, "bcache": 150}
        drive = comparison("ocz", times, drains={"ressd": 10, "bcache": 100})
        name = "peers-randwrite-4k/ocz/over-best"
        self.assertFalse(self.row(drive, name)["ok"])
        self.assertTrue(self.row(drive, f"{name}-drained")["ok"])
        drive = comparison("ocz", times, drains={"ressd": 100, "bcache": 10})
        self.assertFalse(self.row(drive, f"{name}-drained")["ok"])

    def test_one_side_can_be_reported_alone(self):
        rows = peers.rows_of(comparison("samsung", {"ressd": 100}))
        self.assertEqual([row["id"] for row in rows], ["peers-randwrite-4k/samsung/ressd"])

    def test_being_behind_is_missed(self):
        drive = comparison("samsung", {**self.times, "ressd": 260}, "seqread")
        self.assertFalse(self.row(drive, "peers-seqread/samsung/over-best")["ok"])

    def test_without_ressd_there_is_no_comparison(self):
        times = {side: self.times[side] for side in ("bare", "writecache")}
        rows = peers.rows_of(comparison("intel", times))
        self.assertEqual([row["id"] for row in rows],
                         ["peers-randwrite-4k/intel/bare", "peers-randwrite-4k/intel/writecache"])
        self.assertTrue(results.all_ok(rows))

    def test_the_chart_is_drawn_if_there_is_something(self):
        drive = comparison("samsung", self.times)
        with tempfile.TemporaryDirectory() as folder:
            picture = peers.chart([drive], "randwrite-4k", Path(folder) / "chart.png")
            self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")
        self.assertIsNone(peers.chart([drive], "fsync-4k", Path("nowhere.png")))


if __name__ == "__main__":
    unittest.main()
