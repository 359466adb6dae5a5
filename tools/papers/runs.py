# SPDX-License-Identifier: GPL-2.0-only
"""A run: what is measured at a time, in a folder of its own, not twice with the same inputs."""

import hashlib
import subprocess
from pathlib import Path

from guests import PROJECT, GuestError
from guests import run as run_guests

TIMEOUT = 7200


def digest(*paths):
    """Of what files hold, for settings()."""
    found = hashlib.sha256()
    for path in paths:
        found.update(Path(path).read_bytes())
    return found.hexdigest()


class Run:
    """Has a name, seconds, settings() and measure(folder)."""

    def folder(self, top):
        """Where its results are."""
        return top / self.name

    def is_there(self, top):
        """Whether it was measured, with whatever settings."""
        return (self.folder(top) / "settings").exists()


class GuestRun(Run):
    """Has guest(top): the guest that measures it."""

    def measure(self, top):
        """Boot it, and wait for its end."""
        run_guests([self.guest(top)], TIMEOUT)


class ProgramRun(Run):
    """Has commands(): file of the folder -> command, whose output it gets; seconds of real time."""

    def measure(self, top):
        """One after the other."""
        for name, command in self.commands().items():
            try:
                done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True,
                                      check=True, timeout=TIMEOUT)
            except subprocess.CalledProcessError as error:
                raise GuestError(f"{self.name}: {' '.join(command)} ended with "
                                 f"{error.returncode}: {error.stderr}") from error
            (self.folder(top) / name).write_text(done.stdout)

    def output(self, top, name):
        """What a command has printed."""
        return (self.folder(top) / name).read_text()


def are_there(runs, top):
    """Whether all of them were measured."""
    return all(run.is_there(top) for run in runs)
