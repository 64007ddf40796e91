"""A group: everything between two commits, which becomes durable as one."""

from asyncio import Future
from bisect import bisect_left, insort
from itertools import islice

from nacre.core.capture import Body
from nacre.store.families import NAMES
from nacre.store.files import OpenFile

Changes = dict[bytes, bytes | None]

ROW_COST = 48
"""What a row costs in memory and in the log beside its value, bytes; about."""


class Group:
    """Rows, appends and lines in the order they came; one synchronous step of a visit adds all.

    Attributes:
        rows: Family -> key -> value; None deletes.
        appends: WARC -> what goes to its end, in order.
        lines: Log or index -> lines for its end, in order; they travel in the journal.
        directories: To be synced before the batch, which names new files in them.
        closing: Files that get nothing more after this group.
        obsolete: Paths that this group makes superfluous, to be removed once it is durable.
        renames: (old, new) names to be given once it is durable.
        size: Bytes held in memory, about.
        visits: Visits finished in it.
        waiters: Who wants to know when it is durable.
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
        """Whether there is nothing to commit, and nobody waits for it."""
        return not (self.size or self.visits or self.waiters or self.closing)

    @property
    def touches_files(self) -> bool:
        """Whether it holds more than rows."""
        return bool(self.appends or self.lines or self.closing or self.directories)

    def close_bodies(self) -> None:
        """Close the bodies of a group that nobody will commit."""
        for parts in self.appends.values():
            for part in parts:
                if not isinstance(part, bytes):
                    part.close()

    def between(
        self, family: str, start: bytes, stop: bytes | None
    ) -> list[tuple[bytes, bytes | None]]:
        """The changes with start <= key < stop, in key order."""
        changes = self.rows[family]
        if not changes:
            return []
        order = self._sorted(family, changes)
        first = bisect_left(order, start)
        last = len(order) if stop is None else bisect_left(order, stop)
        return [(key, changes[key]) for key in order[first:last]]

    def _sorted(self, family: str, changes: Changes) -> list[bytes]:
        """Keys in order; a dict remembers what was added since, so that only that is sorted in."""
        order = self._order.setdefault(family, [])
        fresh = len(changes) - len(order)
        if fresh > 64:
            self._order[family] = order = sorted(changes)
        elif fresh:
            for key in islice(reversed(changes), fresh):
                insort(order, key)
        return order
