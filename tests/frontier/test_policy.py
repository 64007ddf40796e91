import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import DEAD, CrawlURI, Directive
from nacre.core.status import STATUS_TABLE, FetchStatus
from nacre.frontier.policy import (
    AttemptOutcome,
    Backoff,
    DelayCause,
    Final,
    LastTriesPhase,
    Pace,
    Rank,
    Retry,
    RetryKind,
    cost_of,
    delay_limit,
    directive_of,
    is_extra,
    next_backoff,
    pace_after,
    politeness_delay,
    prerequisite_rank,
    queue_precedence,
    rank,
    retry_decision,
    trans_hops,
    uri_precedence,
)
from nacre.frontier.settings import (
    CostPolicy,
    FrontierSettings,
    PolitenessSettings,
    QueuePrecedence,
    UriPrecedence,
)

SETTINGS = FrontierSettings()
POLITE = PolitenessSettings()
NOW = 1000.0


def uri(**fields: object) -> CrawlURI:
    return CrawlURI("http://a/", b"k" * 16, "a,", **fields)  # type: ignore[arg-type]  # any field


@pytest.mark.parametrize(
    ("path", "hops"),
    [("", 0), ("L", 0), ("LE", 1), ("LEE", 2), ("LEL", 0), ("MX", 1), ("EE", 2), ("3+LLLI", 1)],
)
def test_trans_hops(path: str, hops: int) -> None:
    assert trans_hops(path) == hops


@pytest.mark.parametrize(
    ("depth", "embeds", "path", "seed", "directive"),
    [
        (-1, 1, "", True, Directive.MEDIUM),
        (-1, 1, "L", False, Directive.NORMAL),
        (-1, 1, "R", True, Directive.MEDIUM),
        (-1, 1, "LR", False, Directive.MEDIUM),
        (0, 1, "LR", False, Directive.HIGH),
        (-1, 1, "LE", False, Directive.MEDIUM),
        (-1, 1, "LEE", False, Directive.NORMAL),
        (-1, 2, "LEE", False, Directive.MEDIUM),
        (-1, 0, "LE", False, Directive.NORMAL),
        (0, 1, "LLLL", False, Directive.HIGH),
        (2, 1, "LL", False, Directive.HIGH),
        (2, 1, "LLL", False, Directive.NORMAL),
        (2, 1, "60+LL", False, Directive.NORMAL),
    ],
)
def test_directive(depth: int, embeds: int, path: str, seed: bool, directive: Directive) -> None:
    settings = FrontierSettings(preference_depth_hops=depth, preference_embed_hops=embeds)
    assert directive_of(settings, path, is_seed=seed) is directive


def test_precedence_is_the_cost() -> None:
    assert rank(SETTINGS, "L") == Rank(Directive.NORMAL, 1, 1)
    assert rank(FrontierSettings(cost="zero"), "L") == Rank(Directive.NORMAL, 0, 0)


@given(st.integers(0, 3), st.integers(1, 127))
def test_a_prerequisite_goes_before_what_needs_it(directive: int, precedence: int) -> None:
    waiting = uri(directive=directive, precedence=precedence, ordinal=1)
    first = prerequisite_rank(waiting)
    assert (first.directive, first.precedence, 2) < (directive, precedence, 1)


@pytest.mark.parametrize(
    ("fetch_ms", "crawl_delay", "retry_after", "factor", "delay"),
    [
        (10, None, None, 1, 3.0),
        (2000, None, None, 1, 10.0),
        (60_000, None, None, 1, 30.0),
        (10, 20, None, 1, 20.0),
        (10, 1, None, 1, 3.0),
        (10, 99_999, None, 1, 300.0),
        (10, math.inf, None, 1, 300.0),
        (10, math.nan, math.nan, 1, 3.0),
        (10, -5, -5, 1, 3.0),
        (10, None, 7200, 1, 3600.0),
        (10, None, math.inf, 1, 3600.0),
        (10, 100, 50, 1, 100.0),
        (10, None, None, 4, 12.0),
        (60_000, None, None, 64, 300.0),
    ],
)
def test_politeness(
    fetch_ms: float,
    crawl_delay: float | None,
    retry_after: float | None,
    factor: float,
    delay: float,
) -> None:
    assert politeness_delay(POLITE, fetch_ms, crawl_delay, retry_after, Backoff(factor)) == delay


