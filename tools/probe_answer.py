# SPDX-License-Identifier: GPL-2.0-only
"""What ressd-probe promises of a drive beside what the target gains on it; tools/probe-score.py.

The gain is measured by build/bin/mover-model: the target's core and the emulated drive without
noise, in the areas and with the options that the probe advises (its defaults where it advises
none). What is said to be worth it is measured by all of the table line; another verdict is on the
log, so there all writes go through it. Random writes of 4 KiB over the whole normal area; the bare
drive until its log blocks or spare blocks are used up, the target for two rounds of the log behind
two others. docs/probe.md says how well the model agrees with the guest. What the loads of
judge/loads.h gain is measured behind them, by all of the table line wherever there is one, and
compared with the range that is said.
"""
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

MODEL = "build/bin/mover-model"
SECTORS_OF_MB = 2048
MOST_AGING = 400000  # random writes until a drive that maps pages is used up
FEW_WRITES = 4096  # measured where each is slow
SECONDS = 300  # real ones, until a run of the model counts as hung

# A verdict is wrong if it advises ressd where it loses, or against it from this gain on: the
# verdict's own bar is 1.2, and that much again may be chance.
MISSED_GAIN = 1.44

# Option -> key of the model and what one unit of it is.
KEYS = {
    "log_align_sectors": ("align", 8),
    "log_page_sectors": ("page", 8),
    "segment_sectors": ("segment", 8),
    "move_batch_sectors": ("batch", 8),
    "move_block_sectors": ("visit", 8),
    "move_fill_blocks": ("fill", 1),
    "move_threshold": ("threshold", 1),
    "log_cost_us": ("log_cost_us", 1),
    "open_units": ("open_units", 1),
    "small_write_sectors": ("small_kb", 2),
}
# Options that are words -> keys of the model.
WORDS = {
    ("log_rewrite", "on"): "rewrite=1",
    ("route", "adaptive"): "adaptive=1",
    ("on_full", "bypass"): "bypass=1",
}
# The loads of judge/loads.h; below as keys of the model, of which those of one hold for the next.
# Commits go on until the log holds nothing else; the others begin and end with an empty log.
LOADS = ["database-commit", "package-installation", "large-copy"]
INSTALLATION = ["fsync=0", "drain=1", "total_mb=1", "then", "install=1", "total_mb=64"]
COPY = ["install=0", "flows=1", "write_kb=512", "total_mb=256", "then", "total_mb=256"]
PAST_THE_LOG = ("adaptive=1", "bypass=1")
# What says how a drive is seen, not what it is.
SEEN = ("noise_", "interference_")


def loads(before, commits):
    """Words for the loads: commits, after some @before that do not count, and the others."""
    return ["then", "fsync=1", before, "then", commits, "then", *INSTALLATION, "then", *COPY]


LINES = (2, 4, 6)  # of the loads among the model's, behind that of random writes


