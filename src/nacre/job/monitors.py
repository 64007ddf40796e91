"""Background tasks of a crawl: monitors of limits, disk space and the clock, and others."""

import ctypes
import resource
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from nacre.assembly.records import RunRecords
from nacre.assembly.storing import Storing
from nacre.core.clock import Clock
from nacre.core.states import ExitStatus
from nacre.engine.limits import Stopwatch, limit_reached
from nacre.engine.observer import VisitObserver
from nacre.machine.layout import Layout
from nacre.report.formatting import span
from nacre.report.statistics import Statistics
from nacre.settings.settings import JobSettings
from nacre.settings.variables import known_part
from nacre.store.opening import shortage, space_to_reserve
from nacre.store.rocks import Memory
from nacre.store.seam import Disk

_WITHOUT_TERMINAL = 3600.0
_EVERY = 2.0
"""How often a running crawl looks, seconds."""
_JUMP = 60.0
"""Less than this is what a network time service does, seconds."""
_DAY = 86_400.0
_M_TOP_PAD = -2
_PAD = 16 << 20


def places(layout: Layout, settings: JobSettings) -> list[str]:
    """A directory on each file system that the job writes to.

    A directory that does not exist yet is replaced by its nearest existing parent.
    """
    named = map(Path, map(known_part, settings.archive.directories))
    return [str(layout.root), *(str(_there(path)) for path in named if path.is_absolute())]


def space_needed(settings: JobSettings) -> int:
    """The space that is kept free on each file system that a job writes to, bytes."""
    own = space_to_reserve(Memory(settings.store.memory).buffers, 0)
    return max(own, settings.disk.reserve)


def _there(directory: Path) -> Path:
    above = (directory, *directory.parents)
    return next(path for path in above if path.is_dir() or path.parent == path)


def longest_wait(settings: JobSettings, *, on_terminal: bool) -> float | None:
    """Longest pause for space, seconds; None for no limit: a user at a terminal will see it."""
    if settings.disk.max_wait is not None or on_terminal:
        return settings.disk.max_wait
    return _WITHOUT_TERMINAL


class BackgroundTask(Protocol):
    """A background task of a crawl: it watches files and times, and fetches nothing.

    It runs from the moment that the crawl runs until it ends; see `Session.add_task`.
    """

    @property
    def name(self) -> str:
        """Name of its task."""
        ...

    @property
    def busy(self) -> bool:
        """Whether it is about to add URIs, so that the crawl is not over yet."""
        ...

    async def run(self) -> None:
        """Work until cancelled; a step between two awaits is complete in itself."""
        ...

    async def ending(self, how: ExitStatus) -> None:
        """Do the last work: no URI is in process any more, and the store is still open."""
        ...


class JobUnit(Protocol):
    """A list of URLs that a job fetches in place of its seeds: a unit of batch rounds."""

    @property
    def max_wait(self) -> float:
        """Longest Retry-After that is waited for, seconds; 0: no limit."""
        ...

    def begin(self, records: RunRecords, /) -> VisitObserver:
        """Take part in a session; return the observer of its visits."""
        ...

    def rests(self, url: str, /) -> bool:
        """Whether a seed is known to the scope, and not entered."""
        ...

    def tasks(self, wake: Callable[[], None], /) -> Sequence[BackgroundTask]:
        """Return the tasks of the session that was begun last.

        Args:
            wake: Wakes the engine of the session.
        """
        ...


