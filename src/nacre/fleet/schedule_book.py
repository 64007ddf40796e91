"""The schedules of runs, in the console's database."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from nacre.core.clock import Clock, iso, iso_millis
from nacre.core.message_data import to_json, to_stored_json
from nacre.errors import ConfigError, Problem
from nacre.fleet.database import BrokenRow, ConsoleDatabase, ConsoleTable
from nacre.fleet.places import FoundJob, dated_name
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.schedules import RunOverlap, RunSchedule, times_after
from nacre.messages import error_text, message
from nacre.ops.fields import LineTexts, Moment, MomentText, ShortText, bounded
from nacre.runs.budget import parse_budget
from nacre.runs.passes import find_recurring

NEW_JOB: Final = "new-job"
OF_NEW_JOBS: Final = ("profile", "seeds", "name", "place")
"""Fields that only a schedule of new jobs has."""
OF_RECRAWLS: Final = ("budget", "keep")
"""Fields that only a schedule of recrawls has."""
MOST_NOTES: Final = 20
"""Number of last notes that are kept for a schedule."""
ScheduleMode = Literal["recrawl", "recrawl-full", "new-job"]


class ScheduleWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request to create or change a schedule.

    Attributes:
        job: Id of the job; for new jobs, the job that they are modelled on, or "".
        at: Cron's five fields, or `@daily` and the like.
        zone: Name of its time zone, such as `Asia/Shanghai`.
        mode: `recrawl` visits the URLs that are worth a visit, `recrawl-full` all URLs. A job that
            never ran is started, and a run that was stopped is resumed. `new-job` creates and
            starts a new job each time.
        budget: What a run may spend, as of `nacre recrawl --budget`; "" for no limit.
        keep: What is stored in full.
        overlap: Action if the time of a run comes while another run is open.
        paused: No run begins.
        until: No run begins after this time, RFC 3339 in UTC; another offset or seconds since the
            epoch are accepted; null for no end.
        profile: Name of the profile that new jobs are based on; "" to copy the settings of `job`,
            without its secrets and the files in its directory.
        seeds: Lines of the seed list of new jobs; empty for those of `job`.
        name: Name of new jobs, with `%Y`, `%m`, `%d`, `%H` and the like, in the time zone of the
            schedule; "" for that of the job or the profile, and the day.
        place: Label of the place for new jobs; "" for the first place.
    """

    job: ShortText
    at: ShortText
    zone: ShortText = "UTC"
    mode: ScheduleMode = "recrawl"
    budget: ShortText = ""
    keep: Literal["strict", "lean", "delta"] = "strict"
    overlap: RunOverlap = RunOverlap.SKIP
    paused: bool = False
    until: Moment | MomentText | None = None
    profile: ShortText = ""
    seeds: LineTexts = ()
    name: ShortText = ""
    place: ShortText = ""

    def __post_init__(self) -> None:
        """Normalize the end time; the check rejects an invalid one."""
        with suppress(ValueError, OverflowError):
            end = self.end
            if end is not None:
                text = iso(end) if end.is_integer() else iso_millis(end)
                # A time before 1970 stays a number, which is out of bounds.
                msgspec.structs.force_setattr(self, "until", text if end >= 0 else end)

    @property
    def end(self) -> float | None:
        """The last moment at which a run begins, seconds since the epoch; None for no end.

        Raises:
            ValueError: `until` is not a time.
        """
        if not isinstance(self.until, str):
            return self.until
        moment = datetime.fromisoformat(self.until)
        if moment.tzinfo is None:
            raise ValueError(self.until)
        return moment.timestamp()

    @property
    def is_of_new_jobs(self) -> bool:
        """Whether each time makes a new job."""
        return self.mode == NEW_JOB

    @property
    def about(self) -> str:
        """Id of its job, or the profile of its new jobs."""
        return self.job or self.profile

    @property
    def times(self) -> RunSchedule:
        """Its times and its rules."""
        return RunSchedule(self.at, self.zone, self.overlap, self.paused, self.end)


