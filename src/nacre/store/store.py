"""The store for the stages: rows by family and key, including uncommitted rows."""

import time
from asyncio import Future
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Self
from weakref import WeakSet

from nacre.core.capture import Body
from nacre.errors import DamageError, StorageError
from nacre.store.files import OpenFile
from nacre.store.rocks import RocksEngine
from nacre.store.schema import NAMES, upgrade
from nacre.store.seam import StorageEngine

_BITS = 24
_PLACE = slice(4, 7)
"""The bytes of a key that select its bit: keys are hashes, the first may be that of a host."""


class NewKeyFilter:
    """A filter of the keys put into a family that was empty when the store was opened.

    Most rows of a first crawl are new; for those that are certainly new there is no look-up.

    One bit represents all keys that share three bytes: of a million keys one in seventeen is looked
    up although it is new, and a family of many millions is always looked at. Takes 2 MB.

    Args:
        is_empty: The family has no row so far; else nothing is known of it.
    """

    __slots__ = ("_bits",)

    def __init__(self, *, is_empty: bool) -> None:
        self._bits = bytearray(1 << _BITS - 3) if is_empty else None

    def is_new(self, key: bytes) -> bool:
        """Return whether a key was certainly never put; a key has at least seven bytes."""
        bits = self._bits
        if bits is None:
            return False
        place = int.from_bytes(key[_PLACE], "big")
        return not bits[place >> 3] >> (place & 7) & 1

    def add(self, key: bytes) -> None:
        """Note that a key is put."""
        if self._bits is not None:
            place = int.from_bytes(key[_PLACE], "big")
            self._bits[place >> 3] |= 1 << (place & 7)


Changes = dict[bytes, bytes | None]

ROW_COST = 48
"""What a row costs in memory and in the log beside its value, bytes; about."""


