"""Look-up of captures: by key, by key and time, by the beginning of keys."""

import errno
import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from threading import RLock
from typing import Final, NamedTuple, Protocol, TypeVar

from nacre.archive.delta import TARGET
from nacre.catalogue.captures import CaptureOrder, IndexedCapture, read_capture, read_position
from nacre.catalogue.holdings import Holding
from nacre.catalogue.index_files import DELTAS, IndexPlace, LineIndex, open_lines
from nacre.catalogue.job_files import FileWatch
from nacre.store.disk import failure
from nacre.uri.surt import index_key

T = TypeVar("T")

_TRIES: Final = 5
_AFTER_TIMES: Final = ":"  # the character behind 9


class CaptureIndex(Protocol):
    """Finds the captures of a holding. It blocks, and threads may share it.

    All results are merged over the members, and name the member of each capture. Of a job that runs
    they are those of the moment. Each method raises a StorageError if a file cannot be read.
    """

    def exact(self, key: str, method: str | None = None) -> list[IndexedCapture]:
        """Return the captures of a key in order of time.

        Args:
            key: The index key (`uri.indexkey`).
            method: Only captures of this method, "" for GET; None for all.
        """
        ...

    def closest(self, key: str, timestamp: str, limit: int = 1) -> list[IndexedCapture]:
        """Return captures of a key, the nearest in time first; of two as near, the earlier.

        Args:
            key: The index key.
            timestamp: The time, up to 14 digits; "" for the newest first.
            limit: Number of captures at most.
        """
        ...

    def prefix(self, key_prefix: str, after: str = "", limit: int = 1000) -> list[IndexedCapture]:
        """Return captures whose key begins with a text, by key and time.

        Args:
            key_prefix: The beginning; "" for all captures. A key with a space at its end stands for
                the captures of this key alone.
            after: `IndexedCapture.position` of the last capture of the page before; "" for the
                first page.
            limit: Number of captures at most.
        """
        ...


def open_index(holding: Holding) -> CaptureIndex:
    """Return the look-up of a holding."""
    return SortedIndexes(holding)


class _MemberIndex(NamedTuple):
    """An index of a member.

    Attributes:
        member: Number of the member.
        lines: Its lines.
    """

    member: int
    lines: LineIndex


class _MemberIndexes:
    """The indexes of a member, as they are at the moment.

    Args:
        holding: The holding.
        number: Number of the member.
    """

    def __init__(self, holding: Holding, number: int) -> None:
        self._member = holding.members[number]
        self._number = number
        self._is_alone = len(holding.members) == 1
        self._watch = FileWatch(self._member.root)
        self._open: dict[IndexPlace, _MemberIndex] = {}

    def refresh(self, *, always: bool = False) -> Iterable[_MemberIndex]:
        """Return them; those that did not change stay open.

        A member that was moved meanwhile has none, unless it is the only one: that is an error.
        """
        if not self._is_alone and not self._member.root.exists():
            return ()
        if self._watch.has_changed() or always:
            places = self._member.indexes()
            self._open = {
                place: self._open.get(place) or _MemberIndex(self._number, open_lines(place))
                for place in places
            }
        return self._open.values()


class SortedIndexes:
    """Look-up in the indexes of WARCs, without a catalogue; see `CaptureIndex`.

    Captures that are stored as differences have lines under `urn:x-nacre-delta:URL`, and there is
    an earlier capture of the same URL: they are looked up by the URLs of the key.

    Args:
        holding: The holding.
    """

    def __init__(self, holding: Holding) -> None:
        self._members = [_MemberIndexes(holding, number) for number in range(len(holding.members))]
        self._lock = RLock()

    def exact(self, key: str, method: str | None = None) -> list[IndexedCapture]:
        """See `CaptureIndex.exact`."""
        captures = self._retry(lambda indexes: _of_key(indexes, key))
        return [capture for capture in captures if method is None or capture.method == method]

    def closest(self, key: str, timestamp: str, limit: int = 1) -> list[IndexedCapture]:
        """See `CaptureIndex.closest`."""
        captures = self._retry(lambda indexes: _near(indexes, key, timestamp, limit))
        return sort_by_distance(captures, timestamp)[:limit]

    def prefix(self, key_prefix: str, after: str = "", limit: int = 1000) -> list[IndexedCapture]:
        """See `CaptureIndex.prefix`."""
        start = read_position(after)
        return self._retry(
            lambda indexes: list(islice(_from_position(indexes, key_prefix, start), limit))
        )

    def _retry(self, look: Callable[[list[_MemberIndex]], T]) -> T:
        """Look at the indexes; again if one was closed and renamed meanwhile.

        Raises:
            StorageError: A file cannot be read.
        """
        with self._lock:
            for number in range(_TRIES):
                try:
                    return look(self._indexes(always=number > 0))
                except OSError as error:
                    if error.errno not in {errno.ENOENT, errno.ESTALE} or number == _TRIES - 1:
                        raise failure("read", str(error.filename or ""), error) from error
            raise AssertionError

    def _indexes(self, *, always: bool) -> list[_MemberIndex]:
        return [index for member in self._members for index in member.refresh(always=always)]


