#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of the application suite: its rows from invented figures, sizes, and traces of bios."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / "bench"), str(TOOLS / "demo"), str(TOOLS)]

import app_inputs  # noqa: E402
import apps  # noqa: E402
import bio_trace  # noqa: E402
import other_loads  # noqa: E402
import others  # noqa: E402
import pattern_trace  # noqa: E402
import request_table  # noqa: E402
from guests import GuestError  # noqa: E402

FIGURES = {"run_ms": 8000, "unmount_ms": 1000, "drain_ms": 1000, "erases": 100, "bytes": 10**6}


def write_figures(folder, profile, load, sides, part="figures"):
    """Figures of sides: what differs from FIGURES."""
    home = apps.place(profile, load, folder)
    target = home / part
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(f"{side}.{key} {value}\n" for side, changes in sides.items()
                              for key, value in {**FIGURES, **changes}.items()))


def measured(profile, load, sides):
    """A load with these sides."""
    with tempfile.TemporaryDirectory() as folder:
        write_figures(Path(folder), profile, load, sides)
        return apps.Load(profile, load, Path(folder))


def rows(load):
    """Its rows, to be found by their metrics."""
    return {row["id"].split("/")[2]: row for row in apps.rows_of(load)}


class RowsTest(unittest.TestCase):
    """What the figures of one load become."""

    def test_unmount_and_drain_count(self):
        found = rows(measured("ocz", "git", {"bare": {"run_ms": 3000, "drain_ms": 0},
                                             "ressd": {"run_ms": 2000, "drain_ms": 5000}}))
        self.assertEqual(found["ratio"]["value"], 0.5)
        self.assertFalse(found["ratio"]["ok"])
        self.assertEqual(found["ressd-seconds"]["value"], 8.0)

    def test_the_issues_bars_hold_on_their_drives(self):
        sides = {"bare": {"run_ms": 24000}, "ressd": {}}
        self.assertEqual(rows(measured("sdcard", "sqlite-wal", sides))["ratio"]["bar"], ">=1.5")
        self.assertEqual(rows(measured("sdcard", "dpkg", sides))["ratio"]["bar"], ">=0.97")
        self.assertEqual(rows(measured("intel", "sqlite-wal", sides))["ratio"]["bar"], ">=0.97")

    def test_the_best_f2fs_is_the_rival(self):
        load = measured("sdcard", "git", {"bare": {}, "ressd": {"run_ms": 3000},
                                          "f2fs": {"run_ms": 18000}, "f2fs-tuned": {}})
        self.assertEqual(load.best_rival(), "f2fs-tuned")
        self.assertEqual(rows(load)["ratio-f2fs"]["value"], 2.0)
        self.assertEqual(rows(load)["ratio-f2fs"]["bar"], ">=1")

    def test_a_rival_has_no_bar_on_page_mapped_drives(self):
        found = rows(measured("ocz", "git", {"bare": {}, "ressd": {}, "f2fs": {"run_ms": 10}}))
        self.assertIsNone(found["ratio-f2fs"]["bar"])
        self.assertNotIn("ratio-on-xfs", found)

    def test_erases_are_bare_over_ressd(self):
        found = rows(measured("samsung", "git", {"bare": {"erases": 10}, "ressd": {"erases": 40}}))
        self.assertEqual(found["erases"]["value"], 0.25)
        self.assertFalse(found["erases"]["ok"])

    def test_no_erases_at_all_is_no_loss(self):
        found = rows(measured("samsung", "git", {"bare": {"erases": 0}, "ressd": {"erases": 0}}))
        self.assertTrue(found["erases"]["ok"])

    def test_p99_is_told_where_the_load_has_it(self):
        sides = {"bare": {"p99_us": 500000}, "ressd": {"p99_us": 250000}}
        found = rows(measured("sdcard", "etcd", sides))
        self.assertEqual((found["p99-ratio"]["value"], found["p99-ratio"]["ok"]), (2.0, False))
        self.assertNotIn("p99-ratio", rows(measured("sdcard", "git", {"bare": {}, "ressd": {}})))

    def test_transactions_of_oltp_have_a_bar(self):
        sides = {"bare": {"tps": 10.0}, "ressd": {"tps": 17.0}}
        found = rows(measured("samsung", "oltp", sides))
        self.assertEqual((found["tps-ratio"]["value"], found["tps-ratio"]["ok"]), (1.7, False))

    def test_other_file_systems_are_held_against_themselves(self):
        found = rows(measured("samsung", "git", {"xfs": {}, "xfs-ressd": {"run_ms": 3000}}))
        self.assertEqual(found["ratio-on-xfs"]["value"], 2.0)
        self.assertNotIn("ratio", found)

    def test_no_figures_is_an_error(self):
        with self.assertRaises(GuestError):
            measured("samsung", "git", {})


