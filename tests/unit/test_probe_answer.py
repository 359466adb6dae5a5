#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/probe_answer.py: the target is measured by the table line that is advised."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import probe_answer  # noqa: E402


def answer(verdict, *advice):
    """What is said of a drive, with these options advised."""
    rows = [["drive", "verdict", verdict], *(["drive", "advice", *pair] for pair in advice)]
    return probe_answer.Answer("drive", rows, ["ftl=page"])


class AnswerTest(unittest.TestCase):
    """One drive's answer."""

    ADVICE = (("route", "adaptive"), ("on_full", "bypass"), ("move_batch_sectors", "512"),
              ("log_rewrite", "off"))

    def test_all_of_the_table_line_is_measured(self):
        # "worth it" with `route adaptive` was measured as if all went through the log: a drive
        # counted as slower with ressd whose writes the target would have sent past it.
        self.assertEqual(answer("worth-it", *self.ADVICE).options(),
                         ["batch=64", "adaptive=1", "bypass=1"])
        self.assertEqual(answer("worth-it", ("route", "always"), ("on_full", "wait"),
                                ("log_rewrite", "on"), ("small_write_sectors", "32")).options(),
                         ["small_kb=16", "rewrite=1"])

    def test_what_is_said_of_the_log_is_measured_through_it(self):
        for verdict in ("worth-it-with-locality", "unknown"):
            self.assertEqual(answer(verdict, *self.ADVICE).options(), ["batch=64"])


if __name__ == "__main__":
    unittest.main()
