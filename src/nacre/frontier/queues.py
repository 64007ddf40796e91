"""A queue: its state, its row in the store, its state in memory, and totals of all queues."""

from enum import IntEnum

import msgspec

from nacre.core.crawluri import CrawlURI
from nacre.core.status import CountedAs, counted
from nacre.frontier.policy import Backoff, DelayCause, queue_precedence
from nacre.frontier.rows import LAST_SUFFIX, RowStore, RowWindow, queue_id
from nacre.frontier.settings import QueuePrecedence

ENDLESS_LEFT = "endless places"
"""Reason of a queue that is retired because only URIs of endless places are left."""

_NONE: set[bytes] = set()
"""Most queues in memory have nothing in process: one set for all of them, always empty."""


class QueueState(IntEnum):
    """The state of a queue."""

    READY = 0
    IN_PROCESS = 1
    SNOOZED = 2
    INACTIVE = 3
    INELIGIBLE = 4
    RETIRED = 5
    EXHAUSTED = 6


_RETIRED, _SUCCESS = (
    QueueState.RETIRED,
    CountedAs.SUCCESS,
)  # the way to a member of an enumeration is long


class QueueRow(msgspec.Struct, array_like=True, gc=False):
    """The stored row of a queue.

    Times are frontier times (see `totals.Totals.time`), seconds.

    Attributes:
        name: Queue key, such as `com,example,www,`.
        precedence: Queues with lower values are activated first.
        state: `QueueState`.
        place: Key of its row in `wake`; b"" when it has none (exhausted).
        head: The suffix in `queue` at which reading starts: no URI has a lower one.
        size: URIs in `queue`, those in process included.
        waiting: URIs in `future` that will be retried.
        retrying: Of both, those tried before.
        held: Whether a prerequisite that failed blocks the queue until its retry.
        counted: What it adds to the total of queued URIs.
        stuck: What it adds to the total of URIs that only retries can move.
        enqueued: Number of URIs that were ever added.
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
        backoff: Factor of the adaptive backoff after refusals.
        latency: Usual latency, ms.
        group: Addresses of its host, with spaces between; "" when no other queue has them.
        run: The start of the frontier that last wrote this row.
        alone: Whether its site requests a Crawl-delay: one fetch at a time, whatever the limit is.
        successes: URIs fetched with success.
        why: Reason for which it is retired; "" if it is not.
        levels: Number of its URIs in `queue` by precedence; kept only while the order of the queues
            depends on it.
        endless: URIs of endless places in `queue`.
        trapped: URIs of endless places that were visited.
        slowness: Factor of the adaptive backoff after slow replies.
        cause: What decided its last delay: a value of `DelayCause`.
    """

    name: str
    precedence: int = 3
    state: QueueState = QueueState.EXHAUSTED
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
    slowness: float = 1.0
    cause: str = ""

    @property
    def lowest(self) -> int:
        """Lowest precedence among its URIs; 0 if that is not kept."""
        return min(self.levels) if self.levels else 0

    def count_level(self, precedence: int, change: int) -> None:
        """Count that a URI of a precedence was added (1) or removed (-1)."""
        number = self.levels.get(precedence, 0) + change
        if number > 0:
            self.levels[precedence] = number
        else:
            self.levels.pop(precedence, None)

    def forget_levels(self) -> None:
        """Forget the number of its URIs by precedence: it is counted again, or not needed."""
        self.levels = {}

    def update_precedence(self, choice: QueuePrecedence) -> None:
        """Compute its precedence again."""
        self.precedence = queue_precedence(choice, self.successes, self.lowest)

    def change_state(self, state: QueueState) -> None:
        """Give it a state; `Totals.enter` counts it as well."""
        self.state = state

    def retire(self, reason: str) -> None:
        """Store the reason for which it is to be retired."""
        self.why = reason

    def unretire(self) -> None:
        """Note that it is not to be retired any more."""
        self.why = ""

    def hold(self) -> None:
        """Note that a prerequisite failed: the queue waits for its retry."""
        self.held = True

    def end_hold(self) -> None:
        """Note that it waits for no prerequisite any more."""
        self.held = False

    def add_uri(self, url: str) -> None:
        """Count a URI that is put into `queue`."""
        self.size += 1
        self.last_queued = url

    def hand_out(self, url: str, now: float) -> None:
        """Record a URL that was handed out, and the time."""
        self.last_dequeue = now
        self.last_peek = url

    def correct_size(self, size: int) -> None:
        """Set the number of URIs in `queue` to that of its rows."""
        self.size = size

    def update_counted(self) -> tuple[int, int]:
        """Compute its part of `Totals.queued` and `stuck`; return by how much these change."""
        total = stuck = 0
        if self.held and not self.size + self.waiting:
            self.held = False
        if self.state is not _RETIRED:
            total = self.size + self.waiting
            stuck = total if self.held else self.retrying
        elif self.why == ENDLESS_LEFT:
            # It is retired because only endless places are left; returned and retried URIs still
            # count.
            total = max(self.size + self.waiting - self.endless, 0)
            stuck = total if self.held else min(self.retrying, total)
        change = total - self.counted, stuck - self.stuck
        self.counted, self.stuck = total, stuck
        return change

    def begin_turn(self, balance: int) -> None:
        """Set the cost that it may spend before another queue takes its turn."""
        self.balance = balance

    def charge(self, cost: int) -> None:
        """Charge the cost of a visit."""
        self.spent += cost
        self.balance -= cost
        self.last_cost = cost
        self.costs += 1

    def set_pace(
        self,
        delay: float,
        backoff: Backoff | None,
        *,
        alone: bool | None,
        cause: DelayCause = DelayCause.UNKNOWN,
    ) -> None:
        """Record the requests of its server; 0 and None leave the value unchanged."""
        if delay > 0:
            self.delay, self.cause = delay, cause.value
        if backoff is not None:
            self.backoff, self.latency, self.slowness = backoff
        if alone is not None:
            self.alone = alone

    def change_delay(self, delay: float, cause: DelayCause) -> None:
        """Replace the last politeness delay, seconds."""
        self.delay, self.cause = delay, cause.value

    def share_with(self, group: str) -> None:
        """Set the addresses of its host, as in `group`."""
        self.group = group

    def wait_until(self, time: float) -> None:
        """Set the frontier time before which nothing is handed out."""
        self.wake = time

    def take_place(self, key: bytes) -> None:
        """Note the key of its row in `wake`."""
        self.place = key

    def leave_place(self) -> None:
        """Note that it has no row in `wake`."""
        self.place = b""

    def move_head(self, suffix: bytes) -> None:
        """Set where reading starts."""
        self.head = suffix

    def lower_head(self, suffix: bytes) -> None:
        """Let reading start here at the latest."""
        self.head = min(self.head, suffix)

    def write_in_run(self, run: int) -> None:
        """Note which start of the frontier writes it."""
        self.run = run


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
        overlay: Number of its combination of sheets.
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
        self.window: RowWindow | None = None
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
        """Whether URIs wait in it, besides the URI just returned and the URIs in process."""
        return self.row.size - len(self.taken) > 1

    @property
    def backoff(self) -> Backoff:
        """State of its adaptive backoff."""
        return Backoff(self.row.backoff, self.row.latency, self.row.slowness)

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
        """Record that a row was put into `queue` below the rows that were read."""
        self.row.lower_head(key[len(self.identity) :])

    def settle_head(self) -> None:
        """Update `row.head` from the rows that were read and the URIs in process."""
        if self.window is not None:
            low = self.window.low()
            if self.taken:
                low = min(low, *self.taken)
            self.row.move_head(low[len(self.identity) :])

    def read_again(self) -> None:
        """Read the queue again: rows were deleted that may have been read ahead."""
        if self.window is not None:
            self.settle_head()
            self.window.restart(self.range[0])

    def open(self, window: RowWindow, balance: int) -> None:
        """Make it active: its first URIs are read, and its turn begins."""
        self.window = window
        self.row.begin_turn(balance)

    def close(self) -> None:
        """Make it inactive: its URIs are in the store only."""
        self.settle_head()
        self.window = None

    def use_sheets(self, overlay: int) -> None:
        """Set its combination of sheets."""
        self.overlay = overlay

    def wait_until(self, mono: float, time: float) -> None:
        """Set the time before which nothing is handed out.

        Args:
            mono: Monotonic.
            time: The same as frontier time, for the store.
        """
        self.wake = mono
        self.row.wait_until(time)

    def postpone(self, mono: float) -> None:
        """Hand out nothing before a monotonic time either; in memory only."""
        self.wake = max(self.wake, mono)

    def mark_changed(self) -> bool:
        """Note that its row is to be written; False when that was noted already."""
        if self.dirty:
            return False
        self.dirty = True
        return True

    def prepare_row(self, run: int) -> QueueRow:
        """Bring its row up to date, to be written in a run of the frontier."""
        self.settle_head()
        self.dirty = False
        self.row.write_in_run(run)
        return self.row


