from nacre.config.effective import Effective, fixed
from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import Retry
from nacre.frontier.queues import ENDLESS_LEFT, QueueState
from nacre.frontier.settings import FrontierSettings, TrapSettings
from tests.frontier import making
from tests.frontier.making import NOW, QUICK, Moved, candidate, drain
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
    assert front.traps.begin_round()
    assert drain(front) == [f"http://a/e{n}" for n in range(5)]
    assert not front.traps.begin_round()
    assert front.is_empty
    assert front.totals.endless == 15
    assert not front.traps.others_rest


def test_none_go_with_a_budget_of_nothing() -> None:
    front = filled(0)
    drain(front)
    assert not front.traps.begin_round()


def test_without_a_limit_all_go_in_rounds() -> None:
    front = filled(-1)
    drain(front)
    rounds = 0
    while front.traps.begin_round():
        assert 0 < len(drain(front)) <= 10
        rounds += 1
    assert rounds == 2
    assert front.totals.endless == 0


def test_what_else_enters_brings_the_queue_back() -> None:
    front = filled()
    drain(front)
    assert front.queue_states.find("a,").row.why == ENDLESS_LEFT
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
    assert front.queue_states.find("a,").row.state is QueueState.RETIRED
    assert front.totals.queued == 1
    assert front.only_retries_remain
    assert drain(front, 61.0) == ["http://a/flaky"]
    assert front.is_empty


def test_an_endless_url_that_fails_is_retried_like_others() -> None:
    front = frontier(MemoryRows())
    front.schedule([endless("a", "e1"), endless("a", "e2")], NOW)
    assert front.next(NOW, 0.0) is None
    assert front.traps.begin_round()
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
    front.traps.begin_round()
    assert len(drain(front)) == 5
    front.save()
    again = frontier(rows, budget=7)
    again.operator.unretire(all_of_them=False)
    assert again.next(NOW, 1.0) is None
    assert again.traps.begin_round()
    assert len(drain(again, 1.0)) == 2


def test_a_uri_that_promises_less_by_now_waits_where_it_belongs() -> None:
    placement = Moved(directives={"0": Directive.POOR, "1": Directive.POOR})
    front = making.frontier(MemoryRows(), placement=placement)
    front.schedule([candidate("a", str(n)) for n in range(4)], NOW)
    assert [url[-1] for url in drain(front)] == ["2", "3", "0", "1"]


def test_a_retry_that_moves_to_another_queue_is_counted_there() -> None:
    placement = Moved()
    front = making.frontier(MemoryRows(), placement=placement)
    front.schedule([candidate("a", "0"), candidate("a", "1")], NOW)
    uri = front.next(NOW, 0.0)
    assert uri is not None
    front.retry(uri, Attempt(-2), Retry(NOW + 60.0), NOW, 0.0)
    placement.queue = "one,"
    assert len(drain(front)) == 2
    old, new = (front.queue_states.find(name).row for name in ("a,", "one,"))
    assert (old.size, old.retrying, old.state) == (0, 0, QueueState.EXHAUSTED)
    assert (new.size, new.retrying, new.successes) == (0, 0, 2)
    assert front.is_empty
    assert front.totals.stuck == 0


def test_a_queue_with_fewer_rows_than_it_counts_believes_the_rows() -> None:
    rows = MemoryRows()
    front = making.frontier(rows)
    front.schedule([candidate("a", str(n)) for n in range(3)], NOW)
    for key, _ in list(rows.scan("queue", b""))[1:]:
        rows.delete("queue", key)
    assert drain(front) == ["http://a/0"]
    row = front.queue_states.find("a,").row
    assert (row.size, row.state) == (0, QueueState.EXHAUSTED)
    assert front.is_empty
    front.schedule([candidate("a", "new")], NOW)
    assert drain(front) == ["http://a/new"]


class Sheets:
    """The sheet 1 for URLs that end with `x`."""

    def of(self, uri: CrawlURI) -> int:
        return self.of_url(uri.url)

    def of_url(self, url: str) -> int:
        return int(url.endswith("x"))


def test_a_uri_goes_by_the_budget_of_its_own_sheet() -> None:
    settings = Effective((FrontierSettings(), FrontierSettings(queue_total_budget=1)))
    quick = Effective((QUICK, QUICK))
    front = Frontier(MemoryRows(), settings, quick, NOW, 0.0, chooser=Sheets())
    names = ("0", "1", "2x", "3")
    front.schedule([candidate("a", name) for name in names], NOW)
    assert drain(front) == ["http://a/0", "http://a/1"]
    row = front.queue_states.find("a,").row
    assert (row.state, row.size) == (QueueState.RETIRED, 2)
    assert list(front.operator.delete(lambda url: url.endswith("x")))
    front.schedule([candidate("a", "4")], NOW)
    front.unretire()
    assert drain(front) == ["http://a/3", "http://a/4"]


def test_the_budget_of_endless_urls_is_counted_over_all_rounds() -> None:
    front = filled(budget=13)
    drain(front)
    assert front.traps.begin_round()
    assert len(drain(front)) == 10
    assert front.traps.begin_round()
    assert len(drain(front)) == 3
    assert not front.traps.begin_round()
    assert front.queue_states.find("a,").row.trapped == 13


def test_a_queue_that_rests_for_another_reason_is_known() -> None:
    front = filled()
    drain(front)
    before = front.traps.others_rest
    front.retire("b,")
    assert (before, front.traps.others_rest) == (False, True)
    assert front.traps.begin_round()
    assert front.queue_states.find("b,").row.state is QueueState.RETIRED


def test_a_queue_that_the_operator_retired_meanwhile_takes_no_part_in_a_round() -> None:
    front = filled()
    drain(front)
    front.unretire(["a,"])
    front.retire("a,")
    assert not front.traps.begin_round()
