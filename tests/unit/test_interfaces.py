#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the module takes from the kernel: nothing whose arguments differ between kernels.

dm_io() has changed more than once, in stable kernels as well (an ioprio in 6.9 and its backports,
another argument and another callback in 7.2), so a module that calls it builds only where its
author has looked.
"""

import pathlib
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULE = TOP / "build/modules/dm-ressd.ko"
SOURCES = sorted({*(TOP / "dm-ressd").glob("*.[ch]"), *(TOP / "dm-ressd/core").glob("*.[ch]")})

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
        """No #if on what a kernel has, but in dm-ressd-compat.h; guards of headers are none."""
        for source in SOURCES:
            if source.name in ("dm-ressd-compat.h", "dm-ressd.mod.c"):
                continue
            guard = source.name.upper().replace("-", "_").replace(".", "_")
            for number, line in enumerate(source.read_text().splitlines(), 1):
                if line.startswith("#if") and guard not in line:
                    self.fail(f"{source.name}:{number}: {line}")
                self.assertNotIn("LINUX_VERSION_CODE", line, f"{source.name}:{number}")


if __name__ == "__main__":
    unittest.main()
