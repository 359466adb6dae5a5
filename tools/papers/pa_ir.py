# SPDX-License-Identifier: GPL-2.0-only
"""PA Table 4, Figs. 9 and 10; IR Figs. 8 to 11: requests to the normal area, cut and ordered.

The runs are those of make bench-normal-path, one for each load on each drive, with all of its
sides: docs/notebook/normal-path.md describes them.
"""

from dataclasses import dataclass

import drives
import normal_path
from published import PA_DRIVES, PUBLISHED
from rows import row
from runs import Figure, GuestRun, digest

SOURCES = ["guest-normal-path.sh", "guest-loads.sh", "bio-trace.sh", "drives.conf"]
# What PA and IR call the sides.
PA_NAMES = {"none": "NoPAS-noop", "nopas-pai": "NoPAS-PAI", "pas-pai": "PAS-PAI",
            "pasa-pai": "PASA-PAI"}
IR_NAMES = {"bundle": "IRBW-FIFO", "bundle-rp": "IRBW-FIFO-RP"}
IR_SIDES = [*normal_path.KERNEL, *IR_NAMES]
IR_LOADS = ["postmark-a", "postmark-b"]
SIZES = {"postmark-256k": "256-KB", "postmark-8m": "8-MB", "postmark-8m-through": "8-MB-flushing"}
PROFILES = {"filebench-oltp": "OLTP", "filebench-fileserver": "fileserver",
            "filebench-webserver": "webserver"}
SCALE = "emulated, 1/16 of the paper's sizes"


@dataclass(frozen=True)
class Run(GuestRun):
    """One load on one drive, on all of its sides."""

    profile: str
    name_of_load: str

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"normal-path/normal-path-{self.profile}-{self.name_of_load}"

    @property
    def seconds(self):
        """On an idle machine."""
        _, seconds, seeds = normal_path.LOADS[self.name_of_load]
        return 8 + len(self.sides()) * seeds * seconds

    def sides(self):
        """All on SSD-A; on the other drives those of the papers."""
        sides = normal_path.LOADS[self.name_of_load][0]
        papers = IR_SIDES if self.name_of_load in IR_LOADS else PA_NAMES
        return [side for side in sides if self.profile == "samsung" or side in papers]

    def settings(self):
        """What its result depends on."""
        seeds = normal_path.LOADS[self.name_of_load][2]
        sources = digest(*(drives.HERE / name for name in SOURCES))
        return f"{self.sides()}, {seeds} seeds, {sources}\n"

    def guest(self, top):
        """The guest that measures it."""
        return normal_path.guest(self.profile, self.name_of_load, self.folder(top).parent,
                                 self.sides())

    def load(self, top):
        """Its figures."""
        return normal_path.Load(self.profile, self.name_of_load, self.folder(top).parent)


class NormalPath(Figure):
    """A figure of these loads on these drives."""

    def __init__(self, profiles, loads):
        self.profiles, self.loads = profiles, loads

    def runs(self):
        """Each load on each drive."""
        return [Run(profile, load) for load in self.loads for profile in self.profiles]


