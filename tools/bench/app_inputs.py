# SPDX-License-Identifier: GPL-2.0-only
"""What the application loads find in the guest: made on the host once, kept in the cache.

Each function makes the inputs of some loads in a folder, from sizes and seed alone.
"""

import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "vm"))
import image  # noqa: E402
import other_loads  # noqa: E402
from common import PROJECT, cache_dir  # noqa: E402
from userland import Userland, in_usr  # noqa: E402

CONFIGURATION = HERE / "apps.conf"


class InputError(Exception):
    """An input that could not be made; the message is a sentence."""


def sizes(changes=()):
    """The settings of apps.conf, with changes "KEY=VALUE"."""
    found = {}
    for line in CONFIGURATION.read_text().splitlines():
        if line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found[key] = int(value) if value.isdigit() else value
    for change in changes:
        key, _, value = change.partition("=")
        if key not in found:
            raise InputError(f"'{key}' is no size of {CONFIGURATION.name}: give one of "
                             f"{', '.join(found)}")
        if isinstance(found[key], int) and not re.fullmatch("[1-9][0-9]*", value):
            raise InputError(f"the size {key} is a number above 0, not '{value}'")
        found[key] = int(value) if isinstance(found[key], int) else value
    return found


def run(command, text=None, folder=None):
    """Run a program of this machine."""
    done = subprocess.run(command, input=text, cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise InputError(f"'{' '.join(command)}' failed: {done.stderr.strip()}")


def apps_folder(folder):
    """What the guest finds in /apps."""
    home = folder / "apps"
    home.mkdir()
    return home


def add_programs(folder, names):
    """Programs of this machine and their libraries, where Debian has them."""
    here = Userland("amd64")
    for name in names:
        program = Path(name) if name.startswith("/") else here.program(name)
        if not program.exists():
            raise InputError(f"the program {program} is not installed: run tools/setup.sh")
        for inside, path in {in_usr(program): program, **here.libraries(program)}.items():
            # In the guest /usr/sbin is a link.
            place = folder / inside.replace("usr/sbin/", "usr/bin/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)


def import_rows(folder, table, columns, rows, then):
    """A database with one table; @then: statements for its indexes."""
    source = folder / "rows.csv"
    source.write_text("".join(row + "\n" for row in rows))
    run(["sqlite3", "-bail", str(folder / "database")],
        "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;\n"
        f"CREATE TABLE {table}({columns});\n.mode csv\n.import {source} {table}\n{then}")
    source.unlink()


def sqlite_updates(setting, count, before, number):
    """One-row UPDATEs of the indexed column at random keys, each a transaction."""
    draw = random.Random(f"{setting['SEED']} {number}")
    lines = [*before, ".timer on"]
    lines += [f"UPDATE t SET k = {draw.randrange(1 << 40)}, n = n + 1 "
              f"WHERE id = {draw.randrange(setting['SQLITE_ROWS']) + 1};" for _ in range(count)]
    return "\n".join(lines) + "\n"


def make_sqlite(folder, setting):
    """The database, and the statements of sqlite-wal and sqlite-delete."""
    folder = apps_folder(folder)
    draw = random.Random(f"{setting['SEED']} rows")
    filler = setting["SQLITE_FILLER"] // 2
    import_rows(folder, "t", "id INTEGER PRIMARY KEY, k INTEGER, n INTEGER, filler TEXT",
                (f"{number},{draw.randrange(1 << 40)},0,{draw.randbytes(filler).hex()}"
                 for number in range(1, setting["SQLITE_ROWS"] + 1)),
                "CREATE INDEX t_k ON t(k);\n")
    synchronous = ["PRAGMA synchronous = FULL;"]
    (folder / "wal.sql").write_text(
        sqlite_updates(setting, setting["SQLITE_WAL_UPDATES"], synchronous, 1))
    (folder / "delete.sql").write_text(
        sqlite_updates(setting, setting["SQLITE_DELETE_UPDATES"], synchronous, 2))


def batch_row(draw, setting, number):
    """One reading of a sensor."""
    return (f"{number},{draw.randrange(setting['BATCH_SENSORS'])},{draw.randrange(10000) / 100},"
            f"{1700000000 + number / 20:.3f},{draw.randrange(1000)},{draw.randbytes(30).hex()}")


def make_batch(folder, setting):
    """A database of readings, and the transactions of sqlite-batch."""
    folder = apps_folder(folder)
    rows, count = setting["BATCH_ROWS"], setting["BATCH_TRANSACTIONS"]
    draw = random.Random(f"{setting['SEED']} batch")
    import_rows(folder, "states", "state_id INTEGER PRIMARY KEY, sensor INTEGER, state REAL, "
                "updated REAL, old_state INTEGER, context TEXT",
                (batch_row(draw, setting, number) for number in range(1, rows + 1)),
                "CREATE INDEX by_sensor ON states(sensor, updated);\n"
                "CREATE INDEX by_time ON states(updated);\n")
    lines = ["PRAGMA synchronous = NORMAL;"]
    oldest, number = 0, rows
    for transaction in range(count):
        lines.append("BEGIN;")
        for _ in range(100):
            number += 1
            *values, context = batch_row(draw, setting, number).split(",")
            lines.append(f"INSERT INTO states VALUES({','.join(values)},'{context}');")
        if transaction % 10 == 9:
            oldest += 1000
            lines.append(f"DELETE FROM states WHERE state_id <= {oldest};")
        lines += [".timer on", "COMMIT;", ".timer off"]
    (folder / "batch.sql").write_text("\n".join(lines) + "\n")


def download(packages, folder):
    """Packages of Debian by name."""
    folder.mkdir(exist_ok=True)
    for package in packages:
        run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package], folder=folder)
    return sorted(folder.glob("*.deb"))


