# SPDX-License-Identifier: GPL-2.0-only
"""One processor of this machine for each benchmark guest.

With virtual time QEMU's two threads take turns: whenever the guest is idle one of them moves the
clock on and wakes the other. On one processor that is a quick switch; across two of them it is an
interrupt each time, and a guest that waits for its disk takes up to twice as long in real time.
What the guest sees of time is the same either way.
"""

import fcntl
import os
from contextlib import ExitStack, contextmanager

from common import cache_dir


@contextmanager
def claimed():
    """The number of a processor that no other guest has claimed, or None if all are.

    The claim is a lock on a file, so it also ends when its holder dies.
    """
    folder = cache_dir() / "processors"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as locks:
        for number in sorted(os.sched_getaffinity(0)):
            lock = locks.enter_context(open(folder / str(number), "wb"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
        yield None
