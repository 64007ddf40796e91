"""The states of queues and the changes between them, through the frontier."""

import pytest

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import Retry
from nacre.frontier.queue_cache import read_queue
from nacre.frontier.queue_states import LONG_SNOOZE, OVER_BUDGET
from nacre.frontier.queues import ENDLESS_LEFT, QueueRow, QueueState
from nacre.frontier.rows import queue_id
from nacre.frontier.settings import FrontierSettings, PolitenessSettings, QueuePrecedence
from tests.frontier.making import NOW, candidate, drain, frontier
from tests.frontier.memory_rows import MemoryRows


def state(front: Frontier, name: str = "a,") -> QueueState:
    return QueueState(front.queue_states.find(name).row.state)


def take(front: Frontier, mono: float = 0.0) -> CrawlURI:
    uri = front.next(NOW + mono, mono)
    assert uri is not None
    return uri


def filled(
    number: int = 3,
    hosts: str = "a",
    politeness: PolitenessSettings | None = None,
    **fields: object,
) -> Frontier:
    front = frontier(
        MemoryRows(),
        FrontierSettings.model_validate(fields),
        politeness or PolitenessSettings(delay=0),
    )
    front.schedule([candidate(host, str(n)) for host in hosts for n in range(number)], NOW)
    return front


def counted(front: Frontier) -> dict[QueueState, int]:
    return {one: front.totals.states[one] for one in QueueState if front.totals.states[one]}


def test_a_queue_goes_from_inactive_to_exhausted() -> None:
    front = filled(1)
    assert state(front) is QueueState.INACTIVE
    uri = take(front)
    assert state(front) is QueueState.IN_PROCESS
    front.finished(uri, Attempt(200), 0.0)
    assert state(front) is QueueState.EXHAUSTED
    assert counted(front) == {QueueState.EXHAUSTED: 1}
    front.schedule([candidate("a", "more")], NOW)
    assert state(front) is QueueState.INACTIVE


@pytest.mark.parametrize("delay", [4.0, LONG_SNOOZE * 10])
def test_a_visit_with_a_delay_snoozes_its_queue_until_the_delay_is_over(delay: float) -> None:
    front = filled()
    front.finished(take(front), Attempt(200, delay), 1.0)
    assert state(front) is QueueState.SNOOZED
    assert front.next_wake(1.0) == pytest.approx(delay, abs=0.002)
    assert front.next(NOW + delay, delay + 0.99) is None
    assert take(front, delay + 1.01).url == "http://a/1"


def test_a_visit_without_a_delay_leaves_its_queue_ready() -> None:
    front = filled()
    front.finished(take(front), Attempt(200), 0.0)
    assert state(front) is QueueState.READY


def test_as_many_uris_as_may_be_in_flight_are_handed_out() -> None:
    front = filled(4, politeness=PolitenessSettings(delay=0, in_flight=2))
    first, second = take(front), take(front)
    assert front.next(NOW, 0.0) is None
    front.finished(first, Attempt(200, alone=True), 0.0)
    assert front.next(NOW, 0.0) is None  # its site asks for one at a time from now on
    front.finished(second, Attempt(200), 0.0)
    take(front)
    assert front.next(NOW, 0.0) is None


def test_a_retry_that_holds_its_queue_keeps_it_snoozed_longer_than_the_delay() -> None:
    front = filled(1)
    front.retry(take(front), Attempt(503, 2.0), Retry(NOW + 30.0, hold=True), NOW, 0.0)
    assert state(front) is QueueState.SNOOZED
    assert front.next(NOW + 29, 29.9) is None
    assert take(front, 30.1).attempts == 1


def test_a_retry_that_does_not_hold_lets_the_others_go_first() -> None:
    front = filled(2)
    first = take(front)
    front.retry(first, Attempt(-2), Retry(NOW + 30.0), NOW, 0.0)
    other = take(front)
    assert other.url != first.url
    front.finished(other, Attempt(200), 0.0)
    assert state(front) is QueueState.EXHAUSTED  # its retry waits in `future`
    assert front.totals.queued == 1


