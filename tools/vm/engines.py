# SPDX-License-Identifier: GPL-2.0-only
"""fio is linked with libraries of network storage, which no test uses, and they with fifty others:
73 of the 77 million instructions of its start in a guest. There one library stands in for them,
whose functions end the program."""

import hashlib
import os
import re
import subprocess

from common import cache_dir

# What fio does use; the linker has an absolute name.
USED = re.compile(r"/|lib(c|m|z|aio|numa)\.so\.")


def symbols(path):
    """The symbols that an ELF file defines (True) or wants (False), with their versions."""
    listing = subprocess.run(["readelf", "--wide", "--dyn-syms", path], stdout=subprocess.PIPE,
                             text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout
    return [(section != "UND", name, version) for section, name, version in
            re.findall(r" DEFAULT +(\w+) ([^\s@]+)@*(\S*)", listing)]


def stand_in(program, libraries):
    """Path of a library with all that a program wants of these, compiled into the cache."""
    offered = {name for library in libraries for defined, name, _ in symbols(library) if defined}
    wanted = sorted((version, name) for defined, name, version in symbols(program)
                    if not defined and name in offered)
    source = "".join(f"void {name}(void) {{ __builtin_trap(); }}\n" for _, name in wanted)
    versioned = {version: [name for of, name in wanted if of == version]
                 for version in sorted({version for version, _ in wanted if version})}
    script = "".join(f"{version} {{ {'; '.join(names)}; }};\n"
                     for version, names in versioned.items())
    digest = hashlib.sha256((source + script).encode()).hexdigest()[:24]
    library = cache_dir() / "image" / f"engines-{digest}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        new = library.with_name(f"{library.name}.{os.getpid()}")
        versions = new.with_name(f"{new.name}.map")
        versions.write_text(script)
        subprocess.run(["cc", "-shared", "-fPIC", "-nostdlib", "-w", "-o", new,
                        f"-Wl,--version-script={versions}", "-x", "c", "-"], input=source,
                       text=True, check=True)
        versions.unlink()
        new.replace(library)
    os.utime(library)
    return library
