"""The start of the next pass of a continuous crawl: at an interval, or by a calendar.

The next pass of a crawl that never ends, as it is noted when the last one was over.

Its process holds a lock on `state/passes` from the first pass to the last, and writes the start of
the next one there. A lock ends with its process, so that a killed crawl does not look like one
that waits. The file `control/stop` in the job ends the crawl, in a run and between two runs.
"""

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from nacre.config.component import parse_duration
from nacre.core.message_data import restore, to_builtins, to_json, with_codes
from nacre.errors import ConfigError, JobError
from nacre.machine.layout import Layout
from nacre.machine.local_files import is_locked, lock_file
from nacre.messages import message, plain
from nacre.planner.schedules.schedules import Calendar
from nacre.runs.runs import RunRow, is_over, read_run
from nacre.store.store import Store

_KEY = b"next pass"
_STOP = "stop"


class _NextPassRow(msgspec.Struct, frozen=True):
    """The next pass as a row of the store, with the number of the preceding run."""

    run: int
    time: float
    why: str


class NextPass(NamedTuple):
    """The start of the next pass.

    Attributes:
        time: When it begins, seconds since the epoch.
        reason: Reason for the time; "" if it was requested.
    """

    time: float
    reason: str = ""


def note_pass(store: Store, last: RunRow, following: NextPass) -> None:
    """Note when the next pass begins, for `nacre status`; `last` is the run that is over."""
    noted = _NextPassRow(last.number, following.time, following.reason)
    data = with_codes(to_builtins(noted))
    store.put("meta", _KEY, msgspec.msgpack.encode(data, enc_hook=plain))


def next_pass(store: Store) -> NextPass | None:
    """The next pass of a crawl that never ends, as noted when the last was over; None for none."""
    row, last = store.get("meta", _KEY), read_run(store)
    if row is None or last is None or not is_over(last):
        return None
    noted = msgspec.convert(restore(msgspec.msgpack.decode(row)), _NextPassRow)
    return NextPass(noted.time, noted.why) if noted.run == last.number else None


class PassSchedule(Protocol):
    """A rule for the begin of passes."""

    def following(self, began: float, now: float) -> NextPass | None:
        """Return the start of the next pass; None when there is none.

        Args:
            began: When the last one began.
            now: When it was over.
        """
        ...


class RegularPasses(NamedTuple):
    """Passes at an interval, or by a calendar.

    Attributes:
        every: Seconds between the begins of two passes; 0 with a calendar.
        calendar: Times of the begins; None with `every`.
    """

    every: float = 0.0
    calendar: Calendar | None = None

    def following(self, began: float, now: float) -> NextPass | None:
        """See `PassSchedule`.

        A pass that took longer than the interval is followed at once, and none is made up for.
        One that seems to have begun later than now began before the clock was set back.
        """
        if self.calendar is not None:
            time = self.calendar.after(now)
            return None if time is None else NextPass(time)
        return NextPass(max(now, min(began, now) + self.every))

    def next_after(self, time: float, now: float) -> float | None:
        """Return the pass after that of a time, or the first after `now` where that is later.

        None when there is none.
        """
        if self.calendar is not None:
            return self.calendar.after(max(time, now))
        return time + self.every * max(1.0, (now - time) // self.every + 1.0)


def parse_rhythm(
    every: str, calendar: str, zone: str = "UTC", *, continuous: bool = False
) -> RegularPasses | None:
    """A rhythm as it is typed; None when there is none: one pass, or passes as pages are due.

    Args:
        every: A duration, such as `6h`; "" for none.
        calendar: Five fields of cron, or `@daily` and the like; "" for none.
        zone: Time zone of the calendar.
        continuous: Passes begin as pages are due.

    Raises:
        ConfigError: Both are given, or one is wrong.
    """
    if (bool(every), bool(calendar), continuous).count(True) > 1:
        raise ConfigError(
            message(
                "runs.every-at-and-continuous",
                "--every, --at and --continuous: only one can say when the next pass begins",
            )
        )
    if not every and not calendar:
        return None
    try:
        if calendar:
            return RegularPasses(calendar=Calendar(calendar, zone))
        seconds = float(str(parse_duration(every)))
    except ValueError as error:
        wrong = "--at, --time-zone" if calendar else f"--every {every!r}"
        raise ConfigError(f"{wrong}: {error}") from None
    if seconds <= 0.0:
        raise ConfigError(
            message(
                "runs.every-passes-need-interval",
                "--every {every!r}: passes need an interval, such as 6h",
                every=every,
            )
        )
    return RegularPasses(every=seconds)


class RecurringCrawl(msgspec.Struct, frozen=True):
    """A crawl that is repeated again and again.

    Attributes:
        pid: Its process.
        rhythm: The options for the begin of passes: `--every 6h`.
        time: When the next pass begins, seconds since the epoch; 0 when that is not known yet.
        why: Reason for the time; "" if it follows from the rhythm.
        waits: A process waits for it; False when the process was killed.
    """

    pid: int
    rhythm: str
    time: float = 0.0
    why: str = ""
    waits: bool = True


def coming_passes(crawl: RecurringCrawl, now: float) -> Iterator[float]:
    """Yield the times after `now` at which passes of a repeated crawl begin, in order (pure).

    Of one whose passes begin as pages are due only the next one is known.
    """
    try:
        rhythm = _parse_rhythm(crawl.rhythm)
    except (ConfigError, ValueError):  # of another version
        rhythm = None
    time = crawl.time
    if rhythm is not None and not time:  # it is known when the pass that runs is over
        return
    while time:
        if time > now:
            yield time
        following = rhythm.next_after(time, now) if rhythm is not None else None
        time = following or 0.0


def _parse_rhythm(rhythm: str) -> RegularPasses | None:
    """Return the rhythm of the options that a shell takes; None for passes as pages are due."""
    words = shlex.split(rhythm)
    options = dict(zip(words[::2], words[1::2], strict=False))
    zone = options.get("--time-zone", "UTC")
    return parse_rhythm(options.get("--every", ""), options.get("--at", ""), zone)


class PassKeeper:
    """The process that repeats a crawl: publishes when the next pass begins, and obeys `stop`.

    Args:
        layout: The job's directories.
        rhythm: See `RecurringCrawl`.
        handle: Of the locked file.
    """

    def __init__(self, layout: Layout, rhythm: str, handle: int) -> None:
        self._rhythm = rhythm
        self._handle = handle
        self._stop_file = layout.control / _STOP
        self.announce(None)

    def announce(self, following: NextPass | None) -> None:
        """Publish when the next pass begins; None: not known yet."""
        time, reason = following or NextPass(0.0)
        crawl = RecurringCrawl(os.getpid(), self._rhythm, time, reason)
        text = to_json(with_codes(to_builtins(crawl)))
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, text, 0)

    def is_stopped(self) -> bool:
        """Return whether `nacre stop` requested the end; remove the request."""
        try:
            self._stop_file.unlink()
        except OSError:
            return False
        return True


