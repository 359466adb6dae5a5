# SPDX-License-Identifier: GPL-2.0-only
"""docs/papers.md, and a page for each paper in docs/papers: chart and table of each figure that was
measured, and all published numbers. kept.py has what is kept of each figure.
"""

import re
import textwrap

import kept as keeping
from charts import number
from published import PUBLISHED
from re_bandwidth import RULES as OPTIONS
from rows import DIFFERS, NOT_MEASURED, PASSED, WITHIN_25, missing_rows, row

LICENSE = """<!-- SPDX-License-Identifier: GPL-2.0-only -->
<!-- Written by tools/papers.sh: change that, not this page. -->
"""
SUMMARY = """# The papers, rebuilt

What the papers have published, measured again on the emulated drives ([ssdsim.md](ssdsim.md)).
`tools/papers.sh --list` shows what there is, `tools/papers.sh --figure sc-1` measures one, and
`--missing` only runs of which these pages have nothing. A row for each number, with the commits
that it was measured at, is in `build/results/papers.json`.
"""
PAPERS = {
    "re": ("RE", "ReSSD: A Software Layer for Improving the Small Random Write Performance of SSDs",
           f"""\
`ours`: the options that `ressd-probe` advises. `paper`: the paper's own rules, \
`{OPTIONS["paper"]}`. A record has header and data in one write, which cannot be switched off in \
the target ([in the model it can](beyond.md)). What was measured before 2026-11-28 by the paper's \
rules was without `commit writethrough`: records were gathered in RAM. It stays until it is \
measured again."""),
    "pa": ("PA, ME", "Parameter-Aware I/O Management for Solid State Disks; A Methodology for "
                     "Extracting Performance Parameters in SSDs", """\
SSD-C is the Intel drive here, not RE's."""),
    "ir": ("IR", "Disk Schedulers for Solid State Drives", """\
The slides have two numbers, and pictures. IRBW-FIFO is `dispatch bundle` here, IRBW-FIFO-RP \
`bundle_rp`; [normal-path.md](../normal-path.md) has what else they gain."""),
    "sc": ("SC", "Effects of Scattering Write Request Arrivals on SSD Performance", """\
The traces are, but for sc-real, **synthetic, matched to Table 1** (share of reads, mean sizes, \
mean interval), 3000 requests each; sizes are geometric, 80 % of the requests go to 20 % of \
256 MB. The interval is taken as seconds: at milliseconds, as printed, proj0 would need several \
times what the two channels of SC's SSD transfer."""),
    "beyond": ("beyond", "Beyond the papers", """\
What each later idea adds to RE's target, one after the other: dark bars are the bare drive, RE's \
rules and the target of today. RE's log is that of the paper: each write is appended at once and \
alone, then 4 KB of map are written to a place of their own (a 16th of the reserved area). By [the \
model](../performance.md#commands), which runs the target's core, with a log of an eighth of the \
span; its second to fourth rounds count. \
Open units: a record is written before each visit, and the router knows which units are open. \
The model does not switch the rest of the router (`streams`, `small_write_sectors`; all writes \
here are small and random), blocks overwritten in RAM, `route adaptive`, covers, and what is \
done to requests to the normal area."""),
}


def paragraph(text):
    """Wrapped as documents are."""
    return "\n".join(textwrap.fill(line, 100, break_long_words=False, break_on_hyphens=False)
                     for line in text.split("\n")) + "\n"


def table(data, series, unit):
    """Groups against series, in Markdown."""
    lines = ["| " + " | ".join([unit, *series]) + " |", "|---" * (len(series) + 1) + "|"]
    for index, group in enumerate(data["groups"]):
        cells = [number(values[index]) for values in series.values()]
        lines.append("| " + " | ".join([group.replace("\n", " "), *cells]) + " |")
    return "\n".join(lines) + "\n"


def origin(kept):
    """At which commits a figure was measured, and on which days."""
    found = [commit.partition(" ") for commit in keeping.commits(kept)]
    return "Measured at " + ", ".join(f"`{commit}` ({day})" if day else f"`{commit}`"
                                      for commit, _, day in found) + "." if found else \
        "Measured before commits were noted."


def section(figure, kept):
    """Chart, text and tables of one figure."""
    data = kept["data"]
    text = f"\n## {figure.name}: {figure.title}\n![chart]({figure.name}.png)\n\n" \
           f"{paragraph(kept['text'])}\n{table(data, data['series'], data['unit'])}"
    for name, series in data.get("more", ()):
        text += f"\n{table(data, series, name)}"
    return f"{text}\n{paragraph(origin(kept))}"


def word(entry):
    """The verdict on a row."""
    if entry["verdict"]:
        return f"**{DIFFERS}**" if entry["verdict"] == DIFFERS else entry["verdict"]
    return f"{entry['claim']}: {'reached' if entry['reached'] else '**missed**'}" \
        if entry["claim"] else ""


