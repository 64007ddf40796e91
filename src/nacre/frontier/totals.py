"""The totals of a crawl, absolute, as Heritrix counts them."""

import msgspec

from nacre.core.status import Counted, counted
from nacre.frontier.queues import ENDLESS_LEFT, QueueRow, State
from nacre.frontier.rows import Rows

_RETIRED, _SUCCESS = State.RETIRED, Counted.SUCCESS  # the way to a member of an enumeration is long

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
        stuck: Of these, the ones that only a retry can move.
        planned: URIs in `future` that are no retries: visits to come.
        finished: Final results: succeeded + failed + disregarded.
        succeeded: Final results that were captured.
        failed: Final failures.
        disregarded: Final results that count as neither.
        states: Number of queues in each `State`.
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
    states: list[int] = msgspec.field(default_factory=lambda: [0] * len(State))
    last_since: float | None = None
    endless: int = 0

    def enter(self, row: QueueRow, state: State) -> None:
        """Note that a queue changes its state."""
        if row.state is not state:
            self.states[row.state] -= 1
            self.states[state] += 1
            row.state = state

    def recount(self, row: QueueRow) -> None:
        """Bring the sums up to date with one queue."""
        total = stuck = 0
        row.held = row.held and row.size + row.waiting > 0
        if row.state is not _RETIRED:
            total = row.size + row.waiting
            stuck = total if row.held else row.retrying
        elif row.why == ENDLESS_LEFT:
            # It rests because nothing else is left; what comes back or is retried still counts.
            total = max(row.size + row.waiting - row.endless, 0)
            stuck = total if row.held else min(row.retrying, total)
        self.queued += total - row.counted
        row.counted = total
        self.stuck += stuck - row.stuck
        row.stuck = stuck

    def finish(self, status: int, *, guess: bool = False) -> Counted:
        """Count a final result; returns what it counted as. A guess that failed is no failure."""
        kind = _kind(status, guess)
        self.finished += 1
        if kind is _SUCCESS:
            self.succeeded += 1
        elif kind is Counted.FAILURE:
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
        elif kind is Counted.FAILURE:
            self.failed -= 1
        else:
            self.disregarded -= 1

    @property
    def queues(self) -> int:
        """Number of queues ever made."""
        return sum(self.states)


def _kind(status: int, guess: bool) -> Counted:  # noqa: FBT001 - see `Totals.finish`
    kind = counted(status)
    return Counted.DISREGARDED if guess and kind is Counted.FAILURE else kind


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Totals).decode


def read_totals(rows: Rows) -> Totals:
    """The totals as last written; all zero before the first time."""
    value = rows.get("meta", _KEY)
    return _decode(value) if value else Totals()


def write_totals(rows: Rows, totals: Totals) -> None:
    """Write them."""
    rows.put("meta", _KEY, _encode(totals))
