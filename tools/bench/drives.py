# SPDX-License-Identifier: GPL-2.0-only
"""Loads on every emulated drive, bare beside ressd: one guest for each, figures, rows, table.

The bars are those of the paper's drives: hybrid drives must gain, page-mapped ones must not lose.
"""

from pathlib import Path

import results as result_files
from guests import Guest, figures

HERE = Path(__file__).resolve().parent
FILES = ["tests/ssdsim/profiles", "tools/bench/drives.conf", "tools/bench/guest-loads.sh"]

HYBRID = ["samsung", "supertalent", "transcend", "sdcard"]
PAGE = ["ocz", "intel", "ssdsim-sc"]
PROFILES = HYBRID + PAGE
# Cards, sticks and drives of today (docs/ssdsim.md): what they gain, without bars.
TODAY = ["sdcard-a1", "sdcard-a2", "sdcard-slow", "emmc", "usbstick", "tlc"]

# What ressd-probe advises, from what it measures on the drive: see docs/notebook/applications.md.
# Words behind it are options beside those; words alone are all that there are.
OPTIONS = "probe"


def asks_probe(options):
    """Whether the guest has to probe the drive first."""
    return options.split()[:1] == [OPTIONS]


# Seconds on an idle machine, for the estimate of what is left.
# In the order of measurement; a burst on a page-mapped drive comes last, on a drive of its own.
LOADS = {
    "randwrite-4k": 20, "randwrite-8k": 20, "fsync-4k": 20, "sequential": 5, "randread": 5,
    "burst-4k": 10, "pace": 1000, "patterns": 120, "burst-idle": 10,
}
# Each announces itself as a step.
PATTERNS = ["p-randwrite-4k", "p-randwrite-8k", "p-randwrite-64k", "p-randwrite-4k-deep",
            "p-zipf-4k", "p-mixed-4k", "p-fsync-4k", "p-strided-4k", "p-write-4k", "p-write-512k",
            "p-read-512k", "p-randread-4k", "p-randread-4k-deep"]
ONE_PATTERN = LOADS["patterns"] / len(PATTERNS)
HYBRID_LOADS = ["randwrite-4k", "randwrite-8k", "fsync-4k", "sequential", "randread", "burst-4k",
                "pace"]
TODAY_LOADS = ["randwrite-4k", "fsync-4k", "sequential"]
PAGE_LOADS = ["randwrite-4k", "sequential", "randread", "patterns", "burst-idle"]

# Random writes at these parts of what the log sustains. The bars are for up to 80 %: there RAM
# takes nearly all of them, whatever the pace. At 90 % it shows.
PACE_PERCENT = (50, 65, 80, 90)
PACE_BARS_UP_TO = 80

# load -> profile -> bar of its ratio. None: told only.
BARS = {
    "randwrite-4k": {"samsung": ">=8", "supertalent": ">=100"},
    "randwrite-8k": {"samsung": ">=6", "supertalent": ">=60"},
    "fsync-4k": {"samsung": ">=4", "supertalent": ">=30"},
    "seqwrite": dict.fromkeys(PROFILES, ">=0.98"),
    "seqread": dict.fromkeys(PROFILES, ">=0.98"),
    "randread": dict.fromkeys(PROFILES, ">=0.98"),
    "burst-idle": dict.fromkeys(PAGE, ">=3"),
}
NEVER_SLOWER = ">=0.97"
BURST_BARS = {"burst-4k": ">=85", "burst-4k-writethrough": ">=40"}
LOW_END = ["samsung", "supertalent"]
ERASES_BARS = {"supertalent": ">=100"}


def loads_of(profile, chosen):
    """The loads that make sense on a drive, or those chosen; patterns may be chosen one by one."""
    usual = TODAY_LOADS if profile in TODAY else HYBRID_LOADS if profile in HYBRID else PAGE_LOADS
    return [load for load in [*LOADS, *PATTERNS] if load in (chosen or usual)]


