#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Let ressd-probe loose on emulated drives and add up what it says: make probe-score.

Runs build/bin/probe-score on the profiles of tests/ssdsim and on drives drawn from a seed, prints a
table and the rows wrong/named/count, wrong/random/percent, correct/random/percent,
time/worst/seconds, and time/quick/seconds for --quick on the same drives. With --guest, ressd-probe
itself also runs on all of them as block devices of the benchmark VM, and what it says is judged in
the same way. Exit code 1 when more is wrong, or less is right, than issue 6 allows, or a drive of
the guest has no result.
"""
import argparse
import collections
import concurrent.futures
import subprocess
import sys

sys.dont_write_bytecode = True

import probe_answer  # noqa: E402
import probe_guest  # noqa: E402
import results  # noqa: E402

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


def survey_guest(jobs, drives, judge):
    """ressd-probe in the benchmark VM on these drives.

    Returns the rows of the judgements by @judge, which makes a call of a drive's name, and what
    failed.
    """
    survey = probe_guest.Survey(drives)
    survey.run(jobs)
    calls = [
        [*judge(name), str(survey.path(name)), survey.seconds(name)] for name in survey.names()
    ]
    return collect(1, calls), survey.failures


class Guest:
    """What came of the guests: the profiles, the drawn drives, and failures."""

    def __init__(self, options):
        self.named = self.drawn = Score([])
        self.failures = []
        if options.guest is None:
            return
        lines = run(["--list-named", PROFILES, *options.guest])
        rows, self.failures = survey_guest(
            options.jobs, lines, lambda name: ["--judge-named", PROFILES, name]
        )
        self.named = Score(rows)
        if options.guest:
            return
        lines = run(["--list-random", options.seed, "0", str(options.drives)])
        rows, failures = survey_guest(
            options.jobs,
            lines,
            lambda name: ["--judge-random", options.seed, name.partition("-")[2]],
        )
        self.drawn = Score(rows)
        self.failures += failures


class Score:
    """What came of one kind of drives."""

    def __init__(self, rows):
        self.rows = rows
        self.findings = [row for row in rows if row[1] in TITLES]
        self.times = [row for row in rows if row[1] == "time"]
        self.seconds = [float(row[2]) for row in self.times]
        self.megabytes = [float(row[3]) for row in self.times]
        # Drive -> logged blocks from which on a clustered block is rewritten whole.
        self.fill = {
            row[0]: int(row[3]) for row in rows if row[1:3] == ["advice", "move_fill_blocks"]
        }

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


def print_differences(here, guest, columns):
    """What the guest finds otherwise than the same searches in userspace: the kernel's doing."""
    others = {(row[0], row[1]): row for row in here.findings}
    for row in guest.findings:
        other = others[row[0], row[1]]
        if row[columns] != other[columns]:
            print(
                f"differs: {row[0]} {row[1]}: {row[2]} {row[3]} {row[4]} in the guest, "
                f"{other[2]} {other[3]} {other[4]} in userspace"
            )


def print_drawn_rows(where, drawn):
    """The two rows of drawn drives; True if both are good enough."""
    high = drawn.count(confidence="high")
    wrong = percent(drawn.count(outcome="WRONG", confidence="high"), high)
    right = percent(drawn.count(outcome="correct", shows="shows"), drawn.count(shows="shows"))
    print(f"# result wrong/{where}/percent {wrong:.2f} % 1")
    print(f"# result correct/{where}/percent {right:.1f} % 95")
    return wrong <= 1 and right >= 95


def print_rows(named, drawn, quick, guest):
    """The rows of issue 6; True if all are good enough.  Named drives count in both places."""
    worst = max(named.seconds + drawn.seconds + guest.named.seconds + guest.drawn.seconds)
    wrong_named = named.count(outcome="WRONG") + guest.named.count(outcome="WRONG")
    print()
    print(f"# result wrong/named/count {wrong_named} findings 0")
    good = print_drawn_rows("random", drawn)
    if guest.drawn.drives():
        good = print_drawn_rows("random-in-guest", guest.drawn) and good
    print(f"# result time/worst/seconds {worst:.0f} s 300")
    print(f"# result time/quick/seconds {max(quick.seconds, default=0):.0f} s 75")
    print(f"bytes written, most: {max(named.megabytes + drawn.megabytes):.0f} MB")
    return good and wrong_named == 0 and worst <= 300 and max(quick.seconds, default=0) <= 75


