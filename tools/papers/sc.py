# SPDX-License-Identifier: GPL-2.0-only
"""SC: the same requests, their writes spread evenly (D1) or up to 4, 16, 64 at once.

Figs. 1 and 2 on the paper's simulated SSD, bare; and with ressd, which is what SC leaves to future
work: writes that arrive together are taken by RAM and the log, and moved later, spread in time.
"""

import csv
import json
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import drives
import sc_real
import sc_traces
from guests import PROJECT, Guest, figures
from published import PUBLISHED
from rows import row
from runs import Figure, GuestRun, ProgramRun, digest

HERE = Path(__file__).resolve().parent
SCRIPT = HERE / "guest-sc.sh"
REPLAY = PROJECT / "userspace/ressd-trace/replay.c"
TRACE_TOOL = PROJECT / "build/bin/ressd-trace"
SSDSIM_RUN = PROJECT / "build/bin/ssdsim-run"
PROFILE = PROJECT / "tests/ssdsim/profiles/ssdsim-sc.conf"
# As drives.conf has it.
CAPACITY_MB = 1024
REQUESTS = 3000
REAL_REQUESTS = 10000
SECONDS = 80
TRACES = list(sc_traces.TABLE_1)
DISTRIBUTIONS = ["D1", "D4", "D16", "D64"]
# Writes of up to 128 KB go to the log whatever that costs: it is waiting that counts here.
LOGGED = "route always small_write_sectors 256 on_full wait log_discard on"
SIDES = {
    "bare": ("none", DISTRIBUTIONS),
    "burst": (f"pace burst {LOGGED}", ["D64"]),
    "even": (f"pace even {LOGGED}", ["D64"]),
    "idle": (f"pace idle {LOGGED}", ["D64"]),
    "zero": ("none", ["D64"]),
}
PACES = ["burst", "even", "idle"]
KINDS = ["reads", "writes of whole 4 KB", "other writes"]
BLOCK = 4096
# What waits for nothing: four records of the log in RAM, each with a block for its header.
RECORD = 127
IN_RAM = 4 * RECORD
# SC's SSD: 25 ns for a byte on each of two buses, then 900 us to program; ms.
BUS = BLOCK * 25e-6 / 2
PROGRAM = 0.9


@dataclass(frozen=True)
class Run(GuestRun):
    """One trace on all sides: a guest with a fresh drive for each."""

    trace: str
    seconds: int = SECONDS
    requests: int = REQUESTS
    fit: str = "refuse"

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"sc/{self.trace}"

    def source(self):
        """The file that the trace depends on."""
        return HERE / "sc_traces.py"

    def settings(self):
        """What its result depends on."""
        return f"{self.requests} requests, {SIDES}, {digest(SCRIPT, self.source(), REPLAY)}\n"

    def write_trace(self, path):
        """In the SPC format."""
        sc_traces.generate(self.trace, self.requests, path)

    def guest(self, top):
        """The guest that measures it."""
        place = self.folder(top)
        trace = place / "trace.spc"
        self.write_trace(trace)
        arguments = [self.fit]
        arguments += [word for side, (options, distributions) in SIDES.items()
                     for word in (side, options, " ".join(distributions))]
        return Guest(self.name.replace("/", "-"), SCRIPT, arguments,
                     {"start": 8, **{side: 8 * len(distributions)
                                     for side, (_options, distributions) in SIDES.items()}},
                     place, files=[*drives.FILES, trace], memory="3G")


@dataclass(frozen=True)
class RealRun(Run):
    """The same of a real trace, which may lie beyond the end of the small drive."""

    seconds: int = SECONDS * REAL_REQUESTS // REQUESTS
    requests: int = REAL_REQUESTS
    fit: str = "pack"

    def is_possible(self):
        """Whether the trace is there."""
        return bool(sc_real.path_of(self.trace))

    def source(self):
        """The trace itself; while that is not there, the run is not done."""
        if not self.is_possible():
            raise FileNotFoundError(self.trace)
        return sc_real.path_of(self.trace)

    def write_trace(self, path):
        """As ressd-trace reads it."""
        sc_real.convert(self.trace, self.requests, path)