class Composition(NormalPath):
    """PA Table 4: what reaches the drive."""

    paper = "pa"
    name = "pa-table4"
    title = "Requests that reach SSD-A, Postmark"
    SIDES = {"NoPAS": "nopas-pai", "PAS": "pas-pai", "PASA": "pasa-pai"}
    SIZES = {"postmark-8m-through": "8-MB", "postmark-256k": "256-KB"}

    def __init__(self):
        super().__init__(["samsung"], self.SIZES)

    def rows(self, top):
        """How many beside NoPAS, percent aligned, percent within the buffer."""
        rows = []
        for run in self.measured(top):
            load = run.load(top)
            most = load.value(self.SIDES["NoPAS"], "requests")
            for name, side in self.SIDES.items():
                place = f"{self.name}/{self.SIZES[load.name]}/{name}"
                if name != "NoPAS":
                    rows.append(row(f"{place}-requests", load.value(side, "requests") / most,
                                    why=self.why_requests(load), runs=[run]))
                rows += [row(f"{place}-aligned", load.share(side, "aligned"),
                             why=self.why_aligned(load, side), runs=[run]),
                         row(f"{place}-within", load.share(side, "within"),
                             why=self.why_within(load, side), runs=[run])]
        return rows

    def why_requests(self, load):
        """What there is to cut."""
        side = self.SIDES["NoPAS"]
        return f"of NoPAS's requests {load.share(side, 'aligned'):.0f} % are aligned and " \
               f"{load.share(side, 'within'):.0f} % within the buffer, so fewer are to be cut"

    @staticmethod
    def why_aligned(load, side):
        """How long the requests are."""
        length = (load.value(side, "read_bytes") + load.value(side, "write_bytes")) / \
            load.value(side, "requests")
        return f"requests have {length / 1024:.0f} KB in the mean: today's ext4, which mounts " \
               "ext3, allocates files in long runs"

    @staticmethod
    def why_within(load, side):
        """What the requests are."""
        reads = load.value(side, "reads")
        return f"{reads:.0f} of the {load.value(side, 'requests'):.0f} requests are reads, " \
               f"{100 * load.value(side, 'reads_within') / reads:.0f} % of them within the buffer"

    def data(self, top):
        """Published beside here: a group for each side."""
        sides = [(run.load(top), name) for run in self.measured(top) for name in self.SIDES]
        places = [f"{self.name}/{self.SIZES[load.name]}/{name}" for load, name in sides]
        here = {entry["id"]: entry["value"] for entry in self.rows(top)}
        series = {}
        for what in ("aligned", "within"):
            series[f"{what}, published"] = [PUBLISHED[f"{place}-{what}"].value for place in places]
            series[f"{what}, here"] = [here[f"{place}-{what}"] for place in places]
        counts = {what: [load.value(self.SIDES[name], what) for load, name in sides]
                  for what in ("requests", "reads")}
        return {"unit": "%", "drive": f"SSD-A, {SCALE}", "series": series,
                "groups": [f"{name}\n{self.SIZES[load.name].replace('-', ' ')}"
                           for load, name in sides],
                "more": [("here", {"requests": counts["requests"],
                                   "reads among them": counts["reads"]})]}

    def text(self, _kept):
        """How."""
        return "Reads and writes that the block layer hands to the drive. Aligned: they begin at " \
               "a clustered page of 16 KB. Within: writes of at most 240 KB, for the buffer of " \
               "255 KB is fifteen pages, and reads of at most 256 KB. With 8 MB the drive " \
               "flushes when a write is longer than its buffer, as ME saw."


class Gains(NormalPath):
    """Speed over NoPAS-noop: PA Fig. 9 or 10."""

    paper = "pa"

    def __init__(self, name, title, loads):
        super().__init__(list(PA_DRIVES), loads)
        self.name, self.title = name, title

    def place(self, run):
        """Drive and load of a run, as the rows name them."""
        return f"{PA_DRIVES[run.profile]}-{self.loads[run.name_of_load]}"

    def rows(self, top):
        """Each side over NoPAS-noop."""
        return [row(f"{self.name}/{self.place(run)}/{name}-over-NoPAS-noop",
                    run.load(top).gain(side), why=self.why(run.load(top)), runs=[run])
                for run in self.measured(top) for side, name in PA_NAMES.items()
                if side != "none"]

    @staticmethod
    def why(load):
        """What the drive does while it is at work."""
        copies = {side: load.value(side, "merge_copies") for side in ("none", "pasa-pai")}
        return f"the drive copies {copies['none']:.0f} pages in merges without PAS and " \
               f"{copies['pasa-pai']:.0f} with PASA-PAI, and gets " \
               f"{load.value('none', 'requests'):.0f} and " \
               f"{load.value('pasa-pai', 'requests'):.0f} requests"

    def data(self, top):
        """A group for each drive and load."""
        places = [(self.place(run), run.load(top)) for run in self.measured(top)]
        return {"unit": "times NoPAS-noop", "drive": SCALE,
                "groups": [self.label(place) for place, _load in places],
                "series": {name: [load.gain(side) for _place, load in places]
                           for side, name in PA_NAMES.items()},
                "more": [("s", {name: [load.value(side, "ms") / 1000 for _place, load in places]
                                for side, name in PA_NAMES.items()})]}

    @staticmethod
    def label(place):
        """The drive above the load, in short lines."""
        drive, load = place[:5], place[6:].replace("server", "\nserver")
        return f"{drive}\n{load.replace('-KB', ' KB').replace('-MB', ' MB').replace('-', chr(10))}"


