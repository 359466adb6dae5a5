# SPDX-License-Identifier: GPL-2.0-only
"""RE: Table 2, and the bandwidth of 4 and 8 KB requests, with ReSSD over bare (Figs. 3, 4).

Measured by the loads of `make bench`, with the options that ressd-probe advises and with the
paper's own rules. Random writes are in steady state: the log has gone round once before.
"""

import hashlib
from dataclasses import dataclass

import beyond
import drives
from published import PUBLISHED, RE_DRIVES
from rows import row
from runs import Figure, GuestRun

LOADS = ["randwrite-4k", "randwrite-8k", "sequential", "randread"]
RULES = {
    "ours": drives.OPTIONS,
    "paper": "streams 1 move_threshold 50 pace burst on_full wait route always "
             "commit writethrough",
}
SECONDS = {"ours": 90, "paper": 70}
# The paper has 512 MB reserved for a file of 4 GB; both sizes are 1/16 here.
BARS = {"randwrite-4k": "random write 4 KB", "randwrite-8k": "random write 8 KB",
        "randread": "random read 4 KB", "seqwrite": "sequential write",
        "seqread": "sequential read"}
TABLE_2 = ["seqread", "seqwrite", "randread", "randwrite-4k"]


@dataclass(frozen=True)
class Run(GuestRun):
    """One drive with one set of options, bare and with ressd."""

    profile: str
    rules: str

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"re-{self.rules}/{self.profile}"

    @property
    def seconds(self):
        """On an idle machine."""
        return SECONDS[self.rules]

    def settings(self):
        """What its result depends on."""
        sources = "".join((drives.HERE / name).read_text()
                          for name in ("guest-drive.sh", "guest-loads.sh", "drives.conf"))
        return f"{LOADS}, {RULES[self.rules]}, {hashlib.sha256(sources.encode()).hexdigest()}\n"

    def guest(self, top):
        """The guest that measures it."""
        return drives.guest(self.profile, self.folder(top).parent, LOADS, RULES[self.rules])

    def drive(self, top):
        """Its figures."""
        return drives.Drive(self.profile, self.folder(top).parent)

    def why(self, top):
        """What RE's own log, which the target does not have, gains by the model."""
        model = beyond.Run("uniform", self.profile)
        if self.profile not in beyond.DRIVES or not model.is_there(top):
            return None
        bare, paper = model.results(top)[:2]
        return "writes that wait together share a record, whose header and data go out in one " \
               f"write; with RE's own log the model gains {paper['mb_s'] / bare['mb_s']:.1f} " \
               "times; by its own figures RE's equation (2) without locality allows " \
               f"{equation_2(RE_DRIVES[self.profile]):.1f}"


def equation_2(drive):
    """The gain that RE's model gives with no block overwritten, from RE's own figures."""
    speed = {load: PUBLISHED[f"re-table2/{drive}/{load}"].value for load in TABLE_2}
    random = speed["randwrite-4k"]
    ordered = PUBLISHED[f"re-2/{drive}/ordered-over-random"].value * random
    return 1 / random / (1 / speed["seqwrite"] + 1 / speed["randread"] + 1 / ordered)


class BandwidthFigure(Figure):
    """Fig. 3 or 4: with ressd over bare."""

    paper = "re"

    def __init__(self, name, title, loads):
        self.name, self.title, self.loads = name, title, loads

    def runs(self):
        """All drives with both sets of options."""
        return [Run(profile, rules) for profile in RE_DRIVES for rules in RULES]

    def rows(self, top):
        """Ratios."""
        return [row(f"{self.name}/{run.rules}-{RE_DRIVES[run.profile]}/{load}",
                    run.drive(top).ratio(load), why=run.why(top), runs=[run])
                for run in self.measured(top) for load in self.loads]

    def data(self, top):
        """Groups of bars: a group for each pattern."""
        return {"unit": "times bare", "drive": "emulated, 1/16 of the paper's sizes",
                "groups": [BARS[load] for load in self.loads], "log": True,
                "series": {f"{RE_DRIVES[run.profile]}, {run.rules}":
                           [run.drive(top).ratio(load) for load in self.loads]
                           for run in self.measured(top)}}

    def text(self, _kept):
        """How it was measured."""
        return "Sequential loads use commands of 512 KB; random writes are in steady state: the " \
               "log has gone round once before."


class CharacteristicsTable(Figure):
    """Table 2: the bare drives."""

    paper = "re"
    name = "re-table2"
    title = "Characteristics of the SSDs"

    def runs(self):
        """The bare sides of the runs below."""
        return [Run(profile, "ours") for profile in RE_DRIVES]

    def rows(self, top):
        """MB/s."""
        return [row(f"{self.name}/{RE_DRIVES[run.profile]}/{load}",
                    run.drive(top).speed("bare", load), runs=[run])
                for run in self.measured(top) for load in TABLE_2]

    def data(self, top):
        """Measured beside published."""
        return self.beside_published(top, "MB/s", "emulated, bare", BARS)

    def text(self, _kept):
        """How it was measured."""
        return "The emulated drives are calibrated to this table ([ssdsim.md](../ssdsim.md)); " \
               "here are the bare sides of the runs of Figs. 3 and 4."


FIGURES = [
    CharacteristicsTable(),
    BandwidthFigure("re-3", "Bandwidth of 4 KB requests, normalized",
                    ["randwrite-4k", "randread", "seqwrite", "seqread"]),
    BandwidthFigure("re-4", "Bandwidth of 8 KB random writes, normalized", ["randwrite-8k"]),
]
