#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Speed on every drive, costs of the target, effect of its options: build/results/bench.json.

Drives: the loads of docs/performance.md on every emulated drive, bare beside ressd. Peers: some of
them beside the kernel's other write caches, with a chart (build/bench/peers.png). Postmark: the
mail server load of the paper on the low-end drives. Overhead: instructions that a 4 KB read or
write needs in the target beside dm-linear, on a disk that does nothing; its memory; how often its
lock is waited for. Options: small random writes on the emulated Samsung drive under the options
that decide how writers and mover share it. Exits with 1 if a bar is missed.

Kernel (--only kernel): how long the lock is held, what a transfer costs beside dm-linear, and what
several threads make of as many processors; rows of its own, build/results/kernel.json.

Normal path (--only normal-path): requests that do not go to the log, cut and ordered, beside the
kernel's schedulers; rows of its own, build/results/bench-normal-path.json.

Apps (--only apps): programs on file systems, with rows of their own, build/results/bench-apps.json.
"""

import argparse
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "demo"), str(HERE.parent)]
import app_inputs  # noqa: E402
import apps  # noqa: E402
import drives  # noqa: E402
import fast_device  # noqa: E402
import normal_path  # noqa: E402
import overhead  # noqa: E402
import peers  # noqa: E402
import postmark  # noqa: E402
import results as result_files  # noqa: E402
from guests import PROJECT, Guest, GuestError, fail, figures, run  # noqa: E402

FOLDER = PROJECT / "build/bench"
TIMEOUT = 7200

PARTS = ["drives", "peers", "postmark", "overhead", "options"]
APPS = "apps"
NORMAL_PATH = "normal-path"
KERNEL = "kernel"

VARIANTS = ["wait-even", "wait-burst", "writethrough", "bypass"]
LOADS = [("4k", "4 KB"), ("8k", "8 KB"), ("sync", "4 KB + fdatasync"),
         ("whole", "4 KB, whole drive")]

# Beside buffered writers, with the kernel's writeback throttling or without.
COMMITS = ["throttled", "unthrottled", "throttled-bare", "unthrottled-bare"]

# Name, arguments, steps with the seconds that they took on an idle machine.
OPTION_GUESTS = [
    ("options", ["others"], {"start": 8, "bare": 45, "bypass": 50}),
    ("waiting", ["waiting"],
     {"start": 8, "wait-even": 25, "wait-burst": 25, "writethrough": 60}),
    ("throttling", ["throttling"], {"start": 8, **dict.fromkeys(COMMITS, 50)}),
]


def fresh_run(guests):
    """Run guests side by side, without figures of the run before."""
    for guest in guests:
        shutil.rmtree(guest.results, ignore_errors=True)
    run(guests, TIMEOUT)


def all_costs(parts, report_only):
    """Rows of what the target costs, and of its lock."""
    rows = []
    for guest, rows_of, describe in parts:
        if not report_only:
            fresh_run([guest])
        found = figures(guest.results)
        describe(found)
        rows += rows_of(found)
    return rows


def all_options(report_only):
    """Rows of the options: all guests at a time."""
    guests = [Guest(name, HERE / "guest-options.sh", arguments, steps, FOLDER / name)
              for name, arguments, steps in OPTION_GUESTS]
    if not report_only:
        fresh_run(guests)
    found = {}
    for guest in guests:
        found.update(figures(guest.results))
    describe_options(found)
    return option_rows(found)


def all_drives(options):
    """Rows of the drives, one guest after the other."""
    rows = []
    for profile in options.profile or drives.PROFILES + drives.TODAY:
        if not options.report_only:
            fresh_run([drives.guest(profile, FOLDER, options.load, options.options)])
        drive = drives.Drive(profile, FOLDER)
        drives.describe(drive)
        rows += drives.rows_of(drive)
    return rows


def all_peers(options):
    """Rows of the peers, one guest for each drive after the other; writes the chart."""
    compared = []
    for profile in options.profile or drives.PROFILES:
        sides = options.side or peers.SIDES
        for side in sides if not options.report_only else ():
            fresh_run([peers.guest(profile, side, FOLDER, options.load, options.options)])
        compared.append(peers.Comparison(profile, FOLDER))
        peers.describe(compared[-1])
    show_chart(peers.chart(compared, "randwrite-4k", FOLDER / "peers.png"))
    return [row for drive in compared for row in peers.rows_of(drive)]


def show_chart(path):
    """Say where a chart is, if there is one."""
    if path:
        print(f"\nchart    {path}")


def all_postmark(options):
    """Rows of Postmark, one guest for each drive after the other."""
    rows = []
    setting = postmark.Setting(options.scale,
                               tuple(options.configuration or postmark.RESERVED))
    for profile in options.profile or postmark.PROFILES:
        if not options.report_only:
            fresh_run([postmark.guest(profile, FOLDER, options.options, setting)])
        drive = postmark.Drive(profile, FOLDER, setting)
        postmark.describe(drive)
        rows += postmark.rows_of(drive)
    return rows


def all_normal_path(options):
    """Rows of the normal path, one guest for each load on each drive after the other."""
    compared = []
    for profile in options.profile or normal_path.PROFILES + normal_path.OTHERS:
        loads = options.load or normal_path.loads_of(profile)
        for load in loads if not options.report_only else ():
            fresh_run([normal_path.guest(profile, load, FOLDER, options.side,
                                         options.seeds)])
        compared.append(normal_path.measured(profile, FOLDER, options.load))
        for load in compared[-1]:
            normal_path.describe(load)
    show_chart(normal_path.chart(compared, FOLDER / "normal-path.png"))
    return normal_path.rows_of(compared)


def run_app(options, profile, load, setting, advice):
    """One load on one drive; returns the options of the table line, advised by the first guest."""
    sides = apps.sides_of(load, options.side or apps.USUAL_SIDES)
    if options.record_traces:
        sides = [apps.RECORD]
    if not sides:
        return advice
    asks = bool(set(sides) & set(apps.PROBED))
    folder = options.folder / "bench"
    fresh_run([apps.guest(profile, load, sides, advice if asks else "none", setting, folder)])
    if options.requests:
        apps.describe_requests(profile, load, sides, folder)
    if options.record_traces:
        print(f"trace    {apps.write_trace(profile, load, folder, options.folder / 'traces')}")
    else:
        apps.merge(profile, load, folder)
    return apps.advised(profile, load, folder) if asks else advice


def all_apps(options):
    """Rows of the applications, one guest for each load on each drive after the other."""
    setting = {**app_inputs.sizes(options.size or ()),
               **({"REQUESTS": "yes"} if options.requests else {})}
    folder, measured = options.folder / "bench", []
    for profile in options.profile or drives.PROFILES:
        advice = options.options or drives.OPTIONS
        for load in options.load or apps.LOADS:
            if not options.report_only:
                advice = run_app(options, profile, load, setting, advice)
            if not options.record_traces and apps.is_measured(profile, load, folder):
                measured.append(apps.Load(profile, load, folder))
                apps.describe(measured[-1])
    show_chart(apps.chart(measured, folder / "apps.png"))
    return [row for load in measured for row in apps.rows_of(load)] + apps.mean_rows(measured)


def speed(found, key):
    """MB/s."""
    return found[f"{key}.bytes"] / found[f"{key}.ms"] / 1e3


def option_rows(found):
    """Ratios and longest waits of each variant."""
    rows = []
    for load, _ in LOADS:
        bare = speed(found, f"bare-{load}")
        rows.append(result_files.row(f"randwrite-{load}/samsung/bare", round(bare, 4), "MB/s"))
        for variant in VARIANTS:
            key = f"{variant}-{load}"
            bar = ">=2.0" if (variant, load) == ("wait-even", "4k") else None
            rows.append(result_files.row(f"randwrite-{load}-{variant}/samsung/ratio",
                                         round(speed(found, key) / bare, 4), "x", bar))
            rows.append(result_files.row(f"randwrite-{load}-{variant}/samsung/longest",
                                         round(found[f"{key}.max_ns"] / 1e6, 3), "ms"))
    for side, bar in (("", ">=0.8"), ("-bare", None)):
        rows.append(result_files.row(
            f"commits-beside-writers/samsung/throttled{side}",
            round(found[f"unthrottled{side}.ms"] / found[f"throttled{side}.ms"], 4), "x", bar))
    return rows


def describe_options(found):
    """Table of the options."""
    print(f"\n{'random writes, MB/s (longest)':<30}" +
          "".join(f"{name:>24}" for _, name in LOADS))
    for variant in ["bare", *VARIANTS]:
        cells = "".join(
            f"{speed(found, f'{variant}-{load}'):>12.2f} "
            f"({found[f'{variant}-{load}.max_ns'] / 1e6:>6.0f} ms)" for load, _ in LOADS)
        print(f"{variant:<30}{cells}")
    print("commits beside buffered writers, s: " +
          ", ".join(f"{name} {found[f'{name}.ms'] / 1000:.2f}"
                    for name in COMMITS))


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(prog="tools/bench.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="all",
                        choices=["all", *PARTS, KERNEL, NORMAL_PATH, APPS],
                        help="one part; bench.json then holds only its rows")
    parser.add_argument("--profile", action="append",
                        choices=drives.PROFILES + drives.TODAY,
                        help="only this drive; may be repeated")
    parser.add_argument("--load", action="append",
                        choices=sorted({*drives.LOADS, *drives.PATTERNS, *peers.LOADS,
                                        *apps.LOADS, *apps.OTHERS, *normal_path.LOADS}),
                        help="only this load on the drives; may be repeated")
    parser.add_argument("--side", action="append",
                        choices=list(dict.fromkeys([*peers.SIDES, *apps.SIDES,
                                               *normal_path.SIDES])),
                        help="only this one of the peers, or of the sides of apps, anew; may be "
                             "repeated")
    parser.add_argument("--configuration", action="append", choices=list(postmark.RESERVED),
                        help="only this one of Postmark; may be repeated")
    parser.add_argument("--scale", type=int, default=postmark.USUAL_SCALE, choices=postmark.SCALES,
                        help="Postmark with everything 1/SCALE of the paper's size (default 16)")
    parser.add_argument("--options", metavar="WORDS",
                        help="options of the table line in one word: 'probe pace burst' beside "
                             "those that ressd-probe advises, 'pace burst' instead of them")
    parser.add_argument("--size", action="append", metavar="KEY=VALUE",
                        help="apps: another size or seed than in apps.conf; may be repeated")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), metavar="N",
                        help="normal-path: N runs of each side, with another seed each")
    parser.add_argument("--record-traces", action="store_true",
                        help="apps: only record the bios of each load on the bare drive, into "
                             "build/traces")
    parser.add_argument("--requests", action="store_true",
                        help="apps: print what reaches the drive on each side, and how long it "
                             "takes")
    parser.add_argument("--folder", type=Path, default=PROJECT / "build",
                        help="apps: where figures, results and traces go (default: build)")
    parser.add_argument("--report-only", action="store_true",
                        help="no run: tables and results of the run before")
    options = parser.parse_args()
    part_of(parser, options)
    return options


def part_of(parser, options):
    """The part that is meant, where other options say which."""
    if options.only == APPS or options.size or options.record_traces or options.requests:
        options.only = APPS
        check_choice(parser, options.load, {**apps.LOADS, **apps.OTHERS}, "load of apps")
        check_choice(parser, options.side, apps.SIDES, "side of apps")
        if options.requests and options.record_traces:
            parser.error("--requests and --record-traces both take the kernel's trace: give one")
        if options.requests and "oltp" in (options.load or apps.LOADS):
            parser.error("--requests: in oltp the kernel's trace is taken, for the mover's writes: "
                         "name other loads with --load")
        return
    if options.seeds and options.only != NORMAL_PATH:
        parser.error("--seeds: give --only normal-path")
    if options.only == NORMAL_PATH:
        check_choice(parser, options.load, normal_path.LOADS, "load of the normal path")
        check_choice(parser, options.profile, normal_path.PROFILES + normal_path.OTHERS,
                     "drive of the normal path")
        return
    check_choice(parser, options.load, {*drives.LOADS, *drives.PATTERNS, *peers.LOADS},
                 "load of drives and peers: give --only apps")
    check_choice(parser, options.side, peers.SIDES, "peer: give --only apps")
    if options.side:
        options.only = "peers"
    if options.configuration or options.scale != postmark.USUAL_SCALE:
        options.only = "postmark"
    if options.only == "all" and (options.profile or options.load or options.options):
        options.only = "drives"


def check_choice(parser, chosen, known, what):
    """End with a sentence if one of the chosen is not known to the part."""
    for name in chosen or ():
        if name not in known:
            parser.error(f"{name} is no {what} ({', '.join(sorted(known))})")


def main():
    """Run, print, write; see the top."""
    options = parse()
    rows = []
    try:
        if options.only in ("all", "drives"):
            rows += all_drives(options)
        if options.only in ("all", "peers"):
            rows += all_peers(options)
        if options.only in ("all", "postmark"):
            rows += all_postmark(options)
        if options.only in ("all", "overhead"):
            rows += all_costs(overhead.parts(FOLDER), options.report_only)
        if options.only in ("all", "options"):
            rows += all_options(options.report_only)
        if options.only == KERNEL:
            rows += fast_device.lock_rows(FOLDER)
            rows += all_costs(fast_device.parts(FOLDER), options.report_only)
        if options.only == NORMAL_PATH:
            rows += all_normal_path(options)
        if options.only == APPS:
            rows += all_apps(options)
            if options.record_traces:
                return 0
        names = {APPS: "bench-apps", NORMAL_PATH: "bench-normal-path", KERNEL: "kernel"}
        name = names.get(options.only, "bench")
        path = result_files.write(name, rows, options.folder / "results")
    except (GuestError, app_inputs.InputError, result_files.ResultError) as error:
        return fail("bench", error)
    except KeyError as error:
        return fail("bench", f"the figure {error} is missing in {FOLDER}")
    print("\n" + result_files.table([row for row in rows if row["bar"]]))
    print(f"\nfigures  {path}")
    return 0 if result_files.all_ok(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
