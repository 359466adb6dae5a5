# SPDX-License-Identifier: GPL-2.0-only
"""Runs measuring guests, side by side, and shows how far they are.

A guest's script says "@step NAME" when something begins and "| text" for the user. The guests run
in virtual time, so sharing this machine's processors changes no figure.
"""

import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
RUNNER = PROJECT / "tools/vm/run"
GUEST_FILES = ["tests/ssdsim/ssdsim.sh", "tests/ssdsim/profiles/samsung.conf",
               "tools/demo/guest-lib.sh", "tools/demo/postmark-lib.sh", "tools/demo/demo.conf"]
POLL_SECONDS = 0.2
TELL_SECONDS = 10
LAST = "end"


class GuestError(Exception):
    """A guest that failed; the message is a sentence."""


@dataclass
class Guest:
    """One run: a script with arguments, and the steps it will announce with their weights.

    A weight is the time that all of a step's occurrences took when they were last measured; only
    the estimate of the remaining time depends on it.
    """

    name: str
    script: Path
    arguments: list
    steps: dict
    results: Path
    files: list = field(default_factory=list)
    memory: str = "2G"
    mode: str = "benchmark"
    processors: int = 2
    append: str = ""
    number: int = 0
    step: str = "start"
    done_weight: float = 0
    began: float = 0
    step_began: float = 0
    shown: int = 0
    process: subprocess.Popen = None
    output: Path = None

    def start(self, folder, timeout):
        """Boot it."""
        self.output = folder / f"{self.name}.output"
        self.began = self.step_began = time.monotonic()
        command = [RUNNER, "--mode", self.mode, "--timeout", str(timeout), "--quiet",
                   "--memory", self.memory,
                   "--fetch", f"/tmp/figures:{self.results}"]
        if self.mode == "functional":
            command += ["--processors", str(self.processors)]
        if self.append:
            command += ["--append", self.append]
        for path in [*GUEST_FILES, *self.files]:
            command += ["--file", PROJECT / path]
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen([*command, self.script, *self.arguments],
                                            stdout=output, stderr=subprocess.STDOUT)

    def news(self):
        """Takes in what the guest has said since; returns lines for the user."""
        text = self.output.read_text(errors="replace")
        lines = text[self.shown:].split("\n")[:-1]
        told = []
        for line in lines:
            self.shown += len(line) + 1
            line = line.rstrip("\r")
            if line.startswith("@step "):
                self.begin(line.split(maxsplit=1)[1])
                told.append(None)
            elif line.startswith("| "):
                told.append(f"      {self.name}: {line[2:]}")
        return told

    def begin(self, step):
        """A step begins; the one before is done."""
        self.done_weight += self.steps.get(self.step, 0)
        if step != LAST:
            self.number += 1
        self.step = step
        self.step_began = time.monotonic()

    def seconds_left(self):
        """Estimate by the pace of the steps that are done; None as long as none is."""
        if self.step == LAST:
            return 0
        if not self.done_weight:
            return None
        pace = (self.step_began - self.began) / self.done_weight
        ahead = self.steps.get(self.step, 0) * pace
        later = (sum(self.steps.values()) - self.done_weight) * pace - ahead
        in_step = time.monotonic() - self.step_began
        return max(later, 0) + max(ahead - in_step, 0.05 * ahead)

    def check(self):
        """Complain when it has ended badly."""
        code = self.process.poll()
        if code:
            text = self.output.read_text(errors="replace")
            raise GuestError(f"the guest '{self.name}' ended with {code} in the step "
                             f"'{self.step}', its last lines:\n" +
                             "\n".join(text.splitlines()[-15:]))

    def progress(self):
        """Where it is, in words."""
        if self.step == LAST:
            return f"{self.name}: done"
        return f"{self.name}: {self.number} of {len(self.steps) - 1}, {self.step}"


def clock(seconds):
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def tell(guests, started):
    """One line of progress."""
    elapsed = time.monotonic() - started
    places = "   ".join(f"{guest.progress():<30}" for guest in guests)
    estimates = [guest.seconds_left() for guest in guests]
    left = "" if None in estimates else f"about {clock(max(estimates))} left"
    print(f"{clock(elapsed):>5}  {places}   {left}".rstrip(), flush=True)


def watch(guests):
    """Show progress until all have ended."""
    started = told = time.monotonic()
    while True:
        running = any(guest.process.poll() is None for guest in guests)
        changed = False
        for guest in guests:
            for line in guest.news():
                changed = True
                if line:
                    print(line, flush=True)
            guest.check()
        if changed or time.monotonic() - told > TELL_SECONDS:
            tell(guests, started)
            told = time.monotonic()
        if not running:
            return
        time.sleep(POLL_SECONDS)


def leave(number, _frame):
    """Turn a signal into an exit that ends the guests."""
    raise SystemExit(128 + number)


def run(guests, timeout):
    """Run all, side by side; their figures are in each one's results folder then.

    Raises GuestError when one fails; no guest is left behind, however this ends.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    with tempfile.TemporaryDirectory(prefix="ressd-guests-") as folder:
        try:
            for guest in guests:
                guest.results.mkdir(parents=True, exist_ok=True)
                (guest.results / "figures").unlink(missing_ok=True)
                guest.start(Path(folder), timeout)
            watch(guests)
        finally:
            for guest in guests:
                if guest.process and guest.process.poll() is None:
                    guest.process.terminate()
            for guest in guests:
                if guest.process:
                    guest.process.wait()


def noted(results):
    """What a guest noted: keys and numbers, in its order."""
    path = results / "figures"
    if not path.exists():
        raise GuestError(f"the guest left no figures in {results}")
    for line in path.read_text().splitlines():
        key, value = line.split()
        yield key, float(value)


def figures(results):
    """The figures that a guest noted: key -> number."""
    return dict(noted(results))


def mean_figures(results):
    """The same of a guest that ran the same several times: key -> mean of its numbers."""
    found = {}
    for key, value in noted(results):
        found.setdefault(key, []).append(value)
    return {key: sum(values) / len(values) for key, values in found.items()}


def fail(program, error):
    """Say why, and return the exit code."""
    sys.stdout.flush()
    print(f"{program}: {error}", file=sys.stderr)
    return 1
