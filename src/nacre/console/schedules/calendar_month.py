"""The month of the calendar: what became of runs, runs to come, hours with other limits (pure)."""

from calendar import Calendar
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice, permutations, takewhile
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from nacre.core.clock import parse_days, parse_hours
from nacre.fleet.job_files import FinishedRun
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.schedule_book import KeptSchedule
from nacre.job.schedules import RunSchedule, times_after
from nacre.messages import message
from nacre.runs.passes import RecurringCrawl, coming_passes

_MOST_A_DAY: Final = 5
_MOST: Final = 3000
"""Maximum number of times in a month; a schedule that runs each minute has more."""
_AHEAD: Final = 31 * 86_400.0
"""Seconds ahead in which two schedules of a job are compared."""
_COMPARED: Final = 100
"""Number of times of a schedule that are compared with those of another schedule."""
_TROUBLES: Final = frozenset(("skipped", "failed"))


class OwnPasses(NamedTuple):
    """The passes that a job begins itself.

    Attributes:
        job: Its id.
        crawl: When they begin.
    """

    job: str
    crawl: RecurringCrawl


class CalendarLook(NamedTuple):
    """The state of the jobs' directories, as far as the calendar shows it.

    Attributes:
        own: The passes that jobs begin themselves.
        finished: The runs that ended in the month.
    """

    own: Sequence[OwnPasses] = ()
    finished: Sequence[FinishedRun] = ()


class MonthEntry(NamedTuple):
    """A run in the month.

    Attributes:
        at: Its time of day, in UTC.
        about: Id of its job, or the profile of its new jobs.
        what: Outcome of the run, as in `ScheduleNote`; "" for a future run.
        missed: Number of earlier scheduled times that passed while no console ran.
        is_twice: Another schedule of the job has the same time.
        is_own: The job itself begins the run.
        run: Name of a finished run; "" for other runs.
        exit: How the finished run ended; "" if not known.
    """

    at: str
    about: str
    what: str = ""
    missed: int = 0
    is_twice: bool = False
    is_own: bool = False
    run: str = ""
    exit: str = ""

    @property
    def is_trouble(self) -> bool:
        """Whether something is wrong with it."""
        return bool(self.missed or self.is_twice or self.what in _TROUBLES)


class CalendarDay(NamedTuple):
    """A day of the month.

    Attributes:
        day: Its number; 0 for a day of another month.
        runs: Its runs in their order, the first few; those with a trouble are among them.
        more: Further ones that are not shown.
        due: Pages of the selected job that become due.
        hours: When it has other limits of bandwidth.
        is_today: It is the present day of UTC.
    """

    day: int
    runs: tuple[MonthEntry, ...]
    more: int
    due: int = 0
    hours: tuple[str, ...] = ()
    is_today: bool = False


class LimitedHours(NamedTuple):
    """The hours in which a job has other limits of bandwidth.

    Attributes:
        zone: Name of their time zone.
        windows: Their days and hours, as `mon-fri` and `9-17`.
    """

    zone: str = "UTC"
    windows: tuple[tuple[str, str], ...] = ()


def month_of(text: str, now: float) -> date:
    """The first day of a month.

    Args:
        text: As `2026-11`; "" for the present month.
        now: Seconds since the epoch.

    Raises:
        RefusedRequestError: It is none (400).
    """
    if not text:
        return datetime.fromtimestamp(now, UTC).date().replace(day=1)
    try:
        return datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC).date()
    except ValueError:
        raise RefusedRequestError(
            400,
            "bad-query",
            message("console.month-format", "{text!r} is no month, as 2026-11", text=text),
        ) from None


