import pytest

from nacre.core.crawluri import CrawlURI, Directive
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import Retry
from nacre.frontier.queues import QueueState
from nacre.frontier.settings import FrontierSettings, PolitenessSettings, QueuePrecedence
from tests.frontier.making import NOW, candidate, drain, frontier
from tests.frontier.memory_rows import MemoryRows


def names(urls: list[str]) -> list[str]:
    return [url.rsplit("/", 1)[1] for url in urls]


def take(front: Frontier, mono: float = 0.0) -> CrawlURI:
    uri = front.next(NOW + mono, mono)
    assert uri is not None
    return uri


def test_order_is_directive_then_precedence_then_discovery() -> None:
    front = frontier(MemoryRows())
    front.schedule(
        [
            candidate("a", "normal-1"),
            candidate("a", "normal-0", precedence=0),
            candidate("a", "normal-2"),
            candidate("a", "medium", directive=Directive.MEDIUM),
            candidate("a", "high", directive=Directive.HIGH, precedence=9),
        ],
        NOW,
    )
    assert names(drain(front)) == ["high", "medium", "normal-0", "normal-1", "normal-2"]


def test_a_key_enters_once_unless_forced() -> None:
    front = frontier(MemoryRows())
    twice = candidate("a", "x")
    assert front.schedule([twice, candidate("a", "y"), twice], NOW) == [True, True, False]
    assert front.schedule([twice, candidate("a", "z")], NOW) == [False, True]
    assert front.schedule([candidate("a", "x", force_fetch=True)], NOW) == [True]
    assert front.totals.discovered == 3
    assert front.totals.queued == 4
    assert len(drain(front)) == 4
    assert front.is_empty


def test_one_in_process_per_queue_unless_allowed() -> None:
    candidates = [candidate("a", str(n)) for n in range(5)]
    front = frontier(MemoryRows())
    front.schedule(candidates, NOW)
    assert front.next(NOW, 0) is not None
    assert front.next(NOW, 0) is None
    assert front.next_wake(0) is None
    wide = frontier(MemoryRows(), politeness=PolitenessSettings(delay=0, in_flight=3))
    wide.schedule(candidates, NOW)
    assert names([take(wide).url for _ in range(3)]) == ["0", "1", "2"]
    assert wide.next(NOW, 0) is None


def test_a_queue_waits_its_delay() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0"), candidate("a", "1"), candidate("b", "0")], NOW)
    first = take(front)
    front.finished(first, Attempt(200, 5.0), 1.0)
    assert take(front, 1.0).queue == "b,"
    assert front.next(NOW, 1.0) is None
    assert front.next_wake(1.0) == 5.0
    assert front.next(NOW, 5.9) is None
    assert take(front, 6.0).url == "http://a/1"


def test_a_failing_uri_does_not_block_its_queue() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "bad"), candidate("a", "good"), candidate("a", "too")], NOW)
    bad = take(front)
    front.retry(bad, Attempt(-2), Retry(NOW + 60), NOW, 0)
    assert names([take(front).url]) == ["good"]
    assert front.totals.queued == 3
    assert front.next_wake(0) == 60.0


def test_a_retry_comes_back_in_time_with_its_attempts() -> None:
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([candidate("a", "bad"), candidate("b", "0")], NOW)
    front.retry(take(front), Attempt(-3), Retry(NOW + 60), NOW, 0)
    assert take(front).url == "http://b/0"
    assert front.next(NOW, 59.9) is None
    again = take(front, 60)
    assert (again.url, again.attempts, again.last_status) == ("http://a/bad", 1, -3)
    front.finished(again, Attempt(200), 61)
    assert (front.totals.succeeded, front.totals.queued, front.totals.stuck) == (1, 1, 0)
    assert not list(rows.scan("future", b""))


def test_a_hold_snoozes_the_whole_queue() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "busy"), candidate("a", "next"), candidate("b", "0")], NOW)
    front.retry(take(front), Attempt(503), Retry(NOW + 20, hold=True), NOW, 0)
    assert take(front).queue == "b,"
    assert front.next(NOW, 19) is None
    assert take(front, 20).url == "http://a/next"


def test_a_uri_that_is_throttled_lets_the_others_go_before_it() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", name) for name in ("busy", "next", "too", "last")], NOW)
    front.retry(take(front), Attempt(503), Retry(NOW + 20, hold=True), NOW, 0)
    front.finished(take(front, 20), Attempt(200, 30.0), 20)
    busy = take(front, 50)
    assert (busy.url, busy.attempts) == ("http://a/busy", 1)
    front.retry(busy, Attempt(503, 60.0), Retry(NOW + 55, hold=True), NOW + 50, 50)
    assert front.next(NOW + 109, 109) is None
    too = take(front, 110)
    front.finished(too, Attempt(200, 60.0), 110)
    assert (too.url, take(front, 170).attempts) == ("http://a/too", 2)


