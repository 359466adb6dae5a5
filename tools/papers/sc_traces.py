# SPDX-License-Identifier: GPL-2.0-only
"""Traces like those of the SC paper, generated to its Table 1, in the SPC format.

The traces themselves (MSR Cambridge, Storage Performance Council) have licences of their own and
are no part of the project; sc_real.py replays what somebody has. What Table 1 gives is kept: the
share of reads, the mean sizes, the mean interval. What it does not give is drawn: sizes are whole
pages of 4 KB from a geometric distribution (below 4 KB on average: single sectors up to a page),
intervals are exponential, 80 % of the requests go to 20 % of the span.

Table 1 says "ms" for the interval, but its numbers are seconds: hm0 has 3,993,316 requests in a
week, one in 0.15 s, and the paper's SSD, whose two channels take 102 us for a page, could not take
one request of proj0, 10 pages, each 0.14 ms.
"""

import random
from dataclasses import dataclass

PAGE_SECTORS = 8
SECTOR = 512
SPAN_MB = 256
HOT_SHARE = 0.2
HOT_REQUESTS = 0.8


@dataclass(frozen=True)
class Row:
    """A row of Table 1."""

    reads: float            # % of the requests
    read_sectors: float     # mean size
    write_sectors: float
    interval: float         # mean, s

TABLE_1 = {
    "hm0": Row(32.73, 14.74, 16.67, 0.15),
    "proj0": Row(5.85, 35.68, 81.83, 0.14),
    "prn0": Row(22.21, 45.67, 23.31, 0.11),
    "fin1": Row(15.4, 4.5, 7.45, 0.01),
    "fin2": Row(78.46, 4.56, 5.84, 0.01),
}


def size(mean, draw):
    """Sectors of a request, with that mean."""
    if mean < PAGE_SECTORS:
        # A page with this probability, else 1 to 7 sectors, 4 on average.
        whole = (mean - PAGE_SECTORS / 2) / (PAGE_SECTORS / 2)
        return PAGE_SECTORS if draw.random() < whole else draw.randint(1, PAGE_SECTORS - 1)
    pages, more = 1, 1 - PAGE_SECTORS / mean
    while pages < 64 and draw.random() < more:
        pages += 1
    return pages * PAGE_SECTORS


def place(sectors, draw):
    """First sector: on a page, in the hot part of the span or anywhere in it."""
    pages = SPAN_MB * 2048 // PAGE_SECTORS
    if draw.random() < HOT_REQUESTS:
        # The hot part lies scattered: every fifth MiB.
        mib = draw.randrange(int(SPAN_MB * HOT_SHARE)) * round(1 / HOT_SHARE)
        page = mib * 256 + draw.randrange(256)
    else:
        page = draw.randrange(pages)
    return min(page * PAGE_SECTORS, SPAN_MB * 2048 - sectors)


def generate(name, requests, path):
    """Write a trace; the same each time."""
    row, draw, now = TABLE_1[name], random.Random(name), 0.0
    with open(path, "w", encoding="ascii") as out:
        for _ in range(requests):
            reads = draw.random() * 100 < row.reads
            sectors = size(row.read_sectors if reads else row.write_sectors, draw)
            out.write(f"0,{place(sectors, draw)},{sectors * SECTOR},{'r' if reads else 'w'},"
                      f"{now:.6f}\n")
            now += draw.expovariate(1 / row.interval)