def test_a_queue_over_its_budget_is_retired_once_nothing_of_it_is_in_process() -> None:
    front = filled(5, politeness=PolitenessSettings(delay=0, in_flight=2), queue_total_budget=2)
    one, two = take(front), take(front)
    front.finished(one, Attempt(200), 0.0)
    three = take(front)
    front.finished(two, Attempt(200), 0.0)
    assert state(front) is QueueState.IN_PROCESS
    assert front.next(NOW, 0.0) is None
    front.finished(three, Attempt(200), 0.0)
    assert state(front) is QueueState.RETIRED
    assert front.totals.queued == 0


def test_a_retired_queue_does_not_count_until_it_comes_back() -> None:
    front = filled(3, queue_total_budget=1)
    front.finished(take(front), Attempt(200), 0.0)
    row = front.queue_states.find("a,").row
    assert (state(front), row.why) == (QueueState.RETIRED, OVER_BUDGET)
    assert front.is_empty
    assert front.queue_states.retired() == ["a,"]
    assert front.unretire() == 1
    assert state(front) is QueueState.INACTIVE
    assert front.totals.queued == 2
    assert front.next(NOW, 0.0) is None
    assert state(front) is QueueState.RETIRED


def test_the_operator_retires_a_queue_once() -> None:
    front = filled()
    assert front.retire("a,")
    assert not front.retire("a,")
    front.schedule([candidate("a", "new")], NOW)
    assert front.next(NOW, 0.0) is None
    assert front.queue_states.unretire(["a,", "unknown,"]) == 1
    assert len(drain(front)) == 4


def test_what_is_in_process_when_its_queue_retires_comes_back_to_a_retired_queue() -> None:
    front = filled()
    uri = take(front)
    front.retire("a,")
    front.finished(uri, Attempt(200, 5.0), 1.0)
    assert state(front) is QueueState.RETIRED
    assert front.queue_states.find("a,").row.size == 2


def test_queues_take_turns_when_their_balance_is_spent() -> None:
    front = filled(4, "ab", balance_replenish=2)
    assert [url[7] for url in drain(front)] == ["a", "a", "b", "b", "a", "a", "b", "b"]


def test_no_rotation_lets_a_queue_go_on_to_its_end() -> None:
    front = filled(4, "a", balance_replenish=0)
    assert len(drain(front)) == 4


def test_the_floor_makes_queues_ineligible() -> None:
    front = filled(2, "ab", precedence_floor=3)
    assert state(front) is QueueState.INELIGIBLE
    assert front.next(NOW, 0.0) is None
    assert counted(front) == {QueueState.INELIGIBLE: 2}


def test_queues_of_a_lower_precedence_have_their_turn_first() -> None:
    choice = QueuePrecedence(policy="highest-uri", base=1)
    front = frontier(MemoryRows(), FrontierSettings(queue_precedence=choice))
    front.schedule([candidate("a", "0", precedence=9), candidate("b", "0", precedence=2)], NOW)
    front.schedule([candidate("c", "0", precedence=5)], NOW)
    front.schedule([candidate("a", "1", precedence=1)], NOW)  # moves `a` to the front
    assert [front.queue_states.find(f"{one},").row.precedence for one in "abc"] == [2, 3, 6]
    assert state(front) is QueueState.INACTIVE


def test_success_moves_a_queue_back() -> None:
    choice = QueuePrecedence(policy="success-counts", base=1, increments=(1,))
    front = filled(2, "a", queue_precedence=choice, balance_replenish=1)
    front.schedule([candidate("b", "0")], NOW)
    front.finished(take(front), Attempt(200), 0.0)
    assert state(front) is QueueState.INACTIVE
    assert front.queue_states.find("a,").row.precedence == 2


def test_ended_snoozes_keep_the_politeness_delay() -> None:
    front = filled(2, "ab")
    front.finished(take(front), Attempt(200, 4.0), 0.0)
    front.snooze("a,", NOW + 50, NOW, 0.0)
    front.snooze("b,", NOW + 500, NOW, 0.0)
    assert front.next(NOW, 1.0) is None
    assert front.queue_states.end_snoozes(lambda name: name == "a,") == 1
    assert front.next(NOW, 4.9) is None
    assert take(front, 5.1).queue == "a,"


