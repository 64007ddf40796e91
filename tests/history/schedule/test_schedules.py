"""Schedules to choose in place of the planner: stationary points, calendars, Nutch's dates."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.history.schedule.nutch import (
    NutchDatum,
    NutchRates,
    NutchSchedule,
    PageState,
    read_mime_rates,
)
from nacre.history.schedule.schedules import (
    DAY,
    HERITRIX,
    HOUR,
    STORMCRAWLER,
    Calendar,
    Factors,
    heritrix_first,
)


def _changed_share(factors: Factors, rate: float) -> float:
    """Share of visits that see a change, once the interval has settled."""
    rng = random.Random(1)
    interval, seen, total = 0.0, 0, 0
    for visit in range(40_000):
        waited = interval or factors.first
        changed = rng.random() > 2.718281828 ** (-rate * waited / DAY)
        interval = factors.next_interval(interval, changed=changed)
        if visit > 500:
            seen, total = seen + changed, total + 1
    return seen / total


@pytest.mark.parametrize(("factors", "expected"), [(HERITRIX, 0.500), (STORMCRAWLER, 0.369)])
def test_schedules_settle_where_the_reference_says(factors: Factors, expected: float) -> None:
    """Reference 2.2: the share of visits that find a change does not depend on the rate."""
    assert _changed_share(factors, rate=0.1) == pytest.approx(expected, rel=0.05)


def test_bounds_hold() -> None:
    assert HERITRIX.next_interval(28 * DAY, changed=False) == 28 * DAY
    assert HERITRIX.next_interval(HOUR, changed=True) == HOUR


def test_heritrix_waits_by_media_type() -> None:
    assert heritrix_first("text/html") == 12 * HOUR
    assert heritrix_first("image/png") == 2 * DAY
    assert heritrix_first("") == 3 * DAY
    assert heritrix_first("application/pdf") == DAY


def _time(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


CALENDARS = [
    ("0 3 * * *", "2026-11-21T02:59:59", "2026-11-21T03:00:00"),
    ("0 3 * * *", "2026-11-21T03:00:00", "2026-11-22T03:00:00"),
    ("*/20 * * * *", "2026-11-21T03:01:00", "2026-11-21T03:20:00"),
    ("30 1 1 jan *", "2026-11-21T00:00:00", "2027-01-01T01:30:00"),
    ("0 0 * * mon-fri", "2026-11-21T00:00:00", "2026-11-23T00:00:00"),
    ("0 0 * * 7", "2026-11-21T12:00:00", "2026-11-22T00:00:00"),
    ("0 0 13 * fri", "2026-11-21T00:00:00", "2026-11-27T00:00:00"),
    ("0 0 29 2 *", "2026-11-21T00:00:00", "2028-02-29T00:00:00"),
    ("5,10 8-9 * * *", "2026-11-21T08:07:00", "2026-11-21T08:10:00"),
    ("@monthly", "2026-11-21T00:00:00", "2026-12-01T00:00:00"),
]


@pytest.mark.parametrize(("text", "now", "expected"), CALENDARS)
def test_calendars(text: str, now: str, expected: str) -> None:
    assert Calendar(text).after(_time(now)) == _time(expected)


def test_a_calendar_keeps_to_its_zone() -> None:
    at = Calendar("0 2 * * *", "Asia/Shanghai").after(_time("2026-11-21T00:00:00"))
    assert at == _time("2026-11-21T18:00:00")


def test_a_date_that_never_comes() -> None:
    assert Calendar("0 0 31 2 *").after(_time("2026-11-21T00:00:00")) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 0 * *", "five fields"),
        ("60 0 * * *", "minute '60'"),
        ("0 x * * *", "hour 'x'"),
        ("0 0 5-2 * *", "day '5-2'"),
        ("0 */0 * * *", "hour"),
    ],
)
def test_bad_calendars_say_which_field(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"five|not") as caught:
        Calendar(text)
    assert told in str(caught.value)


def test_unknown_zones_are_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        Calendar("0 0 * * *", "Mars/Olympus")


@given(st.floats(0, 4e9))
def test_the_next_time_lies_ahead(now: float) -> None:
    after = Calendar("15 */6 * * *").after(now)
    assert after is not None
    assert now < after <= now + 6 * HOUR


def test_nutch_learns_by_media_type() -> None:
    rates = read_mime_rates("# comment\ntext/html\t.2\t.2\napplication/pdf\t.1\t.4\n")
    schedule = NutchSchedule(kind="mime-adaptive", sync_delta=False, mime_rates=dict(rates))
    before = NutchDatum(100_000.0, 0)
    pdf = schedule.fetched(before, 0, PageState.MODIFIED, "application/pdf")
    other = schedule.fetched(before, 0, PageState.NOT_MODIFIED, "image/png")
    assert pdf.interval == pytest.approx(60_000.0)
    assert other.interval == pytest.approx(140_000.0)
    assert rates["application/pdf"] == NutchRates(0.1, 0.4)


def test_a_bad_line_of_rates_is_named() -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_mime_rates("text/html\t.2\t.2\ntext/plain .2\n")


def test_nutch_pulls_dates_that_are_too_far_to_now() -> None:
    schedule = NutchSchedule()
    due, datum = schedule.due(NutchDatum(1e8, 10**15), 0)
    assert due
    assert datum.interval == pytest.approx(0.9 * 7_776_000)


def test_nutch_gone_and_retry() -> None:
    schedule = NutchSchedule()
    assert schedule.gone(NutchDatum(1000.0, 0), 0).interval == 1500.0
    assert schedule.retried(NutchDatum(1000.0, 0), 0).fetch_time == 86_400_000


@pytest.mark.parametrize(
    ("interval", "gone", "due"),
    [(61.0, 92.0, 61.0), (7_000_000.0, 6_998_400.0, 7_000_000.0), (8e6, 6_998_400.0, 6_998_400.0)],
)
def test_nutch_keeps_whole_seconds_and_shortens_only_what_is_beyond_the_longest(
    interval: float, gone: float, due: float
) -> None:
    schedule, datum = NutchSchedule(), NutchDatum(interval, 10**15)
    assert schedule.gone(datum, 5)[:2] == (gone, 5 + gone * 1000)
    assert schedule.due(datum, 0)[1][:2] == (due, 0)


@pytest.mark.parametrize(("rate", "offset"), [(0.5, 0), (1.0, 1_000_000)])
def test_nutch_divides_integers_where_the_last_change_is_long_ago(rate: float, offset: int) -> None:
    schedule = NutchSchedule(sync_delta_rate=rate, max_interval=1000.0)
    at = 10**10
    after = schedule.fetched(NutchDatum(60.0, 0, 1), at, PageState.UNKNOWN)
    assert after[:2] == (1000, at - offset + 1_000_000)
