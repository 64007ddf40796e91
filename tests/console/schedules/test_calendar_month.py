"""The month of the calendar, of schedules and notes that are given."""

from datetime import date

import msgspec
import pytest

from nacre.console.schedules.calendar_month import (
    CalendarDay,
    CalendarLook,
    LimitedHours,
    MonthEntry,
    OwnPasses,
    clashes_of,
    month_of,
    weeks_of,
)
from nacre.fleet.job_files import FinishedRun
from nacre.fleet.schedule_book import KeptSchedule, ScheduleNote, ScheduleWish
from nacre.runs.passes import RecurringCrawl

FIRST = date(2026, 11, 1)
NOW = 1_793_664_000.0
"""2026-11-03T00:00:00Z: the Monday before it is over."""
HOUR = 3600.0


def schedule(
    number: int, wish: ScheduleWish, *notes: ScheduleNote, path: str = "/a"
) -> KeptSchedule:
    last = notes[0] if notes else ScheduleNote()
    return KeptSchedule(number, path, wish, "anna", 0.0, waits=False, note=last, notes=notes)


def days_of(weeks: list[list[CalendarDay]]) -> dict[int, CalendarDay]:
    return {day.day: day for week in weeks for day in week if day.day}


def test_a_month_has_its_weeks_and_the_runs_to_come():
    item = schedule(1, ScheduleWish("a", "30 2 * * 1"))
    days = days_of(weeks_of(FIRST, [item], NOW))
    runs = {number: day.runs for number, day in days.items() if day.runs}
    assert runs == dict.fromkeys((9, 16, 23, 30), (MonthEntry("02:30", "a"),))
    often = msgspec.structs.replace(item, wish=ScheduleWish("a", "* * * * *"))
    assert weeks_of(FIRST, [often], NOW)[0][6].day == 1
    assert month_of("2026-12", 0.0) == date(2026, 12, 1)
    assert month_of("", NOW) == FIRST


def test_what_became_of_runs_stands_in_the_month():
    notes = (
        ScheduleNote(NOW - HOUR, "skipped"),
        ScheduleNote(NOW - 2 * HOUR, "begun", missed=2),
        ScheduleNote(NOW - 40 * 24 * HOUR, "failed", "it is long ago"),
    )
    days = days_of(weeks_of(FIRST, [schedule(1, ScheduleWish("a", "0 5 3 * *"), *notes)], NOW))
    assert days[2].runs == (
        MonthEntry("22:00", "a", "begun", 2),
        MonthEntry("23:00", "a", "skipped"),
    )
    assert days[3].runs == (MonthEntry("05:00", "a"),)
    assert [one.is_trouble for one in days[2].runs] == [True, True]


def test_runs_that_are_over_stand_on_the_day_of_their_end():
    over = [FinishedRun(NOW - HOUR, "a", "20261102T200000Z", "FINISHED")]
    over += [FinishedRun(NOW - 60 * 24 * HOUR, "a", "20260902T200000Z", "")]
    days = days_of(weeks_of(FIRST, [], NOW, look=CalendarLook(finished=over)))
    assert {number: day.runs for number, day in days.items() if day.runs} == {
        2: (MonthEntry("23:00", "a", run="20261102T200000Z", exit="FINISHED"),)
    }


def test_a_day_with_many_runs_shows_what_went_wrong():
    note = ScheduleNote(NOW + 22.5 * HOUR, "failed")
    days = days_of(weeks_of(FIRST, [schedule(1, ScheduleWish("a", "@hourly"), note)], NOW))
    assert [one.at for one in days[3].runs] == ["01:00", "02:00", "03:00", "04:00", "22:30"]
    assert days[3].more == 19


def test_two_runs_of_a_job_at_the_same_moment_are_marked():
    daily = schedule(1, ScheduleWish("a", "0 2 * * *"))
    monthly = schedule(2, ScheduleWish("a", "0 10 15 * *", "Asia/Shanghai"))
    other = schedule(3, ScheduleWish("b", "0 2 * * *"), path="/b")
    makes = schedule(4, ScheduleWish("a", "0 2 * * *", mode="new-job"))
    paused = schedule(5, ScheduleWish("a", "0 2 * * *", paused=True))
    found = [daily, monthly, other, makes, paused]
    days = days_of(weeks_of(FIRST, found, NOW))
    assert sum(one.is_twice for one in days[15].runs) == 2
    assert not any(one.is_twice for one in days[14].runs)
    clashes = clashes_of(found, NOW)
    assert {number: clash.other.id for number, clash in clashes.items()} == {1: 2, 2: 1}
    assert clashes[1].time == NOW + (12 * 24 + 2) * HOUR
    assert clashes_of([daily, other], NOW) == {}


@pytest.mark.parametrize("often", ["* * * * *", "*/5 * * * *"])
def test_a_schedule_that_is_rare_and_one_that_is_not_are_compared(often: str):
    rare = schedule(2, ScheduleWish("a", "0 2 28 * *"))
    assert set(clashes_of([schedule(1, ScheduleWish("a", often)), rare], NOW)) == {1, 2}


def test_passes_that_a_job_begins_itself_are_runs_to_come():
    every = OwnPasses("a", RecurringCrawl(1, "--every 240h", NOW + 12 * HOUR))
    days = days_of(weeks_of(FIRST, [], NOW, look=CalendarLook([every])))
    runs = {number: day.runs for number, day in days.items() if day.runs}
    assert runs == dict.fromkeys((3, 13, 23), (MonthEntry("12:00", "a", is_own=True),))


def test_hours_with_other_limits_stand_at_the_day_of_utc_on_which_they_begin():
    limited = LimitedHours("Asia/Shanghai", (("mon", "7-17"), ("sun", "22:30-6,0-24")))
    days = days_of(weeks_of(FIRST, [], NOW, limited=limited))
    # The first is a Sunday: the Monday of Shanghai begins on it, and its own Sunday before it.
    assert days[1].hours == ("23:00\N{EN DASH}09:00", "14:30\N{EN DASH}22:00")
    assert days[2].hours == ()
    assert days[7].hours == ("16:00\N{EN DASH}16:00",)
    assert days_of(weeks_of(FIRST, [], NOW))[1].hours == ()