# ---- how many are active


def crowd(hosts: int, delay: float = 0.0, memory: int = 50_000) -> Frontier:
    front = filled(0, politeness=PolitenessSettings(delay=delay), max_queues_in_memory=memory)
    front.schedule([candidate(f"h{n}", "0") for n in range(hosts)], NOW)
    return front


def handed_out(front: Frontier, mono: float) -> list[CrawlURI]:
    return list(iter(lambda: front.next(NOW + mono, mono), None))


def test_few_queues_are_active_before_the_delay_of_a_restart_is_over() -> None:
    front = crowd(1_100, delay=5.0)
    assert len(handed_out(front, 0.0)) == 1_024
    assert front.next_wake(0.0) is None
    assert not handed_out(front, 4.9)
    assert len(handed_out(front, 5.0)) == 1_100 - 1_024


def test_no_more_queues_are_active_than_memory_may_hold() -> None:
    front = crowd(1_100, memory=1_050)
    out = handed_out(front, 0.0)
    assert len(out) == 1_050
    assert front.next_wake(0.0) is None
    front.finished(out[0], Attempt(200), 0.0)
    assert front.next_wake(0.0) == 0.0
    assert len(handed_out(front, 0.0)) == 1


def test_the_end_of_the_queues_is_said() -> None:
    front = filled(1, "ab")
    states = front.queue_states
    assert states.activate_next()
    assert states.activate_next()
    assert not states.activate_next()
    front = crowd(1_100, memory=1_050)
    handed_out(front, 0.0)
    assert not front.queue_states.activate_next()


def test_a_queue_out_of_memory_hands_out_first_what_is_first_in_the_store() -> None:
    front = crowd(60, memory=16)
    assert [uri.url for uri in handed_out(front, 0.0)] == [f"http://h{n}/0" for n in range(60)]


# ---- what stays in memory, and what is written


def test_a_retired_queue_stays_in_memory_until_what_is_in_process_comes_back() -> None:
    front = crowd(60, memory=16)
    uri = take(front)
    front.retire(uri.queue)
    for name in range(60):
        front.queue_states.find(f"h{name},")
    assert front.queue_in_memory(uri.queue) is not None
    front.finished(uri, Attempt(200), 0.0)
    for name in range(60):
        front.queue_states.find(f"h{name},")
    assert front.queue_in_memory("h0,") is None
    assert state(front, uri.queue) is QueueState.RETIRED


def test_queues_that_are_done_leave_memory() -> None:
    front = crowd(60, memory=16)
    drain(front)
    assert len(list(front.queues_in_memory())) <= 16
    assert counted(front) == {QueueState.EXHAUSTED: 60}


@pytest.mark.parametrize("waiting", [0, 2])
def test_states_are_those_of_the_store_after_a_restart(waiting: int) -> None:
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([candidate("a", str(n)) for n in range(waiting)], NOW)
    front.retire("a,")
    front.save()
    assert state(frontier(rows)) is QueueState.RETIRED
    front = frontier(rows)
    front.unretire()
    front.save()
    back = frontier(rows)
    assert state(back) is (QueueState.INACTIVE if waiting else QueueState.EXHAUSTED)
    assert back.totals.queued == waiting
    assert len(drain(back)) == waiting


def test_a_snooze_is_that_of_the_store_after_a_restart() -> None:
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([candidate("a", "0")], NOW)
    front.save()
    front.snooze("a,", NOW + 50, NOW, 0.0)
    front.save()
    again = frontier(rows)
    assert again.next(NOW, 49.9) is None
    take(again, 50.1)


