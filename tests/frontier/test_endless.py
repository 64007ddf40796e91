from msgspec.structs import replace

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import Retry
from nacre.frontier.queues import ENDLESS_LEFT, State
from nacre.frontier.settings import FrontierSettings, TrapSettings
from tests.frontier.making import NOW, QUICK, candidate, drain
from tests.frontier.memory_rows import MemoryRows


def endless(host: str, name: str) -> CrawlURI:
    return candidate(host, name, directive=int(Directive.ENDLESS))


def frontier(rows: MemoryRows, budget: int = 5) -> Frontier:
    settings = fixed(FrontierSettings())
    traps = fixed(TrapSettings(budget=budget))
    return Frontier(rows, settings, fixed(QUICK), NOW, 0.0, traps=traps)


def filled(budget: int = 5) -> Frontier:
    front = frontier(MemoryRows(), budget)
    front.schedule([endless("a", f"e{n}") for n in range(20)], NOW)
    front.schedule([candidate("a", "page"), candidate("b", "page")], NOW)
    return front


def test_they_go_when_nothing_else_is_left_and_only_so_many() -> None:
    front = filled()
    assert {url[-4:] for url in drain(front)} == {"page"}
    assert front.is_empty
    assert front.totals.endless == 20
    assert front.endless.begin_round()
    assert drain(front) == [f"http://a/e{n}" for n in range(5)]
    assert not front.endless.begin_round()
    assert front.is_empty
    assert front.totals.endless == 15
    assert not front.endless.others_rest


def test_none_go_with_a_budget_of_nothing() -> None:
    front = filled(0)
    drain(front)
    assert not front.endless.begin_round()


def test_without_a_limit_all_go_in_rounds() -> None:
    front = filled(-1)
    drain(front)
    rounds = 0
    while front.endless.begin_round():
        assert 0 < len(drain(front)) <= 10
        rounds += 1
    assert rounds == 2
    assert front.totals.endless == 0


def test_what_else_enters_brings_the_queue_back() -> None:
    front = filled()
    drain(front)
    assert front.rotation.find("a,").row.why == ENDLESS_LEFT
    front.schedule([candidate("a", "late")], NOW)
    assert front.totals.queued
    assert drain(front) == ["http://a/late"]
    assert not front.totals.queued
    front.schedule([endless("a", "another")], NOW)
    assert not front.totals.queued


def test_a_retry_of_a_resting_queue_still_counts() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "flaky"), endless("a", "e")], NOW)
    uri = front.next(NOW, 0.0)
    assert uri is not None
    front.retry(uri, Attempt(-2), Retry(NOW + 60.0), NOW, 0.0)
    assert front.next(NOW, 0.0) is None
    assert front.rotation.find("a,").row.state is State.RETIRED
    assert front.totals.queued == 1
    assert front.only_retries_remain
    assert drain(front, 61.0) == ["http://a/flaky"]
    assert front.is_empty


def test_an_endless_url_that_fails_is_retried_like_others() -> None:
    front = frontier(MemoryRows())
    front.schedule([endless("a", "e1"), endless("a", "e2")], NOW)
    assert front.next(NOW, 0.0) is None
    assert front.endless.begin_round()
    uri = front.next(NOW, 0.0)
    assert uri is not None
    front.retry(uri, Attempt(-2), Retry(NOW + 60.0), NOW, 0.0)
    assert set(drain(front, 1.0)) == {"http://a/e1", "http://a/e2"}
    assert front.is_empty
    assert front.totals.endless == 0


def test_a_start_counts_what_was_visited_before() -> None:
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([endless("a", f"e{n}") for n in range(9)], NOW)
    assert front.next(NOW, 0.0) is None
    front.endless.begin_round()
    assert len(drain(front)) == 5
    front.save()
    again = frontier(rows, budget=7)
    again.steering.unretire(all_of_them=False)
    assert again.next(NOW, 1.0) is None
    assert again.endless.begin_round()
    assert len(drain(again, 1.0)) == 2


def test_a_uri_that_promises_less_by_now_waits_where_it_belongs() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", str(n)) for n in range(4)], NOW)
    front.handout.place = lambda uri: (
        replace(uri, directive=int(Directive.POOR))
        if uri.url.endswith(("0", "1")) and uri.directive < Directive.POOR
        else uri
    )
    assert [url[-1] for url in drain(front)] == ["2", "3", "0", "1"]
