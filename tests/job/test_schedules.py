"""Schedules of runs: times in a zone, missed and overlapping runs."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from nacre.job.schedules import (
    RunActivity,
    RunOverlap,
    RunSchedule,
    ScheduleDecision,
    ScheduleStep,
    decide_schedule,
    next_times,
)

DAY = 86_400.0
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
DAILY = RunSchedule("0 3 * * *", "Asia/Shanghai")
THREE = datetime(2026, 11, 24, 3, tzinfo=ZoneInfo("Asia/Shanghai")).timestamp()
RESTS, RUNS, PAUSED = RunActivity.RESTS, RunActivity.RUNS, RunActivity.PAUSED


def with_overlap(overlap: RunOverlap) -> RunSchedule:
    return RunSchedule(DAILY.at, DAILY.zone, overlap)


def test_the_next_ten_times():
    assert next_times(DAILY, NOON) == [THREE + n * DAY for n in range(10)]
    ends = RunSchedule(DAILY.at, DAILY.zone, until=THREE + DAY)
    assert next_times(ends, NOON) == [THREE, THREE + DAY]
    assert next_times(RunSchedule("0 0 30 2 *"), NOON) == []


def test_times_follow_the_clocks_of_the_zone():
    schedule = RunSchedule("30 8 * * *", "Europe/Berlin")
    before = datetime(2027, 3, 27, 12, tzinfo=UTC).timestamp()
    first, second = next_times(schedule, before, 2)
    assert datetime.fromtimestamp(first, UTC).hour == 6, "summer time has begun"
    assert second - first == DAY


@pytest.mark.parametrize(
    ("at", "zone", "says"),
    [("0 3 * *", "UTC", "five fields"), ("0 3 * * *", "Mars/Olympus", "not a time zone")],
)
def test_what_is_no_schedule(at: str, zone: str, says: str):
    with pytest.raises(ValueError, match=says):
        next_times(RunSchedule(at, zone), NOON)


@pytest.mark.parametrize(
    ("overlap", "now", "activity", "waits", "decision"),
    [
        ("skip", THREE - 1, RESTS, False, ScheduleDecision(ScheduleStep.NOTHING, NOON)),
        ("skip", THREE, RESTS, False, ScheduleDecision(ScheduleStep.BEGIN, THREE)),
        (
            "skip",
            THREE + 3 * DAY,
            RESTS,
            False,
            ScheduleDecision(ScheduleStep.BEGIN, THREE + 3 * DAY, missed=3),
        ),
        ("skip", THREE, RUNS, False, ScheduleDecision(ScheduleStep.NOTHING, THREE, skipped=True)),
        ("skip", THREE, PAUSED, False, ScheduleDecision(ScheduleStep.NOTHING, THREE, skipped=True)),
        ("queue", THREE, RUNS, False, ScheduleDecision(ScheduleStep.NOTHING, THREE, waits=True)),
        ("queue", NOON + 1, PAUSED, True, ScheduleDecision(ScheduleStep.NOTHING, NOON, waits=True)),
        ("queue", NOON + 1, RESTS, True, ScheduleDecision(ScheduleStep.BEGIN, NOON)),
        ("end", THREE, PAUSED, False, ScheduleDecision(ScheduleStep.END_FIRST, THREE, waits=True)),
        ("end", THREE, RUNS, False, ScheduleDecision(ScheduleStep.NOTHING, THREE, waits=True)),
        ("end", NOON + 1, RESTS, True, ScheduleDecision(ScheduleStep.BEGIN, NOON)),
        ("skip", NOON - DAY, RESTS, False, ScheduleDecision(ScheduleStep.NOTHING, NOON)),
    ],
)
def test_what_is_done(
    overlap: str, now: float, activity: RunActivity, waits: bool, decision: ScheduleDecision
):
    schedule = with_overlap(RunOverlap(overlap))
    assert decide_schedule(schedule, now, NOON, activity, waits=waits) == decision


def test_a_paused_schedule_makes_up_for_nothing():
    paused = RunSchedule(DAILY.at, DAILY.zone, paused=True)
    decision = decide_schedule(paused, THREE + DAY, NOON, RESTS)
    assert decision == ScheduleDecision(ScheduleStep.NOTHING, THREE + DAY)
    assert (
        decide_schedule(DAILY, THREE + DAY + 1, decision.handled_until, RESTS).step
        is ScheduleStep.NOTHING
    )


def test_a_long_absence_is_counted_to_an_end():
    minutely = RunSchedule("* * * * *")
    assert decide_schedule(minutely, NOON + 365 * DAY, NOON, RESTS).missed == 999
