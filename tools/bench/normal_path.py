# SPDX-License-Identifier: GPL-2.0-only
"""Requests to the normal area: cut to the drive's buffers and pages, and ordered by a policy.

PA = Parameter-Aware I/O Management for Solid State Disks, IR = Disk Schedulers for Solid State
Drives. One guest for each load on each drive; figures, rows, table, chart.
docs/notebook/normal-path.md describes them.
"""

import json
import math
import statistics
from pathlib import Path

import bio_trace
import drives
import results as result_files
from guests import Guest, mean_figures, noted

HERE = Path(__file__).resolve().parent
FILES = [*drives.FILES, "tools/bench/bio-trace.sh"]

PROFILES = ["samsung", "supertalent", "transcend", "intel"]
LOW_END = ["samsung", "supertalent", "transcend"]
# All other drives, for what ressd-probe advises: only reads beside writes; on those that take
# several commands at once also one command after the other ("-single").
OTHERS = [name for name in drives.PROFILES + drives.TODAY if name not in PROFILES]
QUEUED = ["intel", "tlc"]

KERNEL = ["none", "mq-deadline", "kyber", "bfq"]
POLICIES = ["nopas-pai", "pas-pai", "pasa-pai", "bundle", "bundle-rp"]
CUTS = ["pas", "pasa"]
# With the log as well, as ressd-probe advises it.
LOGGED = ["log-nopas", "log-advised", "log-pasa-pai", "log-bundle-rp"]
# Where a write costs the drive a merge ressd-probe names bundle_rp with 2 in flight.
RP_SIDES = ["bundle-rp", "bundle-rp-2"]
PA_SIDES = ["none", "mq-deadline", "nopas", "nopas-pai", "pas-pai", "pasa-pai", *RP_SIDES,
            "log-advised"]
IR_SIDES = [*KERNEL, "nopas", "pasa-pai", "bundle", *RP_SIDES, "log-advised"]
OTHERS_SIDES = ["none", "nopas", *RP_SIDES]
POSTMARK_SIDES = [*KERNEL, "nopas", "bundle", *RP_SIDES, "log-advised"]
# With another dispatch_depth than the usual one, by --side.
DEPTHS = [f"{policy}-{depth}" for policy in POLICIES for depth in (1, 2, 8, 16)]
# No scheduler below ressd instead of mq-deadline, by --side; dm-linear, what any target costs.
ON_NONE = [f"{side}-on-none" for side in ("nopas", *RP_SIDES)]
# Without the log.
ALONE = ["nopas", *CUTS, *POLICIES, *DEPTHS, *ON_NONE]
SIDES = [*KERNEL, "linear-on-none", *ALONE, *LOGGED]

# Sides of each load, seconds of one run of a side on an idle machine, and runs of each side, with
# another seed each. "-through": on a drive that programs at once what is longer than its buffer.
# "-responses": each request is recorded.
LOADS = {
    "sequential": (["none", "nopas", *CUTS, *POLICIES[1:]], 4, 1),
    "stream": (["none", "mq-deadline", *CUTS, *POLICIES], 4, 1),
    "stream-through": (["none", "mq-deadline", *CUTS, *POLICIES], 4, 1),
    "mixed": (IR_SIDES, 10, 1),
    "mixed-single": (OTHERS_SIDES, 10, 1),
    "fileserver": (IR_SIDES, 10, 1),
    "postmark-8m": (PA_SIDES, 15, 3),
    "postmark-8m-through": ([*PA_SIDES, "log-nopas", "log-pasa-pai"], 15, 3),
    "postmark-256k": (PA_SIDES, 15, 3),
    "postmark-a": (POSTMARK_SIDES, 15, 3),
    "postmark-b": (POSTMARK_SIDES, 15, 3),
    "postmark-a-responses": (["bundle", "bundle-rp"], 15, 1),
    "filebench-webserver": (PA_SIDES, 15, 3),
    "filebench-fileserver": (PA_SIDES, 15, 3),
    "filebench-oltp": (PA_SIDES, 15, 1),
}

# One stream of writes: no part of the mean over the papers' loads.
PLAIN = ["sequential", "stream", "stream-through"]

# Percent of requests aligned and within the buffer on Samsung (PA Table 4).
PAPER = {("postmark-8m", "none"): (38.26, 23.34), ("postmark-8m", "pas-pai"): (35.22, 100),
         ("postmark-8m", "pasa-pai"): (88.48, 100), ("postmark-256k", "none"): (26.84, 98.46),
         ("postmark-256k", "pas-pai"): (43.33, 100), ("postmark-256k", "pasa-pai"): (55.39, 100)}

