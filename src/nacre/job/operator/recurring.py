"""A crawl that never ends, as other terminals see it: what it waits for, and how it is ended.

Its process holds a lock on `state/passes` from the first pass to the last, and writes there when
the next one begins. A lock ends with its process, so that what was killed is told from what waits.
Who wants it to end puts `control/stop` into the job, which a run obeys, and between two runs this.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from nacre.errors import JobError
from nacre.frontier.lockfile import is_taken, take
from nacre.job.layout import Layout
from nacre.job.runs.following import Following

_STOP = "stop"


class Recurring(msgspec.Struct, frozen=True):
    """A crawl that never ends.

    Attributes:
        pid: Its process.
        rhythm: The options that say when passes begin: `--every 6h`.
        time: When the next pass begins, seconds since the epoch; 0 when that is not known yet.
        why: Why then; "" where the rhythm says it.
        waits: A process waits for it; False when that was killed.
    """

    pid: int
    rhythm: str
    time: float = 0.0
    why: str = ""
    waits: bool = True


class PassKeeper:
    """The process of such a crawl: says what it waits for, and hears that it is to end.

    Args:
        layout: The job's directories.
        rhythm: See `Recurring`.
        handle: Of the locked file.
    """

    def __init__(self, layout: Layout, rhythm: str, handle: int) -> None:
        self._rhythm = rhythm
        self._handle = handle
        self._wish = layout.control / _STOP
        self.expects(None)

    def expects(self, following: Following | None) -> None:
        """Say when the next pass begins; None when that is not known yet."""
        time, why = following or Following(0.0)
        text = msgspec.json.encode(Recurring(os.getpid(), self._rhythm, time, why))
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, text, 0)

    def is_stopped(self) -> bool:
        """Whether somebody wants it to end; the wish is taken."""
        try:
            self._wish.unlink()
        except OSError:
            return False
        return True


@contextmanager
def keeping_passes(layout: Layout, rhythm: str) -> Iterator[PassKeeper]:
    """Hold the passes of a job for this process; a wish of before that it ends is forgotten.

    Raises:
        JobError: Another process holds them, or the job's directory cannot be written to.
    """
    layout.state.mkdir(0o700, parents=True, exist_ok=True)
    try:
        handle = take(layout.passes)
    except OSError as error:
        raise JobError(f"{layout.passes} cannot be locked: {error.strerror}") from None
    if handle is None:
        other = _read(layout.passes)
        who = f"process {other.pid}, with {other.rhythm}" if other else "another process"
        raise JobError(
            f"{layout.root} is visited again and again already ({who}); "
            f"`nacre stop {layout.root}` ends that"
        )
    try:
        keeper = PassKeeper(layout, rhythm, handle)
        keeper.is_stopped()
        yield keeper
    finally:
        layout.passes.unlink(missing_ok=True)
        os.close(handle)


def recurring(layout: Layout) -> Recurring | None:
    """The crawl without end that a job is in, waiting or killed; None for none."""
    waits = is_taken(layout.passes)
    found = _read(layout.passes)
    if found is None:
        return None
    return msgspec.structs.replace(found, waits=waits)


def end_passes(layout: Layout, patience: Callable[[], bool]) -> bool:
    """Have the process end that waits for the next pass.

    Args:
        layout: The job's directories.
        patience: Waits a moment; False when that was long enough.

    Returns:
        Whether it ended; the wish stays where it did not.
    """
    wish = layout.control / _STOP
    try:
        wish.parent.mkdir(0o700, exist_ok=True)
        wish.touch()
    except OSError as error:
        raise JobError(f"{wish} cannot be made: {error.strerror}") from None
    while is_taken(layout.passes):
        if not patience():
            return False
    # The process was killed before it saw the wish, which would end the next run.
    wish.unlink(missing_ok=True)
    return True


def _read(path: Path) -> Recurring | None:
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=Recurring)
    return None