def run_of(trace):
    """The run of a trace, generated or real."""
    return (RealRun if trace in sc_real.UNITS else Run)(trace)


@dataclass(frozen=True)
class Erases(ProgramRun):
    """One trace in each distribution on the bare drive, without a guest."""

    trace: str
    seconds: int = 15
    # Written by a pass: garbage collection comes once in 128 MB, so the blocks do not come singly.
    megabytes: int = 512
    passes: int = 3

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"sc-erases/{self.trace}"

    def settings(self):
        """What its result depends on."""
        return f"{self.megabytes} MB, {self.passes} passes, " \
               f"{digest(SSDSIM_RUN, PROFILE, HERE / 'sc_traces.py')}\n"

    def requests(self):
        """As many as write that by Table 1."""
        mean = sc_traces.TABLE_1[self.trace]
        written = (1 - mean.reads / 100) * mean.write_sectors * sc_traces.SECTOR
        return int(self.megabytes * 1e6 / written)

    def measure(self, top):
        """The trace, of which only what it does is kept; of that the last pass counts."""
        place = self.folder(top)
        trace = place / "trace.spc"
        sc_traces.generate(self.trace, self.requests(), trace)
        for distribution in DISTRIBUTIONS:
            self.call(top, distribution, [SSDSIM_RUN, PROFILE, f"capacity_mb={CAPACITY_MB}",
                                          f"passes={self.passes}", f"trace={trace}",
                                          f"bursts={distribution[1:]}"])
        trace.unlink()

    def erased(self, top, distribution):
        """Blocks, in the last pass."""
        return int(re.findall(r"(\d+) blocks erased", self.output(top, distribution))[-1])


@dataclass(frozen=True)
class Transforms(ProgramRun):
    """hm0 as generated, and in each distribution; replayed into a file, for its log only."""

    name: str = "sc-transforms/hm0"
    seconds: int = 6
    speed: int = 1000

    def settings(self):
        """What its result depends on."""
        return f"{REQUESTS} requests, {digest(TRACE_TOOL, HERE / 'sc_traces.py')}\n"

    def measure(self, top):
        """The logs stay."""
        place = self.folder(top)
        trace, disk = place / "trace.spc", place / "disk"
        sc_traces.generate("hm0", REQUESTS, trace)
        disk.touch()
        os.truncate(disk, sc_traces.SPAN_MB << 20)
        for name in ("original", *DISTRIBUTIONS):
            bursts = [] if name == "original" else ["--bursts", name[1:]]
            self.call(top, name, [TRACE_TOOL, "--write", "--yes", "--speed", self.speed, *bursts,
                                  "--log", place / f"{name}.csv", "--json", trace, disk])
        disk.unlink()

    def describe(self, top, name):
        """Its four columns."""
        with open(self.folder(top) / f"{name}.csv", encoding="ascii") as lines:
            return columns((line["kind"], int(line["bytes"]),
                            self.speed * int(line["due_ns"]) / 1e9)
                           for line in csv.DictReader(lines))


def traces_of(top, traces=TRACES):
    """Those of these traces that were measured."""
    return [trace for trace in traces if run_of(trace).is_there(top)]


def columns(requests):
    """Percent of reads, mean sectors of reads and of writes, mean interval in s, as in Table 1.

    A request is r or w, bytes, and seconds.
    """
    requests = list(requests)
    sizes = {wanted: [size / sc_traces.SECTOR for kind, size, _ in requests if kind == wanted]
             for wanted in "rw"}
    return (100 * len(sizes["r"]) / len(requests), sum(sizes["r"]) / len(sizes["r"]),
            sum(sizes["w"]) / len(sizes["w"]),
            max(seconds for *_, seconds in requests) / (len(requests) - 1))


