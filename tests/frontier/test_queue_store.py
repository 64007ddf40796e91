"""Queued URIs in the store: those in queues, and those that wait for their time."""

import pytest

from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import Retry, RetryKind
from nacre.frontier.queue_store import STEPS, again, fresh
from nacre.frontier.queues import QueueState
from tests.frontier.making import NOW, candidate, drain, frontier
from tests.frontier.memory_rows import MemoryRows


def take(front: Frontier, mono: float = 0.0) -> CrawlURI:
    uri = front.next(NOW + mono, mono)
    assert uri is not None
    return uri


def planned(number: int, wait: float = 100.0) -> tuple[MemoryRows, Frontier]:
    rows = MemoryRows()
    front = frontier(rows)
    uris = [candidate("a", str(n), not_before=NOW + wait + n) for n in range(number)]
    front.schedule(uris, NOW)
    return rows, front


@pytest.mark.parametrize(
    ("kind", "counts"),
    [
        (RetryKind.UNREACHABLE, (0, 0, 0)),
        (RetryKind.THROTTLED, (1, 0, 0)),
        (RetryKind.TRUNCATED, (0, 1, 0)),
        (RetryKind.STARVED, (0, 0, 1)),
    ],
)
def test_tries_are_counted_by_their_kind(kind: RetryKind, counts: tuple[int, int, int]) -> None:
    uri = again(candidate("a", "0", not_before=5.0), -2, kind, "reset")
    assert (uri.attempts, uri.last_status, uri.last_error, uri.not_before) == (1, -2, "reset", 0.0)
    assert (uri.throttled, uri.truncated, uri.starved) == counts
    new = fresh(again(uri, -2, kind), 7)
    assert (new.attempts, new.throttled, new.truncated, new.starved) == (0, 0, 0, 0)
    assert (new.last_error, new.ordinal) == ("", 7)


def test_planned_uris_come_when_their_time_has_come() -> None:
    rows, front = planned(3)
    assert (front.totals.planned, front.totals.queued) == (3, 0)
    assert front.next(NOW, 99.9) is None
    assert front.next_wake(99.9) == pytest.approx(0.1, abs=0.002)
    assert take(front, 100.1).url == "http://a/0"
    assert (front.totals.planned, front.totals.queued) == (2, 1)
    assert len(list(rows.scan("future", b""))) == 2


def test_few_rows_are_moved_in_one_call() -> None:
    rows, front = planned(STEPS + 10, wait=1.0)
    take(front, 500.0)
    assert len(list(rows.scan("future", b""))) == 10
    front.next(NOW + 500, 500.0)
    assert not list(rows.scan("future", b""))


def test_what_is_deleted_while_it_waits_does_not_come() -> None:
    rows, front = planned(3)
    assert front.next_wake(0.0) == pytest.approx(100.0, abs=0.002)
    gone = list(front.operator.delete(lambda url: url.endswith("0")))
    assert [removed.uri.url for removed in gone] == ["http://a/0"]
    assert (front.totals.planned, front.totals.disregarded) == (2, 1)
    assert front.next(NOW, 100.5) is None
    assert take(front, 101.5).url == "http://a/1"
    assert len(list(rows.scan("future", b""))) == 1


def test_what_is_in_process_is_not_removed() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0"), candidate("a", "1")], NOW)
    held = take(front)
    assert [one.uri.url for one in front.operator.delete()] == ["http://a/1"]
    front.finished(held, Attempt(200), 0.0)
    assert front.is_empty


def test_a_deleted_prerequisite_lets_its_queue_go_on() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0")], NOW)
    robots = candidate("a", "robots.txt", path="LP")
    front.deferred(take(front), robots, 0.0)
    front.retry(take(front), Attempt(-2), Retry(NOW + 50, hold=True), NOW, 0.0)
    row = front.queue_states.find("a,").row
    before = row.held
    assert list(front.operator.delete(lambda url: url.endswith("robots.txt")))
    assert (before, row.held) == (True, False)
    front.operator.wake(lambda name: True, 1.0)
    uri = take(front, 1.0)
    assert uri.url == "http://a/0"
    assert front.deferred(uri, robots, 1.0) is not None, "it may be asked for again"


def test_endless_uris_are_counted_as_they_come_and_go() -> None:
    front = frontier(MemoryRows())
    uris = [candidate("a", str(n), directive=int(Directive.ENDLESS)) for n in range(3)]
    front.schedule([*uris, candidate("a", "page")], NOW)
    assert (front.totals.endless, front.queue_states.find("a,").row.endless) == (3, 3)
    list(front.operator.delete(lambda url: url.endswith("1")))
    assert (front.totals.endless, front.queue_states.find("a,").row.endless) == (2, 2)
    assert drain(front) == ["http://a/page"]


def test_retries_are_pulled_forward_at_the_end_and_planned_visits_are_not() -> None:
    rows = MemoryRows()
    front = frontier(rows)
    number = STEPS + 6
    front.schedule([candidate("a", str(n)) for n in range(number)], NOW)
    for _ in range(number):
        front.retry(take(front), Attempt(-2), Retry(NOW + 900), NOW, 0.0)
    store = front.queue_store
    store.pull()
    seen = [store.pulling]
    for _ in range(3):
        store.pull_some()
        seen.append(store.pulling)
    assert seen == [True, True, False, False]
    assert not list(rows.scan("future", b""))
    assert front.queue_states.find("a,").row.size == number
    _, other = planned(2)
    other.queue_store.pull()
    other.queue_store.pull_some()
    assert other.totals.planned == 2


def test_a_queue_whose_last_uri_is_deleted_is_exhausted() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0")], NOW)
    assert list(front.operator.delete())
    assert front.queue_states.find("a,").row.state is QueueState.EXHAUSTED
    assert front.is_empty
