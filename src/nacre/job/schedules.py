"""Schedules of runs: their begins, and the treatment of missed and open runs (pure).

A schedule has times by cron in a time zone. The keeper of schedules calls `decide_schedule` now and
then, with its notes of the schedule and the job's activity, and carries out the decision.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice

import msgspec

from nacre.planner.schedules.schedules import Calendar

SHOWN = 10
"""Times that are shown of a schedule."""


class RunOverlap(StrEnum):
    """The rule for a run whose time comes while the job has another one open."""

    SKIP = "skip"
    """It is left out."""
    QUEUE = "queue"
    """It begins when the other one is over; there is at most one that waits."""
    END = "end"
    """The other one is ended if it is paused; one that crawls goes on, and this one waits."""


class RunActivity(StrEnum):
    """The activity of a job at a moment."""

    RESTS = "rests"
    RUNS = "runs"
    PAUSED = "paused"


class ScheduleStep(StrEnum):
    """The step that a schedule asks for now."""

    NOTHING = "nothing"
    BEGIN = "begin"
    END_FIRST = "end-first"
    """End the paused run, and ask again when the job rests."""


class RunSchedule(msgspec.Struct, frozen=True):
    """A schedule, as it was set.

    Attributes:
        at: Cron's five fields, or `@daily` and the like.
        zone: Name of its time zone.
        overlap: See `RunOverlap`.
        paused: Nothing begins; what falls into a pause is not made up for.
        until: No run begins after that, seconds since the epoch; None for no end.
    """

    at: str
    zone: str = "UTC"
    overlap: RunOverlap = RunOverlap.SKIP
    paused: bool = False
    until: float | None = None

    @property
    def calendar(self) -> Calendar:
        """Its times.

        Raises:
            ValueError: A field or the zone is invalid; the message contains it.
        """
        return Calendar(self.at, self.zone)


class ScheduleDecision(msgspec.Struct, frozen=True):
    """The step of a schedule that is due now, and the notes to store with the schedule.

    Attributes:
        step: What is done.
        handled_until: Note this: times up to it are dealt with, seconds since the epoch.
        waits: Note this, too: a run waits until the job rests.
        missed: Times that passed unnoticed; one run makes up for all of them.
        skipped: A time was left out, as the job has a run open.
    """

    step: ScheduleStep
    handled_until: float
    waits: bool = False
    missed: int = 0
    skipped: bool = False


def times_after(schedule: RunSchedule, time: float) -> Iterator[float]:
    """Its times after one, in order, seconds since the epoch; none after `until`."""
    calendar = schedule.calendar
    following = calendar.after(time)
    while following is not None and (schedule.until is None or following <= schedule.until):
        yield following
        following = calendar.after(following)


def next_times(schedule: RunSchedule, now: float, number: int = SHOWN) -> list[float]:
    """Its next times, `number` at most; those of a paused one too, which may be resumed."""
    return list(islice(times_after(schedule, now), number))


_MOST_MISSED = 1000
"""More are not counted: a schedule by the minute would take long after a year."""


def decide_schedule(
    schedule: RunSchedule, now: float, since: float, activity: RunActivity, *, waits: bool = False
) -> ScheduleDecision:
    """Decide what a schedule asks for now.

    However many times have passed, one run is made for all of them. A clock that was set back
    makes nothing due twice.

    Args:
        schedule: The schedule.
        now: Seconds since the epoch.
        since: See `ScheduleDecision.handled_until`; when it was made, at first.
        activity: What its job does.
        waits: See `ScheduleDecision.waits`.
    """
    if schedule.paused:
        return ScheduleDecision(ScheduleStep.NOTHING, max(now, since))
    due = sum(1 for _ in islice(_passed(schedule, since, now), _MOST_MISSED))
    if not due and not waits:
        return ScheduleDecision(ScheduleStep.NOTHING, since)
    upto, missed = max(now, since) if due else since, max(due - 1, 0)
    if activity is RunActivity.RESTS:
        return ScheduleDecision(ScheduleStep.BEGIN, upto, missed=missed)
    if schedule.overlap is RunOverlap.SKIP:
        return ScheduleDecision(ScheduleStep.NOTHING, upto, missed=missed, skipped=True)
    if schedule.overlap is RunOverlap.END and activity is RunActivity.PAUSED:
        return ScheduleDecision(ScheduleStep.END_FIRST, upto, waits=True, missed=missed)
    return ScheduleDecision(ScheduleStep.NOTHING, upto, waits=True, missed=missed)


def _passed(schedule: RunSchedule, since: float, now: float) -> Iterator[float]:
    for time in times_after(schedule, since):
        if time > now:
            return
        yield time
