#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of ktap.py: nothing but a whole run without a fault passes."""
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import ktap  # noqa: E402

WHOLE = """\
Linux version 6.1
printk: console [tty0] enabled
KTAP version 1
1..2
    KTAP version 1
    # Subtest: map
    1..2
    ok 1 empty
    ok 2 full
# map: pass:2 fail:0 skip:0 total:2
# Totals: pass:2 fail:0 skip:0 total:2
ok 1 map
    KTAP version 1
    # Subtest: recover-summary
    1..1
    ok 1 torn
ok 2 recover-summary
reboot: System halted
"""
REASON = """\
    # full: ASSERTION FAILED at tests/kunit/runner.c:38
nr is 3, expected 4 (all) [tests/unit/test-map.c:12]
    not ok 2 full
"""
WARNING = """\
------------[ cut here ]------------
WARNING: CPU: 0 PID: 29 at lib/list_debug.c:62
    ok 2 full
"""
PANIC = """\
Kernel panic - not syncing: Segfault with no mm
Call Trace:
"""


def lines_of(text):
    return text.splitlines(keepends=True)


class Ktap(unittest.TestCase):
    def passes(self, text, names):
        lines, failed = ktap.convert(lines_of(text))
        self.assertFalse(failed)
        self.assertEqual(lines, [f"ok - kunit: {name}" for name in names])

    def fails(self, text, *beginnings):
        """The verdicts that are not ok, and no others, begin like that."""
        lines, failed = ktap.convert(lines_of(text))
        verdicts = [line for line in lines if line.startswith("not ok")]
        self.assertTrue(failed)
        self.assertEqual(len(verdicts), len(beginnings), verdicts)
        for verdict, beginning in zip(verdicts, beginnings, strict=True):
            self.assertTrue(verdict.startswith(f"not ok - kunit: {beginning}"), verdict)
        return lines

    def test_whole_run(self):
        self.passes(WHOLE, ["map: empty", "map: full", "recover-summary: torn"])

    def test_dashes_of_later_kernels(self):
        self.passes(WHOLE.replace("ok 1 ", "ok 1 - ").replace("ok 2 ", "ok 2 - "),
                    ["map: empty", "map: full", "recover-summary: torn"])

    def test_failed_case_with_its_reason(self):
        text = WHOLE.replace("    ok 2 full\n", REASON).replace("ok 1 map", "not ok 1 map")
        lines = self.fails(text, "map: full: nr is 3, expected 4 (all) [tests/unit/test-map.c:12]")
        self.assertEqual(sum(line.startswith("ok - ") for line in lines), 2)

    def test_failed_case_without_reason(self):
        self.fails(WHOLE.replace("    ok 2 full", "    not ok 2 full"),
                   "map: full: no reason given")

    def test_fault_in_a_case_that_passes(self):
        self.fails(WHOLE.replace("    ok 2 full\n", WARNING),
                   "map: full: the kernel reported a fault: WARNING: CPU: 0")

    def test_fault_before_the_first_case(self):
        self.fails(PANIC + WHOLE, "map: empty: the kernel reported a fault: Kernel panic")

    def test_fault_after_the_last_case(self):
        self.fails(WHOLE + PANIC, "kernel: a fault outside of the cases: Kernel panic")

    def test_crash_in_a_case(self):
        lines = self.fails(WHOLE[:WHOLE.index("    ok 2 full")] + PANIC,
                           "map: 1 of 2 cases ended; it stopped after empty: Kernel panic",
                           "kernel: 0 of 2 suites ended")
        self.assertIn("# Call Trace:", lines)

    def test_end_of_the_output_anywhere(self):
        """Cut after any line but the last ones, the run has failed, whatever passed before."""
        whole = lines_of(WHOLE)
        for nr in range(len(whole) - 1):
            lines, failed = ktap.convert(whole[:nr])
            self.assertTrue(failed, f"cut after {nr} lines")
            self.assertIn("not ok", "".join(lines))

    def test_suite_with_too_few_cases(self):
        self.fails(WHOLE.replace("    ok 2 full\n", ""), "map: 1 of 2 cases ended, after empty")

    def test_suite_that_fails_by_itself(self):
        self.fails(WHOLE.replace("ok 1 map", "not ok 1 map"),
                   "map: the suite failed, though none of its cases did")

    def test_suite_that_begins_in_another_one(self):
        self.fails(WHOLE.replace("ok 1 map\n", ""),
                   "map: 2 of 2 cases ended; it stopped after full",
                   "kernel: 1 of 2 suites ended")

    def test_skipped_case(self):
        self.fails(WHOLE.replace("ok 2 full", "ok 2 full # SKIP no memory"),
                   "map: full: it was skipped")

    def test_no_suite_of_that_name(self):
        self.fails("KTAP version 1\n1..0\nreboot: System halted\n",
                   "kernel: no suite or case has that name")

    def test_kernel_that_runs_nothing(self):
        self.fails("reboot: System halted\n", "kernel: it ran no test: no plan")
        self.fails("", "kernel: it ran no test: no plan")

    def test_exit_code(self):
        program = pathlib.Path(__file__).with_name("ktap.py")
        for text, code in (WHOLE, 0), (WHOLE + PANIC, 1), ("", 1):
            run = subprocess.run([sys.executable, program], input=text, text=True,
                                 capture_output=True, check=False)
            self.assertEqual(run.returncode, code)
            self.assertEqual("not ok - " in run.stdout, bool(code))


if __name__ == "__main__":
    unittest.main()
