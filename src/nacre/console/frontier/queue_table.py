"""The queues of a frontier in order: by name or by a number, from any place on.

The store has its queues in no order that means anything, and there may be a million. So the numbers
that they are sorted by are read once into arrays, and what is shown of a page is read again.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from nacre.core.clock import Clock
from nacre.frontier.queues import QueueRow

NAME: Final = "name"
NUMBERS: Final = ("waiting", "needs", "delay", "backoff", "spent", "precedence", "failures")
"""What queues are sorted by beside their names: URIs that wait; the seconds that these need at the
present delay and latency; the last delay, seconds; the backoff's factor; cost spent; precedence;
URIs that failed."""
_EACH: Final = 4096


class QueuePlace(NamedTuple):
    """A place between two queues of an order.

    Attributes:
        number: The number of the queue before it; 0 in the order of the names.
        name: Its name.
    """

    number: float
    name: str


class TreeBranch(NamedTuple):
    """The queues whose names begin alike.

    Attributes:
        prefix: The beginning, with its last comma; the whole name of a single queue.
        queues: How many there are.
        waiting: URIs that wait in them.
        is_queue: It is one queue, of just this name.
    """

    prefix: str
    queues: int
    waiting: int
    is_queue: bool


class QueueTable:
    """All queues at one moment, by their names.

    Args:
        rows: They, in any order.
        tell: Takes how many were read.
        clock: The time.

    Attributes:
        names: Their keys, sorted.
        states: `QueueState` of each.
        made: When it was made, seconds since the epoch.
        seconds: Seconds that it took.
    """

    def __init__(self, rows: Iterable[QueueRow], tell: Callable[[int], None], clock: Clock) -> None:
        start = clock.monotonic()
        self.made = clock.now()
        names: list[str] = []
        states, numbers = array("B"), [array("d") for _ in NUMBERS]
        for row in rows:
            names.append(row.name)
            states.append(row.state)
            for column, value in zip(numbers, _numbers(row), strict=True):
                column.append(value)
            if not len(names) % _EACH:
                tell(len(names))
        order = sorted(range(len(names)), key=names.__getitem__)
        self.names = [names[at] for at in order]
        self.states = array("B", (states[at] for at in order))
        self._numbers = {
            name: array("d", (column[at] for at in order))
            for name, column in zip(NUMBERS, numbers, strict=True)
        }
        self._orders: dict[tuple[str, bool], Sequence[int]] = {}
        self._sums: array[int] | None = None
        self.seconds = clock.monotonic() - start

    def number(self, column: str, at: int) -> float:
        """A number of a queue."""
        return self._numbers[column][at]

    def _order(self, column: str, *, falling: bool) -> Sequence[int]:
        key = column, falling
        if key not in self._orders:
            values = self._numbers[column]
            # The sort keeps the order of the names among equals, also a falling one.
            order = sorted(range(len(values)), key=values.__getitem__, reverse=falling)
            self._orders[key] = array("L", order)
        return self._orders[key]

    def walk(
        self, column: str, place: QueuePlace | None, *, falling: bool, back: bool = False
    ) -> Iterator[tuple[int, QueuePlace]]:
        """The queues in an order, from a place on, with the place behind each.

        Args:
            column: One of `NUMBERS`, or `NAME`.
            place: The place; None for the beginning.
            falling: The largest first.
            back: Those before the place, the last one first; None for the place is the end then.
        """
        if column == NAME:
            yield from self._by_name(place, falling=falling, back=back)
            return
        order, values = self._order(column, falling=falling), self._numbers[column]
        first = len(order) if back else 0
        if place is not None:
            sign = -1.0 if falling else 1.0
            key = sign * place.number, self._behind(place.name)
            first = bisect_left(order, key, key=lambda at: (sign * values[at], at))
        for position in range(first - 1, -1, -1) if back else range(first, len(order)):
            at = order[position]
            yield at, QueuePlace(values[at], self.names[at])

    def _by_name(
        self, place: QueuePlace | None, *, falling: bool, back: bool
    ) -> Iterator[tuple[int, QueuePlace]]:
        number = len(self.names)
        if place is None:
            # The beginning of a falling order is the end of the names; backwards it is the other.
            first = number if falling != back else 0
        else:
            first = bisect_left(self.names, place.name) if falling else self._behind(place.name)
        for at in range(first - 1, -1, -1) if falling != back else range(first, number):
            yield at, QueuePlace(0.0, self.names[at])

    def before_name(self, name: str, *, falling: bool) -> QueuePlace | None:
        """The place in the order of the names behind which a name, or the next one, comes first.

        Args:
            name: It; the beginning of one is enough.
            falling: The order is the falling one.

        Returns:
            The place; None for the beginning of the order.
        """
        if falling:
            at = bisect_right(self.names, name)
            return QueuePlace(0.0, self.names[at]) if at < len(self.names) else None
        at = bisect_left(self.names, name)
        return QueuePlace(0.0, self.names[at - 1]) if at else None

    def _behind(self, name: str) -> int:
        """Number of the first queue whose name comes behind a name."""
        at = bisect_left(self.names, name)
        return at + (at < len(self.names) and self.names[at] == name)

    def branches(self, prefix: str, after: str = "") -> Iterator[TreeBranch]:
        """The branches below a beginning of names, in order.

        Args:
            prefix: The beginning: "" or one that ends with a comma.
            after: The `prefix` of the branch behind which they begin; "" for the first.
        """
        sums = self._waiting_sums()
        end = bisect_left(self.names, prefix + "\U0010ffff") if prefix else len(self.names)
        at = bisect_left(self.names, prefix)
        if after:
            at = self._end_of(after, at, end)
        while at < end:
            name = self.names[at]
            cut = name.find(",", len(prefix)) + 1
            branch = name[:cut] if cut else name
            last = self._end_of(branch, at, end)
            waiting = sums[last] - sums[at]
            yield TreeBranch(branch, last - at, waiting, last - at == 1 and name == branch)
            at = last

    def _end_of(self, branch: str, first: int, last: int) -> int:
        if not branch.endswith(","):
            return bisect_left(self.names, branch + "\0", first, last)
        return bisect_left(self.names, branch + "\U0010ffff", first, last)

    def _waiting_sums(self) -> "array[int]":
        if self._sums is None:
            sums, total = array("q", [0]), 0
            for value in self._numbers["waiting"]:
                total += int(value)
                sums.append(total)
            self._sums = sums
        return self._sums


def _numbers(row: QueueRow) -> tuple[float, ...]:
    waiting = row.size + row.waiting
    needs = waiting * (row.delay + row.latency / 1000)
    return waiting, needs, row.delay, row.backoff, row.spent, row.precedence, row.errors
