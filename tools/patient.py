#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""patient.py SECONDS COMMAND...: timeout(1) that allows for a busy machine: where more threads than
processors want to run, time counts as the share of a processor that each gets. The command leads a
process group of its own; past the limit the group gets SIGTERM, and SIGKILL 30 seconds later. Tells
at the end what it has taken of a processor. Exit code: the command's, or 124 past the limit."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "vm"))

from clock import Patience  # noqa: E402

EXIT_TIMEOUT = 124
EXIT_USAGE = 125
GRACE_SECONDS = 30
POLL_SECONDS = 0.2


def end_group(process):
    """End the command and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(GRACE_SECONDS)
    except ProcessLookupError:
        pass
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def leave(number, _frame):
    """Turn a signal into an exit that ends the command."""
    raise SystemExit(128 + number)


def main(arguments):
    """Run the command; returns the exit code."""
    try:
        limit = float(arguments[0])
        command = arguments[1:]
    except (IndexError, ValueError):
        command = None
    if not command:
        print("patient.py: give a number of seconds and a command", file=sys.stderr)
        return EXIT_USAGE
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    process = subprocess.Popen(command, start_new_session=True)
    patience = Patience(limit)
    try:
        while process.poll() is None:
            if patience.is_over():
                return EXIT_TIMEOUT
            time.sleep(POLL_SECONDS)
    finally:
        end_group(process)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"# {used.ru_utime + used.ru_stime:.0f} s of a processor", file=sys.stderr)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