@contextmanager
def lock_passes(layout: Layout, rhythm: str) -> Iterator[PassKeeper]:
    """Lock the passes of a job for this process, and remove an earlier request to stop.

    Raises:
        JobError: Another process holds them, or the job's directory cannot be written to.
    """
    layout.state.mkdir(0o700, parents=True, exist_ok=True)
    try:
        handle = lock_file(layout.passes)
    except OSError as error:
        raise JobError(
            message(
                "runs.cannot-be-locked",
                "{passes} cannot be locked: {strerror}",
                passes=layout.passes,
                strerror=error.strerror,
            )
        ) from None
    if handle is None:
        holder = _read(layout.passes)
        holder_text = f"process {holder.pid}, with {holder.rhythm}" if holder else "another process"
        raise JobError(
            message(
                "runs.continuous-already",
                "{root} is visited again and again already ({user}); `nacre stop {root}` ends that",
                root=layout.root,
                user=holder_text,
            )
        )
    try:
        keeper = PassKeeper(layout, rhythm, handle)
        keeper.is_stopped()
        yield keeper
    finally:
        layout.passes.unlink(missing_ok=True)
        os.close(handle)


def find_recurring(layout: Layout) -> RecurringCrawl | None:
    """Return the repeated crawl of a job, waiting or killed; None for none."""
    waits = is_locked(layout.passes)
    crawl = _read(layout.passes)
    if crawl is None:
        return None
    return msgspec.structs.replace(crawl, waits=waits)


def end_passes(layout: Layout, patience: Callable[[], bool]) -> bool:
    """Ask the process that waits for the next pass to end.

    Args:
        layout: The job's directories.
        patience: Waits a moment; False when that was long enough.

    Returns:
        Whether it ended; the request stays where it did not.
    """
    request = layout.control / _STOP
    try:
        request.parent.mkdir(0o700, exist_ok=True)
        request.touch()
    except OSError as error:
        raise JobError(
            message(
                "runs.file-not-created",
                "{request} cannot be made: {strerror}",
                request=request,
                strerror=error.strerror,
            )
        ) from None
    while is_locked(layout.passes):
        if not patience():
            return False
    # If the process was killed first, the request would end the next run.
    request.unlink(missing_ok=True)
    return True


def _read(path: Path) -> RecurringCrawl | None:
    with contextlib.suppress(OSError, msgspec.DecodeError):
        data = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        return msgspec.convert(restore(data), RecurringCrawl)
    return None
