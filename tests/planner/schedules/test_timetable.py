"""Which pages a timetable calls due, and which schedules settings choose."""

import math
from collections.abc import Callable

import pytest

from nacre.core.pagerow import PageRow, TimingRow
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.schedules.schedules import DAY, HOUR, Met, Timing
from nacre.planner.schedules.timetable import ScheduleSettings, Timetable, timing_of
from tests.planner.schedules.made import START, URL, made


class _Rows:
    def __init__(self) -> None:
        self.rows: dict[str, TimingRow] = {}

    def timing(self, url: str) -> TimingRow | None:
        return self.rows.get(url)

    def put_timing(self, row: TimingRow) -> None:
        self.rows[row.url] = row


def _table(of: Callable[[str], Timing | None]) -> tuple[Timetable, _Rows]:
    rows = _Rows()
    return Timetable(rows, of), rows


def test_the_planner_is_no_schedule() -> None:
    assert timing_of(ScheduleSettings(), {}) is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"kind": "sometimes"}, "worth"),
        ({"kind": "calendar", "at": "0 25 * * *"}, "hour"),
        ({"kind": "calendar", "time_zone": "Mars/Olympus"}, "time zone"),
        ({"kind": "fixed", "interval": 0}, "greater than 0"),
    ],
)
def test_what_is_no_schedule(said: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ScheduleSettings.model_validate(said)


def test_a_calendar_has_its_times() -> None:
    timing = made("calendar", at="0 3 * * *", time_zone="Asia/Shanghai")
    row = timing.after(URL, None, Met(START, 200, Answer.THERE, first=True))
    assert row.due == timing.due(row, START) == 1_760_036_400.0
    never = made("calendar", at="0 0 30 2 *")
    assert never.due(row, START) == math.inf


def test_another_interval_holds_at_once() -> None:
    row = made("fixed").after(URL, None, Met(START, 200, Answer.THERE, first=True))
    assert made("fixed", interval="1d").due(row, START) == START + DAY


def test_a_page_of_the_planner_has_no_time() -> None:
    table, rows = _table(lambda _: None)
    page = PageRow(URL, visits=3, last_visit=START)
    assert (table.governs(URL), table.due(page, START)) == (False, None)
    table.learn(URL, Met(START, 200, Answer.THERE))
    assert not rows.rows


def test_a_new_page_has_no_time_and_a_known_one_is_taken_over() -> None:
    table, _ = _table(lambda _: made("fixed"))
    assert table.due(PageRow(URL), START) is None
    assert table.due(PageRow(URL, visits=1, last_visit=START), START) == (
        START + 7 * DAY,
        False,
    )


def test_a_visit_counts_once() -> None:
    table, rows = _table(lambda _: made("heritrix"))
    for _ in range(2):
        table.learn(URL, Met(START, 200, Answer.THERE, first=True, mime="text/html"))
        table.learn(URL, Met(START + DAY, 200, Answer.THERE, mime="text/html"))
    assert rows.rows[URL].interval == 18 * HOUR


def test_another_schedule_begins_anew_where_the_last_left_it() -> None:
    kinds = ["fixed"]
    table, rows = _table(lambda _: made(kinds[0]))
    table.learn(URL, Met(START, 200, Answer.THERE, first=True, mime="text/html"))
    kinds[0] = "heritrix"
    page = PageRow(URL, visits=1, last_visit=START - DAY)
    assert table.due(page, START) == (START + 12 * HOUR, False)
    table.learn(URL, Met(START + DAY, 200, Answer.THERE, changed=True, mime="text/html"))
    assert (rows.rows[URL].kind, rows.rows[URL].interval) == ("heritrix", 8 * HOUR)


def test_a_page_that_never_answered_waits_as_its_schedule_says() -> None:
    table, _ = _table(lambda _: made("nutch-default"))
    table.learn(URL, Met(START, -2, Answer.SILENT, first=True))
    assert table.due(PageRow(URL, errors=1), START) == (START + DAY, False)


def test_a_run_of_every_week_finds_what_the_last_one_visited_at_its_end() -> None:
    """Intervals count from the beginning of the run, and runs never begin to the second."""
    table, _ = _table(lambda _: made("fixed"))
    page = PageRow(URL, visits=1, last_visit=START)
    table.learn(URL, Met(START + 9 * HOUR, 200, Answer.THERE, first=True, run=START))
    assert table.due(page, START + 7 * DAY - HOUR) == (START + 7 * DAY, True)
    assert table.due(page, START + 7 * DAY - 2 * HOUR) == (
        START + 7 * DAY,
        False,
    )


def test_nutch_counts_to_the_millisecond() -> None:
    table, _ = _table(lambda _: made("nutch-default"))
    page = PageRow(URL, visits=1, last_visit=START)
    table.learn(URL, Met(START + 9.0, 200, Answer.THERE, first=True, run=START))
    due = START + 9.0 + 30 * DAY
    assert table.due(page, due - 0.002) == (due, False)
    assert table.due(page, due) == (due, True)
