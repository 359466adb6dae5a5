#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Who may use what: the modules of the kernel, their files and the folders of each other.

The module calls nothing whose arguments differ between kernels: dm_io() has changed more
than once, in stable kernels as well (an ioprio in 6.9 and its backports, another argument and
another callback in 7.2), so a module that calls it builds only where its author has looked. For the
same reason a condition asks what a kernel has, not which one it is.

What is shipped is made of nothing below tests/, and knowledge goes one way, as the compiler saw it.
"""

import graphlib
import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULE = TOP / "build/modules/dm-ressd.ko"
# Not what the kernel's build makes.
SOURCES = sorted(path for folder in ("dm-ressd", "dm-ressd/core", "tests/ssdsim")
                 for path in (TOP / folder).glob("*.[ch]") if not path.name.endswith(".mod.c"))
COMPAT = ["dm-ressd-compat.h", "ssdsim-compat.h"]
# From the bottom up: docs/design.md. A file calls its own layer and those below.
LAYERS = {
    "base": {"device", "meter"},
    "dispatch": {"dispatch", "shape"},
    "log": {"activate", "error", "log-discard", "log-worker", "repair"},
    "mover": {"batch", "cover", "keep", "mover", "pace", "sweep", "wait"},
    "io": {"direct", "end", "io", "merge", "order", "read", "unlocked"},
    "target": {"instances", "status", "target"},
}

# Prefix of names, and what to use instead.
UNSTABLE = {
    "dm_io": "ressd_rw() and ressd_alloc_bio() of dm-ressd-device.c",
    "dm_kcopyd": "the mover's own batches",
    "dm_bufio": "the target's own buffers",
}

# Files of a folder include nothing below these, not even by way of other headers.
PROBE = "userspace/ressd-probe"
FORBIDDEN = {
    "": ["tests/"],
    "dm-ressd/core": ["userspace/", "dm-ressd/dm-ressd"],
    "userspace/lib": ["userspace/ressd"],
    "userspace/lib/cli": ["userspace/lib/dm", "userspace/lib/log"],
    "userspace/lib/dm": ["userspace/lib/log"],
    f"{PROBE}/find": [f"{PROBE}/report", f"{PROBE}/probe.h"],
    f"{PROBE}/judge": [f"{PROBE}/report", f"{PROBE}/probe.h", f"{PROBE}/find"],
    f"{PROBE}/measure": [f"{PROBE}/report", f"{PROBE}/probe.h", f"{PROBE}/find", f"{PROBE}/judge"],
}


def compiled():
    """Of each object of the shipped programs: its source, and all of ours that was read for it."""
    for listing in (TOP / "build/tools").glob("**/*.d"):
        rule = listing.read_text().replace("\\\n", " ").splitlines()[0]
        paths = [(TOP / "userspace" / word).resolve() for word in rule.split()[1:]]
        read = [str(path.relative_to(TOP)) for path in paths if path.is_relative_to(TOP)]
        if (TOP / read[0]).exists():
            yield read[0], read


class Layers(unittest.TestCase):
    """What make has built of userspace."""

    def test_shipped_programs_are_made_of_nothing_below_tests(self):
        """No command of their build names tests/."""
        commands = subprocess.run(["make", "-n", "-B", "-C", TOP / "userspace", "all"],
                                  capture_output=True, text=True, check=True).stdout
        self.assertIn("-o " + str(TOP / "build/bin/ressdctl"), commands)
        self.assertNotIn("tests/", commands)

    def test_includes_go_one_way(self):
        """By the compiler's lists of what it has read."""
        seen = set()
        for source, read in compiled():
            for folder, forbidden in FORBIDDEN.items():
                if not source.startswith(folder):
                    continue
                seen.add(folder)
                for path in read:
                    self.assertFalse(path.startswith(tuple(forbidden)), f"{source}: {path}")
        self.assertEqual(seen, set(FORBIDDEN))

    def test_no_files_call_each_other_in_a_ring(self):
        """Of a program, or of the library, by the symbols of the objects."""
        sources = {source.removesuffix(".c") for source, read in compiled()}
        for folder in ("lib", "ressd-probe", "ressd-trace", "ressdctl"):
            files = {name for name in sources if name.startswith(f"userspace/{folder}/")}
            self.assertGreater(len(files), 10)
            uses(self, files, "build/tools/", "TDBR")


