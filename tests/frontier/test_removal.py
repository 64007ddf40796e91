from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import Retry
from nacre.frontier.queues import State
from tests.frontier.making import NOW, candidate, drain, frontier
from tests.frontier.memory_rows import MemoryRows


def filled(rows: MemoryRows, each: int = 100) -> Frontier:
    front = frontier(rows)
    front.schedule([candidate(host, str(n)) for n in range(each) for host in "ab"], NOW)
    return front


def test_deletes_from_a_running_frontier() -> None:
    rows = MemoryRows()
    front = filled(rows)
    held = front.next(NOW, 0)
    assert held is not None
    bad = front.next(NOW, 0)
    assert bad is not None
    front.retry(bad, Attempt(-2), Retry(NOW + 60), NOW, 0)
    gone = list(front.removal.delete(lambda url: not url.endswith("5")))
    assert {r.status for r in gone} == {-6000}
    assert len(gone) == 200 - 20 - 1
    assert bad.url in {r.uri.url for r in gone}
    assert (front.totals.disregarded, front.totals.queued, front.totals.stuck) == (179, 21, 0)
    front.finished(held, Attempt(200), 0)
    assert sorted(drain(front)) == sorted(
        f"http://{host}/{n}" for host in "ab" for n in range(5, 100, 10)
    )
    assert front.is_empty
    assert not list(rows.scan("queue", b"")) + list(rows.scan("future", b""))


def test_deletes_whole_queues() -> None:
    front = filled(MemoryRows())
    assert len(list(front.removal.delete(queues=lambda name: name == "a,"))) == 100
    assert front.totals.states[State.EXHAUSTED] == 1
    assert all(url.startswith("http://b/") for url in drain(front))
    front.schedule([candidate("a", "new")], NOW)
    assert drain(front) == ["http://a/new"]


def test_deletes_while_others_enter_and_leave() -> None:
    front = filled(MemoryRows())
    removed = front.removal.delete()
    first = next(removed)
    uri = front.next(NOW, 0)
    assert uri is not None
    assert uri.url != first.uri.url
    front.schedule([candidate("c", "0")], NOW)
    rest = list(removed)
    front.finished(uri, Attempt(200), 0)
    assert 1 + len(rest) + 1 + len(drain(front)) == 201


def test_the_last_retries_are_hurried_and_then_given_up() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", str(n)) for n in range(3)], NOW)
    for _ in range(2):
        uri = front.next(NOW, 0)
        assert uri is not None
        front.retry(uri, Attempt(-2), Retry(NOW + 900), NOW, 0)
    assert front.totals.stuck == 2
    last = front.next(NOW, 0)
    assert last is not None
    front.retry(last, Attempt(-2), Retry(NOW + 900), NOW, 0)
    assert front.only_retries_remain
    assert front.next_wake(10) == 0
    tries = 0
    mono = 10.0
    while mono < 610:
        uri = front.next(NOW + mono, mono)
        assert not list(front.removal.abandon())
        if uri is None:
            wait = front.next_wake(mono)
            assert wait is not None
            mono += max(wait, 0.001)
            continue
        tries += 1
        assert front.last_since(NOW + mono) == NOW + 10
        front.retry(uri, Attempt(-2), Retry(NOW + mono + 200), NOW + mono, mono)
    assert tries == 9
    front.next_wake(mono)
    gone = list(front.removal.abandon())
    assert [r.status for r in gone] == [-2] * 3
    assert front.is_empty
    assert front.totals.failed == 3
    assert front.next(NOW + mono, mono) is None
    assert front.next_wake(mono) is None


def test_a_new_uri_ends_the_hurry() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", "0")], NOW)
    uri = front.next(NOW, 0)
    assert uri is not None
    front.retry(uri, Attempt(-2), Retry(NOW + 900), NOW, 0)
    assert front.next_wake(0) == 0
    assert front.last_since(NOW) == NOW
    front.schedule([candidate("alive", "0")], NOW)
    front.next_wake(1)
    assert front.last_since(NOW) is None


def test_no_hurry_while_visits_are_planned() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", "0"), candidate("b", "0", not_before=NOW + 86400)], NOW)
    uri = front.next(NOW, 0)
    assert uri is not None
    front.retry(uri, Attempt(-2), Retry(NOW + 900), NOW, 0)
    assert front.next_wake(0) == 900
    assert front.last_since(NOW) is None
    assert not list(front.removal.abandon())


def test_what_waits_behind_a_dead_robots_txt_is_given_up_as_such() -> None:
    front = filled(MemoryRows(), 2)
    for _ in range(2):
        uri = front.next(NOW, 0)
        assert uri is not None
        front.deferred(uri, candidate(uri.queue[0], "robots.txt", path="LP"), 0)
        robots = front.next(NOW, 0)
        assert robots is not None
        assert robots.is_prerequisite
        front.retry(robots, Attempt(-2), Retry(NOW + 900, hold=True), NOW, 0)
    assert front.only_retries_remain
    front.next_wake(0)
    front.next_wake(600)
    assert sorted(r.status for r in front.removal.abandon()) == [-61] * 4 + [-2] * 2
    assert front.is_empty
