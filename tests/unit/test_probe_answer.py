#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/probe_answer.py: the target is measured by the table line that is advised."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import probe_answer  # noqa: E402


def answer(verdict, *advice, needed=12, overwritten=0):
    """What is said of a drive, with these options advised."""
    rows = [["drive", "verdict", verdict, str(needed), "small", "8:", "a", "reason"],
            ["drive", "working-set", "1048576", str(overwritten)],
            ["drive", "load", "database-commit", "80", "110"],
            *(["drive", "advice", *pair] for pair in advice)]
    return probe_answer.Answer("drive", rows, ["ftl=page"])


def is_wrong(verdict, gain, **known):
    """Is it, if the target gains so much?"""
    said = answer(verdict, **known)
    said.gain = gain
    return said.is_wrong()


class AnswerTest(unittest.TestCase):
    """One drive's answer."""

    ADVICE = (("route", "adaptive"), ("on_full", "bypass"), ("move_batch_sectors", "512"),
              ("log_rewrite", "off"))

    def test_all_of_the_table_line_is_measured(self):
        # "worth it" with `route adaptive` was measured as if all went through the log: a drive
        # counted as slower with ressd whose writes the target would have sent past it.
        self.assertEqual(answer("worth-it", *self.ADVICE).options(True),
                         ["batch=64", "adaptive=1", "bypass=1"])
        self.assertEqual(answer("worth-it", ("route", "always"), ("on_full", "wait"),
                                ("log_rewrite", "on"), ("small_write_sectors", "32")).options(True),
                         ["small_kb=16", "rewrite=1"])

    def test_what_is_said_of_the_log_is_measured_through_it(self):
        self.assertEqual(answer("unknown", *self.ADVICE).options(False), ["batch=64"])

    def test_who_is_told_of_a_share_that_the_load_has_is_told_to_gain(self):
        for overwritten, gain, wrong in ((0, 1.5, True), (0, 0.9, False),
                                         (31, 1.5, False), (31, 0.9, True)):
            self.assertEqual(is_wrong("worth-it-with-locality", gain, overwritten=overwritten),
                             wrong)
        self.assertTrue(is_wrong("worth-it", 0.9))
        self.assertTrue(is_wrong("not-worth-it", 1.5, overwritten=31))
        self.assertFalse(is_wrong("unknown", 1.5, overwritten=31))

    def test_the_gain_of_a_load_is_compared_with_its_range(self):
        said = answer("worth-it")
        for gain, holds in ((0.79, False), (0.8, True), (1.1, True), (1.11, False)):
            said.gained = {"database-commit": gain}
            self.assertEqual(said.holds("database-commit"), holds)
        self.assertAlmostEqual(said.width("database-commit"), 1.375)

    def test_loads_are_measured_one_by_one(self):
        words = probe_answer.loads("total_mb=7", "total_mb=14")
        self.assertEqual(words.count("then"), max(probe_answer.LINES))
        self.assertEqual(len(probe_answer.LINES), len(probe_answer.LOADS))


if __name__ == "__main__":
    unittest.main()
