# SPDX-License-Identifier: GPL-2.0-only
"""One run of QEMU: its command line, its output while it runs, its end."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import clock
from common import VmError

CONSOLE = "quiet panic=-1 oops=panic mitigations=off tsc=reliable " \
          "rcupdate.rcu_cpu_stall_timeout=60 watchdog_thresh=30 no_timer_check norandmaps"
# Emulated on a shared machine, a processor may stand still for long: hence the patient watchdogs,
# and no test whether the timer ticks, which takes a late tick for a broken machine and hangs. QEMU
# translates a program anew at each address where it is loaded: with random addresses, fork and exec
# take 53 ms of this machine instead of 20.
# What a functional guest has that asks for no parameters of its own: fork and exec take 7 % less
# instructions, large writes to files 17 %.
FUNCTIONAL = ["init_on_alloc=0", "cgroup_disable=memory"]

MODES = {
    "functional": ["-accel", "tcg,thread=multi"],
    "benchmark": ["-accel", "tcg,thread=single",
                  "-rtc", "base=2025-01-01,clock=vm", "-seed", "1",
                  "-icount", "shift=0,sleep=off"],
}


class Board(NamedTuple):
    """What differs from machine to machine: QEMU's program and its options, the guest's console,
    and how its output leaves (guest-init knows the names of both)."""
    program: str
    options: list
    console: str
    output: list
    functional: list = []  # more options of a functional guest


# Of x86, SSE4.2 brings the crc32c instruction: one of virtual time, but QEMU computes it bit by
# bit, so that loads take 5 to 17 % more of this machine. rdrand spares the guest seconds of waiting
# for entropy, and repeats its numbers in a benchmark, where QEMU has a seed.
BOARDS = {
    "amd64": Board("qemu-system-x86_64",
                   ["-M", "q35", "-cpu", "Nehalem,+rdrand",
                    "-device", "isa-debug-exit,iobase=0xf4,iosize=4"],
                   "ttyS0", ["-serial", "chardev:output"],
                   ["-global", "Nehalem-x86_64-cpu.sse4.2=off"]),
    # Processors of a Raspberry Pi 5, which can have pages of 16 KiB, and of a Pi 2.
    "arm64": Board("qemu-system-aarch64", ["-M", "virt", "-cpu", "cortex-a76"],
                   "ttyAMA0", ["-device", "pci-serial,chardev=output"]),
    "armhf": Board("qemu-system-aarch64", ["-M", "virt,highmem=off", "-cpu", "cortex-a15"],
                   "ttyAMA0", ["-device", "pci-serial,chardev=output"]),
}
POLL_SECONDS = 0.02
# A guest boots in 7 s. Now and then one under load stands still before its first line on the
# console, or dies of an int3 in code that its kernel is patching (2 of 24 with Linux 7.2), where
# there is nothing of the project's yet; it is started anew, once.
BOOT_SECONDS = 50
STARTED = b"[vm] start"
PR_SET_PDEATHSIG = 1


def kernel_parameters(options, board):
    """What the guest's kernel is told. In virtual time its counter is the virtual clock, which it
    calibrates right; otherwise it is this machine's, whose frequency is measured here."""
    always = [f"console={board.console}", CONSOLE]
    if options.mode != "functional":
        return " ".join([*always, *options.append])
    khz = clock.counter_khz()
    return " ".join([*always, *([f"tsc_early_khz={khz}"] if khz else []),
                     *(options.append or FUNCTIONAL)])


def processors_of(options):
    """Virtual time has one only."""
    return options.processors if options.mode == "functional" else 1


