"""The captures of a URL in order of time, for the toolbar of the viewer (pure)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from nacre.catalogue.captures import IndexedCapture
from nacre.replay.memento import timestamp_seconds

MOST: Final = 2000
"""Captures of a URL on a page, the nearest in time."""


class CaptureRow(NamedTuple):
    """A capture in the toolbar or the list.

    Attributes:
        timestamp: Its time, 14 digits.
        url: Its URL.
        status: HTTP status; 0 if absent.
        mime: Media type; "" if absent, and of a revisit.
        job: Name of its job in a collection; else "".
        is_revisit: Its content is that of an earlier capture.
        is_current: It is on the page now.
    """

    timestamp: str
    url: str
    status: int
    mime: str
    job: str
    is_revisit: bool
    is_current: bool = False


def row_of(capture: IndexedCapture) -> CaptureRow:
    """Return the row of a capture, without the name of its job."""
    return CaptureRow(
        capture.timestamp,
        capture.url,
        capture.status,
        "" if capture.is_revisit else capture.mime,
        "",
        capture.is_revisit,
    )


class CaptureDay(NamedTuple):
    """A day of the calendar.

    Attributes:
        day: Day of the month, 1 to 31.
        rows: Its captures.
    """

    day: int
    rows: tuple[CaptureRow, ...]


class CaptureMonth(NamedTuple):
    """A month of the calendar.

    Attributes:
        month: `2026-11`.
        days: Its days with captures.
    """

    month: str
    days: tuple[CaptureDay, ...]


class Timeline(NamedTuple):
    """The captures of a URL.

    Attributes:
        rows: They, the oldest first; at most `MOST`, those around the shown capture.
        place: Number of the shown capture among them; -1 for none.
        has_more: There are more captures than `MOST`.
    """

    rows: tuple[CaptureRow, ...]
    place: int
    has_more: bool

    @property
    def current(self) -> CaptureRow | None:
        """The shown capture."""
        return self.rows[self.place] if self.place >= 0 else None

    @property
    def previous(self) -> CaptureRow | None:
        """The capture before the shown one."""
        return self.rows[self.place - 1] if self.place > 0 else None

    @property
    def next(self) -> CaptureRow | None:
        """The capture after the shown one."""
        is_last = self.place < 0 or self.place + 1 >= len(self.rows)
        return None if is_last else self.rows[self.place + 1]

    @property
    def months(self) -> tuple[CaptureMonth, ...]:
        """The calendar: months with captures."""
        return tuple(_months(self.rows))


def timeline_of(
    captures: Iterable[IndexedCapture], jobs: Sequence[str], timestamp: str
) -> Timeline:
    """Return the captures of a URL for the toolbar.

    Args:
        captures: Captures of its key, in any order; those of POST requests are left out.
        jobs: Names of the members of the holding; with a single one no name is shown.
        timestamp: The time that is asked for, up to 14 digits; "" for the newest.
    """
    rows = sorted(
        CaptureRow(
            capture.timestamp, capture.url, capture.status, capture.mime,
            jobs[capture.member] if len(jobs) > 1 else "", capture.is_revisit,
        )
        for capture in captures
        if not capture.method
    )  # fmt: skip
    rows = list({(row.timestamp, row.url, row.job): row for row in reversed(rows)}.values())[::-1]
    place = closest_place([row.timestamp for row in rows], timestamp)
    if place >= 0:
        rows[place] = rows[place]._replace(is_current=True)
    first = max(min(place - MOST // 2, len(rows) - MOST), 0)
    return Timeline(tuple(rows[first : first + MOST]), place - first, len(rows) > MOST)


def closest_place(timestamps: Sequence[str], time: str) -> int:
    """Return the place of the nearest timestamp; of two as near the earlier; -1 for none.

    Args:
        timestamps: 14 digits each, in order.
        time: Up to 14 digits; "" for the last.
    """
    if not timestamps or not time:
        return len(timestamps) - 1
    aim = timestamp_seconds(time)
    places = range(len(timestamps))
    return min(places, key=lambda place: abs(timestamp_seconds(timestamps[place]) - aim))


def _months(rows: Sequence[CaptureRow]) -> Iterator[CaptureMonth]:
    for month, of_month in groupby(rows, key=lambda row: row.timestamp[:6]):
        days = groupby(of_month, key=lambda row: row.timestamp[6:8])
        listed = tuple(CaptureDay(int(day), tuple(of_day)) for day, of_day in days)
        yield CaptureMonth(f"{month[:4]}-{month[4:]}", listed)
