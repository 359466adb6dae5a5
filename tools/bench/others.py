#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Loads that the suite does not have: times as fast as the bare drive, by the model, in seconds.

    tools/bench/others.py --list
    tools/bench/others.py --profile sdcard --load varmail --load two-64k

A load of other_loads.py is recorded in a guest on one bare drive, the smallest if not told, and
once for each seed and length, into build/traces; a made-up pattern (pattern_trace.py) needs none.
Both are replayed by mover-model on each drive, bare and with what ressd-probe advises, until all is
written back. In a guest instead:

    tools/bench.sh --only apps --load varmail --side bare --side ressd
"""

import argparse
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import app_inputs  # noqa: E402
import other_loads  # noqa: E402
import pattern_trace  # noqa: E402
import replay_mean  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "build/traces"

# Runs over flushes: the options of pattern_trace.py.
PATTERNS = {
    "run-64k": "--kb 64 --run-kb 0 --flush-kb 64 --mb 312",
    "run-128k": "--kb 128 --run-kb 0 --flush-kb 128 --mb 312",
    "run-128k-1m": "--kb 128 --run-kb 0 --flush-kb 1024 --mb 128",
    "run-16k-1m": "--kb 16 --run-kb 0 --flush-kb 1024 --mb 48",
    "run-4k-1m": "--kb 4 --run-kb 0 --flush-kb 1024 --mb 16",
    "append-64k": "--kb 64 --run-kb 0 --flush-kb 64 --journal --mb 96",
    "append-128k": "--kb 128 --run-kb 0 --flush-kb 128 --journal --mb 96",
    "runs8-64k": "--kb 64 --run-kb 8192 --flush-kb 64 --mb 128",
    "runs3-64k": "--kb 64 --run-kb 3072 --flush-kb 64 --mb 128",
    "two-64k": "--kb 64 --run-kb 0 --flush-kb 64 --streams 2 --mb 128",
    "four-64k": "--kb 64 --run-kb 0 --flush-kb 64 --streams 4 --mb 128",
    # They begin anywhere, not with a page of the drive.
    "run-16k-off": "--kb 16 --run-kb 999999 --flush-kb 16 --span 320 --mb 64",
    "two-64k-off": "--kb 64 --run-kb 999999 --flush-kb 64 --span 320 --streams 2 --mb 96",
    "random-4k": "--kb 4 --flush-kb 4 --span 256 --mb 16",
    "random-64k": "--kb 64 --flush-kb 64 --span 256 --mb 64",
}


def trace_of(load, options):
    """Path of the trace; made or recorded if it is not there."""
    if load in PATTERNS:
        path = TRACES / f"{load}-{options.seed}.trace"
        words = [*PATTERNS[load].split(), "--seed", str(options.seed)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(pattern_trace.lines_of(pattern_trace.parse(words))) + "\n")
        return path
    profile = options.recorded_on
    path = TRACES / f"{load}-{profile}-{options.seed}-{options.percent}.trace"
    if not path.exists():
        subprocess.run([ROOT / "tools/bench.sh", "--only", "apps", "--profile", profile, "--load",
                        load, "--size", f"SEED={options.seed}", "--size",
                        f"OTHER_PERCENT={options.percent}", "--record-traces"], check=True,
                       stdout=subprocess.DEVNULL)
        (TRACES / f"{load}-{profile}.trace").rename(path)
    return path


def measure(profile, load, options):
    """One line of the table."""
    trace = trace_of(load, options)
    reserved = app_inputs.sizes()["APPS_RESERVED_MB"] << 10
    words = [*replay_mean.DRIVES[profile][1], f"reserved_kb={reserved}"]
    bare, ours = (replay_mean.seconds(options.model, profile, trace, [*words, side])
                  for side in ("bare=1", "drain=1"))
    if None in (bare, ours):
        return f"{load:<16}{profile:<14}the model does not end"
    return f"{load:<16}{profile:<14}{bare / ours:7.2f}  ({bare:.2f} s, {ours:.2f} s)"


def main():
    """A line for each load on each drive."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="say which loads there are")
    parser.add_argument("--profile", action="append", choices=replay_mean.DRIVES)
    parser.add_argument("--load", action="append", choices=[*other_loads.LOADS, *PATTERNS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--percent", type=int, default=100, help="of the usual length")
    parser.add_argument("--recorded-on", choices=replay_mean.DRIVES, default="sdcard")
    parser.add_argument("--model", type=Path, default=ROOT / "build/bin/mover-model")
    options = parser.parse_args()
    if options.list:
        for name, load in other_loads.LOADS.items():
            print(f"{name:<16}{load.__doc__}")
        for name, words in PATTERNS.items():
            print(f"{name:<16}{words}")
        return
    for load in options.load or [*other_loads.LOADS, *PATTERNS]:
        for profile in options.profile or replay_mean.DRIVES:
            print(measure(profile, load, options), flush=True)


if __name__ == "__main__":
    sys.exit(main())
