#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws the writes that reached a drive, from blktrace: time against sector, one dot a write.

The bare drive is above, the same load on dm-ressd below, on the same time axis (RE Figs. 7, 8).
Below are told apart: writes of the log, of the mover, and those that went to the normal area at
once. The reserved area, far above on the drive, has a strip of its own on an enlarged scale.

A trace is the folder and device name that blktrace was given, such as traces/ssd0 for
traces/ssd0.blktrace.0. It needs the queue and issue events of writes (blktrace -a write -a queue
-a issue) of the disk itself, not of the dm device.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

MOVER = "ressd_mv"
DIRECT, LOG, HOME = "direct", "log", "mover"
LOOKS = {  # class: colour, label
    DIRECT: ("#1f77b4", "direct to the normal area"),
    LOG: ("#d62728", "log: sequential"),
    HOME: ("#2ca02c", "mover: ascending sweeps"),
}
SECTORS_PER_MIB = 1 << 11


class TraceError(Exception):
    """A trace that cannot be drawn; the message is a sentence."""


def events(trace):
    """Write events of a trace: (seconds, action letter, sector, sectors, process), in order."""
    if not Path(f"{trace}.blktrace.0").exists():
        raise TraceError(f"there is no {trace}.blktrace.0: run blktrace -d /dev/"
                         f"{Path(trace).name} -D {Path(trace).parent} first")
    done = subprocess.run(["blkparse", "-q", "-D", Path(trace).parent, "-i", Path(trace).name,
                           "-f", "%a %d %T.%9t %S %n %C\\n"],
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise TraceError(f"blkparse cannot read {trace}: {done.stderr.strip()}")
    for line in done.stdout.splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[0] in "QD" and "W" in words[1] and words[4] != "0":
            yield float(words[2]), words[0], int(words[3]), int(words[4]), words[5]


def requests(trace, reserved=None):
    """The writes that were issued to the drive: (seconds, sector, sectors, class).

    Who caused a request is known where it was queued; the kernel's own threads issue it. Both are
    matched by the start sector, which the first of several merged writes gives to the request.
    """
    queued = {}
    for seconds, action, sector, sectors, process in events(trace):
        if action == "Q":
            queued[sector] = process
        elif reserved is not None and sector >= reserved:
            yield seconds, sector, sectors, LOG
        elif queued.get(sector, "").startswith(MOVER):
            yield seconds, sector, sectors, HOME
        else:
            yield seconds, sector, sectors, DIRECT


def load(trace, seconds, reserved=None):
    """The writes of a load and how long it took. It ended with its last write, so it is known when
    it began; the trace begins earlier, when blktrace saw its first event."""
    writes = list(requests(trace, reserved))
    if not writes:
        raise TraceError(f"the trace {trace} holds no write that reached the drive")
    end = writes[-1][0]
    seconds = seconds or end
    return [(time - end + seconds, *rest) for time, *rest in writes], seconds


def dots(axes, writes, kind, size):
    """One dot for each write of one class."""
    chosen = [(seconds, sector) for seconds, sector, _, found in writes if found == kind]
    if chosen:
        colour, label = LOOKS[kind]
        axes.plot(*zip(*chosen, strict=True), linestyle="none", marker=".", markersize=size,
                  color=colour, markeredgewidth=0, label=f"{label} ({len(chosen):,})")


def legend(strip, below):
    """One legend of all classes below the panels, with dots that can be seen."""
    entries = [panel.get_legend_handles_labels() for panel in (strip, below)]
    box = below.legend(sum((handles for handles, _ in entries), []),
                       sum((labels for _, labels in entries), []), loc="upper center",
                       bbox_to_anchor=(0.5, -0.16), ncols=3, fontsize=10, frameon=False)
    for line in box.get_lines():
        line.set_markersize(9)


def title(axes, text, seconds):
    """What a panel shows and how long the load took."""
    axes.set_title(f"{text}: {seconds:.1f} s", loc="left", fontsize=11, fontweight="bold")


def draw_normal(axes, writes, kinds, shown):
    """A panel of the normal area up to sector `shown`."""
    for kind in kinds:
        dots(axes, [write for write in writes if write[1] < shown], kind, 2.6)
    axes.set_ylim(-0.01 * shown, 1.01 * shown)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1e3:g}"))
    axes.set_ylabel("LSN\n(thousand sectors)")
    right = axes.secondary_yaxis(
        "right", functions=(lambda value: value / SECTORS_PER_MIB,
                            lambda value: value * SECTORS_PER_MIB))
    right.set_ylabel("MiB")


