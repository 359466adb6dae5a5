#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The experiments of the papers on the emulated drives, each result beside the published one.

Every figure consists of runs: guests, or programs. A run that has ended well is not repeated, until
its script, its input or its options change: so an interrupted `make papers` goes on where it was.
Writes build/results/papers.json, a row for each published number and for what else was measured;
docs/papers.md, which says how many were reached; and docs/papers with a page for each paper.
"""

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from datetime import date
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("papers", "bench", "demo")]
sys.path.insert(1, str(HERE.parent))
import beyond  # noqa: E402
import kept as keeping  # noqa: E402
import pa_ir  # noqa: E402
import page  # noqa: E402
import parameters  # noqa: E402
import re_bandwidth  # noqa: E402
import re_memory  # noqa: E402
import re_oltp  # noqa: E402
import re_postmark  # noqa: E402
import results as result_files  # noqa: E402
import sc  # noqa: E402
import sc_real  # noqa: E402
from guests import PROJECT, GuestError, clock, fail  # noqa: E402
from runs import GuestRun  # noqa: E402

FOLDER = PROJECT / "build/papers"
RESULT = PROJECT / "build/results/papers.json"
DOCS = PROJECT / "docs"
# Sources of what a guest measures.
MODULES = ["dm-ressd", "tests/ssdsim"]
FIGURES = {figure.name: figure
           for figure in (*re_bandwidth.FIGURES, *parameters.RE_FIGURES, *re_memory.FIGURES,
                          *re_postmark.FIGURES, *re_oltp.FIGURES, *parameters.FIGURES,
                          *pa_ir.PA_FIGURES, *pa_ir.IR_FIGURES, *sc.FIGURES,
                          *beyond.FIGURES)}


def is_done(run):
    """Whether the run has ended well with these settings."""
    try:
        return (run.folder(FOLDER) / "settings").read_text() == run.settings()
    except FileNotFoundError:
        return False


def measure(run):
    """One run; its folder gets the settings and the commit, with the day, last."""
    folder = run.folder(FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run.measure(FOLDER)
    (folder / "commit").write_text(f"{result_files.commit()} {date.today()}\n")
    (folder / "settings").write_text(run.settings())


def runs_of(names):
    """The runs of these figures, each once."""
    runs = {}
    for name in names:
        runs.update({run.name: run for run in FIGURES[name].runs()})
    return list(runs.values())


def missing_runs(names, kept):
    """Runs of these figures that the pages have nothing of, each behind what it needs."""
    runs = {}
    for name in names:
        there = kept.get(name, {"runs": ()})["runs"]
        for run in FIGURES[name].runs():
            if run.name not in there:
                runs.update({needed.name: needed for needed in (*run.needs(), run)})
    return list(runs.values())


def measure_all(runs):
    """What is left of the runs, and how long that may take."""
    left = [run for run in runs if not is_done(run)]
    print(f"{len(runs) - len(left)} of {len(runs)} runs are there already", flush=True)
    for run in left:
        if not run.is_possible():
            print(f"{run.name} is left out: it needs a trace, see --traces")
    left = [run for run in left if run.is_possible()]
    started = time.monotonic()
    for number, run in enumerate(left):
        seconds = sum(later.seconds for later in left[number:])
        if number:
            seconds *= (time.monotonic() - started) / sum(before.seconds
                                                          for before in left[:number])
        print(f"run {number + 1} of {len(left)}, {run.name}; about {clock(seconds)} left",
              flush=True)
        measure(run)


def report():
    """Rows, charts and pages of all figures measured, here or before; returns the rows."""
    kept = keeping.update(FIGURES.values(), FOLDER, DOCS)
    if not kept:
        raise GuestError("nothing was measured yet: run make papers")
    rows = page.rows_of(kept)
    commits = {name: keeping.commits(figure) for name, figure in kept.items()}
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps({"target": "papers", "commits": commits, "rows": rows}, indent=1)
                      + "\n")
    page.write(FIGURES.values(), kept, DOCS)
    return rows


@functools.cache
def has_other_module(commit):
    """Whether the modules' sources differ from those of a commit as run.commit() has it."""
    name = (commit or "").partition(" ")[0]
    if not name or name.endswith("-dirty"):
        return True
    return subprocess.run(["git", "-C", PROJECT, "diff", "--quiet", name, "--", *MODULES],
                          stderr=subprocess.DEVNULL, check=False).returncode != 0


