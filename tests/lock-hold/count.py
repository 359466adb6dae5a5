#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""count.py: gcc's assembler code for x86-64 such that it counts its instructions.

They are counted in instructions_run: a piece without jumps and labels adds their number at its
end.  Neither flags nor stack are touched.
"""
import re
import sys

ADD = """\
\tmovq\t%rax, saved_rax(%rip)
\tmovq\tinstructions_run(%rip), %rax
\tleaq\t{}(%rax), %rax
\tmovq\t%rax, instructions_run(%rip)
\tmovq\tsaved_rax(%rip), %rax
"""
LABEL = re.compile(r"[^\t #]\S*:")
INSTRUCTION = re.compile(r"\t[a-z]")
END_OF_PIECE = re.compile(r"\t(j|call|ret|notrack|bnd|ud2|loop)")


def main():
    """From stdin to stdout."""
    run = 0
    for line in sys.stdin:
        ends = LABEL.match(line)
        if INSTRUCTION.match(line):
            run += 1
            ends = END_OF_PIECE.match(line)
        if ends and run:
            sys.stdout.write(ADD.format(run))
            run = 0
        sys.stdout.write(line)


main()
