#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Traces for trace.sh, and whether a replay has done what they say.

trace_check.py generate FORMAT REQUESTS [overlap]   a trace on standard output
trace_check.py compare TRACE IMAGE LOG JSON         a sentence for the first difference, or nothing

Each sector that ressd-trace writes begins with the line of the request and the sector's number, so
the image says who wrote last; the log says what was submitted, when, and in which order.
"""

import json
import random
import struct
import sys

BLOCK = 4096
SECTOR = 512
DISK_BLOCKS = 4096
WRITERS = {"msr": "Write", "spc": "W", "fio2": "write", "fio3": "write", "blkparse": "W"}


def places(number, overlap, draw):
    """Offset and bytes of each request, in blocks; without overlap no two share a block."""
    sizes = [draw.choice([1, 1, 1, 2, 4, 16]) for _ in range(number)]
    if overlap:
        return [(draw.randrange(256), size) for size in sizes]
    starts = draw.sample(range(0, DISK_BLOCKS, 16), number)
    return list(zip(starts, sizes, strict=True))


def line_of(form, us, write, start, blocks):
    """One line of a format."""
    offset, length = start * BLOCK, blocks * BLOCK
    if form == "msr":
        return f"{128166372000000000 + us * 10},host,0,{'Write' if write else 'Read'}," \
               f"{offset},{length},100"
    if form == "spc":
        return f"0,{offset // SECTOR},{length},{'W' if write else 'r'},{us / 1e6:.6f}"
    if form == "fio3":
        return f"{us} disk {'write' if write else 'read'} {offset} {length}"
    if form == "fio2":
        return f"disk {'write' if write else 'read'} {offset} {length}"
    return f"  8,0    1 {us:>8} {us // 1000000:>5}.{us % 1000000:06}000  1234  Q  " \
           f"{'WS' if write else 'R'} {offset // SECTOR} + {length // SECTOR} [load]"


def generate(form, number, overlap):
    """A trace of some 2 s."""
    draw = random.Random(number + len(form))
    if form.startswith("fio"):
        print(f"fio version {form[3]} iolog")
    us = 0
    for start, blocks in places(number, overlap, draw):
        step = draw.choice([0, 0, 100, 10000])
        us += step
        if form == "fio2" and step:
            print(f"disk wait {step} 0")
        print(line_of(form, us, draw.random() < 0.7, start, blocks))
        if draw.random() < 0.05 and form.startswith("fio"):
            print(f"{us} disk datasync 0 0" if form == "fio3" else "disk datasync 0 0")


def parse(line):
    """(kind, offset, bytes) of a line, None if it is no request."""
    words = line.replace(",", " ").split()
    if line.startswith("fio") or "wait" in words:
        return None
    if "datasync" in words:
        return "f", 0, 0
    if "host" in words:
        kind, offset, length = words[3], int(words[4]), int(words[5])
    elif "Q" in words:
        kind, offset, length = words[7], int(words[8]) * SECTOR, int(words[10]) * SECTOR
    elif "disk" in words:
        kind, offset, length = words[-3], int(words[-2]), int(words[-1])
    else:
        kind, offset, length = words[3], int(words[1]) * SECTOR, int(words[2])
    return "w" if kind[0] in "wW" else "r", offset, length


def check_log(requests, log):
    """Each request exactly once, at its own place; none before its time; in order."""
    rows = [line.rstrip().split(",") for line in log[1:]]
    found = {int(row[0]): (row[1], int(row[2]), int(row[3])) for row in rows}
    if len(found) != len(rows):
        return "a request was replayed twice"
    if found != requests:
        other = [line for line in requests if found.get(line) != requests[line]]
        return f"line {other[0] if other else '?'} was replayed as {found.get(other[0])}"
    times = [tuple(int(word) for word in row[4:7]) for row in rows]
    for due, submitted, completed in times:
        if not due <= submitted <= completed:
            return f"due at {due}, submitted at {submitted}, completed at {completed}"
    if any(a[1] > b[1] for a, b in zip(times, times[1:], strict=False)):
        return "a request was submitted before the one that was due earlier"
    return None


def check_image(requests, image):
    """Each sector as the last write left it, or as it was."""
    last = {}
    for line, (kind, offset, length) in sorted(requests.items()):
        if kind == "w":
            last.update(dict.fromkeys(range(offset // SECTOR, (offset + length) // SECTOR), line))
    for sector in range(len(image) // SECTOR):
        stamp = struct.unpack_from("<QQ", image, sector * SECTOR)
        expected = (last[sector], sector) if sector in last else (0, 0)
        if stamp != expected:
            return f"sector {sector} holds {stamp}, expected {expected}"
    return None


def check_json(requests, result):
    """Counts and bytes; percentiles in order; a histogram of all."""
    for kind, key in (("r", "read"), ("w", "write"), ("f", "flush")):
        lengths = [length for found, _, length in requests.values() if found == kind]
        if not lengths:
            continue
        part = result[key]
        if (part["requests"], part["bytes"]) != (len(lengths), sum(lengths)):
            return f"{key}: {part['requests']} requests of {part['bytes']} bytes"
        for times in (part["response"], part["service"]):
            order = [times[name] for name in ("p50_ns", "p99_ns", "p999_ns", "worst_ns", "max_ns")]
            if order != sorted(order):
                return f"{key}: percentiles {order}"
            if sum(bucket["count"] for bucket in times["histogram"]) != len(lengths):
                return f"{key}: the histogram has not all requests"
    if result["completed"] != len(requests) or result["interrupted"]:
        return f"{result['completed']} of {len(requests)} completed"
    return None


def compare(trace, image, log, result):
    """The first difference, or None."""
    with open(trace, encoding="ascii") as lines:
        requests = {number: parse(line) for number, line in enumerate(lines, start=1)}
    requests = {line: request for line, request in requests.items() if request}
    with open(log, encoding="ascii") as lines:
        why = check_log(requests, lines.readlines())
    if why:
        return why
    with open(image, "rb") as disk:
        why = check_image(requests, disk.read())
    if why:
        return why
    with open(result, encoding="ascii") as text:
        return check_json(requests, json.load(text))


def main():
    """Command line, see the top."""
    if sys.argv[1] == "generate":
        generate(sys.argv[2], int(sys.argv[3]), sys.argv[4:] == ["overlap"])
        return
    why = compare(*sys.argv[2:6])
    if why:
        print(why)


if __name__ == "__main__":
    main()