def stale_runs(figure, kept):
    """Name -> commit of its guests that had another module than today's, or an unknown one."""
    there = kept.get(figure.name, {"runs": {}})["runs"]
    commits = {run.name: run.commit(FOLDER) if run.is_there(FOLDER) else there[run.name]
               for run in figure.runs()
               if isinstance(run, GuestRun) and (run.name in there or run.is_there(FOLDER))}
    return {name: commit for name, commit in commits.items() if has_other_module(commit)}


def show_stale(figure, kept):
    """Those of a figure, by commit; they are not repeated unless --again says so."""
    by_commit = {}
    for name, commit in stale_runs(figure, kept).items():
        by_commit.setdefault(commit or "a commit that was not noted", []).append(name)
    for commit, names in by_commit.items():
        is_all = len(names) == sum(isinstance(run, GuestRun) for run in figure.runs())
        print(textwrap.fill(f"stale, with the module of {commit}: "
                            f"{'all' if is_all else ', '.join(names)}", 100,
                            initial_indent="    ", subsequent_indent="        ",
                            break_on_hyphens=False))


def show_list():
    """Each figure, how many of its runs are there, and which were made with another module."""
    kept = keeping.load(DOCS)
    for figure in FIGURES.values():
        runs = figure.runs()
        done = sum(map(is_done, runs))
        seconds = sum(run.seconds for run in runs if not is_done(run))
        print(f"{figure.name:<14} {done:>3} of {len(runs):>3} runs done, about {clock(seconds):>6} "
              f"left  {figure.title}")
        show_stale(figure, kept)


def figures_of(text):
    """The figure of that name, or all whose names begin with it: re-5 is re-5-a, -b and -c."""
    found = [name for name in FIGURES if name == text] or \
        [name for name in FIGURES if name.startswith(f"{text}-")]
    if not found:
        raise argparse.ArgumentTypeError(f"there is no figure '{text}' (see --list)")
    return found


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(prog="tools/papers.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", action="extend", type=figures_of, metavar="ID",
                        help="only this one, or all that begin with it, as re-5 or pa; may be "
                             "repeated: " + ", ".join(FIGURES))
    parser.add_argument("--list", action="store_true",
                        help="what is measured, what is left, and what had another module")
    parser.add_argument("--missing", action="store_true",
                        help="only runs of which docs/papers has nothing yet, and what they need")
    parser.add_argument("--again", action="store_true",
                        help="measure the chosen figures anew, also what is there")
    parser.add_argument("--traces", metavar="FOLDER",
                        help="real traces, for sc-real (default: $RESSD_TRACES): " +
                             ", ".join(f"{name}.trace" for name in sc_real.UNITS))
    parser.add_argument("--report-only", action="store_true",
                        help="no run: results and page of what is there, here and in "
                             "docs/papers/figures.json")
    return parser.parse_args()


def main():
    """Run, write, print; see the top."""
    options = parse()
    if options.traces:
        os.environ[sc_real.FOLDER] = options.traces
    if options.list:
        show_list()
        return 0
    try:
        names = options.figure or FIGURES
        runs = missing_runs(names, keeping.load(DOCS)) if options.missing else runs_of(names)
        for run in runs if options.again else ():
            shutil.rmtree(run.folder(FOLDER), ignore_errors=True)
        if not options.report_only:
            measure_all(runs)
        rows = report()
    except GuestError as error:
        return fail("papers", error)
    print(page.table_of_rows(rows))
    print(f"\nfigures  {RESULT}\npages    {DOCS / 'papers.md'}, {DOCS / 'papers'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