# The best policy over NoPAS-noop with large files (PA Fig. 9).
GAIN_BARS = {"samsung": ">=1.2", "supertalent": ">=1.24"}
KERNEL_BAR = ">=0.99"
LOW_END_BAR = ">=1.2"
# The p99 of reads beside writes with bundle_rp over none, for which the papers' low-end drives have
# to be good; where else it pays ressd-probe has to find out.
WAIT_BAR = "<=0.5"


def loads_of(profile):
    """The loads that are measured on a drive unless others are named."""
    loads = ["mixed"] if profile in OTHERS else [name for name in LOADS if name != "mixed-single"]
    return loads + (["mixed-single"] if profile in QUEUED else [])


def place(profile, load, folder):
    """Where the figures of one load on one drive are."""
    return folder / f"normal-path-{profile}-{load}"


def guest(profile, load, folder, sides=None, seeds=None):
    """The guest that measures one load on one drive."""
    usual, seconds, usual_seeds = LOADS[load]
    sides = sides or (OTHERS_SIDES if profile in OTHERS else usual)
    seeds = seeds or usual_seeds
    steps = {"start": 8, **dict.fromkeys(sides, seeds * seconds)}
    return Guest(f"{profile}-{load}", HERE / "guest-normal-path.sh",
                 [profile, load, str(seeds), *sides], steps, place(profile, load, folder),
                 files=FILES, memory="3G")


