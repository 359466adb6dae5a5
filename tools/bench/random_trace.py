#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A trace of random writes for mover-model's replay=, on standard output.

One write after the other within --span megabytes; with --flush a flush behind each. Its format is
that of tools/bench.sh --record-traces.
"""
import argparse
import random

START_SECTOR = 131072  # 64 MiB: no file system's first blocks
SECTORS_OF_KB = 2
STEP_NS = 1000


def lines_of(options):
    """The lines of the trace."""
    draw = random.Random(options.seed)
    places = options.span * 1024 // options.kb
    clock = 3 * STEP_NS
    yield "# phase setup 0"
    yield f"{STEP_NS} {2 * STEP_NS} F 0 0 PREFLUSH+SYNC random-1"
    yield f"# phase run {clock}"
    for _ in range(options.writes):
        sector = START_SECTOR + draw.randrange(places) * options.kb * SECTORS_OF_KB
        bios = [f"W {sector} {options.kb * SECTORS_OF_KB} SYNC"]
        if options.flush:
            bios.append("F 0 0 PREFLUSH+SYNC")
        for bio in bios:
            yield f"{clock + STEP_NS} {clock + 2 * STEP_NS} {bio} random-1"
            clock += 2 * STEP_NS
    yield f"# phase unmount {clock + STEP_NS}"
    yield f"{clock + 2 * STEP_NS} {clock + 3 * STEP_NS} F 0 0 PREFLUSH+SYNC random-1"
    yield f"# phase drain {clock + 4 * STEP_NS}"
    yield f"# phase end {clock + 5 * STEP_NS}"


def main():
    """Print the trace that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--span", type=int, required=True, help="megabytes")
    parser.add_argument("--writes", type=int, default=24000)
    parser.add_argument("--kb", type=int, default=4, help="of a write, a multiple of 4")
    parser.add_argument("--flush", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    print("\n".join(lines_of(parser.parse_args())))


if __name__ == "__main__":
    main()
