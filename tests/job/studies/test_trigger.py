import pytest

from nacre.job.studies.model import Model
from nacre.job.studies.trigger import next_trigger
from tests.job.studies.given import DAY, MONDAY, Given, evidence


@pytest.fixture
def known() -> Given:
    given = Given()
    given.run(1, 0)
    given.run(2, 28)
    given.page("/a", visits=3, last=28, evidence=evidence(1.0, "11"))
    return given


def test_the_interval_counts_from_the_last_run(known: Given):
    trigger = next_trigger(known, Model(known), 7.0)
    assert trigger.time == MONDAY + 35 * DAY
    assert "7 d" in trigger.why


def test_a_hint_calls_at_once(known: Given):
    known.page("/told", visits=2, last=28, told=("sitemap",))
    trigger = next_trigger(known, Model(known), 7.0)
    assert trigger.time == known.now
    assert trigger.why == "hints tell of changes of 1 page"


def test_a_missing_page_is_looked_at_again(known: Given):
    known.page("/lost", visits=2, last=29.9, life="suspect", life_since=MONDAY + 29.9 * DAY)
    trigger = next_trigger(known, Model(known), 7.0)
    assert trigger.time == pytest.approx(MONDAY + 30.9 * DAY)
    assert "second look at what was missing is due (1 page)" in trigger.why


def test_what_a_run_now_would_do(known: Given):
    trigger = next_trigger(known, Model(known), 7.0)
    assert trigger.reasons == {"rate": 1}
    assert 0.5 < trigger.changes <= 1.0
