"""The rows of a catalogue in an order, each with its place in it.

A scan uses one index, begins behind a place, and is read as far as its caller needs. By key: the
table of keys, for each of the key ranges. By time: the index of times; that of media types or
statuses if few of them are selected, merged; the key itself if it is a single key.
"""

import heapq
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from nacre.catalogue.captures import REVISIT, IndexedCapture
from nacre.catalogue.filters import CaptureFilter, KeySpan, row_key, row_test
from nacre.catalogue.rows import (
    VERDICTS,
    CapturePack,
    CatalogueItem,
    place_of_row,
    row_id,
    seconds_of,
    unpack_capture,
)

SORTED: Final = 10_000
"""Rows of key ranges that are sorted by time; if there are more, all rows are read by time."""
_MERGED: Final = 64
"""Media types or statuses whose indexes are merged; of more, all rows are read by time."""
_EARLIER: Final = 500
"""Captures before a revisit among which its original is searched."""
_LAST: Final = (1 << 63) - 1
"""The greatest number of SQLite."""
_COLUMNS: Final = "id, url, time, length, status, mime, verdict, digest, posted"
_JOINED: Final = ", ".join(f"capture.{name}" for name in _COLUMNS.split(", "))
_BY_KEY: Final = "capture_key CROSS JOIN capture ON capture.id = capture_key.id"

Place = tuple[Any, ...]
"""A place in the order: (key, time, member, id), or (time, member, id)."""


class ScannedRow(NamedTuple):
    """A row that was read.

    Attributes:
        order: Sorts the rows of several members; ascending.
        place: Its place, for a cursor.
        key: Its key; "" if it was not read.
        row: The row.
        catalogue: Its catalogue.
    """

    order: Place
    place: Place
    key: str
    row: CapturePack
    catalogue: "StoredCatalogue"


class RowScan(NamedTuple):
    """Rows in an order.

    Attributes:
        rows: The rows; each is read when it is needed.
        has_keys: They are those of the key ranges.
    """

    rows: Iterator[ScannedRow]
    has_keys: bool


class StoredCatalogue:
    """The open catalogue of a member.

    Args:
        database: The database.
        member: Number of the member.
    """

    def __init__(self, database: sqlite3.Connection, member: int) -> None:
        self.database = database
        self.member = member
        stored = dict(database.execute("SELECT name, value FROM state WHERE name NOT GLOB 'log:*'"))
        self.as_of = float(stored.get("as_of", 0))
        self.is_complete = bool(stored.get("complete"))
        self._media: dict[int, str] = {}
        self._warcs: dict[int, tuple[str, str]] = {}

    def media_name(self, number: int) -> str:
        """Return the name of a media type."""
        if number not in self._media:
            query = "SELECT name FROM media WHERE number = ?"
            row = self.database.execute(query, (number,)).fetchone()
            self._media[number] = row[0] if row else ""
        return self._media[number]

    def warc_and_run(self, number: int) -> tuple[str, str]:
        """Return the name of a WARC and of its run."""
        if number not in self._warcs:
            query = "SELECT name, run FROM warc WHERE number = ?"
            row = self.database.execute(query, (number,)).fetchone()
            self._warcs[number] = row or ("", "")
        return self._warcs[number]

    def item(self, row: CapturePack, key: str = "") -> CatalogueItem:
        """Return the capture of a row.

        Args:
            row: The row.
            key: Its key; "" to compute it.
        """
        warc, run = self.warc_and_run(place_of_row(row[0])[0])
        media = self.media_name(row[5])
        capture = unpack_capture(row, warc, media, self.member, key or row_key(row))
        return CatalogueItem(capture, VERDICTS[row[6]], run)

    def row_at(self, warc: str, offset: int) -> CapturePack | None:
        """Return the row of a record; None if it is not in the catalogue."""
        query = "SELECT number FROM warc WHERE name = ?"
        warc_row = self.database.execute(query, (warc,)).fetchone()
        if warc_row is None:
            return None
        number = row_id(warc_row[0], offset)
        query = f"SELECT {_COLUMNS} FROM capture WHERE id = ?"  # noqa: S608 - own columns
        row: CapturePack | None = self.database.execute(query, (number,)).fetchone()
        return row

    def original_of(self, capture: IndexedCapture) -> CatalogueItem | None:
        """Return the last capture before a revisit with its key and its digest; None for none."""
        query = (
            f"SELECT {_JOINED} FROM {_BY_KEY}"  # noqa: S608 - own columns
            " WHERE key = ? AND capture_key.time <= ? ORDER BY capture_key.time DESC LIMIT ?"
        )
        time = seconds_of(capture.timestamp)
        for row in self.database.execute(query, (capture.key, time, _EARLIER)):
            if self.media_name(row[5]) == REVISIT:
                continue
            item = self.item(row, capture.key)
            if item.capture.digest == capture.digest:
                return item
        return None

    def test_of(self, chosen: CaptureFilter, *, has_keys: bool) -> Callable[[CapturePack], bool]:
        """Return the test of a row; see `filters.row_test`."""
        warcs = None
        if chosen.run:
            query = "SELECT number FROM warc WHERE run = ?"
            rows = self.database.execute(query, (chosen.run,))
            warcs = frozenset(number for (number,) in rows)
        return row_test(chosen, self.media_name, warcs, has_keys=has_keys)

    def span_of(self, chosen: CaptureFilter) -> tuple[int, int]:
        """Return the first and the last second of what a query selects; a run narrows it."""
        start, end = chosen.span
        low, high = -_LAST if start is None else start, _LAST if end is None else end
        if chosen.run:
            query = "SELECT min(oldest), max(newest) FROM warc WHERE run = ?"
            oldest, newest = self.database.execute(query, (chosen.run,)).fetchone()
            if oldest is None:
                return 1, 0
            low, high = max(low, oldest), min(high, newest)
        return low, high