def test_alone_in_its_queue_a_throttled_uri_is_tried_as_soon_as_it_may() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "busy"), candidate("b", "0")], NOW)
    front.retry(take(front), Attempt(503), Retry(NOW + 20, hold=True), NOW, 0)
    assert take(front).queue == "b,"
    assert take(front, 20).url == "http://a/busy"


def test_a_prerequisite_goes_first_and_alone() -> None:
    rows = MemoryRows()
    front = frontier(rows, politeness=PolitenessSettings(delay=0, in_flight=4))
    front.schedule([candidate("a", "0"), candidate("a", "1")], NOW)
    zero, one = take(front), take(front)
    robots = candidate("elsewhere", "robots.txt", path="LP")
    first = front.deferred(zero, robots, 0)
    assert first is not None
    assert (first.queue, first.directive) == ("a,", Directive.MEDIUM)
    assert front.deferred(one, robots, 0) is None
    assert take(front).url == robots.url
    assert front.next(NOW, 0) is None
    front.finished(first, Attempt(404), 0)
    back = take(front)
    assert (back.url, back.deferrals, back.attempts) == (zero.url, 1, 0)
    assert names(drain(front)) == ["1"]


def test_a_crawl_delay_means_one_at_a_time_also_after_a_restart() -> None:
    rows = MemoryRows()
    politeness = PolitenessSettings(delay=0, in_flight=4)
    front = frontier(rows, politeness=politeness)
    front.schedule([candidate("a", str(number)) for number in range(8)], NOW)
    first = take(front)
    front.finished(first, Attempt(200, 1.0, alone=True), 0)
    second = take(front, 1.0)
    assert front.next(NOW + 1.5, 1.5) is None
    front.finished(second, Attempt(200, 1.0), 1.5)
    front.save()
    again = frontier(rows, politeness=politeness, mono=100.0)
    third = take(again, 200.0)
    assert again.next(NOW + 200, 200.0) is None
    again.finished(third, Attempt(200, alone=False), 200.0)
    assert len({take(again, 200.0).url for _ in range(4)}) == 4


def test_a_prerequisite_of_the_highest_goes_first_too() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0", directive=Directive.HIGHEST, precedence=0)], NOW)
    front.deferred(take(front), candidate("a", "robots.txt", path="LP"), 0)
    assert names(drain(front)) == ["robots.txt", "0"]


def test_a_prerequisite_that_fails_holds_its_queue_and_makes_it_stuck() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0"), candidate("a", "1")], NOW)
    first = front.deferred(take(front), candidate("a", "robots.txt", path="LP"), 0)
    assert first is not None
    front.retry(take(front), Attempt(-2), Retry(NOW + 60, hold=True), NOW, 0)
    assert front.only_retries_remain
    again = take(front, 60)
    assert again.url == first.url
    front.finished(again, Attempt(200), 60)
    assert not front.only_retries_remain


def test_sessions_rotate_between_queues() -> None:
    front = frontier(MemoryRows(), FrontierSettings(balance_replenish=2))
    front.schedule([candidate(q, str(n)) for q in "ab" for n in range(4)], NOW)
    order = [url.split("/")[2] for url in drain(front)]
    assert order == ["a", "a", "b", "b", "a", "a", "b", "b"]


def test_a_budget_retires_a_queue() -> None:
    front = frontier(MemoryRows(), FrontierSettings(queue_total_budget=2))
    front.schedule([candidate("a", str(n)) for n in range(5)], NOW)
    assert names(drain(front)) == ["0", "1"]
    assert front.totals.queued == 0
    assert front.totals.states[QueueState.RETIRED] == 1
    front.queue_states.settings.frontier.replace([FrontierSettings(queue_total_budget=4)])
    assert front.unretire() == 1
    assert front.totals.queued == 3
    assert names(drain(front)) == ["2", "3"]


def test_a_final_failure_costs_a_penalty_and_disregarded_nothing() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", str(n)) for n in range(3)], NOW)
    front.finished(take(front), Attempt(-2), 0)
    front.finished(take(front), Attempt(-9998), 0)
    front.finished(take(front), Attempt(404), 0)
    queue = front.queue_states.find("a,").row
    assert (queue.spent, queue.errors, queue.costs) == (102, 1, 3)
    totals = front.totals
    assert (totals.finished, totals.succeeded, totals.failed, totals.disregarded) == (3, 1, 1, 1)