def describe(path):
    """The same of a trace."""
    lines = (line.split(",") for line in path.read_text(encoding="ascii").splitlines())
    return columns((words[3], int(words[2]), float(words[4])) for words in lines)


def result(top, trace, side, distribution):
    """Mean and tail of one replay, ms."""
    found = json.loads((run_of(trace).folder(top) / f"{side}-{distribution}.json").read_text())
    response = found["all"]["response"]
    return {"mean": response["mean_ns"] / 1e6, "tail": response["worst_ns"] / 1e6}


@dataclass(frozen=True)
class Request:
    """One of a replay; what it is, and ms from the moment at which it should arrive."""

    kind: str
    due: int
    blocks: float
    response: float


def kind_of(line):
    """Reads, and writes that the log takes or not: it takes whole blocks of 4 KB."""
    if line["kind"] != "w":
        return "reads"
    whole = int(line["offset"]) % BLOCK == int(line["bytes"]) % BLOCK == 0
    return "writes of whole 4 KB" if whole else "other writes"


def requests(top, trace, side, distribution):
    """Those of one replay."""
    with open(run_of(trace).folder(top) / f"{side}-{distribution}.csv", encoding="ascii") as lines:
        return [Request(kind_of(line), int(line["due_ns"]), int(line["bytes"]) / BLOCK,
                        (int(line["completed_ns"]) - int(line["due_ns"])) / 1e6)
                for line in csv.DictReader(lines)]


def largest_burst(top, trace):
    """Blocks that arrive at once in D64, at most."""
    bursts = Counter()
    for request in requests(top, trace, "bare", "D64"):
        if request.kind != "reads":
            bursts[request.due] += request.blocks
    return max(bursts.values())


def slower(top, trace, side):
    """Requests of D64 that take longer than the slowest of D1 bare."""
    bar = result(top, trace, "bare", "D1")["tail"]
    return sum(request.response > bar for request in requests(top, trace, side, "D64"))


def bound(top, trace, in_ram):
    """Mean of D64, ms, if writes waited for nothing but the buses, with so many blocks in RAM."""
    reads = means_by_kind(top, trace, "bare", "D1")["reads"]
    arrived, times = Counter(), []
    for request in requests(top, trace, "bare", "D64"):
        if request.kind == "reads":
            times.append(reads)
            continue
        arrived[request.due] += request.blocks
        over = arrived[request.due] - in_ram
        times.append(over * BUS + PROGRAM if over > 0 else 0)
    return sum(times) / len(times)


def erases(top, trace, side, distribution):
    """Blocks that the NAND erased in a replay and, with ressd, until its log was drained."""
    found = figures(run_of(trace).folder(top))
    return sum(found[f"{side}-{distribution}.{kind}"] for kind in ("erases", "drain_erases"))


def means_by_kind(top, trace, side, distribution):
    """Kind -> mean response, ms; None where there is none."""
    found = {}
    for request in requests(top, trace, side, distribution):
        found.setdefault(request.kind, []).append(request.response)
    return {kind: sum(found[kind]) / len(found[kind]) if kind in found else None
            for kind in KINDS}


def of_traces(kept, distribution):
    """Trace -> value of a distribution, of all that is kept of a figure of bars."""
    data = kept["data"]
    return dict(zip(data["groups"], data["series"][distribution], strict=True))


