# SPDX-License-Identifier: GPL-2.0-only
"""Requests to the normal area: cut to the drive's buffers and pages, and ordered by a policy.

PA = Parameter-Aware I/O Management for Solid State Disks, IR = Disk Schedulers for Solid State Drives.
One guest for each drive; figures, rows, table. docs/normal-path.md says what is measured.
"""

from pathlib import Path

import drives
import results as result_files
from guests import Guest, figures

HERE = Path(__file__).resolve().parent

PROFILES = ["samsung", "supertalent", "transcend", "intel"]
SCHEDULERS = ["none", "mq-deadline", "bfq", "kyber"]
POSTMARK = ["none", "mq-deadline", "nopas", "pas", "pasa", "pas-pai", "pasa-pai", "bundle",
            "bundle-rp"]
MIXED = [*SCHEDULERS, "nopas", "bundle", "bundle-rp", "bundle-rp-1"]
SEQUENTIAL = ["none", "nopas", "pas", "pasa", "pasa-pai", "bundle-rp"]
PARTS = {"postmark-8m": POSTMARK, "postmark-256k": POSTMARK, "mixed": MIXED,
         "sequential": SEQUENTIAL}
SECONDS = {"postmark-8m": 30, "postmark-256k": 15, "mixed": 40, "sequential": 10}

# Percent of requests aligned and within the buffer on Samsung (PA Table 4).
PAPER = {("postmark-8m", "none"): (38.26, 23.34), ("postmark-8m", "pas-pai"): (35.22, 100),
         ("postmark-8m", "pasa-pai"): (88.48, 100), ("postmark-256k", "none"): (26.84, 98.46),
         ("postmark-256k", "pas-pai"): (43.33, 100), ("postmark-256k", "pasa-pai"): (55.39, 100)}


def place(profile, folder):
    """Where the figures of one drive are."""
    return folder / f"normal-path-{profile}"


def guest(profile, folder, parts=None):
    """The guest that measures one drive."""
    parts = parts or list(PARTS)
    steps = {"start": 8}
    steps.update({f"{part}-{side}": SECONDS[part] for part in parts for side in PARTS[part]})
    return Guest(f"normal-path-{profile}", HERE / "guest-normal-path.sh", [profile, *parts], steps,
                 place(profile, folder), files=drives.FILES, memory="3G")


class Drive:
    """The figures of one drive."""

    def __init__(self, profile, folder):
        self.profile = profile
        self.found = figures(place(profile, folder))

    def sides(self, part):
        """Sides that were measured."""
        return [side for side in PARTS[part] if f"{part}.{side}.ms" in self.found]

    def gain(self, part, side, base="none"):
        """How much faster than another side: times for Postmark, else bandwidths."""
        own, other = f"{part}.{side}", f"{part}.{base}"
        ratio = self.found[f"{other}.ms"] / self.found[f"{own}.ms"]
        if not part.startswith("postmark"):
            ratio *= self.found[f"{own}.bytes"] / self.found[f"{other}.bytes"]
        return round(ratio, 4)

    def share(self, part, side, what):
        """Percent of a side's requests."""
        key = f"{part}.{side}"
        return round(100 * self.found[f"{key}.{what}"] / self.found[f"{key}.requests"], 2)


def postmark_rows(drive, part):
    """PA Table 4 and Fig. 9."""
    rows = []
    for side in drive.sides(part):
        where = f"pas/{part}/{drive.profile}/{side}"
        rows.append(result_files.row(f"{where}/gain", drive.gain(part, side), "x"))
        bars = (None, None)
        if drive.profile == "samsung" and part == "postmark-8m" and side.startswith("pas"):
            bars = (">=85" if side.startswith("pasa") else None, ">=100")
        for what, bar in zip(("aligned", "within"), bars):
            rows.append(result_files.row(f"{where}/{what}", drive.share(part, side, what), "%",
                                         bar))
    return rows


def mixed_rows(drive):
    """Reads beside heavy writes."""
    rows = []
    base = drive.found["mixed.none.read_p99_ns"]
    for side in drive.sides("mixed"):
        where = f"pas/mixed/{drive.profile}/{side}"
        p99 = drive.found[f"mixed.{side}.read_p99_ns"]
        rows.append(result_files.row(f"{where}/read-p99", round(p99 / 1e6, 3), "ms"))
        rows.append(result_files.row(f"{where}/read-p99-ratio", round(p99 / base, 4), "x",
                                     "<=0.5" if side == "bundle-rp" else None))
        rows.append(result_files.row(f"{where}/writes", drive.gain("mixed", side), "x"))
    return rows


def rows_of(drive):
    """All rows of one drive."""
    rows = []
    for part in PARTS:
        if not drive.sides(part):
            continue
        if part.startswith("postmark"):
            rows += postmark_rows(drive, part)
        elif part == "mixed":
            rows += mixed_rows(drive)
        else:
            rows += [result_files.row(f"pas/{part}/{drive.profile}/{side}/ratio",
                                      drive.gain(part, side, "nopas"), "x", ">=0.99")
                     for side in drive.sides(part) if side not in ("none", "nopas")]
    return rows


def describe(drive):
    """Tables of one drive."""
    for part in PARTS:
        if not drive.sides(part):
            continue
        print(f"\n{part} on {drive.profile}")
        for side in drive.sides(part):
            key = f"{part}.{side}"
            cells = f"  {side:<14}{drive.found[f'{key}.ms'] / 1000:>8.2f} s" \
                    f"{drive.gain(part, side):>8.3f} x"
            if part.startswith("postmark"):
                cells += f"{drive.found[f'{key}.requests']:>9.0f} requests" \
                         f"{drive.share(part, side, 'aligned'):>8.1f} % aligned" \
                         f"{drive.share(part, side, 'within'):>8.1f} % within"
                paper = PAPER.get((part, side)) if drive.profile == "samsung" else None
                cells += f"   paper {paper[0]} %, {paper[1]} %" if paper else ""
            elif part == "mixed":
                cells += f"{drive.found[f'{key}.read_p99_ns'] / 1e6:>9.1f} ms p99 of reads" \
                         f"{drive.found[f'{key}.read_mean_ns'] / 1e6:>9.1f} ms mean" \
                         f"{drive.found[f'{key}.bytes'] / 2**20:>8.0f} MiB written"
            print(cells)
