#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A guest that stands still before it has come up is started anew, once: a shell plays QEMU."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "vm"))

from machine import Killer, Run  # noqa: E402


class Boot(unittest.TestCase):
    """What becomes of guests by what they write to their console."""

    def go(self, script, timeout, boot, watched=True):
        """How it ended, and how often it was started."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            script = f"cd {folder}; echo >>starts; {script}"
            log = folder / "console" if watched else None
            run = Run(["sh", "-c", script], folder, timeout, Killer(None, 0), None, log, boot)
            run.go()
            return run.how, len((folder / "starts").read_text().splitlines())

    def test_a_guest_that_comes_up(self):
        """It is not disturbed, however long it runs."""
        script = "echo '[vm] start 6.64' >console; sleep 2"
        self.assertEqual(self.go(script, 600, 1), ("ended", 1))

    def test_a_guest_that_stands_still_once(self):
        """Found in CI: no line on the console for 120 s."""
        script = "[ $(wc -l <starts) -gt 1 ] || sleep 600; echo '[vm] start 6.64' >console"
        self.assertEqual(self.go(script, 600, 1), ("ended", 2))

    def test_a_guest_that_never_comes_up(self):
        """The second time has the whole time limit."""
        self.assertEqual(self.go("sleep 600", 2, 1), ("timeout", 2))

    def test_virtual_time(self):
        """There it would stand still again."""
        self.assertEqual(self.go("sleep 600", 2, 1, watched=False), ("timeout", 1))


if __name__ == "__main__":
    unittest.main()
