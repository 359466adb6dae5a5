#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Loads that the suite does not have: what other programs do to a file system, in a few lines each.

    other_loads.py prepare|run LOAD SEED PERCENT      in the guest, on /mnt

Each is a class: its docstring says what the program is like, prepare() leaves files that are there
before, run() is measured. PERCENT of their usual length. guest-apps.sh calls them; tools/bench.sh
--only apps knows their names, and tools/bench/others.py records and replays them.
"""

import fcntl
import mmap
import os
import random
import struct
import subprocess
import sys
from contextlib import contextmanager

HOME = "/mnt"
INPUTS = "/apps"  # as app_inputs.py makes it for the loads of SQLite
KB, MB = 1024, 1 << 20
BLOCK = 4 * KB
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, JOURNAL_DATA = 0x80086601, 0x40086602, 0x4000

# What is written: aligned, for O_DIRECT.
DATA = memoryview(mmap.mmap(-1, MB))
DATA[:] = random.Random(1).randbytes(MB)


class File:
    """An open file."""

    def __init__(self, name, flags=0, size=0):
        self.handle = os.open(f"{HOME}/{name}", os.O_RDWR | os.O_CREAT | flags)
        self.end = os.fstat(self.handle).st_size
        while self.end < size:
            self.append(min(MB, size - self.end))

    def write(self, offset, size):
        """Write @size bytes there."""
        os.pwrite(self.handle, DATA[:size], offset)
        self.end = max(self.end, offset + size)

    def append(self, size, synced=False):
        """Write behind the end."""
        self.write(self.end, size)
        if synced:
            self.datasync()

    def read(self, offset, size):
        """Read @size bytes there."""
        os.pread(self.handle, size, offset)

    def allocate(self, size):
        """Have the space of a file before it is written."""
        os.posix_fallocate(self.handle, 0, size)

    def datasync(self):
        """Until it is durable."""
        os.fdatasync(self.handle)

    def sync(self):
        """With what the file system knows of it."""
        os.fsync(self.handle)

    def close(self):
        """The file stays."""
        os.close(self.handle)


@contextmanager
def opened(name, **words):
    """A file for a while."""
    file = File(name, **words)
    yield file
    file.close()


def place(draw, span, size):
    """Anywhere within @span, by multiples of @size."""
    return draw.randrange(span // size) * size


def replace_file(name, size):
    """As editors and dpkg do it: a new file, durable, then its name."""
    with opened(f"{name}.new", flags=os.O_TRUNC) as file:
        file.append(size)
        file.sync()
    os.rename(f"{HOME}/{name}.new", f"{HOME}/{name}")


def both(*steps):
    """Two or more programs at once, by turns: each is an iterator that does a bit at a time."""
    waiting = list(steps)
    while waiting:
        waiting = [step for step in waiting if next(step, waiting) is not waiting]


def sqlite(name, before, statements):
    """Debian's program; a file of statements of the suite, and what is set before."""
    text = before + "".join(statements)
    subprocess.run(["sqlite3", "-bail", f"{HOME}/{name}"], input=text, text=True, check=True,
                   stdout=subprocess.DEVNULL)


def updates(share):
    """One-row UPDATEs of the suite's database."""
    with open(f"{INPUTS}/wal.sql", encoding="utf-8") as lines:
        found = [line for line in lines if line.startswith("UPDATE")]
    return found[:share]


