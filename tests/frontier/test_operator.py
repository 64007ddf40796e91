import pytest

from nacre.config.effective import Effective, fixed
from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.operator import why_it_waits
from nacre.frontier.policy import Backoff, DelayCause, Retry
from nacre.frontier.queues import QueueRow, QueueState
from nacre.frontier.settings import FrontierSettings, PolitenessSettings, QueuePrecedence
from nacre.scope.patterns.matching import any_text
from tests.frontier.making import NOW, Moved, candidate, drain, frontier
from tests.frontier.memory_rows import MemoryRows


def take(front: Frontier, mono: float = 0.0) -> CrawlURI:
    uri = front.next(NOW + mono, mono)
    assert uri is not None
    return uri


def change(front: Frontier, **settings: object) -> None:
    front.queue_states.settings.frontier.replace([FrontierSettings.model_validate(settings)])


def review(front: Frontier) -> None:
    while front.operator.step(2):
        pass


def state(front: Frontier, name: str) -> QueueState:
    return QueueState(front.queue_states.find(name).row.state)


def test_retired_by_the_operator_stays_so_until_told() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate(host, "0") for host in "abc"], NOW)
    assert front.operator.retire(lambda name: name in ("a,", "b,")) == 2
    assert front.queue_states.find("a,").row.why == "operator"
    assert front.totals.queued == 1
    assert drain(front) == ["http://c/0"]
    assert not any(front.operator.reconsider())
    assert state(front, "a,") is QueueState.RETIRED
    assert front.operator.unretire(lambda name: name == "b,") == 1
    assert drain(front) == ["http://b/0"]
    assert front.operator.unretire() == 1
    assert drain(front) == ["http://a/0"]


def test_a_larger_budget_brings_queues_back_while_it_runs() -> None:
    front = frontier(MemoryRows(), FrontierSettings(queue_total_budget=2))
    front.schedule([candidate("a", str(n)) for n in range(5)], NOW)
    assert len(drain(front)) == 2
    assert front.queue_states.find("a,").row.why == "budget"
    change(front, queue_total_budget=4)
    review(front)
    assert len(drain(front)) == 2
    assert state(front, "a,") is QueueState.RETIRED
    assert front.totals.queued == 0


def test_a_floor_that_moves_is_felt_at_once() -> None:
    front = frontier(MemoryRows(), FrontierSettings(precedence_floor=9))
    front.schedule([candidate(host, str(n)) for host in "ab" for n in range(3)], NOW)
    uri = take(front)
    change(front, precedence_floor=3)
    review(front)
    assert front.totals.states[QueueState.INELIGIBLE] == 1
    front.finished(uri, Attempt(200), 0.0)
    assert drain(front) == []
    assert front.totals.states[QueueState.INELIGIBLE] == 2
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
    row = front.queue_states.find("a,").row
    assert (row.successes, row.precedence) == (6, 4)


def test_the_queue_with_the_most_urgent_uri_goes_first() -> None:
    choice = QueuePrecedence(policy="highest-uri", base=1)
    front = frontier(MemoryRows(), FrontierSettings(queue_precedence=choice))
    front.schedule([candidate("a", "5", precedence=5)], NOW)
    front.schedule([candidate("b", "4", precedence=4)], NOW)
    front.schedule([candidate("a", "2", precedence=2), candidate("c", "3", precedence=3)], NOW)
    assert front.queue_states.find("a,").row.levels == {5: 1, 2: 1}
    assert [url[7:] for url in drain(front)] == ["a/2", "a/5", "c/3", "b/4"]
    assert front.queue_states.find("a,").row.levels == {}


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
    assert front.queue_states.find("a,").row.levels == {0: 2}
    robots = take(front)
    front.finished(robots, Attempt(200), 0.0)
    again = take(front)
    front.retry(again, Attempt(-2), Retry(NOW + 60), NOW, 0.0)
    assert front.queue_states.find("a,").row.levels == {}
    front.finished(take(front, 100.0), Attempt(200), 100.0)
    assert front.is_empty


def test_wake_ends_snoozes_of_some() -> None:
    front = frontier(MemoryRows(), politeness=PolitenessSettings(delay=0))
    front.schedule([candidate(host, "0") for host in "ab"], NOW)
    for name in ("a,", "b,"):
        front.snooze(name, NOW + 500, NOW, 0.0)
    assert front.next(NOW, 0.0) is None
    assert front.operator.wake(lambda name: name == "a,", 1.0) == 1
    assert take(front, 1.0).url == "http://a/0"
    assert front.next(NOW + 1, 1.0) is None


