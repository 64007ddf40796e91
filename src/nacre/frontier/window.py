"""The first rows of an ordered range, held in memory."""

from collections.abc import Container
from heapq import heapify, heappop, heappush, nsmallest

from nacre.frontier.rows import Rows, after

Row = tuple[bytes, bytes]


class Window:
    """Hands out the rows of a range in key order, reading a few ahead.

    Every row below the cursor is in the window or was taken from it; those from the cursor on are
    only in the store. A new row below the cursor enters the window, so nothing is ever read again:
    popping a head over the remains of deleted rows costs milliseconds.

    Attributes:
        batch: Rows to read at a time; the window never holds more than twice as many.
    """

    __slots__ = ("_cursor", "_family", "_heap", "_rows", "_stop", "batch")

    def __init__(self, rows: Rows, family: str, start: bytes, stop: bytes, batch: int) -> None:
        self._rows = rows
        self._family = family
        self._heap: list[Row] = []
        self._cursor = start
        self._stop = stop
        self.batch = batch

    def offer(self, key: bytes, value: bytes) -> None:
        """Take note of a row just put into the store."""
        if key < self._cursor:
            heap = self._heap
            heappush(heap, (key, value))
            if len(heap) > 2 * self.batch:
                self._trim()

    def peek(self, taken: Container[bytes] = ()) -> Row | None:
        """The first row; None when there is none.

        Args:
            taken: Keys to leave out when reading: they were popped, and are in the store still.
        """
        if not self._heap:
            self._read(taken)
        return self._heap[0] if self._heap else None

    def pop(self, taken: Container[bytes] = ()) -> Row | None:
        """Take the first row out of the window (not out of the store); None when there is none."""
        if not self._heap:
            self._read(taken)
        return heappop(self._heap) if self._heap else None

    def low(self) -> bytes:
        """A bound: no row that was not taken yet has a lower key."""
        return self._heap[0][0] if self._heap else self._cursor

    def restart(self, start: bytes) -> None:
        """Forget what was read, after rows were deleted behind the window's back."""
        self._heap.clear()
        self._cursor = start

    def _read(self, taken: Container[bytes]) -> None:
        while self._cursor < self._stop and not self._heap:
            found = list(self._rows.scan(self._family, self._cursor, self._stop, self.batch))
            self._cursor = after(found[-1][0]) if len(found) == self.batch else self._stop
            self._heap = [row for row in found if row[0] not in taken]

    def _trim(self) -> None:
        self._heap = nsmallest(self.batch, self._heap)
        self._cursor = after(self._heap[-1][0])
        heapify(self._heap)