class Load:
    """What most of them share."""

    sqlite = False  # the suite's database is among the inputs

    def __init__(self, seed, percent):
        self.draw = random.Random(f"{seed} {type(self).__name__}")
        self.percent = percent

    def times(self, number):
        """Of a loop."""
        return range(max(1, number * self.percent // 100))

    def prepare(self):
        """Nothing is there."""


class Varmail(Load):
    """A mail spool: append 1 to 16 KB and fsync, twice, then delete one of 1,000 files."""

    def prepare(self):
        for number in range(1000):
            with opened(f"mail{number}") as file:
                file.append(self.draw.randrange(1, 17) * KB)

    def run(self):
        for _ in self.times(600):
            for _ in range(2):
                with opened(f"mail{self.draw.randrange(1000)}") as file:
                    file.append(self.draw.randrange(1, 17) * KB)
                    file.sync()
            gone = f"{HOME}/mail{self.draw.randrange(1000)}"
            if os.path.exists(gone):
                os.unlink(gone)


class Lsm(Load):
    """A log of 1 KB writes with fdatasync; tables of 1 MB, four of them merged into larger ones."""

    def run(self):
        tables = []
        with opened("log") as log:
            for number in self.times(6000):
                log.append(KB, synced=True)
                if number % 500 == 499:
                    tables.append(self.table(number, 1))
                if len(tables) == 4:
                    for table in tables:
                        os.unlink(f"{HOME}/{table}")
                    tables.clear()
                    self.table(number, 4, "merged")

    @staticmethod
    def table(number, megabytes, kind="table"):
        """Write one."""
        name = f"{kind}{number}"
        with opened(name) as file:
            for _ in range(megabytes * 16):
                file.append(64 * KB)
            file.sync()
        return name


class Pgsql(Load):
    """Pages of 8 KB; a commit rewrites the last page of the WAL, a checkpoint each 500."""

    def prepare(self):
        File("table", size=64 * MB)
        File("wal", size=16 * MB)

    def run(self):
        table, wal, dirty, at = File("table"), File("wal"), set(), 0
        for number in self.times(3000):
            dirty.add(place(self.draw, 64 * MB, 8 * KB))
            wal.write(at // (8 * KB) * 8 * KB % (16 * MB), 8 * KB)
            wal.datasync()
            at += 700
            if number % 500 == 499:
                for page in sorted(dirty):
                    table.write(page, 8 * KB)
                table.sync()
                dirty.clear()


class Logs(Load):
    """Eight logs, 500 bytes and fdatasync each."""

    def run(self):
        logs = [File(f"log{number}") for number in range(8)]
        for number in self.times(3000):
            logs[number % 8].append(500, synced=True)


class Aof(Load):
    """An append-only file: 160 bytes, fdatasync each 2,000."""

    def run(self):
        with opened("aof") as file:
            for number in self.times(200000):
                file.append(160)
                if number % 2000 == 1999:
                    file.datasync()


class Camera(Load):
    """64 KB of a recording, then its index in another file, with fdatasync."""

    def run(self):
        with opened("film") as film, opened("index") as index:
            for _ in self.times(800):
                film.append(64 * KB, synced=True)
                index.append(24, synced=True)


class Video(Load):
    """A recorder: allocated files of 32 MB, 256 KB a write, fdatasync each MB; removes old ones."""

    def run(self):
        for number in self.times(6):
            with opened(f"film{number}") as film:
                film.allocate(32 * MB)
                for part in range(128):
                    film.write(part * 256 * KB, 256 * KB)
                    if part % 4 == 3:
                        film.datasync()
            if number >= 3:
                os.unlink(f"{HOME}/film{number - 3}")


class Torrent(Load):
    """Pieces of 256 KB in any order, 16 KB a write, four under way at once; fsync each 16 MB."""

    def run(self):
        pieces = [piece for piece in range(384) if piece < len(self.times(384))]
        self.draw.shuffle(pieces)
        with opened("download") as file:
            file.allocate(96 * MB)
            for first in range(0, len(pieces), 4):
                for part in range(16):
                    for piece in pieces[first:first + 4]:
                        file.write(piece * 256 * KB + part * 16 * KB, 16 * KB)
                if first % 64 == 60:
                    file.sync()


class Vmimage(Load):
    """A guest's disk: a journal with O_DIRECT, and 24 random blocks each 8 commits."""

    def prepare(self):
        File("image", size=128 * MB)

    def run(self):
        image = File("image", flags=os.O_DIRECT)
        for number in self.times(800):
            image.write(16 * MB + number * 12 * KB % (16 * MB), 12 * KB)
            image.datasync()
            if number % 8 == 7:
                for _ in range(24):
                    image.write(place(self.draw, 128 * MB, BLOCK), BLOCK)


class Sparse(Load):
    """6,000 random writes into a hole of 128 MB, then all is read."""

    def run(self):
        file = File("sparse")
        os.ftruncate(file.handle, 128 * MB)
        for _ in self.times(6000):
            file.write(place(self.draw, 128 * MB, BLOCK), BLOCK)
        file.sync()
        for part in range(128):
            file.read(part * MB, MB)


class Innodb(Load):
    """Pages of 16 KB: 32 at a time to the doublewrite buffer, then home; a log with fdatasync."""

    def prepare(self):
        File("table", size=96 * MB)
        File("redo", size=16 * MB)

    def run(self):
        table, redo = File("table", flags=os.O_DIRECT), File("redo")
        for number in self.times(2000):
            redo.write(number * KB % (16 * MB), KB)
            redo.datasync()
            if number % 40 == 39:
                for page in range(32):
                    table.write(page * 16 * KB, 16 * KB)
                table.datasync()
                for _ in range(32):
                    table.write(place(self.draw, 96 * MB, 16 * KB), 16 * KB)
                table.datasync()


class Lmdb(Load):
    """8 random blocks and a root, fdatasync each."""

    def prepare(self):
        File("data", size=96 * MB)

    def run(self):
        data = File("data")
        for number in self.times(800):
            for _ in range(8):
                data.write(place(self.draw, 96 * MB, BLOCK), BLOCK)
            data.datasync()
            data.write(number % 2 * BLOCK, BLOCK)
            data.datasync()


class Rand16(Load):
    """16 KB at random with O_DIRECT, fdatasync each 4."""

    def prepare(self):
        File("data", size=96 * MB)

    def run(self):
        data = File("data", flags=os.O_DIRECT)
        for number in self.times(1000):
            data.write(place(self.draw, 96 * MB, 16 * KB), 16 * KB)
            if number % 4 == 3:
                data.datasync()


class Rsync(Load):
    """rsync --inplace: of a file of 96 MB a fifth of the blocks of 8 KB, ascending."""

    def prepare(self):
        File("copy", size=96 * MB)

    def run(self):
        with opened("copy") as file:
            for block in range(96 * MB // (8 * KB)):
                file.read(block * 8 * KB, 8 * KB)
                if self.draw.randrange(500) < self.percent:
                    file.write(block * 8 * KB, 8 * KB)
            file.sync()


class Layers(Load):
    """Layers of containers: each 200 files of 2 to 60 KB in folders, then syncfs."""

    def run(self):
        for layer in self.times(10):
            for number in range(200):
                if number % 20 == 0:
                    os.makedirs(f"{HOME}/layer{layer}/{number // 20}")
                with opened(f"layer{layer}/{number // 20}/{number}") as file:
                    file.append(self.draw.randrange(2, 60) * KB)
            os.sync()


class Upgrade(Load):
    """Packages unpacked, each file durable before it is renamed, beside a log of 400 bytes each."""

    def prepare(self):
        for number in range(400):
            with opened(f"file{number}") as file:
                file.append(self.draw.randrange(1, 40) * KB)

    def run(self):
        both(self.unpack(), self.log())

    def unpack(self):
        """The packages."""
        for number in self.times(400):
            replace_file(f"file{number % 400}", self.draw.randrange(1, 40) * KB)
            if number % 10 == 9:
                replace_file("status", 120 * KB)
            yield

    def log(self):
        """What a daemon writes meanwhile."""
        log = File("journal")
        for _ in self.times(400):
            log.append(400, synced=True)
            yield


class Backup(Load):
    """Two programs that stream: a copy of 64 KB a write, fdatasync each MB, beside another one."""

    def run(self):
        both(self.stream("first", 64 * KB, 16), self.stream("second", 128 * KB, 4))

    def stream(self, name, size, each):
        """One of them."""
        file = File(name)
        for number in self.times(64 * MB // size):
            file.append(size, synced=number % each == each - 1)
            yield


class Database(Load):
    """Two programs: lmdb's transactions beside a recorder of 128 KB with fdatasync."""

    def prepare(self):
        File("data", size=64 * MB)

    def run(self):
        both(self.transactions(), Backup(0, self.percent).stream("film", 128 * KB, 1))

    def transactions(self):
        """Random blocks."""
        data = File("data")
        for _ in self.times(500):
            for _ in range(4):
                data.write(place(self.draw, 64 * MB, BLOCK), BLOCK)
            data.datasync()
            yield


class Edit(Load):
    """An editor of photographs: 4 MB read, 5 MB written anew and durable, then renamed."""

    def prepare(self):
        for number in range(16):
            File(f"photo{number}", size=4 * MB)

    def run(self):
        for number in self.times(24):
            name = f"photo{number % 16}"
            with opened(name) as photo:
                photo.read(0, 4 * MB)
            replace_file(name, self.draw.randrange(3 * MB, 5 * MB))


class Import(Load):
    """A table loaded in order: 16 KB pages, a redo log of 64 KB writes, both synced each 2 MB."""

    def run(self):
        with opened("table") as table, opened("redo", size=32 * MB) as redo:
            for number in self.times(4096):
                table.append(16 * KB)
                if number % 4 == 3:
                    redo.write(number // 4 * 64 * KB % (32 * MB), 64 * KB)
                if number % 128 == 127:
                    redo.datasync()
                    table.datasync()


class Tar(Load):
    """3,000 files of 1 to 30 KB in 100 folders, then sync."""

    def prepare(self):
        os.mkdir(f"{HOME}/tar")

    def run(self):
        for number in self.times(3000):
            if number % 30 == 0:
                os.mkdir(f"{HOME}/tar/{number // 30}")
            with opened(f"tar/{number // 30}/{number}") as file:
                file.append(self.draw.randrange(1, 30) * KB)
        os.sync()


class TarJournal(Tar):
    """The same, all data in the journal."""

    def prepare(self):
        super().prepare()
        folder = os.open(f"{HOME}/tar", os.O_RDONLY)
        flags, = struct.unpack("l", fcntl.ioctl(folder, FS_IOC_GETFLAGS, bytes(8)))
        fcntl.ioctl(folder, FS_IOC_SETFLAGS, struct.pack("l", flags | JOURNAL_DATA))
        os.close(folder)


class TarSync(Tar):
    """300 of these files, mounted with "sync"."""

    def run(self):
        subprocess.run(["mount", "-o", "remount,sync", HOME], check=True)
        self.percent = max(1, self.percent // 10)
        super().run()


class Full(Tar):
    """The same on a file system that is nearly full, with the space that is left in pieces."""

    def prepare(self):
        super().prepare()
        room = os.statvfs(HOME)
        pieces = (room.f_bavail * room.f_bsize - 120 * MB) // MB
        for number in range(pieces):
            File(f"fill{number}", size=MB).close()
        for number in range(0, min(pieces, 120), 2):
            os.unlink(f"{HOME}/fill{number}")


class Sqlite(Load):
    """UPDATEs of the suite's database."""

    sqlite = True
    page, mode, count = 4 * KB, "WAL", 1500

    def prepare(self):
        subprocess.run(["cp", f"{INPUTS}/database", f"{HOME}/database"], check=True)
        sqlite("database", f"PRAGMA journal_mode = DELETE; PRAGMA page_size = {self.page}; VACUUM; "
               f"PRAGMA journal_mode = {self.mode};", [])

    def run(self):
        sqlite("database", f"PRAGMA journal_mode = {self.mode}; PRAGMA synchronous = FULL;",
               updates(len(self.times(self.count))))


class Wal16k(Sqlite):
    """UPDATEs of a database with pages of 16 KB and a WAL."""

    page = 16 * KB


class Wal64k(Sqlite):
    """Of one with pages of 64 KB."""

    page, count = 64 * KB, 600


class Truncate(Sqlite):
    """Of one whose journal is truncated."""

    mode, count = "TRUNCATE", 400


class Two(Sqlite):
    """Two databases at once, one with a WAL, one with a journal that is deleted."""

    def prepare(self):
        super().prepare()
        subprocess.run(["cp", f"{INPUTS}/database", f"{HOME}/other"], check=True)

    def run(self):
        both(self.some("database", "WAL"), self.some("other", "DELETE"))

    def some(self, name, mode):
        """Fifty at a time."""
        lines = updates(len(self.times(500)))
        for first in range(0, len(lines), 50):
            sqlite(name, f"PRAGMA journal_mode = {mode}; PRAGMA synchronous = FULL;",
                   lines[first:first + 50])
            yield


class Vacuum(Sqlite):
    """A database of 84 MB, rewritten."""

    mode = "DELETE"

    def run(self):
        sqlite("database", "VACUUM;", [])


class Bulk(Sqlite):
    """Twice the rows of the table in one transaction, its index with them."""

    mode = "DELETE"

    def run(self):
        sqlite("database", "PRAGMA synchronous = FULL; INSERT INTO t(k, n, filler) "
               f"SELECT random(), n, filler FROM t LIMIT {1000 * self.percent};", [])


class Dbcopy(Sqlite):
    """UPDATEs with a WAL beside a copy of 96 MB."""

    def prepare(self):
        super().prepare()
        File("source", size=96 * MB)

    def run(self):
        with subprocess.Popen(["cp", f"{HOME}/source", f"{HOME}/copy"]):
            super().run()


def name_of(load):
    """Of a class: TarJournal is tar-journal."""
    return "".join(f"-{letter.lower()}" if letter.isupper() and number else letter.lower()
                   for number, letter in enumerate(load.__name__))


def below(kind):
    """All classes made from one."""
    return [load for one in kind.__subclasses__() for load in (one, *below(one))]


LOADS = {name_of(load): load for load in below(Load) if load is not Sqlite}


def main():
    """In the guest."""
    part, name, seed, percent = sys.argv[1:]
    load = LOADS[name](int(seed), int(percent))
    getattr(load, part)()


if __name__ == "__main__":
    main()