def test_what_is_forgotten_may_enter_again() -> None:
    front = frontier(MemoryRows())
    known = candidate("a", "0")
    front.schedule([known], NOW)
    drain(front)
    assert front.schedule([known], NOW) == [False]
    assert front.operator.forget([known.key, b"?" * 16]) == 1
    assert front.schedule([known], NOW) == [True]


def test_a_uri_moves_to_the_queue_it_belongs_to() -> None:
    front = frontier(MemoryRows(), placement=Moved("one,"))
    front.schedule([candidate("a", str(n)) for n in range(3)], NOW)
    front.schedule([candidate("b", str(n)) for n in range(3)], NOW)
    first = take(front)
    assert first.queue == "one,"
    assert front.next(NOW, 0.0) is None or front.totals.queued == 6
    front.finished(first, Attempt(200), 0.0)
    assert len(drain(front)) == 5
    assert front.totals.queued == 0
    assert front.is_empty
    assert state(front, "a,") is QueueState.EXHAUSTED


def test_a_prerequisite_stays_with_what_needs_it() -> None:
    placement = Moved()
    front = frontier(MemoryRows(), placement=placement)
    front.schedule([candidate("a", "0")], NOW)
    uri = take(front)
    front.deferred(uri, candidate("a", "dns", path="LP"), 0.0)
    placement.queue = "192.0.2.1"
    dns = take(front)
    assert dns.queue == "a,"
    front.finished(dns, Attempt(1), 0.0)
    assert take(front).queue == "192.0.2.1"


def test_steering_of_a_new_frontier_has_nothing_to_do() -> None:
    front = Frontier(MemoryRows(), fixed(FrontierSettings()), fixed(PolitenessSettings()), NOW, 0.0)
    assert not front.operator.step(10)
    assert front.operator.retire(any_text) == 0


def test_another_order_after_a_restart_is_found_out() -> None:
    rows = MemoryRows()
    front = frontier(rows, FrontierSettings(precedence_floor=3))
    front.schedule([candidate("a", "0")], NOW)
    front.save()
    rows.commit()
    assert front.next(NOW, 0.0) is None
    front = frontier(rows.reopen(), FrontierSettings(precedence_floor=3))
    assert not front.operator.step(10)
    front = frontier(rows.reopen(), FrontierSettings())
    review(front)
    assert front.totals.states[QueueState.INACTIVE] == 1
    assert front.totals.states[QueueState.INELIGIBLE] == 0


@pytest.mark.parametrize(
    ("row", "settings", "wait", "says"),
    [
        (QueueRow("a", state=QueueState.READY), {}, None, ""),
        (QueueRow("a", state=QueueState.IN_PROCESS), {}, None, ""),
        (QueueRow("a", state=QueueState.EXHAUSTED), {}, None, "it is empty"),
        (QueueRow("a", state=QueueState.EXHAUSTED, waiting=2), {}, None, "2 of its URIs wait"),
        (QueueRow("a", state=QueueState.INACTIVE), {}, None, "its turn among the queues of preced"),
        (QueueRow("a", 9, QueueState.INELIGIBLE), {"precedence_floor": 9}, None, "floor of 9"),
        (QueueRow("a", state=QueueState.SNOOZED), {}, 2.0, "its politeness delay for 2.0 s more"),
        (QueueRow("a", state=QueueState.SNOOZED, backoff=2.0), {}, None, "backoff_up_to"),
        (QueueRow("a", state=QueueState.SNOOZED, cause="slow"), {}, 9.0, "politeness.max_delay"),
        (QueueRow("a", state=QueueState.SNOOZED, held=True), {}, None, "robots.txt or dns:"),
        (QueueRow("a", state=QueueState.RETIRED, why="operator"), {}, None, "unretire"),
        (
            QueueRow("a", state=QueueState.RETIRED, why="Q:hostMaxAllKb"),
            {},
            None,
            "(Q:hostMaxAllKb)",
        ),
        (
            QueueRow("a", state=QueueState.RETIRED, why="budget", spent=7),
            {"queue_total_budget": 5},
            None,
            "spent 7 of its budget of 5",
        ),
        (
            QueueRow("a", state=QueueState.RETIRED, why="budget"),
            {"force_retire": True},
            None,
            "force_re",
        ),
    ],
)
def test_reasons(row: QueueRow, settings: dict[str, object], wait: float | None, says: str) -> None:
    text = why_it_waits(row, FrontierSettings.model_validate(settings), wait)
    assert says in text
    assert bool(says) == bool(text)


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
    gone = list(front.operator.delete(lambda url: not url.endswith("5")))
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
    assert len(list(front.operator.delete(queues=lambda name: name == "a,"))) == 100
    assert front.totals.states[QueueState.EXHAUSTED] == 1
    assert all(url.startswith("http://b/") for url in drain(front))
    front.schedule([candidate("a", "new")], NOW)
    assert drain(front) == ["http://a/new"]


