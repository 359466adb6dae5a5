#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/probe_guest.py: what is kept, what is tried again, and what failed.

A script stands for tools/vm/run, so no guest is started.
"""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import probe_guest  # noqa: E402

# Boots that find something of each drive, but fail with "bad" and die at "deadly".
RUNNER = """#!/bin/bash
for word; do
	[[ $word != *:/job/drives ]] || file=${word%:/job/drives}
done
echo boot >>boots
while read -r name _; do
	case $name in
	bad*) echo "failed $name no such drive" ;;
	deadly*) exit 125 ;;
	*) echo "result $name 12.5 {}" ;;
	esac
done <"$file"
"""


class Guests(unittest.TestCase):
    """A folder with the stand-in, and all that makes the fingerprint."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        for path in probe_guest.MAKERS:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(path)
        runner = Path("tools/vm/run")
        runner.parent.mkdir(parents=True)
        runner.write_text(RUNNER)
        runner.chmod(0o755)
        silence = contextlib.redirect_stderr(io.StringIO())
        silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

    def survey(self, names, guests=1):
        """A finished run on drives of these names."""
        survey = probe_guest.Survey([f"{name} 0 capacity_mb=8" for name in names])
        survey.run(guests)
        return survey

    def boots(self):
        """How many guests were started."""
        return len(Path("boots").read_text().split())

    def test_finds_all(self):
        """Several boots, and every drive has a result."""
        names = [f"drive-{i}" for i in range(25)]
        survey = self.survey(names, guests=2)
        self.assertEqual(survey.names(), names)
        self.assertEqual(survey.failures, [])
        self.assertEqual(survey.seconds("drive-7"), "12.5")
        self.assertEqual(self.boots(), 3)

    def test_goes_on(self):
        """What is there is not looked for again."""
        self.survey([f"drive-{i}" for i in range(10)])
        survey = self.survey([f"drive-{i}" for i in range(12)])
        self.assertEqual(len(survey.names()), 12)
        self.assertEqual(self.boots(), 2)

    def test_another_program_begins_anew(self):
        """Results of another ressd-probe do not count."""
        self.survey(["drive-0"])
        Path(probe_guest.MAKERS[0]).write_text("changed")
        self.survey(["drive-0"])
        self.assertEqual(self.boots(), 2)

    def test_a_failure_costs_one_drive(self):
        """The others of the boot have results, and the one that failed is named."""
        survey = self.survey(["drive-0", "bad-1", "drive-2"])
        self.assertEqual(survey.names(), ["drive-0", "drive-2"])
        self.assertIn("bad-1: no such drive", survey.failures[0])
        self.assertIn("1 of 3 drives have no result", survey.failures[-1])

    def test_a_dead_guest_costs_what_it_had_left(self):
        """What came before it died is kept, and other guests go on."""
        names = ["drive-0", "deadly-1"] + [f"drive-{i}" for i in range(2, 12)]
        survey = self.survey(names)
        self.assertEqual(survey.names(), ["drive-0", "drive-10", "drive-11"])
        self.assertIn("ended with code 125", survey.failures[0])


if __name__ == "__main__":
    unittest.main()
