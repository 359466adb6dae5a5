# SPDX-License-Identifier: GPL-2.0-only
"""Judges a guest's console log: which lines tell of a kernel fault, which memory was leaked."""

import re

# Every kernel line on the console starts with its time, so a script's words cannot look like one.
KERNEL_LINE = re.compile(r"^\[ *\d+\.\d+\](\[ *[TC]\d+\])? ?")

# "I/O error" lines are no faults: many tests cause them on purpose. Nor are races within the
# kernel, which has many that do no harm; each one that a module of ours takes part in is.
FAULTS = re.compile(
    r"WARNING: "
    r"|BUG: (?!KCSAN: )|kernel BUG at |Oops: |Oops\b.*\[#\d+\]|general protection fault"
    r"|Kernel panic|double fault|Unable to handle kernel"
    r"|KASAN: |KCSAN: .*\[(dm_ressd|ssdsim)\]|UBSAN: |KFENCE: "
    r"|possible circular locking|possible recursive locking|inconsistent lock state"
    r"|suspicious RCU usage|held lock freed|lock held when returning to user space"
    r"|INFO: task .* blocked for more than"
    r"|INFO: rcu_\w+ .*detected|rcu: INFO: .*detected|self-detected stall"
    r"|soft lockup|hard LOCKUP|scheduling while atomic|sleeping function called"
    r"|refcount_t: |list_(add|del) corruption|ODEBUG: |Bad page state|Bad page map"
    r"|page allocation failure|Out of memory: "
)

# What kmemleak lists, which the guest's init copies to the console. The kernel has leaks of its
# own. Ours have a function of a module of ours in their backtrace, or a bare address: the kernel's
# code has names, so that was a module that is unloaded.
LEAK = re.compile(r"unreferenced object 0x")
OUR_FRAME = re.compile(r"\[<\w+>\] (0x\w+$|.*\[(dm_ressd|ssdsim)\])")
KMEMLEAK_OFF = "[vm] kmemleak-off"

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
        self.faults += our_leaks(lines)
        self.missing = [pattern.pattern for pattern in patterns if pattern not in seen]


def our_leaks(lines):
    """What kmemleak says of memory that a module of ours took, or that it says nothing any more."""
    found = [line for line in lines if line.startswith(KMEMLEAK_OFF)]
    for number, line in enumerate(lines):
        if not LEAK.match(line):
            continue
        report = [line]
        for more in lines[number + 1:]:
            if LEAK.match(more) or more.startswith("[vm]"):
                break
            report.append(more)
        if any(OUR_FRAME.search(part) for part in report):
            found.append("\n".join(report))
    return found


def is_fault(line):
    """Whether one console line is a kernel's report of a fault in itself."""
    found = KERNEL_LINE.match(line)
    return bool(found and FAULTS.search(line, found.end()))
