# SPDX-License-Identifier: GPL-2.0-only
"""Paths and helpers that the parts of the VM runner share."""

import os
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BUILD = PROJECT / "build"


class VmError(Exception):
    """The runner cannot do what it was asked; the message is a sentence for the user."""


def cache_dir():
    """The folder of slow-to-make files, outside of the work tree."""
    named = os.environ.get("RESSD_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dm-ressd"


def write_atomically(path, chunks):
    """Write `chunks` of bytes to `path`, so that another runner never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            for chunk in chunks:
                out.write(chunk)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
