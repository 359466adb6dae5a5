#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of mover-model: loads and traces end, and write what they are asked to write."""

import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parents[2]
PROFILES = TOP / "tests/ssdsim/profiles"
SETTINGS = "capacity_mb=200 reserved_mb=16 visit=1024 page=4 open_units=2 small_kb=128 threshold=20"
SECONDS = 300		# a run takes less than one of a processor


def run_on(profile, words):
    """What mover-model prints of a drive."""
    return subprocess.run([TOP / "build/bin/mover-model", PROFILES / f"{profile}.conf",
                           *words.split()],
                          check=True, capture_output=True, text=True, timeout=SECONDS).stdout


def trace_of(writes, flush_every):
    """Small random writes of one program, as --record-traces writes them."""
    draw = random.Random(1)
    lines, now = ["# phase setup 0", "# phase run 1"], 10**6
    for number in range(writes):
        sector = draw.randrange(0, 100 << 11, 8)
        lines.append(f"{now} {now + 1000} W {sector} 8 - test-1")
        now += 10**6
        if number % flush_every == flush_every - 1:
            lines.append(f"{now} {now + 1000} F 0 0 PREFLUSH+SYNC test-1")
            now += 10**6
    lines += [f"# phase unmount {now}", f"# phase drain {now}", f"# phase end {now}"]
    return "\n".join(lines) + "\n"


def blocks(output, what):
    """How many blocks were logged, direct, moved, in all phases."""
    return sum(int(found) for found in re.findall(rf"\b{what} (\d+)", output))


# A drive that maps pages, and what ressd-probe advises of it: random-22 of seed 310723 of
# tools/probe-score.py.
PAGES = """channels=8 planes=1 page_bytes=8192 ways=1 block_pages=64 die_sets=2 channel_sets=1
spare_bytes=256 read_ns=37000 program_ns=891000 program_slow_ns=0 erase_ns=4800000 bus_read_ps=10000
bus_write_ps=28000 copyback=1 command_ns=65000 host_read_ns=166000 interface_mb_s=93 ftl=page
firmware=serial overprovision_ppm=58000 gc_threshold_ppm=15000 map_cache_pages=0 read_buffer_kb=128
write_buffer_kb=192 prefetch_pages=0 partial_read=1 partial_update=0 write_buffer_match=tail
write_buffer_order=fifo write_buffer_drain=room write_buffer_idle_us=2383 write_cache=1
capacity_mb=6800 max_request_kb=128 slc_mb=95 slc_program_ns=161000 erase_on_open=1 span_mb=681
reserved_mb=341 reserved_kb=700 offset=12936 align=16 batch=128 threshold=50 log_cost_us=927
small_kb=8 adaptive=1"""