def shifted(first: date, months: int) -> date:
    """The first day of another month.

    Args:
        first: That of a month.
        months: How many later; less than 0 for earlier.
    """
    number = first.year * 12 + first.month - 1 + months
    return date(min(max(number // 12, 1), 9999), number % 12 + 1, 1)


def month_bounds(first: date) -> tuple[float, float]:
    """The begin and the end of a month of UTC, seconds since the epoch.

    Args:
        first: Its first day.
    """
    return _midnight(first), _midnight(shifted(first, 1))


def weeks_of(
    first: date,
    schedules: Sequence[KeptSchedule],
    now: float,
    due: Mapping[str, int] | None = None,
    look: CalendarLook | None = None,
    limited: LimitedHours | None = None,
) -> list[list[CalendarDay]]:
    """The weeks of a month; days are those of UTC.

    Args:
        first: Its first day.
        schedules: The schedules, with what became of them.
        now: Seconds since the epoch.
        due: Pages that become due, by day as `2026-11-23`; None for none.
        look: What the directories of the jobs say; None for nothing.
        limited: The hours with other limits of bandwidth; None for none.
    """
    begin, end = month_bounds(first)
    look = look or CalendarLook()
    runs: dict[int, list[MonthEntry]] = {}
    over = [
        (
            entry_of_day.ended,
            MonthEntry("", entry_of_day.job, run=entry_of_day.name, exit=entry_of_day.exit),
        )
        for entry_of_day in look.finished
    ]
    calendar_weeks = (*_past(schedules), *over, *_coming(schedules, look.own, begin, end, now))
    for time, entry in calendar_weeks:
        if begin <= time < end:
            moment = datetime.fromtimestamp(time, UTC)
            runs.setdefault(moment.day, []).append(entry._replace(at=f"{moment:%H:%M}"))
    counts, hours = due or {}, _hours_by_day(first, limited or LimitedHours())
    present = datetime.fromtimestamp(now, UTC).date()
    today = present.day if present.replace(day=1) == first else -1

    def calendar_day(day: int) -> CalendarDay:
        of_day = runs.get(day, [])
        # What went wrong is seen also on a day with many runs.
        first_few = sorted(of_day, key=lambda item: (not item.is_trouble, item))[:_MOST_A_DAY]
        pages = counts.get(f"{first:%Y-%m}-{day:02}", 0)
        more = len(of_day) - len(first_few)
        return CalendarDay(
            day, tuple(sorted(first_few)), more, pages, tuple(hours.get(day, ())), day == today
        )

    weeks = Calendar().monthdayscalendar(first.year, first.month)
    return [[calendar_day(day) for day in week] for week in weeks]


_Timed = tuple[float, MonthEntry]


def _past(schedules: Sequence[KeptSchedule]) -> Iterator[_Timed]:
    for schedule in schedules:
        for note in schedule.notes:
            yield note.time, MonthEntry("", schedule.wish.about, note.what, note.missed)


def _coming(
    schedules: Sequence[KeptSchedule],
    own: Sequence[OwnPasses],
    begin: float,
    end: float,
    now: float,
) -> Iterator[_Timed]:
    """Yield the future runs of a month; the notes of the schedules contain the past ones."""
    since = max(begin - 1, now)
    times = [
        (schedule, time)
        for schedule in schedules
        if not schedule.wish.paused
        for time in _until(end, times_after(schedule.wish.times, since))
    ]
    number = Counter(
        (stored.path, time) for stored, time in times if not stored.wish.is_of_new_jobs
    )
    for stored, time in times:
        is_twice = not stored.wish.is_of_new_jobs and number[stored.path, time] > 1
        yield time, MonthEntry("", stored.wish.about, is_twice=is_twice)
    for job, crawl in own:
        for time in _until(end, coming_passes(crawl, since)):
            yield time, MonthEntry("", job, is_own=True)


def _until(end: float, times: Iterator[float]) -> Iterator[float]:
    return islice(takewhile(lambda time: time < end, times), _MOST)


def _hours_by_day(first: date, limited: LimitedHours) -> dict[int, list[str]]:
    """Return the hours with other limits by the UTC day on which they begin."""
    zone, by_day = ZoneInfo(limited.zone), dict[int, list[str]]()
    # A day of another time zone may begin on the previous or on the next day in UTC.
    local = [first + timedelta(days=number) for number in range(-1, 33)]
    for days, hours in limited.windows:
        shown_days = parse_days(days)
        for day in (window for window in local if window.weekday() in shown_days):
            midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
            for start, stop in parse_hours(hours):
                begins, ends = (
                    (midnight + timedelta(minutes=minutes)).astimezone(UTC)
                    for minutes in (start, stop)
                )
                if (begins.year, begins.month) == (first.year, first.month):
                    text = f"{begins:%H:%M}\N{EN DASH}{ends:%H:%M}"
                    by_day.setdefault(begins.day, []).append(text)
    return by_day


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


class ScheduleClash(NamedTuple):
    """The first moment at which two schedules of one job both begin a run.

    Attributes:
        other: The other schedule.
        time: It, seconds since the epoch.
    """

    other: KeptSchedule
    time: float


def clashes_of(schedules: Sequence[KeptSchedule], now: float) -> dict[int, ScheduleClash]:
    """Find the schedules that share a time in the next month with another schedule of their job.

    Args:
        schedules: The schedules.
        now: Seconds since the epoch.
    """
    clashes: dict[int, ScheduleClash] = {}
    begin = [
        schedule
        for schedule in schedules
        if not (schedule.wish.paused or schedule.wish.is_of_new_jobs)
    ]
    for first, second in permutations(begin, 2):
        if first.path != second.path:
            continue
        time = _common(first.wish.times, second.wish.times, now)
        for clash, number in (
            (ScheduleClash(second, time), first.id),
            (ScheduleClash(first, time), second.id),
        ):
            if time and (number not in clashes or time < clashes[number].time):
                clashes[number] = clash
    return clashes


def _common(schedule: RunSchedule, second: RunSchedule, now: float) -> float:
    """Return the first time that a schedule has in common with a second one; 0 for none."""
    times = takewhile(lambda time: time < now + _AHEAD, times_after(schedule, now))
    return next(
        (
            time
            for time in islice(times, _COMPARED)
            if next(times_after(second, time - 1), 0) == time
        ),
        0.0,
    )
