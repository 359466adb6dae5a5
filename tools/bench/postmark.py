# SPDX-License-Identifier: GPL-2.0-only
"""Postmark on the low-end drives, bare beside ressd with reserved areas of several sizes (RE 4.3).

One guest for each drive; figures, rows, table. What counts is the time of the whole run, in percent
less than the bare drive's.
"""

from pathlib import Path

import drives
import results as result_files
from guests import Guest, figures

HERE = Path(__file__).resolve().parent

PROFILES = ["samsung", "supertalent"]

# Configuration -> MB of reserved area, 5 to 31 % of the file set; all sizes are 1/16 of RE's.
RESERVED = {"a": [16], "b": [16], "c": [8, 16, 48]}
USUAL = 16
FILE_SET = {"a": 51, "b": 102, "c": 154}

# What RE says in its text, percent less; where it gives no number, and where it had less, 28.
PAPER = {("samsung", "c", 16): 36.3, ("supertalent", "c", 8): 43, ("supertalent", "c", 16): 43.7,
         ("supertalent", "c", 48): 71}
AT_LEAST = 28

# Seconds of one run on an idle machine, for the estimate of what is left.
SECONDS = {"a": 20, "b": 35, "c": 50}


def runs():
    """Names of the runs, as guest-postmark.sh has them."""
    return [f"{name}-{size}" for name, sizes in RESERVED.items() for size in ["bare", *sizes]]


def place(profile, folder):
    """Where the figures of one drive are."""
    return folder / f"postmark-{profile}"


def guest(profile, folder, options=None):
    """The guest that measures one drive."""
    options = drives.OPTIONS if options is None else options
    steps = {"start": 8}
    if options == drives.OPTIONS:
        steps["probe"] = 30
    steps.update({run: SECONDS[run[0]] for run in runs()})
    return Guest(f"postmark-{profile}", HERE / "guest-postmark.sh", [profile, options, *runs()],
                 steps, place(profile, folder), files=drives.FILES, memory="3G")


class Drive:
    """The figures of one drive."""

    def __init__(self, profile, folder):
        self.profile = profile
        self.found = figures(place(profile, folder))

    def seconds(self, run, drained=False):
        """Time of a run; with @drained that in which all came home, too."""
        time = self.found[f"postmark.{run}.ms"]
        if drained:
            time += self.found[f"postmark.{run}.drain_ms"]
        return time / 1000

    def percent_less(self, name, size, drained=False):
        """Time that a reserved area of so many MB saves, in percent of the bare drive's."""
        bare = self.seconds(f"{name}-bare", drained)
        return round(100 * (1 - self.seconds(f"{name}-{size}", drained) / bare), 2)


def bar_of(profile, name, size):
    """What a run must save."""
    return f">={PAPER.get((profile, name, size), AT_LEAST)}"


def rows_of(drive):
    """All rows of one drive."""
    rows = []
    for name, sizes in RESERVED.items():
        rows.append(result_files.row(f"postmark-{name}/{drive.profile}/bare",
                                     drive.seconds(f"{name}-bare"), "s"))
        for size in sizes:
            load = f"postmark-{name}" + ("" if size == USUAL else f"-{size}mb")
            where = f"{load}/{drive.profile}"
            rows.append(result_files.row(f"{where}/percent-less",
                                         drive.percent_less(name, size), "%",
                                         bar_of(drive.profile, name, size)))
            rows.append(result_files.row(f"{where}/percent-less-drained",
                                         drive.percent_less(name, size, True), "%"))
            rows.append(result_files.row(
                f"small-share-{load}/{drive.profile}/permille",
                int(drive.found[f"postmark.{name}-{size}.small_permille"]), "permille"))
    return rows


def describe(drive):
    """Table of one drive."""
    print(f"\nPostmark on {drive.profile:<12}{'reserved':>18}{'seconds':>10}{'less':>9}"
          f"{'drained':>9}{'erases':>8}   small random")
    for name, sizes in RESERVED.items():
        for size in ["bare", *sizes]:
            run = f"{name}-{size}"
            cells = f"  PM-{name.upper()}, 1/16 {'':<12}"
            erases = drive.found[f"postmark.{run}.erases"]
            if size == "bare":
                print(f"{cells}{'':>18}{drive.seconds(run):>10.1f}{'':>18}{erases:>8.0f}")
                continue
            area = f"{size} MB, {100 * size / FILE_SET[name]:.0f} %"
            small = drive.found[f"postmark.{run}.small_permille"] / 10
            print(f"{cells}{area:>18}{drive.seconds(run):>10.1f}"
                  f"{drive.percent_less(name, size):>7.1f} %"
                  f"{drive.percent_less(name, size, True):>7.1f} %{erases:>8.0f}{small:>13.1f} %")