class CommitGroup:
    """A group: everything between two commits, which becomes durable as one.

    Rows, appends and lines keep their order; one synchronous step of a visit adds all.

    Attributes:
        rows: Family -> key -> value; None deletes.
        appends: WARC -> bytes to append, in order.
        lines: Log or index -> lines for its end, in order; they travel in the journal.
        directories: To be synced before the batch, which names new files in them.
        closing: Files that get nothing more after this group.
        obsolete: Paths that this group makes superfluous, to be removed once it is durable.
        renames: (old, new) names to be given once it is durable.
        size: Bytes held in memory, about.
        visits: Visits finished in it.
        waiters: Callbacks for when it is durable.
    """

    __slots__ = (
        "_order",
        "appends",
        "closing",
        "directories",
        "lines",
        "obsolete",
        "renames",
        "rows",
        "size",
        "visits",
        "waiters",
    )

    def __init__(self) -> None:
        self.rows: dict[str, Changes] = {name: {} for name in NAMES}
        self.appends: dict[OpenFile, list[bytes | Body]] = {}
        self.lines: dict[OpenFile, list[bytes]] = {}
        self.directories: set[str] = set()
        self.closing: list[OpenFile] = []
        self.obsolete: list[str] = []
        self.renames: list[tuple[str, str]] = []
        self.size = 0
        self.visits = 0
        self.waiters: list[Future[None]] = []
        self._order: dict[str, list[bytes]] = {}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to commit, and no caller waits for it."""
        return not (self.size or self.visits or self.waiters or self.closing)

    @property
    def touches_files(self) -> bool:
        """Whether it holds more than rows."""
        return bool(self.appends or self.lines or self.closing or self.directories)

    def close_bodies(self) -> None:
        """Close the bodies of a group that will not be committed."""
        for parts in self.appends.values():
            for part in parts:
                if not isinstance(part, bytes):
                    part.close()

    def between(
        self, family: str, start: bytes, stop: bytes | None
    ) -> list[tuple[bytes, bytes | None]]:
        """Return the changes with start <= key < stop, in key order."""
        changes = self.rows[family]
        if not changes:
            return []
        order = self._sorted_keys(family, changes)
        first = bisect_left(order, start)
        last = len(order) if stop is None else bisect_left(order, stop)
        return [(key, changes[key]) for key in order[first:last]]

    def first_key(self, family: str, start: bytes, stop: bytes) -> bytes | None:
        """Return the least changed key with start <= key < stop; None: there is none."""
        changes = self.rows[family]
        order = self._sorted_keys(family, changes) if changes else []
        place = bisect_left(order, start)
        return order[place] if place < len(order) and order[place] < stop else None

    def last_key(self, family: str, start: bytes, stop: bytes) -> bytes | None:
        """Return the greatest changed key with start <= key < stop; None: there is none."""
        changes = self.rows[family]
        order = self._sorted_keys(family, changes) if changes else []
        place = bisect_left(order, stop)
        return order[place - 1] if place and order[place - 1] >= start else None

    def _sorted_keys(self, family: str, changes: Changes) -> list[bytes]:
        """Return keys in order; keys added since the last call are sorted in."""
        order = self._order.setdefault(family, [])
        fresh = len(changes) - len(order)
        if fresh > 64:
            self._order[family] = order = sorted(changes)
        elif fresh:
            for key in islice(reversed(changes), fresh):
                insort(order, key)
        return order


MEMORY: Final = 96_000_000
"""Default memory for cache and buffers together, bytes."""
STALL: Final = 0.020
"""Wait before a batch is tried again that RocksDB put off, seconds."""


class Store:
    """Rows by family and key. Changes go to the open group and are seen at once.

    All of it belongs to one thread, that of the event loop. Nothing is durable before a commit:
    `GroupCommit` in a job, `commit` in a command that touches no WARC.
    """

    def __init__(self, engine: StorageEngine) -> None:
        self.engine = engine
        self.group = CommitGroup()
        self._open: dict[str, Changes] = self.group.rows
        self._sealed: dict[str, Changes] = {name: {} for name in NAMES}
        self._sealed_group: CommitGroup | None = None
        self._novelties: dict[str, NewKeyFilter] = {}
        self._scans: WeakSet[Iterator[tuple[bytes, bytes]]] = WeakSet()
        self._begun: Callable[[], None] = _ignore

    def when_begun(self, callback: Callable[[], None]) -> None:
        """Have a function called with the first row of each group."""
        self._begun = callback

    @classmethod
    def open(cls, path: str, *, memory: int = MEMORY, read_only: bool = False) -> Self:
        """Open the store of a job, or make it.

        Args:
            path: Its directory.
            memory: Memory for cache and buffers together, bytes.
            read_only: Read the present state of the store while a job may be running.

        Raises:
            StorageError: It is open in another process, newer than this Nacre, or not readable.
        """
        engine = RocksEngine(path, memory, read_only=read_only)
        try:
            upgrade(engine, path, read_only=read_only)
        except StorageError:
            engine.close()
            raise
        return cls(engine)

    def get(self, family: str, key: bytes) -> bytes | None:
        """Return the value of a key; None when there is none."""
        opened = self._open[family]
        if key in opened:
            return opened[key]
        sealed = self._sealed[family]
        return sealed[key] if key in sealed else self.engine.get(family, key)

    def get_many(self, family: str, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of many keys, in their order; one call to the engine."""
        opened, sealed = self._open[family], self._sealed[family]
        if opened.keys().isdisjoint(keys) and sealed.keys().isdisjoint(keys):
            return self.engine.get_many(family, keys) if keys else []
        values: list[bytes | None] = [None] * len(keys)
        missing: list[bytes] = []
        places: list[int] = []
        for place, key in enumerate(keys):
            if key in opened:
                values[place] = opened[key]
            elif key in sealed:
                values[place] = sealed[key]
            else:
                missing.append(key)
                places.append(place)
        if missing:
            for place, value in zip(places, self.engine.get_many(family, missing), strict=True):
                values[place] = value
        return values

    def novelty(self, family: str) -> NewKeyFilter:
        """A filter of keys that a family surely does not hold; writers of rows add their keys."""
        key_filter = self._novelties.get(family)
        if key_filter is None:
            is_empty = not any(True for _ in self.scan(family, b"", limit=1))
            key_filter = self._novelties[family] = NewKeyFilter(is_empty=is_empty)
        return key_filter

    def put(self, family: str, key: bytes, value: bytes) -> None:
        """Set a value."""
        self._open[family][key] = value
        group = self.group
        if not group.size:
            self._begun()
        group.size += ROW_COST + len(value)

    def put_all(self, family: str, rows: Mapping[bytes, bytes]) -> None:
        """Set many values; cheaper than as many `put`."""
        self._open[family].update(rows)
        group = self.group
        if not group.size:
            self._begun()
        group.size += ROW_COST * len(rows) + sum(map(len, rows.values()))

    def delete(self, family: str, key: bytes) -> None:
        """Remove a key; nothing happens when it is not there."""
        self._open[family][key] = None
        group = self.group
        if not group.size:
            self._begun()
        group.size += ROW_COST

    def scan(
        self,
        family: str,
        start: bytes,
        stop: bytes | None = None,
        limit: int = 0,
        *,
        once: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        """Rows in key order, as of this call.

        Args:
            family: The family of the row.
            start: First key, inclusive; b"" for the beginning.
            stop: End, exclusive; None for the end of the family.
            limit: At most so many rows; 0 for all.
            once: Nobody reads these rows again soon: they take no room in the cache.

        Raises:
            StorageError: While stepping, when stored blocks are damaged: never a silent end.
        """
        changes = (
            dict(self._sealed_group.between(family, start, stop)) if self._sealed_group else {}
        )
        fresh = self.group.between(family, start, stop)
        if changes:
            changes.update(fresh)
            fresh = sorted(changes.items())
        rows = self.engine.rows(family, start, stop, once=once)
        merged = _merge(fresh, rows, limit)
        self._scans.add(merged)
        return merged

    def first_key(self, family: str, start: bytes, stop: bytes) -> bytes | None:
        """Return the least key with start <= key < stop; None: there is none."""
        while True:
            firsts = [group.first_key(family, start, stop) for group in self._groups]
            firsts.append(next((key for key, _ in self.engine.rows(family, start, stop)), None))
            key = min((first for first in firsts if first is not None), default=None)
            if key is None or self._is_there(family, key):
                return key
            start = key + b"\0"

    def last_key(self, family: str, start: bytes, stop: bytes) -> bytes | None:
        """Return the greatest key with start <= key < stop; None: there is none."""
        while True:
            lasts = [group.last_key(family, start, stop) for group in self._groups]
            lasts.append(self.engine.last_key(family, start, stop))
            key = max((last for last in lasts if last is not None), default=None)
            if key is None or self._is_there(family, key):
                return key
            stop = key

    @property
    def _groups(self) -> tuple[CommitGroup, ...]:
        """The groups whose rows the engine may not have."""
        sealed = self._sealed_group
        return (self.group,) if sealed is None else (self.group, sealed)

    def _is_there(self, family: str, key: bytes) -> bool:
        """True unless an uncommitted change removes a key that a group or the engine has."""
        for changes in (self._open[family], self._sealed[family]):
            if key in changes:
                return changes[key] is not None
        return True

    def counter(self, name: str) -> int:
        """Return a persisted number; 0 when it was never set."""
        value = self.get("meta", b"counter:" + name.encode())
        if value is None:
            return 0
        if not value.removeprefix(b"-").isdigit():
            raise DamageError(
                f"The counter {name} in the store is {value!r}, which is not a number."
            )
        return int(value)

    def set_counter(self, name: str, value: int) -> None:
        """Set a persisted number; counters are absolute, so that a replay does no harm."""
        self.put("meta", b"counter:" + name.encode(), b"%d" % value)

    def seal(self) -> CommitGroup:
        """End the open group and begin the next; its rows stay visible until `settle`.

        Only one group may be sealed and not yet settled.
        """
        group = self.group
        self._sealed_group = group
        self._sealed = group.rows
        self.group = CommitGroup()
        self._open = self.group.rows
        return group

    def settle(self) -> None:
        """The engine has the rows of the sealed group now."""
        self._sealed_group = None
        self._sealed = {name: {} for name in NAMES}

    def commit(self) -> None:
        """Make all changes durable now, in this thread: for commands that touch no files."""
        if self.group.touches_files:
            raise ValueError("only GroupCommit can make appends and lines durable")
        group = self.seal()
        while not self.engine.write(group.rows):
            time.sleep(STALL)
        self.settle()
        self.engine.flush_wal()

    def close(self) -> None:
        """Drop uncommitted changes and release the store. May be called twice."""
        for scan in list(self._scans):
            close = getattr(scan, "close", None)
            if close:
                close()
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _ignore() -> None:
    """Nothing waits for the first row of a group."""


def _merge(
    changes: list[tuple[bytes, bytes | None]], rows: Iterator[tuple[bytes, bytes]], limit: int
) -> Iterator[tuple[bytes, bytes]]:
    """Rows of the engine with the changes laid over them; both in key order."""
    overlaid = _overlaid(changes, rows) if changes else rows
    yield from islice(overlaid, limit) if limit else overlaid


def _overlaid(
    changes: list[tuple[bytes, bytes | None]], rows: Iterator[tuple[bytes, bytes]]
) -> Iterator[tuple[bytes, bytes]]:
    place = 0
    for key, value in rows:
        while place < len(changes) and changes[place][0] < key:
            fresh = changes[place]
            place += 1
            if fresh[1] is not None:
                yield fresh[0], fresh[1]
        if place < len(changes) and changes[place][0] == key:
            fresh = changes[place]
            place += 1
            if fresh[1] is not None:
                yield key, fresh[1]
        else:
            yield key, value
    for changed, replaced in changes[place:]:
        if replaced is not None:
            yield changed, replaced