class Load:
    """The figures of one load on one drive."""

    def __init__(self, profile, name, folder):
        self.profile = profile
        self.name = name
        self.folder = place(profile, name, folder)
        self.found = mean_figures(self.folder)
        self.sides = [key.split(".")[1] for key in self.found if key.endswith(".busy_ns")]

    def is_timed(self):
        """A work on files that takes its time, or fio on the drive?"""
        return self.name.startswith(("postmark", "filebench"))

    def is_recorded(self):
        """Whether there is each request's response, instead of a count of requests."""
        return self.name.endswith("-responses")

    def value(self, side, what):
        """A figure of a side."""
        return self.found[f"{self.name}.{side}.{what}"]

    def fio(self, side, kind):
        """What fio says of one side's reads or writes: the group that has any."""
        with open(self.folder / f"{self.name}.{side}.json", encoding="utf-8") as file:
            jobs = json.load(file)["jobs"]
        return next((job[kind] for job in jobs if job[kind]["total_ios"]), None)

    def responses(self, side, kind=None):
        """Responses to one kind of requests, or to all, as they came while a work was done, ms."""
        with open(self.folder / f"{self.name}.{side}.bios", encoding="utf-8") as lines:
            bios, phases = bio_trace.parse(lines)
        phases = dict(phases)
        return [(bio.completed - bio.issued) / 1e6 for bio in bios
                if phases["run"] <= bio.issued <= phases["end"] and bio.completed and
                bio.operation in (kind[0].upper() if kind else "RW")]

    def rate(self, side, kind):
        """Reads or writes a second."""
        if self.is_recorded():
            return 1000 * len(self.responses(side, kind)) / self.value(side, "ms")
        return self.fio(side, kind)["iops"]

    def speed(self, side):
        """Runs, or requests of fio, a second."""
        if self.is_timed():
            return 1000 / self.value(side, "ms")
        parts = [part for part in (self.fio(side, kind) for kind in ("read", "write")) if part]
        return (sum(part["total_ios"] for part in parts) /
                max(part["runtime"] for part in parts) * 1000)

    def doubt(self, side):
        """The standard error of a side's time in percent, by its seeds, or None."""
        times = [value for key, value in noted(self.folder)
                 if key == f"{self.name}.{side}.ms"]
        if len(times) < 2:
            return None
        return 100 * statistics.stdev(times) / math.sqrt(len(times)) / statistics.mean(times)

    def gain(self, side, base="none"):
        """How much faster than another side."""
        return self.speed(side) / self.speed(base)

    def latency(self, side, kind):
        """Mean and p99 of reads or writes in ms, or None."""
        if self.is_recorded():
            found = sorted(self.responses(side, kind))
            return (sum(found) / len(found), found[len(found) * 99 // 100]) if found else None
        part = self.fio(side, kind)
        if not part:
            return None
        return part["lat_ns"]["mean"] / 1e6, part["lat_ns"]["percentile"]["99.000000"] / 1e6

    def share(self, side, what):
        """Percent of a side's requests."""
        return 100 * self.value(side, what) / self.value(side, "requests")

    def best(self, sides):
        """The fastest of these sides, or None."""
        return max((side for side in sides if side in self.sides), key=self.speed, default=None)

    def over_kernel(self, sides):
        """The best of these sides over the best scheduler of the kernel, or None."""
        own, other = self.best(sides), self.best(KERNEL)
        return self.speed(own) / self.speed(other) if own and other else None


def measured(profile, folder, loads=None):
    """What there is of a drive."""
    return [Load(profile, name, folder) for name in loads or loads_of(profile)
            if (place(profile, name, folder) / "figures").exists()]


def lost(load, sequential):
    """
    Percent of the run on none in which the drive was busy for longer than a sequential stream of as
    many bytes would have kept it: what cutting and ordering can spare it, at most.
    """
    rate = sequential.value("none", "write_bytes") / sequential.value("none", "busy_ns")
    ideal = (load.value("none", "write_bytes") + load.value("none", "read_bytes")) / rate
    return 100 * (load.value("none", "busy_ns") - ideal) / (load.value("none", "ms") * 1e6)


def row(load, what, value, unit, bar=None):
    """A row of one load."""
    return result_files.row(f"pas/{load.profile}/{load.name}.{what}", round(value, 4), unit, bar)


def table_4(load):
    """Rows of PA Table 4."""
    rows = []
    for side in load.sides:
        bars = (None, None)
        is_table = load.profile == "samsung" and load.name.startswith("postmark-8m")
        if is_table and side.startswith("pas"):
            bars = (">=85" if side.startswith("pasa") else None, ">=100")
        rows.append(row(load, f"{side}.requests", load.value(side, "requests"), "1"))
        for what, bar in zip(("aligned", "within"), bars, strict=True):
            rows.append(row(load, f"{side}.{what}", load.share(side, what), "%", bar))
    return rows


def latency_rows(load):
    """Mean and p99 of reads and writes; of reads with bundle_rp beside none."""
    rows = []
    for side in load.sides:
        for kind in ("read", "write"):
            found = load.latency(side, kind)
            if found:
                rows.append(row(load, f"{side}.{kind}-mean", found[0], "ms"))
                rows.append(row(load, f"{side}.{kind}-p99", found[1], "ms"))
    if load.name.startswith("mixed") and {"none", "bundle-rp"} <= set(load.sides):
        ratio = load.latency("bundle-rp", "read")[1] / load.latency("none", "read")[1]
        bar = WAIT_BAR if load.profile in LOW_END else None
        rows.append(row(load, "bundle-rp.read-p99-over-none", ratio, "x", bar))
        rows.append(row(load, "bundle-rp.writes-over-none",
                        load.rate("bundle-rp", "write") / load.rate("none", "write"), "x"))
    return rows


def rows_of_load(load):
    """All rows of one load on one drive."""
    rows = []
    if "none" in load.sides:
        rows += [row(load, f"{side}.gain", load.gain(side), "x") for side in load.sides]
    if load.name == "sequential":
        return rows + [row(load, f"{side}.over-nopas", load.gain(side, "nopas"), "x", ">=0.99")
                       for side in load.sides if side not in ("none", "nopas")]
    rows += latency_rows(load) if load.is_recorded() or not load.is_timed() else table_4(load)
    best = load.best(ALONE)
    if load.name.startswith("postmark-8m") and best and "none" in load.sides:
        rows.append(row(load, "best-gain", load.gain(best), "x", GAIN_BARS.get(load.profile)))
    if load.over_kernel(ALONE):
        rows.append(row(load, "best-over-kernel", load.over_kernel(ALONE), "x", KERNEL_BAR))
    if load.over_kernel(LOGGED):
        rows.append(row(load, "logged-over-kernel", load.over_kernel(LOGGED), "x"))
    return rows


def lost_rows(loads):
    """What the drive lost with Postmark on none, of the loads of one drive."""
    sequential = next((load for load in loads if load.name == "sequential"), None)
    if not sequential:
        return []
    return [row(load, "lost", lost(load, sequential), "%") for load in loads
            if load.name.startswith("postmark") and "none" in load.sides]


def mean_row(compared, what, sides, bar):
    """A row of all loads of the low-end drives, or none; @compared has the loads of each drive."""
    found = [load.over_kernel(sides) for loads in compared for load in loads
             if load.profile in LOW_END and load.name not in PLAIN and load.over_kernel(sides)]
    if not found:
        return []
    mean = math.exp(sum(map(math.log, found)) / len(found))
    return [result_files.row(f"pas/low-end/{what}", round(mean, 4), "x", bar)]


def rows_of(compared):
    """All rows; @compared has the loads of each drive."""
    rows = []
    for loads in compared:
        for load in loads:
            rows += rows_of_load(load)
        rows += lost_rows(loads)
    return (rows + mean_row(compared, "best-over-kernel", ALONE, LOW_END_BAR) +
            mean_row(compared, "logged-over-kernel", LOGGED, None))


def cells_of(load, side):
    """What a table says of one side behind its speed."""
    if load.is_timed() and not load.is_recorded():
        paper = None
        if load.profile == "samsung":
            paper = PAPER.get((load.name.removesuffix("-through"), side))
        return (f"{load.value(side, 'requests'):>8.0f} requests"
                f"{load.share(side, 'aligned'):>7.1f} % aligned"
                f"{load.share(side, 'within'):>7.1f} % within"
                f"{load.value(side, 'merge_copies'):>9.0f} copies"
                f"{load.value(side, 'rmw_reads'):>7.0f} rmw" +
                (f"   paper {paper[0]} %, {paper[1]} %" if paper else ""))
    cells = ""
    for kind in ("read", "write"):
        found = load.latency(side, kind)
        if found:
            cells += (f"   {kind}s {load.rate(side, kind):>7.1f}/s"
                      f"{found[0]:>9.2f} ms mean{found[1]:>9.2f} ms p99")
    return cells


def describe(load):
    """Table of one load on one drive."""
    print(f"\n{load.name} on {load.profile}")
    for side in load.sides:
        gain = f"{load.gain(side):>8.3f} x" if "none" in load.sides else ""
        time = f"{load.value(side, 'ms') / 1000:>9.2f} s" if load.is_timed() else ""
        doubt = load.doubt(side)
        time += f" (+-{doubt:.1f} %)" if doubt is not None else ""
        print(f"  {side:<14}{time}{gain}{cells_of(load, side)}")


# --- chart ----------------------------------------------------------------------------------------

SHADES = {"mq-deadline": ("0.85", ""), "kyber": ("0.85", "//"), "bfq": ("0.85", "xx"),
          "nopas": ("1.0", ""), "nopas-pai": ("0.65", ""), "pas-pai": ("0.65", "//"),
          "pasa-pai": ("0.65", "xx"), "bundle": ("0.45", ""), "bundle-rp": ("0.25", ""),
          "bundle-rp-2": ("0.0", ""), "log-advised": ("1.0", "...")}


# Where no side may differ from none.
FLAT = ["sequential", "stream"]


# A bar that is longer ends there, and has its value beside it.
LONGEST_BAR = 5


def draw(axes, loads, value_of, label):
    """Bars of each side of each load; a side without a value leaves its place empty.

    @label is the drive, and what the axis shows.
    """
    width = 0.86 / len(SHADES)
    for number, (side, (shade, hatch)) in enumerate(SHADES.items()):
        bars = [(index + (number - (len(SHADES) - 1) / 2) * width, value_of(load, side))
                for index, load in enumerate(loads) if side in load.sides]
        if not bars:
            continue  # none in the legend; its place stays
        axes.bar([place for place, _ in bars], [min(value, LONGEST_BAR) for _, value in bars],
                 width, label=side, color=shade, hatch=hatch, edgecolor="black", linewidth=0.5)
        for place, value in bars:
            if value > LONGEST_BAR:
                axes.text(place + width, LONGEST_BAR, f"{value:.0f}", fontsize=8, va="top")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(loads)), [load.name.replace("-", "\n", 1) for load in loads],
                    fontsize=8)
    drive, unit = label
    axes.set_title(drive, fontsize=9)
    axes.set_ylabel(unit, fontsize=8)


