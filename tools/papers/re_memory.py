# SPDX-License-Identifier: GPL-2.0-only
"""RE 4.2 and 1: the kernel's memory that the map takes, RE's reserved areas at their real size."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import drives
from guests import Guest, figures
from published import PUBLISHED, RULES
from re_bandwidth import RULES as OPTIONS
from rows import row
from runs import Figure, GuestRun

SCRIPT = Path(__file__).resolve().parent / "guest-memory.sh"
# RE's point -> MB of reserved area, and blocks mapped: the smaller area is as full.
POINTS = {"512-MB-60000-blocks": (512, 60000), "128-MB": (128, 15000)}
LABELS = {"512-MB-60000-blocks": "512 MB reserved,\n60,000 blocks mapped",
          "128-MB": "128 MB reserved,\n15,000 blocks mapped"}
KB = 1024
# Of ours what the size of the map depends on: nothing else that ressd-probe advises is in it.
WORDS = {"ours": "route always", "paper": OPTIONS["paper"]}


@dataclass(frozen=True)
class Run(GuestRun):
    """One size with one set of options."""

    point: str
    rules: str
    seconds: int = 15

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"memory/{self.rules}-{self.point}"

    def settings(self):
        """What its result depends on."""
        return f"{POINTS[self.point]}, {WORDS[self.rules]}, " \
               f"{hashlib.sha256(SCRIPT.read_bytes()).hexdigest()}\n"

    def guest(self, top):
        """The guest that measures it."""
        return Guest(self.name.replace("/", "-"), SCRIPT,
                     [*map(str, POINTS[self.point]), WORDS[self.rules]], {"start": 8, "fill": 7},
                     self.folder(top), files=drives.FILES, memory="3G")

    def found(self, top, what):
        """One figure."""
        return figures(self.folder(top))[what]


class Memory(Figure):
    """The map beside RE's; the target's buffers are told."""

    paper = "re"
    name = "re-memory"
    title = "Kernel memory of the map"

    def runs(self):
        """Each size, each set of options."""
        return [Run(point, rules) for rules in RULES for point in POINTS]

    def rows(self, top):
        """KB."""
        return [row(f"{self.name}/{run.rules}/{run.point}", run.found(top, "map") / KB,
                    why="the map is an array with 20 bytes for each block of the reserved area, "
                        "mapped or not; RE's 3,334 KB are 57 for each of 60,000 mapped blocks",
                    runs=[run])
                for run in self.measured(top)]

    def overall(self, kept):
        """MB of map for 100 MB, of the area of 512 MB."""
        values = {entry["id"]: entry["value"] for entry in kept["rows"]}
        point, (reserved, _blocks) = next(iter(POINTS.items()))
        return [row(f"{self.name}/{rules}/MB-for-100-MB",
                    values[f"{self.name}/{rules}/{point}"] / KB / reserved * 100,
                    why="20 bytes for each block of 4 KB are half of that")
                for rules in RULES if f"{self.name}/{rules}/{point}" in values]

    def data(self, top):
        """Published beside here."""
        series = {"published": [PUBLISHED[f"{self.name}/paper/{point}"].value for point in POINTS]}
        for rules in RULES:
            series[f"map, {rules}"] = self.column(top, rules, "map", KB)
            series[f"all by vmalloc(), {rules}"] = self.column(top, rules, "vmalloc", KB)
        return {"unit": "KB", "drive": "emulated; RE's sizes, not a 16th of them",
                "groups": [LABELS[point] for point in POINTS], "series": series,
                "more": [("blocks mapped", {rules: self.column(top, rules, "mapped", 1)
                                            for rules in RULES})]}

    @staticmethod
    def column(top, rules, what, unit):
        """A figure of each size, None where it was not measured."""
        return [run.found(top, what) / unit if run.is_there(top) else None
                for run in (Run(point, rules) for point in POINTS)]

    def text(self, _kept):
        """What it counts."""
        return "Map: `map_bytes` of the status, with the blocks mapped that the second table " \
               "has. All by vmalloc(): what the kernel lists for the module, with the buffers of " \
               "four records, of the summary and of the mover."


FIGURES = [Memory()]