class ResponseFigure(Figure):
    """Fig. 1 (mean) or 2 (tail): bars of D1, D4, D16, D64 for each trace."""

    paper = "sc"

    def __init__(self, name, title, kind):
        self.name, self.title, self.kind = name, title, kind

    def runs(self):
        """Every trace."""
        return [Run(trace) for trace in TRACES]

    def value(self, top, trace, distribution):
        """ms"""
        return result(top, trace, "bare", distribution)[self.kind]

    @staticmethod
    def ratios(kept):
        """D64 over D1 of each trace."""
        spread = of_traces(kept, "D1")
        return {trace: value / spread[trace] for trace, value in of_traces(kept, "D64").items()}

    def rows(self, top):
        """Each bar; those of the paper are only in the picture."""
        return [row(f"{self.name}/{distribution}/{trace}", self.value(top, trace, distribution),
                    unit="ms", runs=[Run(trace)])
                for trace in traces_of(top) for distribution in DISTRIBUTIONS]

    def overall(self, kept):
        """The range of D64 over D1, which means nothing with fewer than all traces."""
        ratios = self.ratios(kept)
        if set(ratios) != set(TRACES):
            return []
        counted = {trace: ratio for trace, ratio in ratios.items()
                   if self.kind == "mean" or trace != "prn0"}
        why = "the traces are synthetic: Table 1 says nothing of the places of requests and of " \
              "the shape of sizes, and with 3000 requests the tail is one of them"
        rows = [row(f"{self.name}/D64-over-D1/least", min(counted.values()), why=why),
                row(f"{self.name}/D64-over-D1/most", max(counted.values()), why=why)]
        return rows + [row(f"{self.name}/D64-over-D1/{trace}", ratio, why=why)
                       for trace, ratio in ratios.items() if trace not in counted]

    def data(self, top):
        """For the table and the chart: groups of bars."""
        return {"unit": "ms", "drive": "SC's SSD, bare; synthetic traces, matched to Table 1",
                "groups": traces_of(top),
                "series": {distribution: [self.value(top, trace, distribution)
                                          for trace in traces_of(top)]
                           for distribution in DISTRIBUTIONS}}

    def text(self, kept):
        """What it shows."""
        ratios = self.ratios(kept)
        listed = ", ".join(f"{trace} {ratio:.2f}" for trace, ratio in ratios.items())
        least, most = (PUBLISHED[f"{self.name}/D64-over-D1/{end}"].value
                       for end in ("least", "most"))
        but = " except in prn0" if self.kind == "tail" else ""
        return f"D64 over D1: {listed}. Published: {least} to {most}{but}."


class EraseFigure(Figure):
    """Fig. 3: bars of D1, D4, D16, D64 for each trace."""

    paper = "sc"
    name = "sc-3"
    title = "Blocks erased"

    def runs(self):
        """Every trace."""
        return [Erases(trace) for trace in TRACES]

    def rows(self, top):
        """Each trace."""
        return [row(f"{self.name}/D64-over-D1/{run.trace}",
                    run.erased(top, "D64") / run.erased(top, "D1"), runs=[run])
                for run in self.measured(top)]

    def overall(self, kept):
        """All traces together."""
        one, most = of_traces(kept, "D1"), of_traces(kept, "D64")
        return [row(f"{self.name}/D64-over-D1/erased-blocks",
                    sum(most.values()) / sum(one.values()))] if set(one) == set(TRACES) else []

    def data(self, top):
        """For the table and the chart."""
        return {"unit": "blocks of 512 KB", "drive": "SC's SSD, bare; synthetic traces, matched "
                "to Table 1", "groups": [run.trace for run in self.measured(top)],
                "series": {distribution: [run.erased(top, distribution)
                                          for run in self.measured(top)]
                           for distribution in DISTRIBUTIONS}}

    def text(self, _kept):
        """How, and what it shows."""
        requests = ", ".join(f"{run.trace} {run.requests()}" for run in self.runs())
        run = self.runs()[0]
        return f"So many requests that about {run.megabytes} MB are written ({requests}), " \
               f"{run.passes} times over; the blocks are those of the last time. The emulated " \
               "drive without a guest, each request at its time: in Figs. 1 and 2 too little is " \
               "written for garbage to be collected."


