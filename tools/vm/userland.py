# SPDX-License-Identifier: GPL-2.0-only
"""Where the programs of a guest come from: this machine, or Debian's packages for another one."""

import os
import re
import subprocess
from functools import cache
from itertools import chain
from pathlib import Path

from common import PROJECT, VmError

# Packages of image.PROGRAMS, which tools/setup.sh installs on this machine.
PACKAGES = [
    "bash", "busybox", "dmsetup", "util-linux", "mount", "e2fsprogs", "xfsprogs", "dosfstools",
    "f2fs-tools", "fdisk", "fio", "postmark", "sqlite3", "blktrace", "strace", "bcache-tools",
    "coreutils", "grep", "sed", "diffutils", "libaio1", "libgcc-s1",
]
FOLDERS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu",
           "armhf": "arm-linux-gnueabihf"}


class Userland:
    """Programs for a `machine`, by Debian's name of it."""

    def __init__(self, machine):
        self.root = Path("/") if machine == "amd64" else debian_root(machine)
        self.folder = FOLDERS[machine]

    def is_here(self):
        """Whether they are this machine's."""
        return self.root == Path("/")

    def program(self, name):
        """Path of an installed program, in the folders of a root shell."""
        for folder in ("usr/local/sbin", "usr/sbin", "usr/bin", "sbin", "bin"):
            path = self.root / folder / name
            if path.exists():
                return path
        raise VmError(f"the program {name} is not installed: run tools/setup.sh")

    def libraries(self, program, held=()):
        """Shared libraries that an ELF program needs, by their places in the guest; without those
        at places that are `held`, with what these need."""
        found = {}
        wanted = list(needs(program))
        while wanted:
            place, path = self.library(wanted.pop())
            if path and place not in found and place not in held:
                found[place] = path
                wanted += needs(path)
        return found

    def library(self, name):
        """Place and path of a library, or of the dynamic linker, which has an absolute name."""
        if name.startswith("/"):
            return in_usr(name), self.root / name[1:]
        folder = self.root / "usr/lib" / self.folder
        for path in chain([folder / name], folder.glob(f"*/{name}")):
            if path.exists():
                return os.path.relpath(path, self.root), path
        return None, None


def in_usr(path):
    """Guest path of a host path: the guest merges /bin, /sbin and /lib into /usr as Debian does."""
    path = str(path).lstrip("/")
    return path if path.startswith(("usr/", "etc/")) else "usr/" + path


@cache
def needs(program):
    """Names of the libraries and of the linker that an ELF file asks for itself."""
    done = subprocess.run(["readelf", "-ld", program], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"})
    return re.findall(r"(?:\(NEEDED\).*\[|program interpreter: )(.*)\]", done.stdout)


def debian_root(machine):
    """The folder of Debian's packages for that machine, fetched on first use."""
    done = subprocess.run([PROJECT / "tools/debian-root", machine, *PACKAGES],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise VmError(f"there are no programs for {machine}")
    return Path(done.stdout.strip())
