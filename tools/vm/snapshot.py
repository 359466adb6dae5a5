# SPDX-License-Identifier: GPL-2.0-only
"""Guests that need not boot: the state of one that waits for its job is saved once for each machine
and restored for each job. Emulated, a boot takes 3.5 s of a processor, a restored guest 1 s."""

import copy
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import time
from pathlib import Path

import clock
import image
from common import cache_dir
from kernel_log import Verdict
from machine import BOARDS, BOOT_SECONDS, POLL_SECONDS, command_line, prepare_child

READY = b"[vm] ready"
# QEMU hands this to a shell, which finds the file's name here.
VARIABLE = "RESSD_SNAPSHOT"
SAVE = f"""migrate_set_parameter max-bandwidth 100G
migrate "exec:cat >${VARIABLE}"
info migrate
quit
"""
RESTORE = ["-incoming", "fd:0"]
SAVED = b"Migration status: completed"


def is_usable(options, kernel):
    """Whether such a guest can be restored. Virtual time begins at a boot; the rest is rare, and
    would only fill the cache. That there is no QEMU is said where one is started (machine.py)."""
    return (options.mode == "functional" and not kernel.is_own and kernel.machine == "amd64"
            and not (options.append or options.device or options.fetch)
            and shutil.which(BOARDS[kernel.machine].program) is not None)


def key(options, kernel, base):
    """Hash of all that decides the state: the machine, QEMU, the kernel, what it finds in memory.
    The processor's frequency, which the kernel is told, differs a little at each measurement."""
    machine = copy.copy(options)
    machine.disk = [Path(f"disk{number}") for number in range(len(options.disk))]
    words = command_line(machine, Path("folder"), kernel, base, "log", "job")
    text = re.sub(r"(tsc_early_khz=)(\d+)", lambda khz: khz[1] + str(round(int(khz[2]), -4)),
                  "\n".join(words))
    text += image.identity(shutil.which(BOARDS[kernel.machine].program))
    text += image.identity(kernel.bootable())
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Snapshot:
    """The state of the machine of these options, for a guest with the console `log` that begins
    with the image `job`; `folder` is for the run's private files."""

    def __init__(self, options, kernel, base, folder, log, job):
        self.options = options
        self.kernel = kernel
        self.base = base
        self.folder = folder
        self.log = log
        self.job = job
        self.state = None
        self.path = cache_dir() / "snapshot" / f"{kernel.release}-{key(options, kernel, base)}"

    @classmethod
    def of(cls, options, kernel, *run):
        """One that is in the cache, or None: it cannot be used or saved."""
        if not is_usable(options, kernel):
            return None
        snapshot = cls(options, kernel, *run)
        return snapshot if snapshot.provide() else None

    def provide(self):
        """Have it in the cache, and open; False if that fails. Another runner may be at it: wait
        for that; or have found that it does not work, and removed it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(f"{self.path}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.path.exists():
                image.forget_unused(self.path.parent)
                new = Path(f"{self.path}.new")
                if not self._save(new):
                    return False
                new.replace(self.path)
            try:
                self.state = open(self.path, "rb")
                os.utime(self.path)
            except FileNotFoundError:
                return False
        return True

    def forget(self):
        """It did not work."""
        self.path.unlink(missing_ok=True)

    def command(self):
        """QEMU's command line and input; the guest reads the time and a random number."""
        # What the port receives before its state is restored, 16 bytes at most, is lost.
        self._channels("\n" * 32 + f"{time.time():.3f} {secrets.token_hex(32)}\n")
        command = self._machine(self.log, self.job, self.options.disk)
        return command + RESTORE, self.state

    def _channels(self, text):
        """The files behind the second serial port: `text` is what the guest reads."""
        (self.folder / "output.in").write_text(text, encoding="ascii")
        out = self.folder / "output.out"
        if not out.is_symlink():
            out.symlink_to("output")
        (self.folder / "output").touch()

    def _machine(self, log, job, disks):
        machine = copy.copy(self.options)
        machine.disk = disks
        return command_line(machine, self.folder, self.kernel, self.base, log, job)

    def _save(self, path):
        """Boot such a guest with disks of no content and save it once it waits for its job. A boot
        at which the kernel reports a fault is not kept: each guest is to report it."""
        log = self.folder / "snapshot-console"
        empty = self.folder / "empty-disk"
        empty.write_bytes(bytes(1 << 20))
        self._channels("")
        command = self._machine(log, empty, [empty] * len(self.options.disk))
        command[command.index("-monitor") + 1] = "stdio"
        # All name one file, which nothing writes.
        command += ["-snapshot"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True,
                              env={**os.environ, VARIABLE: str(path)},
                              preexec_fn=lambda: prepare_child(None)) as process:
            try:
                boot = clock.Patience(BOOT_SECONDS)
                while not (log.exists() and READY in log.read_bytes()):
                    if process.poll() is not None or boot.is_over():
                        return False
                    time.sleep(POLL_SECONDS)
                said, _ = process.communicate(SAVE.encode())
            finally:
                process.kill()
        return SAVED in said and not Verdict(log.read_text(errors="replace"), []).faults
