"""The queues of a job: a single queue, and all in order by name or by a number.

The store has its queues in no order that means anything, and there may be a million. So the numbers
that they are sorted by are read once into arrays, and the queues of a page are read again.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from nacre.core.clock import Clock
from nacre.frontier.operator import why_it_waits
from nacre.frontier.queue_cache import read_queue, scan_queues
from nacre.frontier.queues import QueueRow, QueueState, read_totals
from nacre.frontier.rows import queue_id
from nacre.frontier.settings import FrontierSettings
from nacre.store.store import Store
from nacre.uri.surt import queue_host

NAME: Final = "name"
NUMBERS: Final = ("waiting", "needs", "delay", "backoff", "spent", "precedence", "failures")
"""What queues are sorted by beside their names: URIs that wait; the seconds that these need at the
present delay and latency; the last delay, seconds; the backoff's factor; cost spent; precedence;
URIs that failed."""
_EACH: Final = 4096
STATES: Final[Mapping[str, int]] = {state.name.lower(): state for state in QueueState}
"""The states of a queue by their names."""


class QueueItem(msgspec.Struct, frozen=True):
    """A queue.

    Attributes:
        queue: Its key.
        host: Its host, if it is the queue of one host.
        state: `ready`, `in_process`, `snoozed`, `inactive`, `ineligible`, `retired`, `exhausted`.
        why: Why it waits; "" if it does not wait.
        waiting: URIs in it.
        retrying: Of these, those tried before.
        delay: Its last politeness delay, seconds; 0 before the first fetch.
        backoff: Factor of its adaptive backoff; 1 for none.
        alone: Its site asks for a Crawl-delay: one fetch at a time.
        needs: Seconds that it needs at that delay and at its usual latency.
        precedence: Lower precedences come first.
        spent: Cost spent.
        budget: Cost allowed; null for no limit.
        successes: URIs fetched with success.
        failures: URIs that failed.
        shares: Addresses of its host that other queues have, too.
        last: URL handed out last.
        newest: URL put in last.
        trapped: URIs of endless places that were visited.
        endless: URIs of endless places in it.
        as_of: The moment of these data, RFC 3339; "" in a list, which has its own.
    """

    queue: str
    host: str
    state: str
    why: str
    waiting: int
    retrying: int
    delay: float
    backoff: float
    alone: bool
    needs: float
    precedence: int
    spent: int
    budget: int | None
    successes: int
    failures: int
    shares: str
    last: str
    newest: str
    trapped: int
    endless: int
    as_of: str = ""


class QueuePlace(NamedTuple):
    """A place between two queues of an order.

    Attributes:
        number: The number of the preceding queue; 0 in the order of the names.
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


def read_table(store: Store, tell: Callable[[int, int], None], clock: Clock) -> QueueTable:
    """Read all queues of a job.

    Args:
        store: The store of the job.
        tell: Takes the numbers of queues that were read, and of all.
        clock: The time.
    """
    total = sum(read_totals(store).states)
    return QueueTable(scan_queues(store), lambda number: tell(number, total), clock)


def count_states(store: Store) -> dict[str, int]:
    """Count the queues of a job by the names of their states."""
    numbers = read_totals(store).states
    return {name: numbers[state] for name, state in STATES.items()}


def read_queue_item(
    store: Store, key: str, settings: FrontierSettings, as_of: str = ""
) -> QueueItem | None:
    """Read a queue.

    Args:
        store: The store of the job.
        key: The key of the queue.
        settings: The settings of the frontier.
        as_of: The moment of the data, RFC 3339; "" in a list.

    Returns:
        The queue; None if there is none of this key.
    """
    row = read_queue(store, queue_id(key))
    if row is None:
        return None
    waiting = row.size + row.waiting
    budget = settings.queue_total_budget
    return QueueItem(
        queue=row.name,
        host=queue_host(row.name),
        state=QueueState(row.state).name.lower(),
        why=why_it_waits(row, settings),
        waiting=waiting,
        retrying=row.retrying,
        delay=row.delay,
        backoff=row.backoff,
        alone=row.alone,
        needs=waiting * (row.delay + row.latency / 1000),
        precedence=row.precedence,
        spent=row.spent,
        budget=budget if budget >= 0 else None,
        successes=row.successes,
        failures=row.errors,
        shares=row.group,
        last=row.last_peek,
        newest=row.last_queued,
        trapped=row.trapped,
        endless=row.endless,
        as_of=as_of,
    )