class ScheduleNote(msgspec.Struct, frozen=True):
    """An event of a schedule: the outcome at one of its times.

    Attributes:
        time: Time of the event, seconds since the epoch; 0 for never.
        what: `begun`, `made` (a new job), `skipped`, `waits`, `ended` (the previous, paused run),
            `failed`; "" for no event yet.
        text: Details, such as the reason of a failure, or the id of the new job.
        missed: Number of earlier times that passed while no console ran; one run replaces them.
    """

    time: float = 0.0
    what: str = ""
    text: str = ""
    missed: int = 0


class ToldNote(msgspec.Struct, frozen=True):
    """An event of a schedule in a response to programs and pages.

    Attributes:
        time: Time of the event, RFC 3339; "" for never.
        what: See `ScheduleNote`.
        text: See `ScheduleNote`.
        missed: See `ScheduleNote`.
    """

    time: str = ""
    what: str = ""
    text: str = ""
    missed: int = 0


def format_note(note: ScheduleNote) -> ToldNote:
    """Return the note of a response (pure)."""
    time = iso(note.time) if note.time else ""
    return ToldNote(time, note.what, note.text, note.missed)


class KeptSchedule(msgspec.Struct, frozen=True):
    """A stored schedule.

    Attributes:
        id: Its number.
        path: Directory of its job; for new jobs of a profile, the directory of their place.
        wish: The request that set it last.
        owner: Name of the user of the last change.
        seen: Times up to this one are done, seconds since the epoch.
        waits: A run waits until the job is at rest.
        note: The last event.
        made: Directory of the last job that it created; "" for none.
        notes: The last events, the newest first, including `note`.
    """

    id: int
    path: str
    wish: ScheduleWish
    owner: str
    seen: float
    waits: bool
    note: ScheduleNote
    made: str = ""
    notes: tuple[ScheduleNote, ...] = ()


def check_schedule(request: ScheduleWish) -> ScheduleWish:
    """The schedule, if it is one (pure).

    Raises:
        ConfigError: A field is out of its bounds, or one of its times, its time zone, its budget or
            its new jobs is none; with every problem.
    """
    bounded(request)
    problems = list(_schedule_problems(request))
    if problems:
        raise ConfigError(problems)
    return request


def _schedule_problems(request: ScheduleWish) -> Iterator[Problem]:
    """Return the problems of the fields of a schedule, each checked by itself."""
    yield from _raised(_require_fitting, request)
    try:
        _ = request.end
    except (ValueError, OverflowError):
        text = message(
            "console.time-without-offset",
            "{until!r} is no time with an offset",
            until=str(request.until)[:40],
        )
        yield Problem("until", text, "", "2026-11-30T23:59:59Z")
        request = msgspec.structs.replace(request, until=None)
    try:
        parse_budget(request.budget)
    except ConfigError as error:
        yield Problem("budget", error_text(error), "", "500")
    in_utc = RunSchedule(request.at)
    try:
        if in_utc.calendar.after(0.0) is None:
            yield Problem(
                "at",
                message(
                    "console.time-never-comes",
                    "{at!r} names no time that ever comes",
                    at=request.at,
                ),
            )
    except ValueError as error:
        yield Problem("at", error_text(error), "", "30 2 * * 1")
    zone = request.zone
    try:
        _ = RunSchedule("@daily", zone).calendar
    except ValueError as error:
        yield Problem("zone", error_text(error), "", "Asia/Shanghai")
        zone = "UTC"
    yield from _raised(lambda: dated_name(request.name, "job", 0.0, zone))


def _raised(check: Callable[..., object], *arguments: object) -> Sequence[Problem]:
    """Return the problems of the error that a check raises; () for none."""
    try:
        check(*arguments)
    except ConfigError as error:
        return error.problems
    return ()


