from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.frontier.choices import QueuePrecedence
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.listing import any_text
from nacre.frontier.policy import Retry
from nacre.frontier.queues import State
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from tests.frontier.making import NOW, candidate, drain, frontier
from tests.frontier.memory_rows import MemoryRows


def take(front: Frontier, mono: float = 0.0) -> CrawlURI:
    uri = front.next(NOW + mono, mono)
    assert uri is not None
    return uri


def change(front: Frontier, **settings: object) -> None:
    front.terms.settings.replace([FrontierSettings.model_validate(settings)])


def review(front: Frontier) -> None:
    while front.steering.step(2):
        pass


def state(front: Frontier, name: str) -> State:
    return State(front.rotation.find(name).row.state)


def test_retired_by_the_operator_stays_so_until_told() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate(host, "0") for host in "abc"], NOW)
    assert front.steering.retire(lambda name: name in ("a,", "b,")) == 2
    assert front.rotation.find("a,").row.why == "operator"
    assert front.totals.queued == 1
    assert drain(front) == ["http://c/0"]
    assert not any(front.steering.reconsider())
    assert state(front, "a,") is State.RETIRED
    assert front.steering.unretire(lambda name: name == "b,") == 1
    assert drain(front) == ["http://b/0"]
    assert front.steering.unretire() == 1
    assert drain(front) == ["http://a/0"]


def test_a_larger_budget_brings_queues_back_while_it_runs() -> None:
    front = frontier(MemoryRows(), FrontierSettings(queue_total_budget=2))
    front.schedule([candidate("a", str(n)) for n in range(5)], NOW)
    assert len(drain(front)) == 2
    assert front.rotation.find("a,").row.why == "budget"
    change(front, queue_total_budget=4)
    review(front)
    assert len(drain(front)) == 2
    assert state(front, "a,") is State.RETIRED
    assert front.totals.queued == 0


def test_a_floor_that_moves_is_felt_at_once() -> None:
    front = frontier(MemoryRows(), FrontierSettings(precedence_floor=9))
    front.schedule([candidate(host, str(n)) for host in "ab" for n in range(3)], NOW)
    uri = take(front)
    change(front, precedence_floor=3)
    review(front)
    assert front.totals.states[State.INELIGIBLE] == 1
    front.finished(uri, Attempt(200), 0.0)
    assert drain(front) == []
    assert front.totals.states[State.INELIGIBLE] == 2
    assert not front.is_empty
    change(front, precedence_floor=4)
    review(front)
    assert len(drain(front)) == 5


def test_queues_that_succeed_step_back() -> None:
    tiers = QueuePrecedence(policy="success-counts", increments=(2, 3))
    settings = FrontierSettings(queue_precedence=tiers, balance_replenish=1)
    front = frontier(MemoryRows(), settings)
    front.schedule([candidate("a", str(n)) for n in range(6)], NOW)
    front.schedule([candidate("b", str(n)) for n in range(2)], NOW)
    order = [url[7] for url in drain(front)]
    assert order == list("ababaaaa")
    row = front.rotation.find("a,").row
    assert (row.successes, row.precedence) == (6, 4)


def test_the_queue_with_the_most_urgent_uri_goes_first() -> None:
    choice = QueuePrecedence(policy="highest-uri", base=1)
    front = frontier(MemoryRows(), FrontierSettings(queue_precedence=choice))
    front.schedule([candidate("a", "5", precedence=5)], NOW)
    front.schedule([candidate("b", "4", precedence=4)], NOW)
    front.schedule([candidate("a", "2", precedence=2), candidate("c", "3", precedence=3)], NOW)
    assert front.rotation.find("a,").row.levels == {5: 1, 2: 1}
    assert [url[7:] for url in drain(front)] == ["a/2", "a/5", "c/3", "b/4"]
    assert front.rotation.find("a,").row.levels == {}


