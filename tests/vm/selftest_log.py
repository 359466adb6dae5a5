#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of the VM runner without a guest: judging console logs, writing archives, claiming
processors."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/vm"))

from cpio import Archive  # noqa: E402
from kernel_log import Verdict  # noqa: E402
from processor import claimed  # noqa: E402

FAULTS = [
    "[    5.123456] WARNING: CPU: 0 PID: 77 at drivers/md/dm.c:100 dm_start+0x1/0x2 [dm_mod]",
    "[   12.000001] BUG: kernel NULL pointer dereference, address: 0000000000000000",
    "[   12.000001] kernel BUG at fs/ext4/inode.c:2700!",
    "[   12.000001] general protection fault, probably for non-canonical address 0xdead: 0000",
    "[  242.670000] INFO: task fio:321 blocked for more than 120 seconds.",
    "[   30.000000] rcu: INFO: rcu_preempt self-detected stall on CPU",
    "[   30.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 63s! [fio:200]",
    "[   30.000000] WARNING: possible circular locking dependency detected",
    "[   30.000000][  T77] BUG: KASAN: use-after-free in ressd_map+0x1/0x2",
    "[   30.000000] Kernel panic - not syncing: Fatal exception",
    "[   30.000000] refcount_t: underflow; use-after-free.",
]

ORDINARY = [
    "[    5.123456] Buffer I/O error on dev dm-0, logical block 12, async page read",
    "[    5.123456] blk_update_request: I/O error, dev ssdsim0, sector 8 op 0x1:(WRITE)",
    "[    5.123456] EXT4-fs (dm-0): mounted filesystem with ordered data mode.",
    "[    5.123456] dm_ressd: loading out-of-tree module taints kernel.",
    "[    5.123456] device-mapper: table: 254:0: ressd: the log area is too small",
    "WARNING: CPU: 0 said by a script, without the kernel's time",
    "# BUG: a script's comment",
]


class LogTest(unittest.TestCase):
    """Faults are found, ordinary lines are not."""

    def test_every_fault_is_found(self):
        for line in FAULTS:
            self.assertEqual(Verdict(line, []).faults, [line])

    def test_ordinary_lines_are_no_faults(self):
        self.assertEqual(Verdict("\n".join(ORDINARY), []).faults, [])

    def test_expected_line_is_excused(self):
        verdict = Verdict(FAULTS[0], ["WARNING: .* dm_start"])
        self.assertEqual((verdict.faults, verdict.missing), ([], []))

    def test_expected_line_excuses_no_other(self):
        verdict = Verdict("\n".join(FAULTS[:2]), ["WARNING: .* dm_start"])
        self.assertEqual(verdict.faults, [FAULTS[1]])

    def test_missing_expected_line_is_told(self):
        self.assertEqual(Verdict(ORDINARY[0], ["no such thing"]).missing, ["no such thing"])

    def test_two_distant_faults_are_two(self):
        filler = [ORDINARY[2]] * 40
        verdict = Verdict("\n".join([FAULTS[0], *filler, FAULTS[1]]), [])
        self.assertEqual(len(verdict.faults), 2)


def leak(*frames):
    """What kmemleak says of an object that was allocated by such a stack."""
    head = ["unreferenced object 0xffff88800abc1200 (size 64):",
            '  comm "dmsetup", pid 77, jiffies 4294767296 (age 12.340s)', "  backtrace:"]
    return "\n".join(head + [f"    [<00000000{n:08x}>] {name}" for n, name in enumerate(frames)])


class LeakTest(unittest.TestCase):
    """A leak is a fault if the memory was taken by a module of ours."""

    ours = leak("__kmalloc+0x49/0x150", "ressd_ctr+0x1f/0xe90 [dm_ressd]", "table_load+0x1/0x2")
    unloaded = leak("__kmalloc+0x49/0x150", "0xffffffffa0003c61", "table_load+0x1/0x2")
    others = leak("__kmalloc+0x49/0x150", "null_add_dev+0x1/0x2 [null_blk]", "vfs_write+0x1/0x2")

    def test_ours_are_told_and_no_others(self):
        log = "\n".join([self.others, self.ours, self.others, self.unloaded, "[vm] leaks 4"])
        self.assertEqual(Verdict(log, []).faults, [self.ours, self.unloaded])

    def test_the_count_alone_is_no_fault(self):
        line = "[    5.123456] kmemleak: 2 new suspected memory leaks"
        self.assertEqual(Verdict("\n".join([line, self.others, "[vm] exit 0"]), []).faults, [])

    def test_kmemleak_switched_off_is_told(self):
        self.assertEqual(Verdict("[vm] kmemleak-off ", []).faults, ["[vm] kmemleak-off "])


class CpioTest(unittest.TestCase):
    """What the archive holds can be unpacked again by another program."""

    def test_round_trip(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "source"
            source.write_bytes(b"12345")
            archive = Archive()
            archive.text("a/b/hello", "hello\n", 0o755)
            archive.file("a/five", source)
            archive.symlink("link", "a/five")
            path = Path(folder) / "archive.cpio"
            path.write_bytes(b"".join(archive.chunks()))
            out = Path(folder) / "out"
            out.mkdir()
            with open(path, "rb") as stdin:
                subprocess.run(["busybox", "cpio", "-i", "-d"], cwd=out, stdin=stdin, check=True,
                               stderr=subprocess.DEVNULL)
            self.assertEqual((out / "a/b/hello").read_text(), "hello\n")
            self.assertEqual((out / "a/b/hello").stat().st_mode & 0o777, 0o755)
            self.assertEqual((out / "link").read_bytes(), b"12345")

    def test_same_content_same_bytes(self):
        def build(order):
            archive = Archive()
            for name in order:
                archive.text(name, name)
            return b"".join(archive.chunks())
        self.assertEqual(build(["x/a", "b"]), build(["b", "x/a"]))


class ProcessorTest(unittest.TestCase):
    """No two guests have the same processor, and a claim ends."""

    def test_each_claim_is_another(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(os.environ, RESSD_CACHE=folder), \
                mock.patch("os.sched_getaffinity", return_value={0, 3}):
            with claimed() as first, claimed() as second, claimed() as third:
                self.assertEqual((first, second, third), (0, 3, None))
            with claimed() as again:
                self.assertEqual(again, 0)


if __name__ == "__main__":
    unittest.main()