def prepare_child(processor):
    """In the child, before QEMU: have the kernel kill it when the runner dies in a way that runs
    no clean-up; keep it on one processor, if there is one for it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if processor is not None:
        os.sched_setaffinity(0, {processor})


def command_line(options, folder, kernel, initrd, log, job=None):
    """QEMU's command line; `folder` holds the files of its channels. With the image of a `job`, the
    guest can read from its output as well (snapshot.py)."""
    board = BOARDS[kernel.machine]
    command = [
        board.program, "-nodefaults", "-no-user-config", "-display", "none",
        "-no-reboot", "-monitor", "none", *board.options,
        *(board.functional if options.mode == "functional" else []), "-m", options.memory,
        "-kernel", str(kernel.bootable()), "-initrd", str(initrd), "-serial", f"file:{log}",
        "-chardev", f"{'pipe' if job else 'file'},id=output,path={folder / 'output'}",
        *board.output,
        *MODES[options.mode], "-smp", str(processors_of(options)),
        "-append", kernel_parameters(options, board),
    ]
    for number, disk in enumerate(options.disk):
        name = str(disk).replace(",", ",,")
        command += ["-drive", f"file={name},if=none,id=disk{number},format=raw,cache=writeback,"
                              "discard=unmap",
                    "-device", f"virtio-blk-pci,drive=disk{number},serial=disk{number}"]
    for number, (file, device) in enumerate(options.device):
        if file:
            name = str(file).replace(",", ",,")
            command += ["-drive", f"file={name},if=none,id=device{number},format=raw"]
            device += f",drive=device{number}"
        command += ["-device", device]
    if job:  # the last, so that the others keep their names
        command += ["-drive", f"file={job},if=none,id=job,format=raw,read-only=on",
                    "-device", "virtio-blk-pci,drive=job,serial=job"]
    if options.fetch:
        command += ["-device", "virtio-serial-pci",
                    "-chardev", f"file,id=fetch,path={folder / 'fetch.tar'}",
                    "-device", "virtserialport,chardev=fetch,name=fetch"]
    return command


class Killer:
    """Decides when to kill the guest: some delay after a line of its output matched."""

    def __init__(self, regex, delay_ms):
        self.pattern = re.compile(regex) if regex is not None else None
        self.delay = delay_ms / 1000
        self.due = None

    def line(self, text):
        """Look at one finished line of output."""
        if self.pattern and self.due is None and self.pattern.search(text):
            self.due = time.monotonic() + self.delay

    def is_due(self):
        """Whether the moment has come."""
        return self.due is not None and time.monotonic() >= self.due


class Output:
    """Copies the guest's output from its file to stdout while it grows, line by line to `watch`."""

    def __init__(self, path, watch):
        path.touch()
        self.source = open(path, "rb")
        self.watch = watch
        self.partial = b""

    def copy(self):
        """Copy what is new."""
        data = self.source.read()
        if not data:
            return
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        *lines, self.partial = (self.partial + data).split(b"\n")
        for line in lines:
            self.watch(line.decode(errors="replace").rstrip("\r"))

    def finish(self):
        """Copy the rest."""
        self.copy()
        self.source.close()


class Run:
    """One guest, on the processor with this number or on any (None). `how` tells after `go` how it
    ended: "ended", "timeout" or "killed". With a console `log`, a guest that does not come up, or
    not in `boot` seconds, is started a second time. With a `snapshot`, it is restored from that,
    and booted only if it does not come up; `command` may be a function, called for a boot."""

    def __init__(self, command, folder, timeout, killer, processor=None, log=None,
                 boot=BOOT_SECONDS, snapshot=None):
        self.command = command
        self.snapshot = snapshot
        self.timeout = timeout
        self.log = log
        self.boot = boot
        self.killer = killer
        self.processor = processor
        self.output = Output(folder / "output", killer.line)
        self.errors = folder / "qemu-errors"
        self.how = "ended"

    def go(self):
        """Run to the end."""
        try:
            if self.snapshot:
                self._start(*self.snapshot.command(), self.log)
                if not self._is_dead("it is booted instead"):
                    return
                self.snapshot.forget()
            command = self.command() if callable(self.command) else self.command
            self._start(command, None, self.log)
            if self.log and self._is_dead("it is started anew"):
                self._start(command, None, None)
        finally:
            self.output.finish()

    def _is_dead(self, remedy):
        """Whether the guest has not come up; that is then told, with the remedy."""
        if self.how != "stuck" and (self.how != "ended" or self._is_up(self.log)):
            return False
        reason = f"in {self.boot:g} s" if self.how == "stuck" else "before it ended"
        print(f"vm: the guest has not come up {reason}; {remedy}", file=sys.stderr, flush=True)
        self.how = "ended"
        return True

    @staticmethod
    def _is_up(log):
        """Whether the guest's init has begun."""
        return log.exists() and STARTED in log.read_bytes()

    def _start(self, command, state, log):
        """Run QEMU, and never leave it behind, whatever interrupts the wait."""
        with open(self.errors, "wb") as errors:
            try:
                process = subprocess.Popen(
                    command, stdin=state or subprocess.DEVNULL, stdout=errors, stderr=errors,
                    start_new_session=True,
                    preexec_fn=lambda: prepare_child(self.processor))
            except FileNotFoundError as error:
                raise VmError(f"{command[0]} is not installed: run tools/setup.sh") from error
        try:
            self._watch(process, log)
        finally:
            process.kill()
            process.wait()

    def _watch(self, process, log):
        whole = clock.Patience(self.timeout)
        boot = clock.Patience(self.boot)
        while process.poll() is None:
            if self.killer.is_due():
                self.how = "killed"
                return
            if whole.is_over():
                self.how = "timeout"
                return
            if log and boot.is_over():
                if not self._is_up(log):
                    self.how = "stuck"
                    return
                log = None
            self.output.copy()
            time.sleep(0.002 if self.killer.due else POLL_SECONDS)