class MoverBesideTrialTest(unittest.TestCase):
    """Route adaptive, where a load follows another one."""

    def test_a_trial_does_not_time_the_mover(self):
        # The log was full of random writes, so commits, tried direct, met the mover: 15.9 ms each
        # instead of 2.  So the log, at 8 ms, was kept for the next 130,000 of them: 0.39 of bare.
        output = run_on("ocz", f"{PAGES} bare=1 warm_mb=425 total_mb=1 then bare=0 threads=1 "
                        "total_mb=682 then total_mb=682 then fsync=1 total_mb=170")
        direct, of = re.findall(r"^direct (\d+) of (\d+)", output, re.MULTILINE)[-1]
        self.assertGreater(int(direct), int(of) // 2)


class ReplayTest(unittest.TestCase):
    """Traces, several times round the log, so that the mover has to come more than once."""

    def test_a_replay_ends_and_all_is_home(self):
        # Since core looks at few nodes at a time a pick may find none yet.  That was taken for the
        # end of the sweep, and the next one began where that had: a replay did not end, or aborted.
        with tempfile.NamedTemporaryFile("w", suffix=".trace") as file:
            file.write(trace_of(12000, 4))
            file.flush()
            output = run_on("sdcard", f"{SETTINGS} rewrite=1 replay={file.name}")
        self.assertEqual(blocks(output, "logged") + blocks(output, "direct"), 12000)
        self.assertGreater(blocks(output, "moved"), 1000)

    def test_a_trace_of_a_larger_device_is_refused(self):
        # The replay did not end: the sweep found a block behind the end of all units.
        lines = ["# phase setup 0", "# phase run 1", "1000 9000 W 400000 8 - test-1",
                 "# phase unmount 9900", "# phase end 9950"]
        with tempfile.NamedTemporaryFile("w", suffix=".trace") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            with self.assertRaises(subprocess.CalledProcessError) as refused:
                run_on("sdcard", f"{SETTINGS} replay={file.name}")
        self.assertEqual(refused.exception.returncode, 2)
        self.assertIn("normal area ends at", refused.exception.stderr)

    def test_a_phase_may_end_behind_the_first_flush_of_the_next(self):
        # When it was recorded, the flush found nothing in the drive's buffer. (Found with buffered
        # writes on the SD card: the replay waited for ever.)
        lines = ["# phase setup 0", "# phase run 1", "1000 9000 W 0 8 META kworker-1",
                 "2000 9500 W 800 8 META kworker-1", "# phase unmount 5000",
                 "9100 9200 F 0 0 PREFLUSH+SYNC umount-2", "# phase drain 9900", "# phase end 9950"]
        with tempfile.NamedTemporaryFile("w", suffix=".trace") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            output = run_on("sdcard", f"{SETTINGS} bare=1 replay={file.name}")
        self.assertEqual(blocks(output, "direct"), 2)


class TrialTest(unittest.TestCase):
    """Trials of route adaptive, of commits on a log that is full of random writes."""

    def test_commits_after_random_writes(self):
        # It did not end: a mover ahead of its writer waited for that, and the writer for the trial.
        words = ("capacity_mb=1024 span_mb=180 reserved_mb=90 log_cost_us=601 adaptive=1 align=8 "
                 "small_kb=4 seed={} bare=1 warm_mb=220 total_mb=1 then bare=0 threads=1 "
                 "total_mb=180 then total_mb=180 then fsync=1 total_mb=45")
        for seed in (1, 2):
            output = run_on("ocz", words.format(seed))
            direct, longest = re.findall(r"^direct (\d+) of.*\n.* longest (\d+) ms", output,
                                         re.MULTILINE)[-1]
            # They take half of the time directly, but not beside a sweep: the log kept them.
            self.assertGreater(int(direct), 11000, output)
            # For as long as all of the log comes home, 6 s, they do not wait.
            self.assertLess(int(longest), 1000, output)


class PageTest(unittest.TestCase):
    """Records that are written with all of their page."""

    def test_a_drain_ends_with_rewritten_pages(self):
        # Each record was encoded twice, and the page's start copied in front of it both times.
        words = ("capacity_mb=3580 span_mb=256 reserved_mb=32 visit=4096 page=32 fill=15 "
                 "threshold=20 total_mb=48 rewrite=1 drain=1")
        output = run_on("supertalent", words)
        self.assertGreater(int(re.findall(r"(\d+) moved", output)[-1]), 10000)


class PaceTest(unittest.TestCase):
    """Writers without a rest, in the model's virtual time."""

    def test_no_write_waits_for_many_visits(self):
        # A stick of 454 units, whose segments have four times as many blocks as are looked at: when
        # visits that are not seen did not count, a write waited for 20 visits, 28 s.
        words = ("span_mb=3632 reserved_mb=192 segment=2048 page=2 visit=2048 fill=154 "
                 "threshold=20 bare=1 warm_mb=16 total_mb=1 then bare=0 threads=1 total_mb=384 "
                 "then total_mb=384")
        output = run_on("usbstick", words)
        longest = float(re.findall(r"longest ([\d.]+)$", output, re.MULTILINE)[-1])
        self.assertLess(longest, 6000, output)


class RouteTest(unittest.TestCase):
    """Writers beside the log send writes past it as the target does."""

    def run_intel(self, *settings):
        """MB/s of the bare drive, of the target, and its blocks past the log, of 96 MB each."""
        words = ("capacity_mb=1000 span_mb=900 reserved_mb=48 bare=1 warm_mb=256 total_mb=32 "
                 f"then bare=0 threads=1 {' '.join(settings)} total_mb=96 then total_mb=96")
        output = run_on("intel", words)
        speeds = [float(speed) for speed in re.findall(r"([\d.]+) MB/s", output)]
        return speeds[0], speeds[-1], int((re.findall(r"direct (\d+) of", output) or [0])[-1])

    def test_an_installation_is_written_back(self):
        # The drain behind a load by threads was the simple host's: it ended their records again.
        words = (f"{SETTINGS} span_mb=128 bare=1 warm_mb=1 total_mb=1 then bare=0 threads=1 "
                 "bypass=1 total_mb=40 install=1 drain=1 ")
        for routes, logged in (("", 8192), ("open_units=0 small_kb=16", 384)):
            output = run_on("sdcard", words + routes)
            direct = int(re.search(r"direct (\d+) of 10240", output)[1])
            # Metadata come twice.
            self.assertLessEqual(direct, 10240 - logged // 2, output)
            self.assertGreaterEqual(int(re.findall(r"(\d+) moved", output)[-1]), logged // 2)
        with self.assertRaises(subprocess.CalledProcessError):
            run_on("sdcard", "install=1 span_mb=64")

    def test_route_adaptive_leaves_a_log_that_loses(self):
        # The writer of threads=1 knew no route: all went through the log, whatever adaptive= said.
        bare, logged, none = self.run_intel()
        _, adaptive, direct = self.run_intel("adaptive=1")
        self.assertLess(logged, 0.8 * bare)
        self.assertGreater(adaptive, 0.9 * bare)
        self.assertEqual((none, direct), (0, 96 * 256))

    def test_a_full_log_is_bypassed(self):
        _, logged, _ = self.run_intel()
        _, bypassed, direct = self.run_intel("bypass=1")
        self.assertGreater(bypassed, 1.1 * logged)
        self.assertGreater(direct, 500)


if __name__ == "__main__":
    unittest.main()
