#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws the writes that reached a drive, from blktrace: time against sector, one dot a write.

The bare drive is above, the same load on dm-ressd below, on the same time axis (RE Figs. 7, 8).
Below are told apart: writes of the log, of the mover, and those that went to the normal area at
once. A third strip enlarges the reserved area, which is a thin line at the scale of the drive.

A trace is the folder and device name that blktrace was given, such as traces/ssd0 for
traces/ssd0.blktrace.0. It needs the queue and issue events of writes (blktrace -a write -a queue
-a issue) of the disk itself, not of the dm device.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

MOVER = "ressd_mv"
DIRECT, LOG, HOME = "direct", "log", "mover"
LOOKS = {  # class: colour, label
    DIRECT: ("#1f77b4", "straight to the normal area"),
    LOG: ("#d62728", "log, in the reserved area: sequential"),
    HOME: ("#2ca02c", "mover, back to the normal area: ascending sweeps"),
}
SECTORS_PER_GIB = 1 << 21
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
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False)
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


def dots(axes, writes, kind, size, **options):
    """One dot for each write of one class; returns how many."""
    chosen = [(seconds, sector) for seconds, sector, _, found in writes if found == kind]
    if chosen:
        colour, label = LOOKS[kind]
        axes.plot(*zip(*chosen), linestyle="none", marker=".", markersize=size, color=colour,
                  markeredgewidth=0, label=options.get("label", f"{label} ({len(chosen):,})"))
    return len(chosen)


def legend(axes):
    """Legend with dots that can be seen, outside of the data."""
    box = axes.legend(loc="center right", fontsize=9, framealpha=0.95, markerscale=3)
    for line in box.get_lines():
        line.set_markersize(9)


def draw_bare(axes, writes, end):
    """The upper panel."""
    dots(axes, writes, DIRECT, 2.2, label=f"write ({len(writes):,})")
    axes.set_title(f"bare drive: {end:.1f} s", loc="left", fontsize=11, fontweight="bold")


def draw_ressd(axes, writes, end):
    """The lower panel."""
    for kind, size in ((DIRECT, 2.2), (HOME, 2.2), (LOG, 2.2)):
        dots(axes, writes, kind, size)
    axes.set_title(f"the same load on dm-ressd: {end:.1f} s", loc="left", fontsize=11,
                   fontweight="bold")
    legend(axes)


def draw_zoom(axes, writes, reserved, size):
    """The strip that enlarges the reserved area."""
    dots(axes, writes, LOG, 4)
    axes.set_ylim(reserved, size)
    axes.set_title("its reserved area, enlarged: the log goes round", loc="left", fontsize=10)
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"+{(value - reserved) / SECTORS_PER_MIB:.0f}"))
    axes.set_yticks([reserved + (size - reserved) * part // 2 for part in range(3)])
    axes.set_ylabel("MiB")


def scale_area(axes, size):
    """Sectors in millions at the left, the same in GiB as a second scale at the right."""
    axes.set_ylim(0, size)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1e6:g}"))
    axes.set_ylabel("LSN (million sectors)")
    right = axes.secondary_yaxis(
        "right", functions=(lambda value: value / SECTORS_PER_GIB,
                            lambda value: value * SECTORS_PER_GIB))
    right.set_ylabel("GiB")


def draw(options):
    """The whole picture."""
    bare = list(requests(options.bare))
    ressd = list(requests(options.ressd, options.reserved))
    if not bare or not ressd:
        empty = options.ressd if bare else options.bare
        raise TraceError(f"the trace {empty} holds no write that reached the drive")
    figure, panels = plt.subplots(3, 1, figsize=(11, 8.4), sharex=True, layout="constrained",
                                  gridspec_kw={"height_ratios": [3, 3, 1]})
    end = max(bare[-1][0], ressd[-1][0])
    draw_bare(panels[0], bare, bare[-1][0])
    draw_ressd(panels[1], ressd, ressd[-1][0])
    draw_zoom(panels[2], ressd, options.reserved, options.size)
    for axes in panels:
        axes.grid(alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[:2]:
        scale_area(axes, options.size)
    panels[2].set_xlim(-0.005 * end, 1.005 * end)
    panels[2].set_xlabel("time since the load began (s)")
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
