# SPDX-License-Identifier: GPL-2.0-only
"""Builds what a guest finds in memory: the cached base image and the overlay of one job."""

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import engines
import kernel as kernels
from common import BUILD, PROJECT, cache_dir, write_atomically
from cpio import Archive
from userland import in_usr, needs

HERE = Path(__file__).resolve().parent
KEEP_UNUSED_SECONDS = 14 * 24 * 3600

# Programs of the guest. A name that is also a busybox applet replaces the applet.
PROGRAMS = [
    "bash", "busybox",
    "dmsetup", "blockdev", "blkdiscard", "losetup", "mount", "umount", "wipefs", "blkid", "flock",
    "mkfs.ext4", "e2fsck", "resize2fs", "debugfs", "tune2fs", "dumpe2fs",
    "mkfs.xfs", "xfs_repair", "xfs_db", "xfs_io", "mkfs.fat", "fsck.fat", "mkfs.f2fs", "sfdisk",
    "fio", "postmark", "sqlite3", "blktrace", "blkparse", "strace", "make-bcache",
    "dd", "stat", "sync", "timeout", "date", "grep", "sed", "od", "cmp", "truncate", "sort",
    "numfmt", "fallocate", "chrt",
]

# Modules that a test may load, with what they depend on. The project's own come with the job.
MODULES = [
    "ext4", "xfs", "vfat", "nls_cp437", "nls_ascii", "loop", "null_blk", "configfs",
    "dm-mod", "dm-flakey", "dm-log-writes", "dm-delay", "dm-zero", "dm-snapshot",
    "dm-thin-pool", "dm-multipath", "dm-round-robin", "dm-crypt", "dm-mirror", "raid1", "raid456",
    "xts", "ecb", "f2fs",
    "virtio_pci", "virtio_blk", "virtio_console",
]

# What these need for checksums; newer kernels have it built in and know no such names.
CHECKSUM_MODULES = ["crc32_generic", "crc32c_generic", "crc32c-intel", "libcrc32c"]

# A kernel built for tests (debug-kernel) has none of these: the disks of the tools' tests, what
# ressd is compared with in benchmarks.
STOCK_MODULES = [
    "brd", "nvme", "virtio_scsi", "sd_mod", "sdhci-pci", "mmc_block",
    "bfq", "kyber-iosched",
    "dm-writecache", "dm-cache", "dm-cache-smq", "bcache",
]

# A library that glibc opens by name when a thread is cancelled, so that no program asks for it.
OPENED_BY_NAME = ["libgcc_s.so.1"]
DATA_FILES = ["/etc/mke2fs.conf"]


def build_base(kernel, userland, programs):
    """Collect the base image: busybox, programs with libraries, modules and init; and say at which
    places there are none that another program could use."""
    archive = Archive()
    for folder in ("proc", "sys", "dev", "run", "tmp", "root", "mnt", "etc", "job", "modules",
                   "usr/bin", "usr/lib", "usr/lib64", "usr/local/bin", "var/tmp"):
        archive.folder(folder)
    for link in ("bin", "sbin", "lib", "lib64"):
        archive.symlink(link, "usr/" + link)
    archive.symlink("usr/sbin", "bin")
    archive.character_device("dev/console", 5, 1)
    archive.text("etc/passwd", "root:x:0:0:root:/root:/bin/bash\n")
    archive.text("etc/group", "root:x:0:\n")
    archive.symlink("etc/mtab", "/proc/mounts")
    for path in DATA_FILES:
        archive.file(in_usr(path), path)
    unused = add_engines(archive, userland, programs["fio"])
    for name, path in programs.items():
        archive.file(f"usr/bin/{name}", path)
        add_libraries(archive, userland, path, unused)
    for name in OPENED_BY_NAME:
        archive.file(*userland.library(name))
    add_busybox_applets(archive)
    archive.symlink("usr/bin/fsck.ext4", "e2fsck")
    add_modules(archive, kernel)
    archive.file("init", HERE / "guest-init")
    archive.file("usr/bin/reseed", compiled("reseed"))
    return archive, unused


def compiled(name):
    """Path of a small program of this folder, compiled into the cache."""
    source = HERE / f"{name}.c"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:24]
    program = cache_dir() / "image" / f"{name}-{digest}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        new = program.with_name(f"{program.name}.{os.getpid()}")
        subprocess.run(["cc", "-O2", "-Wall", "-o", new, source], check=True)
        new.replace(program)
    os.utime(program)
    return program


def add_engines(archive, userland, fio):
    """Put one library in the place of those of fio's that no test uses, and return these places.
    The compiler is that of this machine."""
    found = dict(userland.library(name) for name in needs(fio) if not engines.USED.match(name))
    if not userland.is_here() or not found:
        return []
    for place in found:
        archive.symlink(place, "engines.so")
    archive.file(f"{os.path.dirname(place)}/engines.so", engines.stand_in(fio, found.values()))
    return list(found)


def add_libraries(archive, userland, program, held=()):
    """Add the libraries of `program`, without those that the base image holds."""
    for place, path in userland.libraries(program, held).items():
        if place not in archive:
            archive.file(place, path)