def scan_rows(
    catalogue: StoredCatalogue, chosen: CaptureFilter, after: Place | None, *, whole: bool = False
) -> RowScan:
    """Return the rows of a catalogue that a query may select, in its order.

    Args:
        catalogue: The catalogue.
        chosen: What the query selects.
        after: The place of the last row before them; None for none.
        whole: All rows are needed, so key ranges are sorted at any size.
    """
    if chosen.records is not None:
        return RowScan(iter(_records(catalogue, chosen, after)), has_keys=False)
    if chosen.is_by_url:
        return RowScan(_by_key(catalogue, chosen, after), has_keys=True)
    scan = _TimeScan(catalogue, chosen, after)
    if chosen.ranges and chosen.is_exact:
        columns = "capture_key.time", "capture_key.id"
        sources = [
            (_BY_KEY, "capture_key.key = ?", (start,), columns) for start, _ in chosen.ranges
        ]
        return RowScan(merge_rows(scan.rows(*source) for source in sources), has_keys=True)
    if chosen.ranges:
        places = _sorted_places(catalogue, chosen.ranges, None if whole else SORTED)
        if places is not None:
            return RowScan(scan.rows_at(places), has_keys=True)
    return RowScan(
        merge_rows(scan.rows(*source) for source in _indexes(catalogue, chosen)), has_keys=False
    )


def _records(
    catalogue: StoredCatalogue, chosen: CaptureFilter, after: Place | None
) -> list[ScannedRow]:
    """Return the rows of records, in the order of the query."""
    member = catalogue.member
    sign = -1 if chosen.is_descending else 1
    scanned: list[ScannedRow] = []
    for warc, offset in dict.fromkeys(chosen.records or ()):
        row = catalogue.row_at(warc, offset)
        if row is None:
            continue
        if chosen.is_by_url:
            key = row_key(row)
            place: Place = (key, row[2], member, row[0])
            scanned.append(ScannedRow(place, place, key, row, catalogue))
        else:
            place = (row[2], member, row[0])
            order = (sign * row[2], sign * member, sign * row[0])
            scanned.append(ScannedRow(order, place, "", row, catalogue))
    scanned.sort(key=lambda scan: scan.order)
    if after is None:
        return scanned
    last = after if chosen.is_by_url else tuple(sign * number for number in after)
    return [scan for scan in scanned if scan.order > last]


def merge_rows(scans: Iterable[Iterator[ScannedRow]]) -> Iterator[ScannedRow]:
    """Merge rows that are in order."""
    return heapq.merge(*scans, key=lambda candidate: candidate.order)


_Source = tuple[str, str, tuple[object, ...], tuple[str, str]]
"""Tables, condition, its parameters, columns of time and id."""
_TIMED: Final = ("time", "id")


def _indexes(catalogue: StoredCatalogue, chosen: CaptureFilter) -> list[_Source]:
    """Return the indexes that have the rows of a query with the fewest others."""
    database = catalogue.database
    if chosen.statuses is not None and len(chosen.statuses) <= 500 and 200 not in chosen.statuses:
        query = "SELECT value FROM facet WHERE kind = 'status' AND number > 0"
        present = [value for (value,) in database.execute(query) if value in chosen.statuses]
        if len(present) <= _MERGED:
            condition = "status = ? AND status <> 200"
            table = "capture INDEXED BY by_status"
            return [(table, condition, (status,), _TIMED) for status in present]
    if chosen.media is not None:
        rows = database.execute("SELECT number, name FROM media LIMIT 10000").fetchall()
        numbers = [number for number, name in rows if chosen.media(name)]
        if len(numbers) <= _MERGED and len(rows) < 10_000:
            table = "capture INDEXED BY by_mime"
            return [(table, "mime = ?", (number,), _TIMED) for number in numbers]
    return [("capture INDEXED BY by_time", "1", (), _TIMED)]


