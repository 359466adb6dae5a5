# SPDX-License-Identifier: GPL-2.0-only
"""RE 4.3 and 4.5: Postmark bare and with reserved areas of several sizes (Fig. 5, Table 4), and the
sizes of the mover's writes (Fig. 7). Everything is a 16th of RE's size.
"""

import hashlib
import re
from dataclasses import dataclass

import drives
import postmark
from guests import Guest, figures
from published import PUBLISHED, RE_DRIVES, RULES
from re_bandwidth import RULES as OPTIONS
from rows import row
from runs import Figure, GuestRun, ProgramRun, digest

SCRIPT = drives.HERE / "guest-postmark.sh"
SIZES_SCRIPT = drives.HERE / "drives.conf"
FILES_SCRIPT = drives.HERE.parent / "demo/postmark-lib.sh"
SCALE = 16
# RE's reserved area -> MB of it here. Unlimited is so large that nothing is moved while it runs.
SIZES = {"0.125-GB": 8, "0.25-GB": 16, "0.75-GB": 48, "unlimited": 256}
CONFIGURATIONS = ["a", "b", "c"]
MOVED = "blocks moved before the end"


def sources():
    """What all results depend on."""
    text = SCRIPT.read_text() + (drives.HERE / "guest-loads.sh").read_text()
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Advice(GuestRun):
    """What ressd-probe advises for a drive."""

    profile: str
    seconds: int = 45

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"postmark/{self.profile}-advice"

    def settings(self):
        """What its result depends on."""
        return f"{sources()}\n"

    def guest(self, top):
        """The guest that probes."""
        return Guest(self.name.replace("/", "-"), SCRIPT,
                     [self.profile, drives.OPTIONS, str(SCALE)], {"start": 8, "probe": 30},
                     self.folder(top), files=drives.FILES, memory="3G")

    def words(self, top):
        """Option words of the table line."""
        return (self.folder(top) / "options").read_text().strip()


@dataclass(frozen=True)
class Configured(GuestRun):
    """One configuration on one drive, bare (without a size) or by one set of options."""

    profile: str
    side: str
    configuration: str
    size: str = None

    def bare(self):
        """The same on the bare drive."""
        return type(self)(self.profile, "bare", self.configuration)

    def needs(self):
        """What it is compared with."""
        return [] if self.side == "bare" else [self.bare()]

    def found(self, top, what):
        """One figure."""
        return figures(self.results(top))[f"{self.prefix}.{what}"]


class Run(Configured):
    """Postmark."""

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"postmark/{self.profile}-{self.side}-{self.load}"

    @property
    def load(self):
        """What guest-postmark.sh calls it."""
        return f"{self.configuration}-{SIZES.get(self.size, 'bare')}"

    @property
    def seconds(self):
        """On an idle machine."""
        return 10 + postmark.SECONDS[self.configuration]

    def settings(self):
        """What its result depends on."""
        return f"{OPTIONS.get(self.side)}, {sources()}\n"

    def needs(self):
        """Also what it is told by ressd-probe."""
        return super().needs() + ([Advice(self.profile)] if self.side == "ours" else [])

    def guest(self, top):
        """The guest that measures it."""
        options = {"bare": "none", "paper": OPTIONS["paper"]}.get(self.side) or \
            Advice(self.profile).words(top)
        return Guest(self.name.replace("/", "-"), SCRIPT,
                     [self.profile, options, str(SCALE), self.load],
                     {"start": 8, self.load: postmark.SECONDS[self.configuration]},
                     self.folder(top), files=drives.FILES, memory="3G")

    def results(self, top):
        """Where its figures are."""
        return self.folder(top)

    @property
    def prefix(self):
        """What their names begin with."""
        return f"postmark.{self.load}"

    def percent_less(self, top):
        """Of the bare drive's time."""
        return 100 * (1 - self.found(top, "ms") / self.bare().found(top, "ms"))


class OneDrive(Figure):
    """A figure that has a part for each drive."""

    paper = "re"
    figure, what, configurations, run_type = None, None, None, None

    def __init__(self, profile):
        self.profile, self.drive = profile, RE_DRIVES[profile]
        self.name = f"{self.figure}-{self.drive[-1].lower()}"
        self.title = f"{self.what} on {self.drive}"

    def measured(self, top):
        """Runs with ressd whose bare drive is there as well."""
        return [run for run in self.with_ressd() if run.is_there(top) and run.bare().is_there(top)]

    def groups(self, top):
        """The configurations of which any were measured."""
        names = {run.configuration for run in self.measured(top)}
        return [name for name in self.configurations if name in names]

    def series(self, top, value):
        """Bars of each side and size of which there are any: value(run) for each configuration."""
        found, names = {}, self.groups(top)
        for run in self.measured(top):
            label = f"{run.side}, {run.size.replace('-', ' ')}"
            found.setdefault(label, [None] * len(names))[names.index(run.configuration)] = \
                value(run)
        return found

    def bare(self, top, what, scale=1):
        """The bar of the bare drive."""
        return {"bare": [self.run_type(self.profile, "bare", name).found(top, what) / scale
                         for name in self.groups(top)]}


