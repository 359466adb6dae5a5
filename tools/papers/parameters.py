# SPDX-License-Identifier: GPL-2.0-only
"""PA and ME: the drives (Table 1), what the probe finds of them and in which time (Tables 2, 3).

In userspace, on emulated drives of the real sizes (ssdsim-run) and of a sixteenth or so of them, as
make probe-score has them; times are the drive's, not this machine's.
"""

import re
from dataclasses import dataclass

from guests import PROJECT
from published import PA_DRIVES, PUBLISHED, RE_DRIVES
from rows import row
from runs import Figure, ProgramRun, digest

PROFILES = PROJECT / "tests/ssdsim/profiles"
PROBE = PROJECT / "build/bin/probe-score"
PATTERNS = PROJECT / "build/bin/ssdsim-run"
KB = 1024
# Parameter of probe-score -> row, what one unit is, and the row of its time.
FOUND = {
    "clustered-page": ("pa-parameters/{}/clustered-page", KB, "clustered-page"),
    "clustered-block": ("pa-parameters/{}/clustered-block", KB, "clustered-block"),
    "read-buffer": ("pa-parameters/{}/read-buffer", KB, "read-buffer"),
    "write-buffer": ("pa-parameters/{}/write-buffer", KB, "write-buffer"),
    "prefetch": ("pa-table3/{}/prefetching", KB, None),
    "buffer-policy": ("pa-table3/{}/buffer-not-cache", 1, None),
    "nand-modes": ("me-nand/{}/kinds-of-pages", 1, None),
}
LINE = re.compile(r"^(\S+) (\S+) (\S+) (\S+) (\S+):(\d+)\+\d+ (\d+)\+\d+ \S+ ([0-9.]+)s (.*)$")
BANDWIDTH = re.compile(r"^(.*?) +([0-9.]+) MB/s")
POINT = re.compile(r"^\S+ chart (\S+) (\S+) (\S+)$")
LOADS = {"seqread": "sequential read  512 KB", "seqwrite": "sequential write 512 KB",
         "randread-4k": "random read        4 KB", "randwrite-4k": "random write       4 KB"}


@dataclass(frozen=True)
class Finding:
    """A parameter that the probe has looked for."""

    status: str
    value: float
    truth: float
    seconds: float
    why: str


def findings(text):
    """Parameter -> Finding, from the lines of probe-score."""
    found = {}
    for line in text.splitlines():
        words = LINE.match(line)
        if words and words[2] in FOUND:
            unit = FOUND[words[2]][1]
            found[words[2]] = Finding(words[5], int(words[6]) / unit, int(words[7]) / unit,
                                      float(words[8]), words[9])
    return found


def points(text):
    """Series -> sizes, and a time or speed for each, from the lines of probe-score --charts."""
    found = {}
    for line in text.splitlines():
        words = POINT.match(line)
        if words:
            sizes, values = found.setdefault(words[1], ([], []))
            sizes.append(float(words[2]))
            values.append(float(words[3]))
    return found


def bandwidths(text):
    """Pattern -> MB/s, from the lines of ssdsim-run."""
    return {found[1]: float(found[2]) for found in map(BANDWIDTH.match, text.splitlines()) if found}


@dataclass(frozen=True)
class Probe(ProgramRun):
    """What the probe finds on one drive."""

    profile: str
    seconds: int = 3

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"probe/{self.profile}"

    def settings(self):
        """What its result depends on."""
        return f"charts, {digest(PROBE, PROFILES / f'{self.profile}.conf')}\n"

    def commands(self):
        """One."""
        return {"output": [str(PROBE), "--charts", "--named", str(PROFILES), self.profile]}

    def findings(self, top):
        """Its findings."""
        return findings(self.output(top, "output"))

    def points(self, top):
        """What the searches have seen, as the papers draw it."""
        return points(self.output(top, "output"))


@dataclass(frozen=True)
class Bandwidths(ProgramRun):
    """Patterns of writes and reads on one bare drive, as options of ssdsim-run say."""

    profile: str
    options: tuple
    seconds: int = 15

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"patterns/{self.profile}-{'-'.join(self.options).replace(' ', '')}"

    def settings(self):
        """What its result depends on."""
        return f"{self.options}, {digest(PATTERNS, PROFILES / f'{self.profile}.conf')}\n"

    def commands(self):
        """One."""
        return {"output": [str(PATTERNS), str(PROFILES / f"{self.profile}.conf"), *self.options]}

    def found(self, top):
        """MB/s of each pattern."""
        return bandwidths(self.output(top, "output"))


