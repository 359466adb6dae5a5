# SPDX-License-Identifier: GPL-2.0-only
"""RE 4.3 and 4.5: Postmark bare and with reserved areas of several sizes (Fig. 5, Table 4), and the
sizes of the mover's writes (Fig. 7). Everything is a 16th of RE's size.
"""

import hashlib
from dataclasses import dataclass

import drives
import postmark
from guests import Guest, figures
from published import PUBLISHED, RE_DRIVES, RULES
from re_bandwidth import RULES as OPTIONS
from rows import row
from runs import GuestRun, OfEach, are_there

SCRIPT = drives.HERE / "guest-postmark.sh"
SCALE = 16
# RE's reserved area -> MB of it here. Unlimited is so large that nothing is moved while it runs.
SIZES = {"0.125-GB": 8, "0.25-GB": 16, "0.75-GB": 48, "unlimited": 256}
CONFIGURATIONS = ["a", "b", "c"]
SIDES = ("bare", *RULES)


@dataclass(frozen=True)
class Run(GuestRun):
    """One configuration on one drive, bare or with all sizes, each on a fresh drive."""

    profile: str
    side: str
    configuration: str

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"postmark/{self.profile}-{self.side}-{self.configuration}"

    @property
    def loads(self):
        """What guest-postmark.sh calls them."""
        sizes = ["bare"] if self.side == "bare" else SIZES.values()
        return [f"{self.configuration}-{size}" for size in sizes]

    @property
    def seconds(self):
        """On an idle machine."""
        return 40 * (self.side == "ours") + \
            postmark.SECONDS[self.configuration] * len(self.loads)

    def settings(self):
        """What its result depends on."""
        sources = SCRIPT.read_text() + (drives.HERE / "guest-loads.sh").read_text()
        return f"{self.loads}, {OPTIONS.get(self.side)}, " \
               f"{hashlib.sha256(sources.encode()).hexdigest()}\n"

    def guest(self, top):
        """The guest that measures it."""
        steps = {"start": 8, **({"probe": 30} if self.side == "ours" else {}),
                 **dict.fromkeys(self.loads, postmark.SECONDS[self.configuration])}
        return Guest(self.name.replace("/", "-"), SCRIPT,
                     [self.profile, OPTIONS.get(self.side, "none"), str(SCALE), *self.loads],
                     steps, self.folder(top), files=drives.FILES, memory="3G")

    def found(self, top, size, what):
        """One figure; of the bare drive without a size."""
        load = f"{self.configuration}-{SIZES.get(size, 'bare')}"
        return figures(self.folder(top))[f"postmark.{load}.{what}"]


def percent_less(top, run, size):
    """Of the bare drive's time."""
    bare = Run(run.profile, "bare", run.configuration).found(top, None, "ms")
    return 100 * (1 - run.found(top, size, "ms") / bare)


class Elapsed(OfEach):
    """Fig. 5, one drive."""

    paper = "re"

    def __init__(self, profile):
        self.profile, self.drive = profile, RE_DRIVES[profile]
        self.name = f"re-5-{self.drive[-1].lower()}"
        self.title = f"Elapsed time of Postmark on {self.drive}"

    def runs(self):
        """Each configuration, bare and by both sets of options."""
        return [Run(self.profile, side, configuration) for configuration in CONFIGURATIONS
                for side in SIDES]

    def measured(self, top):
        """Runs with ressd of the configurations of which all sides are there."""
        return [Run(self.profile, rules, configuration) for configuration in CONFIGURATIONS
                if are_there([Run(self.profile, side, configuration) for side in SIDES], top)
                for rules in RULES]

    def rows(self, top):
        """Percent less."""
        return [row(f"re-5/{run.side}-{self.drive}/PM-{run.configuration.upper()}-{size}",
                    percent_less(top, run, size), "%", why=self.why(top, run))
                for run in self.measured(top) for size in SIZES]

    def why(self, top, run):
        """How much of what Postmark writes the log can help with."""
        bare = Run(run.profile, "bare", run.configuration)
        unlimited = percent_less(top, run, "unlimited")
        return f"without any move PM-{run.configuration.upper()} saves {unlimited:.0f} % here, " \
               f"of {bare.found(top, None, 'ms') / 1000:.0f} s bare"

    def series(self, top, value):
        """Bars of each side and size: value(run, size) for each configuration."""
        runs = self.measured(top)
        return {f"{rules}, {size.replace('-', ' ')}":
                [value(run, size) for run in runs if run.side == rules]
                for rules in RULES for size in SIZES}

    def data(self, top):
        """Seconds, as the figure has them; percent less in a table."""
        runs = [run for run in self.measured(top) if run.side == RULES[0]]
        bare = [Run(run.profile, "bare", run.configuration).found(top, None, "ms") / 1000
                for run in runs]
        seconds = self.series(top, lambda run, size: run.found(top, size, "ms") / 1000)
        return {"unit": "s", "drive": "emulated, 1/16 of the paper's sizes; sizes as there",
                "groups": [f"PM-{run.configuration.upper()}" for run in runs],
                "series": {"bare": bare, **seconds},
                "more": [("% less time than bare",
                          self.series(top, lambda run, size: percent_less(top, run, size)))]}

    def text(self, top):
        """What unlimited means here."""
        moved = max(run.found(top, "unlimited", "moved") for run in self.measured(top))
        return "Sizes are those of RE's reserved area. Unlimited: 4 GB, of which the mover had " \
               f"{'nothing' if not moved else f'{moved:.0f} blocks'} to move before the end."


