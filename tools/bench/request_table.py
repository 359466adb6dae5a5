# SPDX-License-Identifier: GPL-2.0-only
"""What reached a drive: requests by kind and by who sent them, as bio-trace.sh has recorded them.

A kind is of the log where the place is in the reserved area: "log write".

Time is that from the issue to the completion of each request, summed: of requests that are in
flight together it is more than what the drive was busy.
"""

import math
import re
from collections import defaultdict

NORMAL = re.compile(r"^# normal_sectors (\d+)$")
EVENT = re.compile(r"^\s*(?P<task>.+)-\d+\s+\[\d+\] \S+\s+(?P<time>\d+\.\d+): "
                   r"block_rq_(?P<event>issue|complete): \d+,\d+ (?P<words>[A-Z]+) "
                   r"(?:\d+ )?\([^)]*\) (?P<sector>\d+) \+ (?P<sectors>\d+) ")


class Sum:
    """Of requests of one kind."""

    def __init__(self):
        self.requests, self.sectors, self.seconds = 0, 0, 0.0


def kind_of(event, normal_sectors):
    """In words, of the letters that the kernel prints; without data it prints FF."""
    if event["words"] == "FF":
        return "flush"
    names = {"R": "read", "W": "write", "D": "discard"}
    name = names.get(event["words"].lstrip("F")[:1], event["words"])
    return f"log {name}" if int(event["sector"]) >= normal_sectors else name


def sums(lines):
    """(kind, task) -> Sum, of the requests that have completed."""
    found, waiting, normal_sectors = defaultdict(Sum), {}, math.inf
    for line in lines:
        normal, event = NORMAL.match(line), EVENT.match(line)
        if normal:
            normal_sectors = int(normal[1])
        if not event:
            continue
        time, place = float(event["time"]), (kind_of(event, normal_sectors), event["sector"])
        if event["event"] == "issue":
            waiting[place] = (time, event["task"].split("/")[0])
        elif place in waiting:
            begun, task = waiting.pop(place)
            one = found[place[0], task]
            one.requests += 1
            one.sectors += int(event["sectors"])
            one.seconds += time - begun
    return found


def table(lines):
    """As text, the most time first; the last line is the sum."""
    found = sums(lines)
    total = Sum()
    text = [f"  {'kind':<14}{'sent by':<18}{'requests':>10}{'MB':>10}{'s':>10}"]
    for (kind, task), one in sorted(found.items(), key=lambda item: -item[1].seconds):
        text.append(line_of(kind, task, one))
        total.requests += one.requests
        total.sectors += one.sectors
        total.seconds += one.seconds
    return "\n".join([*text, line_of("all", "", total)])


def line_of(kind, task, one):
    """One line of the table."""
    return (f"  {kind:<14}{task:<18}{one.requests:>10}{one.sectors * 512 / 1e6:>10.2f}"
            f"{one.seconds:>10.3f}")
