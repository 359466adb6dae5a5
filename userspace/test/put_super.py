#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""put_super.py FILE BLOCK OFFSET HEX: bytes of the superblock in a 4 KiB block of a file, and the
checksum that they need."""

import sys


def crc32c(data):
    """As the format has it: seed ~0, no final inversion."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc


def main():
    """Changes the block in its place."""
    path, block, offset, text = sys.argv[1:]
    data = bytes.fromhex(text)
    with open(path, "r+b") as file:
        file.seek(int(block) * 4096)
        contents = bytearray(file.read(4096))
        contents[int(offset):int(offset) + len(data)] = data
        contents[12:16] = bytes(4)
        contents[12:16] = crc32c(contents).to_bytes(4, "little")
        file.seek(int(block) * 4096)
        file.write(contents)


main()