def draw_paper(axes, loads):
    """PA's best gain with large files."""
    label = "best of PA, Fig. 9"
    for index, load in enumerate(loads):
        if load.name.startswith("postmark-8m") and load.profile in GAIN_BARS:
            axes.plot([index - 0.45, index + 0.45], [float(GAIN_BARS[load.profile][2:])] * 2,
                      color="black", linestyle=":", linewidth=1.5, label=label)
            label = None


def chart(compared, path):
    """Speed and the p99 of reads, each side over none, one line for each drive."""
    # Here, so that the tables do without it.
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel

    shown = [[load for load in loads if "none" in load.sides and load.name not in FLAT and
              load.profile in PROFILES] for loads in compared]
    shown = [loads for loads in shown if loads]
    if not shown:
        return None
    figure, grid = plt.subplots(len(shown), 2, figsize=(12, 3.6 * len(shown)), squeeze=False,
                                width_ratios=[3, 1])
    for (speeds, waits), loads in zip(grid, shown, strict=True):
        drive = loads[0].profile
        draw(speeds, loads, lambda load, side: load.gain(side),
             (drive, "speed, times that of none"))
        draw_paper(speeds, loads)
        mixes = [load for load in loads if load.name in ("mixed", "fileserver")]
        draw(waits, mixes, lambda load, side: load.latency(side, "read")[1] /
             load.latency("none", "read")[1], (drive, "p99 of reads, times that of none"))
        waits.set_yscale("log")
    figure.legend(*grid[0][0].get_legend_handles_labels(), fontsize=8, ncols=5,
                  loc="lower center")
    figure.tight_layout(rect=(0, 0.8 / (3.6 * len(shown)), 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
