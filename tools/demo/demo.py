#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The same loads on the emulated Samsung drive, bare and with ressd: table, picture, results.

Two guests in virtual time, one for each side, run tools/demo/guest.sh with the sizes of
tools/demo/demo.conf. build/results/demo.json gets the figures; exits with 1 if one misses its bar.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from guests import PROJECT, Guest, GuestError, fail, figures, run  # noqa: E402

sys.path.insert(0, str(PROJECT / "tools"))
import results as result_files  # noqa: E402

HERE = Path(__file__).resolve().parent
FOLDER = PROJECT / "build/demo"
TIMEOUT = 1500
KEEP_SPEED = ">=0.97"

# Seconds of each step, bare and with ressd, on an idle machine; for the estimate of the time left.
STEPS = {
    "start": (8, 8), "probe": (9, 9), "create": (0, 1), "randwrite-4k": (20, 12),
    "drain": (1, 1), "randwrite-8k": (9, 8), "randread-4k": (2, 2), "sequential": (6, 6),
    "mkfs": (1, 1), "postmark": (30, 30), "check": (1, 1),
}

# Key of the figures, name for people, bar of the ratio.
LOADS = [
    ("randwrite-4k", "random write 4 KB", ">=2.0"),
    ("randwrite-4k-drained", "  and all written back", None),
    ("randwrite-8k", "random write 8 KB", ">1"),
    ("randwrite-8k-drained", "  and all written back", None),
    ("randread-4k", "random read 4 KB", KEEP_SPEED),
    ("randread-4k-busy", "  right after random writes", None),
    ("seqwrite-128k", "sequential write 128 KB", KEEP_SPEED),
    ("seqread-128k", "sequential read 128 KB", KEEP_SPEED),
    ("seqwrite-4k", "sequential write 4 KB, depth 8", None),
    ("seqread-4k", "sequential read 4 KB, depth 8", None),
]


class Side:
    """What one guest measured."""

    def __init__(self, folder):
        self.folder = folder
        self.values = figures(folder)

    def __getitem__(self, key):
        try:
            return self.values[key]
        except KeyError as error:
            raise GuestError(f"the figure {key} is missing in {self.folder}/figures") from error

    def speed(self, load):
        """MB/s."""
        if load.endswith("-drained"):
            load = load.removesuffix("-drained")
            time = self[f"{load}.ms"] + self[f"{load}-drain.ms"]
        else:
            time = self[f"{load}.ms"]
        return self[f"{load}.bytes"] / time / 1e3

    def erases(self, load):
        """NAND blocks erased during a load."""
        if load.endswith("-drained"):
            load = load.removesuffix("-drained")
            return self[f"{load}.erases"] + self[f"{load}-drain.erases"]
        return self[f"{load}.erases"]


def table(bare, ressd):
    """The comparison as text."""
    lines = [f"{'load':<32}{'bare':>12}{'ressd':>12}{'ratio':>8}   "
             f"{'NAND erases, bare / ressd':>26}"]
    for load, name, _ in LOADS:
        ratio = ressd.speed(load) / bare.speed(load)
        lines.append(f"{name:<32}{bare.speed(load):>7.2f} MB/s{ressd.speed(load):>7.2f} MB/s"
                     f"{ratio:>8.2f}   {erases(bare, ressd, load)}")
    times = [side["postmark.ms"] / 1000 for side in (bare, ressd)]
    lines.append(f"{'postmark on ext4':<32}{times[0]:>10.1f} s{times[1]:>10.1f} s"
                 f"{times[0] / times[1]:>8.2f}   {erases(bare, ressd, 'postmark')}")
    return "\n".join(lines)


def erases(bare, ressd, load):
    """A pair of erase counts."""
    return f"{bare.erases(load):>12,.0f} / {ressd.erases(load):<9,.0f}"


def rows(bare, ressd):
    """Rows of build/results/demo.json."""
    found = []
    for load, _, bar in LOADS:
        found.append(result_files.row(f"{load}/samsung/ratio",
                                      round(ressd.speed(load) / bare.speed(load), 4), "x", bar))
        for name, side in (("bare", bare), ("ressd", ressd)):
            found.append(result_files.row(f"{load}/samsung/{name}",
                                          round(side.speed(load), 4), "MB/s"))
    found.append(result_files.row("postmark/samsung/ratio",
                                  round(bare["postmark.ms"] / ressd["postmark.ms"], 4), "x",
                                  ">=1.2"))
    for name, side in (("bare", bare), ("ressd", ressd)):
        found.append(result_files.row(f"postmark/samsung/{name}", side["postmark.ms"] / 1000, "s"))
    for load in ("randwrite-4k", "randwrite-4k-drained", "randwrite-8k", "postmark"):
        found.append(result_files.row(f"erases/{load}/ratio", round(
            ressd.erases(load) / max(bare.erases(load), 1), 4), "x", "<1"))
    found.append(result_files.row("small-share/postmark/permille",
                                  int(ressd["postmark.small_permille"]), "permille"))
    found.append(result_files.row("randread-4k/samsung/log-permille",
                                  int(ressd["randread-4k.log_permille"]), "permille", ">=20"))
    return found