def repack(package, folder):
    """The same package, with nothing compressed in it."""
    unpacked = folder / "unpacked"
    run(["dpkg-deb", "--raw-extract", str(package), str(unpacked)])
    run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(unpacked),
         str(folder / package.name)])
    shutil.rmtree(unpacked)


def make_dpkg(folder, setting):
    """Packages, and the programs that unpack them."""
    home = apps_folder(folder)
    (home / "debs").mkdir()
    for package in download(setting["DPKG_PACKAGES"].split(","), folder / "downloaded"):
        repack(package, home / "debs")
    shutil.rmtree(folder / "downloaded")
    add_programs(folder, ["dpkg", "dpkg-deb", "dpkg-split", "tar", "rm"])


def make_journald(folder, setting):
    """Messages of a sensor; journald and what speaks to it."""
    draw = random.Random(f"{setting['SEED']} journald")
    lines = [f"reading {number} of sensor {draw.randrange(100)} is {draw.random():.6f}, "
             f"{draw.randbytes(draw.randrange(20, 80)).hex()}"
             for number in range(5 * setting["JOURNALD_SYNCS"])]
    (apps_folder(folder) / "messages").write_text("\n".join(lines) + "\n")
    add_programs(folder, ["/usr/lib/systemd/systemd-journald", "journalctl", "logger"])


def make_git(folder, setting):
    """A repository of this project's history, and git."""
    home = apps_folder(folder)
    run(["git", "init", "-q", "--bare", "-b", "main", str(home / "repository.git")])
    run(["git", "-C", str(PROJECT), "push", "-q", str(home / "repository.git"),
         f"{setting['GIT_COMMIT']}:refs/heads/main"])
    # Not gc, which would leave refs/ empty: an initramfs of files has no empty folders.
    run(["git", "-C", str(home / "repository.git"), "repack", "-a", "-d", "-q"])
    add_programs(folder, ["git", "git-upload-pack"])


