# SPDX-License-Identifier: GPL-2.0-only
"""Writes initramfs archives (cpio, newc format) that depend on their content alone."""

import os
import stat

HEADER = "070701" + "%08X" * 13
TRAILER = "TRAILER!!!"


class Archive:
    """An initramfs being collected; `chunks` yields it. Parent folders are made as needed."""

    def __init__(self):
        self.entries = {}

    def folder(self, path, mode=0o755):
        """Add an empty folder at `path` (no leading slash)."""
        self._parents(path)
        self.entries.setdefault(path, (stat.S_IFDIR | mode, b"", (0, 0)))

    def symlink(self, path, target):
        """Add a symbolic link at `path` that holds `target`."""
        self._parents(path)
        self.entries[path] = (stat.S_IFLNK | 0o777, os.fsencode(target), (0, 0))

    def text(self, path, text, mode=0o644):
        """Add a regular file with content `text`."""
        self._parents(path)
        self.entries[path] = (stat.S_IFREG | mode, text.encode(), (0, 0))

    def file(self, path, source):
        """Add the regular file `source`; it is read when the archive is written."""
        self._parents(path)
        mode = stat.S_IFREG | (0o755 if os.access(source, os.X_OK) else 0o644)
        self.entries[path] = (mode, source, (0, 0))

    def character_device(self, path, major, minor):
        """Add a character device node."""
        self._parents(path)
        self.entries[path] = (stat.S_IFCHR | 0o600, b"", (major, minor))

    def __contains__(self, path):
        return path in self.entries

    def _parents(self, path):
        parent = os.path.dirname(path)
        if parent and parent not in self.entries:
            self.folder(parent)

    def chunks(self):
        """The archive as byte strings, entries in name order, all times zero."""
        for inode, path in enumerate(sorted(self.entries), start=1):
            mode, content, device = self.entries[path]
            if not isinstance(content, bytes):
                with open(content, "rb") as source:
                    content = source.read()
            yield member(path, inode, mode, content, device)
        yield member(TRAILER, 0, 0, b"", (0, 0))


def member(path, inode, mode, content, device):
    """One archive member: header, name and content, each padded to four bytes."""
    name = os.fsencode(path) + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    header = HEADER % (inode, mode, 0, 0, links, 0, len(content), 0, 0,
                       device[0], device[1], len(name), 0)
    return pad(header.encode() + name) + pad(content)


def pad(data):
    """`data` with zeros up to a multiple of four bytes."""
    return data + bytes(-len(data) % 4)