class MeanTest(unittest.TestCase):
    """The geometric mean over all loads."""

    def loads(self, names):
        """Loads twice as fast with ressd."""
        return [measured("sdcard", name, {"bare": {"run_ms": 18000}, "ressd": {}})
                for name in names]

    def test_mean_of_all_loads(self):
        found = apps.mean_rows(self.loads(apps.LOADS))
        self.assertEqual([row["id"] for row in found], ["app-mean/sdcard/ratio"])
        self.assertEqual((found[0]["value"], found[0]["bar"]), (2.0, ">=3"))

    def test_some_loads_have_no_mean(self):
        self.assertEqual(apps.mean_rows(self.loads(["git", "dpkg"])), [])


class MergeTest(unittest.TestCase):
    """Figures of a side run anew replace only its own."""

    def test_a_side_is_replaced_whole(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_figures(folder, "ocz", "etcd", {"bare": {}, "ressd": {"p99_us": 5}})
            write_figures(folder, "ocz", "etcd", {"ressd": {"run_ms": 1}}, "new/figures")
            apps.merge("ocz", "etcd", folder)
            load = apps.Load("ocz", "etcd", folder)
            self.assertEqual(load.seconds("bare"), 10.0)
            self.assertEqual(load.value("ressd", "run_ms"), 1)
            self.assertIsNone(load.value("ressd", "p99_us"))


class SidesTest(unittest.TestCase):
    """Which sides a load has."""

    def test_swap_has_no_file_systems(self):
        self.assertEqual(apps.sides_of("swap", apps.SIDES), ["bare", "ressd"])
        self.assertEqual(apps.sides_of("swap", ["xfs"]), [])
        self.assertEqual(apps.sides_of("git", apps.SIDES), apps.SIDES)


class ProgramsTest(unittest.TestCase):
    """Programs of this machine for the guest."""

    def test_a_program_comes_with_its_libraries(self):
        with tempfile.TemporaryDirectory() as name:
            app_inputs.add_programs(Path(name), ["tar"])
            self.assertTrue((Path(name) / "usr/bin/tar").exists())
            self.assertTrue(list(Path(name).glob("usr/lib/*/libc.so.6")))


class SizesTest(unittest.TestCase):
    """apps.conf and what the command line changes of it."""

    def test_a_size_is_changed(self):
        self.assertEqual(app_inputs.sizes(["ETCD_KB=7"])["ETCD_KB"], 7)

    def test_an_unknown_size_is_a_sentence(self):
        with self.assertRaisesRegex(app_inputs.InputError, "'NOTHING' is no size of apps.conf"):
            app_inputs.sizes(["NOTHING=1"])

    def test_a_size_is_a_number_above_0(self):
        for change in ("ETCD_KB=0", "ETCD_KB=-1", "ETCD_KB=big", "ETCD_KB"):
            with self.assertRaisesRegex(app_inputs.InputError, "ETCD_KB is a number above 0"):
                app_inputs.sizes([change])

    def test_every_load_is_in_the_script(self):
        script = (TOOLS / "bench/app-loads.sh").read_text()
        for load in apps.LOADS:
            self.assertIn(f"\napp_{load}() {{", script)
            self.assertIn(f"\nprepare_{load}() {{", script)


class OtherLoadsTest(unittest.TestCase):
    """Loads that the suite does not have, and made-up patterns."""

    def test_names_are_their_own(self):
        self.assertIn("tar-journal", other_loads.LOADS)
        for name, load in other_loads.LOADS.items():
            self.assertNotIn(name, apps.LOADS)
            self.assertTrue(load.__doc__, name)
            self.assertTrue(hasattr(load, "run"), name)

    def test_some_run_here(self):
        with tempfile.TemporaryDirectory() as folder:
            other_loads.HOME = folder
            for name in ("camera", "upgrade", "import", "video"):
                load = other_loads.LOADS[name](1, 1)
                load.prepare()
                load.run()
            self.assertEqual((Path(folder) / "film0").stat().st_size, 32 << 20)

    def test_streams_by_turns_with_a_flush_each(self):
        bios = list(pattern_trace.bios_of(pattern_trace.parse(
            "--kb 64 --run-kb 0 --flush-kb 128 --streams 2 --span 512 --mb 1".split())))
        self.assertEqual(bios[:4], ["W 131072 128 SYNC", "W 655360 128 SYNC",
                                    pattern_trace.FLUSH, "W 131200 128 SYNC"])

    def test_random_writes_are_the_usual(self):
        sectors = [int(bio.split()[1]) for bio in pattern_trace.bios_of(pattern_trace.parse(
            "--span 128 --writes 500".split()))]
        self.assertEqual(len(sectors), 500)
        self.assertGreater(len(set(sectors)), 480)

    def test_every_pattern_has_writes(self):
        for words in others.PATTERNS.values():
            self.assertTrue(any(pattern_trace.bios_of(pattern_trace.parse(words.split()))))


LINES = """# tracer: nop
        mkfs.ext4-20      [000] .....     1.000010: tracing_mark_write: phase run
         sqlite3-33      [000] ..... 1.000100: block_bio_queue: 254,0 WS 800 + 8 [sqlite3]
 jbd2/dm-0-8-303      [000] ..... 1.000110: block_bio_queue: 254,0 FWFSM 1600 + 8 [jbd2/dm-0-8]
          <idle>-0       [000] ..s.. 1.000200: block_bio_complete: 254,0 WS 800 + 8 [0]
          <idle>-0       [000] ..s.. 1.000300: block_bio_complete: 254,0 WFSM 1600 + 8 [0]
         sqlite3-33      [000] ..... 1.000400: block_bio_queue: 254,0 FWS 0 + 0 [sqlite3]
         sqlite3-33      [000] ..... 1.000410: block_bio_queue: 254,0 RA 80 + 16 [sqlite3]
         sqlite3-33      [000] ..... 1.000420: tracing_mark_write: phase end
""".splitlines()


REQUESTS = """# normal_sectors 1600
# tracer: nop
         sqlite3-33      [000] ..... 1.000100: block_rq_issue: 254,0 WS 4096 () 800 + 8 [sqlite3]
    kworker/0:1H-8       [000] ..... 1.000200: block_rq_issue: 254,0 WFSM 8192 () 1600 + 16 [0]
          <idle>-0       [000] ..s.. 1.000300: block_rq_complete: 254,0 WS () 800 + 8 [0]
          <idle>-0       [000] ..s.. 1.000800: block_rq_complete: 254,0 WFSM () 1600 + 16 [0]
    kworker/0:1H-8       [000] ..... 1.000900: block_rq_issue: 254,0 FF 0 () 0 + 0 [kworker]
          <idle>-0       [000] ..s.. 1.001900: block_rq_complete: 254,0 FF () 0 + 0 [0]
         sqlite3-33      [000] ..... 1.002000: block_rq_issue: 254,0 R 4096 () 800 + 8 [sqlite3]
""".splitlines()


class RequestsTest(unittest.TestCase):
    """What the kernel prints of requests."""

    def test_kinds_and_tasks(self):
        lines = [line.split() for line in request_table.table(REQUESTS).splitlines()]
        self.assertEqual(lines[1:], [["flush", "kworker", "1", "0.00", "0.001"],
                                     ["log", "write", "kworker", "1", "0.01", "0.001"],
                                     ["write", "sqlite3", "1", "0.00", "0.000"],
                                     ["all", "3", "0.01", "0.002"]])

    def test_what_has_not_completed_does_not_count(self):
        self.assertNotIn(("read", "sqlite3"), request_table.sums(REQUESTS))


class TraceTest(unittest.TestCase):
    """What the kernel prints of bios."""

    def test_bios_and_phases(self):
        self.assertEqual(list(bio_trace.lines_of(*bio_trace.parse(LINES))), [
            "# phase run 0",
            "90000 190000 W 800 8 SYNC sqlite3-33",
            "100000 290000 W 1600 8 PREFLUSH+FUA+SYNC+META jbd2/dm-0-8-303",
            "390000 - F 0 0 PREFLUSH+SYNC sqlite3-33",
            "400000 - R 80 16 AHEAD sqlite3-33",
            "# phase end 410000"])

    def test_an_unknown_bio_is_an_error(self):
        with self.assertRaises(bio_trace.TraceError):
            bio_trace.parse([LINES[2].replace("WS 800 + 8", "twelve")])
        with self.assertRaises(bio_trace.TraceError):
            bio_trace.decode("Q")


if __name__ == "__main__":
    unittest.main()