class Answer:
    """What the probe says of one drive."""

    def __init__(self, name, rows, profile):
        self.name = name
        self.profile = [word for word in profile if not word.startswith(SEEN)]
        self.words = dict(word.split("=", 1) for word in self.profile)
        self.advice, self.predicted, self.gain, self.working_set = {}, None, None, 0
        self.promised, self.gained = {}, {}
        self.verdict, self.needed, self.overwritten, self.close = None, 0, 0, False
        for row in rows:
            if row[1] == "advice":
                self.advice[row[2]] = row[3]
            elif row[1] == "predicted":
                self.predicted = int(row[2]) / 100
            elif row[1] == "load":
                self.promised[row[2]] = (int(row[3]) / 100, int(row[4]) / 100)
            elif row[1] == "working-set":
                self.working_set, self.overwritten = int(row[2]), int(row[3])
            elif row[1] == "verdict":
                self.verdict, self.needed = row[2], int(row[3])
                self.close = "it is close" in row[-1]
            elif row[1] == "plan":
                self.normal, self.reserved, self.offset, self.host_ns = map(int, row[2:6])

    def number(self, key, default=0):
        """A key of the profile."""
        return int(self.words.get(key, default))

    def kind(self):
        """How the drive maps what it holds."""
        if self.words.get("ftl") == "page":
            return "page"
        return "full" if self.words.get("log_association") == "full" else "block"

    def aging(self):
        """Random writes until its spare blocks are used up."""
        page = (self.number("channels", 1) * self.number("planes", 1) *
                self.number("page_bytes", 4096))
        pages = (self.number("capacity_mb") << 20) // self.number("scale", 1) // page
        if self.kind() == "page":
            return min(pages, MOST_AGING)
        if self.kind() == "full":
            return min(2 * pages * self.number("log_ppm", 20000) // 1000000, MOST_AGING)
        return FEW_WRITES

    def options(self, whole_line):
        """The options that the probe advises, as keys of the model; or those of the log alone."""
        words = []
        for option, (key, unit) in KEYS.items():
            value = int(self.advice.get(option, 0)) // unit
            if value:
                words.append(f"{key}={value}")
        words += [word for pair, word in WORDS.items() if pair in self.advice.items()]
        if not whole_line:
            words = [word for word in words if word not in PAST_THE_LOG]
        return words

    def is_wrong(self):
        """Advised where it loses, or advised against where it gains.

        Who is told that it gains if so much is overwritten in the log, and that these writes
        overwrite more, is told that they gain.
        """
        if self.verdict == "worth-it" or (self.verdict == "worth-it-with-locality" and
                                          self.needed <= self.overwritten):
            return self.gain < 1
        return self.verdict != "unknown" and self.gain >= MISSED_GAIN

    def run(self, path, words):
        """MB/s of each load of one run of the model."""
        done = subprocess.run([MODEL, path, *words], capture_output=True, text=True, check=False,
                              timeout=SECONDS)
        if done.returncode:
            raise RuntimeError(f"{self.name}: mover-model failed: {done.stderr}")
        return [float(line.split()[0]) for line in done.stdout.splitlines() if " MB/s " in line]

    def measure(self):
        """The gain; what the loads gain is that of all of the table line, where there is one."""
        reserved_mb = max(self.reserved // SECTORS_OF_MB, 1)
        span = (self.working_set >> 20) or self.normal // SECTORS_OF_MB
        common = [f"span_mb={span}", f"reserved_mb={reserved_mb}",
                  f"reserved_kb={self.reserved % SECTORS_OF_MB // 2}", f"offset={self.offset}",
                  f"host_ns={self.host_ns}"]
        aging = max(self.aging() * 4 // 1024, 1)
        few = f"total_mb={max(min(aging // 2, FEW_WRITES * 8 // 1024), FEW_WRITES * 4 // 1024)}"
        rounds = f"total_mb={2 * reserved_mb}"
        # A commit takes two blocks of the log: once round it, and twice.
        once, twice = f"total_mb={max(reserved_mb // 2, 1)}", f"total_mb={reserved_mb}"
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as profile:
            profile.write("\n".join(self.profile))
            profile.flush()

            def ressd(whole_line):
                return self.run(profile.name, [
                    *common, *self.options(whole_line), "bare=1", f"warm_mb={aging}",
                    "total_mb=1", "then", "bare=0", "threads=1", rounds, "then", rounds,
                    *loads(once, twice)])[2:]
            bare = self.run(profile.name, [
                *common, "bare=1", f"warm_mb={aging}", few, *loads(few, few)])
            log = ressd(self.verdict == "worth-it")
            line = ressd(True) if self.verdict == "worth-it-with-locality" else log
        self.gain = log[0] / bare[0]
        if self.promised:
            self.gained = {load: line[at] / bare[at]
                           for load, at in zip(LOADS, LINES, strict=True)}

    def knows_block(self):
        """Is a clustered block advised?"""
        return "move_block_sectors" in self.advice

    def holds(self, load):
        """Does the true gain lie within the range?"""
        low, high = self.promised[load]
        return low <= self.gained[load] <= high

    def width(self, load):
        """High over low."""
        low, high = self.promised[load]
        return high / low


class Answers:
    """Of all drives of one kind, with their gains."""

    def __init__(self, score, lines, jobs):
        profiles = {line.split()[0]: line.split()[2:] for line in lines}
        rows = {}
        for row in score.rows:
            rows.setdefault(row[0], []).append(row)
        self.drives = [Answer(name, rows[name], profiles[name]) for name in rows]
        self.failures = []
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(self._measure, self.drives))
        self.drives = [drive for drive in self.drives if drive.gain]

    def _measure(self, drive):
        try:
            drive.measure()
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            self.failures.append(f"{drive.name}: {error}")

    def said(self, load, blocks=False):
        """Drives of which the gain of @load is said; with @blocks those whose block is known."""
        return [drive for drive in self.drives
                if load in drive.promised and (drive.knows_block() or not blocks)]

    def load_rows(self):
        """Of ranges, like rows()."""
        for load in LOADS:
            drives = self.said(load)
            held = 100 * sum(drive.holds(load) for drive in drives) / max(len(drives), 1)
            yield f"range-holds-{load}/random/percent", held, "%", ">=90"
            yield (f"range-width-{load}/random/median",
                   at(sorted(drive.width(load) for drive in drives), 0.5), "x", None)
        widths = sorted(drive.width(LOADS[0]) for drive in self.said(LOADS[0], blocks=True))
        yield f"range-width-{LOADS[0]}-known-block/random/median", at(widths, 0.5), "x", "<=2"

    def percent(self, condition):
        """Of all drives."""
        return 100 * sum(map(condition, self.drives)) / max(len(self.drives), 1)

    def ratios(self, kind=None):
        """Predicted over measured, ascending."""
        return sorted(drive.predicted / drive.gain for drive in self.drives
                      if drive.predicted and kind in (None, drive.kind()))

    def print_table(self, title):
        """What was promised and what was gained, for each kind of drive."""
        print(f"\n{title}: {len(self.drives)} drives, random writes of 4 KiB")
        print("| mapped by | drives | right | wrong | undecided | predicted over measured gain: "
              "10 %, half, 90 % |")
        print("|---|---|---|---|---|---|")
        for kind, name in (("block", "block, a log block each"), ("full", "block, shared logs"),
                           ("page", "page")):
            drives = [drive for drive in self.drives if drive.kind() == kind]
            unknown = sum(drive.verdict == "unknown" for drive in drives)
            wrong = sum(drive.is_wrong() for drive in drives)
            print(f"| {name} | {len(drives)} | {len(drives) - wrong - unknown} | {wrong} | "
                  f"{unknown} | {quantiles(self.ratios(kind))} |")
        print("| load | with a line | known | gain: 10 %, half, 90 % | high over low: likewise |")
        print("|---|---|---|---|---|")
        for load in LOADS:
            drives = self.said(load)
            print(f"| {load} | {sum(bool(drive.promised) for drive in self.drives)} | "
                  f"{len(drives)} | {quantiles(sorted(drive.gained[load] for drive in drives))} | "
                  f"{quantiles(sorted(drive.width(load) for drive in drives))} |")
            for drive in drives:
                if not drive.holds(load):
                    low, high = drive.promised[load]
                    print(f"not in range: {drive.name} {load}, {low} to {high}, "
                          f"gains {drive.gained[load]:.2f}")
        for drive in self.drives:
            if drive.is_wrong():
                print(f"wrong: {drive.name} {drive.verdict}, predicted {drive.predicted}, "
                      f"gains {drive.gain:.2f}")
        for failure in self.failures:
            print("failed:", failure)

    def print_each(self):
        """A line for each drive."""
        for drive in self.drives:
            print(f"{drive.name}: {drive.verdict}, predicted {drive.predicted}, gains "
                  f"{drive.gain:.2f}{', wrong' if drive.is_wrong() else ''}; " +
                  ", ".join(f"{load} {drive.promised.get(load, 'not known')}, "
                            f"{drive.gained[load]:.2f}" for load in drive.gained))

    def print_others(self, quick):
        """Where --quick differs."""
        decided = [drive for drive in self.drives if drive.verdict != "unknown"]
        for drive in decided:
            other = quick.get(drive.name)
            if other != drive.verdict:
                print(f"quick: {drive.name} {drive.kind()}, {other} instead of {drive.verdict}"
                      f"{', which is close' if drive.close else ''}")

    def rows(self, quick):
        """The rows of the answer: ID, value, unit, bar. @quick: name -> verdict of --quick."""
        ratios = self.ratios()
        agree = self.percent(lambda drive: quick.get(drive.name) == drive.verdict)
        self.print_others(quick)
        turned = sum(drive.verdict == "worth-it" and quick.get(drive.name) == "not-worth-it"
                     for drive in self.drives)
        return [
            ("verdict-wrong/random/percent", self.percent(Answer.is_wrong), "%", "<=0.5"),
            ("verdict-undecided/random/percent",
             self.percent(lambda drive: drive.verdict == "unknown"), "%", "<=5"),
            ("gain-ratio/random/median", at(ratios, 0.5), "x", ">=0.9"),
            ("gain-ratio/random/p10", at(ratios, 0.1), "x", ">=0.7"),
            ("gain-ratio/random/p90", at(ratios, 0.9), "x", "<=1.4"),
            ("quick-agrees/random/percent", agree, "%", ">=95"),
            ("quick-turned/random/count", turned, "drives", "==0"),
            *self.load_rows(),
        ]


def at(ratios, share):
    """The value below which that share of them lies."""
    return ratios[min(int(len(ratios) * share), len(ratios) - 1)] if ratios else 0


def quantiles(ratios):
    """As text."""
    if not ratios:
        return "-"
    return f"{at(ratios, 0.1):.2f}, {statistics.median(ratios):.2f}, {at(ratios, 0.9):.2f}"
