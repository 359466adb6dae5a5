# SPDX-License-Identifier: GPL-2.0-only
"""Turns what bio-trace.sh recorded into a trace that a model can replay.

One bio a line, by the time of its arrival, "-" where something is unknown:

    issue_ns complete_ns op sector sectors flags task

op is R, W, D (discard) or F (a flush without data); sectors have 512 bytes. flags, joined by "+" or
"-": PREFLUSH, FUA, SYNC, META, AHEAD. task names who issued it, with its number: a later bio of the
same task often waits for an earlier one's completion. Times count from the first bio, to 1 us.
Lines "# phase NAME issue_ns" say where setup (mkfs, files), run, unmount and drain begin.
"""

import re
from collections import defaultdict, deque

EVENT = re.compile(r"^\s*(?P<task>.+-\d+)\s+\[\d+\] \S+\s+(?P<time>\d+\.\d+): (?P<event>\w+): "
                   r"(?P<rest>.*)$")
BIO = re.compile(r"^\d+,\d+ (?P<words>[A-Z]+) (?P<sector>\d+) \+ (?P<sectors>\d+) \[")

OPERATIONS = {"R": "R", "W": "W", "D": "D"}
FLAGS = {"S": "SYNC", "M": "META", "A": "AHEAD"}


class TraceError(ValueError):
    """Something that a trace does not have; the message is a sentence."""


def decode(words):
    """Operation and flags of a word as the kernel prints it: [F]OP[F][A][S][M]."""
    flags = []
    if words.startswith("F"):
        flags.append("PREFLUSH")
        words = words[1:]
    operation, rest = words[:1], words[1:]
    if operation not in OPERATIONS and operation != "N" and operation != "F":
        raise TraceError(f"a bio of an unknown kind: {words}")
    if rest.startswith("F"):
        flags.append("FUA")
        rest = rest[1:]
    flags += [FLAGS[letter] for letter in rest if letter in FLAGS]
    return operation, flags


class Bio:
    """One of them."""

    def __init__(self, issued, words, sector, sectors, task):
        operation, self.flags = decode(words)
        self.operation = operation if sectors else "F"
        self.issued, self.sector, self.sectors, self.task = issued, sector, sectors, task
        self.completed = None


def nanoseconds(text):
    """Of seconds with a fraction."""
    whole, fraction = text.split(".")
    return int(whole) * 10**9 + int(fraction.ljust(9, "0"))


def parse(lines):
    """The bios by arrival, and the phases (name, time)."""
    bios, phases = [], []
    waiting = defaultdict(deque)
    for line in lines:
        found = EVENT.match(line)
        if not found:
            continue
        time, rest = nanoseconds(found["time"]), found["rest"]
        if found["event"] == "tracing_mark_write":
            phases.append((rest.split()[1], time))
            continue
        bio = BIO.match(rest)
        if not bio:
            raise TraceError(f"not a bio: {line.strip()}")
        sector, sectors = int(bio["sector"]), int(bio["sectors"])
        # A flush that is done is no longer told, so data and flush have the same place to wait.
        place = (bio["words"].lstrip("F")[:1] == "R", sector, sectors)
        if found["event"] == "block_bio_queue":
            bios.append(Bio(time, bio["words"], sector, sectors,
                            found["task"].replace(" ", "_")))
            waiting[place].append(bios[-1])
        elif waiting[place]:
            waiting[place].popleft().completed = time
    return bios, phases


def lines_of(bios, phases):
    """The trace."""
    start = min([bios[0].issued] + [time for _, time in phases])
    phases = deque(phases)
    for bio in bios:
        while phases and phases[0][1] <= bio.issued:
            name, time = phases.popleft()
            yield f"# phase {name} {time - start}"
        completed = "-" if bio.completed is None else bio.completed - start
        yield (f"{bio.issued - start} {completed} {bio.operation} {bio.sector} {bio.sectors} "
               f"{'+'.join(bio.flags) or '-'} {bio.task}")
    for name, time in phases:
        yield f"# phase {name} {time - start}"