def make_oltp(folder, setting):
    """sysbench's table in MariaDB's files; the server and sysbench."""
    home = apps_folder(folder)
    data, socket = home / "mysql", folder / "socket"
    run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
         "--auth-root-authentication-method=normal", "--user=root"])
    server = subprocess.Popen(
        ["mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={socket}",
         f"--pid-file={folder}/pid", "--skip-networking", "--skip-grant-tables",
         "--innodb-flush-log-at-trx-commit=0",
         f"--innodb-log-file-size={setting['OLTP_REDO_MB']}M"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        fill_table(["--db-driver=mysql", f"--mysql-socket={socket}", "--mysql-user=root",
                    "--mysql-db=sbtest", "--tables=1", f"--table-size={setting['OLTP_ROWS']}",
                    f"--mysql-storage-engine={setting['OLTP_ENGINE']}",
                    f"--rand-seed={setting['SEED']}"], socket)
    finally:
        server.terminate()
        server.wait()
    add_programs(folder, ["mariadbd", "sysbench"])
    for part in ("sysbench", "mysql/english", "mysql/charsets"):
        shutil.copytree(Path("/usr/share") / part, folder / "usr/share" / part)


def fill_table(connection, socket):
    """Wait for the server, then let sysbench make its table."""
    waited = time.monotonic() + 60
    while not socket.exists():
        if time.monotonic() > waited:
            raise InputError("mariadbd did not come up within 60 s")
        time.sleep(0.1)
    run(["mariadb", "--no-defaults", f"--socket={socket}", "-u", "root"], "CREATE DATABASE sbtest;")
    run(["sysbench", "oltp_read_write", *connection, "prepare"])


def make_python(folder, _):
    """Python, for other_loads.py: the modules that it uses."""
    add_programs(folder, ["/usr/bin/python3"])
    said = ("import sys, other_loads\nfor module in sys.modules.values():\n"
            "    print(getattr(module, '__file__', None) or '')")
    done = subprocess.run(["/usr/bin/python3", "-SEB", "-X", "utf8", "-c", said], cwd=HERE,
                          capture_output=True, text=True, check=True)
    for path in done.stdout.split():
        if path.startswith("/usr/lib/"):
            (folder / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / path[1:])


def make_python_sqlite(folder, setting):
    """Python beside the suite's database."""
    make_python(folder, setting)
    make_sqlite(folder, setting)


# Load -> who makes its inputs, and the settings that they depend on. Others need none.
MAKERS = {
    "sqlite-wal": (make_sqlite, "SQLITE"),
    "sqlite-delete": (make_sqlite, "SQLITE"),
    "sqlite-batch": (make_batch, "BATCH"),
    "dpkg": (make_dpkg, "DPKG"),
    "journald": (make_journald, "JOURNALD"),
    "git": (make_git, "GIT"),
    "oltp": (make_oltp, "OLTP"),
    **{name: (make_python_sqlite, "SQLITE") if load.sqlite else (make_python, "PYTHON")
       for name, load in other_loads.LOADS.items()},
}


def folder_of(load, setting):
    """The folder of a load's inputs, made if need be; None: it has none."""
    if load not in MAKERS:
        return None
    make, prefix = MAKERS[load]
    chosen = {key: value for key, value in setting.items()
              if key.startswith(prefix) or key == "SEED"}
    key = hashlib.sha256(f"{chosen}".encode() + Path(__file__).read_bytes()).hexdigest()[:16]
    folder = cache_dir() / "apps" / f"{make.__name__}-{key}"
    image.forget_unused(folder.parent)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="new-", dir=folder.parent))
        try:
            make(scratch, setting)
            os.rename(scratch, folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    os.utime(folder)
    return folder


def files_of(load, setting):
    """What a load's guest gets beside the scripts, as words for --file."""
    folder = folder_of(load, setting)
    return [f"{path}:/{path.name}" for path in sorted(folder.iterdir())] if folder else []
