#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Self test of tests/vm/combinations.py: each two values of two options stand in one of its lines,
or the constructor's own parser (core/ressd-args.c) refuses them."""

import ctypes
import itertools
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/vm"))

import combinations  # noqa: E402

CORE = TOP / "dm-ressd/core"
LIST = TOP / "tests/vm/combinations.txt"
# Two values are refused if so many lines that hold them are.
GUESSES = 200


class Parser:
    """The constructor's parser, compiled for this process."""

    def __init__(self, folder):
        library = Path(folder) / "args.so"
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-shared", "-fPIC", f"-I{CORE}/port",
                        f"-I{CORE}", "-o", library, CORE / "ressd-args.c"], check=True)
        self.core = ctypes.CDLL(str(library))

    def refuses(self, words):
        """The sentence by which it refuses the words, or nothing."""
        options = ctypes.create_string_buffer(4096)
        error = ctypes.create_string_buffer(256)
        vector = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
        self.core.ressd_options_default(options)
        refused = self.core.ressd_options_parse(options, len(words), vector, error,
                                                ctypes.c_size_t(len(error)))
        return error.value.decode() if refused else ""


def documented():
    """The options in the table of dm-ressd.rst, with what stands under 'value'."""
    text = (TOP / "docs/dm-ressd.rst").read_text(encoding="utf-8")
    table = re.search(r"\n(=+)  (=+)  =+  =+\nkey .*?\n=+ .*?\n(.*?)\n=+ ", text, re.DOTALL)
    key, value = len(table[1]), len(table[2])
    found, last = {}, None
    for line in table[3].splitlines():
        last = line[:key].strip() or last
        found[last] = found.get(last, "") + " " + line[key + 2:key + 2 + value].strip()
    return found


class CombinationsTest(unittest.TestCase):
    """The lines of tests/vm/combinations.txt."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.parser = Parser(folder.name)
        cls.lines = [line.split() for line in LIST.read_text(encoding="utf-8").splitlines()
                     if not line.startswith("#")]
        # The generator's own values, so that a number is a number.
        values = {(key, str(value)): value
                  for key, all_values in combinations.VALUES.items() for value in all_values}
        cls.devices = [{key: values[key, value]
                        for key, value in zip(line[::2], line[1::2], strict=True)}
                       for line in cls.lines]

    def test_list_is_what_the_generator_makes(self):
        """combinations.py was run after its last change."""
        self.assertEqual([" ".join(line) for line in self.lines],
                         [combinations.text(line) for line in combinations.lines()])

    def test_every_line_is_a_whole_device_that_the_constructor_takes(self):
        """All options, each once."""
        for line, device in zip(self.lines, self.devices, strict=True):
            self.assertEqual(list(device), list(combinations.VALUES))
            self.assertEqual(self.parser.refuses(line), "", line)

    def refused(self, line):
        """Does the parser refuse these options, or has one of the first two no effect?"""
        first, second = list(line)[:2]
        return not combinations.counts(line, first, second) or \
            self.parser.refuses([word for key, value in line.items() for word in (key, str(value))])

    def test_every_pair_occurs_or_is_refused(self):
        """By the parser: the generator's rules are not asked."""
        chance = random.Random(1)
        missing = refused = 0
        for one, other in itertools.combinations(combinations.VALUES, 2):
            have = {(device[one], device[other]) for device in self.devices
                    if combinations.counts(device, one, other)}
            for pair in itertools.product(combinations.VALUES[one], combinations.VALUES[other]):
                if pair in have:
                    continue
                refused += 1
                rest = [key for key in combinations.VALUES if key not in (one, other)]
                missing += not all(self.refused(
                    {one: pair[0], other: pair[1]} |
                    {key: chance.choice(combinations.VALUES[key]) for key in rest})
                    for _ in range(GUESSES))
        self.assertEqual(missing, 0)
        # Those that the rules name are among them.
        self.assertGreater(refused, 10)

    def test_a_pair_that_is_missed_is_found(self):
        """Without some line a pair is missing: no line is there for nothing."""
        wanted = set(combinations.pairs())
        for left_out in self.devices:
            have = set().union(*(combinations.pairs_of(device) for device in self.devices
                                 if device is not left_out))
            self.assertLess(len(have & wanted), len(wanted), left_out)

    def test_every_option_and_every_word_of_the_manual_occurs(self):
        """Of an option that was added since, too."""
        table = documented()
        self.assertEqual(set(combinations.VALUES), set(table))
        for key, value in table.items():
            words = [word for word in re.split(r"[ ,]+", value) if re.fullmatch(r"[a-z_]+", word)]
            if words and not re.search(r"\d", value):
                self.assertEqual(set(combinations.VALUES[key]), set(words), key)


if __name__ == "__main__":
    unittest.main()
