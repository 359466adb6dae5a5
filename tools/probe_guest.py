# SPDX-License-Identifier: GPL-2.0-only
"""ressd-probe on many emulated drives as block devices of benchmark guests.

Each boot takes several drives. What is found is kept in build/probe-guest, below the fingerprint of
all that made it, so an interrupted run goes on where it was. A drive that fails, or a guest that
dies, costs no other drive.
"""
import hashlib
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path("build/probe-guest")
SCRIPT = "tests/probe/guest-score.sh"
CONTROL = "tests/ssdsim/ssdsim.sh"
MAKERS = ["build/bin/ressd-probe", "tests/ssdsim/ssdsim.ko", SCRIPT, CONTROL]
DRIVES_PER_BOOT = 10
SECONDS_PER_DRIVE = 600  # real ones, until a guest counts as hung


def fingerprint():
    """Names all that decides what is found of a drive."""
    digest = hashlib.sha256()
    for path in MAKERS:
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:16]


class Progress:
    """Lines on standard error: what is done, and how long the rest will take."""

    def __init__(self, kept, total):
        self.kept = kept
        self.done = kept
        self.total = total
        self.begin = time.monotonic()
        self.lock = threading.Lock()

    def step(self, text):
        """One drive is done."""
        with self.lock:
            self.done += 1
            passed = time.monotonic() - self.begin
            left = passed / (self.done - self.kept) * (self.total - self.done)
            print(f"guest: {self.done} of {self.total} drives, about {left / 60:.0f} min left: "
                  f"{text}", file=sys.stderr, flush=True)


class Survey:
    """A number of drives, by their lines of probe-score --list-..., and what came of them."""

    def __init__(self, lines):
        self.folder = FOLDER / fingerprint()
        self.lines = {line.split()[0]: line for line in lines}
        self.failures = []

    def path(self, name):
        """Where the result of a drive is kept; the drive's description is part of its name."""
        mark = hashlib.sha256(self.lines[name].encode()).hexdigest()[:16]
        return self.folder / f"{name}-{mark}.json"

    def seconds(self, name):
        """The guest's time for a drive whose result is there."""
        return self.path(name).with_suffix(".seconds").read_text()

    def names(self):
        """The drives with a result."""
        return [name for name in self.lines if self.path(name).exists()]

    def _take(self, line, progress):
        """One line of the guest's script."""
        kind, _, rest = line.partition(" ")
        name, _, rest = rest.partition(" ")
        if name not in self.lines:
            print(f"guest: {line}", file=sys.stderr, end="")
        elif kind == "result":
            seconds, _, result = rest.partition(" ")
            self.path(name).with_suffix(".seconds").write_text(seconds)
            self.path(name).write_text(result)
            progress.step(f"{name}, {float(seconds):.0f} s of device time")
        else:
            self.failures.append(f"{name}: {rest.strip()}")
            progress.step(f"{name} failed: {rest.strip()}")

    def _boot(self, names, progress):
        """One guest for these drives."""
        with tempfile.NamedTemporaryFile("w", prefix="probe-guest-") as drives:
            drives.write("".join(self.lines[name] + "\n" for name in names))
            drives.flush()
            with subprocess.Popen(
                ["tools/vm/run", "--mode", "benchmark", "--memory", "3G", "--quiet",
                 "--timeout", str(SECONDS_PER_DRIVE * len(names)), "--file", CONTROL,
                 "--file", f"{drives.name}:/job/drives", SCRIPT, "drives"],
                stdout=subprocess.PIPE, text=True,
            ) as guest:
                for line in guest.stdout:
                    self._take(line, progress)
        if guest.returncode:
            self.failures.append(f"the guest of {names[0]} to {names[-1]} ended with code "
                                 f"{guest.returncode}, its log is in build/vm-logs")

    def run(self, guests):
        """All drives without a result, in so many guests at a time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        waiting = [name for name in self.lines if not self.path(name).exists()]
        progress = Progress(len(self.lines) - len(waiting), len(self.lines))
        boots = [waiting[i:i + DRIVES_PER_BOOT] for i in range(0, len(waiting), DRIVES_PER_BOOT)]
        with ThreadPoolExecutor(guests) as pool:
            list(pool.map(lambda names: self._boot(names, progress), boots))
        missing = len(self.lines) - len(self.names())
        if missing:
            self.failures.append(f"{missing} of {len(self.lines)} drives have no result; "
                                 "start again to try them once more")
