#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""combinations.py: options of table lines, so few that each two values of two options that may
stand beside each other do so in one of them, and that both have an effect there. One line of keys
and values for each device; combinations.txt holds them for 36-combinations.sh, whose guest has no
Python.

    tests/vm/combinations.py >tests/vm/combinations.txt

The lines are found greedily, and are the same each time: each begins with a pair that none has yet,
then takes the option and the value that add most; of some beginnings the best one counts.
"""

import itertools
import sys

# Of each option of docs/dm-ressd.rst what takes another way. The reserved area of the test has
# 16384 sectors.
VALUES = {
    "dispatch": ["none", "pai", "bundle", "bundle_rp"],
    "split_read_sectors": [0, 48, 512],
    "split_write_sectors": [0, 48, 512],
    "align_sectors": [0, 16, 24],
    "bundle_sectors": [0, 1000, 4096],
    "pending_expire_ms": [1, 10],
    "dispatch_depth": [1, 4],
    "route": ["always", "never", "adaptive"],
    "log_cost_us": [0, 300],
    "small_write_sectors": [8, 16, 64],
    "streams": [1, 16],
    "open_units": [0, 1, 12],
    "move_threshold": [20, 50, 90],
    "move_batch_sectors": [64, 1024],
    "move_block_sectors": [0, 2048, 3072],
    "move_fill_blocks": [0, 1],
    "pace": ["burst", "even", "idle"],
    "commit": ["writeback", "writethrough"],
    "commit_interval_ms": [5, 100],
    "log_align_sectors": [0, 64],
    "log_page_sectors": [0, 128],
    "log_rewrite": ["off", "on"],
    "log_discard": ["off", "on"],
    "segment_sectors": [128, 1024],
    "cover": ["on", "off"],
    "on_full": ["bypass", "wait"],
}


BEGINNINGS = 4  # 28 lines; with one 34, with eight 29


def divides(align, split):
    """Pieces of this length begin at boundaries, or there are none of either."""
    return not align or split % align == 0


# What the constructor refuses (check_options() in dm-ressd/core/ressd-args.c): the options that a
# rule looks at, and whether it lets them pass.
RULES = [
    (("open_units", "streams"), lambda units, streams: not units or streams != 1),
    (("open_units", "move_block_sectors"), lambda units, block: not units or block),
    (("align_sectors", "split_read_sectors", "split_write_sectors"),
     lambda align, read, write: not align or read or write),
    (("align_sectors", "split_read_sectors"), divides),
    (("align_sectors", "split_write_sectors"), divides),
    (("dispatch", "split_read_sectors", "split_write_sectors"),
     lambda dispatch, read, write: dispatch != "pai" or read or write),
    (("dispatch", "bundle_sectors"),
     lambda dispatch, bundle: dispatch not in ("bundle", "bundle_rp") or bundle),
]
RULED = [key for key in VALUES if any(key in keys for keys, _ in RULES)]

# An option that has no effect unless another one has one of these values.
NEEDS = {
    "bundle_sectors": ("dispatch", ["bundle", "bundle_rp"]),
    "pending_expire_ms": ("dispatch", ["pai"]),
    "dispatch_depth": ("dispatch", ["pai", "bundle", "bundle_rp"]),
    "log_cost_us": ("route", ["adaptive"]),
    "move_fill_blocks": ("move_block_sectors", [2048, 3072]),
    "log_rewrite": ("log_page_sectors", [128]),
}
NEEDS |= {key: ("route", ["always", "adaptive"]) for key in list(VALUES)[9:] if key not in NEEDS}


def allowed(line):
    """Does no rule refuse what is known of the line?"""
    return all(passes(*(line[key] for key in keys)) for keys, passes in RULES
               if all(key in line for key in keys))


def possible(line):
    """Can the line be completed?"""
    if not allowed(line):
        return False
    missing = next((key for key in RULED if key not in line), None)
    if missing is None:
        return True
    return any(possible({**line, missing: value}) for value in VALUES[missing])


def counts(line, *keys):
    """Have the options an effect in the line? Not the one by which another of them has none: that
    these stand beside each other is what is wanted then."""
    for key in keys:
        while key in NEEDS:
            key, values = NEEDS[key]
            if key not in keys and line.get(key, values[0]) not in values:
                return False
    return True


def pairs_of(line):
    """The pairs of a line; if it is not complete, those that it can have."""
    return {((one, line[one]), (other, line[other]))
            for one, other in itertools.combinations([key for key in VALUES if key in line], 2)
            if counts(line, one, other)}


def begins(pair):
    """The lines that begin with a pair, and with what it needs to have an effect."""
    lines = [dict(pair)]
    for key, _ in pair:
        while key in NEEDS:
            key, values = NEEDS[key]
            lines = [line if key in line else {**line, key: value} for line in lines
                     for value in (values[:1] if key in line else values)]
    return [line for line in lines if possible(line) and counts(line, *dict(pair))]


def pairs():
    """All pairs of values that may stand beside each other, in the order of VALUES."""
    return [pair for one, other in itertools.combinations(VALUES, 2)
            for pair in itertools.product([(one, value) for value in VALUES[one]],
                                          [(other, value) for value in VALUES[other]])
            if begins(pair)]


def longer(line):
    """The line with one more option, each that is missing with each value that can be completed."""
    for key in VALUES:
        for value in VALUES[key] if key not in line else []:
            if possible({**line, key: value}):
                yield {**line, key: value}


def complete(candidates, wanted):
    """The line that one of these becomes."""
    while candidates:
        # max() takes the first of those that have as many.
        line = max(candidates, key=lambda one: len(pairs_of(one) & wanted))
        candidates = list(longer(line))
    return line


def lines():
    """The lines, each a dict in the order of VALUES."""
    wanted = pairs()
    while wanted:
        left = set(wanted)
        first = wanted[::max(1, len(wanted) // BEGINNINGS)][:BEGINNINGS]
        line = max((complete(begins(pair), left) for pair in first),
                   key=lambda one: len(pairs_of(one) & left))
        yield {key: line[key] for key in VALUES}
        wanted = [pair for pair in wanted if pair not in pairs_of(line)]


def text(line):
    """As words of a table line."""
    return " ".join(f"{key} {value}" for key, value in line.items())


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    print("# SPDX-License-Identifier: GPL-2.0-only")
    print("# Made by tests/vm/combinations.py: the options of one device each.")
    for found in lines():
        print(text(found))
