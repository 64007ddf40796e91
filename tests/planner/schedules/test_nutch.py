"""Nutch's schedules, date by date: what the reference and Nutch's own arithmetic say."""

import pytest

from nacre.core.pagerow import TimingRow
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.schedules.nutch import (
    NutchDatum,
    NutchRates,
    NutchSchedule,
    PageState,
    read_mime_rates,
)
from nacre.planner.schedules.schedules import DAY, Met
from tests.planner.schedules.made import START, URL, made


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


def test_nutch_forces_what_waits_longer_than_the_longest() -> None:
    """Reference 1.4 step 7: it becomes a page that was never seen, and its interval 0.9 of that."""
    timing = made("nutch-adaptive")
    met = Met(START, 200, Answer.THERE, first=True, mime="text/html")
    row = TimingRow(
        URL,
        "nutch-adaptive",
        START - 80 * DAY,
        80 * DAY,
        START,
        START - 200 * DAY,
    )
    row = timing.after(URL, row, met._replace(first=False))
    assert (row.interval, row.signed, row.modified) == (round(0.9 * 90 * DAY), False, 0.0)
    assert row.due == pytest.approx(START + 140 * DAY, abs=1.0)
    # A date so far ahead is due at once, until it has come nearer.
    assert timing.due(row, START) == START
    again = timing.after(URL, row, met._replace(time=START + DAY, first=False, changed=True))
    assert (again.interval, again.signed) == (81 * DAY, True)


def test_nutch_keeps_whole_seconds_and_milliseconds() -> None:
    timing = made("nutch-adaptive", nutch={"interval": 100.0})
    row = timing.after(URL, None, Met(START + 0.0004, 200, Answer.THERE, first=True))
    for number in range(3):
        row = timing.after(URL, row, Met(row.due, 200, Answer.THERE, changed=number == 1))
    assert row.interval == int(row.interval)
    assert round(row.due * 1000) == pytest.approx(row.due * 1000, abs=1e-3)
