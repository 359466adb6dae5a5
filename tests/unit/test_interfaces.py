#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the modules take from the kernel: nothing whose arguments differ between kernels.

dm_io() has changed more than once, in stable kernels as well (an ioprio in 6.9 and its backports,
another argument and another callback in 7.2), so a module that calls it builds only where its
author has looked. For the same reason a condition asks what a kernel has, not which one it is.
"""

import pathlib
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULE = TOP / "build/modules/dm-ressd.ko"
# By git's list: folders of other versions and what a build makes are none.
SOURCES = [TOP / name for name in subprocess.run(
    ["git", "ls-files", "dm-ressd/*.[ch]", "tests/ssdsim/*.[ch]"],
    cwd=TOP, capture_output=True, text=True, check=True).stdout.split()
    if "/test/" not in name and "/shim/" not in name]
COMPAT = ["dm-ressd-compat.h", "ssdsim-compat.h"]

# Prefix of names, and what to use instead.
UNSTABLE = {
    "dm_io": "ressd_rw() and ressd_alloc_bio() of dm-ressd-device.c",
    "dm_kcopyd": "the mover's own batches",
    "dm_bufio": "the target's own buffers",
}


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


if __name__ == "__main__":
    unittest.main()
