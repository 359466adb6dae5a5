# SPDX-License-Identifier: GPL-2.0-only
"""What the target costs beside dm-linear, on a device that does nothing and on a fast one, how it
goes with more processors, and how long it holds its lock: rows of build/results/kernel.json."""

import subprocess
from pathlib import Path

import overhead
import results as result_files
from guests import PROJECT, Guest

HERE = Path(__file__).resolve().parent

LOADS = ["fdatasync", "randwrite-deep", "randread-deep"]
# Of the option route; "adaptive" is what ressd-probe advises for such a device, and has no suffix.
ROUTES = {"adaptive": "", "never": "-never", "always": "-always"}
# With route always each small write goes to the device twice, which is what the others avoid.
BARS = {"adaptive": "<=1.0", "never": "<=1.0", "always": None}
SIDES = ["linear", *ROUTES]
STEPS = {"start": 6, **{f"{side}.{load}": 20 for side in SIDES for load in LOADS}}

# Two threads over one.
SCALING_BARS = {"direct-write": ">=1.9", "large-write": ">=1.9", "read": ">=1.9",
                "small-write": ">=1.6"}


def parts(folder):
    """Guests to run one after the other, each with the functions for its rows and its table."""
    yield (Guest("fast-device", HERE / "guest-fast-device.sh", [], STEPS, folder / "fast-device",
                 memory="1G"),
           fast_rows, describe_fast)
    yield overhead.guest(folder), overhead.linear_rows, overhead.describe_overhead
    yield overhead.contention(folder, 2), scaling_rows, describe_scaling
    yield overhead.contention(folder, 4), overhead.contention_rows, overhead.describe_contention


def lock_rows(folder):
    """How long the lock is held, by tests/lock-hold; a bar that is missed is a row, no error."""
    output = folder / "lock-hold.output"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "-s", "-C", PROJECT / "tests/lock-hold", "all"], check=True)
    with open(output, "wb") as out:
        subprocess.run([PROJECT / "build/lock-hold/lock-hold"], stdout=out, check=False)
    prefix = "# result "
    lines = output.read_text().splitlines()
    return result_files.parse(line[len(prefix):] for line in lines if line.startswith(prefix))


def over_linear(found, side, load):
    """Microseconds of a transfer."""
    return round(found[f"{side}.{load}.us"] - found[f"linear.{load}.us"], 2)


def fast_rows(found):
    """What each route adds to dm-linear, and whether adaptive has left the log."""
    rows = [result_files.row(f"fast-device/{load}{suffix}/us-over-linear",
                             over_linear(found, side, load), "us", BARS[side])
            for side, suffix in ROUTES.items() for load in LOADS]
    rows.append(result_files.row("fast-device/randwrite-deep/small-to-log",
                                 int(found["adaptive.small_to_log"]), "1", "==0"))
    return rows


def describe_fast(found):
    """Table of the fast device."""
    print("\nfast device, us for each transfer; ressd: more than dm-linear\n" +
          f"{'':<16}" + "".join(f"{side:>12}" for side in SIDES))
    for load in LOADS:
        cells = "".join(f"{over_linear(found, side, load):>12.2f}" for side in ROUTES)
        print(f"{load:<16}{found[f'linear.{load}.us']:>12.2f}{cells}")


def ratio(found, load, layer="ressd"):
    """Transfers a second of two threads over those of one."""
    speeds = [found[f"{load}.{layer}-{number}.ios"] / found[f"{load}.{layer}-{number}.ms"]
              for number in (1, 2)]
    return round(speeds[1] / speeds[0], 2)


def scaling_rows(found):
    """Ratios, of this machine's time: it has to be idle. What it leaves of two is dm-linear's."""
    linear = [result_files.row(f"scaling-linear/{load}/ratio", ratio(found, load, "dm-linear"), "x")
              for load in SCALING_BARS if load != "small-write"]
    return [result_files.row(f"scaling/{load}/ratio", ratio(found, load), "x", bar)
            for load, bar in SCALING_BARS.items()] + linear + overhead.contention_rows(found)


def describe_scaling(found):
    """Table of the second processor; dm-linear shows what this machine and emulator leave."""
    overhead.describe_contention(found)
    print("\ntwo threads over one: " + ", ".join(
        f"{load} {ratio(found, load):.2f}" +
        (f" (dm-linear {ratio(found, load, 'dm-linear'):.2f})" if load != "small-write" else "")
        for load in SCALING_BARS))