class SmallShare(OfEach):
    """Table 4: how many writes the paper's rule takes for small and random."""

    paper = "re"
    name = "re-table4"
    title = "Writes taken for small and random, Postmark"

    def runs(self):
        """On one drive: the router knows nothing of it."""
        return [Run("samsung", "paper", configuration) for configuration in CONFIGURATIONS]

    def rows(self, top):
        """Percent."""
        return [row(f"{self.name}/small-random/PM-{run.configuration.upper()}",
                    run.found(top, "0.25-GB", "small_permille") / 10,
                    why="ext4 and the kernel's writeback of today merge other writes than those "
                        "of Linux 2.6")
                for run in self.measured(top)]

    def data(self, top):
        """Published beside here."""
        return self.beside_published(top, "%", "emulated SSD-A, 1/16 of the paper's sizes")

    def text(self, _top):
        """By whose rule."""
        return "By the paper's rules, with 0.25 GB reserved."


class Moves(OfEach):
    """4.5, Fig. 7: the mover's writes of 12 KB and more."""

    paper = "re"
    name = "re-7"
    title = "The mover's writes of 12 KB and more, PM-B"
    POINTS = ["0.125-GB", "0.25-GB"]
    KINDS = {"writes": ("moves_12k", "moves"), "data": ("moved_sectors_12k", "moved_sectors")}

    def runs(self):
        """On SSD-A."""
        return [Run("samsung", rules, "b") for rules in RULES]

    def rows(self, top):
        """Percent of the mover's writes, and of its data."""
        return [row(f"{self.name}/{run.side}/PM-B-{size}-{kind}",
                    100 * run.found(top, size, part) / max(run.found(top, size, whole), 1), "%",
                    why=f"the mover has written {run.found(top, size, 'moved'):.0f} blocks in "
                        f"{run.found(top, size, 'moves'):.0f} writes")
                for run in self.measured(top) for size in self.POINTS
                for kind, (part, whole) in self.KINDS.items()]

    def data(self, top):
        """Published beside here."""
        rows = {entry["id"].split("/", 1)[1]: entry["value"] for entry in self.rows(top)}
        points = [f"PM-B-{size}-{kind}" for size in self.POINTS for kind in self.KINDS]
        return {"unit": "%", "drive": "emulated SSD-A, 1/16 of the paper's sizes",
                "groups": [f"{kind},\n{size.replace('-', ' ')}" for size in self.POINTS
                           for kind in self.KINDS],
                "series": {"published": [PUBLISHED[f"{self.name}/paper/{point}"].value
                                         for point in points],
                           **{run.side: [rows[f"{run.side}/{point}"] for point in points]
                              for run in self.measured(top)}}}

    def text(self, _top):
        """How they were counted."""
        return "Counted by the kernel where the mover hands its writes to the drive, until " \
               "Postmark has ended."


FIGURES = [*(Elapsed(profile) for profile in RE_DRIVES), SmallShare(), Moves()]