def require_alone(job: FoundJob, request: ScheduleWish) -> None:
    """Refuse a job that starts its passes itself, because it would be scheduled twice.

    Raises:
        RefusedRequestError: The job does so, or it is crawled in rounds (409).
    """
    if job.layout.in_rounds:
        raise RefusedRequestError(
            409,
            "rounds",
            message("console.job-in-rounds", "{id} is crawled in rounds, not in runs", id=job.id),
        )
    again = None if request.is_of_new_jobs else find_recurring(job.layout)
    if again is not None and again.waits:
        raise RefusedRequestError(
            409,
            "recurring",
            message(
                "console.job-starts-passes",
                "{id} begins its passes itself (`nacre recrawl JOB {rhythm}`)",
                id=job.id,
                rhythm=again.rhythm,
            ),
        )


def day_text(end: float | None) -> str:
    """Return the last day of a schedule, in UTC, as text; "" for none (pure)."""
    return "" if end is None else f"{datetime.fromtimestamp(end, UTC):%Y-%m-%d}"


def until_of(text: str) -> float | None:
    """Return the end of a day in UTC, seconds since the epoch; None for "" (pure).

    Raises:
        ConfigError: The text is not a date.
    """
    if not text:
        return None
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        detail = message("console.day-format", "{text!r} is no day", text=text[:40])
        raise ConfigError([Problem("until", detail, "", "2026-11-30")]) from None
    return day.timestamp() + 86_399.0


def _require_fitting(request: ScheduleWish) -> None:
    """Refuse fields that belong to the other kind of schedule.

    Raises:
        ConfigError: There is such a field.
    """
    if not request.is_of_new_jobs:
        wrong = next((path for path in OF_NEW_JOBS if getattr(request, path)), "")
        if wrong:
            text = message(
                "console.new-job-schedules-only", "only a schedule that makes new jobs has this"
            )
            raise ConfigError(
                [Problem(wrong, text, message("console.mode-new-job", "mode new-job"))]
            )
        return
    if bool(request.job) == bool(request.profile):
        text = message("console.job-or-profile", "new jobs are made like a job, or of a profile")
        raise ConfigError([Problem("profile", text, message("console.either", "one of the two"))])
    if request.profile and not any(line.strip() for line in request.seeds):
        text = message("console.profile-without-seeds", "a profile has no URLs to start from")
        raise ConfigError(
            [
                Problem(
                    "seeds",
                    text,
                    message("console.url-a-line", "a URL a line"),
                    "https://example.org/",
                )
            ]
        )
    if request.budget or request.keep != "strict":
        text = message(
            "console.limits-of-new-jobs",
            "new jobs have the limits of their template or profile; this limit is for recrawls",
        )
        raise ConfigError([Problem("budget" if request.budget else "keep", text)])