def test_maximum_wins_over_minimum() -> None:
    assert politeness_delay(PolitenessSettings(min_delay=9, max_delay=4), 1) == 4


def test_a_fixed_delay() -> None:
    fixed = PolitenessSettings(delay=0)
    assert politeness_delay(fixed, 5000) == 0
    assert politeness_delay(fixed, 5000, crawl_delay=2) == 2
    assert politeness_delay(fixed, 5000, backoff=Backoff(4.0)) == 4.0
    deaf = PolitenessSettings(
        delay=0, respect_crawl_delay_up_to=0, respect_retry_after_up_to=0, backoff_up_to=0
    )
    assert politeness_delay(deaf, 5000, 9, 9, Backoff(4.0)) == 0


@pytest.mark.parametrize("status", [-1, -2, -3, -4])
def test_unreachable_hosts_wait_twice_as_long_each_time(status: int) -> None:
    waits = []
    for attempts in range(40):
        decision = retry_decision(SETTINGS, uri(attempts=attempts), AttemptOutcome(status), NOW)
        if isinstance(decision, Final):
            break
        assert not decision.hold
        waits.append(decision.at - NOW)
    assert waits[:6] == [60, 120, 240, 480, 900, 900]
    assert len(waits) == 29


@pytest.mark.parametrize(
    ("status", "throttled", "last_delay", "retry_after", "decision"),
    [
        (429, 0, 4.0, 0.0, Retry(NOW + 8, hold=True, kind=RetryKind.THROTTLED)),
        (503, 4, 4.0, 100.0, Retry(NOW + 100, hold=True, kind=RetryKind.THROTTLED)),
        (503, 0, 4.0, 1e9, Retry(NOW + 3600, hold=True, kind=RetryKind.THROTTLED)),
        (503, 5, 4.0, 0.0, Final("retries used up")),
        (500, 0, 4.0, 0.0, Final("done")),
        (200, 0, 4.0, 0.0, Final("done")),
        (404, 3, 4.0, 0.0, Final("done")),
        (-9998, 0, 4.0, 0.0, Final("done")),
    ],
)
def test_replies(
    status: int, throttled: int, last_delay: float, retry_after: float, decision: Retry | Final
) -> None:
    ending = AttemptOutcome(status, False, retry_after, last_delay)
    tried = uri(attempts=throttled, throttled=throttled)
    assert retry_decision(SETTINGS, tried, ending, NOW) == decision


@pytest.mark.parametrize("status", sorted(STATUS_TABLE))
def test_the_table_of_statuses_says_what_is_tried_again(status: FetchStatus) -> None:
    decision = retry_decision(SETTINGS, uri(), AttemptOutcome(status), NOW)
    # What waits for a prerequisite comes back without having ended.
    again = isinstance(decision, Retry) or status is FetchStatus.DEFERRED
    assert again == STATUS_TABLE[status].retryable


@pytest.mark.parametrize(
    ("last", "unreachable", "decision"),
    [
        (0, 0, Retry(NOW + 5)),
        (-2, 3, Retry(NOW + 5)),
        (-5, 1, Final("done")),
        (-2, 29, Final("retries used up")),
    ],
)
def test_an_error_of_our_own_is_tried_once_more(
    last: int, unreachable: int, decision: Retry | Final
) -> None:
    tried = uri(attempts=unreachable, last_status=last)
    assert retry_decision(SETTINGS, tried, AttemptOutcome(-5), NOW) == decision


def test_a_body_cut_short_is_tried_twice_more() -> None:
    decisions = [
        retry_decision(
            SETTINGS, uri(attempts=n, truncated=n), AttemptOutcome(200, truncated=True), NOW
        )
        for n in range(3)
    ]
    kind = RetryKind.TRUNCATED
    expected = [Retry(NOW + 60, kind=kind), Retry(NOW + 120, kind=kind), Final("retries used up")]
    assert decisions == expected