class LimitMonitor:
    """Checks whether a limit of a run is reached: documents, bytes, time, bytes of WARC.

    Args:
        settings: The settings of the job.
        statistics: Counts the fetches.
        storing: Counts the written bytes.
        watch: The time that the run has been running.
    """

    def __init__(
        self, settings: JobSettings, statistics: Statistics, storing: Storing, watch: Stopwatch
    ) -> None:
        self._limits, self._max_total = settings.limits, settings.archive.max_total
        self._statistics = statistics
        self._storing = storing
        self._watch = watch

    def configure(self, settings: JobSettings) -> None:
        """Apply changed settings."""
        self._limits, self._max_total = settings.limits, settings.archive.max_total

    @property
    def of_fetches(self) -> bool:
        """Whether a limit is set that fetches can reach, so that each hand-out asks for it."""
        limits = self._limits
        counted = (limits.documents, limits.bytes, limits.novel_bytes, limits.novel_documents)
        return any((*counted, limits.warc_bytes, self._max_total))

    def reached(self) -> ExitStatus | None:
        """The limit that is reached; None for none."""
        storing, counts = self._storing, self._statistics
        if storing.archive.writer.full:
            return ExitStatus.WRITE_LIMIT
        return limit_reached(
            self._limits,
            counts.totals,
            self._watch.elapsed,
            storing.written,
            counts.prerequisites + counts.totals.page_requests,
        )

    def reached_by(self, busy: int) -> bool:
        """Whether the fetches in process can reach the limit of documents."""
        return 0 < self._limits.documents <= self._statistics.documents + busy


class DiskSpaceMonitor:
    """Pauses the crawl before a file system that the job writes to is full.

    Args:
        disk: The file operations.
        layout: The job's directories.
        settings: Its settings.
        buffers: Memory of the store for rows not yet in sorted files, bytes.
        on_terminal: A person watches: without `disk.max_wait`, a pause has no end.

    Attributes:
        short: There is too little space on one of them.
        settings: Its settings of now.
    """

    def __init__(
        self,
        disk: Disk,
        layout: Layout,
        settings: JobSettings,
        buffers: int,
        *,
        on_terminal: bool = False,
    ) -> None:
        self._disk = disk
        self.settings = settings
        self._buffers = buffers
        self._places = places(layout, settings)
        self._next = 0.0
        self._since = 0.0
        self._on_terminal = on_terminal
        self.short = False

    def configure(self, settings: JobSettings) -> None:
        """Replace the settings, from the next check on."""
        self.settings = settings

    def needed(self, largest: int) -> int:
        """Free bytes below which the crawl pauses; `largest` is the largest commit group."""
        disk = self.settings.disk
        return max(space_to_reserve(self._buffers, largest), disk.reserve)

    def check(self, mono: float, largest: int) -> str | None:
        """Look, at most every two seconds; a text for the operator when something changed."""
        if mono < self._next:
            return None
        self._next = mono + _EVERY
        missing = shortage(self._disk, self._places, self.needed(largest))
        if missing and not self.short:
            self.short, self._since = True, mono
            return f"paused for space: {missing}; free some space and the crawl resumes by itself"
        if not missing and self.short:
            self.short = False
            return "there is space again: the crawl resumes"
        return None

    def waited_too_long(self, mono: float) -> bool:
        """The longest pause for space is over."""
        longest = longest_wait(self.settings, on_terminal=self._on_terminal)
        return self.short and longest is not None and mono - self._since > longest


class ClockMonitor:
    """Notices that the time of day was set, by comparing it with the monotonic clock.

    Args:
        clock: Both.
        behind: What the time of day was behind the latest time of the job when it was opened,
            seconds; 0 or less when it was not.
    """

    def __init__(self, clock: Clock, behind: float) -> None:
        self._clock = clock
        self._ahead = self._difference() + max(behind, 0.0)

    def look(self) -> str:
        """The event since the last look, for the operator; "" for none.

        The monotonic clock stops while a machine sleeps, and cannot be set.
        """
        ahead = self._difference()
        jump, self._ahead = ahead - self._ahead, ahead
        if abs(jump) < _JUMP:
            return ""
        how = "was set forward, or the machine slept," if jump > 0 else "was set back"
        return (
            f"the clock {how} by {span(abs(jump) / _DAY)}: "
            "dates in the archive and the logs follow it, delays and retries do not"
        )

    def _difference(self) -> float:
        return self._clock.now() - self._clock.monotonic()


def tune_allocator() -> bool:
    """Let glibc take and give back memory in steps of 16 MB instead of 128 KB.

    Each page's tree is some megabytes that are freed at once; without this the system hands the
    same memory out again and again. Saves about a tenth of parsing.

    Returns:
        False if the C library has no such knob.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_TOP_PAD, _PAD))
    except (OSError, AttributeError):
        return False


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard one: connections and the store need them.

    Returns:
        The limit in force.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