def test_precedence_of_queues_and_the_floor() -> None:
    rows = MemoryRows()
    front = frontier(
        rows, FrontierSettings(queue_precedence=QueuePrecedence(base=7), precedence_floor=7)
    )
    front.schedule([candidate("late", "0")], NOW)
    assert front.next(NOW, 0) is None
    assert front.totals.states[QueueState.INELIGIBLE] == 1
    settings = FrontierSettings(queue_precedence=QueuePrecedence(base=1), precedence_floor=8)
    front.queue_states.settings.frontier.replace([settings])
    front.schedule([candidate("soon", "0")], NOW)
    assert drain(front) == ["http://soon/0", "http://late/0"]


def test_a_visit_planned_for_later_waits() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0", not_before=NOW + 3600)], NOW)
    assert (front.totals.queued, front.totals.planned) == (0, 1)
    assert not front.is_empty
    assert front.next_wake(0) == 3600
    assert front.next(NOW, 3599) is None
    assert take(front, 3600).url == "http://a/0"
    assert (front.totals.queued, front.totals.planned) == (1, 0)


def test_queues_of_one_address_take_turns() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate(q, "0") for q in "abc"], NOW)
    for name in ("a,", "b,"):
        front.share(name, ["192.0.2.1"])
    first, other = take(front), take(front)
    assert (first.queue, other.queue) == ("a,", "c,")
    assert front.next(NOW, 0) is None
    front.finished(first, Attempt(200, 3.0), 1.0)
    assert front.next(NOW, 3.9) is None
    assert front.next_wake(3.9) == pytest.approx(0.1)
    assert take(front, 4.0).queue == "b,"


def test_one_address_in_common_is_enough() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate(q, "0") for q in "abc"], NOW)
    front.share("a,", ["192.0.2.1", "2001:db8::1"])
    front.share("b,", ["192.0.2.2", "2001:db8::1"])
    front.share("c,", ["192.0.2.2"])
    first, other = take(front), take(front)
    assert (first.queue, other.queue) == ("a,", "c,")  # b shares with both of them
    front.finished(first, Attempt(200, 3.0), 1.0)
    assert front.next(NOW, 4.0) is None
    front.finished(other, Attempt(200, 3.0), 5.0)
    assert front.next(NOW, 7.9) is None
    assert take(front, 8.0).queue == "b,"


def test_a_host_that_moves_waits_for_its_new_neighbours() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate(q, "0") for q in "ab"], NOW)
    front.share("b,", ["192.0.2.2"])
    first = take(front)
    front.share("a,", ["192.0.2.2"])
    assert front.next(NOW, 0) is None
    front.finished(first, Attempt(200, 3.0), 1.0)
    assert take(front, 4.0).queue == "b,"


def test_parked_queues_follow_each_other_even_past_a_retired_one() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate(q, "0") for q in "abcd"], NOW)
    for name in "abcd":
        front.share(f"{name},", ["192.0.2.1"])
    first = take(front)
    assert front.next(NOW, 0) is None
    front.retire("b,")
    front.finished(first, Attempt(200, 3.0), 0)
    second = take(front, 3.0)
    assert second.queue == "c,"
    assert front.next(NOW, 9.0) is None
    front.finished(second, Attempt(200, 3.0), 9.0)
    assert take(front, 12.0).queue == "d,"


def test_waking_all_keeps_the_politeness_delay() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate(q, str(n)) for q in "ab" for n in range(2)], NOW)
    for uri in (take(front), take(front)):
        front.finished(uri, Attempt(200, 4.0), 0)
    front.snooze("a,", NOW + 55, NOW, 0)
    front.snooze("b,", NOW + 5000, NOW, 0)
    assert front.next(NOW, 4.0) is None
    assert front.next(NOW, 49.0) is None
    front.queue_states.time.advance(49.0)
    front.queue_states.end_snoozes()
    assert front.next(NOW, 52.9) is None
    assert {take(front, 53.0).queue, take(front, 53.01).queue} == {"a,", "b,"}


def test_noted_keys_are_known() -> None:
    front = frontier(MemoryRows())
    uri = candidate("a", "0")
    assert front.note([uri.key, uri.key]) == 1
    assert front.schedule([uri], NOW) == [False]
    assert (front.totals.discovered, front.totals.queued) == (1, 0)


def test_memory_holds_a_bounded_number_of_queues() -> None:
    rows = MemoryRows()
    front = frontier(rows, FrontierSettings(max_queues_in_memory=50))
    front.schedule([candidate(f"h{n}", str(m)) for n in range(500) for m in range(2)], NOW)
    out = [take(front) for _ in range(40)]
    held = list(front.queue_states.cache.in_memory())
    assert len(held) <= 50 + 1
    for uri in out:
        front.finished(uri, Attempt(200), 0)
    assert len(drain(front)) == 1000 - 40
    assert front.totals.states[QueueState.EXHAUSTED] == 500
    assert not list(rows.scan("wake", b""))


