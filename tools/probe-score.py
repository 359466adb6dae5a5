#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Let ressd-probe loose on emulated drives and add up what it says: make probe-score.

Runs build/bin/probe-score on the profiles of tests/ssdsim and on drives drawn from a seed, prints a
table and the rows wrong/named/count, wrong/random/percent, correct/random/percent and
time/worst/seconds. Exit code 1 when more is wrong, or less is right, than issue 6 allows.
"""
import argparse
import collections
import concurrent.futures
import subprocess
import sys

PROGRAM = "build/bin/probe-score"
PROFILES = "tests/ssdsim/profiles"
CHUNK = 10  # drives that one process looks at
TITLES = [
    "flush-honoured",
    "clustered-page",
    "clustered-block",
    "nand-modes",
    "read-buffer",
    "write-buffer",
    "prefetch",
    "buffer-policy",
    "open-units",
    "pseudo-slc",
]


def run(arguments):
    """One process; its lines."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"probe-score failed: {done.stderr}")
    return done.stdout.splitlines()


def collect(jobs, calls):
    """All lines of all calls, split into words."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [line.split(None, 8) for lines in pool.map(run, calls) for line in lines]


class Score:
    """What came of one kind of drives."""

    def __init__(self, rows):
        self.findings = [row for row in rows if row[1] in TITLES]
        self.seconds = [float(row[2]) for row in rows if row[1] == "time"]
        self.megabytes = [float(row[3]) for row in rows if row[1] == "time"]

    def count(self, parameter=None, outcome=None, confidence=None, shows=None):
        """Findings that match all that is given."""
        return sum(
            (parameter is None or row[1] == parameter)
            and (outcome is None or row[2] == outcome)
            and (confidence is None or row[3] == confidence)
            and (shows is None or row[6] == shows)
            for row in self.findings
        )

    def drives(self):
        """How many drives."""
        return len(self.seconds)


def percent(part, whole):
    """A share, 0 of nothing."""
    return 100.0 * part / whole if whole else 0.0


def print_table(title, score):
    """One line for each parameter."""
    print(f"\n{title}: {score.drives()} drives")
    print("| parameter | shows | found | correct | wrong | wrong at high confidence |")
    print("|---|---|---|---|---|---|")
    for parameter in TITLES:
        shows = score.count(parameter, shows="shows")
        right = score.count(parameter, "correct", shows="shows")
        wrong = score.count(parameter, "WRONG")
        high = score.count(parameter, "WRONG", "high")
        found = shows - score.count(parameter, "not-found", shows="shows")
        share = f"{percent(right, shows):.1f} %" if shows else "-"
        print(
            f"| {parameter} | {shows} | {found} | {share} "
            f"| {wrong} | {high} |"
        )


def print_wrong(score):
    """Every wrong finding, for whoever wants to know why."""
    for row in score.findings:
        if row[2] == "WRONG":
            print("wrong:", " ".join(row))


def print_rows(named, drawn):
    """The rows of issue 6; True if all are good enough."""
    high = drawn.count(confidence="high")
    wrong_share = percent(drawn.count(outcome="WRONG", confidence="high"), high)
    right_share = percent(
        drawn.count(outcome="correct", shows="shows"), drawn.count(shows="shows")
    )
    worst = max(named.seconds + drawn.seconds)
    wrong_named = named.count(outcome="WRONG")
    print()
    print(f"# result wrong/named/count {wrong_named} findings 0")
    print(f"# result wrong/random/percent {wrong_share:.2f} % 1")
    print(f"# result correct/random/percent {right_share:.1f} % 95")
    print(f"# result time/worst/seconds {worst:.0f} s 300")
    print(f"bytes written, most: {max(named.megabytes + drawn.megabytes):.0f} MB")
    return wrong_named == 0 and wrong_share <= 1 and right_share >= 95 and worst <= 300


def verdict(good, what):
    """A line for tools/check.sh."""
    print(f"{'ok' if good else 'not ok'} - probe-score: {what}")
    return good


def check(named, drawn):
    """The test of make check: few drives, so only what must never happen."""
    wrong = drawn.count(outcome="WRONG", confidence="high")
    results = [
        verdict(named.drives() == 7, "every profile was surveyed"),
        verdict(not named.count(outcome="WRONG"), "nothing is wrong on the named profiles"),
        verdict(
            named.count("clustered-page", "correct", "high") >= 5,
            "the pages that show are found with high confidence",
        ),
        verdict(
            named.count("clustered-block", "correct", shows="shows") == 4,
            "all blocks that show are found",
        ),
        verdict(not wrong, "nothing is wrong at high confidence on drawn drives"),
    ]
    return all(results)


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--drives", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="ok and not ok lines only")
    options = parser.parse_args()
    named = Score(collect(options.jobs, [["--named", PROFILES]]))
    chunks = [
        ["--random", options.seed, str(first), str(min(CHUNK, options.drives - first))]
        for first in range(0, options.drives, CHUNK)
    ]
    drawn = Score(collect(options.jobs, chunks))
    if options.check:
        sys.exit(0 if check(named, drawn) else 1)
    print_table("Profiles of tests/ssdsim", named)
    print_table(f"Drawn from seed {options.seed}", drawn)
    totals = collections.Counter(row[2] for row in drawn.findings)
    print(f"\nall findings on drawn drives: {dict(totals)}")
    print_wrong(named)
    print_wrong(drawn)
    sys.exit(0 if print_rows(named, drawn) else 1)


if __name__ == "__main__":
    main()
