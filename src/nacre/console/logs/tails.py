"""Tails of logs: the last lines of files that grow, read once for all who look at them."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from nacre.console.logs.pages import LogLine, LogQuestion, log_path, read_page
from nacre.core.clock import Clock
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.scope.patterns.matching import any_text
from nacre.web.live.hub import ViewerHub

EACH: Final = 1.0
"""Seconds between two looks at a file."""
LOOKS: Final = 16
"""Looks that are kept: a viewer who lags more gets the last lines again."""
SNAPSHOT: Final = 50
"""Lines that a viewer gets at first."""
_FAR: Final = 1 << 20
"""Bytes that are read at a look; where more came, the lines between are left out."""
_MANY: Final = 5000


class LogPosition(NamedTuple):
    """A place in a log.

    Attributes:
        stamp: Of the file.
        offset: Byte after the last line that was read.
    """

    stamp: str
    offset: int

    def __str__(self) -> str:
        return f"{self.stamp}-{self.offset}"


def log_position(text: str) -> LogPosition | None:
    """The place that a text names; None for none."""
    stamp, _, offset = text.partition("-")
    if not offset.isascii() or not offset.isdigit() or len(offset) > 18:
        return None
    return LogPosition(stamp, int(offset))


class TailLines(NamedTuple):
    """The lines after a position.

    Attributes:
        lines: The lines, in order.
        position: The position after them.
        is_anew: The lines do not follow the position; they are the last lines of the file.
    """

    lines: tuple[LogLine, ...]
    position: LogPosition
    is_anew: bool


def log_topic(job: str, name: str) -> str:
    """The topic of a log."""
    return f"log:{job}:{name}"


class LogTail:
    """The tail of one log.

    Args:
        job: The job.
        name: Name of the log without `.log`.

    Attributes:
        topic: Its topic in the hub.
    """

    def __init__(self, job: FoundJob, name: str) -> None:
        self.topic = log_topic(job.id, name)
        self._job = job
        self._name = name
        self._looks: deque[tuple[int, tuple[LogLine, ...]]] = deque(maxlen=LOOKS)
        self._end = LogPosition("", 0)

    def look(self) -> bool:
        """Read new lines; return whether there are any."""
        try:
            path = log_path(self._job.layout, self._name)
            question = LogQuestion(self._end.offset, None, _MANY, any_text, _FAR)
            page = read_page(path, question)
            is_other = page.stamp != self._end.stamp or page.size < self._end.offset
            if is_other or page.size - page.end > _FAR:
                page = read_page(path, LogQuestion(None, None, SNAPSHOT, any_text))
                self._looks.clear()
        except RefusedRequestError:  # a job that never ran, or begins a run just now
            return False
        if page.end == self._end.offset and page.stamp == self._end.stamp:
            return False
        self._looks.append((page.start, page.lines))
        self._end = LogPosition(page.stamp, page.end)
        return True

    def behind(self, position: LogPosition | None) -> TailLines:
        """The lines that a viewer lacks.

        Args:
            position: The place up to which they have the lines; None for nowhere.
        """
        if position is None or position.stamp != self._end.stamp or not self._has(position.offset):
            lines = [line for _, batch in self._looks for line in batch]
            return TailLines(tuple(lines[-SNAPSHOT:]), self._end, position is not None)
        lines = [
            line for _, batch in self._looks for line in batch if line.offset >= position.offset
        ]
        return TailLines(tuple(lines), self._end, is_anew=False)

    def _has(self, offset: int) -> bool:
        return bool(self._looks) and self._looks[0][0] <= offset <= self._end.offset


class LogTails:
    """The tails of all logs that have viewers.

    Args:
        hub: Receives the topics of the logs that grew.
        clock: The time.
    """

    def __init__(self, hub: ViewerHub, clock: Clock) -> None:
        self._hub = hub
        self._clock = clock
        self._tails: dict[str, LogTail] = {}
        self._viewers: dict[str, int] = {}

    async def tail(self, job: FoundJob, name: str) -> LogTail:
        """The tail of a log, read already."""
        log_tail = self._tails.get(log_topic(job.id, name))
        if log_tail is None:
            log_tail = LogTail(job, name)
            await asyncio.to_thread(log_tail.look)
        return self._tails.setdefault(log_tail.topic, log_tail)

    @contextmanager
    def watching(self, tail: LogTail) -> Iterator[None]:
        """Register a viewer of a log while the block runs."""
        topic = tail.topic
        self._tails[topic] = tail
        self._viewers[topic] = self._viewers.get(topic, 0) + 1
        try:
            yield
        finally:
            self._viewers[topic] -= 1
            if not self._viewers[topic]:
                del self._viewers[topic]
                self._tails.pop(topic, None)

    async def look(self) -> None:
        """Look at all of them now."""
        for tail in list(self._tails.values()):
            if await asyncio.to_thread(tail.look):
                self._hub.changed(tail.topic)
        for topic in set(self._tails) - set(self._viewers):
            del self._tails[topic]

    async def run(self) -> None:
        """Look each second until cancelled."""
        while True:
            await self._clock.sleep(EACH)
            await self.look()
