#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws what ressd-trace --json has printed: which share of the requests took at most how long.

    trace_chart.py RESULT.json... CHART.png

One panel for reads and one for writes, a line for each result: so several devices, or a device with
and without ressd, can be compared.
"""

import json
import sys
from pathlib import Path

VERSION = 1
KINDS = {"read": "Reads", "write": "Writes"}
STYLES = ["-", "--", ":", "-."]
GREYS = ["black", "0.45", "0.65", "0.25"]


class ChartError(Exception):
    """What cannot be drawn; the message is a sentence."""


def read(path):
    """One result."""
    try:
        result = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise ChartError(f"{path} is no result of ressd-trace --json: {error}") from error
    if not isinstance(result, dict) or result.get("version") != VERSION:
        found = result.get("version") if isinstance(result, dict) else None
        raise ChartError(f"{path} has version {found}, but this script draws version {VERSION}")
    return result


def shares(part):
    """The histogram as points: milliseconds, percent of the requests that took at most as long."""
    total, done, points = part["requests"], 0, []
    for bucket in part["response"]["histogram"]:
        points.append((max(bucket["from_ns"], 1) / 1e6, 100 * done / total))
        done += bucket["count"]
        points.append((max(bucket["from_ns"], 1) * 2 / 1e6, 100 * done / total))
    return points


def name_of(path, result):
    """What a line is called: the file, for devices may be the same."""
    return f"{Path(path).stem}: {Path(result['device']['path']).name}"


def draw(results, target):
    """Write the chart."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    kinds = [kind for kind in KINDS if any(kind in result for _, result in results)]
    figure, panels = pyplot.subplots(1, len(kinds), figsize=(5.2 * len(kinds), 4), squeeze=False,
                                     layout="constrained")
    for kind, panel in zip(kinds, panels[0], strict=True):
        for number, (path, result) in enumerate(results):
            if kind not in result:
                continue
            points = shares(result[kind])
            panel.plot(*zip(*points, strict=True), STYLES[number % 4], color=GREYS[number % 4],
                       label=f"{name_of(path, result)}, "
                             f"mean {result[kind]['response']['mean_ns'] / 1e6:.3g} ms")
        panel.set_xscale("log")
        panel.set_title(KINDS[kind])
        panel.set_xlabel("response time, at most, ms")
        panel.set_ylabel("% of the requests")
        panel.grid(color="0.9")
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=8)
    figure.savefig(target, dpi=120)


def main():
    """Command line, see the top."""
    if len(sys.argv) < 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        results = [(path, read(path)) for path in sys.argv[1:-1]]
        if not any(kind in result for _, result in results for kind in KINDS):
            raise ChartError("there are neither reads nor writes to draw")
        draw(results, sys.argv[-1])
    except (ChartError, OSError, ImportError) as error:
        print(f"trace_chart: {error}", file=sys.stderr)
        return 1
    print(sys.argv[-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