def draw_reserved(axes, writes, reserved, size):
    """The strip of the reserved area."""
    dots(axes, writes, LOG, 4.5)
    margin = (size - reserved) * 0.04
    axes.set_ylim(reserved - margin, size + margin)
    axes.set_yticks([reserved, size])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1e3:.0f}"))
    axes.set_ylabel("reserved\narea")
    axes.set_facecolor("#fdf3f2")
    right = axes.secondary_yaxis(
        "right", functions=(lambda value: (value - reserved) / SECTORS_PER_MIB,
                            lambda value: value * SECTORS_PER_MIB + reserved))
    right.set_yticks([0, (size - reserved) / SECTORS_PER_MIB])
    right.set_ylabel("MiB")


def tear(upper, lower):
    """Marks the place where the scale of one panel breaks off and the next begins."""
    look = {"marker": [(-1, -0.6), (1, 0.6)], "markersize": 8, "linestyle": "none", "color": "k",
            "mew": 1, "clip_on": False}
    upper.plot([0, 1], [0, 0], transform=upper.transAxes, **look)
    lower.plot([0, 1], [1, 1], transform=lower.transAxes, **look)


def draw(options):
    """The whole picture."""
    plt.switch_backend("Agg")  # a file, whatever display there may be
    bare, bare_seconds = load(options.bare, options.bare_seconds)
    ressd, ressd_seconds = load(options.ressd, options.ressd_seconds, options.reserved)
    shown = options.shown or options.reserved
    figure, (above, strip, below) = plt.subplots(
        3, 1, figsize=(11, 8), sharex=True, layout="constrained",
        gridspec_kw={"height_ratios": [3, 0.9, 3]})
    draw_normal(above, bare, [DIRECT], shown)
    draw_reserved(strip, ressd, options.reserved, options.size)
    draw_normal(below, ressd, [DIRECT, HOME], shown)
    title(above, f"bare drive, {len(bare):,} writes", bare_seconds)
    title(strip, f"the same load on dm-ressd, {len(ressd):,} writes", ressd_seconds)
    for axes in (above, strip, below):
        axes.grid(alpha=0.25, linewidth=0.5)
    tear(strip, below)
    legend(strip, below)
    end = max(bare_seconds, ressd_seconds)
    below.set_xlim(-0.005 * end, 1.005 * end)
    below.set_xlabel("time since the load began (s)")
    figure.suptitle(options.title, fontsize=12)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, dpi=options.dpi)


def main():
    """Command line, see the top."""
    parser = argparse.ArgumentParser(prog="write_pattern.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bare", type=Path, required=True, help="trace of the bare drive")
    parser.add_argument("--ressd", type=Path, required=True, help="trace of the drive below ressd")
    parser.add_argument("--reserved", type=int, required=True,
                        help="first sector of the reserved area")
    parser.add_argument("--size", type=int, required=True, help="sectors of the drive")
    parser.add_argument("--shown", type=int,
                        help="sectors of the normal area to show (default: all)")
    parser.add_argument("--bare-seconds", type=float,
                        help="how long the load took (default: from the trace's first event)")
    parser.add_argument("--ressd-seconds", type=float, help="the same on dm-ressd")
    parser.add_argument("--title", default="Writes that reach the drive, one dot each")
    parser.add_argument("--dpi", type=int, default=110)
    parser.add_argument("out", type=Path, help="the picture, PNG")
    try:
        draw(parser.parse_args())
    except TraceError as error:
        print(f"write_pattern: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
