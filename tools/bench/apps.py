# SPDX-License-Identifier: GPL-2.0-only
"""Applications on every emulated drive: bare beside ressd, and f2fs as the rival.

One guest for each load on each drive, with all of its sides. A side's seconds are those of the load
itself, of the unmount, and until the log is written back and the drive flushed.
"""

import math
from pathlib import Path

import app_inputs
import bio_trace
import drives
import other_loads
import request_table
import results as result_files
from guests import Guest, GuestError, figures

HERE = Path(__file__).resolve().parent
FILES = ["tests/ssdsim/profiles",
         *(f"tools/bench/{name}" for name in
           ("app-loads.sh", "other_loads.py", "bio-trace.sh", "guest-loads.sh", "drives.conf"))]

# Seconds of one side on an idle machine, for the estimate of what is left.
LOADS = {"sqlite-wal": 20, "sqlite-delete": 15, "sqlite-batch": 20, "writeback": 10, "etcd": 20,
         "dpkg": 10, "git": 15, "postmark-a": 10, "postmark-b": 20, "postmark-c": 30,
         "journald": 40, "oltp": 120}

# Those that are measured only if they are asked for.
OTHERS = {name: 30 for name in other_loads.LOADS}

# Of a guest: its initramfs has the inputs, twice while it boots, and the drive is in memory.
MEMORY = {"oltp": "8G"}
OTHER_MEMORY = "3G"

# In the order of measurement; "ressd", "bare" and "linear" have ext4. That one is dm-linear, a
# target that does nothing, and measured only if it is asked for.
USUAL_SIDES = ["bare", "ressd", "xfs", "xfs-ressd", "f2fs", "f2fs-tuned", "f2fs-ressd"]
SIDES = ["linear", *USUAL_SIDES]
RIVALS = ["f2fs", "f2fs-tuned"]
RECORD = "record"
# Loads without a file system have no others.
RAW_LOADS, RAW_SIDES = ["swap"], ["bare", "ressd", RECORD]
# What ressd-probe has to be asked for: table options, and the erase unit.
PROBED = ["ressd", "xfs-ressd", "f2fs-ressd", "f2fs-tuned"]

NEVER_SLOWER = ">=0.97"
# load -> profile -> bar of its ratio, where it is more than never slower.
BARS = {
    "sqlite-wal": {"sdcard": ">=1.5", "supertalent": ">=1.6", "samsung": ">=1.1"},
    "sqlite-delete": {"sdcard": ">=10", "supertalent": ">=4", "samsung": ">=1.15"},
}
MEAN_BARS = {"sdcard": ">=3", "supertalent": ">=3", "transcend": ">=3", "samsung": ">=1.6"}
RIVAL_BAR, RIVAL_MEAN_BAR = ">=1", ">=1.5"
P99_BARS = {("etcd", "sdcard"): ">=5", ("sqlite-wal", "sdcard"): ">=5"}
ERASES_BAR = ">=1"
TPS_BARS = {"samsung": ">=1.8", "supertalent": ">=5"}


def sides_of(load, chosen):
    """Those of the chosen sides that a load has."""
    return [side for side in chosen if load not in RAW_LOADS or side in RAW_SIDES]


def place(profile, load, folder):
    """Where the figures of one load on one drive are."""
    return folder / f"apps-{profile}" / load


def is_measured(profile, load, folder):
    """Whether there are figures of a load on a drive, of this run or one before."""
    return (place(profile, load, folder) / "figures").exists()