class Characteristics(Figure):
    """PA Table 1: the bare drives; random requests anywhere on the drive."""

    paper = "pa"
    name = "pa-table1"
    title = "Characteristics of the SSDs"

    def runs(self):
        """Sequential patterns, then random ones over the whole drive."""
        return [run for profile in PA_DRIVES for run in self.pair(profile)]

    @staticmethod
    def pair(profile):
        """Of one drive."""
        scale = {"samsung": 3816, "supertalent": 3580, "intel": 1192, "transcend": 3808}[profile]
        size = f"capacity_mb={scale}"
        span = f"span_mb={scale // 16 * 15}"
        return [Bandwidths(profile, (size, "only=sequential")),
                Bandwidths(profile, (size, span, "commands=150000" if profile == "intel" else
                                     "commands=2000", "only=random"))]

    def measured(self, top):
        """Drives of which both are there."""
        return [profile for profile in PA_DRIVES
                if all(run.is_there(top) for run in self.pair(profile))]

    def rows(self, top):
        """MB/s."""
        rows = []
        for profile in self.measured(top):
            found = {name: value for run in self.pair(profile)
                     for name, value in run.found(top).items()}
            rows += [row(f"{self.name}/{PA_DRIVES[profile]}/{load}", found[pattern],
                         why=self.why(profile, load), runs=self.pair(profile))
                     for load, pattern in LOADS.items()]
        return rows

    @staticmethod
    def why(profile, load):
        """The papers' own figures of the drive do not agree with one another."""
        name, load = RE_DRIVES.get(profile), load.removesuffix("-4k")
        if f"re-table2/{name}/{load}" in PUBLISHED and profile != "ocz":
            return f"RE gives {PUBLISHED[f're-table2/{name}/{load}'].value} MB/s for the same " \
                   "drive, to which the profile is calibrated"
        return "the paper gives two decimals"

    def data(self, top):
        """Published beside here."""
        return self.beside_published(top, "MB/s", "emulated, bare; a small copy of each")

    def text(self, _kept):
        """How."""
        return "Commands of 512 KB and of 4 KB, one at a time; random ones all over the drive."


class Parameters(Figure):
    """What the probe finds: PA 4.2 and Table 3, and ME's kinds of pages."""

    paper = "pa"
    name = "pa-parameters"
    title = "Parameters found"

    def runs(self):
        """Each drive."""
        return [Probe(profile) for profile in PA_DRIVES]

    def rows(self, top):
        """Found beside published."""
        rows = []
        for run in self.measured(top):
            for parameter, found in run.findings(top).items():
                what = f"the drive has {found.truth:g}; " if found.value != found.truth else ""
                rows.append(row(FOUND[parameter][0].format(PA_DRIVES[run.profile]), found.value,
                                why=f"{what}{found.status}: {found.why}", runs=[run]))
        return rows

    def data(self, top):
        """Published beside here."""
        return self.beside_published(top, "KB, kinds, or 1: yes", "emulated, a small copy of each")

    def text(self, _kept):
        """How."""
        return "The emulated drives have the parameters that were published; what is compared " \
               "is whether the searches of `ressd-probe` ([probe.md](../probe.md)) find them, on " \
               "the drives as `make probe-score` has them. 0 is *none*, or *not detectable*."


class Times(Figure):
    """PA Table 2: how long a search takes."""

    paper = "pa"
    name = "pa-table2"
    title = "Time to find a parameter"
    runs = Parameters.runs

    def rows(self, top):
        """Seconds of the drive."""
        return [row(f"{self.name}/{PA_DRIVES[run.profile]}/{FOUND[parameter][2]}", found.seconds,
                    runs=[run])
                for run in self.measured(top) for parameter, found in run.findings(top).items()
                if FOUND[parameter][2]]

    def data(self, top):
        """Published beside here."""
        return self.beside_published(top, "s", "emulated, a small copy of each")

    def text(self, kept):
        """The longest."""
        longest = max(entry["value"] for entry in kept["rows"])
        return "Seconds that the drive takes. What is sought is the same, the statistics are " \
               f"not: {longest:.0f} s at most here, 327 minutes in the paper."


class Curves(Figure):
    """PA Fig. 4, 5, 6 or 7 (ME 5, 6, 8, 9): what a parameter is read off, drive by drive."""

    paper = "pa"
    has_points = True
    runs = Parameters.runs

    def __init__(self, name, title, parameter, series, unit="ms", scale="log"):
        self.name, self.title, self.parameter, self.series = name, title, parameter, series
        self.unit, self.scale = unit, scale

    def measured(self, top):
        """Runs of before there were points have none."""
        return [run for run in super().measured(top) if run.points(top)]

    def rows(self, _top):
        """Those of the parameters are in their own figure."""
        return []

    def data(self, top):
        """Curves, which are only drawn, and what was read off them there and here."""
        drives = [PA_DRIVES[run.profile] for run in self.measured(top)]
        marks = [PUBLISHED[f"pa-parameters/{drive}/{self.parameter}"].value for drive in drives]
        return {"unit": "KB", "drive": "emulated, a small copy of each; dotted: as published",
                "axis": self.unit, "scale": self.scale, "groups": drives,
                "series": {"published": marks,
                           "found": [run.findings(top)[self.parameter].value
                                     for run in self.measured(top)]},
                "marks": dict(zip(drives, marks, strict=True)),
                "points": {PA_DRIVES[run.profile]:
                           {label: run.points(top)[name] for name, label in self.series.items()}
                           for run in self.measured(top)}}

    def text(self, _kept):
        """Whose points they are."""
        return "What `ressd-probe --report` measures on the emulated drives. The table has the " \
               f"{self.parameter.replace('-', ' ')}: read off there, and found here by a search, " \
               "which has measurements of its own."


