#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A reader of the reserved area written from docs/on-disk-format.md alone, by headers only.

format_reader.py MAKE_IMAGE RESSDCTL [IMAGES]: what it finds in logs of that many seeds must be what
`ressdctl dump`, and so the module, finds with summaries and all.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = 4096
MAX_NUMBER = 1 << 62
FIRST = 1


def make_table():
    """Of the checksum, reflected polynomial 0x82f63b78."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
        table.append(value)
    return table


TABLE = make_table()


def crc32c(data):
    """Seed ~0, no final inversion."""
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc


class Area:
    """A reserved area, its superblock's copy 0 good."""

    def __init__(self, data):
        self.data = data
        self.nr_blocks = len(data) // BLOCK
        self.uuid = data[16:32]
        self.segment_blocks = struct.unpack_from("<I", data, 80)[0]
        assert data[:8] == b"dm0ressd" and crc32c(self.zeroed(0)) == self.word(0, 12)
        summary = 128 + 12 * self.segment_blocks + 4 * 496
        self.summary_blocks = -(-summary // BLOCK)
        self.slots, rest = divmod(self.nr_blocks, self.segment_blocks)
        self.slots += rest > 16 + self.summary_blocks

    def block(self, number):
        """Its bytes."""
        return self.data[number * BLOCK:(number + 1) * BLOCK]

    def word(self, number, at):
        """Four bytes of a block."""
        return struct.unpack_from("<I", self.data, number * BLOCK + at)[0]

    def zeroed(self, number):
        """A block with its crc zero."""
        block = self.block(number)
        return block[:12] + bytes(4) + block[16:]

    def span(self, slot):
        """First block of a slot's records, and the end of them."""
        start, end = slot * self.segment_blocks, (slot + 1) * self.segment_blocks
        end = min(end, self.nr_blocks)
        if slot == self.slots - 1 and end == self.nr_blocks:
            end -= 1
        return start or 1, end - self.summary_blocks

    def header(self, number):
        """The record header in a block, as a dictionary, or None."""
        block = self.block(number)
        if (block[:8] != b"ressdlog" or self.word(number, 8) != 1 or block[16:32] != self.uuid or
                crc32c(self.zeroed(number)) != self.word(number, 12)):
            return None
        names = ("seq", "segment", "tail", "durable", "activation", "prev_crc", "maps", "unmaps",
                 "blocks", "flags", "block", "epoch")
        record = dict(zip(names, struct.unpack_from("<QQQQQIHHIIII", block, 32), strict=True))
        record["crc"] = self.word(number, 12)
        entries = record["maps"] + record["unmaps"]
        slot = number // self.segment_blocks
        if (record["block"] != number or entries > 496 or record["maps"] >= record["blocks"] or
                number + record["blocks"] > self.span(slot)[1] or
                record["segment"] % self.slots != slot or
                max(record["seq"], record["segment"]) > MAX_NUMBER):
            return None
        record["entries"] = list(struct.iter_unpack("<II", block[128:128 + 8 * entries]))
        return record

    def headers(self):
        """All intact ones."""
        found = (self.header(number) for slot in range(self.slots)
                 for number in range(*self.span(slot)))
        return [record for record in found if record]


def follows(record, last):
    """Does a record continue the chain after another one?"""
    return (record["seq"] == last["seq"] + 1 and record["prev_crc"] == last["crc"] and
            record["segment"] - last["segment"] in (0, 1) and
            (record["activation"] == last["activation"] or record["flags"] & FIRST))


def chain(area, tail, durable):
    """The records that count."""
    segment, records = tail, []
    while True:
        at, end = area.span(segment % area.slots)
        before = len(records)
        while at < end:
            record = area.header(at)
            if (not record or record["segment"] != segment or
                    (records and not follows(record, records[-1]))):
                break
            if record["seq"] > durable and any(
                    crc32c(area.block(at + 1 + i)) != record["entries"][i][1]
                    for i in range(record["maps"])):
                return records
            records.append(record)
            at += record["blocks"]
        if len(records) == before:
            return records
        segment += 1


def read_map(area):
    """{normal block: log block}"""
    found = area.headers()
    if not found:
        return {}
    epoch = max(record["epoch"] for record in found)
    tail = max(record["tail"] for record in found if record["epoch"] == epoch)
    mapped, holder = {}, {}
    for record in chain(area, tail, max(record["durable"] for record in found)):
        for i, (block, _) in enumerate(record["entries"]):
            if i < record["maps"]:
                holder.pop(mapped.get(block), None)
                mapped[block] = record["block"] + 1 + i
                holder[mapped[block]] = block
            elif block in holder:
                del mapped[holder.pop(block)]
    return mapped


def main(make_image, ressdctl, images="30"):
    """Compares; prints a line of the test's."""
    blocks = 0
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image"
        for seed in range(1, int(images) + 1):
            sizes = subprocess.run([make_image, str(seed), image, f"operations={40 * seed}"],
                                   check=True, capture_output=True, text=True).stdout.split()
            dump = json.loads(subprocess.run([ressdctl, "dump", "--json", image], check=False,
                                             capture_output=True, text=True).stdout)
            mapped = read_map(Area(image.read_bytes()[int(sizes[0]) * 512:]))
            said = {entry["normal_block"]: entry["log_block"] for entry in dump["map"]}
            if mapped != said or not dump["recovery"]["accepted"]:
                differing = sorted(set(mapped.items()) ^ set(said.items()))[:6]
                print(f"not ok - format: seed {seed}: {dump['recovery']}, differing {differing}")
                return 1
            blocks += len(said)
    print(f"ok - format: a reader of the document finds the {blocks} blocks of ressdctl dump")
    return 0 if blocks else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
