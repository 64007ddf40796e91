"""The mark of running rounds: a lock that the kernel drops when their process ends.

The lock is shared, as two concurrent commands do no harm. It proves that rounds run, which the
journal cannot: a killed command leaves the same journal. The file contains the progress of the
step. It is written in place, so that the folder does not change and its watchers do not wake.
"""

import fcntl
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import msgspec

from nacre.machine.layout import Layout
from nacre.rounds.journal import JournalFile
from nacre.rounds.tables.versions import Cycle
from nacre.settings.sections import load_tables

_NAME: Final = "running"
_LONGEST: Final = 500
"""Bytes of the file: one write, and one read."""
_EVERY: Final = 0.5
"""Seconds between two writes."""


class StepProgress(msgspec.Struct, frozen=True):
    """The progress of a step.

    Attributes:
        step: Its name.
        done: Finished tasks of its part; for a fetch finished visits.
        of: Tasks of the part; for a fetch expected visits; 0 if unknown.
        unit: `tasks` or `urls`.
        phase: The part of the step, from 1; 0 for a fetch.
        bytes: Bytes that a fetch received.
        hosts: Hosts that a fetch requested from.
        left: Estimated remaining time, s; None if unknown yet, or for other steps.
        ready: Finished units of a fetch.
        units: All units of a fetch.
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
    """Return the progress of a step that fetches.

    Args:
        step: Its name.
        numbers: Fields of `rounds.segments.fetch_progress.FetchProgress`, by name.
    """
    return StepProgress(
        step, numbers["visits"], numbers["of"], "urls", 0,
        *(numbers[name] for name in ("bytes", "hosts", "left", "ready", "units")),
    )  # fmt: skip


class RoundsMark:
    """The mark of the rounds of this process.

    Args:
        handle: The descriptor of the open file; -1: no file, and no reports.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._next = 0.0

    def tell(self, progress: StepProgress) -> None:
        """Report the progress, at most twice a second; always at begin and end of a part.

        Args:
            progress: The progress of the step.
        """
        now = time.monotonic()
        if now < self._next and 0 < progress.done < progress.of:
            return
        self._next = now + _EVERY
        data = msgspec.json.encode(progress)[:_LONGEST].ljust(_LONGEST)
        if self._handle >= 0:
            with suppress(OSError):  # rounds continue without a report
                os.pwrite(self._handle, data, 0)


@contextmanager
def rounds_mark(layout: Layout) -> Iterator[RoundsMark]:
    """Mark a directory while rounds run in it.

    A file system without locks has no marks; the rounds run nevertheless.
    """
    handle = -1
    try:
        layout.cycle.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        handle = os.open(layout.cycle / _NAME, flags, 0o600)
        fcntl.flock(handle, fcntl.LOCK_SH)
        os.truncate(handle, 0)
    except OSError:
        pass  # the next write into the directory reports the fault
    try:
        yield RoundsMark(handle)
    finally:
        if handle >= 0:
            os.close(handle)


def rounds_run(layout: Layout) -> bool:
    """Return whether rounds run in a directory; False if that cannot be checked."""
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
    """Return the progress of the step of running rounds (`rounds_run`); None if unknown yet."""
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


def rounds_status(layout: Layout) -> dict[str, Any]:
    """Return the status of a batch crawl as plain data.

    `progress` is the `StepProgress` of running rounds, else None.

    Args:
        layout: The directory of the crawl.

    Raises:
        ConfigError: Its configuration is wrong.
        JobError: Its versions cannot be read.
    """
    storage = load_tables(layout).settings.cycle.storage
    version = Cycle.open(layout.root, storage).newest()
    journal = JournalFile(layout).read()
    states = Counter(segment.state for segment in version.segments.values())
    progress = step_progress(layout) if rounds_run(layout) else None
    return {
        "progress": msgspec.to_builtins(progress),
        "version": version.number,
        "step": version.step,
        "clock": version.clock,
        "segments": dict(states),
        "round": journal.round if journal is not None else None,
        "rounds": journal.rounds if journal is not None else None,
        "at": journal.step if journal is not None else "",
    }
