# SPDX-License-Identifier: GPL-2.0-only
"""docs/papers.md: chart and table of each figure that was measured, and all published numbers."""

from pathlib import Path

HERE = Path(__file__).resolve().parent
FILLS = [("white", ""), ("0.8", ""), ("0.55", ""), ("0.25", ""), ("white", "////"),
         ("0.8", "\\\\\\\\"), ("0.55", "xxxx")]
HEAD = """<!-- SPDX-License-Identifier: GPL-2.0-only -->
<!-- Written by tools/papers.sh: change that, not this page. -->
# The papers, rebuilt

What the papers have published, measured again on the emulated drives ([ssdsim.md](ssdsim.md)).
RE = *ReSSD*, SC = *Effects of Scattering Write Request Arrivals on SSD Performance*.
`tools/papers.sh --list` shows what there is, and `tools/papers.sh --figure sc-1` measures one. All
rows are in `build/results/papers.json`. *Published* is what texts and tables of the papers say;
their pictures could not be read as numbers.

SC's traces are **synthetic, matched to Table 1** (share of reads, mean sizes, mean interval), 3000
requests each; sizes are geometric, 80 % of the requests go to 20 % of 256 MB. The interval of Table
1 is taken as seconds: at milliseconds, as printed, proj0 would need several times what the two
channels of SC's SSD transfer. SC's Fig. 3, erased blocks, takes longer traces and is missing.
"""


def number(value):
    """For people."""
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def chart(figure, data, path):
    """Groups of bars; the legend beside them."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    with pyplot.style.context(HERE / "style.mplstyle"):
        drawing, axes = pyplot.subplots()
        width = 0.84 / len(data["series"])
        for index, (name, values) in enumerate(data["series"].items()):
            colour, hatch = FILLS[index % len(FILLS)]
            places = [group + (index - (len(data["series"]) - 1) / 2) * width
                      for group in range(len(values))]
            bars = axes.bar(places, values, width, label=name, color=colour, hatch=hatch,
                            edgecolor="black", linewidth=0.6)
            axes.bar_label(bars, [number(value) for value in values], fontsize=6, rotation=90,
                           padding=2)
        if data.get("log"):
            axes.set_yscale("log")
        axes.margins(y=0.18)
        axes.set_xticks(range(len(data["groups"])), data["groups"])
        axes.set_ylabel(data["unit"])
        axes.set_title(f"{figure.name}: {figure.title}\n{data['drive']}", fontsize=9)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.savefig(path, metadata={"Software": None})
        pyplot.close(drawing)


def table(data, series):
    """Groups against series, in Markdown."""
    lines = ["| " + " | ".join([data["unit"], *series]) + " |", "|---" * (len(series) + 1) + "|"]
    for index, group in enumerate(data["groups"]):
        cells = [number(values[index]) for values in series.values()]
        lines.append("| " + " | ".join([group, *cells]) + " |")
    return "\n".join(lines)


def verdict(entry):
    """Of one row, in a word."""
    if entry["reached"] is not None:
        return f"{entry['claim']}: {'reached' if entry['reached'] else '**missed**'}"
    if entry["within_25_percent"] is None:
        return ""
    return "within 25 %" if entry["within_25_percent"] else "**differs**"


def published_rows(rows):
    """The table of all published numbers; and below it why those differ that do."""
    listed = [entry for entry in rows if entry["published"] is not None]
    lines = ["| number | published | here | unit | |", "|---|---|---|---|---|"]
    lines += [f"| `{entry['id']}` | {number(entry['published'])} | {number(entry['value'])} | "
              f"{entry['unit']} | {verdict(entry)} |" for entry in listed]
    reasons = {}
    for entry in listed:
        if not entry["within_25_percent"] and entry["why"]:
            reasons.setdefault(entry["why"], []).append(f"`{entry['id']}`")
    notes = [f"* {', '.join(names)}: {why}." for why, names in reasons.items()]
    return "\n".join(lines) + "\n" + ("\nWhy they differ:\n\n" + "\n".join(notes) + "\n"
                                      if notes else "")


def section(figure, top, folder):
    """Chart, text and tables of one figure."""
    data = figure.data(top)
    chart(figure, data, folder / f"{figure.name}.png")
    text = f"\n## {figure.name}: {figure.title}\n\n" \
           f"![chart](papers/{figure.name}.png)\n\n" \
           f"{figure.text(top)}\n\n{table(data, data['series'])}\n"
    if "more" in data:
        name, series = data["more"]
        text += f"\nThe {name}:\n\n{table(data, series)}\n"
    return text


def write(figures, rows, top, docs):
    """The page and its charts."""
    text = HEAD + "".join(section(figure, top, docs / "papers") for figure in figures)
    text += f"\n## Every published number\n\n{published_rows(rows)}"
    (docs / "papers.md").write_text(text)


def table_of_rows(rows):
    """For the terminal: what has a published number or a claim."""
    lines = []
    for entry in rows:
        if entry["published"] is None and not entry["claim"]:
            continue
        published = f"published {number(entry['published'])}" if entry["published"] else ""
        lines.append(f"{entry['id']:<52} {number(entry['value']):>9} {entry['unit']:<6} "
                     f"{published:<16} {verdict(entry).replace('*', '')}")
    return "\n".join(lines)