_KEY = b"frontier"


class Totals(msgspec.Struct):
    """One row; written whenever a group is sealed.

    Attributes:
        run: Number of this start of the frontier.
        ordinal: Ordinal given last.
        turn: Turn given last to an inactive queue.
        time: Frontier time when this was written: seconds since the epoch that never go back, not
            even when the clock is set back between two runs, so that no stored time can lie
            further ahead than its own wait.
        discovered: Different URIs seen.
        queued: URIs waiting or in process, those of retired queues not counted.
        stuck: Of these, the URIs that only a retry can move.
        planned: URIs in `future` that are not retries: visits to come.
        finished: Final results: succeeded + failed + disregarded.
        succeeded: Final results that were captured.
        failed: Final failures.
        disregarded: Final results that count as neither.
        states: Number of queues in each `QueueState`.
        last_since: Frontier time when nothing but retries was left; None while there is more.
        endless: URIs of endless places in the queues.
    """

    run: int = 0
    ordinal: int = 0
    turn: int = 0
    time: float = 0.0
    discovered: int = 0
    queued: int = 0
    stuck: int = 0
    planned: int = 0
    finished: int = 0
    succeeded: int = 0
    failed: int = 0
    disregarded: int = 0
    states: list[int] = msgspec.field(default_factory=lambda: [0] * len(QueueState))
    last_since: float | None = None
    endless: int = 0

    def begin_run(self) -> None:
        """Count a start of the frontier."""
        self.run += 1
        self.last_since = None

    def note_time(self, time: float) -> None:
        """Note the frontier time at which they are written."""
        self.time = time

    def begin_last_tries(self, since: float) -> None:
        """Note since when nothing but retries is left (frontier time)."""
        self.last_since = since

    def end_last_tries(self) -> None:
        """Note that there is more than retries."""
        self.last_since = None

    def enter(self, row: QueueRow, state: QueueState) -> None:
        """Note that a queue changes its state."""
        if row.state is not state:
            self.states[row.state] -= 1
            self.states[state] += 1
            row.change_state(state)

    def recount(self, row: QueueRow) -> None:
        """Bring the sums up to date with one queue."""
        queued, stuck = row.update_counted()
        self.queued += queued
        self.stuck += stuck

    def finish(self, status: int, *, guess: bool = False) -> CountedAs:
        """Count a final result, and return its kind. A failed guess does not count as a failure."""
        kind = _kind(status, guess)
        self.finished += 1
        if kind is _SUCCESS:
            self.succeeded += 1
        elif kind is CountedAs.FAILURE:
            self.failed += 1
        else:
            self.disregarded += 1
        return kind

    def take_back(self, status: int, *, guess: bool = False) -> None:
        """Take back a final result: its URI waits again."""
        kind = _kind(status, guess)
        self.finished -= 1
        if kind is _SUCCESS:
            self.succeeded -= 1
        elif kind is CountedAs.FAILURE:
            self.failed -= 1
        else:
            self.disregarded -= 1

    @property
    def queues(self) -> int:
        """Number of queues ever made."""
        return sum(self.states)


def _kind(status: int, guess: bool) -> CountedAs:  # noqa: FBT001 - see `Totals.finish`
    kind = counted(status)
    return CountedAs.DISREGARDED if guess and kind is CountedAs.FAILURE else kind


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Totals).decode


def read_totals(rows: RowStore) -> Totals:
    """Return the totals as last written; all zero before the first time."""
    value = rows.get("meta", _KEY)
    return _decode(value) if value else Totals()


def write_totals(rows: RowStore, totals: Totals) -> None:
    """Write them."""
    rows.put("meta", _KEY, _encode(totals))