class ScheduleBook:
    """The schedules.

    Args:
        database: The console's database.
        clock: The time.
        tell: Called when a schedule or its next time changes.
    """

    def __init__(
        self, database: ConsoleDatabase, clock: Clock, tell: Callable[[], None] = lambda: None
    ) -> None:
        self._database = database
        self._table = ConsoleTable(database, "schedules", KeptSchedule)
        self._clock = clock
        self._tell = tell

    def all(self) -> list[KeptSchedule]:
        """Return all schedules that can be read, by their numbers."""
        return [_with_notes(schedule) for schedule in self._table.all()]

    def broken(self) -> dict[int, BrokenRow]:
        """Return the schedules that cannot be read, by their numbers."""
        return self._table.broken()

    def find(self, number: int) -> KeptSchedule | None:
        """Return a schedule; None if there is none."""
        schedule = self._table.find(number)
        return None if schedule is None else _with_notes(schedule)

    def add(self, request: ScheduleWish, path: str, owner: str) -> int:
        """Add a schedule, and return its number.

        Raises:
            ConfigError: The request is invalid.
        """
        rows = self._database.rows(
            "INSERT INTO schedules (path, wish, owner, seen, note) VALUES (?, ?, ?, ?, ?)"
            " RETURNING id",
            path, to_json(check_schedule(request)), owner, self._clock.now(),
            to_json(ScheduleNote()),
        )  # fmt: skip
        self._tell()
        return int(str(rows[0][0]))

    def change(self, number: int, request: ScheduleWish, owner: str, path: str = "") -> None:
        """Change a schedule; times up to now count as done.

        Args:
            number: Number of the schedule.
            request: The request.
            owner: Name of the user.
            path: See `KeptSchedule.path`; "" to keep the path.

        Raises:
            ConfigError: The request is invalid.
        """
        self._database.rows(
            "UPDATE schedules SET wish = ?, owner = ?, seen = ?, waits = 0,"
            " path = coalesce(nullif(?, ''), path) WHERE id = ?",
            to_json(check_schedule(request)), owner, self._clock.now(), path, number,
        )  # fmt: skip
        self._tell()

    def move(self, before: str, after: str, job: str) -> None:
        """Keep the schedules of a job that was moved.

        Args:
            before: Its former directory.
            after: Its new directory.
            job: Its new id.
        """
        for schedule in self.all():
            if schedule.path == before:
                request = msgspec.structs.replace(schedule.wish, job=job)
                self._database.rows(
                    "UPDATE schedules SET path = ?, wish = ? WHERE id = ?",
                    after, to_json(request), schedule.id,
                )  # fmt: skip
        self._database.rows("UPDATE schedules SET made = ? WHERE made = ?", after, before)
        self._tell()

    def remove(self, number: int) -> None:
        """Delete a schedule."""
        self._table.drop(number)
        self._tell()

    def note_made(self, number: int, path: str) -> None:
        """Store the directory of the last job that a schedule created."""
        self._database.rows("UPDATE schedules SET made = ? WHERE id = ?", path, number)

    def keep(self, number: int, handled: float, note: ScheduleNote, *, waits: bool) -> None:
        """Store an event of a schedule; the last twenty are kept."""
        before = self.find(number)
        notes = with_note(before.notes if before is not None else (), note)
        self._database.rows(
            "UPDATE schedules SET seen = ?, waits = ?, note = ?, notes = ? WHERE id = ?",
            handled, int(waits), to_stored_json(note), to_stored_json(notes), number,
        )  # fmt: skip
        self._tell()


def due_runs(schedules: Iterable[KeptSchedule]) -> dict[str, float]:
    """Return the next run of each scheduled job, by directory, seconds since the epoch (pure).

    A run that waits or has not begun keeps its time, even if that has passed.
    """
    runs: dict[str, float] = {}
    for schedule in schedules:
        if schedule.wish.paused or schedule.wish.is_of_new_jobs:
            continue
        due = (
            schedule.seen
            if schedule.waits
            else next(times_after(schedule.wish.times, schedule.seen), None)
        )
        if due is not None:
            runs[schedule.path] = min(due, runs.get(schedule.path, due))
    return runs


def with_note(notes: tuple[ScheduleNote, ...], note: ScheduleNote) -> tuple[ScheduleNote, ...]:
    """Add a note, the newest first; it replaces the last note if both have the same time (pure)."""
    if not note.what or note in notes[:1]:
        return notes
    # A run is noted before it begins; its outcome has the same time and replaces that note.
    older = notes[1:] if notes and notes[0].time == note.time else notes
    return (note, *older)[:MOST_NOTES]


def _with_notes(schedule: KeptSchedule) -> KeptSchedule:
    """Return a schedule with its notes; earlier versions stored only the last note."""
    notes = schedule.notes or with_note((), schedule.note)
    return msgspec.structs.replace(schedule, notes=notes)


def require_unscheduled(book: ScheduleBook, job: FoundJob) -> None:
    """Refuse a job that has schedules.

    Raises:
        RefusedRequestError: The job has schedules (409).
    """
    path = str(job.layout.root)
    of_it = [schedule for schedule in book.all() if schedule.path == path]
    if of_it:
        named = ", ".join(
            f"{schedule.id} ({schedule.wish.at} {schedule.wish.zone})" for schedule in of_it
        )
        raise RefusedRequestError(
            409,
            "scheduled",
            message(
                "console.job-with-schedule",
                "{id} has the schedule {named}: remove it in the calendar first",
                id=job.id,
                named=named,
            ),
        )
