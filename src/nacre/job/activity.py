"""The last ten minutes of a running job as points, and its pace (pure)."""

from collections import deque
from itertools import pairwise
from typing import Final

import msgspec

SPAN: Final = 600.0
"""Seconds that are looked back on."""
STEP: Final = 10.0
"""Seconds between two points of the past."""
LATELY: Final = 30.0
"""Seconds that the rate is taken over."""
_NEARLY: Final = 0.9
"""Share of the span from which on it is long enough to say what outgrows what."""


class RatePoint(msgspec.Struct, frozen=True):
    """The counts of a job at one moment.

    Attributes:
        time: Seconds of the monotonic clock of the process that looks: the time of day may be set,
            which is no speed.
        finished: URIs finished.
        bytes: Bytes received.
        queued: URIs that wait.
        busy: Fetches in process.
        parallel: Fetches that may be in process.
        queues: Number of queues by state.
        replies: Replies and failures by kind: documents, unchanged, redirects, errors, failed.
        age: Seconds for which the oldest change waits to become durable; 0 for none.
        gap: Longest gap of the event loop in the last ten seconds, ms.
        worked: Seconds that all fetches took together since the job began to run.
    """

    time: float
    finished: int
    bytes: int
    queued: int
    busy: int = 0
    parallel: int = 0
    queues: dict[str, int] = {}
    replies: dict[str, int] = {}
    age: float = 0.0
    gap: float = 0.0
    worked: float = 0.0


class JobPace(msgspec.Struct, frozen=True):
    """The speed of a running job, and whether its queues grow.

    Attributes:
        rate: URIs finished a second in the last half minute; None where it began just now.
        bytes_rate: Bytes received a second, likewise.
        grows: More URIs were queued than finished in the last half minute.
        outgrows: The same in the last ten minutes, and the job has run for that long.
    """

    rate: float | None = None
    bytes_rate: float | None = None
    grows: bool = False
    outgrows: bool = False


class JobActivity:
    """The last ten minutes of a running job, as points."""

    def __init__(self) -> None:
        self._points: deque[RatePoint] = deque()

    def note(self, point: RatePoint) -> None:
        """Add a point. A point of another run replaces all earlier points."""
        points = self._points
        if points and point.finished < points[-1].finished:
            points.clear()
        if len(points) > 1 and points[-1].time - points[-2].time < STEP:
            points.pop()
        points.append(point)
        while point.time - points[0].time > SPAN:
            points.popleft()

    @property
    def points(self) -> tuple[RatePoint, ...]:
        """The points, the oldest first."""
        return tuple(self._points)

    @property
    def rates(self) -> tuple[float, ...]:
        """URIs a second between the points, the oldest first."""
        return tuple(
            (b.finished - a.finished) / max(b.time - a.time, 1e-3)
            for a, b in pairwise(self._points)
        )

    @property
    def busy(self) -> float | None:
        """Fetches in process on average in the last half minute; None where it began just now."""
        window = self._window()
        return None if window is None else busy_between(*window)

    def pace(self) -> JobPace:
        """The pace at the newest point."""
        window = self._window()
        if window is None:
            return JobPace()
        first, last = window
        seconds = max(last.time - first.time, 1e-3)
        oldest = self._points[0]
        is_long = last.time - oldest.time >= _NEARLY * SPAN
        return JobPace(
            (last.finished - first.finished) / seconds,
            (last.bytes - first.bytes) / seconds,
            _grew(first, last),
            is_long and _grew(oldest, last),
        )

    def _window(self) -> tuple[RatePoint, RatePoint] | None:
        """The points at both ends of the last half minute; None with fewer than two points."""
        if len(self._points) < 2:
            return None
        last = self._points[-1]
        first = next(p for p in self._points if last.time - p.time <= LATELY or p is last)
        return (self._points[-2] if first is last else first), last


def busy_between(first: RatePoint, last: RatePoint) -> float | None:
    """Fetches in process on average between two points; None where a process ended between."""
    worked = last.worked - first.worked
    return None if worked < 0 else worked / max(last.time - first.time, 1e-3)


def _grew(first: RatePoint, last: RatePoint) -> bool:
    """Whether more URIs were queued than finished."""
    return last.queued - first.queued > last.finished - first.finished
