# SPDX-License-Identifier: GPL-2.0-only
"""Judges a guest's console log: which lines tell of a kernel fault."""

import re

# Every kernel line on the console starts with its time, so a script's words cannot look like one.
KERNEL_LINE = re.compile(r"^\[ *\d+\.\d+\](\[ *[TC]\d+\])? ?")

# "I/O error" lines are no faults: many tests cause them on purpose. Nor are races within the
# kernel, which has many that do no harm; each one that a module of ours takes part in is.
FAULTS = re.compile(
    r"WARNING: "
    r"|BUG: (?!KCSAN: )|kernel BUG at |Oops: |Oops\b.*\[#\d+\]|general protection fault"
    r"|Kernel panic|double fault|Unable to handle kernel"
    r"|KASAN: |KCSAN: .*\[(dm_ressd|ssdsim)\]|UBSAN: |KFENCE: |kmemleak: \d+ new"
    r"|possible circular locking|possible recursive locking|inconsistent lock state"
    r"|suspicious RCU usage|held lock freed|lock held when returning to user space"
    r"|INFO: task .* blocked for more than"
    r"|INFO: rcu_\w+ .*detected|rcu: INFO: .*detected|self-detected stall"
    r"|soft lockup|hard LOCKUP|scheduling while atomic|sleeping function called"
    r"|refcount_t: |list_(add|del) corruption|ODEBUG: |Bad page state|Bad page map"
    r"|page allocation failure|Out of memory: "
)

CONTEXT_LINES = 30


class Verdict:
    """What a log says: faults (with the lines after them) and expected lines that are missing."""

    def __init__(self, log, expected):
        lines = log.splitlines()
        patterns = [re.compile(text) for text in expected]
        seen = set()
        self.faults = []
        last_shown = -1
        for number, line in enumerate(lines):
            matching = [pattern for pattern in patterns if pattern.search(line)]
            seen.update(matching)
            if matching or number <= last_shown or not is_fault(line):
                continue
            last_shown = number + CONTEXT_LINES
            self.faults.append("\n".join(lines[number:last_shown + 1]))
        self.missing = [pattern.pattern for pattern in patterns if pattern not in seen]


def is_fault(line):
    """Whether one console line is a kernel's report of a fault in itself."""
    found = KERNEL_LINE.match(line)
    return bool(found and FAULTS.search(line, found.end()))
