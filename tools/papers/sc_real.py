# SPDX-License-Identifier: GPL-2.0-only
"""Real traces beside the generated ones, as far as somebody has them in a folder.

They have licences of their own and are no part of the project: fin1 is Financial1 of the Storage
Performance Council (traces.cs.umass.edu), the others are cuts of the MSR Cambridge traces. Their
lines have five words: milliseconds, device, place, size, and 1 for a read or 0 for a write.
"""

import os
from pathlib import Path

from guests import GuestError

FOLDER = "RESSD_TRACES"
SECTOR = 512
# Bytes that are one of a place, and one of a size.
UNITS = {"fin1-head": (512, 4096), "msr-cut-rw_20_80": (1, 1), "msr-cut-rand-iops": (1, 1)}
KINDS = {"1": "r", "0": "w"}


def path_of(name):
    """Where a trace is; None if it is not there."""
    folder = os.environ.get(FOLDER)
    path = Path(folder or ".") / f"{name}.trace"
    return path if folder and path.exists() else None


def request(line, units):
    """Seconds, first sector, bytes in whole sectors, kind; ValueError if that is none."""
    time, _device, place, size, kind = line.split()
    start, length = int(place) * units[0], int(size) * units[1]
    if kind not in KINDS or start < 0 or length <= 0 or float(time) < 0:
        raise ValueError
    first, end = start // SECTOR, -(-(start + length) // SECTOR)
    return float(time) / 1000, first, (end - first) * SECTOR, KINDS[kind]


def convert(name, requests, path):
    """The first requests of a trace in the SPC format, in the order of arrival."""
    source, found = path_of(name), []
    with open(source, encoding="ascii") as lines:
        for number, line in zip(range(1, requests + 1), lines, strict=False):
            try:
                found.append(request(line, UNITS[name]))
            except ValueError as error:
                raise GuestError(f"{source}: line {number} is not milliseconds, device, place, "
                                 f"size, and 1 or 0: {line.strip()}") from error
    with open(path, "w", encoding="ascii") as out:
        for seconds, sector, size, kind in sorted(found, key=lambda entry: entry[0]):
            out.write(f"0,{sector},{size},{kind},{seconds:.6f}\n")