def test_each_kind_of_try_is_counted_apart() -> None:
    tried = uri(attempts=31, throttled=4, truncated=1, starved=3)  # and 23 times unreachable
    assert retry_decision(SETTINGS, tried, AttemptOutcome(-2), NOW) == Retry(NOW + 900)
    assert isinstance(
        retry_decision(SETTINGS, tried, AttemptOutcome(503, last_delay=1.0), NOW), Retry
    )
    cut = retry_decision(SETTINGS, tried, AttemptOutcome(200, truncated=True), NOW)
    assert cut == Retry(NOW + 120, kind=RetryKind.TRUNCATED)
    starved = retry_decision(SETTINGS, tried, AttemptOutcome(-2, starved=True), NOW)
    assert starved == Retry(NOW + 10, kind=RetryKind.STARVED)
    worn = uri(attempts=5, throttled=5)
    assert retry_decision(SETTINGS, worn, AttemptOutcome(503), NOW) == Final("retries used up")
    assert retry_decision(SETTINGS, worn, AttemptOutcome(-2), NOW) == Retry(NOW + 60)


def test_a_prerequisite_holds_its_queue() -> None:
    robots = uri(path="LP")
    assert retry_decision(SETTINGS, robots, AttemptOutcome(-2), NOW) == Retry(NOW + 60, hold=True)
    assert retry_decision(SETTINGS, robots, AttemptOutcome(500), NOW) == Retry(NOW + 60, hold=True)
    assert isinstance(retry_decision(SETTINGS, robots, AttemptOutcome(404), NOW), Final)


def test_the_last_tries_share_ten_minutes() -> None:
    late, ending = uri(attempts=9), AttemptOutcome(-2)
    assert retry_decision(SETTINGS, late, ending, NOW, LastTriesPhase(NOW - 1)) == Retry(NOW + 200)
    assert retry_decision(SETTINGS, uri(), ending, NOW, LastTriesPhase(NOW - 1)) == Retry(NOW + 60)
    assert isinstance(retry_decision(SETTINGS, late, ending, NOW, LastTriesPhase(NOW - 600)), Final)


@pytest.mark.parametrize(
    ("path", "extra"),
    [
        ("", False),
        ("P", False),
        ("R", False),
        ("L", False),
        ("LR", False),
        ("LP", False),
        ("EL", False),
        ("M", False),
        ("S", False),
        ("E", True),
        ("LE", True),
        ("LER", True),
        ("LX", True),
        ("LXP", True),
        ("LI", True),
        ("LIRRP", True),
        ("7+" + "L" * 49 + "E", True),
        ("7+" + "E" * 49 + "L", False),
    ],
)
def test_what_only_serves_a_page_or_was_guessed(path, extra):
    assert is_extra(path) is extra


def test_one_more_try_where_nothing_else_is_left() -> None:
    ending = AttemptOutcome(-2)
    again = uri(attempts=1)
    assert isinstance(
        retry_decision(SETTINGS, again, ending, NOW, LastTriesPhase(NOW, once=True)), Final
    )
    assert isinstance(
        retry_decision(SETTINGS, uri(), ending, NOW, LastTriesPhase(NOW, once=True)), Retry
    )
    assert isinstance(retry_decision(SETTINGS, again, ending, NOW), Retry)


def test_a_dead_seed_has_one_early_try_and_one_at_the_end() -> None:
    ending, dead = AttemptOutcome(-2), {"heritable": {DEAD: "1"}}
    early = retry_decision(SETTINGS, uri(**dead), ending, NOW)
    assert isinstance(early, Retry)
    assert early.at > NOW + SETTINGS.retry_delay_max
    phase = LastTriesPhase(NOW, once=True)
    last = retry_decision(SETTINGS, uri(attempts=1, **dead), ending, NOW, phase)
    assert isinstance(last, Final)
    late = retry_decision(SETTINGS, uri(**dead), ending, NOW, phase)
    assert late == Retry(NOW)


SETTINGS_BACKOFF = PolitenessSettings()


def after(*replies: tuple[int, float], settings: PolitenessSettings = SETTINGS_BACKOFF) -> Backoff:
    state = Backoff()
    for status, latency in replies:
        state = next_backoff(settings, state, status, latency)
    return state


def test_throttling_doubles_and_success_decays() -> None:
    assert after((429, 50), (503, 50)).factor == 4.0
    assert after((429, 50), (200, 50)).factor == 1.6
    assert after((503, 50), *[(200, 50.0)] * 10).factor == 1.0


