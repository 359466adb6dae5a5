#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""coverage.py [STATES]: the branches of dm-ressd/core that neither the unit tests nor the crash
simulator, which tries STATES crash states (2,000,000), takes: a line of source each. Assertions,
which must not come true, are left out, and lines with a comment "No test: why" on them or before.
Exit code 1 if any are left. Called by `make coverage`.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
CORE = PROJECT / "dm-ressd/core"
UNIT = PROJECT / "tests/unit"
MODEL = PROJECT / "tests/model"
FOLDER = PROJECT / "build/coverage"
FLAGS = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-g", f"-I{CORE}/port",
         f"-I{CORE}", f'-DTRACES="{UNIT}/traces"']
# Of a switch, what no case takes; its cases are lines of their own.
ASSERTION = re.compile(r"WARN_ON|^\s*switch \(")
EXCUSE = re.compile(r"No test: ")


def compiled(sources, options):
    """The objects of the sources."""
    objects = []
    for source in sources:
        target = FOLDER / (str(source.relative_to(PROJECT)).replace("/", "-") + ".o")
        subprocess.run([*FLAGS, *options, "-c", "-o", target, source], check=True)
        objects.append(target)
    return objects


def run(name, objects, *arguments):
    """Links and runs a program; what it finds is not of interest here, but it must pass."""
    program = FOLDER / name
    wrap = ["-Wl,--wrap=crc32c"] if name == "model" else []
    subprocess.run(["gcc", "--coverage", *wrap, "-o", program, *objects, "-lm"], check=True)
    with open(FOLDER / f"{name}.log", "w", encoding="utf-8") as log:
        subprocess.run([program, *arguments], stdout=log, check=True)


def untaken(objects):
    """(file, line) of each line with a branch that was not taken."""
    for source in objects:
        text = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities",
                               source.with_suffix(".gcda")],
                              cwd=FOLDER, check=True, capture_output=True).stdout
        for file in json.loads(text)["files"]:
            path = Path(file["file"])
            if path.parent != CORE or path.suffix != ".c":
                continue
            for line in file["lines"]:
                branches = [b for b in line["branches"] if not b["throw"]]
                if any(b["count"] == 0 for b in branches) or line["count"] == 0:
                    yield path, line["line_number"]


def is_excused(lines, number):
    """Is line @number an assertion, or does a comment say why no test takes its statement?"""
    if ASSERTION.search(lines[number - 1]) or "if (WARN_ON" in lines[number - 2]:
        return True
    while number > 1 and not EXCUSE.search(lines[number - 1]):
        number -= 1
        before = lines[number - 1].strip()
        if not before.startswith(("/*", "*")) and before.endswith((";", "{", "}", ":", "*/")):
            return False
    return number > 1


def main():
    """Builds and runs all, and prints the list."""
    states = sys.argv[1] if len(sys.argv) > 1 else "2000000"
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.gcda"):
        old.unlink()
    core = compiled(sorted(CORE.glob("*.c")), ["-O0", "--coverage"])
    rest = [PROJECT / "build/tools/lib.a"]
    harness = compiled([UNIT / "harness.c", UNIT / "logbox.c"], ["-O1"])
    # Not test-unlocked, which looks at each store of a core built for that.
    for test in sorted(set(UNIT.glob("test-*.c")) - {UNIT / "test-unlocked.c"}):
        run(test.stem, [*compiled([test], ["-O1"]), *harness, *core, *rest])
    # A process that ends by _exit() writes down nothing.
    model = compiled(sorted(MODEL.glob("*.c")), ["-O1", "-D_exit=exit"])
    run("model", [*model, *core, *rest], "--states", states)
    for script in sorted([*MODEL.glob("replays/*"), *MODEL.glob("finders/*")]):
        subprocess.run([FOLDER / "model", "--replay", script], check=True, capture_output=True)
    found = 0
    for path, number in untaken(core):
        lines = path.read_text(encoding="utf-8").splitlines()
        if not is_excused(lines, number):
            found += 1
            print(f"{path.relative_to(PROJECT)}:{number}: {lines[number - 1].strip()}")
    verdict = "not ok" if found else "ok"
    print(f"{verdict} - lines of core with branches that no test takes: {found}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