def test_deletes_while_others_enter_and_leave() -> None:
    front = filled(MemoryRows())
    removed = front.operator.delete()
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
        assert not list(front.last_tries.abandon())
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
    gone = list(front.last_tries.abandon())
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
    assert not list(front.last_tries.abandon())


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
    assert sorted(r.status for r in front.last_tries.abandon()) == [-61] * 4 + [-2] * 2
    assert front.is_empty


# ---- new settings


def paced(delay: float, **attempt: object) -> Frontier:
    """A queue whose URI came back at 0, and which waits `delay` seconds."""
    front = frontier(MemoryRows(), politeness=PolitenessSettings(delay=delay))
    front.schedule([candidate("a", str(n)) for n in range(3)], NOW)
    front.finished(take(front), Attempt(200, delay, **attempt), 0.0)  # type: ignore[arg-type]
    return front


def apply(front: Frontier, mono: float, **politeness: object) -> None:
    made = PolitenessSettings.model_validate(politeness)
    front.queue_states.settings.politeness.replace([made])
    front.operator.apply_settings(mono)


@pytest.mark.parametrize(
    ("before", "politeness", "wait"),
    [
        (10.0, {"delay": 4}, 4.0),
        (10.0, {"delay": 30}, 30.0),
        (10.0, {"delay": 10}, 10.0),
        (10.0, {"min_delay": 20}, 20.0),
        (10.0, {"min_delay": 1, "max_delay": 5}, 5.0),
        (10.0, {"min_delay": 1, "max_delay": 50}, 10.0),
        (500.0, {"delay": 40}, 40.0),  # it waits in the store
        (10.0, {"delay": 400}, 400.0),
    ],
)
def test_a_delay_that_runs_is_as_long_as_the_new_settings_say(
    before: float, politeness: dict[str, float], wait: float
) -> None:
    front = paced(before)
    apply(front, 2.0, **politeness)
    assert front.next(NOW, wait - 0.1) is None
    assert take(front, wait + 0.1).url == "http://a/1"


def test_a_delay_that_would_be_over_by_now_is_over() -> None:
    front = paced(10.0)
    apply(front, 6.0, delay=4)
    assert take(front, 6.0).url == "http://a/1"


@pytest.mark.parametrize("attempt", [{"alone": True}, {"backoff": Backoff(2.0, 0.0)}])
def test_a_delay_that_the_site_asked_for_is_only_made_longer(attempt: dict[str, object]) -> None:
    front = paced(10.0, **attempt)
    apply(front, 2.0, delay=4)
    assert front.next(NOW, 9.9) is None
    apply(front, 9.9, delay=15)
    assert front.next(NOW, 14.9) is None
    take(front, 15.1)


def test_a_delay_of_slow_replies_is_shortened_with_its_limit() -> None:
    front = paced(25.0, backoff=Backoff(1.0, 0.0, 4.0), cause=DelayCause.SLOW)
    apply(front, 2.0, max_delay=8)
    row = front.queue_states.find("a,").row
    assert (row.delay, row.cause) == (8.0, "slow")
    apply(front, 3.0, delay=5)
    assert (row.delay, row.cause) == (5.0, "fixed")


def test_the_wait_of_a_retry_is_no_delay() -> None:
    front = paced(10.0)
    front.snooze("a,", NOW + 50, NOW, 1.0)
    apply(front, 2.0, delay=4)
    assert front.next(NOW, 50.9) is None
    take(front, 51.1)


def test_a_queue_that_was_never_fetched_from_has_no_delay_to_change() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0")], NOW)
    apply(front, 2.0, delay=400)
    assert take(front, 2.0).url == "http://a/0"