def settings_file(setting, folder):
    """The sizes as the guest reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "apps.conf"
    path.write_text("".join(f"{key}='{value}'\n" for key, value in setting.items()))
    return path


def guest(profile, load, sides, options, setting, folder):
    """The guest that runs one load on some sides of one drive."""
    home = place(profile, load, folder)
    steps = {"start": 8, **({"probe": 30} if drives.asks_probe(options) else {}),
             **{side: {**LOADS, **OTHERS}[load] for side in sides}}
    files = [*FILES, f"{settings_file(setting, home)}:apps.conf",
             *app_inputs.files_of(load, setting)]
    return Guest(f"app-{load}-{profile}", HERE / "guest-apps.sh",
                 [profile, options, load, *sides], steps, home / "new", files=files,
                 memory=MEMORY.get(load, OTHER_MEMORY))


def advised(profile, load, folder):
    """The options that the guest before has used."""
    return (place(profile, load, folder) / "new/options").read_text().strip()


def merge(profile, load, folder):
    """Put the new figures beside those of the sides that were not run anew."""
    home = place(profile, load, folder)
    found = figures(home / "new")
    fresh = {key.split(".")[0] for key in found}
    if (home / "figures").exists():
        found.update({key: value for key, value in figures(home).items()
                      if key.split(".")[0] not in fresh})
    (home / "figures").write_text("".join(f"{key} {value:.15g}\n"
                                          for key, value in found.items()))


def write_trace(profile, load, folder, traces):
    """The trace that the guest has recorded, as a file; returns its path."""
    source = place(profile, load, folder) / "new/bios"
    with open(source, errors="replace") as lines:
        bios, phases = bio_trace.parse(lines)
    path = traces / f"{load}-{profile}.trace"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as out:
        out.write("# SPDX-License-Identifier: GPL-2.0-only\n"
                  f"# {load} on the bare drive {profile}, made by tools/bench.sh "
                  "--only apps --record-traces\n")
        out.writelines(line + "\n" for line in bio_trace.lines_of(bios, phases))
    source.unlink()
    return path


def describe_requests(profile, load, sides, folder):
    """What has reached the drive on each side, of the run just ended."""
    for side in sides:
        print(f"\nrequests of {load} on {profile}, {side}")
        with open(place(profile, load, folder) / f"new/requests.{side}", errors="replace") as lines:
            print(request_table.table(lines))


class Load:
    """The figures of one load on one drive."""

    def __init__(self, profile, name, folder):
        self.profile = profile
        self.name = name
        self.found = figures(place(profile, name, folder))
        sides = {key.split(".")[0] for key in self.found}
        self.sides = [side for side in SIDES if side in sides]
        if not self.sides:
            raise GuestError(f"there are no figures of {name} on {profile}")

    def seconds(self, side, drained=True):
        """Of a run; with @drained until nothing was left to do. None: not measured."""
        if side not in self.sides:
            return None
        parts = ["run", "unmount", "drain"] if drained else ["run"]
        return sum(self.found[f"{side}.{part}_ms"] for part in parts) / 1000

    def value(self, side, what):
        """Another figure of a side; None: it has none."""
        return self.found.get(f"{side}.{what}")

    def ratio(self, side="ressd", base="bare"):
        """Seconds of @base over those of @side; None if one was not measured."""
        if not self.seconds(side) or not self.seconds(base):
            return None
        return self.seconds(base) / self.seconds(side)

    def best_rival(self):
        """The fastest f2fs on the bare drive; None: there is none."""
        measured = [side for side in RIVALS if side in self.sides]
        return min(measured, key=self.seconds) if measured else None

    def over_rival(self):
        """ext4 on ressd over the best f2fs on the bare drive, or None."""
        rival = self.best_rival()
        return self.ratio(base=rival) if rival else None


def compared_rows(load, where, what, metric, bar):
    """Of a figure of which less is better: of each side, and bare over ressd."""
    rows = []
    bare, own = load.value("bare", what), load.value("ressd", what)
    if bare is not None and own is not None:
        rows.append(result_files.row(f"{where}/{metric}", round(max(bare, 1) / max(own, 1), 4),
                                     "x", bar))
    return rows


def rows_of(load):
    """All rows of one load on one drive."""
    where = f"app-{load.name}/{load.profile}"
    low_end = load.profile in drives.HYBRID
    rows = [result_files.row(f"{where}/{side}-seconds", load.seconds(side), "s")
            for side in load.sides]
    rows += [result_files.row(f"{where}/{side}-erases", int(load.value(side, "erases")), "1")
             for side in load.sides]
    bar = BARS.get(load.name, {}).get(load.profile, NEVER_SLOWER)
    for metric, value, wanted in [
            ("ratio", load.ratio(), bar),
            ("ratio-f2fs", load.over_rival(), RIVAL_BAR if low_end else None),
            ("ratio-on-xfs", load.ratio("xfs-ressd", "xfs"), NEVER_SLOWER),
            ("ratio-on-f2fs", load.ratio("f2fs-ressd", "f2fs"), NEVER_SLOWER)]:
        if value:
            rows.append(result_files.row(f"{where}/{metric}", round(value, 4), "x", wanted))
    rows += compared_rows(load, where, "erases", "erases", ERASES_BAR if low_end else None)
    rows += compared_rows(load, where, "p99_us", "p99-ratio",
                          P99_BARS.get((load.name, load.profile)))
    bare, own = load.value("bare", "tps"), load.value("ressd", "tps")
    if bare and own:
        rows.append(result_files.row(f"{where}/tps-ratio", round(own / bare, 4), "x",
                                     TPS_BARS.get(load.profile)))
    return rows


def geometric_mean(values):
    """Of numbers above 0."""
    return math.exp(sum(map(math.log, values)) / len(values))


def mean_rows(loads):
    """Over all loads of each drive; nothing for a drive that has not run them all."""
    rows = []
    for profile in dict.fromkeys(load.profile for load in loads):
        own = [load for load in loads if load.profile == profile]
        if len(own) < len(LOADS):
            continue
        for metric, values, bar in [
                ("ratio", [load.ratio() for load in own], MEAN_BARS.get(profile)),
                ("ratio-f2fs", [load.over_rival() for load in own if load.best_rival()],
                 RIVAL_MEAN_BAR if profile in drives.HYBRID else None)]:
            if values and all(values):
                rows.append(result_files.row(f"app-mean/{profile}/{metric}",
                                             round(geometric_mean(values), 4), "x", bar))
    return rows


def describe(load):
    """Table of one load on one drive; the ratio is that of the bare drive with ext4 to a side."""
    print(f"\n{load.name + ' on ' + load.profile:<28}{'run s':>10}{'all s':>10}{'ratio':>8}"
          f"{'erases':>8}{'MB':>8}{'p99 ms':>9}")
    for side in load.sides:
        ratio, p99 = load.ratio(side), load.value(side, "p99_us")
        print(f"  {side:<26}{load.seconds(side, False):>10.2f}{load.seconds(side):>10.2f}"
              f"{f'{ratio:.2f}' if ratio else '':>8}{load.value(side, 'erases'):>8.0f}"
              f"{load.value(side, 'bytes') / 1e6:>8.1f}"
              f"{'' if p99 is None else f'{p99 / 1000:.2f}':>9}")


def chart(loads, path):
    """The chart, or None where nothing was measured on both sides."""
    # Here, so that the tables do without matplotlib.
    import apps_chart  # pylint: disable=import-outside-toplevel
    return apps_chart.chart(loads, [drives.HYBRID, drives.PAGE], path)
