# SPDX-License-Identifier: GPL-2.0-only
"""Postmark on the low-end drives, bare beside ressd with reserved areas of several sizes (RE 4.3).

One guest for each drive; figures, rows, table. What counts is the time of the whole run, in percent
less than the bare drive's. Everything is 1/16 of RE's size, or another part of it.
"""

from dataclasses import dataclass
from pathlib import Path

import drives
import results as result_files
from guests import Guest, figures

HERE = Path(__file__).resolve().parent

PROFILES = ["samsung", "supertalent"]

# Configuration -> MB of reserved area, 5 to 31 % of the file set, and MB of files: at 1/16.
RESERVED = {"a": [16], "b": [16], "c": [8, 16, 48]}
USUAL = 16
FILE_SET = {"a": 51, "b": 102, "c": 154}
USUAL_SCALE = 16
SCALES = [16, 8, 4]

# What RE says in its text, percent less; where it gives no number, and where it had less, 28.
PAPER = {("samsung", "c", 16): 36.3, ("supertalent", "c", 8): 43, ("supertalent", "c", 16): 43.7,
         ("supertalent", "c", 48): 71}
AT_LEAST = 28

# Seconds of one run on an idle machine, for the estimate of what is left.
SECONDS = {"a": 20, "b": 35, "c": 50}


@dataclass(frozen=True)
class Setting:
    """What is run: configurations, everything 1 / @scale of RE's size."""

    scale: int = USUAL_SCALE
    configurations: tuple = tuple(RESERVED)

    def sized(self, size):
        """What so many MB at 1/16 are here."""
        return size * USUAL_SCALE // self.scale

    def sizes(self):
        """Each configuration with its reserved areas, MB at 1/16."""
        return [(name, sizes) for name, sizes in RESERVED.items() if name in self.configurations]

    def runs(self):
        """Names of the runs, as guest-postmark.sh has them."""
        return [f"{name}-{size if size == 'bare' else self.sized(size)}"
                for name, sizes in self.sizes() for size in ["bare", *sizes]]

    def load(self, name, size):
        """What a run is called in the rows."""
        return (f"postmark-{name}" + ("" if size == USUAL else f"-{self.sized(size)}mb") +
                ("" if self.scale == USUAL_SCALE else f"-{self.scale}th"))

    def place(self, profile, folder):
        """Where the figures of one drive are."""
        return folder / (f"postmark-{profile}" +
                         ("" if self.scale == USUAL_SCALE else f"-{self.scale}th"))


USUAL_SETTING = Setting()


def guest(profile, folder, options=None, setting=USUAL_SETTING):
    """The guest that measures one drive."""
    options = drives.OPTIONS if options is None else options
    steps = {"start": 8}
    if drives.asks_probe(options):
        steps["probe"] = 30
    steps.update({run: SECONDS[run[0]] * setting.sized(1) for run in setting.runs()})
    return Guest(f"postmark-{profile}", HERE / "guest-postmark.sh",
                 [profile, options, str(setting.scale), *setting.runs()], steps,
                 setting.place(profile, folder), files=drives.FILES, memory="3G")


class Drive:
    """The figures of one drive."""

    def __init__(self, profile, folder, setting=USUAL_SETTING):
        self.profile = profile
        self.setting = setting
        self.found = figures(setting.place(profile, folder))

    def seconds(self, run, drained=False):
        """Time of a run; with @drained that in which all came home, too."""
        time = self.found[f"postmark.{run}.ms"]
        if drained:
            time += self.found[f"postmark.{run}.drain_ms"]
        return time / 1000

    def percent_less(self, name, size, drained=False):
        """Time that so many MB of reserved area save, in percent of the bare drive's."""
        bare = self.seconds(f"{name}-bare", drained)
        own = self.seconds(f"{name}-{self.setting.sized(size)}", drained)
        return round(100 * (1 - own / bare), 2)


def bar_of(profile, name, size):
    """What a run must save."""
    return f">={PAPER.get((profile, name, size), AT_LEAST)}"


def rows_of(drive):
    """All rows of one drive."""
    rows = []
    setting = drive.setting
    for name, sizes in setting.sizes():
        rows.append(result_files.row(f"{setting.load(name, USUAL)}/{drive.profile}/bare",
                                     drive.seconds(f"{name}-bare"), "s"))
        for size in sizes:
            load = setting.load(name, size)
            where = f"{load}/{drive.profile}"
            rows.append(result_files.row(f"{where}/percent-less",
                                         drive.percent_less(name, size), "%",
                                         bar_of(drive.profile, name, size)))
            rows.append(result_files.row(f"{where}/percent-less-drained",
                                         drive.percent_less(name, size, True), "%"))
            small = drive.found[f"postmark.{name}-{setting.sized(size)}.small_permille"]
            rows.append(result_files.row(f"small-share-{load}/{drive.profile}/permille",
                                         int(small), "permille"))
    return rows


def describe(drive):
    """Table of one drive."""
    setting = drive.setting
    print(f"\nPostmark on {drive.profile:<12}{'reserved':>18}{'seconds':>10}{'less':>9}"
          f"{'drained':>9}{'erases':>8}   small random")
    for name, sizes in setting.sizes():
        for size in ["bare", *sizes]:
            run = f"{name}-{size if size == 'bare' else setting.sized(size)}"
            cells = f"  PM-{name.upper()}, 1/{setting.scale} {'':<12}"
            erases = drive.found[f"postmark.{run}.erases"]
            if size == "bare":
                print(f"{cells}{'':>18}{drive.seconds(run):>10.1f}{'':>18}{erases:>8.0f}")
                continue
            area = f"{setting.sized(size)} MB, {100 * size / FILE_SET[name]:.0f} %"
            small = drive.found[f"postmark.{run}.small_permille"] / 10
            print(f"{cells}{area:>18}{drive.seconds(run):>10.1f}"
                  f"{drive.percent_less(name, size):>7.1f} %"
                  f"{drive.percent_less(name, size, True):>7.1f} %{erases:>8.0f}{small:>13.1f} %")
