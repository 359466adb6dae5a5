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

    def commit(self, top):
        """Of which sources, and, unless it is an old one, on which day."""
        return (self.folder(top) / "commit").read_text().strip()

    def is_possible(self):
        """Whether what it needs of others is there."""
        return True

    def needs(self):
        """Runs without which this one cannot be made, or shows nothing."""
        return []


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
            self.call(top, name, command)

    def call(self, top, name, command):
        """One."""
        try:
            done = subprocess.run(list(map(str, command)), cwd=PROJECT, capture_output=True,
                                  text=True, check=True, timeout=TIMEOUT)
        except subprocess.CalledProcessError as error:
            raise GuestError(f"{self.name}: {' '.join(map(str, command))} ended with "
                             f"{error.returncode}: {error.stderr}") from error
        (self.folder(top) / name).write_text(done.stdout)

    def output(self, top, name):
        """What a command has printed."""
        return (self.folder(top) / name).read_text()


class Figure:
    """Consists of runs(). Each that is there stands for itself: see kept.py for the others.

    rows(top) and data(top), which has a table and what is drawn, are of the runs that are here.
    text(kept) is of all that is kept of it.
    """

    has_points = False

    def measured(self, top):
        """The runs that are there; each stands for itself."""
        return [run for run in self.runs() if run.is_there(top)]

    def is_measured(self, top):
        """One is enough."""
        return bool(self.measured(top))

    def overall(self, _kept):
        """Rows that come from all others of the figure."""
        return []

    def beside_published(self, top, unit, drive, labels=None):
        """Chart and table of this figure's rows: points against drives, published and here."""
        series, points = {}, []
        for entry in self.rows(top):
            _figure, name, point = entry["id"].split("/")
            if entry["published"] is None:
                continue
            series.setdefault(f"{name} published", []).append(entry["published"])
            series.setdefault(f"{name} here", []).append(entry["value"])
            points += [] if point in points else [point]
        groups = [labels[point] for point in points] if labels else points
        return {"unit": unit, "drive": drive, "log": True, "groups": groups, "series": series}
