# SPDX-License-Identifier: GPL-2.0-only
"""What the target costs where the disk does nothing: instructions, memory, waits for its lock."""

from pathlib import Path

import results as result_files
from guests import Guest

HERE = Path(__file__).resolve().parent

# Seconds on an idle machine, for the estimate of what is left.
STEPS = {"start": 6, "bare": 2, "dm-linear": 2, "memory": 3, "ressd-empty": 4, "ressd-mapped": 4,
         "log-write": 4, "large": 60, "ressd-large": 4, "log-write-large": 4}
CONTENTION_STEPS = {"start": 10, "dm-linear": 45, "ressd": 75}
# Threads of each round, by the guest's processors. What else runs on this machine takes from one
# thread or from two, so they take turns. It has no four processors, so only their waits count.
ROUNDS = {2: [1, 2, 1, 2, 1, 2], 4: [4, 4]}

CONTENTION_LOADS = ["direct-write", "large-write", "read", "small-write"]
KINDS = ["read", "write", "large-write"]


def parts(folder):
    """Guests to run one after the other, each with the functions for its rows and its table."""
    yield guest(folder), overhead_rows, describe_overhead
    yield contention(folder, 2), contention_rows, describe_contention


def contention(folder, processors):
    """A guest with several processors, so real time. A disk without memory gives back what the
    memory of its reader holds, which the kernel must clear, or the reserved area is not blank."""
    return Guest("contention", HERE / "guest-contention.sh",
                 [str(number) for number in ROUNDS[processors]], CONTENTION_STEPS,
                 folder / f"contention-{processors}", mode="functional", append="init_on_alloc=1",
                 processors=processors)


def guest(folder):
    """The guest that counts instructions."""
    return Guest("overhead", HERE / "guest-overhead.sh", [], STEPS, folder / "overhead")


def linear_rows(found):
    """Instructions more than dm-linear's, with nothing mapped and beside 60,000 blocks."""
    return [result_files.row(f"overhead/{kind}{suffix}/instructions",
                             round(found[f"{kind}.{layer}"] - found[f"{kind}.dm-linear"]), "1",
                             "<=120" if kind == "read" else None)
            for layer, suffix in (("ressd-empty", ""), ("ressd-mapped", "-mapped"))
            for kind in KINDS]


def overhead_rows(found):
    """Instructions; each layer's own are the difference to the bare disk."""
    names = {"bare": "bare", "dm-linear": "dm-linear", "ressd-empty": "passthrough",
             "ressd-mapped": "passthrough-mapped", "ressd-large": "passthrough-1m"}
    rows = []
    for kind in KINDS:
        for layer, name in names.items():
            value = found[f"{kind}.{layer}"]
            if layer != "bare":
                value -= found[f"{kind}.bare"]
            rows.append(result_files.row(f"{name}-{kind}/nullblk/instructions", round(value), "1"))
            if layer.startswith("ressd"):
                value = found[f"{kind}.{layer}"] - found[f"{kind}.dm-linear"]
                rows.append(result_files.row(f"{name}-{kind}-over-linear/nullblk/instructions",
                                             round(value), "1",
                                             "<=120" if kind == "read" else None))
    for name in ("log-write", "log-read", "log-write-large", "log-read-large"):
        direction = name.split("-")[1]
        rows.append(result_files.row(f"{name}/nullblk/instructions",
                                     round(found[name] - found[f"{direction}.bare"]), "1"))
    rows.append(result_files.row("map/60000/nodes", int(found["mapped"]), "1"))
    rows.append(result_files.row("map/1000000/nodes", int(found["mapped-large"]), "1"))
    return rows + memory_rows(found)


def memory_rows(found):
    """RE claims 1 MB of memory for 100 MB of reserved area, its map has 1.4. Here buffers and all,
    at the 512 MB of its measurements; and the map alone, which is what grows with the area."""
    rows = [result_files.row("map-memory/100MB/bytes", int(found["memory.100mb.map"]), "B",
                             "<=1048576"),
            result_files.row("buffer-memory/100MB/bytes", int(found["memory.100mb.buffers"]), "B")]
    everything = {"memory": found["memory.512mb.map"] + found["memory.512mb.buffers"],
                  "memory-map": found["memory.512mb.map"],
                  "memory-taken": found["memory.512mb.taken"]}
    for name, value in everything.items():
        rows.append(result_files.row(f"{name}/any/mb-per-100mb", round(value / 5.12 / (1 << 20), 4),
                                     "MB", "<=0.82" if name == "memory" else None))
    return rows


def describe_overhead(found):
    """Table of the overhead."""
    print(f"\n4 KB, one at a time, instructions more than the bare disk's\n"
          f"{'':<28}{'read':>8}{'write':>8}{'64 KB write':>13}")
    mapped = {"ressd-mapped": "mapped", "ressd-large": "mapped-large"}
    for layer in ("dm-linear", "ressd-empty", "ressd-mapped", "ressd-large"):
        cells = "".join(f"{found[f'{kind}.{layer}'] - found[f'{kind}.bare']:>8.0f}"
                        for kind in ("read", "write"))
        cells += f"{found[f'large-write.{layer}'] - found['large-write.bare']:>13.0f}"
        name = f"ressd, {found[mapped[layer]]:,.0f} mapped" if layer in mapped else layer
        print(f"{name:<28}{cells}")
    for suffix, key in (("", "mapped"), ("-large", "mapped-large")):
        name = f"  its log, {found[key]:,.0f} mapped"
        print(f"{name:<28}{found[f'log-read{suffix}'] - found['read.bare']:>8.0f}"
              f"{found[f'log-write{suffix}'] - found['write.bare']:>8.0f}")


def waits_in_thousand(found, key):
    """Waits for a spinlock in a thousand I/Os."""
    return round(1000 * found[f"{key}.waits"] / found[f"{key}.ios"], 2)


def contention_rows(found):
    """Waits in the target's own call stacks; a read of what is not mapped takes no lock."""
    return [result_files.row(f"lock-waits-{load}-{number}/nullblk/permille",
                             waits_in_thousand(found, f"{load}.ressd-{number}"), "permille",
                             "==0" if load == "read" else None)
            for load in CONTENTION_LOADS for number in numbers(found)]


def numbers(found):
    """Of threads, that were measured."""
    return [number for number in (1, 2, 4) if f"read.ressd-{number}.ios" in found]


def describe_contention(found):
    """Table of the waits. The speeds are of this machine, with whatever else runs on it."""
    threads = " and ".join(map(str, numbers(found)))
    print(f"\nspinlocks waited for, in 1000 I/Os, by {threads} threads; I/Os a second (real time)")
    for name in ("dm-linear", "ressd"):
        for load in CONTENTION_LOADS:
            keys = [f"{load}.{name}-{number}" for number in numbers(found)]
            if f"{keys[0]}.ios" not in found:
                continue
            cells = "".join(f"{waits_in_thousand(found, key):>9.2f}" for key in keys)
            speeds = "".join(f"{found[f'{key}.ios'] / max(found[f'{key}.ms'], 1) * 1000:>9.0f}"
                             for key in keys)
            print(f"{name + ', ' + load:<28}{cells}   {speeds}")
