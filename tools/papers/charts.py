# SPDX-License-Identifier: GPL-2.0-only
"""The charts of docs/papers: all of one style, to be read in grey, no legend over a bar."""

import textwrap
from pathlib import Path

# That fit below a chart of bars, whose legend is beside it.
CHARACTERS = 84
HERE = Path(__file__).resolve().parent
FILLS = [("white", ""), ("0.8", ""), ("0.55", ""), ("0.25", ""), ("white", "////"),
         ("0.8", "\\\\\\\\"), ("0.55", "xxxx"), ("white", "...."), ("0.8", "////"),
         ("white", "xxxx")]
LINES = [{"color": "0.55", "marker": "o", "markersize": 2.5},
         {"color": "black", "marker": "s", "markersize": 2.5, "linestyle": "--"}]


def number(value):
    """For people."""
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def wrapped(label, groups):
    """A label of one of so many groups, in lines that leave room for the others."""
    return label if "\n" in label else textwrap.fill(label, max(6, CHARACTERS // groups))


def bars(axes, data):
    """Groups of bars; the legend beside them. A series that has no value is left out."""
    series = {name: values for name, values in data["series"].items()
              if any(value is not None for value in values)}
    width = 0.84 / len(series)
    for index, (name, values) in enumerate(series.items()):
        colour, hatch = FILLS[index % len(FILLS)]
        places = [group + (index - (len(series) - 1) / 2) * width
                  for group in range(len(values))]
        drawn = axes.bar(places, [value or 0 for value in values], width, label=name, color=colour,
                         hatch=hatch, edgecolor="black", linewidth=0.6)
        axes.bar_label(drawn, [number(value) for value in values], fontsize=6, rotation=90,
                       padding=2)
    if data.get("log"):
        axes.set_yscale("log")
    axes.margins(y=0.18)
    axes.set_xticks(range(len(data["groups"])),
                    [wrapped(label, len(data["groups"])) for label in data["groups"]])
    axes.set_ylabel(data["unit"])
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)


def falls(axes, values, notes):
    """One panel of a waterfall: from each step to the next, logarithmic, and what it comes to."""
    wholes = (0, 1, len(values) - 1)
    for place, value in enumerate(values):
        before = values[place - 1] if place else value
        low, high = sorted((before, value)) if place not in wholes else (min(values) / 2, value)
        colour = "0.25" if place in wholes else "white" if value < before else "0.7"
        axes.barh(place, high - low, left=low, height=0.7, color=colour, edgecolor="black",
                  linewidth=0.6)
        axes.annotate(f"{number(value)} ({number(notes[place])})", (max(high, low), place),
                      xytext=(2, 0), textcoords="offset points", va="center", fontsize=6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(min(values) / 2, max(values) * 12)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")


def waterfall(drawing, data):
    """A panel for each series, side by side, with all of it as the last bar."""
    panels = drawing.subplots(1, len(data["series"]), sharey=True, squeeze=False)[0]
    for axes, (name, values) in zip(panels, data["series"].items(), strict=True):
        falls(axes, [*values, values[-1]], [*data["notes"][name], data["notes"][name][-1]])
        axes.set_title(name, fontsize=9)
        axes.set_xlabel(data["unit"])
    groups = [*data["groups"], "all of it"]
    panels[0].set_yticks(range(len(groups)), groups, fontsize=7)
    panels[0].set_ylim(len(groups) - 0.4, -0.6)


def points(drawing, data):
    """A panel for each series: its values in their order."""
    panels = drawing.subplots(1, len(data["points"]), sharey=True, squeeze=False)[0]
    for axes, (name, values) in zip(panels, data["points"].items(), strict=True):
        axes.plot(values, color="0.25", linestyle="", marker=".", markersize=1.5)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("requests, as they came")
    panels[0].set_ylabel(data["unit"])


def curves(drawing, data):
    """A panel for each drive: series by size, and the published size; one legend below."""
    from matplotlib import ticker
    grid = drawing.add_gridspec(3, 2, height_ratios=[1, 1, 0.1])
    for place, (drive, series) in enumerate(data["points"].items()):
        axes = drawing.add_subplot(grid[place // 2, place % 2])
        for (name, (sizes, values)), style in zip(series.items(), LINES, strict=False):
            axes.plot(sizes, values, label=name, **style)
        if data["marks"][drive]:
            axes.axvline(data["marks"][drive], color="black", linestyle=":")
        if data["scale"] == "log":
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(ticker.LogFormatter(minor_thresholds=(1, 0.5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_title(drive, fontsize=9)
        axes.set_xlabel("KB")
        axes.set_ylabel(data["axis"])
        axes.set_ylim(bottom=0 if data["scale"] == "linear" else None)
    below = drawing.add_subplot(grid[2, :])
    below.axis("off")
    below.legend(*drawing.axes[0].get_legend_handles_labels(), loc="center", ncols=2, fontsize=8)


def draw(figure, data, path):
    """The chart of a figure."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    title = f"{figure.name}: {figure.title}\n{data['drive']}"
    with pyplot.style.context(HERE / "style.mplstyle"):
        drawing = pyplot.figure()
        if "notes" in data:
            drawing.suptitle(f"{title}; in brackets the longest wait, ms", fontsize=9)
            waterfall(drawing, data)
        elif "marks" in data:
            drawing.set_size_inches(8, 5.6)
            drawing.suptitle(title, fontsize=9)
            curves(drawing, data)
        elif data.get("points"):
            drawing.suptitle(title, fontsize=9)
            points(drawing, data)
        else:
            axes = drawing.subplots()
            axes.set_title(title, fontsize=9)
            bars(axes, data)
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.savefig(path, metadata={"Software": None})
        pyplot.close(drawing)