def test_an_earlier_wake_is_that_of_the_store_after_a_restart() -> None:
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([candidate("a", "0")], NOW)
    front.snooze("a,", NOW + 500, NOW, 0.0)
    assert front.next(NOW, 1.0) is None
    front.save()
    assert front.queue_states.wake_earlier(front.queue_states.find("a,"), 20.0)
    assert not front.queue_states.wake_earlier(front.queue_states.find("a,"), 30.0)
    front.save()
    again = frontier(rows)
    assert again.next(NOW, 18.9) is None  # its time began where the last one ended, at 1
    take(again, 19.1)


@pytest.mark.parametrize("wait", [20.0, 500.0])
def test_a_queue_wakes_earlier_wherever_it_waits(wait: float) -> None:
    front = filled(2)
    front.finished(take(front), Attempt(200, wait), 0.0)
    assert front.queue_states.wake_earlier(front.queue_states.find("a,"), 10.0)
    assert front.next_wake(0.0) == pytest.approx(10.0, abs=0.002)
    assert front.next(NOW, 9.9) is None
    take(front, 10.1)


# ---- what enters a retired queue


def test_a_queue_that_rests_with_endless_urls_comes_back_for_others_only() -> None:
    front = filled(0)
    front.schedule([candidate("a", "e", directive=int(Directive.ENDLESS))], NOW)
    assert front.next(NOW, 0.0) is None
    assert front.queue_states.find("a,").row.why == ENDLESS_LEFT
    front.schedule([candidate("a", "f", directive=int(Directive.ENDLESS))], NOW)
    assert state(front) is QueueState.RETIRED
    front.schedule([candidate("a", "page")], NOW)
    assert state(front) is QueueState.INACTIVE
    assert drain(front) == ["http://a/page"]


def test_a_queue_that_spent_its_budget_stays_retired_whatever_enters() -> None:
    front = filled(2, queue_total_budget=1)
    front.finished(take(front), Attempt(200), 0.0)
    front.schedule([candidate("a", "more")], NOW)
    assert state(front) is QueueState.RETIRED
    assert front.totals.queued == 0


def test_retired_queues_are_counted_when_they_come_back() -> None:
    front = filled(1, "abc")
    front.retire("a,")
    front.retire("b,")
    assert front.queue_states.unretire(["a,", "a,", "c,"]) == 1
    assert front.unretire() == 1
    assert counted(front) == {QueueState.INACTIVE: 3}


# ---- turns


def test_a_turn_ends_only_when_others_wait() -> None:
    front = filled(3, "a", balance_replenish=1)
    first = take(front)
    front.finished(first, Attempt(200), 0.0)
    assert state(front) is QueueState.READY
    front.schedule([candidate("b", "0")], NOW)
    front.finished(take(front), Attempt(200), 0.0)
    assert state(front) is QueueState.INACTIVE
    assert take(front).queue == "b,"


def test_a_queue_whose_turn_is_over_waits_for_what_is_in_process() -> None:
    polite = PolitenessSettings(delay=0, in_flight=2)
    front = filled(4, "ab", politeness=polite, balance_replenish=1)
    one, two = take(front), take(front)
    assert (one.queue, two.queue) == ("a,", "a,")
    front.finished(one, Attempt(200), 0.0)
    assert state(front) is QueueState.IN_PROCESS
    front.finished(two, Attempt(200), 0.0)
    assert state(front) is QueueState.INACTIVE


def test_a_queue_behind_the_floor_gives_up_its_place() -> None:
    front = filled(3)
    first = take(front)
    front.queue_states.settings.frontier.replace([FrontierSettings(precedence_floor=3)])
    front.finished(first, Attempt(200), 0.0)
    assert state(front) is QueueState.INELIGIBLE
    assert front.next(NOW, 0.0) is None
    assert front.next_wake(0.0) is None
    assert front.totals.queued == 2


def test_an_end_of_snoozes_says_how_many_waited() -> None:
    front = filled(2, "abc")
    for seconds in (20.0, 500.0):  # in memory, and in the store
        front.finished(take(front), Attempt(200, 1.0), 0.0)
        front.snooze("ab"[seconds > 60] + ",", NOW + seconds, NOW, 0.0)
    take(front)
    assert front.next(NOW, 2.0) is None
    assert [one.name for one in front.queue_states.sleeping()] == ["b,"]
    assert front.queue_states.end_snoozes() == 2
    assert front.queue_states.end_snoozes() == 0
    assert {take(front, 3.1).queue, take(front, 3.1).queue} == {"a,", "b,"}


