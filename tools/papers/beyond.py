# SPDX-License-Identifier: GPL-2.0-only
"""What each later idea adds to the target of RE, one after the other, on the same load.

By build/bin/mover-model, which runs the target's core on the emulated drive in userspace. The first
step is RE's own design; each later one switches one thing on and leaves it on, the last one is the
target with the options that ressd-probe advises for the drive.
"""

import re
from dataclasses import dataclass

import probe_answer
from guests import PROJECT, GuestError
from rows import row
from runs import Figure, ProgramRun, digest

PROFILES = PROJECT / "tests/ssdsim/profiles"
MODEL = PROJECT / "build/bin/mover-model"
PROBE = PROJECT / "build/bin/probe-score"
# As tools/bench/drives.conf: drive, span, and what is written to the bare one, MB.
DRIVES = {"samsung": (3816, 256, 16), "supertalent": (3580, 256, 4), "transcend": (3808, 256, 4),
          "sdcard": (950, 128, 2)}
LOADS = {
    "uniform": ("random 4 KB writes, every place alike", []),
    "hot": ("random 4 KB writes, 80 % to a fifth of the places", ["hot=80"]),
    "commits": ("random 4 KB writes, each with a flush", ["fsync=1"]),
}
# What is switched on: name, and keys of the model; a value None is what ressd-probe advises.
STEPS = [
    ("RE", {"threads": 1, "keep": 0, "even": 0, "threshold": 50, "batch": 128, "writethrough": 1,
            "apart": 1}),
    ("header and data in one write", {"apart": 0}),
    ("records gathered in RAM", {"writethrough": 0}),
    ("visits by clustered block", {"page": None, "visit": None}),
    ("whole blocks rewritten", {"fill": None}),
    ("whole pages in commits", {"rewrite": None}),
    ("threshold and batch as advised", {"threshold": None, "batch": None}),
    ("live blocks kept", {"keep": 1}),
    ("even pace", {"even": 1}),
    ("open units counted", {"open_units": None}),
]
FIGURE = re.compile(r"^ *([0-9.]+) MB/s .* ([0-9]+) erases .* longest ([0-9]+) ms$")


def advised(text):
    """Keys of the model, from the advice in what probe-score has printed."""
    answer = probe_answer.Answer("", map(str.split, text.splitlines()), [])
    if not answer.advice:
        raise GuestError(f"probe-score advises nothing:\n{text}")
    return dict(word.split("=") for word in answer.options(answer.verdict == "worth-it"))


def settings_of(step, advice):
    """All keys that are set after that step; what is not advised stays as it is."""
    keys = {}
    for _name, changes in STEPS[:step + 1]:
        keys.update({key: advice.get(key) if value is None else value
                     for key, value in changes.items()
                     if value is not None or key in advice})
    return [f"{key}={value}" for key, value in keys.items()]


def parse(text):
    """MB/s, erases and the longest wait of a load, from the model's line."""
    found = FIGURE.match(text.splitlines()[-1])
    if not found:
        raise GuestError(f"the model has printed no figures:\n{text}")
    return {"mb_s": float(found[1]), "erases": int(found[2]), "longest_ms": int(found[3])}


@dataclass(frozen=True)
class Run(ProgramRun):
    """One load on one drive: bare, and each step."""

    load: str
    profile: str
    seconds: int = 10

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"beyond/{self.load}-{self.profile}"

    def settings(self):
        """What its result depends on."""
        return f"{DRIVES[self.profile]}, {LOADS[self.load]}, {STEPS}, " \
               f"{digest(MODEL, PROBE, PROFILES / f'{self.profile}.conf')}\n"

    def measure(self, top):
        """The probe first, whose advice is needed then."""
        super().measure(top)
        advice = advised(self.output(top, "probe"))
        capacity, span, bare = DRIVES[self.profile]
        common = [MODEL, PROFILES / f"{self.profile}.conf", f"capacity_mb={capacity}",
                  f"span_mb={span}", *LOADS[self.load][1]]
        reserved = span // 8
        self.call(top, "bare", [*common, "bare=1", f"warm_mb={bare}", f"total_mb={bare}"])
        for step in range(len(STEPS)):
            self.call(top, f"step-{step}", [*common, *settings_of(step, advice),
                                             f"warm_mb={reserved}", f"total_mb={3 * reserved}"])

    def commands(self):
        """What comes first."""
        return {"probe": [str(PROBE), "--named", str(PROFILES), self.profile]}

    def results(self, top):
        """Bare and each step, in order."""
        _capacity, span, bare = DRIVES[self.profile]
        found = [parse(self.output(top, name))
                 for name in ("bare", *(f"step-{step}" for step in range(len(STEPS))))]
        for place, figures in enumerate(found):
            figures["erases_per_mb"] = figures["erases"] / (3 * span / 8 if place else bare)
        return found


class Waterfall(Figure):
    """One load; a panel for each drive."""

    paper = "beyond"
    chart = "waterfall"

    def __init__(self, load):
        self.load = load
        self.name = f"beyond-{load}"
        self.title = LOADS[load][0]

    def runs(self):
        """Each drive."""
        return [Run(self.load, profile) for profile in DRIVES]

    def rows(self, top):
        """MB/s and longest wait of each step."""
        rows = []
        for run in self.measured(top):
            for (label, figures) in zip(self.labels(), run.results(top), strict=True):
                point = label.replace(" ", "-")
                rows += [row(f"{self.name}/{run.profile}/{point}", figures["mb_s"], "MB/s",
                             runs=[run]),
                         row(f"{self.name}/{run.profile}/{point}-longest", figures["longest_ms"],
                             "ms", runs=[run])]
        return rows

    @staticmethod
    def labels():
        """Of the bars."""
        return ["bare drive", *(name for name, _ in STEPS)]

    def data(self, top):
        """For the chart: a panel for each drive, and beside each bar the longest wait."""
        results = {run.profile: run.results(top) for run in self.measured(top)}
        return {"unit": "MB/s", "drive": "emulated, 1/16 of the real size (SD card 1/8)",
                "groups": self.labels(),
                "series": {drive: [figures["mb_s"] for figures in found]
                           for drive, found in results.items()},
                "notes": {drive: [figures["longest_ms"] for figures in found]
                          for drive, found in results.items()},
                "more": [("longest wait, ms", {drive: [figures["longest_ms"] for figures in found]
                                               for drive, found in results.items()}),
                         ("NAND blocks erased for a MB",
                          {drive: [figures["erases_per_mb"] for figures in found]
                           for drive, found in results.items()})]}

    def text(self, kept):
        """What all steps after RE's come to."""
        lines = [f"{drive} {speeds[1] / speeds[0]:.1f} and {speeds[-1] / speeds[0]:.1f}"
                 for drive, speeds in kept["data"]["series"].items()]
        return f"Times bare by RE's rules and by all steps: {'; '.join(lines)}."


FIGURES = [Waterfall(load) for load in LOADS]