class LargeFiles(Gains):
    """PA Fig. 9."""

    def __init__(self):
        super().__init__("pa-9", "Postmark with files of 256 KB and 8 MB", SIZES)

    def runs(self):
        """ME saw only SSD-A flush."""
        return [run for run in super().runs()
                if run.profile == "samsung" or not run.name_of_load.endswith("-through")]

    def rows(self, top):
        """Also what the text has of SSD-A."""
        rows = super().rows(top)
        for run in self.measured(top):
            load = run.load(top)
            if (run.profile, load.name) == ("samsung", "postmark-8m-through"):
                rows += [row(f"{self.name}/SSD-A-8-MB/PASA-PAI-over-{PA_NAMES[side]}",
                             load.gain("pasa-pai", side), why=self.why(load), runs=[run])
                         for side in ("nopas-pai", "pas-pai")]
        return rows

    def overall(self, kept):
        """The most that any of them gains."""
        name = f"{self.name}/most/over-NoPAS-noop"
        return [row(name, max(entry["value"] for entry in kept["rows"] if entry["id"] != name and
                              entry["id"].endswith("over-NoPAS-noop")))]

    def text(self, _kept):
        """How."""
        return "12 files of 8 MB or 300 of 256 KB on ext3, which Postmark removes at its end, in " \
               "memory of 24 MB. *Flushing*: the drive waits until a write that is longer than " \
               "its buffer is programmed, as ME saw on SSD-A; what PA says of 8 MB on SSD-A " \
               "stands beside that."


class Filebench(Gains):
    """PA Fig. 10."""

    def __init__(self):
        super().__init__("pa-10", "Filebench's profiles", PROFILES)

    def text(self, _kept):
        """How."""
        return "Not by Filebench, which Debian does not have, but by fio and Postmark, with its " \
               "operations, file sizes and threads. Webserver: 16 threads read whole files of " \
               "16 MB, one appends to a log. Fileserver: ten times Postmark with files of 0.5 to " \
               "1.5 MB. OLTP: ten writers with up to 100 writes of 2 KB on their way each, " \
               "O_DSYNC, to ten files of 10 MB; 200 shadows read, one writes a log of 256 KB a " \
               "write."