class TraceTable(Figure):
    """Table 1: what the generated traces are."""

    paper = "sc"
    name = "sc-table1"
    title = "The traces"
    POINTS = {"reads": "reads, %", "read-size": "read size,\nsectors",
              "write-size": "write size,\nsectors", "interval": "interval, s"}

    def runs(self):
        """The traces are made for these."""
        return [Run(trace) for trace in TRACES]

    def rows(self, top):
        """Of each trace its four columns."""
        return [row(f"{self.name}/{run.trace}/{point}", value, runs=[run])
                for run in self.measured(top)
                for point, value in zip(self.POINTS, describe(run.folder(top) / "trace.spc"),
                                        strict=True)]

    def data(self, top):
        """Published beside here."""
        return self.beside_published(top, "as named below", "generated, 3000 requests each",
                                     self.POINTS)

    def text(self, _kept):
        """How."""
        return "The traces are drawn with these means; here is what was drawn."


class TransformTable(Figure):
    """Table 2: that D1 to D64 differ from hm0 in nothing but when writes arrive."""

    paper = "sc"
    name = "sc-table2"
    title = "hm0 and what is made of it"

    def runs(self):
        """One."""
        return [Transforms()]

    def found(self, top):
        """What each is called, and its four columns."""
        run = Transforms()
        return {name: run.describe(top, name) for name in ("original", *DISTRIBUTIONS)}

    def rows(self, top):
        """As of Table 1."""
        return [row(f"{self.name}/{name}/{point}", value)
                for name, values in self.found(top).items()
                for point, value in zip(TraceTable.POINTS, values, strict=True)]

    def data(self, top):
        """Published beside here."""
        return self.beside_published(top, "as named below", "generated, 3000 requests",
                                     TraceTable.POINTS)

    def text(self, _kept):
        """How."""
        return "The generated hm0, and what `ressd-trace --bursts` makes of it, from the log of " \
               f"a replay into a file at {Transforms.speed} times the speed."