def published_rows(rows):
    """The table of the published numbers of a paper, and why those differ that do."""
    order = list(PUBLISHED)
    listed = sorted((entry for entry in rows if entry["published"] is not None),
                    key=lambda entry: order.index(entry["id"]))
    if not listed:
        return ""
    lines = ["\n## Every published number", "| number | published | here | unit | |",
             "|---|---|---|---|---|"]
    lines += [f"| `{entry['id']}` | {number(entry['published'])} | {number(entry['value'])} | "
              f"{entry['unit']} | {word(entry)} |" for entry in listed]
    reasons = {}
    for entry in listed:
        if entry["verdict"] == DIFFERS:
            why = entry["why"] or "no reason was measured"
            reasons.setdefault(why, []).append(f"`{entry['id']}`")
    notes = "".join(f"* {', '.join(names)}: {why}.\n" for why, names in reasons.items())
    return "\n".join(lines) + "\n" + (f"\nWhy they differ:\n\n{notes}" if notes else "")


def counts(rows):
    """How many published numbers have which verdict."""
    return [sum(entry["verdict"] == verdict for entry in rows)
            for verdict in (PASSED, WITHIN_25, DIFFERS, NOT_MEASURED)]


def of_paper(paper, rows):
    """Rows of one paper; ME's are on PA's page."""
    return [entry for entry in rows
            if entry["id"].split("-")[0].replace("me", "pa") == paper]


# The ratios that the papers claim, of their designs and of SC's bursts, as IDs of rows.
GAINS = re.compile(r"re-3/(ours|paper)-SSD-[AB]/randwrite|re-[56]/|pa-(9|10)/|ir-8/|"
                   r"sc-[12]/D64-over-D1/(least|most)")


def claims(rows):
    """How many of the ratios that the papers claim are reached or reproduced, in sentences."""
    gains = [entry for entry in rows
             if GAINS.match(entry["id"]) and entry["published"] and
             entry["verdict"] in (PASSED, WITHIN_25, DIFFERS)]
    ours = [entry for entry in gains if "/paper" not in entry["id"]]
    theirs = [entry for entry in gains if "/paper" in entry["id"]]
    reached = sum(bool(entry["reached"]) for entry in ours)
    near = sum(entry["verdict"] == WITHIN_25 and not entry["reached"] for entry in ours)
    same = sum(entry["verdict"] == WITHIN_25 for entry in theirs)
    return paragraph(f"Of the {len(ours)} ratios that the papers claim {reached} are reached and "
                     f"{near} more are within 25 % (RE's with the options that `ressd-probe` "
                     f"advises); with RE's own rules {same} of its {len(theirs)} are within 25 %. "
                     "Of what a paper claims to gain by its design only what is above 1 is "
                     "judged: 1.00 is no gain, and not within 25 % of 1.20.")


def summary(rows, has_beyond):
    """docs/papers.md."""
    lines = ["| | rows | passed | within 25 % | differ | not measured |",
             "|---|---|---|---|---|---|"]
    for paper, (short, title, _about) in PAPERS.items():
        found = counts(of_paper(paper, rows))
        if sum(found):
            lines.append(f"| [{short}](papers/{paper}.md): *{title}* | {sum(found)} | " +
                         " | ".join(map(str, found)) + " |")
    total = counts(rows)
    lines.append(f"| all | {sum(total)} | " + " | ".join(map(str, total)) + " |")
    text = "\n".join(lines)
    beyond = "\n[Beyond the papers](papers/beyond.md): what each later idea adds to RE's " \
        "target.\n" if has_beyond else ""
    notes = "*Passed*: at least as good, by more than that. What RE says of its design has two " \
            "rows: ours, and by the paper's rules. RE Tables 2, 3 and 5, PA Tables 1 and 3, " \
            "PA's parameters and SC Tables 1 and 2 describe drives, loads and traces, which are " \
            "made to match."
    return f"{LICENSE}{SUMMARY}\n{text}\n\n{paragraph(notes)}\n{claims(rows)}{beyond}"


def rows_of(kept):
    """All rows that are kept, beside what is published today, and one for each other number."""
    rows = [{**entry, **row(entry["id"], entry["value"], why=entry["why"])}
            if entry["id"] in PUBLISHED else entry
            for figure in kept.values() for entry in figure["rows"]]
    return rows + missing_rows(rows)


def page_of(paper, sections, own):
    """The page of one paper."""
    short, title, about = PAPERS[paper]
    text = f"{LICENSE}# {title}\n\n" + paragraph(f"{short}. {about}" if short != paper else about)
    return text + "".join(sections) + published_rows(own)


def write(figures, kept, docs):
    """All pages."""
    rows = rows_of(kept)
    for paper in PAPERS:
        own = of_paper(paper, rows)
        sections = [section(figure, kept[figure.name]) for figure in figures
                    if figure.paper == paper and figure.name in kept]
        if own or sections:
            (docs / f"papers/{paper}.md").write_text(page_of(paper, sections, own))
    (docs / "papers.md").write_text(summary(rows, (docs / "papers/beyond.md").exists()))


def table_of_rows(rows):
    """For the terminal: what has a published number or a claim."""
    lines = []
    for entry in rows:
        if entry["published"] is None and not entry["claim"]:
            continue
        published = f"published {number(entry['published'])}" if entry["verdict"] else ""
        lines.append(f"{entry['id']:<56} {number(entry['value']):>9} {entry['unit']:<8} "
                     f"{published:<16} {word(entry).replace('*', '')}")
    return "\n".join(lines)
