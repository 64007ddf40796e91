"""The mark of rounds that run: a lock that the kernel drops when their process ends.

It refuses nobody, as two commands at once do no harm. It says that there is one, which the journal
cannot: a command that was killed leaves the same journal.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from nacre.store.layout import Layout

_NAME: Final = "running"


@contextmanager
def rounds_mark(layout: Layout) -> Iterator[None]:
    """While the block runs, rounds run in a directory.

    A file system without locks has no marks; the rounds run all the same.
    """
    handle = -1
    try:
        layout.cycle.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        handle = os.open(layout.cycle / _NAME, flags, 0o600)
        fcntl.flock(handle, fcntl.LOCK_SH)
    except OSError:
        pass  # whoever writes into the directory next tells what it has
    try:
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def rounds_run(layout: Layout) -> bool:
    """Whether rounds run in a directory; False where that cannot be told."""
    try:
        handle = os.open(layout.cycle / _NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False
