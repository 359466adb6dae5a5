#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A trace of made-up writes for mover-model's replay=, on standard output.

One write after the other: at random places within --span megabytes, or in order for --run-kb each
(0: for ever), in --streams at once by turns; with a flush behind each --flush-kb, and with
--journal the writes of a commit of ext4 around that. Its format is that of tools/bench.sh
--record-traces.
"""
import argparse
import random

START_SECTOR = 131072  # 64 MiB: no file system's first blocks
JOURNAL_SECTORS = 65536
SECTORS_OF_KB = 2
STEP_NS = 1000
FLUSH = "F 0 0 PREFLUSH+SYNC"


class Stream:
    """Writes in order, from somewhere, until the run ends."""

    def __init__(self, draw, options, number):
        self.draw, self.options = draw, options
        self.span = options.span * 1024 * SECTORS_OF_KB
        self.size = options.kb * SECTORS_OF_KB
        self.next, self.left = START_SECTOR + self.span * number // options.streams, 0

    def sector(self):
        """Of the next write."""
        if self.options.run_kb and self.left <= 0:
            self.next = START_SECTOR + self.draw.randrange(self.span // 8) * 8
            if self.options.run_kb == self.options.kb:
                self.next = START_SECTOR + self.draw.randrange(self.span // self.size) * self.size
            self.left = self.options.run_kb
        self.left -= self.options.kb
        self.next += self.size
        return self.next - self.size


def commit(number):
    """Of ext4's journal: a block that describes and one that is described, then the commit."""
    sector = START_SECTOR - JOURNAL_SECTORS + number * 24 % JOURNAL_SECTORS
    return [f"W {sector} 16 SYNC", FLUSH, f"W {sector + 16} 8 FUA+SYNC"]


def bios_of(options):
    """What is asked of the drive."""
    draw = random.Random(options.seed)
    streams = [Stream(draw, options, number) for number in range(options.streams)]
    since = 0
    for number in range(options.writes or options.mb * 1024 // options.kb):
        stream = streams[number % len(streams)]
        yield f"W {stream.sector()} {stream.size} SYNC"
        since += options.kb
        if options.flush_kb and since >= options.flush_kb:
            since = 0
            yield from commit(number) if options.journal else [FLUSH]


def lines_of(options):
    """The lines of the trace."""
    clock = 3 * STEP_NS
    yield "# phase setup 0"
    yield f"{STEP_NS} {2 * STEP_NS} {FLUSH} made-1"
    yield f"# phase run {clock}"
    for bio in bios_of(options):
        yield f"{clock + STEP_NS} {clock + 2 * STEP_NS} {bio} made-1"
        clock += 2 * STEP_NS
    yield f"# phase unmount {clock + STEP_NS}"
    yield f"{clock + 2 * STEP_NS} {clock + 3 * STEP_NS} {FLUSH} made-1"
    yield f"# phase drain {clock + 4 * STEP_NS}"
    yield f"# phase end {clock + 5 * STEP_NS}"


def parse(words=None):
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--span", type=int, default=640, help="megabytes")
    parser.add_argument("--kb", type=int, default=4, help="of a write, a multiple of 4")
    parser.add_argument("--run-kb", type=int, help="of a run; as --kb, at random, if not told")
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--flush-kb", type=int, default=0, help="0: none")
    parser.add_argument("--journal", action="store_true")
    parser.add_argument("--writes", type=int, help="instead of --mb")
    parser.add_argument("--mb", type=int, default=96, help="in all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    if options.run_kb is None:
        options.run_kb = options.kb
    return options


def main():
    """Print the trace that the arguments ask for."""
    print("\n".join(lines_of(parse())))


if __name__ == "__main__":
    main()