def test_precedences_are_counted_when_the_policy_comes_later() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "5", precedence=5), candidate("b", "2", precedence=2)], NOW)
    change(front, queue_precedence="highest-uri")
    review(front)
    assert [url[7:] for url in drain(front)] == ["b/2", "a/5"]


def test_a_retry_keeps_the_count_of_precedences() -> None:
    choice = QueuePrecedence(policy="highest-uri")
    front = frontier(MemoryRows(), FrontierSettings(queue_precedence=choice))
    front.schedule([candidate("a", "0", precedence=0)], NOW)
    uri = take(front)
    front.deferred(uri, candidate("a", "robots.txt", path="LP"), 0.0)
    assert front.rotation.find("a,").row.levels == {0: 2}
    robots = take(front)
    front.finished(robots, Attempt(200), 0.0)
    again = take(front)
    front.retry(again, Attempt(-2), Retry(NOW + 60), NOW, 0.0)
    assert front.rotation.find("a,").row.levels == {}
    front.finished(take(front, 100.0), Attempt(200), 100.0)
    assert front.is_empty


def test_wake_ends_snoozes_of_some() -> None:
    front = frontier(MemoryRows(), politeness=PolitenessSettings(delay=0))
    front.schedule([candidate(host, "0") for host in "ab"], NOW)
    for name in ("a,", "b,"):
        front.snooze(name, NOW + 500, NOW, 0.0)
    assert front.next(NOW, 0.0) is None
    assert front.steering.wake(lambda name: name == "a,", 1.0) == 1
    assert take(front, 1.0).url == "http://a/0"
    assert front.next(NOW + 1, 1.0) is None


def test_what_is_forgotten_may_enter_again() -> None:
    front = frontier(MemoryRows())
    known = candidate("a", "0")
    front.schedule([known], NOW)
    drain(front)
    assert front.schedule([known], NOW) == [False]
    assert front.steering.forget([known.key, b"?" * 16]) == 1
    assert front.schedule([known], NOW) == [True]


def test_a_uri_moves_to_the_queue_it_belongs_to() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", str(n)) for n in range(3)], NOW)
    front.schedule([candidate("b", str(n)) for n in range(3)], NOW)
    front.handout.assign = lambda _uri: "one,"
    first = take(front)
    assert first.queue == "one,"
    assert front.next(NOW, 0.0) is None or front.totals.queued == 6
    front.finished(first, Attempt(200), 0.0)
    assert len(drain(front)) == 5
    assert front.totals.queued == 0
    assert front.is_empty
    assert state(front, "a,") is State.EXHAUSTED


def test_a_prerequisite_stays_with_what_needs_it() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0")], NOW)
    uri = take(front)
    front.deferred(uri, candidate("a", "dns", path="LP"), 0.0)
    front.handout.assign = lambda _uri: "192.0.2.1"
    dns = take(front)
    assert dns.queue == "a,"
    front.finished(dns, Attempt(1), 0.0)
    assert take(front).queue == "192.0.2.1"


def test_steering_of_a_new_frontier_has_nothing_to_do() -> None:
    front = Frontier(MemoryRows(), fixed(FrontierSettings()), fixed(PolitenessSettings()), NOW, 0.0)
    assert not front.steering.step(10)
    assert front.steering.retire(any_text) == 0


def test_another_order_after_a_restart_is_found_out() -> None:
    rows = MemoryRows()
    front = frontier(rows, FrontierSettings(precedence_floor=3))
    front.schedule([candidate("a", "0")], NOW)
    front.save()
    rows.commit()
    assert front.next(NOW, 0.0) is None
    front = frontier(rows.reopen(), FrontierSettings(precedence_floor=3))
    assert not front.steering.step(10)
    front = frontier(rows.reopen(), FrontierSettings())
    review(front)
    assert front.totals.states[State.INACTIVE] == 1
    assert front.totals.states[State.INELIGIBLE] == 0