class Elapsed(OneDrive):
    """Fig. 5, one drive."""

    figure = "re-5"
    what = "Elapsed time of Postmark"
    configurations = CONFIGURATIONS
    run_type = Run

    def of(self, configuration):
        """All runs of a configuration with ressd."""
        return [Run(self.profile, rules, configuration, size) for rules in RULES for size in SIZES]

    def runs(self):
        """Each configuration, bare and by both sets of options."""
        return [Advice(self.profile),
                *(run for configuration in CONFIGURATIONS
                  for run in (Run(self.profile, "bare", configuration), *self.of(configuration)))]

    def with_ressd(self):
        """All but the bare drive."""
        return [run for configuration in CONFIGURATIONS for run in self.of(configuration)]

    def rows(self, top):
        """Percent less."""
        return [row(f"re-5/{run.side}-{self.drive}/PM-{run.configuration.upper()}-{run.size}",
                    run.percent_less(top), "%", why=self.why(top, run), runs=[run, run.bare()])
                for run in self.measured(top)]

    def why(self, top, run):
        """How much of Postmark's time the log can save at all."""
        unlimited = Run(run.profile, run.side, run.configuration, "unlimited")
        if not unlimited.is_there(top):
            return None
        return f"without any move PM-{run.configuration.upper()} saves " \
               f"{unlimited.percent_less(top):.0f} % here, of " \
               f"{run.bare().found(top, 'ms') / 1000:.0f} s bare"

    def data(self, top):
        """Seconds, as the figure has them; percent less in a table."""
        seconds = self.series(top, lambda run: run.found(top, "ms") / 1000)
        return {"unit": "s", "drive": "emulated, 1/16 of the paper's sizes; sizes as there",
                "groups": [f"PM-{name.upper()}" for name in self.groups(top)],
                "series": {**self.bare(top, "ms", 1000), **seconds},
                "more": [("% less time than bare",
                          self.series(top, lambda run: run.percent_less(top))),
                         (MOVED, self.series(top, lambda run: run.found(top, "moved")))]}

    def text(self, kept):
        """What unlimited means here."""
        moved = dict(kept["data"]["more"]).get(MOVED)
        if not moved:
            # Of a figure from before there was that table.
            return kept["text"]
        counts = [count or 0 for side, column in moved.items() if side.endswith("unlimited")
                  for count in column]
        moved = f"{max(counts):.0f} blocks" if any(counts) else "nothing"
        return "Sizes are those of RE's reserved area. Unlimited: 4 GB, of which the mover had " \
               f"{moved} to move before the end."


@dataclass(frozen=True)
class Sizes(ProgramRun):
    """What guest-postmark.sh gives to Postmark."""

    name: str = "postmark/sizes"
    seconds: int = 1

    def settings(self):
        """What its result depends on."""
        return f"{digest(SIZES_SCRIPT, FILES_SCRIPT)}\n"

    def commands(self):
        """A line for each configuration."""
        return {"output": ["bash", "-c", f". '{SIZES_SCRIPT}'; CAPACITY_MB=3816; "
                           f"for name in {' '.join(CONFIGURATIONS)}; do postmark_sizes $name; "
                           "echo $FILES $DIRECTORIES $TRANSACTIONS; done"]}

    def found(self, top):
        """Configuration -> files, directories, transactions, in RE's size; GB of files."""
        smallest, largest = map(int, re.search(r'"size (\d+) (\d+)"',
                                               FILES_SCRIPT.read_text()).groups())
        lines = [[SCALE * int(word) for word in line.split()]
                 for line in self.output(top, "output").splitlines()]
        return {name: (line[0] * (smallest + largest) / 2 / 1e9, *line)
                for name, line in zip(CONFIGURATIONS, lines, strict=True)}


class Sized(Figure):
    """Table 3: how large the loads are."""

    paper = "re"
    name = "re-table3"
    title = "Postmark's configurations"
    POINTS = {"file-set": "GB of files", "files": "files", "directories": "directories",
              "transactions": "transactions"}

    def runs(self):
        """No guest: what the scripts say."""
        return [Sizes()]

    def rows(self, top):
        """Each is 16 times what runs here."""
        return [row(f"{self.name}/PM-{name.upper()}/{point}", value)
                for name, values in Sizes().found(top).items()
                for point, value in zip(self.POINTS, values, strict=True)]

    def data(self, top):
        """Published beside here."""
        return self.beside_published(top, "as named below", f"times {SCALE}", self.POINTS)

    def text(self, _kept):
        """That it is a setting."""
        return f"What is set for the runs here, times {SCALE}. GB of files: the number of files " \
               "times the mean of their sizes, which are drawn."


