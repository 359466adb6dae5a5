#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/results.py."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import results  # noqa: E402


class RowTest(unittest.TestCase):
    """Rows are judged and refused as documented."""

    def test_bars(self):
        for value, bar, ok in [("2.0", ">=2.0", True), ("1.99", ">=2.0", False), ("1", "<=1", True),
                               ("1.01", "<=1", False), ("0", "==0", True), ("1", "==0", False),
                               ("1", ">1", False), ("1", "<1", False), ("-1", "<0", True),
                               ("7", "-", None), ("7", None, None)]:
            with self.subTest(value=value, bar=bar):
                self.assertIs(results.row("a/b/c", value, "x", bar)["ok"], ok)

    def test_refusals(self):
        for words, sentence in [(("a/b", "1", "x"), "<load>/<profile>/<metric>"),
                                (("a/b/c", "fast", "x"), "not a finite number"),
                                (("a/b/c", "nan", "x"), "not a finite number"),
                                (("a/b/c", "inf", "x", ">=1"), "not a finite number"),
                                (("a/b/c", "1", "x", "about 2"), "not a comparison"),
                                (("a/b/c", "1", "x", ">=two"), "not a finite number"),
                                (("a/b/c", "1", ""), "not one word")]:
            with self.subTest(words=words), self.assertRaisesRegex(results.ResultError, sentence):
                results.row(*words)

    def test_whole_numbers_stay_whole(self):
        self.assertEqual(results.row("a/b/c", "12345678901234567", "1")["value"], 12345678901234567)

    def test_lines(self):
        rows = results.parse(["# comment\n", "\n", "a/b/c 1 x >=1\n", "a/b/d 2.5 MB/s\n"])
        self.assertEqual([entry["id"] for entry in rows], ["a/b/c", "a/b/d"])
        with self.assertRaisesRegex(results.ResultError, "line 1 is not"):
            results.parse(["a/b/c 1"])


class FileTest(unittest.TestCase):
    """The file holds what was given, and the exit code what it means."""

    def program(self, folder, text, target="demo", action="write"):
        """Run results.py."""
        return subprocess.run([TOOLS / "results.py", "--folder", folder, action, target],
                              input=text, capture_output=True, text=True, check=False)

    def test_good_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.program(folder, "randwrite-4k/samsung/ratio 2.5 x >=2.0\nw/s/e 17 1\n")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"randwrite-4k/samsung/ratio +2\.5 +x +>=2\.0 +ok")
            content = json.loads((Path(folder) / "demo.json").read_text())
            self.assertEqual(content["target"], "demo")
            self.assertIn("commit", content)
            self.assertEqual(content["rows"], [
                {"id": "randwrite-4k/samsung/ratio", "value": 2.5, "unit": "x", "bar": ">=2.0",
                 "ok": True},
                {"id": "w/s/e", "value": 17, "unit": "1", "bar": None, "ok": None}])
            again = self.program(folder, "", action="show")
            self.assertEqual((again.returncode, again.stdout), (0, done.stdout))

    def test_missed_bar(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.program(folder, "a/b/c 1.5 x >=2.0\n")
            self.assertEqual(done.returncode, 1)
            self.assertIn("MISSED", done.stdout)
            self.assertEqual(self.program(folder, "", action="show").returncode, 1)

    def test_wrong_input_leaves_no_file(self):
        for text, sentence in [("a/b/c x\n", "line 1"), ("", "no rows"),
                               ("a/b/c 1 x\na/b/c 2 x\n", "more than once")]:
            with self.subTest(text=text), tempfile.TemporaryDirectory() as folder:
                done = self.program(folder, text)
                self.assertEqual(done.returncode, 2)
                self.assertIn(sentence, done.stderr)
                self.assertEqual(list(Path(folder).iterdir()), [])

    def test_bad_target(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.program(folder, "a/b/c 1 x\n", "../demo").returncode, 2)


if __name__ == "__main__":
    unittest.main()