def _sorted_places(
    catalogue: StoredCatalogue, ranges: Iterable[KeySpan], most: int | None
) -> list[tuple[int, int]] | None:
    """Return time and id of the rows of key ranges in order of time; None if there are too many."""
    places: list[tuple[int, int]] = []
    for bounds in ranges:
        query = "SELECT time, id FROM capture_key WHERE key >= ? AND key < ? LIMIT ?"
        limit = -1 if most is None else most + 1 - len(places)
        places += catalogue.database.execute(query, (*bounds, limit))
        if most is not None and len(places) > most:
            return None
    return sorted(places)


def _by_key(
    catalogue: StoredCatalogue, chosen: CaptureFilter, after: Place | None
) -> Iterator[ScannedRow]:
    """Yield rows by key, time and id."""
    query = (
        f"SELECT capture_key.key, {_JOINED} FROM {_BY_KEY}"  # noqa: S608 - own columns
        " WHERE (capture_key.key, capture_key.time, capture_key.id) > (?, ?, ?)"
        " AND capture_key.key < ?"
        " ORDER BY capture_key.key, capture_key.time, capture_key.id"
    )
    member = catalogue.member
    first: Place = ("", -_LAST, -1)
    if after is not None:
        key, time, of, number = after
        first = (key, time, number if of == member else -1 if of < member else _LAST)
    for start, end in chosen.ranges or (KeySpan("", "\U0010ffff" * 2),):
        begin = max(first, (start, -_LAST, -1))
        for key, *columns in catalogue.database.execute(query, (*begin, end)):
            row: CapturePack = tuple(columns)
            place = (key, row[2], member, row[0])
            yield ScannedRow(place, place, key, row, catalogue)


class _TimeScan:
    """Rows by time, in either direction.

    Args:
        catalogue: The catalogue.
        chosen: What the query selects.
        after: The place of the last row before them; None for none.
    """

    def __init__(
        self, catalogue: StoredCatalogue, chosen: CaptureFilter, after: Place | None
    ) -> None:
        self._catalogue = catalogue
        self._is_descending = chosen.is_descending
        self._low, self._high = catalogue.span_of(chosen)
        self._time: int | None = None
        self._id = 0
        if after is None:
            return
        # Members with a greater number come first in descending order, else last.
        self._time, member, number = after
        is_before = catalogue.member < member
        limit = _LAST if is_before else -1
        self._id = number if member == catalogue.member else limit

    def rows(
        self, table: str, condition: str, parameters: tuple[object, ...], columns: tuple[str, str]
    ) -> Iterator[ScannedRow]:
        """Yield the rows of an index.

        Args:
            table: The tables.
            condition: The rows, but for the time.
            parameters: Of the condition.
            columns: The columns of time and id.
        """
        time, number = columns
        sign, word = ("<", "DESC") if self._is_descending else (">", "ASC")
        select = f"SELECT {_JOINED} FROM {table} WHERE {condition}"  # noqa: S608 - own texts
        order = f" ORDER BY {time} {word}, {number} {word}"
        database = self._catalogue.database
        if self._time is None:
            query = f"{select} AND {time} BETWEEN ? AND ?{order}"
            yield from self._all(database.execute(query, (*parameters, self._low, self._high)))
            return
        if self._low <= self._time <= self._high:
            query = f"{select} AND {time} = ? AND {number} {sign} ? ORDER BY {number} {word}"
            yield from self._all(database.execute(query, (*parameters, self._time, self._id)))
        low, high = self._low, self._high
        if self._is_descending:
            high = min(high, self._time - 1)
        else:
            low = max(low, self._time + 1)
        query = f"{select} AND {time} BETWEEN ? AND ?{order}"
        yield from self._all(database.execute(query, (*parameters, low, high)))

    def rows_at(self, places: list[tuple[int, int]]) -> Iterator[ScannedRow]:
        """Yield the rows of places, which are sorted by time and id."""
        query = f"SELECT {_COLUMNS} FROM capture WHERE id = ?"  # noqa: S608 - own columns
        for time, number in reversed(places) if self._is_descending else places:
            if self._low <= time <= self._high and self._is_behind(time, number):
                yield from self._all(self._catalogue.database.execute(query, (number,)))

    def _is_behind(self, time: int, number: int) -> bool:
        if self._time is None:
            return True
        behind, last = (time, number), (self._time, self._id)
        return behind < last if self._is_descending else behind > last

    def _all(self, rows: Iterable[Any]) -> Iterator[ScannedRow]:
        catalogue, sign = self._catalogue, -1 if self._is_descending else 1
        member = catalogue.member
        for row in rows:
            place = (row[2], member, row[0])
            order = (sign * row[2], sign * member, sign * row[0])
            yield ScannedRow(order, place, "", row, catalogue)
