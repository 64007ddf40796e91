"""When a page has ended: tables, and what holds for all orders of events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.browser.settle import AGAIN, CHANGING, LONG, QUIET, SettleStep, Settling

LIMIT = 30.0


def loaded(now: float = 0.0) -> Settling:
    settling = Settling(0.0, LIMIT)
    settling.load(now)
    return settling


def test_nothing_is_counted_before_the_load_event():
    settling = Settling(0.0, LIMIT)
    assert settling.verdict(5.0) == (SettleStep.WAIT, LIMIT - 5.0)
    settling.load(5.0)
    assert settling.verdict(5.0).step is SettleStep.PROBE


def test_two_equal_counts_end_it():
    settling = loaded()
    assert not settling.is_settled(10, 1.0)
    step, seconds = settling.verdict(1.0)
    assert step is SettleStep.WAIT
    assert seconds == pytest.approx(AGAIN)
    assert settling.verdict(1.0 + AGAIN).step is SettleStep.PROBE
    assert settling.is_settled(10, 1.1)


def test_another_count_does_not():
    settling = loaded()
    settling.is_settled(10, 1.0)
    assert not settling.is_settled(11, 1.1)
    assert settling.is_settled(11, 1.2)


def test_a_request_between_the_counts_begins_again():
    settling = loaded()
    settling.is_settled(10, 1.0)
    settling.start_request("1", "fetch", 1.05)
    settling.end_request("1", 1.06)
    assert settling.verdict(1.2).step is SettleStep.WAIT
    assert not settling.is_settled(10, 1.06 + QUIET)
    assert settling.is_settled(10, 1.16 + QUIET)


@pytest.mark.parametrize(
    ("counts", "request_at", "is_settled"),
    [((10, 10), 0.5, True), ((10, 11), 0.5, False), ((10, 10), 1.05, False)],
)
def test_two_counts_together(counts: tuple[int, int], request_at: float, is_settled: bool):
    settling = loaded()
    settling.start_request("1", "image", request_at)
    settling.end_request("1", request_at)
    assert settling.is_settled_by(counts, 1.0, 1.1) is is_settled
    assert settling.is_settled_by((counts[1], 12), 2.0, 2.1) is (request_at < 1)


def test_streams_are_not_loaded_to_their_end():
    settling = loaded()
    settling.start_request("1", "fetch", 1.0)
    assert not settling.is_loading()
    settling.start_request("2", "image", 1.0)
    assert settling.is_loading()
    settling.end_request("2", 1.1)
    assert not settling.is_loading()


def test_elements_that_come_and_go_for_ever_end():
    settling = loaded()
    assert not settling.is_settled(1, 1.0)
    assert not settling.is_settled(2, QUIET + CHANGING - 0.6)
    assert settling.is_settled(3, QUIET + CHANGING)


@pytest.mark.parametrize(
    ("resource", "now", "step"),
    [
        ("script", 20.0, SettleStep.WAIT),
        ("image", 20.0, SettleStep.WAIT),
        ("document", 20.0, SettleStep.WAIT),
        ("fetch", 2.0, SettleStep.WAIT),
        ("fetch", LONG + QUIET + 0.1, SettleStep.PROBE),
        ("fetch", LONG + 0.1, SettleStep.WAIT),
        ("media", LONG + QUIET + 0.1, SettleStep.PROBE),
        ("websocket", LONG + QUIET + 0.1, SettleStep.PROBE),
    ],
)
def test_requests_in_flight(resource, now, step):
    settling = loaded()
    settling.start_request("1", resource, 0.0)
    assert settling.verdict(now).step is step


def test_the_end_of_a_long_poll_is_no_activity():
    settling = loaded()
    settling.start_request("1", "fetch", 0.0)
    settling.end_request("1", 20.0)
    assert settling.verdict(20.1).step is SettleStep.PROBE


def test_a_redirect_is_one_request():
    settling = loaded()
    settling.start_request("1", "script", 0.0)
    settling.start_request("1", "script", 0.1)
    settling.end_request("1", 0.2)
    assert settling.is_quiet(0.21 + QUIET)


def test_unknown_requests_are_ignored():
    settling = loaded()
    settling.end_request("x", 1.0)
    assert settling.verdict(1.0).step is SettleStep.PROBE


def test_the_limit_ends_all():
    settling = Settling(0.0, LIMIT)
    settling.start_request("1", "script", 1.0)
    assert settling.verdict(LIMIT).step is SettleStep.TIMEOUT
    settling.restart(LIMIT, 5.0)
    settling.load(LIMIT)
    assert settling.verdict(LIMIT) == (SettleStep.WAIT, 5.0)
    settling.end_request("1", LIMIT + 1)
    assert settling.verdict(LIMIT + 1 + QUIET).step is SettleStep.PROBE
    assert settling.verdict(LIMIT + 5).step is SettleStep.TIMEOUT


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(("load", "start", "end", "count", "verdict")),
        st.integers(0, 3).map(str),
        st.sampled_from(("script", "fetch", "media")),
        st.floats(0, 2, allow_nan=False),
    ),
    max_size=40,
)


@given(EVENTS)
def test_it_always_ends(events):
    """A caller that does what it says comes to an end, and never waits for nothing."""
    settling = Settling(0.0, LIMIT)
    now = 0.0
    for kind, request, resource, seconds in events:
        now += seconds
        match kind:
            case "load":
                settling.load(now)
            case "start":
                settling.start_request(request, resource, now)
            case "end":
                settling.end_request(request, now)
            case "count":
                settling.is_settled(int(request), now)
            case _:
                verdict = settling.verdict(now)
                assert (verdict.seconds > 0) is (verdict.step is SettleStep.WAIT)
    for _ in range(1000):
        verdict = settling.verdict(now)
        if verdict.step is SettleStep.TIMEOUT:
            return
        now += verdict.seconds
        if verdict.step is SettleStep.PROBE:
            assert settling.is_loaded
            assert settling.is_quiet(now)
            if settling.is_settled(1, now):
                return
    raise AssertionError("no end")