def guest(profile, folder, loads=None, options=None):
    """The guest that measures one drive."""
    chosen = loads_of(profile, loads)
    options = OPTIONS if options is None else options
    steps = {"start": 8}
    if asks_probe(options):
        steps["probe"] = 30
    # dm-linear beside the patterns: what device-mapper itself costs in the guest.
    sides = ("bare", "linear", "ressd") if "patterns" in chosen else ("bare", "ressd")
    for load in chosen:
        announced = PATTERNS if load == "patterns" else [load]
        for side in sides:
            seconds = LOADS[load] / len(announced) if load in LOADS else ONE_PATTERN
            steps.update({f"{side}-{name}": seconds / 2 for name in announced})
    arguments = [profile, options, *chosen]
    return Guest(f"drive-{profile}", HERE / "guest-drive.sh", arguments, steps, folder / profile,
                 files=FILES, memory="3G")


class Drive:
    """The figures of one drive."""

    def __init__(self, profile, folder):
        self.profile = profile
        self.found = figures(folder / profile)

    def loads(self):
        """Loads measured on both sides, in the order of measurement."""
        return [key[5:-6] for key in self.found
                if key.startswith("bare.") and key.endswith(".bytes")
                and f"ressd.{key[5:]}" in self.found]

    def speed(self, side, load, drained=False):
        """MB/s, with @drained over the time in which all of it came home."""
        time = self.found[f"{side}.{load}.ms"]
        if drained:
            time += self.found.get(f"{side}.{load}.drain_ms", 0)
        return self.found[f"{side}.{load}.bytes"] / max(time, 1) / 1e3

    def ratio(self, load, drained=False, side="ressd", base="bare"):
        """One side over another; None if one was not measured."""
        if any(f"{name}.{load}.bytes" not in self.found for name in (side, base)):
            return None
        return round(self.speed(side, load, drained) / self.speed(base, load, drained), 4)

    def erases_ratio(self, load):
        """Bare over ressd, for the same bytes, with what is left in the log brought home."""
        def each(side):
            return (self.found[f"{side}.{load}.erases"] +
                    self.found.get(f"{side}.{load}.drain_erases", 0)) \
                / self.found[f"{side}.{load}.bytes"]
        return round(each("bare") / each("ressd"), 4) if each("ressd") else None

    def longest(self, side, load):
        """The longest wait, ms."""
        return self.found[f"{side}.{load}.max_ns"] / 1e6


def burst_rows(drive):
    """A burst that the log takes, in percent of the drive's sequential writes."""
    if "bare.bandwidth.bytes" not in drive.found:
        return []
    rows = [result_files.row(f"cover/{drive.profile}/ms", drive.found["ressd.cover.ms"], "ms")]
    for load, bar in BURST_BARS.items():
        value = 100 * drive.speed("ressd", load) / drive.speed("bare", "bandwidth")
        rows.append(result_files.row(f"{load}/{drive.profile}/percent-of-seqwrite",
                                     round(value, 2), "%",
                                     bar if drive.profile in LOW_END else None))
    return rows


def pace_rows(drive):
    """The longest of a thousand waits, and the mean, when sweeps are spread in time."""
    rows = []
    for percent in PACE_PERCENT:
        barred = drive.profile in LOW_END and percent <= PACE_BARS_UP_TO
        bars = (">=5", ">=1") if barred else (None, None)
        waits = {pace: {kind: drive.found.get(f"ressd.pace-{percent}-{pace}.{kind}_ns")
                        for kind in ("p999", "mean", "max")} for pace in ("burst", "even")}
        if not all(waits["burst"].values()) or not all(waits["even"].values()):
            continue
        print(f"pace on {drive.profile}, {percent} % of the sustained rate, p99.9, mean, longest: "
              + ", ".join(f"{pace} {wait['p999'] / 1e6:.2f}, {wait['mean'] / 1e6:.3f}, "
                          f"{wait['max'] / 1e6:.1f} ms" for pace, wait in waits.items()))
        rows += [result_files.row(f"pace-{percent}-{kind}/{drive.profile}/burst-over-even",
                                  round(waits["burst"][kind] / waits["even"][kind], 3), "x", bar)
                 for kind, bar in zip(("p999", "mean"), bars, strict=True)]
    return rows


