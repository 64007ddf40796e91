"""A queue: what the store keeps of it, and what only memory knows."""

from enum import IntEnum

import msgspec

from nacre.core.crawluri import CrawlURI
from nacre.frontier.backoff import Backoff
from nacre.frontier.rows import LAST_SUFFIX, queue_id
from nacre.frontier.window import Window

ENDLESS_LEFT = "endless places"
"""Why a queue rests of which only URIs of endless places are left."""

_NONE: set[bytes] = set()
"""Most queues in memory have nothing in process: one set for all of them, always empty."""


class State(IntEnum):
    """Where a queue stands."""

    READY = 0
    IN_PROCESS = 1
    SNOOZED = 2
    INACTIVE = 3
    INELIGIBLE = 4
    RETIRED = 5
    EXHAUSTED = 6


class QueueRow(msgspec.Struct, array_like=True, gc=False):
    """What survives of a queue.

    Times are frontier times (see `totals.Totals.time`), seconds.

    Attributes:
        name: Queue key, such as `com,example,www,`.
        precedence: Lower ones are activated first.
        state: `State`.
        place: Key of its row in `wake`; b"" when it has none (exhausted).
        head: No URI of it has a lower suffix in `queue`: where reading starts.
        size: URIs in `queue`, those in process included.
        waiting: URIs in `future` that will be retried.
        retrying: Of both, those tried before.
        held: A prerequisite that failed holds the queue until its retry.
        counted: What it adds to the total of queued URIs.
        stuck: What it adds to the total of URIs that only retries can move.
        enqueued: URIs ever put in.
        balance: What it may spend before another queue takes its turn.
        spent: What it spent in all.
        costs: Number of charges, for the average.
        last_cost: The last charge.
        errors: Final failures.
        last_dequeue: Time of the last hand-out; 0 for never.
        wake: No hand-out before this time.
        delay: Last politeness delay, seconds; 0 before the first fetch.
        last_peek: URL handed out last.
        last_queued: URL put in last.
        backoff: Factor of the adaptive backoff.
        latency: Usual latency, ms.
        group: Addresses of its host, with spaces between; "" when it shares them with nobody.
        run: The start of the frontier that last wrote this row.
        alone: Its site asks for a Crawl-delay: one fetch at a time, whatever the limit is.
        successes: URIs fetched with success.
        why: Why it is retired; "" when it is not.
        levels: Number of its URIs in `queue` by precedence; kept only while the order of the queues
            depends on it.
        endless: URIs of endless places in `queue`.
        trapped: URIs of endless places that were visited.
    """

    name: str
    precedence: int = 3
    state: State = State.EXHAUSTED
    place: bytes = b""
    head: bytes = LAST_SUFFIX
    size: int = 0
    waiting: int = 0
    retrying: int = 0
    held: bool = False
    counted: int = 0
    stuck: int = 0
    enqueued: int = 0
    balance: int = 0
    spent: int = 0
    costs: int = 0
    last_cost: int = 0
    errors: int = 0
    last_dequeue: float = 0.0
    wake: float = 0.0
    delay: float = 0.0
    last_peek: str = ""
    last_queued: str = ""
    backoff: float = 1.0
    latency: float = 0.0
    group: str = ""
    run: int = 0
    alone: bool = False
    successes: int = 0
    why: str = ""
    levels: dict[int, int] = {}
    endless: int = 0
    trapped: int = 0

    @property
    def lowest(self) -> int:
        """Lowest precedence among its URIs; 0 where that is not kept."""
        return min(self.levels) if self.levels else 0

    def count_level(self, precedence: int, change: int) -> None:
        """Count that a URI of a precedence came (1) or went (-1)."""
        number = self.levels.get(precedence, 0) + change
        if number > 0:
            self.levels[precedence] = number
        else:
            self.levels.pop(precedence, None)


class Queue:
    """A queue in memory.

    Attributes:
        row: What the store keeps of it.
        name: Queue key.
        identity: Its eight bytes in row keys.
        window: Its first URIs; None while it is not active.
        taken: Keys of the URIs in process.
        wake: No hand-out before this monotonic time.
        blocking: Prerequisites in process; nothing else is handed out meanwhile.
        prerequisites: Seen keys of the prerequisites that wait in it or are in process.
        dirty: Changed since its row was written.
        overlay: Number of the combination of sheets that holds for it.
    """

    __slots__ = (
        "blocking",
        "dirty",
        "identity",
        "name",
        "overlay",
        "prerequisites",
        "row",
        "taken",
        "wake",
        "window",
    )

    def __init__(self, row: QueueRow) -> None:
        self.row = row
        self.name = row.name
        self.identity = queue_id(row.name)
        self.window: Window | None = None
        self.taken = _NONE
        self.wake = 0.0
        self.blocking = 0
        self.prerequisites: frozenset[bytes] = frozenset()
        self.dirty = False
        self.overlay = 0

    @property
    def range(self) -> tuple[bytes, bytes]:
        """First key of its rows in `queue` that may be there, and the end of them (exclusive)."""
        return self.identity + self.row.head, self.identity + LAST_SUFFIX

    @property
    def has_others(self) -> bool:
        """Whether URIs wait in it beside the one that just came back and those in process."""
        return self.row.size - len(self.taken) > 1

    @property
    def backoff(self) -> Backoff:
        """State of its adaptive backoff."""
        return Backoff(self.row.backoff, self.row.latency)

    def hold(self, key: bytes, uri: CrawlURI) -> None:
        """Note that one of its URIs is in process."""
        if self.taken:
            self.taken.add(key)
        else:
            self.taken = {key}
        if uri.is_prerequisite:
            self.blocking += 1
            self.prerequisites |= {uri.key}

    def give_back(self, key: bytes, uri: CrawlURI) -> None:
        """Note that one of its URIs is not in process any more."""
        self.taken.discard(key)
        if not self.taken:
            self.taken = _NONE
        if uri.is_prerequisite:
            self.blocking -= 1

    def lower_head(self, key: bytes) -> None:
        """Note that a row was put into `queue` below what was read."""
        suffix = key[len(self.identity) :]
        self.row.head = min(self.row.head, suffix)

    def settle_head(self) -> None:
        """Bring `row.head` up to date with what is read and what is in process."""
        if self.window is not None:
            low = self.window.low()
            if self.taken:
                low = min(low, *self.taken)
            self.row.head = low[len(self.identity) :]

    def read_again(self) -> None:
        """Read the queue again: rows were deleted that may have been read ahead."""
        if self.window is not None:
            self.settle_head()
            self.window.restart(self.range[0])