def print_guest(named, drawn, guest):
    """The tables of the guests, and how they differ from userspace."""
    if guest.named.drives():
        print_table("The same profiles as block devices of the benchmark VM", guest.named)
        for row in guest.named.times:
            print(f"{row[0]}: {float(row[2]):.0f} s")
        print_differences(named, guest.named, slice(2, 5))
        print_wrong(guest.named)
    if guest.drawn.drives():
        print_table("The drawn drives as block devices of the benchmark VM", guest.drawn)
        print_differences(drawn, guest.drawn, slice(2, 3))
        print_wrong(guest.drawn)
    for failure in guest.failures:
        print("failed in the guest:", failure)


def verdict(good, what):
    """A line for tools/check.sh."""
    print(f"{'ok' if good else 'not ok'} - probe-score: {what}")
    return good


def fills_well(named):
    """Is whole clustered blocks' rewriting advised where it is faster, and only there?

    By build/bin/mover-model, at the visits that a reserved area of an eighth leads to: some 250
    blocks on the first two drives, 64 to 130 on the others. Found on the Transcend profile, for
    which nothing was advised: a third of the speed.
    """
    fill = named.fill
    faster = [0 < fill.get(drive, 0) <= 200 for drive in ("supertalent", "transcend")]
    slower = [not 0 < fill.get(drive, 1) < 150 for drive in ("samsung", "sdcard")]
    return all(faster + slower)


def check(named, drawn, quick):
    """The test of make check: few drives, so only what must never happen."""
    wrong = drawn.count(outcome="WRONG", confidence="high")
    results = [
        verdict(named.drives() == 13, "every profile was surveyed"),
        verdict(not named.count(outcome="WRONG"), "nothing is wrong on the named profiles"),
        verdict(
            named.count("clustered-page", "correct", "high") >= 5,
            "the pages that show are found with high confidence",
        ),
        verdict(
            named.count("clustered-block", "correct", shows="shows") == 7,
            "all blocks that show are found",
        ),
        verdict(fills_well(named), "whole blocks are to be rewritten where that is faster"),
        verdict(not wrong, "nothing is wrong at high confidence on drawn drives"),
        verdict(
            not quick.count(outcome="WRONG", confidence="high"),
            "nor in a quick run",
        ),
        verdict(max(quick.seconds, default=0) <= 75,
                "a quick run takes about a minute of device time"),
    ]
    return all(results)


def print_answers(options, named, drawn, quick):
    """The verdicts and gains beside those of the target; the rows, also in probe-score.json."""
    lines = run(["--list-named", PROFILES])
    probe_answer.Answers(named, lines, options.jobs).print_each()
    lines = run(["--list-random", options.seed, "0", str(options.drives)])
    answers = probe_answer.Answers(drawn, lines, options.jobs)
    answers.print_table(f"Verdicts on drives drawn from seed {options.seed}")
    rows = [results.row(name, round(value, 3), unit, bar)
            for name, value, unit, bar in answers.rows(verdicts(quick))]
    results.write("probe-score", rows)
    print()
    print(results.table(rows))
    return all(row["ok"] for row in rows) and not answers.failures


def verdicts(score):
    """Drive -> verdict."""
    return {row[0]: row[2] for row in score.rows if row[1] == "verdict"}


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--drives", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="ok and not ok lines only")
    parser.add_argument("--guest", nargs="*", metavar="PROFILE",
                        help="also in the benchmark VM: these profiles, or all of them and all "
                             "drawn drives")
    parser.add_argument("--answers", action="store_true",
                        help="only the verdicts and gains, beside those of the target's model")
    options = parser.parse_args()
    named = Score(collect(options.jobs, [["--named", PROFILES]]))
    chunks = [
        ["--random", options.seed, str(first), str(min(CHUNK, options.drives - first))]
        for first in range(0, options.drives, CHUNK)
    ]
    drawn = Score(collect(options.jobs, chunks))
    quick = Score(collect(options.jobs, [["--quick", *chunk] for chunk in chunks]))
    if options.check:
        sys.exit(0 if check(named, drawn, quick) else 1)
    if options.answers:
        sys.exit(0 if print_answers(options, named, drawn, quick) else 1)
    print_table("Profiles of tests/ssdsim", named)
    print_table(f"Drawn from seed {options.seed}", drawn)
    totals = collections.Counter(row[2] for row in drawn.findings)
    print(f"\nall findings on drawn drives: {dict(totals)}")
    print_wrong(named)
    print_wrong(drawn)
    guest = Guest(options)
    print_guest(named, drawn, guest)
    good = print_rows(named, drawn, quick, guest) and not guest.failures
    good = print_answers(options, named, drawn, quick) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
