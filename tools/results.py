#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the project in one format: build/results/<target>.json.

    {"target": "demo", "commit": "1a2b3c4d5e6f", "rows": [
     {"id": "randwrite-4k/samsung/ratio", "value": 2.4, "unit": "x", "bar": ">=2.0", "ok": true}]}

An id is <load>/<profile>/<metric>. A bar is what the value must reach: ">=2.0", "<=1", ">0", "<5",
"==0", or null where a figure is only told. "ok" is null without a bar. "commit" ends in "-dirty"
when tracked files differ from the commit, and is null outside of a git work tree.

As a program:  results.py write TARGET < ROWS   each row a line "id value unit [bar]", bar "-" for
none; empty lines and lines that start with # are skipped. Writes the file, prints a table, and
exits with 1 if a row does not reach its bar, with 2 if the input is wrong.
               results.py show TARGET           print the table of a file written before
"""

import argparse
import json
import math
import operator
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
FOLDER = PROJECT / "build/results"

COMPARISONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq,
               ">": operator.gt, "<": operator.lt}
ID = re.compile(r"[A-Za-z0-9_.+-]+(/[A-Za-z0-9_.+-]+){2}")
BAR = re.compile(r"(>=|<=|==|>|<)(\S+)")
TARGET = re.compile(r"[a-z0-9][a-z0-9-]*")


class ResultError(ValueError):
    """A figure, bar or target that the format does not allow; the message is a sentence."""


def number(text, what):
    """A finite number from text or number; an int stays one."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise ResultError(f"the {what} '{text}' is not a finite number")
    if isinstance(text, str) and re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return text if isinstance(text, int | float) else value


def meets(value, bar):
    """Whether `value` reaches `bar`; None without a bar."""
    if bar is None:
        return None
    found = BAR.fullmatch(bar)
    if not found:
        raise ResultError(f"the bar '{bar}' is not a comparison such as >=2.0, <=1 or ==0")
    return COMPARISONS[found[1]](value, number(found[2], "bar"))


def row(identity, value, unit, bar=None):
    """One checked row. `bar` is text such as ">=2.0"; None, "" and "-" mean none."""
    if not ID.fullmatch(identity):
        raise ResultError(f"the id '{identity}' is not <load>/<profile>/<metric>")
    if not unit or re.search(r"\s", unit):
        raise ResultError(f"the unit '{unit}' of {identity} is not one word (1 for a plain count)")
    bar = None if bar in (None, "", "-") else bar
    value = number(value, f"value of {identity}")
    return {"id": identity, "value": value, "unit": unit, "bar": bar, "ok": meets(value, bar)}


def parse(lines):
    """Rows from lines "id value unit [bar]"."""
    rows = []
    for place, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) not in (3, 4):
            raise ResultError(f"line {place} is not 'id value unit [bar]': {line.strip()}")
        rows.append(row(*words))
    return rows


def commit():
    """Name of the measured commit, None outside of a work tree."""
    def git(*arguments):
        return subprocess.run(["git", "-C", PROJECT, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
    try:
        head = git("rev-parse", "--short=12", "HEAD")
        if head.returncode:
            return None
        changed = git("status", "--porcelain", "--untracked-files=no").stdout.strip()
    except FileNotFoundError:
        return None
    return head.stdout.strip() + ("-dirty" if changed else "")


def all_ok(rows):
    """Whether every row with a bar reaches it."""
    return all(entry["ok"] is not False for entry in rows)


def path_of(target, folder=FOLDER):
    """File of a target's results."""
    if not TARGET.fullmatch(target):
        raise ResultError(f"the target '{target}' is not a word of a-z, 0-9 and -")
    return Path(folder) / f"{target}.json"


def write(target, rows, folder=FOLDER):
    """Write the results of `target`, replacing older ones whole; returns the file's path."""
    path = path_of(target, folder)
    if not rows:
        raise ResultError(f"there are no rows for {target}: a run without figures is a failed one")
    names = [entry["id"] for entry in rows]
    for name in names:
        if names.count(name) > 1:
            raise ResultError(f"the id '{name}' appears more than once")
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"target": target, "commit": commit(), "rows": rows}
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as out:
        json.dump(content, out, indent=1)
        out.write("\n")
    os.chmod(out.name, 0o644)
    os.replace(out.name, path)
    return path


def read(target, folder=FOLDER):
    """The results of `target` as written."""
    path = path_of(target, folder)
    try:
        return json.loads(path.read_text())
    except FileNotFoundError as error:
        raise ResultError(f"there is no {path}: run make {target}") from error


def show(value):
    """A number for people: four significant digits, whole when large."""
    if isinstance(value, int) or abs(value) >= 10000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def table(rows):
    """The rows as aligned text."""
    words = {None: "", True: "ok", False: "MISSED"}
    cells = [("figure", "value", "unit", "bar", "")]
    cells += [(entry["id"], show(entry["value"]), entry["unit"], entry["bar"] or "",
               words[entry["ok"]]) for entry in rows]
    width = [max(len(line[column]) for line in cells) for column in range(5)]
    return "\n".join(
        f"{a:<{width[0]}}  {b:>{width[1]}}  {c:<{width[2]}}  {d:<{width[3]}}  {e}".rstrip()
        for a, b, c, d, e in cells)


def main():
    """Command line, see the top."""
    parser = argparse.ArgumentParser(prog="results.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER,
                        help="where the files are (default: build/results)")
    parser.add_argument("action", choices=["write", "show"])
    parser.add_argument("target", help="name of the make target that measured")
    options = parser.parse_args()
    try:
        if options.action == "write":
            rows = parse(sys.stdin)
            write(options.target, rows, options.folder)
        else:
            rows = read(options.target, options.folder)["rows"]
    except ResultError as error:
        print(f"results: {error}", file=sys.stderr)
        return 2
    print(table(rows))
    return 0 if all_ok(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
