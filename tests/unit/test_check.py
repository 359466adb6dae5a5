#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""tools/check.sh: its steps run side by side, and share the folder build/."""

import itertools
import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECK = (TOP / "tools/check.sh").read_text()
# Of a folder whose "check" runs programs even with make -n: what builds all that it runs.
BUILDS = {"userspace": ["unit-tests", "make-image"]}
# What python tests build.
BY_PYTHON = ["tests/lock-hold", "tools/bench/model"]


def made(folder, *targets):
    """The files of build/ that are made if there are none."""
    commands = subprocess.run(["make", "-n", "-B", "-C", TOP / folder, *targets],
                              capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(?:-o|qcs) (\S*/build/\S+)", commands))


class StepsTest(unittest.TestCase):
    """What each step builds."""

    def test_no_file_is_made_by_two_steps_at_once(self):
        """bench-rows ran what lock-hold had half written; all that two need is built before."""
        before = re.search(r"^for folder in (.*); do$", CHECK, re.MULTILINE)[1].split()
        there = made(".", "userspace") | made("tests/fuzz", "tools")
        there = there.union(*(made(f"tests/{folder}", "all") for folder in before))
        folders = re.findall(r"^\tmake_step \S+ \d+ (\S+)$", CHECK, re.MULTILINE) + BY_PYTHON
        self.assertGreater(len(folders), 8)
        left = [(folder, made(folder, *BUILDS.get(folder, ["all"])) - there)
                for folder in folders]
        for (one, files), (other, others) in itertools.combinations(left, 2):
            self.assertEqual(files & others, set(), f"{one} and {other}")


if __name__ == "__main__":
    unittest.main()
