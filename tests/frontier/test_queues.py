"""A queue, what the store keeps of it, and the totals over all queues."""

import pytest

from nacre.frontier.policy import Backoff
from nacre.frontier.queues import (
    ENDLESS_LEFT,
    Queue,
    QueueRow,
    QueueState,
    Totals,
    read_totals,
    write_totals,
)
from nacre.frontier.rows import LAST_SUFFIX, RowWindow, queue_key
from nacre.frontier.settings import QueuePrecedence
from tests.frontier.making import candidate
from tests.frontier.memory_rows import MemoryRows


def row_of(state: QueueState = QueueState.READY, **fields: object) -> QueueRow:
    return QueueRow("a,", state=state, **fields)  # type: ignore[arg-type]


# ---- what is counted of a queue


@pytest.mark.parametrize(
    ("row", "queued", "stuck"),
    [
        (row_of(size=5, waiting=2, retrying=3), 7, 3),
        (row_of(size=5, waiting=2, held=True), 7, 7),
        (row_of(size=0, waiting=0, held=True), 0, 0),
        (row_of(QueueState.RETIRED, size=5, waiting=2, why="operator"), 0, 0),
        (row_of(QueueState.RETIRED, size=5, endless=5, why=ENDLESS_LEFT), 0, 0),
        (row_of(QueueState.RETIRED, size=6, endless=5, waiting=2, retrying=3, why=ENDLESS_LEFT),
         3, 3),
    ],
)  # fmt: skip
def test_what_a_queue_adds_to_the_totals(row: QueueRow, queued: int, stuck: int) -> None:
    totals = Totals()
    totals.recount(row)
    assert (totals.queued, totals.stuck) == (queued, stuck)
    totals.recount(row)
    assert (totals.queued, totals.stuck) == (queued, stuck), "counted once"


def test_the_average_cost_counts_charges_that_cost_something_or_not() -> None:
    row = row_of(balance=10)
    for cost in (3, 0, 2):
        row.charge(cost)
    assert (row.balance, row.spent, row.last_cost) == (5, 5, 2)


def test_levels_are_kept_while_they_have_uris() -> None:
    row = row_of()
    assert row.lowest == 0
    for level, change in ((4, 1), (2, 1), (4, 1), (2, -1)):
        row.count_level(level, change)
    assert (row.levels, row.lowest) == ({4: 2}, 4)
    row.update_precedence(QueuePrecedence(policy="highest-uri", base=1))
    assert row.precedence == 5
    row.forget_levels()
    assert row.lowest == 0


def test_a_pace_leaves_what_it_does_not_say() -> None:
    row = row_of()
    row.set_pace(4.0, Backoff(2.0, 300.0), alone=True)
    row.set_pace(0.0, None, alone=None)
    assert (row.delay, row.backoff, row.latency, row.alone) == (4.0, 2.0, 300.0, True)
    row.set_pace(1.0, Backoff(1.0, 200.0), alone=False)
    assert (row.delay, row.backoff, row.latency, row.alone) == (1.0, 1.0, 200.0, False)


# ---- a queue in memory


def test_what_is_in_process_is_known_by_its_key() -> None:
    queue, other = Queue(row_of(size=3)), Queue(row_of())
    uri, robots = candidate("a", "0"), candidate("a", "robots.txt", path="LP")
    queue.hold(b"1", uri)
    queue.hold(b"2", robots)
    assert queue.taken == {b"1", b"2"}
    assert queue.prerequisites == {robots.key}
    blocked = queue.blocking
    assert not queue.has_others
    assert not other.taken, "the empty set that all share stays empty"
    queue.give_back(b"2", robots)
    queue.give_back(b"1", uri)
    assert (blocked, queue.blocking, len(queue.taken)) == (1, 0, 0)
    assert queue.row.size - len(queue.taken) == 3
    queue.hold(b"3", uri)
    assert not other.taken


def test_reading_begins_at_the_first_key_that_may_be_there() -> None:
    rows = MemoryRows()
    queue = Queue(row_of())
    keys = [queue_key(queue.identity, candidate("a", str(n)), n) for n in range(4)]
    for key in keys:
        rows.put("queue", key, b"x")
        queue.lower_head(key)
    assert queue.range == (keys[0], queue.identity + LAST_SUFFIX)
    queue.open(RowWindow(rows, "queue", *queue.range, 2), balance=9)
    window = queue.window
    assert window is not None
    assert queue.row.balance == 9
    first = window.pop(queue.taken)
    assert first is not None
    queue.hold(first[0], candidate("a", "0"))
    queue.settle_head()
    assert queue.range[0] == keys[0], "what is in process is there still"
    queue.give_back(first[0], candidate("a", "0"))
    rows.delete("queue", first[0])
    rows.delete("queue", keys[1])
    queue.read_again()
    second = window.pop(queue.taken)
    assert second is not None
    assert second[0] == keys[2]
    queue.close()
    assert queue.window is None
    assert queue.range[0] > keys[2]


def test_a_postponed_wake_is_never_earlier_and_not_stored() -> None:
    queue = Queue(row_of())
    queue.wait_until(5.0, 1005.0)
    queue.postpone(3.0)
    assert queue.wake == 5.0
    queue.postpone(8.0)
    assert (queue.wake, queue.row.wake) == (8.0, 1005.0)


def test_a_change_is_noted_once_until_the_row_is_written() -> None:
    queue = Queue(row_of())
    assert [queue.mark_changed(), queue.mark_changed()] == [True, False]
    assert queue.prepare_row(7).run == 7
    assert queue.mark_changed()


# ---- totals


@pytest.mark.parametrize(
    ("status", "guess", "counts"),
    [
        (200, False, (1, 0, 0)),
        (404, False, (1, 0, 0)),
        (-4, True, (0, 0, 1)),
        (-2, False, (0, 1, 0)),
        (-2, True, (0, 0, 1)),
        (-9998, False, (0, 0, 1)),
        (200, True, (1, 0, 0)),
    ],
)
def test_final_results_are_counted_and_taken_back(
    status: int, guess: bool, counts: tuple[int, int, int]
) -> None:
    totals = Totals()
    totals.finish(status, guess=guess)
    assert (totals.succeeded, totals.failed, totals.disregarded) == counts
    assert totals.finished == 1
    totals.take_back(status, guess=guess)
    assert (totals.succeeded, totals.failed, totals.disregarded, totals.finished) == (0, 0, 0, 0)


def test_a_queue_is_in_one_state() -> None:
    totals, row = Totals(), row_of(QueueState.EXHAUSTED)
    totals.states[QueueState.EXHAUSTED] = 1
    totals.enter(row, QueueState.READY)
    totals.enter(row, QueueState.READY)
    assert (row.state, totals.states[QueueState.READY], totals.queues) == (QueueState.READY, 1, 1)


def test_totals_are_read_as_they_were_written() -> None:
    rows = MemoryRows()
    assert read_totals(rows) == Totals()
    totals = Totals(ordinal=5, discovered=9)
    totals.begin_last_tries(50.0)
    totals.note_time(60.0)
    write_totals(rows, totals)
    again = read_totals(rows)
    assert again == totals
    again.begin_run()
    assert (again.run, again.last_since, again.time) == (1, None, 60.0)
    again.begin_last_tries(1.0)
    again.end_last_tries()
    assert again.last_since is None