# ---- what is written when


def stored(rows: MemoryRows, name: str = "a,") -> QueueRow:
    found = read_queue(rows, queue_id(name))
    assert found is not None
    return found


def places(rows: MemoryRows) -> list[bytes]:
    """First letters of the rows of the order."""
    return [key[:1] for key, _ in rows.scan("wake", b"")]


def test_what_a_visit_cost_is_written_with_the_group_after_it() -> None:
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([candidate("a", str(n)) for n in range(3)], NOW)
    uri = take(front)
    front.save()
    front.finished(uri, Attempt(200), 0.0)
    front.save()
    assert (stored(rows).spent, stored(rows).successes) == (1, 1)


def test_a_precedence_that_changes_while_a_uri_is_out_is_written() -> None:
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([candidate("a", "0"), candidate("a", "1")], NOW)
    take(front)
    front.save()
    settings = FrontierSettings(queue_precedence=QueuePrecedence(base=7))
    front.queue_states.settings.frontier.replace([settings])
    front.queue_states.update_precedence(front.queue_states.find("a,"))
    front.save()
    assert stored(rows).precedence == 7


def test_each_queue_has_one_place_in_the_order_or_none() -> None:
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([candidate("a", "0")], NOW)
    assert places(rows) == [b"i"]
    uri = take(front)
    assert places(rows) == [b"a"]
    front.finished(uri, Attempt(200), 0.0)
    assert places(rows) == []
    front.retire("a,")
    assert places(rows) == [b"r"]
    front.unretire()
    assert places(rows) == []
    assert front.queue_states.find("a,").row.why == ""
    front.schedule([candidate("a", "1")], NOW)
    list(front.operator.delete())
    assert places(rows) == []
    front.schedule([candidate("a", "2"), candidate("a", "3")], NOW)
    front.finished(take(front), Attempt(200, 500.0), 0.0)
    assert places(rows) == [b"s"]


def test_a_wait_is_long_by_what_is_left_of_it() -> None:
    rows = MemoryRows()
    front = frontier(rows, mono=1_000.0)
    front.schedule([candidate("a", "0"), candidate("a", "1")], NOW)
    front.finished(take(front, 1_000.0), Attempt(200, LONG_SNOOZE - 1), 1_000.0)
    assert places(rows) == [b"a"], "a short one is spent in memory"


def test_a_new_turn_begins_where_nobody_else_waits() -> None:
    front = filled(5, balance_replenish=2)
    balances = []
    for _ in range(4):
        front.finished(take(front), Attempt(200), 0.0)
        balances.append(front.queue_states.find("a,").row.balance)
    assert balances == [1, 2, 1, 2]


def test_a_uri_that_enters_while_another_is_out_can_go_at_once() -> None:
    front = filled(1, politeness=PolitenessSettings(delay=0, in_flight=2))
    take(front)
    assert front.next(NOW, 0.0) is None
    front.schedule([candidate("a", "more")], NOW)
    assert take(front).url == "http://a/more"


class LastLetter:
    """The sheet 1 for URLs that end with `x`."""

    def of(self, uri: CrawlURI) -> int:
        return self.of_url(uri.url)

    def of_url(self, url: str) -> int:
        return int(url.endswith("x"))


def test_a_uri_under_another_sheet_moves_its_queue_when_it_enters() -> None:
    urgent = FrontierSettings(queue_precedence=QueuePrecedence(base=1))
    settings = Effective((FrontierSettings(), urgent))
    polite = Effective((PolitenessSettings(delay=0), PolitenessSettings(delay=0)))
    front = Frontier(MemoryRows(), settings, polite, NOW, 0.0, chooser=LastLetter())
    front.schedule([candidate("a", "0"), candidate("b", "0")], NOW)
    front.schedule([candidate("b", "x")], NOW)
    assert take(front).queue == "b,"