def sort_by_distance(captures: Iterable[IndexedCapture], timestamp: str) -> list[IndexedCapture]:
    """Return captures, the nearest in time first; of two as near, the earlier (pure).

    Args:
        captures: The captures.
        timestamp: The time, up to 14 digits; "" for the newest first.
    """
    if not timestamp:
        return sorted(captures, key=lambda capture: capture.order, reverse=True)
    time = seconds_of(timestamp)
    return sorted(
        captures, key=lambda capture: (abs(seconds_of(capture.timestamp) - time), capture.order)
    )


def seconds_of(timestamp: str) -> int:
    """Return the seconds of a time on a scale that only differences count on (pure).

    Args:
        timestamp: Up to 14 digits, of any value: missing months and days are the first.
    """
    digits = (timestamp + "00000101000000"[len(timestamp) :])[:14]
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:8])
    year -= month <= 2
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day
    days = 365 * year + year // 4 - year // 100 + year // 400 + of_year
    return ((days * 24 + int(digits[8:10])) * 60 + int(digits[10:12])) * 60 + int(digits[12:])


def _of_key(indexes: list[_MemberIndex], key: str) -> list[IndexedCapture]:
    """Return all captures of a key, in their order."""
    captures = _with_key(indexes, key, key)
    urls = {capture.url for capture in captures}
    for url in urls if urls and _has_deltas(indexes) else ():
        captures += _with_key(indexes, index_key(TARGET + url).replace(" ", "%20"), key)
    return sorted(set(captures), key=lambda capture: capture.order)


def _with_key(indexes: list[_MemberIndex], line_key: str, key: str) -> list[IndexedCapture]:
    """Return the captures of lines with a key that are captures of a key."""
    start = line_key.encode("utf-8", "surrogatepass") + b" "
    captures = []
    for index in indexes:
        for line in index.lines.lines_from(start):
            if not line.startswith(start):
                break
            capture = read_capture(line, index.member)
            if capture is not None and capture.key == key:
                captures.append(capture)
    return captures


def _has_deltas(indexes: list[_MemberIndex]) -> bool:
    return any(index.lines.has_deltas() for index in indexes)


def _near(
    indexes: list[_MemberIndex], key: str, timestamp: str, limit: int
) -> list[IndexedCapture]:
    """Return the captures of a key that can be the nearest: of each index `limit` on each side."""
    start = key.encode("utf-8", "surrogatepass") + b" "
    target = start + (timestamp or _AFTER_TIMES).encode()
    captures: list[IndexedCapture] = []
    for index in indexes:
        captures += _side(index.lines.lines_before(target), start, index.member, limit)
        if timestamp:
            captures += _side(index.lines.lines_from(target), start, index.member, limit)
    return _of_key(indexes, key) if captures and _has_deltas(indexes) else captures


def _side(
    lines: Iterator[bytes], start: bytes, member: int, limit: int
) -> Iterator[IndexedCapture]:
    """Yield the first captures of lines that begin with a text."""
    for line in lines:
        if limit <= 0 or not line.startswith(start):
            return
        capture = read_capture(line, member)
        if capture is not None:
            limit -= 1
            yield capture


def _from_position(
    indexes: list[_MemberIndex], key_prefix: str, after: CaptureOrder | None
) -> Iterator[IndexedCapture]:
    """Yield captures whose key begins with a text, in their order, behind a position."""
    if _has_deltas(indexes):
        return _with_deltas(indexes, key_prefix, after)
    return _without_deltas(indexes, key_prefix, after)


def _without_deltas(
    indexes: list[_MemberIndex], key_prefix: str, after: CaptureOrder | None
) -> Iterator[IndexedCapture]:
    start = key_prefix if after is None else max(key_prefix, f"{after[0]} {after[1]}")
    merged = _merged(indexes, key_prefix, start)
    for _, group in groupby(merged, key=itemgetter(0)):
        captures = filter(None, (read_capture(line, member) for _, member, line in group))
        for capture in sorted(set(captures), key=lambda capture: capture.order):
            if after is None or capture.order > after:
                yield capture


def _with_deltas(
    indexes: list[_MemberIndex], key_prefix: str, after: CaptureOrder | None
) -> Iterator[IndexedCapture]:
    start = key_prefix if after is None else max(key_prefix, f"{after[0]} ")
    merged = _merged(indexes, key_prefix, start)
    for key, _ in groupby(merged, key=lambda row: row[0].partition(b" ")[0]):
        if key.startswith(DELTAS):
            continue
        for capture in _of_key(indexes, key.decode("utf-8", "replace")):
            if after is None or capture.order > after:
                yield capture


def _merged(
    indexes: list[_MemberIndex], key_prefix: str, start: str
) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield key and time, member and line of all lines from a text on, in their order."""
    beginning = key_prefix.encode("utf-8", "surrogatepass")
    target = start.encode("utf-8", "surrogatepass")

    def lines(index: _MemberIndex) -> Iterator[tuple[bytes, int, bytes]]:
        for line in index.lines.lines_from(target):
            if not line.startswith(beginning):
                return
            key, _, behind = line.partition(b" ")
            yield b"%b %b" % (key, behind[:14]), index.member, line

    return heapq.merge(*map(lines, indexes))