def describe_probe(side):
    """The measurements behind the table line, in a few lines."""
    probe = json.loads((side.folder / "probe.json").read_text())
    print("ressd-probe: what the drive can do")
    for entry in probe["measurements"]:
        size = f", {entry['size'] // 1024} KiB" if "size" in entry else ""
        stride = f" every {entry['stride'] // 1024} KiB" if "stride" in entry else ""
        print(f"  {entry['id'].replace('-', ' ') + size + stride:<48}"
              f"{entry['bandwidth'] / 1e6:>9.3f} MB/s")
    print(f"  verdict: {probe['verdict']['verdict']}: {probe['verdict']['reason']}")
    print(f"  {probe['suggestion']['command']}\n")


def describe_states(bare, ressd):
    """What must be known beside the table."""
    print(f"\nAfter the random writes of 4 KB (3 times the reserved area) the log held "
          f"{ressd['randwrite-4k.log_used']:.0f} of {ressd['randwrite-4k.log_total']:.0f} blocks; "
          f"writing them back took {ressd['randwrite-4k-drain.ms'] / 1000:.2f} s.")
    print(f"Of the random reads {ressd['randread-4k.log_permille'] / 10:.1f} % were served from "
          f"the log. Of Postmark's writes {ressd['postmark.small_permille'] / 10:.1f} % went there "
          f"(small and random, RE Table 4: 11 to 26 %).")
    print(f"Longest 4 KB random write: bare {bare['randwrite-4k.max_ns'] / 1e6:.0f} ms, ressd "
          f"{ressd['randwrite-4k.max_ns'] / 1e6:.0f} ms.")
    print("All times are virtual: one instruction is 1 ns, and the drive is an emulated Samsung "
          "MCCOE64G5MPP\nof 1/16 of its capacity, used before.\n")


def draw(bare, ressd, picture):
    """The picture of both traces."""
    command = ["/usr/bin/python3", PROJECT / "tools/write_pattern.py",
               "--bare", bare.folder / "trace/ssd0", "--ressd", ressd.folder / "trace/ssd0",
               "--reserved", str(int(ressd["reserved.start"])),
               "--size", str(int(ressd["drive.sectors"])),
               "--shown", str(int(ressd["fs.sectors"])),
               "--bare-seconds", str(bare["postmark.ms"] / 1000),
               "--ressd-seconds", str(ressd["postmark.ms"] / 1000),
               "--title", "Postmark on ext4: the writes that reach the drive, one dot each",
               picture]
    if subprocess.run(command, check=False).returncode:
        raise GuestError("the picture could not be drawn (above)")


def guests():
    """Both sides."""
    sides = []
    for column, name in enumerate(("bare", "ressd")):
        steps = {step: weights[column] for step, weights in STEPS.items()
                 if weights[column]}
        folder = FOLDER / name
        shutil.rmtree(folder, ignore_errors=True)
        sides.append(Guest(name, HERE / "guest.sh", [name], steps, folder))
    return sides


def main():
    """Run, print, write; see the top."""
    parser = argparse.ArgumentParser(prog="tools/demo.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, default=PROJECT / "build/demo.png",
                        help="where the picture goes (default: build/demo.png)")
    parser.add_argument("--report-only", action="store_true",
                        help="no run: table, picture and results of the run before")
    options = parser.parse_args()
    try:
        if not options.report_only:
            print("Two emulated machines run the same loads, one on the bare drive, one with "
                  "ressd.", flush=True)
            run(guests(), TIMEOUT)
            print()
        bare, ressd = Side(FOLDER / "bare"), Side(FOLDER / "ressd")
        describe_probe(ressd)
        print(table(bare, ressd))
        describe_states(bare, ressd)
        draw(bare, ressd, options.picture)
        found = rows(bare, ressd)
        path = result_files.write("demo", found)
        print(result_files.table([row for row in found if row["bar"]]))
    except (GuestError, result_files.ResultError) as error:
        return fail("demo", error)
    print(f"\npicture  {options.picture}\nfigures  {path}")
    return 0 if result_files.all_ok(found) else 1


if __name__ == "__main__":
    sys.exit(main())