class ReadBuffers(Curves):
    """Fig. 6."""

    def rows(self, top):
        """From which size on a read is remembered, and ME's read of 1 KB."""
        rows = []
        for run in self.measured(top):
            (sizes, first), (_, again) = (run.points(top)[name] for name in self.series)
            faster = [size for size, one, two in zip(sizes, first, again, strict=True)
                      if two < 0.75 * one]
            drive = PA_DRIVES[run.profile]
            if f"pa-6/{drive}/faster-from" in PUBLISHED:
                rows.append(row(f"pa-6/{drive}/faster-from", min(faster), runs=[run],
                                why="the emulated buffer keeps what was read last, however little; "
                                    f"{min(sizes):g} KB is the least that was tried"))
            rows.append(row(f"me-8/{drive}/read-1-KB", 1000 * first[sizes.index(1)], "us",
                            runs=[run], why="PA has 9.22 MB/s for random reads of 4 KB, 444 us "
                                            "for each, to which the profile is calibrated"))
        return rows


class WriteBuffers(Curves):
    """Fig. 7."""

    def rows(self, top):
        """ME's write of 1 KB."""
        rows = []
        for run in self.measured(top):
            sizes, times = run.points(top)["write-empty"]
            rows.append(row(f"me-9/{PA_DRIVES[run.profile]}/write-1-KB",
                            1000 * times[sizes.index(1)], "us", runs=[run],
                            why="each write brings the rest of a clustered page of 128 KB along, "
                                "and as many pages are slow ones as fast ones"))
        return rows


class Ordered(Figure):
    """RE Fig. 2: random, ordered-sequential and sequential writes, 128 KB from one to the next."""

    paper = "re"
    name = "re-2"
    title = "Random, ordered-sequential and sequential writes"
    SCALE = {"samsung": 3816, "supertalent": 3580, "ocz": 3577}
    PATTERNS = {"random 4 KB": "random write       4 KB", "random 8 KB": "random write       8 KB",
                "ordered 4 KB": "ordered write  4 KB @ 128 KB",
                "ordered 8 KB": "ordered write  8 KB @ 128 KB",
                "ordered 16 KB": "ordered write 16 KB @ 128 KB",
                "ordered 32 KB": "ordered write 32 KB @ 128 KB",
                "ordered 64 KB": "ordered write 64 KB @ 128 KB",
                "sequential 512 KB": "sequential write 512 KB"}

    def runs(self):
        """Each drive, as its calibration has it: 256 MB of a 16th of the drive."""
        return [Bandwidths(profile, (f"capacity_mb={size}", "span_mb=256", "commands=49152",
                                     "only=write"))
                for profile, size in self.SCALE.items()]

    def rows(self, top):
        """MB/s, and the ratios of RE 3.3."""
        rows = []
        for run in self.measured(top):
            drive, found = RE_DRIVES[run.profile], run.found(top)
            speeds = {name: found[pattern] for name, pattern in self.PATTERNS.items()}
            rows += [row(f"{self.name}/{drive}/ordered-over-random",
                         speeds["ordered 4 KB"] / speeds["random 4 KB"], runs=[run]),
                     row(f"{self.name}/{drive}/sequential-over-random",
                         speeds["sequential 512 KB"] / speeds["random 4 KB"], runs=[run])]
            rows += [row(f"{self.name}/{drive}/{name.replace(' ', '-')}", value, "MB/s",
                         runs=[run])
                     for name, value in speeds.items()]
        return rows

    def data(self, top):
        """A bar for each drive."""
        return {"unit": "MB/s", "drive": "emulated, 1/16 of the paper's sizes", "log": True,
                "groups": [name.replace(" ", "\n", 1) for name in self.PATTERNS],
                "series": {RE_DRIVES[run.profile]: [run.found(top)[pattern]
                                                    for pattern in self.PATTERNS.values()]
                           for run in self.measured(top)}}

    def text(self, _kept):
        """How."""
        return "In userspace, one command at a time; random writes to 256 MB, which stand for " \
               "the paper's 4 GB."


RE_FIGURES = [Ordered()]
FIGURES = [
    Characteristics(), Parameters(), Times(),
    Curves("pa-4", "Writes by size, flushed (ME Fig. 5)", "clustered-page",
           {"page": "write and flush"}, scale="linear"),
    Curves("pa-5", "Writes by size, in order and at random (ME Fig. 6)", "clustered-block",
           {"block-sequential": "in order", "block-random": "at random"}, unit="MB/s"),
    ReadBuffers("pa-6", "Reads by size (ME Fig. 8)", "read-buffer",
                {"read-first": "not read before", "read-again": "read again"}),
    WriteBuffers("pa-7", "Writes by size, not flushed (ME Fig. 9)", "write-buffer",
                 {"write-full": "write buffer full", "write-empty": "write buffer empty"}),
]