def worst_row(drive):
    """The pattern that suffers most, everything brought home."""
    patterns = [load for load in drive.loads() if load.startswith("p-")]
    if not patterns:
        return []
    worst = min(patterns, key=lambda load: drive.ratio(load, True))
    print(f"worst on {drive.profile}: {worst.removeprefix('p-')}")
    rows = [result_files.row(f"worst/{drive.profile}/ratio", drive.ratio(worst, True), "x",
                             NEVER_SLOWER)]
    beside = [drive.ratio(load, True, base="linear") for load in patterns]
    if all(beside):
        rows.append(result_files.row(f"worst/{drive.profile}/over-dm-linear", min(beside), "x"))
    return rows


def pattern_rows(drive, load, name):
    """One pattern, everything brought home; beside it, what dm-linear is over the bare drive."""
    rows = [result_files.row(f"{name}/ratio", drive.ratio(load, True), "x", NEVER_SLOWER)]
    linear = drive.ratio(load, True, side="linear")
    if linear:
        rows.append(result_files.row(f"{name}/dm-linear", linear, "x"))
        rows.append(result_files.row(f"{name}/over-dm-linear",
                                     drive.ratio(load, True, base="linear"), "x"))
    return rows


def rows_of(drive):
    """All rows of one drive."""
    rows = []
    for load in drive.loads():
        name = load.removeprefix("p-")
        if load.startswith("p-"):
            rows += pattern_rows(drive, load, f"pattern-{name}/{drive.profile}")
            continue
        bar = BARS.get(load, {}).get(drive.profile)
        rows.append(result_files.row(f"{load}/{drive.profile}/ratio", drive.ratio(load), "x", bar))
        if f"ressd.{load}.drain_ms" in drive.found:
            rows.append(result_files.row(f"{load}-drained/{drive.profile}/ratio",
                                         drive.ratio(load, True), "x"))
        for side in ("bare", "ressd"):
            rows.append(result_files.row(f"{load}/{drive.profile}/{side}",
                                         round(drive.speed(side, load), 4), "MB/s"))
    if "randwrite-4k" in drive.loads():
        value = drive.erases_ratio("randwrite-4k")
        if value is not None:
            rows.append(result_files.row(f"erases/{drive.profile}/ratio", value, "x",
                                         ERASES_BARS.get(drive.profile)))
    if "ressd.burst-idle.left" in drive.found:
        rows.append(result_files.row(f"burst-idle/{drive.profile}/blocks-left",
                                     int(drive.found["ressd.burst-idle.left"]), "1", "==0"))
    return rows + burst_rows(drive) + pace_rows(drive) + worst_row(drive)


def describe(drive):
    """Table of one drive."""
    print(f"\n{drive.profile:<24}{'bare MB/s':>12}{'ressd MB/s':>12}{'ratio':>9}{'drained':>9}"
          f"{'erases':>9}{'linear':>9}   longest, bare / ressd")
    for load in drive.loads():
        linear = drive.ratio(load, True, side="linear")
        erases = drive.erases_ratio(load)
        print(f"  {load:<22}{drive.speed('bare', load):>12.3f}{drive.speed('ressd', load):>12.3f}"
              f"{drive.ratio(load):>9.2f}{drive.ratio(load, True):>9.2f}"
              f"{'' if erases is None else f'{erases:.1f}':>9}"
              f"{'' if linear is None else f'{linear:.2f}':>9}   {drive.longest('bare', load):.1f}"
              f" / {drive.longest('ressd', load):.1f} ms")