class Schedulers(NormalPath):
    """IR Fig. 8, 9 or 10: each scheduler over noop."""

    paper = "ir"

    def __init__(self, name, title, profile, loads):
        super().__init__([profile], loads)
        self.name, self.title = name, title

    def sides(self, top):
        """Those that all loads have."""
        return [side for side in IR_SIDES
                if all(side in run.load(top).sides for run in self.measured(top))]

    def rows(self, top):
        """Each over noop, and the better one of IR's over the best of the kernel's."""
        rows = []
        for run in self.measured(top):
            load = run.load(top)
            rows += [row(f"{self.name}/{load.name}/{side}-over-none", load.gain(side), runs=[run])
                     for side in self.sides(top) if side != "none"]
            rows.append(row(f"{self.name}/{load.name}/over-kernel", self.over_kernel(load),
                            runs=[run]))
        return rows

    def overall(self, kept):
        """The most of all loads; if it is too little, how good the kernel's best is."""
        values = {entry["id"].partition("/")[2]: entry["value"] for entry in kept["rows"]}
        loads = [load for load in self.loads if f"{load}/over-kernel" in values]
        parts = []
        for load in loads:
            gains = {side: values[f"{load}/{side}-over-none"] for side in normal_path.KERNEL
                     if f"{load}/{side}-over-none" in values}
            best = max(gains, key=gains.get)
            parts.append(f"{best}, the best of the kernel's with {load}, gains {gains[best]:.2f} "
                         "over noop")
        return [row(f"{self.name}/most/over-kernel",
                    max(values[f"{load}/over-kernel"] for load in loads), why="; ".join(parts))]

    @staticmethod
    def over_kernel(load):
        """The better of IR's over the best of the kernel's."""
        return load.speed(load.best(IR_NAMES)) / load.speed(load.best(normal_path.KERNEL))

    def data(self, top):
        """A group for each load."""
        loads = [run.load(top) for run in self.measured(top)]
        return {"unit": "times noop", "drive": self.drive(),
                "groups": [load.name for load in loads],
                "series": {IR_NAMES.get(side, "noop" if side == "none" else side):
                           [load.gain(side) for load in loads] for side in self.sides(top)},
                "more": self.more(loads, self.sides(top))}

    def drive(self):
        """Which, and of what size."""
        return f"{self.profiles[0].capitalize()}, {SCALE}"

    @staticmethod
    def more(loads, sides):
        """Seconds; of a load that is not timed the responses."""
        if loads[0].is_timed():
            return [("s", {side: [load.value(side, "ms") / 1000 for load in loads]
                           for side in sides})]
        found = []
        for kind in ("read", "write"):
            for place, what in enumerate(("mean", "p99")):
                found.append((f"response to a {kind}, {what}, ms",
                              {side: [load.latency(side, kind)[place] for load in loads]
                               for side in sides}))
        return found

    def text(self, _kept):
        """How."""
        if self.profiles[0] == "samsung":
            return "noop, deadline, anticipatory and CFQ there; none, mq-deadline, kyber and bfq " \
                   "here, with a queue as long as ressd's. Nothing goes to the log (`route never`)."
        return "IR's second drive is one of Mtron, of which nobody has published the parameters; " \
               "this is the Super Talent drive in its place."


class Responses(NormalPath):
    """IR Fig. 11: the response to each request, as they came."""

    paper = "ir"
    name = "ir-11"
    title = "Response times over a run of Postmark type A"
    has_points = True

    def __init__(self):
        super().__init__(["samsung"], ["postmark-a-responses"])

    def found(self, top, kind=None):
        """Responses to one kind of requests or to all, ms, without and with read preference."""
        load = self.measured(top)[0].load(top)
        return [load.responses(side, kind) for side in IR_NAMES]

    def rows(self, top):
        """Mean with read preference over mean without, and both."""
        means = [sum(found) / len(found) for found in self.found(top)]
        return [row(f"{self.name}/Samsung/IRBW-FIFO-RP-over-IRBW-FIFO-mean-response",
                    means[1] / means[0]),
                *(row(f"{self.name}/Samsung/{name}-mean-response", mean, "ms")
                  for name, mean in zip(IR_NAMES.values(), means, strict=True))]

    def data(self, top):
        """Points, and a table of what they come to."""
        groups, columns = [], [[], []]
        for kind, what in ((None, "all"), ("read", "reads"), ("write", "writes")):
            groups += [f"{what}, mean", f"{what}, longest"]
            for column, found in zip(columns, self.found(top, kind), strict=True):
                column += [sum(found) / len(found), max(found)]
        return {"unit": "ms", "drive": f"Samsung, {SCALE}", "groups": groups,
                "series": dict(zip(IR_NAMES.values(), columns, strict=True)),
                "points": dict(zip(IR_NAMES.values(), self.found(top), strict=True))}

    def text(self, _kept):
        """How."""
        name = f"{self.name}/Samsung/IRBW-FIFO-RP-over-IRBW-FIFO-mean-response"
        return "From the arrival of a request at ressd to its completion. IR has averages of " \
               f"0.475 and 0.458, which is {PUBLISHED[name].value}, and seconds on the axis."


PA_FIGURES = [Composition(), LargeFiles(), Filebench()]
IR_FIGURES = [
    Schedulers("ir-8", "Postmark, type A (1 to 32 KB) and B (1 to 16 MB)", "samsung",
               IR_LOADS),
    Schedulers("ir-9", "Postmark on another drive", "supertalent", IR_LOADS),
    Schedulers("ir-10", "IOmeter's file server pattern", "samsung", ["fileserver"]),
    Responses(),
]
