# SPDX-License-Identifier: GPL-2.0-only
"""ressd beside the kernel's other write caches, on the same drive and in the same reserved space.

Bare, ressd, dm-writecache, dm-cache (smq, writeback) and bcache (writeback), each in a guest of its
own; figures, rows, table and one chart.
"""

from pathlib import Path

import drives
import results as result_files
from guests import Guest, figures

HERE = Path(__file__).resolve().parent

SIDES = {"bare": "bare", "ressd": "ressd", "writecache": "dm-writecache",
         "dmcache": "dm-cache (smq)", "bcache": "bcache"}
PEERS = ["writecache", "dmcache", "bcache"]

# As in the comparison with the bare drive.
OPTIONS = drives.OPTIONS

# Seconds of one side on an idle machine, for the estimate of what is left.
LOADS = {"randwrite-4k": 30, "randwrite-8k": 30, "fsync-4k": 30, "burst-4k": 10,
         "sequential": 10, "randread": 5, "postmark": 60}

# On random writes ressd is to be this much faster than the best of the others.
FASTER = ">=1.5"
FASTER_ON = ["samsung", "supertalent", "sdcard"]
RANDOM_WRITES = ["randwrite-4k", "randwrite-8k"]

# Elsewhere not behind; two figures of the same drive differ by 1 or 2 %. On page-mapped drives
# neither with everything brought home: a cache that fills up owes what it has not written back yet.
NOT_BEHIND = ">=0.98"


def guest(profile, side, folder, loads=None, options=None):
    """The guest that measures one side of one drive."""
    chosen = [load for load in LOADS if not loads or load in loads]
    options = OPTIONS if options is None else options
    steps = {"start": 8}
    if side == "ressd" and drives.asks_probe(options):
        steps["probe"] = 30
    steps[f"{side}-start"] = 5
    steps.update({f"{side}-{load}": LOADS[load] for load in chosen})
    return Guest(f"{profile}-{side}", HERE / "guest-peers.sh", [profile, options, side, *chosen],
                 steps, place(profile, side, folder), files=drives.FILES, memory="3G")


def place(profile, side, folder):
    """Where the figures of one side are."""
    return folder / f"peers-{profile}" / side


class Comparison:
    """The figures of one drive; what was not measured is left out."""

    def __init__(self, profile, folder):
        self.profile = profile
        self.found = {}
        self.sides = [side for side in SIDES if (place(profile, side, folder) / "figures").exists()]
        for side in self.sides:
            self.found.update(figures(place(profile, side, folder)))
        self.loads = []
        for key in self.found:
            _, load, what = key.split(".")
            if what == "bytes" and load not in self.loads:
                self.loads.append(load)

    def speed(self, side, load, drained=False):
        """MB/s, with @drained over the time in which all of it came home; None: not measured."""
        key = f"{side}.{load}"
        if f"{key}.bytes" not in self.found:
            return None
        time = self.found[f"{key}.ms"]
        if drained:
            time += self.found.get(f"{key}.drain_ms", 0)
        return self.found[f"{key}.bytes"] / max(time, 1) / 1e3

    def best_peer(self, load, drained=False):
        """The fastest of the others and its MB/s; None, None: none was measured."""
        speeds = {side: self.speed(side, load, drained) for side in PEERS}
        best = max(speeds, key=lambda side: speeds[side] or 0)
        return (best, speeds[best]) if speeds[best] else (None, None)

    def over_best(self, load, drained=False):
        """ressd over the best of the others; None if either was not measured."""
        own, best = self.speed("ressd", load, drained), self.best_peer(load, drained)[1]
        return own / best if own and best else None


def bars_of(profile, load):
    """What ressd over the best of the others must be, and with everything brought home."""
    bar = FASTER if load in RANDOM_WRITES and profile in FASTER_ON else NOT_BEHIND
    return bar, NOT_BEHIND if profile in drives.PAGE else None


def rows_of(drive):
    """All rows of one drive."""
    rows = []
    for load in drive.loads:
        name = f"peers-{load}/{drive.profile}"
        for side in drive.sides:
            if drive.speed(side, load):
                rows.append(result_files.row(f"{name}/{side}", round(drive.speed(side, load), 4),
                                             "MB/s"))
        if drive.over_best(load):
            bar, drained_bar = bars_of(drive.profile, load)
            rows.append(result_files.row(f"{name}/over-best", round(drive.over_best(load), 3), "x",
                                         bar))
            rows.append(result_files.row(f"{name}/over-best-drained",
                                         round(drive.over_best(load, True), 3), "x", drained_bar))
    return rows


def describe(drive):
    """Table of one drive: MB/s, in brackets with everything brought home."""
    print(f"\n{drive.profile + ', MB/s (drained)':<28}" +
          "".join(f"{SIDES[side]:>20}" for side in drive.sides) + f"{'best peer':>16}")
    for load in drive.loads:
        cells = ""
        for side in drive.sides:
            speed = drive.speed(side, load)
            cell = f"{speed:.3f} ({drive.speed(side, load, True):.3f})" if speed else "-"
            cells += f"{cell:>20}"
        over = drive.over_best(load)
        beside = (drive.best_peer(load)[0] or "-") + (f" {over:.2f} x" if over else "")
        print(f"  {load:<26}{cells}{beside:>16}")


def chart(compared, load, path):
    """Bars of one load on all drives, each side as a multiple of the bare drive."""
    # Here, so that the tables do without it.
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel

    shown = [drive for drive in compared
             if load in drive.loads and drive.speed("bare", load) and drive.speed("ressd", load)]
    if not shown:
        return None
    figure, axes = plt.subplots(figsize=(9, 4))
    sides = ["ressd", *PEERS]
    width = 0.8 / len(sides)
    for number, side in enumerate(sides):
        places = [index + (number - (len(sides) - 1) / 2) * width for index in range(len(shown))]
        values = [(drive.speed(side, load) or 0) / drive.speed("bare", load) for drive in shown]
        bars = axes.bar(places, values, width, label=SIDES[side])
        axes.bar_label(bars, [f"{value:.3g}" for value in values], fontsize=7)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_xticks(range(len(shown)), [drive.profile for drive in shown])
    axes.set_ylabel("times the bare drive")
    axes.set_title(f"{load}, steady state, emulated drives, caches of 1/8 of the span")
    axes.legend(fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