def test_what_was_not_handed_out_cannot_come_back() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0")], NOW)
    with pytest.raises(ValueError, match="not in process"):
        front.finished(candidate("a", "0"), Attempt(200), 0)
    uri = take(front)
    front.finished(uri, Attempt(200), 0)
    with pytest.raises(ValueError, match="not in process"):
        front.finished(uri, Attempt(200), 0)


def test_a_queue_of_which_several_are_in_process_retires_once() -> None:
    front = frontier(MemoryRows(), politeness=PolitenessSettings(delay=0, in_flight=3))
    front.schedule([candidate("a", str(n)) for n in range(5)], NOW)
    told = []
    for uri in [take(front) for _ in range(3)]:
        front.deferred(uri, None, 0)
        told.append(front.retire("a,", "quota"))
    assert told == [True, False, False]
    assert front.next(NOW, 0) is None


def test_retired_while_in_process_and_back() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "0"), candidate("a", "1")], NOW)
    uri = take(front)
    front.retire("a,")
    assert front.is_empty
    front.finished(uri, Attempt(200), 0)
    assert front.next(NOW, 0) is None
    front.unretire(["a,"])
    assert names(drain(front)) == ["1"]


def test_a_server_is_waited_for_as_long_as_the_frontier_is_told() -> None:
    asked = [(429, 600.0), (503, 600.1), (500, 9e9), (200, 9e9)]
    limited = frontier(MemoryRows(), max_wait=600.0)
    assert [limited.wants_too_long(*one) for one in asked] == [False, True, False, False]
    assert not frontier(MemoryRows()).wants_too_long(429, 9e9), "no limit by default"


def test_what_another_crawl_tried_is_a_retry_here() -> None:
    front = frontier(MemoryRows())
    tried = [
        candidate("a", "now", attempts=2, last_status=-2),
        candidate("a", "later", attempts=1, last_status=503, not_before=NOW + 60),
    ]
    assert front.schedule(tried, NOW, keep_tries=True) == [True, True]
    assert (front.totals.queued, front.totals.stuck, front.totals.planned) == (2, 2, 0)
    uri = take(front)
    assert (uri.attempts, uri.last_status) == (2, -2)
    front.finished(uri, Attempt(200), 0.0)
    assert (front.totals.queued, front.totals.stuck) == (1, 1)
    later = take(front, 61.0)
    assert (later.attempts, later.last_status) == (1, 503)
    front.finished(later, Attempt(200), 61.0)
    assert front.is_empty
    assert front.totals.stuck == 0


def test_what_is_planned_begins_anew_unless_its_tries_are_kept() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("a", "x", attempts=3, not_before=NOW + 60)], NOW)
    assert (front.totals.planned, front.totals.stuck) == (1, 0)
    assert take(front, 61.0).attempts == 0


def test_what_a_page_requested_is_seen_and_paid_for_by_its_queue() -> None:
    front = frontier(MemoryRows(), politeness=PolitenessSettings(delay=5))
    uri = candidate("a", "script.js", cost=3)
    front.fetched_within(uri, Attempt(200, 5.0), 0.0)
    assert front.schedule([candidate("a", "script.js"), candidate("a", "x")], NOW) == [False, True]
    assert (front.totals.discovered, front.totals.finished) == (1, 0)
    queue = front.queue_in_memory("a,")
    assert queue is not None
    assert queue.row.spent == 3
    assert front.next(NOW, 0.0) is None, "the host rests"
    assert take(front, 5.0).url.endswith("/x")


def test_post_of_a_page_does_not_make_its_url_seen() -> None:
    front = frontier(MemoryRows())
    front.see([candidate("a", "x", method="POST"), candidate("a", "y")])
    assert front.schedule([candidate("a", "x"), candidate("a", "y")], NOW) == [True, False]


def test_queue_of_another_host_waits_after_a_page() -> None:
    front = frontier(MemoryRows(), politeness=PolitenessSettings(delay=5))
    front.schedule([candidate("a", "x")], NOW)
    front.delay("a,", Attempt(200, 7.0), 0.0)
    assert front.next(NOW, 6.9) is None
    front.delay("a,", Attempt(200, 1.0), 1.0)
    assert front.next(NOW, 6.9) is None, "a shorter delay does not end the longer one"
    assert take(front, 7.0).url.endswith("/x")


def test_queues_that_share_an_address_wait_after_a_page() -> None:
    front = frontier(MemoryRows(), politeness=PolitenessSettings(delay=5))
    front.schedule([candidate("a", "x"), candidate("b", "y")], NOW)
    for name in ("a,", "b,"):
        front.share(name, ("192.0.2.1",))
    front.delay("a,", Attempt(200, 7.0), 0.0)
    assert front.next(NOW, 6.9) is None
    assert front.next(NOW, 7.0) is not None
