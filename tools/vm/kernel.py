# SPDX-License-Identifier: GPL-2.0-only
"""Finds the stock kernel that a guest boots and unpacks it for QEMU's PVH entry."""

import lzma
import os
import re
import struct
import subprocess
import zlib
from pathlib import Path

from common import VmError, cache_dir, write_atomically

BZIMAGE_SIGNATURE = b"HdrS"
# Offsets in the x86 boot protocol's header, Documentation/arch/x86/boot.rst.
OFFSET_SETUP_SECTORS = 0x1F1
OFFSET_SIGNATURE = 0x202
OFFSET_PAYLOAD = 0x248


class Kernel:
    """One kernel: its release, its machine by Debian's name, its image and its module folder.

    It is the installed one of that release, unless `build`, the folder that modules are built
    against, lies in a folder into which Debian's packages were unpacked, as tools/vm/debian-kernel
    does, or holds an image of its own, with its modules installed below `build`/root, as
    tools/vm/debug-kernel makes it.
    """

    def __init__(self, release, build):
        self.release = release
        self.machine = machine_of(build)
        self.root = root_of(build, release)
        self.image = self.root / "boot" / f"vmlinuz-{release}"
        self.is_own = False
        own = build / "arch/x86/boot/bzImage"
        if own.exists():
            self.root = build / "root"
            self.image = own
            self.is_own = True
        self.modules = self.root / "lib/modules" / release
        for needed in (self.image, self.modules):
            if not needed.exists():
                raise VmError(
                    f"kernel {release} has no {needed}: install linux-image-{release}, or name "
                    "another kernel with KDIR=/lib/modules/RELEASE/build"
                )

    def bootable(self):
        """
        Path of what QEMU boots: the uncompressed kernel, which saves seconds, unpacked into the
        cache on first use. A kernel of our own is booted as it is: KASAN's checks are compiled
        into the direct entry as well, which runs before there is any memory for them.
        """
        if self.is_own or self.machine != "amd64":
            return self.image
        status = self.image.stat()
        name = f"vmlinux-{self.release}-{status.st_size:x}-{status.st_mtime_ns:x}"
        path = cache_dir() / "kernel" / name
        if not path.exists():
            write_atomically(path, [unpack(self.image)])
        return path


def machine_of(build):
    """The machine that the kernel is configured for."""
    config = (build / "include/config/auto.conf").read_text()
    found = re.search(r"^CONFIG_(ARM64|ARM|X86_64)=y$", config, re.MULTILINE)
    if not found:
        raise VmError(f"the kernel of {build} is for a machine that guests cannot be")
    return {"ARM64": "arm64", "ARM": "armhf", "X86_64": "amd64"}[found[1]]


def root_of(build, release):
    """The folder below which the kernel of that release lies that `build` belongs to."""
    for folder in build.resolve().parents:
        if (folder / "boot" / f"vmlinuz-{release}").exists():
            return folder
    return Path("/")


def find():
    """The kernel that the modules are built for (tools/vm/kernel-dir decides which)."""
    chooser = Path(__file__).with_name("kernel-dir")
    chosen = subprocess.run([chooser], stdout=subprocess.PIPE, text=True, check=False)
    if chosen.returncode:
        raise VmError("no kernel to boot: run tools/setup.sh")
    build = Path(chosen.stdout.strip())
    header = build / "include/generated/utsrelease.h"
    found = re.search(r'#define UTS_RELEASE "(.*)"', header.read_text())
    if not found:
        raise VmError(f"{header} does not name a kernel release")
    return Kernel(found[1], build)


def unpack(image):
    """The ELF kernel inside a bzImage, as bytes."""
    data = image.read_bytes()
    if data[OFFSET_SIGNATURE:OFFSET_SIGNATURE + 4] != BZIMAGE_SIGNATURE:
        raise VmError(f"{image} is not an x86 bzImage")
    setup_sectors = data[OFFSET_SETUP_SECTORS] or 4
    offset, length = struct.unpack_from("<II", data, OFFSET_PAYLOAD)
    start = (setup_sectors + 1) * 512 + offset
    elf = decompress(data[start:start + length], image)
    if not elf.startswith(b"\x7fELF"):
        raise VmError(f"{image} does not hold an ELF kernel")
    return elf


def decompress(payload, image):
    """Decompress a kernel payload; the build appends its size, so trailing bytes are normal."""
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31).decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return decompress_by_tool(["zstd", "-dc"], payload[:-4], image)
    if payload.startswith(b"\x02\x21\x4c\x18"):
        return decompress_by_tool(["lz4", "-dc"], payload[:-4], image)
    raise VmError(f"{image} is compressed in a way that is not xz, gzip, zstd or lz4")


def decompress_by_tool(command, payload, image):
    """Decompress with a tool that Python's library lacks."""
    try:
        done = subprocess.run(command, input=payload, stdout=subprocess.PIPE, check=False)
    except FileNotFoundError as error:
        raise VmError(f"{image} needs {command[0]}, which is not installed") from error
    if done.returncode:
        raise VmError(f"{command[0]} could not unpack {image}: exit {done.returncode}")
    return done.stdout


def show_depends(kernel, name):
    """Files to insert, in order, to load module `name`; empty when it is built in."""
    listing = subprocess.run(
        ["/sbin/modprobe", "--show-depends", "--ignore-install", "-d", kernel.root,
         "-S", kernel.release, name],
        capture_output=True, text=True, check=False,
    )
    if listing.returncode:
        raise VmError(f"kernel {kernel.release} has no module {name}: {listing.stderr.strip()}")
    files = []
    for line in listing.stdout.splitlines():
        words = line.split()
        if words and words[0] == "insmod":
            files.append(os.path.realpath(words[1]))
    return files
