# SPDX-License-Identifier: GPL-2.0-only
"""What docs/papers/figures.json keeps of each figure: its runs, rows, table and text.

Raw results are not kept with the pages, so those of other machines may be missing here. A figure of
which some runs are not here is merged: a row or a number that is measured here replaces the kept
one, the others stay. If all of its runs are here it is replaced as a whole. Each row has the
commits that it was measured at, and the day; those of the first figures are not known.
"""

import json
import tempfile
from pathlib import Path

import charts


def rounded(value):
    """As it is kept: JSON, of floats seven digits."""
    return json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.7g}"))


def path_of(docs):
    """The file."""
    return docs / "papers/figures.json"


def load(docs):
    """What is kept of each figure, by name."""
    path = path_of(docs)
    return json.loads(path.read_text()) if path.exists() else {}


def measured(figure, top):
    """What the runs on this machine show of a figure, as it is kept; points are for its chart."""
    runs = {run.name: run.commit(top) for run in figure.runs() if run.is_there(top)}
    rows = figure.rows(top)
    for entry in rows:
        names = entry.pop("runs", runs)
        entry["commits"] = sorted({runs[name] for name in names})
    data = figure.data(top)
    points = data.pop("points", None)
    return rounded({"runs": runs, "data": data, "rows": rows}), points


def in_order(old, new):
    """Old names, each new one behind the one that is before it among the new ones."""
    names, place = list(old), 0
    for name in new:
        if name not in names:
            names.insert(place, name)
        place = names.index(name) + 1
    return names


def merge_series(old, new, groups, old_groups, new_groups):
    """Series, each a list of a value for each group; a new value replaces the old one."""
    series = {}
    for name in in_order(old, new):
        values = dict(zip(old_groups, old.get(name, ()), strict=False))
        values.update((group, value) for group, value
                      in zip(new_groups, new.get(name, ()), strict=False) if value is not None)
        series[name] = [values.get(group) for group in groups]
    return series


def merge_data(old, new):
    """The tables of a figure."""
    groups = in_order(old["groups"], new["groups"])

    def series(of_old, of_new):
        return merge_series(of_old, of_new, groups, old["groups"], new["groups"])

    more = [dict(data.get("more", ())) for data in (old, new)]
    merged = {**old, **new, "groups": groups, "series": series(old["series"], new["series"])}
    if "notes" in merged:
        merged["notes"] = series(old.get("notes", {}), new.get("notes", {}))
    if any(more):
        merged["more"] = [[name, series(more[0].get(name, {}), more[1].get(name, {}))]
                          for name in in_order(*more)]
    return merged


def merge_rows(old, new):
    """Rows by their IDs."""
    both = {entry["id"]: entry for entry in (*old, *new)}
    return [both[name] for name in in_order((entry["id"] for entry in old),
                                            [entry["id"] for entry in new])]


def merge(old, new):
    """What is kept of one figure then."""
    if set(old["runs"]) <= set(new["runs"]):
        return new
    return {"runs": {**old["runs"], **new["runs"]}, "data": merge_data(old["data"], new["data"]),
            "rows": merge_rows(old["rows"], new["rows"])}


def day(commit):
    """When it was measured, as far as that is known."""
    return (commit or "").partition(" ")[2]


def link_newest(figures, kept, top, place):
    """In @place the runs of @top, without those that another machine has made again since."""
    for figure in figures:
        since = kept[figure.name]["runs"] if figure.name in kept else {}
        for run in figure.runs():
            link = run.folder(place)
            if run.is_there(top) and not link.exists() and \
                    day(run.commit(top)) >= day(since.get(run.name)):
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(run.folder(top).resolve())


def commits(found):
    """At which commits, and on which days, a figure was measured."""
    return sorted({commit for commit in found["runs"].values() if commit}.union(
        *(entry["commits"] for entry in found["rows"])))


def complete(figure, found):
    """With the rows that come from all others, and the text."""
    overall = rounded(figure.overall(found))
    for entry in overall:
        entry["commits"] = commits(found)
    found["rows"] = merge_rows(found["rows"], overall)
    found["text"] = figure.text(found)
    return found


def update_each(figures, kept, top, docs):
    """In @kept and in their charts."""
    for figure in figures:
        found, points = kept.get(figure.name), None
        if figure.is_measured(top):
            here, points = measured(figure, top)
            found = merge(found, here) if found else here
        if not found:
            continue
        kept[figure.name] = complete(figure, found)
        if points or not figure.has_points:
            charts.draw(figure, {**found["data"], "points": points},
                        docs / f"papers/{figure.name}.png")


def update(figures, top, docs):
    """What is kept of each figure, with what was measured here; draws all charts that it can."""
    kept = load(docs)
    with tempfile.TemporaryDirectory() as place:
        link_newest(figures, kept, top, Path(place))
        update_each(figures, kept, Path(place), docs)
    if kept:
        path_of(docs).parent.mkdir(parents=True, exist_ok=True)
        path_of(docs).write_text(json.dumps(kept, indent=1) + "\n")
    return kept
