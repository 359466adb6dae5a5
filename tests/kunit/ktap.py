#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""ktap.py: read a kernel's console with KUnit's results; print an "ok" or "not ok" line for each.

A case passes if the kernel says so and reported no fault while it ran. What the plans announce and
nobody reports has failed: a kernel that crashes, hangs or runs nothing must not pass. The exit code
is 1 if something failed.
"""
import re
import sys

FAULT = re.compile(r"WARNING: |BUG: |Oops|Kernel panic|Kernel mode fault|Kernel mode signal|UBSAN: "
                   r"|KASAN: |list_(add|del) corruption|test case timed out")
RESULT = re.compile(r"(ok|not ok) \d+ (?:- )?(\S+)(.*)")
PLAN = re.compile(r"1\.\.(\d+)$")


class Console:
    """The state of the reading; each finding is appended to `lines`."""

    def __init__(self):
        self.lines = []
        self.failed = False
        self.suites = None      # how many the kernel announced
        self.suites_ended = 0
        self.suite = None       # in which we are
        self.cases = None       # how many it announced
        self.ended = 0          # of them
        self.last = None        # the last one that ended
        self.failures = 0
        self.said = []          # since then
        self.fault = None

    def ok(self, name):
        self.lines.append(f"ok - kunit: {name}")

    def fail(self, name, why):
        self.failed = True
        self.failures += 1
        self.lines.append(f"not ok - kunit: {name}: {why}")
        self.lines += [f"# {line}" for line in self.said[-40:]]

    def begin(self, suite):
        self.end(None)
        self.suite, self.cases, self.ended, self.last, self.failures = suite, None, 0, None, 0

    def case(self, verdict, name, rest):
        full = f"{self.suite}: {name}"
        if self.fault:
            self.fail(full, f"the kernel reported a fault: {self.fault}")
        elif verdict != "ok":
            self.fail(full, next((line for line in self.said if re.search(r"\[\S+:\d+\]$", line)),
                                 "no reason given"))
        elif "# SKIP" in rest:
            self.fail(full, "it was skipped")
        else:
            self.ok(full)
        self.ended += 1
        self.last, self.said, self.fault = name, [], None

    def end(self, verdict):
        """The suite is over: by its own verdict, or (None) the console says no more of it."""
        if self.suite is None:
            return
        where = f"after {self.last}" if self.last else "in its first case"
        count = f"{self.ended} of {self.cases or 'unknown'} cases ended"
        if verdict is None:
            why = self.fault or "the kernel said no more"
            self.fail(self.suite, f"{count}; it stopped {where}: {why}")
        elif self.ended != self.cases:
            self.fail(self.suite, f"{count}, {where}")
        elif verdict != "ok" and not self.failures:
            self.fail(self.suite, "the suite failed, though none of its cases did")
        self.suite, self.said = None, []

    def read(self, line):
        """One line of the console."""
        text = line.strip()
        result, plan = RESULT.match(text), PLAN.match(text)
        if text.startswith("# Subtest: "):
            self.begin(text.split()[2])
        elif plan and self.suite is not None and self.cases is None:
            self.cases = int(plan[1])
        elif plan and self.suites is None:
            self.suites = int(plan[1])
        elif result and line.startswith(" ") and self.suite is not None:
            self.case(*result.groups())
        elif result and self.suite == result[2]:
            self.end(result[1])
            self.suites_ended += 1
        else:
            self.said.append(text)
            if FAULT.search(text) and not self.fault:
                self.fault = text

    def close(self):
        """The console has ended."""
        self.end(None)
        if self.suites is None:
            self.fail("kernel", f"it ran no test: {self.fault or 'no plan on its console'}")
        elif self.suites == 0:
            self.said = []
            self.fail("kernel", "no suite or case has that name")
        elif self.suites_ended != self.suites:
            self.fail("kernel", f"{self.suites_ended} of {self.suites} suites ended")
        elif self.fault:
            self.fail("kernel", f"a fault outside of the cases: {self.fault}")


def convert(lines):
    """The lines to print, and whether something failed."""
    console = Console()
    for line in lines:
        console.read(line.rstrip())
    console.close()
    return console.lines, console.failed


def main():
    lines, failed = convert(sys.stdin)
    print("\n".join(lines))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
