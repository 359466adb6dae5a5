#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recorded traces in the mover-model: the mean of five sizes of the reserved area.

A single run is chaotic: one more or less change between units costs a merge. So seconds, and how
many times as fast as the bare drive, are means of five sizes, from that of the benchmark
downwards: the trace has writes up to the end of the normal area that it was recorded with.

    make -C tools/bench/model
    tools/bench.sh --only apps --record-traces --profile samsung --load sqlite-delete
    tools/bench/replay_mean.py samsung build/traces/sqlite-delete-samsung.trace
    tools/bench/replay_mean.py samsung r256.trace open_units=13
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What ressd-probe advises, and the drive's capacity (drives.conf).
FEW = ["small_kb=128", "rewrite=1", "threshold=20"]
DRIVES = {
    "samsung": (32768, ["capacity_mb=3816", "visit=1024", "page=4", "fill=255", "open_units=27",
                        "rewrite=1", "threshold=20", "small_kb=16"]),
    "sdcard": (16384, ["capacity_mb=950", "visit=1024", "page=4", "open_units=2", *FEW]),
    "supertalent": (32768, ["capacity_mb=3580", "visit=4096", "page=32", "fill=130",
                            "open_units=5", *FEW]),
    "sdcard-slow": (16384, ["capacity_mb=950", "visit=1024", "page=4", "open_units=1", *FEW]),
    "usbstick": (32768, ["capacity_mb=3824", "visit=2048", "page=2", "fill=30", "open_units=2",
                         *FEW]),
    "transcend": (32768, ["capacity_mb=3808", "visit=4096", "page=32", "fill=110",
                          "open_units=5", *FEW]),
}
# Of the reserved area of the benchmark; in 64ths.
SIZES = [64, 61, 58, 55, 52]
# A model that runs for longer does not end.
LIMIT = 120


def seconds(model, profile, trace, words):
    """Of one run, everything written back; None: it does not end."""
    command = [model, ROOT / f"tests/ssdsim/profiles/{profile}.conf", *words, f"replay={trace}"]
    try:
        run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    return float(run.stdout.splitlines()[-1].split()[0])


def main():
    """One line for each trace."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=ROOT / "build/bin/mover-model", type=Path)
    parser.add_argument("profile", choices=DRIVES)
    parser.add_argument("words", nargs="+", metavar="TRACE|KEY=VALUE")
    options = parser.parse_args()
    reserved, advised = DRIVES[options.profile]
    words = advised + [word for word in options.words if "=" in word]
    for trace in [word for word in options.words if "=" not in word]:
        bare = seconds(options.model, options.profile, trace,
                       [*words, "bare=1", f"reserved_kb={reserved}"])
        found = [seconds(options.model, options.profile, trace,
                         [*words, "drain=1", f"reserved_kb={reserved * size // 64}"])
                 for size in SIZES]
        if None in [bare, *found]:
            sys.exit(f"{trace}: the model does not end: {bare}, {found}")
        mean = sum(found) / len(found)
        print(f"{Path(trace).stem:<30}bare {bare:8.2f} s  ressd {mean:8.2f} s  {bare / mean:6.3f}  "
              f"({min(found):.2f} to {max(found):.2f})", flush=True)


if __name__ == "__main__":
    main()
