# SPDX-License-Identifier: GPL-2.0-only
"""Time on a busy machine: the frequency of its time stamp counter, and limits that allow for load.

In functional mode the guest reads this machine's counter. Its kernel would calibrate the counter
against an emulated timer, which stops while QEMU waits for a processor: on a busy machine the
result is many times too small, and the guest's clock as many times too fast. So the runner measures
the frequency and passes it as tsc_early_khz=.
"""

import ctypes
import mmap
import os
import platform
import time
from functools import cache

# rdtsc; shl rdx, 32; or rax, rdx; ret
READ_COUNTER = bytes.fromhex("0f31 48c1e220 4809d0 c3")
CALIBRATION_NS = 50_000_000


def counter_reader():
    """A function that returns this processor's time stamp counter, or None on other machines."""
    if platform.machine() != "x86_64":
        return None
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(READ_COUNTER)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)
    read.code = code  # lives as long as the function
    return read


def moment(read):
    """Counter and clock at the same time: of some readings that between which least time passed,
    for the process may lose its processor in the middle of one."""
    readings = []
    for _ in range(20):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        counter = read()
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        readings.append((after - before, counter, (before + after) / 2))
    return min(readings)[1:]


@cache
def counter_khz():
    """The frequency in kHz, or None where it cannot be measured."""
    read = counter_reader()
    if not read:
        return None
    counter, clock = moment(read)
    time.sleep(CALIBRATION_NS / 1e9)
    later_counter, later_clock = moment(read)
    return round((later_counter - counter) / (later_clock - clock) * 1e6)


def running_threads():
    """How many threads of this machine run or wait for a processor."""
    with open("/proc/loadavg", encoding="ascii") as loadavg:
        return int(loadavg.read().split()[3].split("/")[0])


class Patience:
    """A time limit that allows for load: where more threads than processors want to run, time
    counts as the share of a processor that each of them gets."""

    def __init__(self, limit, running=running_threads, clock=time.monotonic):
        self.limit = limit
        self.running = running
        self.clock = clock
        self.processors = os.cpu_count() or 1
        self.last = clock()
        self.spent = 0.0

    def is_over(self):
        """Whether the limit has passed; to be called often."""
        now = self.clock()
        self.spent += (now - self.last) * min(1, self.processors / max(1, self.running()))
        self.last = now
        return self.spent > self.limit
