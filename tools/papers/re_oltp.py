# SPDX-License-Identifier: GPL-2.0-only
"""RE 4.4: sysbench OLTP on MariaDB, bare and with several reserved areas (Fig. 6, Table 6), and the
sizes of the mover's writes (4.5, Fig. 8).

The load is `oltp` of make bench-apps, at a 16th of RE's rows, transactions, memory and reserved
areas. RE does not name the storage engine; Table 6 fits MyISAM, the default of MySQL 5.0
(docs/notebook/applications.md). One guest for each run: the table takes memory.
"""

import app_inputs
import apps
import drives
import re_postmark
from published import RE_DRIVES, RULES
from re_bandwidth import RULES as OPTIONS
from re_postmark import SIZES
from rows import row
from runs import digest

LOAD = "oltp"
SOURCES = ["guest-apps.sh", "app-loads.sh", "guest-loads.sh", "drives.conf", "apps.conf"]
# RE's rows at 1/16.
ROWS = {"A": 1250000, "B": 2500000, "C": 3750000}
TRANSACTIONS = 70000 // re_postmark.SCALE
AREAS = [size for size in SIZES if size != "unlimited"]


class Run(re_postmark.Configured):
    """The database."""

    seconds = 280

    @property
    def name(self):
        """What it is called, in the list and as a folder."""
        return f"oltp/{self.profile}-{self.side}-{self.configuration}-{self.size or 'all'}"

    @property
    def guest_side(self):
        """What guest-apps.sh calls it."""
        return "bare" if self.side == "bare" else "ressd"

    def sizes(self):
        """What of apps.conf is another."""
        return [f"OLTP_ROWS={ROWS[self.configuration]}", f"OLTP_EVENTS={TRANSACTIONS}",
                "OLTP_ENGINE=myisam"]

    def settings(self):
        """What its result depends on."""
        return f"{OPTIONS.get(self.side)}, {self.size}, {self.sizes()}, " \
               f"{digest(*(drives.HERE / name for name in SOURCES))}\n"

    def guest(self, top):
        """The guest that measures it; its table is the same with every reserved area."""
        setting = app_inputs.sizes(self.sizes())
        options = OPTIONS.get(self.side, "none")
        guest = apps.guest(self.profile, LOAD, [self.guest_side], options, setting,
                           self.folder(top))
        if self.size:
            apps.settings_file({**setting, "APPS_RESERVED_MB": SIZES[self.size]},
                               apps.place(self.profile, LOAD, self.folder(top)))
        return guest

    def results(self, top):
        """Where its figures are."""
        return apps.place(self.profile, LOAD, self.folder(top)) / "new"

    @property
    def prefix(self):
        """What their names begin with."""
        return self.guest_side


class Transactions(re_postmark.OneDrive):
    """Fig. 6, one drive."""

    figure = "re-6"
    what = "Transactions of sysbench OLTP"
    configurations = list(ROWS)
    run_type = Run

    def of(self, configuration):
        """All runs of a configuration with ressd; the largest area first."""
        return [Run(self.profile, rules, configuration, size)
                for size in AREAS[::-1] for rules in RULES]

    def runs(self):
        """The largest table first, of which most is published."""
        return [run for name in reversed(ROWS)
                for run in (Run(self.profile, "bare", name), *self.of(name))]

    def with_ressd(self):
        """All but the bare drive."""
        return [run for name in ROWS for run in self.of(name)]

    def gain(self, top, run):
        """Times as many transactions a second as on the bare drive."""
        return run.found(top, "tps") / run.bare().found(top, "tps")

    def rows(self, top):
        """Ratios."""
        return [row(f"re-6/{run.side}-{self.drive}/OLTP-{run.configuration}-{run.size}",
                    self.gain(top, run), why=self.why(top, run), runs=[run, run.bare()])
                for run in self.measured(top)]

    def why(self, top, run):
        """What was written, and how."""
        return f"bare {run.bare().found(top, 'tps'):.3g} transactions a second, with it " \
               f"{run.found(top, 'tps'):.3g}; {run.found(top, 'small_permille') / 10:g} % of the " \
               f"writes were small and random, {run.found(top, 'logged'):.0f} blocks, of which " \
               f"{run.found(top, 'moved_sectors') / 8:.0f} were moved in " \
               f"{run.found(top, 'moves'):.0f} writes"

    def data(self, top):
        """Transactions a second, as the figure has them; the ratios in a table."""
        return {"unit": "transactions/s", "drive": "emulated, 1/16 of the paper's sizes; sizes "
                "as there", "groups": [f"OLTP-{name}" for name in self.groups(top)],
                "series": {**self.bare(top, "tps"),
                           **self.series(top, lambda run: run.found(top, "tps"))},
                "more": [("times bare", self.series(top, lambda run: self.gain(top, run)))]}

    def text(self, _kept):
        """How."""
        return f"MariaDB, MyISAM, sysbench oltp_read_write with 16 threads, {TRANSACTIONS} " \
               "transactions, a 16th of RE's, on a table of a 16th of RE's rows; sizes are " \
               "those of RE's reserved area."


class Sized(re_postmark.Sized):
    """Table 5: rows; how large the table is was not noted."""

    name = "re-table5"
    title = "Rows of sysbench OLTP's configurations"

    def rows(self, _top):
        """16 times what runs here."""
        return [row(f"{self.name}/OLTP-{name}/rows", re_postmark.SCALE * rows)
                for name, rows in ROWS.items()]

    def data(self, top):
        """Published beside here."""
        return self.beside_published(top, "rows", f"times {re_postmark.SCALE}")

    def text(self, _kept):
        """That it is a setting."""
        return f"What is set for the runs here, times {re_postmark.SCALE}. How large the table " \
               "is then was not measured."


class SmallShare(re_postmark.SmallShare):
    """Table 6: how many writes the paper's rule takes for small and random."""

    name = "re-table6"
    title = "Writes taken for small and random, sysbench OLTP"

    def runs(self):
        """On one drive: the router knows nothing of it."""
        return [Run("samsung", "paper", configuration, "0.75-GB") for configuration in ROWS]

    def rows(self, top):
        """Percent."""
        return [row(f"{self.name}/small-random/OLTP-{run.configuration}",
                    run.found(top, "small_permille") / 10, runs=[run])
                for run in self.measured(top)]

    def text(self, _kept):
        """By whose rule."""
        return "By the paper's rules, with 0.75 GB reserved."


class Moves(re_postmark.Moves):
    """Fig. 8."""

    name = "re-8"
    load = "OLTP-C"
    title = "The mover's writes of 12 KB and more, OLTP-C"
    # They stand when the count begins: the mount before has caused them.
    COVERS = dict.fromkeys(re_postmark.Moves.COVERS, 0)

    def runs(self):
        """Those of the mover."""
        return self.measurements()

    def measurements(self):
        """On SSD-A."""
        return [Run("samsung", rules, "C", size) for rules in RULES for size in self.POINTS]


FIGURES = [Sized(), *(Transactions(profile) for profile in RE_DRIVES), SmallShare(), Moves()]