def add_busybox_applets(archive):
    """Link every busybox applet that no real program replaces."""
    listing = subprocess.run(["busybox", "--list"], stdout=subprocess.PIPE, text=True, check=True)
    for applet in listing.stdout.split():
        if f"usr/bin/{applet}" not in archive:
            archive.symlink(f"usr/bin/{applet}", "busybox")


def add_modules(archive, kernel):
    """Add kernel modules and a dependency list that holds only them."""
    files = {}
    listing = (kernel.modules / "modules.dep").read_text() + (
        kernel.modules / "modules.builtin").read_text()
    names = MODULES + ([] if kernel.is_own else STOCK_MODULES)
    names += [name for name in CHECKSUM_MODULES if f"/{name}.ko" in listing]
    for name in names:
        for path in kernels.show_depends(kernel, name):
            files[os.path.relpath(path, os.path.realpath(kernel.modules))] = path
    place = f"usr/lib/modules/{kernel.release}"
    for inside, path in files.items():
        archive.file(f"{place}/{inside}", path)
    write_indexes(archive, kernel, place, files)


def write_indexes(archive, kernel, place, files):
    """Add the indexes of modprobe, cut down to `files`; the kernel asks for modules by alias."""
    def chosen(index, is_wanted):
        lines = (kernel.modules / index).read_text().splitlines()
        return "".join(line + "\n" for line in lines if is_wanted(line))

    names = {Path(inside).stem.replace("-", "_") for inside in files}
    archive.text(f"{place}/modules.dep",
                 chosen("modules.dep", lambda line: line.split(":")[0] in files))
    archive.text(f"{place}/modules.alias",
                 chosen("modules.alias", lambda line: line.split()[-1] in names))
    archive.text(f"{place}/modules.symbols", "")
    for name in ("modules.builtin", "modules.order"):
        archive.file(f"{place}/{name}", kernel.modules / name)


def identity(path):
    """A line that changes whenever the file at `path` does."""
    real = os.path.realpath(path)
    status = os.stat(real)
    return f"{real} {status.st_size} {status.st_mtime_ns}"


def base_key(kernel, userland, programs):
    """Hash of everything that decides the content of the base image."""
    key = hashlib.sha256()
    inputs = [HERE / name for name in ("image.py", "engines.py", "userland.py", "cpio.py",
                                       "guest-init", "reseed.c")]
    for path in inputs:
        key.update(path.read_bytes())
    key.update(kernel.release.encode())
    for name in sorted(programs):
        key.update(f"{name} {identity(programs[name])}\n".encode())
    opened = [userland.library(name)[1] for name in OPENED_BY_NAME]
    for path in opened + DATA_FILES + [kernel.modules / "modules.dep"]:
        key.update(f"{identity(path)}\n".encode())
    return key.hexdigest()[:24]


def base_image(kernel, userland):
    """Path of the base image, built on first use; and the guest paths that it holds."""
    programs = {name: userland.program(name) for name in PROGRAMS}
    key = base_key(kernel, userland, programs)
    path = cache_dir() / "image" / f"base-{kernel.release}-{key}.cpio"
    index = path.with_suffix(".list")
    if not (path.exists() and index.exists()):
        forget_unused(path.parent)
        archive, unused = build_base(kernel, userland, programs)
        held = sorted(set(archive.entries) - set(unused))
        write_atomically(index, ["\n".join(held).encode()])
        write_atomically(path, archive.chunks())
    os.utime(path)
    os.utime(index)
    return path, set(index.read_text().splitlines())


def forget_unused(folder):
    """Remove what no run has used for two weeks: base images, or folders of inputs."""
    if not folder.exists():
        return
    for path in folder.iterdir():
        try:
            if time.time() - path.stat().st_mtime > KEEP_UNUSED_SECONDS:
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        except FileNotFoundError:
            pass  # another runner was faster


def add_tree(archive, place, source):
    """Add a file, or a folder with all below it, at `place`."""
    source = Path(source)
    if not source.is_dir():
        archive.file(place, source)
        return
    archive.folder(place)
    for folder, _, names in os.walk(source, followlinks=True):
        inside = os.path.relpath(folder, source)
        for name in names:
            archive.file(os.path.normpath(f"{place}/{inside}/{name}"), Path(folder) / name)


def guest_place(guest):
    """Archive path of a guest path: relative ones are below /job."""
    place = os.path.normpath(guest if guest.startswith("/") else f"/job/{guest}")
    return place.lstrip("/")


def job_overlay(script, files, settings, base_paths, userland):
    """Collect the overlay of one job: its script, files, settings and the project's build."""
    archive = Archive()
    archive.folder("job")
    archive.file("job/lib.sh", PROJECT / "tests/vm/lib.sh")
    for module in sorted((BUILD / "modules").glob("*.ko")):
        archive.file(f"modules/{module.name}", module)
    for program in sorted((BUILD / "bin").glob("*")):
        if program.is_file():
            archive.file(f"usr/local/bin/{program.name}", program)
            add_libraries(archive, userland, program, base_paths)
    # Last, so that --file can put another module or program in the place of the project's.
    for host, guest in files:
        add_tree(archive, guest_place(guest), host)
        if guest_place(guest).startswith("usr/local/bin/"):
            add_libraries(archive, userland, host, base_paths)
    archive.file(f"job/{script.name}", script)
    archive.text("job/.settings", settings)
    return archive
