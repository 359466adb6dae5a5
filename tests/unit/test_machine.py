#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The VM runner on a busy machine. A guest that does not come up is started anew, once (a shell
plays QEMU); its clock is right, and limits of time allow for the load."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "vm"))

import clock  # noqa: E402
import engines  # noqa: E402
from common import VmError  # noqa: E402
from machine import BOARDS, Killer, Run, kernel_parameters  # noqa: E402
from snapshot import is_usable  # noqa: E402

PATIENT = Path(__file__).resolve().parents[2] / "tools" / "patient.py"


class Boot(unittest.TestCase):
    """What becomes of guests by what they write to their console."""

    def go(self, script, timeout, boot, watched=True):
        """How it ended, and how often it was started."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            script = f"cd {folder}; echo >>starts; {script}"
            log = folder / "console" if watched else None
            run = Run(["sh", "-c", script], folder, timeout, Killer(None, 0), None, log, boot)
            run.go()
            return run.how, len((folder / "starts").read_text().splitlines())

    def test_a_guest_that_comes_up(self):
        """It is not disturbed, however long it runs."""
        script = "echo '[vm] start 6.64' >console; sleep 2"
        self.assertEqual(self.go(script, 600, 1), ("ended", 1))

    def test_a_guest_that_stands_still_once(self):
        """Found in CI: no line on the console for 120 s."""
        script = "[ $(wc -l <starts) -gt 1 ] || sleep 600; echo '[vm] start 6.64' >console"
        self.assertEqual(self.go(script, 600, 1), ("ended", 2))

    def test_a_guest_that_dies_once(self):
        """Seen with Linux 7.2: an int3 in sched_clock_cpu(), which it was patching."""
        script = "[ $(wc -l <starts) -gt 1 ] || exit 1; echo '[vm] start 6.64' >console"
        self.assertEqual(self.go(script, 600, 600), ("ended", 2))

    def test_a_guest_that_always_dies(self):
        """It does not go on for ever."""
        self.assertEqual(self.go("exit 1", 600, 600), ("ended", 2))

    def test_a_guest_that_never_comes_up(self):
        """The second time has the whole time limit."""
        self.assertEqual(self.go("sleep 600", 2, 1), ("timeout", 2))

    def restore(self, script):
        """How often something was started for a guest whose restored state does what the script
        says, and how often its snapshot was forgotten."""
        forgotten = []
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            begin = f"cd {folder}; echo >>starts; "
            restored = ["sh", "-c", begin + script]
            booted = ["sh", "-c", begin + "echo '[vm] start 6.64' >console"]
            snapshot = SimpleNamespace(command=lambda: (restored, None),
                                       forget=lambda: forgotten.append(1))
            run = Run(lambda: booted, folder, 600, Killer(None, 0), None, folder / "console", 600,
                      snapshot)
            run.go()
            self.assertEqual(run.how, "ended")
            return len((folder / "starts").read_text().splitlines()), len(forgotten)

    def test_a_guest_that_is_restored(self):
        """One that comes up is not booted, one that does not is, and its state is forgotten."""
        self.assertEqual(self.restore("echo '[vm] start 6.64' >console"), (1, 0))
        self.assertEqual(self.restore("exit 1"), (2, 1))

    def test_virtual_time(self):
        """There it would stand still again."""
        self.assertEqual(self.go("sleep 600", 2, 1, watched=False), ("timeout", 1))


class Engines(unittest.TestCase):
    """A program starts with a library in the place of two that it does not use, and ends by a
    signal where it would use one."""

    def test_a_program_with_engines(self):
        """One library has versions; both have what the program does not ask for."""
        with tempfile.TemporaryDirectory() as name, \
             mock.patch.dict(os.environ, RESSD_CACHE=f"{name}/cache"):
            folder = Path(name)

            def compiled(target, source, *options):
                subprocess.run(["cc", "-w", "-o", folder / target, *options, "-x", "c", "-"],
                               input=source, text=True, check=True, cwd=folder)
            (folder / "map").write_text("ONE_1.0 { one; other; };")
            compiled("libone.so", "void one(void) {} void other(void) {}", "-shared", "-fPIC",
                     "-Wl,--version-script=map")
            compiled("libtwo.so", "void two(void) {} void more(void) {}", "-shared", "-fPIC")
            compiled("program", "int main(int n) { if (n > 2) one(); if (n > 1) two(); return 0; }",
                     "-Wl,-z,now", "-Wl,--no-as-needed", "libone.so", "libtwo.so")
            libraries = [folder / "libone.so", folder / "libtwo.so"]
            stand_in = engines.stand_in(folder / "program", libraries)
            for library in libraries:
                library.unlink()
                library.symlink_to(stand_in)
            ends = [subprocess.run([folder / "program", *["x"] * count], check=False, text=True,
                                   stderr=subprocess.PIPE, env={"LD_LIBRARY_PATH": name})
                    for count in range(3)]
            self.assertEqual([end.stderr for end in ends], [""] * 3)
            self.assertEqual([end.returncode for end in ends], [0, -4, -4])
            self.assertEqual({name for _, name, _ in engines.symbols(stand_in)},
                             {"one", "two", "ONE_1.0"})


    def test_two_runners_at_once(self):
        """With an empty cache the first guests of make check compile it side by side."""
        with tempfile.TemporaryDirectory() as name, \
             mock.patch.dict(os.environ, RESSD_CACHE=f"{name}/cache"):
            inside = []

            def compiled(command, **_):
                """The compiler, and while it runs a second runner from begin to end."""
                if not inside:
                    inside.append(True)
                    with mock.patch("os.getpid", return_value=os.getpid() + 1):
                        engines.stand_in("program", ["library"])
                Path(command[command.index("-o") + 1]).write_text("a library")

            def symbols(path):
                return [(path == "library", "one", "")]

            with mock.patch("engines.symbols", side_effect=symbols), \
                 mock.patch("subprocess.run", side_effect=compiled):
                library = engines.stand_in("program", ["library"])
            self.assertEqual(list(library.parent.iterdir()), [library])


class WithoutQemu(unittest.TestCase):
    """tools/setup.sh was not run: a sentence says so, and no traceback."""

    @mock.patch.dict(os.environ, PATH="/none")
    def test_it_is_said(self):
        """It does not end where a snapshot is looked for, but where QEMU is started."""
        options = SimpleNamespace(mode="functional", append=[], device=[], fetch=None)
        self.assertFalse(is_usable(options, SimpleNamespace(is_own=False, machine="amd64")))
        with tempfile.TemporaryDirectory() as name:
            run = Run(["qemu-none"], Path(name), 600, Killer(None, 0), None, None, 600)
            with self.assertRaisesRegex(VmError, "qemu-none is not installed: run tools/setup.sh"):
                run.go()


class GuestClock(unittest.TestCase):
    """Seen on a busy machine: a clock 12 times too fast, by a calibration against the PIT."""

    def parameter(self, mode):
        """The frequency that a guest of this mode is told, or None."""
        options = SimpleNamespace(mode=mode, append=["a=b"])
        words = kernel_parameters(options, BOARDS["amd64"]).split()
        self.assertIn("a=b", words)
        told = [word for word in words if word.startswith("tsc_early_khz=")]
        return int(told[0].partition("=")[2]) if told else None

    @unittest.skipUnless(clock.counter_reader(), "no time stamp counter")
    def test_the_frequency_is_measured_and_told(self):
        """Twice the same within 0.1 %, and the counter agrees over a time of its own."""
        khz = self.parameter("functional")
        clock.counter_khz.cache_clear()
        self.assertAlmostEqual(clock.counter_khz() / khz, 1, delta=0.001)

    def test_virtual_time_has_a_counter_of_its_own(self):
        """There the counter counts virtual nanoseconds."""
        self.assertIsNone(self.parameter("benchmark"))


class Load(unittest.TestCase):
    """Limits count the time that a thread gets a processor for."""

    def over_after(self, running, processors):
        """Seconds until a limit of 100 is over with so many threads running."""
        now = [0.0]
        patience = clock.Patience(100, lambda: running, lambda: now[0])
        patience.processors = processors
        while not patience.is_over():
            now[0] += 1
        return now[0]

    def test_a_machine_at_rest(self):
        """The limit is what it says."""
        self.assertEqual(self.over_after(0, 2), 101)
        self.assertEqual(self.over_after(2, 2), 101)

    def test_a_busy_machine(self):
        """Ten threads on two processors: five times as long."""
        self.assertAlmostEqual(self.over_after(10, 2), 501, delta=1)

    def has_ended(self, pid):
        """Whether a process has gone, or is a zombie, within 10 seconds."""
        for _ in range(100):
            try:
                if not Path(f"/proc/{pid}/cmdline").read_bytes():
                    return True
            except FileNotFoundError:
                return True
            time.sleep(0.1)
        return False

    def test_patient(self):
        """The command's exit code and output, or 124 with all that it started gone."""
        done = subprocess.run([PATIENT, "60", "sh", "-c", "echo out; exit 7"], check=False,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (7, "out\n"))
        done = subprocess.run([PATIENT, "0.5", "sh", "-c", "sleep 600 & echo $!; wait"],
                              check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 124)
        self.assertTrue(self.has_ended(done.stdout.strip()))
        done = subprocess.run([PATIENT, "soon"], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 125)
        self.assertIn("give a number of seconds and a command", done.stderr)


if __name__ == "__main__":
    unittest.main()