def included(name):
    """The headers dm-ressd-*.h that a file includes; of dm-ressd.h each has it by them."""
    text = (TOP / "dm-ressd" / name).read_text()
    return set(re.findall(r'#include "dm-ressd-(\w+)\.h"', text))


def symbols(name, kinds, prefix="dm-ressd/dm-ressd-"):
    """What dm-ressd-NAME.o, or another one, defines or, by U, needs."""
    listing = subprocess.run(["nm", TOP / f"{prefix}{name}.o"], capture_output=True, text=True,
                             check=True)
    words = [line.split()[-2:] for line in listing.stdout.splitlines()]
    return {symbol for kind, symbol in words if kind in kinds}


def uses(test, files, prefix="dm-ressd/dm-ressd-", kinds="TDB"):
    """Of each file those that it calls; fails if they call each other in a ring."""
    home = {function: name for name in files for function in symbols(name, kinds, prefix)}
    calls = {name: {home[function] for function in symbols(name, "U", prefix) & home.keys()}
             - {name} for name in files}
    try:
        graphlib.TopologicalSorter(calls).prepare()
    except graphlib.CycleError as error:
        test.fail(f"{' -> '.join(error.args[1])} call each other")
    return calls


class Interfaces(unittest.TestCase):
    """The module as it is built, and its sources."""

    def test_no_unstable_function_is_imported(self):
        """By the list of undefined symbols."""
        listing = subprocess.run(["nm", "-u", MODULE], capture_output=True, text=True, check=True)
        names = [line.split()[-1] for line in listing.stdout.splitlines()]
        self.assertIn("dm_register_target", names)
        for name in names:
            for prefix, instead in UNSTABLE.items():
                self.assertFalse(name.startswith(prefix), f"{name} is used; use {instead}")

    def test_conditions_on_kernels_are_in_one_file(self):
        """No #if on what a kernel has, but in a module's compat.h; guards of headers are none."""
        self.assertTrue(set(COMPAT) <= {source.name for source in SOURCES})
        for source in SOURCES:
            guard = source.name.upper().replace("-", "_").replace(".", "_")
            for number, line in enumerate(source.read_text().splitlines(), 1):
                if line.startswith("#if") and guard not in line and source.name not in COMPAT:
                    self.fail(f"{source.name}:{number}: {line}")

    def test_no_condition_knows_the_number_of_a_version(self):
        """In the compat.h neither."""
        for source in SOURCES:
            for number, line in enumerate(source.read_text().splitlines(), 1):
                self.assertNotRegex(line, r"LINUX_VERSION_CODE|KERNEL_VERSION|linux/version\.h",
                                    f"{source.name}:{number}")

    def test_layers_include_no_upper_one(self):
        """Each file has the header of its layer, each header that of the layer below."""
        below = "bio"
        for layer, files in LAYERS.items():
            self.assertEqual(included(f"dm-ressd-{layer}.h"), {below})
            for name in files:
                self.assertEqual(included(f"dm-ressd-{name}.c") - {"compat"}, {layer}, name)
            below = layer
        self.assertEqual({source.stem for source in SOURCES if source.suffix == ".c"
                          and source.parent.name == "dm-ressd"} - {"dm-ressd.mod"},
                         {f"dm-ressd-{name}" for files in LAYERS.values() for name in files})

    def test_functions_are_declared_in_their_layer(self):
        """So a call of an upper layer does not even compile."""
        for layer, files in LAYERS.items():
            header = (TOP / f"dm-ressd/dm-ressd-{layer}.h").read_text()
            for name in files:
                for function in symbols(name, "T"):
                    if function.startswith("ressd_"):
                        self.assertRegex(header, rf"\b{function}\(", f"dm-ressd-{name}.c")

    def test_no_files_call_each_other_in_a_ring(self):
        """Not within a layer either; by the symbols of the objects."""
        self.assertIn("sweep", uses(self, set.union(*LAYERS.values()))["mover"])

    def test_no_files_of_core_call_each_other_in_a_ring(self):
        """The log calls neither the repair nor the commit, which call it."""
        kbuild = (TOP / "dm-ressd/Kbuild").read_text()
        files = set(re.findall(r"core/ressd-([\w-]+)\.o", kbuild))
        calls = uses(self, files, "dm-ressd/core/ressd-")
        self.assertLessEqual({"log", "repair"}, calls["commit"])


if __name__ == "__main__":
    unittest.main()