def test_new_settings_bring_back_what_the_operator_did_not_retire() -> None:
    front = frontier(MemoryRows(), FrontierSettings(queue_total_budget=1))
    front.schedule([candidate(host, str(n)) for host in "ab" for n in range(2)], NOW)
    assert len(drain(front)) == 2
    front.operator.unretire(lambda name: name == "b,")
    front.operator.retire(lambda name: name == "b,")
    front.queue_states.settings.frontier.replace([FrontierSettings()])
    front.operator.apply_settings(0.0)
    assert drain(front) == ["http://a/1"]


class Sheets:
    """The sheet 1 for URLs that end with one of some letters."""

    def __init__(self, letters: str) -> None:
        self.letters = letters

    def of(self, uri: CrawlURI) -> int:
        return self.of_url(uri.url)

    def of_url(self, url: str) -> int:
        return int(url[-1:] in self.letters)


def under_sheets(letters: str, **sheet: object) -> tuple[Frontier, Sheets]:
    chooser = Sheets(letters)
    settings = Effective((FrontierSettings(), FrontierSettings.model_validate(sheet)))
    polite = PolitenessSettings(delay=0)
    politeness = Effective((polite, polite))
    return Frontier(MemoryRows(), settings, politeness, NOW, 0.0, chooser=chooser), chooser


def test_a_sheet_that_a_queue_gets_changes_its_place() -> None:
    front, chooser = under_sheets("", queue_precedence=1)
    front.schedule([candidate(host, "0") for host in "abc"], NOW)
    chooser.letters = "0"
    assert list(front.operator.reconsider(lambda name: name == "b,")) == [True]
    assert list(front.operator.reconsider(lambda name: name == "b,")) == [False]
    assert drain(front) == ["http://b/0", "http://a/0", "http://c/0"]


def test_new_sheets_find_queues_in_memory() -> None:
    front, chooser = under_sheets("", queue_precedence=1)
    front.schedule([candidate(host, host) for host in "ab"], NOW)
    chooser.letters = "b"
    front.operator.apply_settings(0.0)
    assert drain(front) == ["http://b/b", "http://a/a"]


def test_a_uri_whose_sheet_retires_its_queue_stays_in_it() -> None:
    front, _ = under_sheets("0", force_retire=True)
    front.schedule([candidate("a", "0"), candidate("a", "1")], NOW)
    assert drain(front) == []
    assert state(front, "a,") is QueueState.RETIRED
    assert front.queue_states.find("a,").row.size == 2


# ---- URIs whose result is known


def test_what_is_withdrawn_is_counted_by_the_caller() -> None:
    rows = MemoryRows()
    front = filled(rows, 3)
    held = take(front)
    found = {uri.url for uri in front.operator.withdraw(lambda uri: uri.url.endswith("0"))}
    assert found == {"http://a/0", "http://b/0"} - {held.url}
    assert front.totals.finished == 0
    front.finished(held, Attempt(200), 0.0)
    assert not found & set(drain(front))
    assert front.is_empty


def test_what_is_brought_forward_goes_before_the_rest_of_its_queue() -> None:
    rows = MemoryRows()
    front = filled(rows, 10)
    endless = candidate("a", "05", directive=int(Directive.ENDLESS))
    front.schedule([endless, candidate("a", "25", directive=int(Directive.HIGHEST))], NOW)
    held, bad = take(front), take(front)
    assert (held.url, bad.url) == ("http://a/25", "http://b/0")
    front.retry(bad, Attempt(-2), Retry(NOW + 60), NOW, 0)
    steps = list(front.operator.bring_forward(lambda url: url.endswith(("5", "6")), any_text))
    assert sum(steps) == 5
    assert len(steps) == 22, "a step for each that is looked at"
    assert (front.totals.endless, front.totals.queued) == (0, 22)
    again = front.operator.bring_forward(lambda url: url.endswith(("5", "6")), any_text)
    assert not any(again), "they are at the front"
    front.finished(held, Attempt(200), 0)
    order = drain(front)
    first = {host: [url[9:] for url in order if url[7] == host][:3] for host in "ab"}
    assert first == {"a": ["5", "6", "05"], "b": ["5", "6", "1"]}


def test_a_retry_that_is_brought_forward_keeps_its_time() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", str(n)) for n in range(3)], NOW)
    bad = take(front)
    front.retry(bad, Attempt(-2), Retry(NOW + 60), NOW, 0)
    assert sum(front.operator.bring_forward(lambda url: url == bad.url, any_text)) == 1
    other = take(front, 1.0)
    assert other.url != bad.url
    front.finished(other, Attempt(200), 1.0)
    again = take(front, 61.0)
    assert (again.url, again.directive, again.attempts) == (bad.url, Directive.HIGH, 1)
