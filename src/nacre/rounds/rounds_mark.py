"""The mark of rounds that run: a lock that the kernel drops when their process ends.

It refuses nobody, as two commands at once do no harm. It says that there is one, which the journal
cannot: a command that was killed leaves the same journal. The file says how far the step is. It is
written in place, so that its folder stays as it is: who watches that need not look again.
"""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import msgspec

from nacre.store.layout import Layout

_NAME: Final = "running"
_LONGEST: Final = 500
"""Bytes of the file: one write, and one read."""
_EVERY: Final = 0.5
"""Seconds between two writes."""


class StepProgress(msgspec.Struct, frozen=True):
    """The progress of a step.

    Attributes:
        step: Its name.
        done: Tasks of its part that are done; of a fetch visits.
        of: Tasks of the part; of a fetch visits that there will be; 0: not known.
        unit: `tasks` or `urls`.
        phase: The part of the step, from 1; 0 for a fetch.
        bytes: Bytes that a fetch received.
        hosts: Hosts that it asked.
        left: Time that it still takes, s; None: not known yet, or it is no fetch.
        ready: Its units that are done.
        units: All of its units.
        work: Name of the function of the tasks; "" for a fetch.
    """

    step: str
    done: int
    of: int
    unit: str = "tasks"
    phase: int = 0
    bytes: int = 0
    hosts: int = 0
    left: float | None = None
    ready: int = 0
    units: int = 0
    work: str = ""


def fetch_step(step: str, numbers: Mapping[str, Any]) -> StepProgress:
    """The progress of a step that fetches.

    Args:
        step: Its name.
        numbers: Of `rounds.segments.fetch_progress.FetchProgress`, by name.
    """
    return StepProgress(
        step, numbers["visits"], numbers["of"], "urls", 0,
        *(numbers[name] for name in ("bytes", "hosts", "left", "ready", "units")),
    )  # fmt: skip


class RoundsMark:
    """The mark of the rounds of this process.

    Args:
        handle: The open file; -1: there is none, and nothing is told.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._next = 0.0

    def tell(self, progress: StepProgress) -> None:
        """Say how far the step is, at most twice a second; the begin and the end of a part always.

        Args:
            progress: It.
        """
        now = time.monotonic()
        if now < self._next and 0 < progress.done < progress.of:
            return
        self._next = now + _EVERY
        data = msgspec.json.encode(progress)[:_LONGEST].ljust(_LONGEST)
        if self._handle >= 0:
            with suppress(OSError):  # nobody is told, and the rounds go on
                os.pwrite(self._handle, data, 0)


@contextmanager
def rounds_mark(layout: Layout) -> Iterator[RoundsMark]:
    """While the block runs, rounds run in a directory.

    A file system without locks has no marks; the rounds run all the same.
    """
    handle = -1
    try:
        layout.cycle.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        handle = os.open(layout.cycle / _NAME, flags, 0o600)
        fcntl.flock(handle, fcntl.LOCK_SH)
        os.truncate(handle, 0)
    except OSError:
        pass  # whoever writes into the directory next tells what it has
    try:
        yield RoundsMark(handle)
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


def step_progress(layout: Layout) -> StepProgress | None:
    """The progress of the step of rounds that run (`rounds_run`); None: not known yet."""
    try:
        handle = os.open(layout.cycle / _NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return msgspec.json.decode(os.pread(handle, _LONGEST, 0), type=StepProgress)
    except (OSError, msgspec.MsgspecError):  # it is written just now
        return None
    finally:
        os.close(handle)