def test_rising_latency_raises_by_half() -> None:
    assert after((200, 300), (200, 2000)).slowness == 1.5
    assert after((200, 20), (200, 90)).slowness == 1.0
    assert after((200, 300), (200, 2000), (200, 300)).slowness == pytest.approx(1.2)


def test_slow_replies_leave_what_refusals_raised() -> None:
    assert after((200, 300), (429, 300), (200, 2000)).factor == 2.0


def paces(*replies: tuple[int, float], settings: PolitenessSettings = POLITE) -> list[Pace]:
    """The pace after each reply of a host: its status and the time it took, ms."""
    state, found = Backoff(), []
    for status, latency in replies:
        state = next_backoff(settings, state, status, latency)
        found.append(pace_after(settings, latency, backoff=state))
    return found


def test_pages_of_three_seconds_never_exceed_the_longest_wait() -> None:
    # robots.txt is fast, the pages behind it take 3 s.
    found = paces((200, 5), *[(200, 3000.0)] * 12)
    assert max(pace.delay for pace in found) == 30.0
    assert found[3] == (30.0, DelayCause.SLOW)
    assert found[-1] == (15.0, DelayCause.DURATION)


@given(
    st.lists(st.tuples(st.sampled_from([200, 304, 404, 500]), st.floats(0, 1e7))),
    st.floats(0, 100),
    st.floats(0, 100),
)
def test_only_refusals_exceed_the_longest_wait(
    replies: list[tuple[int, float]], least: float, most: float
) -> None:
    settings = PolitenessSettings(min_delay=least, max_delay=most)
    assert all(pace.delay <= most for pace in paces(*replies, settings=settings))


@given(st.lists(st.tuples(st.sampled_from([200, 429, 503, -2]), st.floats(0, 1e7))))
def test_refusals_raise_the_wait_to_their_limit(replies: list[tuple[int, float]]) -> None:
    for pace in paces(*replies):
        assert pace.delay <= (300.0 if pace.cause is DelayCause.REFUSED else 30.0)


def test_a_slow_reply_after_a_refusal_adds_nothing_to_it() -> None:
    state = Backoff(2.0, 100.0)
    refused = pace_after(POLITE, 3000, backoff=state)
    assert refused == (30.0, DelayCause.REFUSED)
    slow = pace_after(POLITE, 3000, backoff=Backoff(2.0, 100.0, 1.5))
    assert slow.delay == 30.0


@pytest.mark.parametrize(
    ("settings", "facts", "cause", "limit"),
    [
        ({"delay": 4}, {}, DelayCause.FIXED, 0.0),
        ({}, {}, DelayCause.DURATION, 30.0),
        ({}, {"backoff": Backoff(slowness=2.0)}, DelayCause.SLOW, 30.0),
        ({"delay": 4}, {"backoff": Backoff(slowness=2.0)}, DelayCause.FIXED, 0.0),
        ({"backoff_up_to": 0}, {"backoff": Backoff(4.0, 0.0, 2.0)}, DelayCause.DURATION, 30.0),
        ({}, {"backoff": Backoff(4.0)}, DelayCause.REFUSED, 300.0),
        ({}, {"crawl_delay": 9.0}, DelayCause.CRAWL_DELAY, 300.0),
        ({}, {"retry_after": 9.0}, DelayCause.RETRY_AFTER, 3600.0),
        ({}, {"retry_after": 1.0}, DelayCause.DURATION, 30.0),
    ],
)
def test_the_cause_of_a_delay(
    settings: dict[str, object], facts: dict[str, Any], cause: DelayCause, limit: float
) -> None:
    polite = PolitenessSettings.model_validate(settings)
    assert pace_after(polite, 10, **facts).cause is cause
    assert delay_limit(polite, cause) == limit


def test_a_fixed_delay_ignores_latency_but_not_throttling() -> None:
    fixed = PolitenessSettings(delay=0)
    assert after((200, 300), (200, 20_000), settings=fixed).slowness == 1.0
    assert after((429, 300), settings=fixed).factor == 2.0


def test_failures_say_nothing_and_zero_switches_it_off() -> None:
    assert after((200, 300), (-2, 20_000)) == Backoff(1.0, 300)
    assert after((429, 300), settings=PolitenessSettings(backoff_up_to=0)) == Backoff()


