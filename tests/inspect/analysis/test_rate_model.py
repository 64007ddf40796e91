import pytest

from nacre.inspect.analysis.rate_model import RateModel, data_basis, next_run
from tests.inspect.analysis.given import DAY, MONDAY, Given, evidence


def watched(*days: float) -> Given:
    given = Given()
    for number, day in enumerate(days, 1):
        given.run(number, day)
    return given


@pytest.mark.parametrize(
    ("days", "doubt"),
    [
        ((), "no run after the first one"),
        ((0.0,), "no run after the first one"),
        ((0.0, 7.0), "one run after the first one"),
        ((0.0, 7.0, 14.0), ""),
    ],
)
def test_a_job_needs_two_runs_after_the_first(days: tuple[float, ...], doubt: str):
    found = data_basis(watched(*days))
    assert doubt in found.doubt
    assert bool(found.doubt) == bool(doubt)
    assert found.doubt_of(0.1) == found.doubt


@pytest.mark.parametrize(("interval", "sure"), [(3.0, True), (14.0, True), (14.1, False)])
def test_no_interval_is_sure_that_was_not_watched(interval: float, sure: bool):
    told = data_basis(watched(0.0, 7.0, 14.0)).doubt_of(interval)
    assert (told == "") is sure
    assert sure or "longer than 14 d" in told


@pytest.fixture
def known() -> Given:
    given = Given()
    given.run(1, 0)
    given.run(2, 28)
    given.page("/a", visits=3, last=28, evidence=evidence(1.0, "11"))
    return given


def test_the_interval_counts_from_the_last_run(known: Given):
    trigger = next_run(known, RateModel(known), 7.0)
    assert trigger.time == MONDAY + 35 * DAY
    assert "7 d" in trigger.why


def test_a_hint_calls_at_once(known: Given):
    known.page("/told", visits=2, last=28, told=("sitemap",))
    trigger = next_run(known, RateModel(known), 7.0)
    assert trigger.time == known.now
    assert trigger.why == "hints announce changes of 1 page"


def test_a_missing_page_is_looked_at_again(known: Given):
    known.page("/lost", visits=2, last=29.9, life="suspect", life_since=MONDAY + 29.9 * DAY)
    trigger = next_run(known, RateModel(known), 7.0)
    assert trigger.time == pytest.approx(MONDAY + 30.9 * DAY)
    assert "second check of missing pages is due (1 page)" in trigger.why


def test_what_a_run_now_would_do(known: Given):
    trigger = next_run(known, RateModel(known), 7.0)
    assert trigger.reasons == {"rate": 1}
    assert 0.5 < trigger.changes <= 1.0