class SmallShare(Figure):
    """Table 4: how many writes the paper's rule takes for small and random."""

    paper = "re"
    name = "re-table4"
    title = "Writes taken for small and random, Postmark"

    def runs(self):
        """On one drive: the router knows nothing of it."""
        return [Run("samsung", "paper", configuration, "0.25-GB")
                for configuration in CONFIGURATIONS]

    def rows(self, top):
        """Percent."""
        return [row(f"{self.name}/small-random/PM-{run.configuration.upper()}",
                    run.found(top, "small_permille") / 10,
                    why="ext4 and the kernel's writeback of today merge other writes than those "
                        "of RE's Linux", runs=[run])
                for run in self.measured(top)]

    def data(self, top):
        """Published beside here."""
        return {**self.beside_published(top, "%", "emulated SSD-A, 1/16 of the paper's sizes"),
                "log": False}

    def text(self, _kept):
        """By whose rule."""
        return "By the paper's rules, with 0.25 GB reserved."


class Moves(Figure):
    """4.5, Figs. 7 and 8: the mover's writes of 12 KB and more."""

    paper = "re"
    name = "re-7"
    load = "PM-B"
    title = "The mover's writes of 12 KB and more, PM-B"
    POINTS = ["0.125-GB", "0.25-GB"]
    KINDS = {"writes": ("moves_12k", "moves"), "data": ("moved_sectors_12k", "moved_sectors")}
    # The mover's thread also writes the covers: block 0, then the 16 others.
    COVERS = {"moves": 2, "moves_12k": 1, "moved_sectors": 136, "moved_sectors_12k": 128}

    def runs(self):
        """On SSD-A."""
        return [Advice("samsung"), *self.measurements()]

    def measurements(self):
        """Those of the mover."""
        return [Run("samsung", rules, "b", size) for rules in RULES for size in self.POINTS]

    def measured(self, top):
        """Without what they were told by ressd-probe."""
        return [run for run in self.measurements() if run.is_there(top)]

    def rows(self, top):
        """Percent of the mover's writes, and of its data; of none there is no share. When it
        began, by the paper's rules."""
        return self.shares(top) + [self.begin(top, run) for run in self.measured(top)
                                   if (run.side, run.size) == ("paper", self.POINTS[0])]

    def begin(self, top, run):
        """Seconds from the begin of the load, as many times longer as the sizes are smaller."""
        first = figures(run.results(top)).get(f"{run.prefix}.first_move_ms")
        # A run of an older script that moved anything does not say when.
        is_known = first or not self.has_moved(top, run)
        return row(f"{self.name}/paper/mover-begins", first and SCALE * first / 1000, "s",
                   why=f"half of the reserved area has {SIZES[run.size] * 128} blocks, "
                       f"{run.found(top, 'logged'):.0f} were logged" if is_known else None,
                   runs=[run])

    def shares(self, top):
        """What is published of the sizes."""
        return [row(f"{self.name}/{run.side}/{self.load}-{run.size}-{kind}",
                    100 * self.count(top, run, part) / self.count(top, run, whole)
                    if self.has_moved(top, run) else None, "%",
                    why=f"the mover has written {self.count(top, run, 'moved_sectors') / 8:.0f} "
                        f"blocks in {self.count(top, run, 'moves'):.0f} writes"
                    if self.has_moved(top, run) else
                    f"the mover had nothing to move: {run.found(top, 'logged'):.0f} blocks were "
                    "logged", runs=[run])
                for run in self.measured(top) for kind, (part, whole) in self.KINDS.items()]

    def has_moved(self, top, run):
        """Whether the mover has written anything but covers."""
        return self.count(top, run, "moves") > 0

    def count(self, top, run, what):
        """Without the covers."""
        return run.found(top, what) - self.COVERS[what]

    def data(self, top):
        """Published beside here."""
        rows = {entry["id"].split("/", 1)[1]: entry["value"] for entry in self.rows(top)}
        points = [f"{self.load}-{size}-{kind}" for size in self.POINTS for kind in self.KINDS]
        return {"unit": "%", "drive": "emulated SSD-A, 1/16 of the paper's sizes",
                "groups": [f"{kind},\n{size.replace('-', ' ')}" for size in self.POINTS
                           for kind in self.KINDS],
                "series": {"published": [PUBLISHED[f"{self.name}/paper/{point}"].value
                                         for point in points],
                           **{rules: [rows.get(f"{rules}/{point}") for point in points]
                              for rules in RULES}}}

    def text(self, kept):
        """How they were counted."""
        rows = {entry["id"]: entry for entry in kept["rows"]}
        still = ", ".join(f"{run.side}, {run.size.replace('-', ' ')}"
                          for run in self.measurements()
                          if rows.get(f"{self.name}/{run.side}/{self.load}-{run.size}-writes",
                                      {"value": 0})["value"] is None)
        text = "Counted by the kernel where the mover hands its writes to the drive, until " \
               "the load has ended."
        return f"{text} It had nothing to move by then: {still}." if still else text


FIGURES = [Sized(), *(Elapsed(profile) for profile in RE_DRIVES), SmallShare(), Moves()]