@given(st.lists(st.tuples(st.sampled_from([200, 404, 429, 503, -2]), st.floats(0, 1e7))))
def test_the_factor_stays_in_bounds(replies: list[tuple[int, float]]) -> None:
    state = after(*replies)
    assert 1.0 <= state.factor <= 64.0
    assert 1.0 <= state.slowness <= 64.0


@pytest.mark.parametrize(
    ("choice", "cost", "path", "precedence"),
    [
        (UriPrecedence(), 3, "LLL", 3),
        (UriPrecedence(), 500, "", 127),
        (UriPrecedence(policy="base", base=9), 3, "LLL", 9),
        (UriPrecedence(policy="hops"), 3, "", 1),
        (UriPrecedence(policy="hops"), 3, "LELR", 3),
        (UriPrecedence(policy="hops", navlinks_only=False), 3, "LELR", 5),
        (UriPrecedence(policy="hops", base=0), 1, "60+LE", 61),
        (UriPrecedence(policy="hops", base=100), 1, "60+LL", 127),
    ],
)
def test_precedence_of_uris(choice: UriPrecedence, cost: int, path: str, precedence: int) -> None:
    assert uri_precedence(choice, cost, path) == precedence


@pytest.mark.parametrize(
    ("choice", "successes", "lowest", "precedence"),
    [
        (QueuePrecedence(), 5000, 9, 3),
        (QueuePrecedence(policy="highest-uri", base=2), 5000, 9, 11),
        (QueuePrecedence(policy="highest-uri", base=250), 0, 127, 255),
        (QueuePrecedence(policy="success-counts", base=2), 99, 9, 2),
        (QueuePrecedence(policy="success-counts", base=2), 100, 9, 3),
        (QueuePrecedence(policy="success-counts", base=2), 1099, 9, 3),
        (QueuePrecedence(policy="success-counts", base=2), 1100, 9, 4),
        (QueuePrecedence(policy="success-counts", base=2), 2100, 9, 5),
        (QueuePrecedence(policy="success-counts", increments=(10,)), 25, 0, 5),
        (QueuePrecedence(policy="success-counts", increments=(1,)), 10**9, 0, 255),
    ],
)
def test_precedence_of_queues(
    choice: QueuePrecedence, successes: int, lowest: int, precedence: int
) -> None:
    assert queue_precedence(choice, successes, lowest) == precedence


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=4), st.integers(0, 300), st.integers(0, 50)
)
def test_more_successes_never_come_sooner(increments: list[int], some: int, more: int) -> None:
    choice = QueuePrecedence(policy="success-counts", increments=tuple(increments))
    assert queue_precedence(choice, some) <= queue_precedence(choice, some + more)


@pytest.mark.parametrize(
    ("policy", "url", "via", "cost"),
    [
        ("unit", "http://a/?x", "http://a/", 1),
        ("zero", "http://a/?x", "", 0),
        ("wag", "http://a/b", "http://a/b", 1),
        ("wag", "http://a/b?x=1", "", 2),
        ("wag", "http://a/b?x=1", "http://a/c", 2),
        ("wag", "http://a/b?x=1", "http://a/b?x=2", 3),
        ("wag", "http://a/b?x=1", "http://a/b/c", 3),
        ("wag", "http://a/b?", "http://a/b", 3),
        ("anti-calendar", "http://a/page", "", 1),
        ("anti-calendar", "http://a/Calendar/2020/05/", "", 2),
        ("anti-calendar", "http://a/archive/2020/05", "", 2),
        ("anti-calendar", "http://a/archive/1999.html", "", 2),
        ("anti-calendar", "http://a/archive/2020", "", 1),
        ("anti-calendar", "http://a/12020.html", "", 1),
        ("anti-calendar", "http://a/?yr=7", "", 2),
        ("anti-calendar", "http://a/bonjour", "", 2),
        ("anti-calendar", "http://a/calendrier", "", 2),
        ("anti-calendar", "http://a/UPDATES", "", 2),
    ],
)
def test_costs(policy: CostPolicy, url: str, via: str, cost: int) -> None:
    assert cost_of(policy, url, via) == cost


@given(st.text(max_size=40), st.text(max_size=40))
def test_costs_are_small(url: str, via: str) -> None:
    assert cost_of("wag", url, via) in {1, 2, 3}
    assert cost_of("anti-calendar", url, via) in {1, 2}