class FutureFigure(Figure):
    """SC's future work: D64 with ressd beside D1 and D64 bare."""

    paper = "sc"
    name = "sc-future"
    title = "Scattered flushing: 64 writes at once with ressd beside evenly spread writes without"
    traces = TRACES
    drive = "SC's SSD; synthetic traces, matched to Table 1"
    SERIES = [("bare", "D1"), ("bare", "D64"), *((side, "D64") for side in (*PACES, "zero"))]

    def runs(self):
        """Every trace."""
        return [run_of(trace) for trace in self.traces]

    def rows(self, top):
        """D64 with ressd over D1 bare, at most 1; and what the NAND erased."""
        return self.ratios(top) + [
            row(f"{self.name}/erases-{side}-{distribution}/{trace}",
                erases(top, trace, side, distribution), "blocks", runs=[run_of(trace)])
            for trace in traces_of(top, self.traces)
            for side, distribution in self.SERIES if side != "zero"]

    def ratios(self, top):
        """What is claimed."""
        rows = []
        for trace in traces_of(top, self.traces):
            bare = result(top, trace, "bare", "D1")
            for side in PACES:
                found = result(top, trace, side, "D64")
                rows += [row(f"{self.name}/{kind}-{side}-D64-over-bare-D1/{trace}",
                             found[kind] / bare[kind], claim=("<=", 1), runs=[run_of(trace)])
                         for kind in ("mean", "tail")]
        return rows

    def data(self, top):
        """Means; the tail has a table of its own."""
        traces = traces_of(top, self.traces)
        return {"unit": "ms", "drive": self.drive, "log": True,
                "groups": traces,
                "series": {self.label(side, distribution):
                           [result(top, trace, side, distribution)["mean"] for trace in traces]
                           for side, distribution in self.SERIES},
                "more": [("tail, ms", {self.label(side, distribution):
                                       [result(top, trace, side, distribution)["tail"]
                                        for trace in traces]
                                       for side, distribution in self.SERIES}),
                         ("blocks erased, also until the log is drained",
                          {self.label(side, distribution):
                           [erases(top, trace, side, distribution) for trace in traces]
                           for side, distribution in self.SERIES if side != "zero"}),
                         ("times D1 bare", self.times(top)),
                         (f"requests of {run_of(self.traces[0]).requests} slower than the "
                          "slowest of D1 bare",
                          {self.label(side, "D64"): [slower(top, trace, side) for trace in traces]
                           for side in ("bare", *PACES)}),
                         ("mean by kind, ms", self.by_kind(top, traces)),
                         ("blocks that arrive at once, at most",
                          {"D64": [largest_burst(top, trace) for trace in traces]}),
                         ("mean of D64 if only the buses were waited for, ms",
                          {f"{name} in RAM": [bound(top, trace, blocks) for trace in traces]
                           for name, blocks in (("nothing", 0), ("two records", IN_RAM // 2),
                                                ("four", IN_RAM))})]}

    def times(self, top):
        """The ratios: 1 is as good."""
        series = {}
        for entry in self.ratios(top):
            kind, side = entry["id"].split("/")[1].split("-")[:2]
            series.setdefault(f"{kind}, pace {side}", []).append(entry["value"])
        return series

    def by_kind(self, top, traces):
        """Of D1 bare and of D64 with ressd."""
        return {f"{kind}, {self.label(side, distribution)}":
                [means_by_kind(top, trace, side, distribution)[kind] for trace in traces]
                for kind in KINDS for side, distribution in (("bare", "D1"), (PACES[0], "D64"))}

    @staticmethod
    def label(side, distribution):
        """What a series is called."""
        if side in PACES:
            return f"{distribution}, pace {side}"
        return f"{distribution} bare" if side == "bare" else f"{distribution}, no drive"

    def text(self, kept):
        """Where the claim holds."""
        rows = [entry for entry in kept["rows"] if entry["claim"]]
        reached = [entry for entry in rows if entry["reached"]]
        text = f"{len(reached)} of {len(rows)} figures (mean, tail; each trace; three paces) " \
               "of D64 with ressd are at least as good as D1 bare."
        return f"{text}\n\nWhat waits: RAM takes four records of the log, {IN_RAM} blocks, " \
               "less where a segment ends between them. What of a burst does not fit waits until " \
               "one is written, one at a time: 6.5 ms on the two buses, 0.9 to program, 1 for " \
               "the processor. Writes of less than a block are not logged, but change it in its " \
               "place: nearly all that is slow in fin1 and fin2.\n\n" \
               f"The options of the table line are `{LOGGED}`. The covers stand; the first small " \
               "write after a format or a drain, and what comes with it, waits 10 ms for them " \
               "([what changed since the first figures](../notebook/pace.md#bursts-of-64-writes)" \
               "). Response times count from the moment at which a write should arrive, and " \
               "contain the time that the guest's processor, one instruction in a nanosecond, " \
               "takes to submit those before it; with no drive behind that is all."


class RealFigure(FutureFigure):
    """The same of real traces, which only those can make who have them."""

    name = "sc-real"
    title = "The same of real traces"
    traces = list(sc_real.UNITS)
    drive = "SC's SSD; real traces"
    SERIES = [*(("bare", distribution) for distribution in DISTRIBUTIONS),
              *FutureFigure.SERIES[2:]]

    def text(self, kept):
        """Whose traces they are, and where the claim holds."""
        rows = [entry for entry in kept["rows"] if entry["claim"]]
        reached = sum(entry["reached"] for entry in rows)
        return f"The first {REAL_REQUESTS} requests of SPC's Financial1 (sizes rounded up to " \
               "4 KB) and of two cuts of the MSR Cambridge traces; what lies beyond the small " \
               "drive is packed into it (`ressd-trace --fit pack`). They have licences of their " \
               "own and are no part of the project: `tools/papers.sh --traces FOLDER --figure " \
               f"sc-real`. {reached} of {len(rows)} figures of D64 with ressd are at least as " \
               "good as D1 bare."


FIGURES = [
    ResponseFigure("sc-1", "Average response time of requests", "mean"),
    ResponseFigure("sc-2", "Tail response time (mean of the worst 0.01 %, here one request)",
                   "tail"),
    EraseFigure(),
    FutureFigure(),
    RealFigure(),
    TraceTable(),
    TransformTable(),
]
