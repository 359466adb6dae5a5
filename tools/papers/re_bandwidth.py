# SPDX-License-Identifier: GPL-2.0-only
"""RE: Table 2, and the bandwidth of 4 and 8 KB requests, with ReSSD over bare (Figs. 3, 4).

Measured by the loads of `make bench`, with the options that ressd-probe advises and with the
paper's own rules. Random writes are in steady state: the log has gone round once before.
"""

import hashlib
from dataclasses import dataclass

import drives
from rows import row

LOADS = ["randwrite-4k", "randwrite-8k", "sequential", "randread"]
PROFILES = {"samsung": "SSD-A", "supertalent": "SSD-B", "ocz": "SSD-C"}
RULES = {
    "ours": drives.OPTIONS,
    "paper": "streams 1 move_threshold 50 pace burst on_full wait route always",
}
SECONDS = {"ours": 90, "paper": 70}
# The paper has 512 MB reserved for a file of 4 GB; both sizes are 1/16 here.
BARS = {"randwrite-4k": "random write 4 KB", "randwrite-8k": "random write 8 KB",
        "randread": "random read 4 KB", "seqwrite": "sequential write",
        "seqread": "sequential read"}

TABLE_2 = {
    "samsung": {"seqread": 110, "seqwrite": 85, "randread": 16.3, "randwrite-4k": 0.421},
    "supertalent": {"seqread": 117, "seqwrite": 79, "randread": 8.51, "randwrite-4k": 0.018},
    "ocz": {"seqread": 220, "seqwrite": 129, "randread": 20.2, "randwrite-4k": 6.54},
}
# What RE says in words: doubled, more than quintupled, not improved; the others the same as bare.
FIG_3 = {
    "samsung": {"randwrite-4k": 2, "randread": 1, "seqwrite": 1, "seqread": 1},
    "supertalent": {"randwrite-4k": 5, "randread": 1, "seqwrite": 1, "seqread": 1},
    "ocz": {"randwrite-4k": 1, "randread": 1, "seqwrite": 1, "seqread": 1},
}
FASTER = {"ours": "commits carry data and header in one write, and the mover visits whole "
                  "clustered blocks; the emulated drive follows RE's own model, Eq. (5), which "
                  "allows 8.8 times on SSD-A",
          "paper": "the emulated drive follows RE's own model, Eq. (5), which allows 8.8 times on "
                   "SSD-A; header and data go out in one write, not in two"}


@dataclass(frozen=True)
class Run:
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

    def folder(self, top):
        """Where its results are."""
        return top / self.name

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


def is_measured(top, runs):
    """Whether all of these are there."""
    return all((run.folder(top) / "settings").exists() for run in runs)


class BandwidthFigure:
    """Fig. 3 or 4: with ressd over bare."""

    def __init__(self, name, title, loads, published):
        self.name, self.title, self.loads, self.published = name, title, loads, published

    def runs(self):
        """All drives with both sets of options."""
        return [Run(profile, rules) for profile in PROFILES for rules in RULES]

    def measured(self, top):
        """The runs of the drives of which all were measured."""
        pairs = [[Run(profile, rules) for rules in RULES] for profile in PROFILES]
        return [run for pair in pairs if is_measured(top, pair) for run in pair]

    def is_measured(self, top):
        """Each drive stands for itself."""
        return bool(self.measured(top))

    def rows(self, top):
        """Ratios."""
        rows = []
        for run in self.measured(top):
            for load in self.loads:
                published = self.published.get(run.profile, {}).get(load)
                random_write = load.startswith("randwrite")
                claim = (">=", published) if published and random_write else None
                rows.append(row(f"{self.name}/{run.rules}-{PROFILES[run.profile]}/{load}",
                                run.drive(top).ratio(load), published, claim=claim,
                                why=FASTER[run.rules] if random_write else None))
        return rows

    def data(self, top):
        """Groups of bars: a group for each pattern."""
        return {"unit": "times bare", "drive": "emulated, 1/16 of the paper's sizes",
                "groups": [BARS[load] for load in self.loads], "log": True,
                "series": {f"{PROFILES[run.profile]}, {run.rules}":
                           [run.drive(top).ratio(load) for load in self.loads]
                           for run in self.measured(top)}}

    def text(self, _top):
        """How it was measured."""
        return "`ours`: the options that `ressd-probe` advises; `paper`: " \
               f"`{RULES['paper']}`. Sequential loads use commands of 512 KB."


class CharacteristicsTable:
    """Table 2: the bare drives."""

    name = "re-table2"
    title = "Characteristics of the SSDs"

    def runs(self):
        """The bare sides of the runs below."""
        return [Run(profile, "ours") for profile in PROFILES]

    def profiles(self, top):
        """The drives that were measured."""
        return [run.profile for run in self.runs() if is_measured(top, [run])]

    def is_measured(self, top):
        """Each drive stands for itself."""
        return bool(self.profiles(top))

    def rows(self, top):
        """MB/s."""
        return [row(f"{self.name}/{PROFILES[profile]}/{load}",
                    Run(profile, "ours").drive(top).speed("bare", load), published, "MB/s")
                for profile in self.profiles(top) for load, published in TABLE_2[profile].items()]

    def data(self, top):
        """Measured beside published."""
        loads = list(TABLE_2["samsung"])
        series = {}
        for profile in self.profiles(top):
            name = PROFILES[profile]
            series[f"{name} published"] = [TABLE_2[profile][load] for load in loads]
            series[f"{name} here"] = [Run(profile, "ours").drive(top).speed("bare", load)
                                      for load in loads]
        return {"unit": "MB/s", "drive": "emulated, bare", "log": True,
                "groups": [BARS[load] for load in loads], "series": series}

    def text(self, _top):
        """How it was measured."""
        return "The emulated drives are calibrated to this table ([ssdsim.md](ssdsim.md)); here " \
               "are the bare sides of the runs of Figs. 3 and 4."


FIGURES = [
    CharacteristicsTable(),
    BandwidthFigure("re-3", "Bandwidth of 4 KB requests, normalized",
                    ["randwrite-4k", "randread", "seqwrite", "seqread"], FIG_3),
    BandwidthFigure("re-4", "Bandwidth of 8 KB random writes, normalized", ["randwrite-8k"], {}),
]
