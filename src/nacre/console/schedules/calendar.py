"""`/calendar`: when runs begin, as a month and as a list; and the routes of schedules.

Of one job it shows the pages that become due next, and its hours with other limits of bandwidth.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec
from starlette.responses import Response

from nacre.console.call import PageAnswer, ScheduleCall
from nacre.console.forms import go_back, wait_page
from nacre.console.jobs.new_jobs import job_places
from nacre.console.route_row import API, RouteRow
from nacre.console.schedules.calendar_month import (
    CalendarLook,
    LimitedHours,
    OwnPasses,
    clashes_of,
    month_bounds,
    month_of,
    shifted,
    weeks_of,
)
from nacre.console.schedules.handlers import (
    ScheduleItem,
    ScheduleList,
    add_schedule,
    change_schedule,
    get_schedule,
    list_schedules,
    remove_schedule,
    schedule_items,
    schedule_version,
    seen_schedules,
)
from nacre.console.schedules.rhythms import CRON, WEEK, Rhythm, rhythm_of, sent_rhythm, typed_rhythm
from nacre.console.task_answers import read
from nacre.core.clock import iso
from nacre.errors import ConfigError, NacreError, Problem
from nacre.fleet.job_files import finished_runs
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.schedule_book import (
    NEW_JOB,
    ScheduleBook,
    ScheduleWish,
    check_schedule,
    day_text,
    until_of,
)
from nacre.inspect.explain.next_visits import NextVisits
from nacre.job.schedules import RunOverlap
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import ShortText, Whole
from nacre.ops.operation import Role
from nacre.runs.passes import find_recurring
from nacre.settings.layers import list_profiles
from nacre.settings.load import load_job
from nacre.web.decoding import converted, lines_of, sent_form, text_of
from nacre.web.live.hub import Notice
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import reader_task
from nacre.web.workers.views import CLOCK, VIEWS

MOST_DUE: Final = 1_000
"""Pages that are counted by day, the first that become due."""
_SHOWN: Final = 20
_LIMITS: Final = ("total", "per_host", "parallel", "min_delay")


class UpcomingRequest(msgspec.Struct, frozen=True):
    """The upcoming visits of a job.

    Attributes:
        running: A process runs the job.
    """

    running: bool


class DuePage(msgspec.Struct, frozen=True):
    """A page that becomes due.

    Attributes:
        time: When, RFC 3339.
        url: Its URL.
        reason: Why then.
    """

    time: str
    url: str
    reason: str


class LimitedWindow(msgspec.Struct, frozen=True):
    """Hours with other limits.

    Attributes:
        days: Days of the week.
        hours: Hours of the day.
        limits: The limits by their names.
    """

    days: str
    hours: str
    limits: dict[str, int | float]


class UpcomingPages(msgspec.Struct, frozen=True):
    """The pages of a job that become due next, and its limits of bandwidth.

    Attributes:
        due: The first pages.
        days: Pages, of the first thousand, by the day of UTC on which they become due.
        cut: There may be more.
        windows: Hours with other limits.
        zone: Time zone of these hours.
        total: Limit of the job at other hours, B/s; 0 for none.
        per_host: Limit of a host at other hours, B/s; 0 for none.
    """

    due: tuple[DuePage, ...]
    days: dict[str, int]
    cut: bool
    windows: tuple[LimitedWindow, ...]
    zone: str
    total: int
    per_host: int

    @property
    def limited_hours(self) -> LimitedHours:
        """The hours with other limits, as the month shows them."""
        windows = tuple((window.days, window.hours) for window in self.windows)
        return LimitedHours(self.zone, windows)


@reader_task("upcoming")
def list_upcoming(layout: Layout, request: UpcomingRequest) -> UpcomingPages:
    """Read the pages of a job that become due next, and its limits of bandwidth.

    Raises:
        ConfigError: The settings of the job cannot be read.
    """
    band = load_job(layout).settings.bandwidth
    windows = tuple(
        LimitedWindow(
            window.days,
            window.hours,
            {name: limit for name in _LIMITS if (limit := getattr(window, name)) is not None},
        )
        for window in band.windows
    )
    visits = []
    if layout.has_store:
        with VIEWS.looking(layout) as view:
            job = view.view(running=request.running)
            # If the page waits for the result, it asks again.
            visits = view.once("upcoming", lambda: NextVisits(job, CLOCK.now()).first(MOST_DUE))
    return UpcomingPages(
        tuple(DuePage(iso(visit.time), visit.url, visit.reason) for visit in visits[:_SHOWN]),
        dict(Counter(iso(visit.time)[:10] for visit in visits)),
        len(visits) == MOST_DUE,
        windows, band.time_zone, band.total, band.per_host,
    )  # fmt: skip


class CalendarQuery(msgspec.Struct, frozen=True):
    """The month and the job that are shown.

    Attributes:
        month: As `2026-11`; "" for the present one.
        job: Id of a job whose due pages and windows are shown; "" for none.
        edit: Number of the schedule that is edited; 0 for none.
    """

    month: ShortText = ""
    job: ShortText = ""
    edit: Whole = 0


async def page(call: ScheduleCall) -> PageAnswer:
    """The schedules; and of one job what becomes due, and when it has other limits."""
    query: CalendarQuery = call.query
    look = await _read_month(call)
    if not query.job:
        return PageAnswer("calendar.html", facts(call, look))
    job = call.job(query.job)
    if job.layout.in_rounds:
        raise RefusedRequestError(
            409,
            "rounds",
            message("console.job-in-rounds", "{id} is crawled in rounds, not in runs", id=job.id),
        )
    running = (await call.poller.fresh(job)).running
    try:
        upcoming = await read(call, list_upcoming, UpcomingRequest(running), job)
    except NacreError as error:
        return PageAnswer("calendar.html", {**facts(call, look), "refused": error.message})
    if isinstance(upcoming, HeldTask):
        return wait_page(upcoming)
    return PageAnswer("calendar.html", facts(call, look, upcoming))


def own_passes(jobs: Sequence[FoundJob]) -> list[OwnPasses]:
    """The jobs whose processes begin their passes themselves."""
    passes = ((job.id, find_recurring(job.layout)) for job in jobs if not job.layout.in_rounds)
    return [OwnPasses(job, again) for job, again in passes if again is not None and again.waits]


async def _read_month(call: ScheduleCall) -> CalendarLook:
    """The state of the jobs that the caller may see, in the month of the query.

    Raises:
        RefusedRequestError: The query names no month (400).
    """
    query = call.query or CalendarQuery()
    begin, end = month_bounds(month_of(query.month, call.clock.now()))
    jobs = [job for job, _ in call.snapshots() if not job.layout.in_rounds]

    def read_month() -> CalendarLook:
        return CalendarLook(own_passes(jobs), finished_runs(jobs, begin, end))

    return await asyncio.to_thread(read_month)


class OwnRow(NamedTuple):
    """A job that begins its passes itself, in the list.

    Attributes:
        job: Its id.
        rhythm: The options that set the times; "" if not known.
        time: When the next pass begins, seconds since the epoch; 0 if not known yet.
        why: The reason for that time.
    """

    job: str
    rhythm: str
    time: float
    why: str


def _own_rows(call: ScheduleCall, own: Sequence[OwnPasses]) -> list[OwnRow]:
    """The rows of the jobs that begin their passes themselves.

    A continuous crawl whose process has ended also has a next pass, which a command begins.
    """
    rows = [OwnRow(job, again.rhythm, again.time, again.why) for job, again in own]
    scheduled, now = {row.job for row in rows}, call.clock.now()
    noted = [
        (job.id, snapshot.overview)
        for job, snapshot in call.snapshots()
        if snapshot.overview is not None
    ]
    return rows + [
        OwnRow(job, "", view.next_pass, view.next_why)
        for job, view in noted
        if view.next_pass > now and job not in scheduled
    ]


def facts(
    call: ScheduleCall, look: CalendarLook, upcoming: UpcomingPages | None = None
) -> dict[str, object]:
    """The values that the page shows.

    Args:
        call: The request.
        look: What the directories of the jobs say.
        upcoming: What becomes due of the job that the query names; None for none.

    Raises:
        RefusedRequestError: The query names no month (400).
    """
    now, query = call.clock.now(), call.query or CalendarQuery()
    first = month_of(query.month, now)
    schedules = schedule_items(call)
    edited = next((schedule for schedule in schedules if schedule.id == query.edit), None)
    days, hours = (upcoming.days, upcoming.limited_hours) if upcoming else ({}, None)
    stored = seen_schedules(call)
    return {
        "schedules": schedules,
        "own": _own_rows(call, look.own),
        "clashes": clashes_of(stored, now),
        "jobs": [job.id for job, _ in call.snapshots() if not job.layout.in_rounds],
        "weeks": weeks_of(first, stored, now, days, look, hours),
        "edited": edited,
        "rhythm": rhythm_of(edited.schedule.at) if edited else Rhythm(),
        "rhythms": {schedule.id: rhythm_of(schedule.schedule.at) for schedule in schedules},
        "week": WEEK,
        "until": day_text(edited.schedule.end) if edited else "",
        "profiles": [profile.name for profile in list_profiles()],
        "places": [place.label for place in job_places(call)],
        "upcoming": upcoming,
        "looked_at": query.job,
        "refused": "",
        "problem": "",
        "problems": (),
        "typed": None,
        "month": first,
        "before": f"{shifted(first, -1):%Y-%m}",
        "after": f"{shifted(first, 1):%Y-%m}",
        "overlaps": [schedule.value for schedule in RunOverlap],
    }


async def answer(call: ScheduleCall) -> Response | PageAnswer:
    """Add, change, pause, resume or remove a schedule; a form of the page.

    What is refused is shown with all that was typed.
    """
    form = await sent_form(call.request)
    fields = {name: text_of(form, name) for name in form}
    action, number = text_of(form, "do"), text_of(form, "schedule")
    try:
        if action in {"add", "edit"}:
            edited = _of(call, number)._replace(body=_read_request(call, fields))
            await (add_schedule(edited) if action == "add" else change_schedule(edited))
        else:
            await _change(_of(call, number), action)
    except NacreError as error:
        look = await _read_month(call)
        page_facts = {**facts(call, look), "problem": error.message}
        page_facts["problems"] = error.problems if isinstance(error, ConfigError) else ()
        if action in {"add", "edit"}:
            page_facts |= _typed(fields)
            items = {item.id: item for item in schedule_items(call)}
            page_facts["edited"] = items.get(_number(number)) if action == "edit" else None
        return PageAnswer("calendar.html", page_facts, 422)
    text = call.language.texts.gettext("The calendar is changed.")
    return go_back(call, "/calendar", Notice("done", text))


def _typed(fields: Mapping[str, str]) -> dict[str, object]:
    """The form of a schedule as it was sent, in the place of what a schedule has."""
    names = ("job", "at", "zone", "mode", "budget", "keep", "name", "profile", "place")
    typed: dict[str, object] = {name: fields.get(name, "") for name in names}
    typed |= {
        "is_of_new_jobs": fields.get("mode") == NEW_JOB,
        "overlap": {"value": fields.get("overlap", "")},
        "paused": fields.get("paused") == "1",
        "seeds": lines_of(fields.get("seeds", "")),
    }
    typed_fields = {"until": fields.get("until", ""), "looked_at": fields.get("job", "")}
    return {"typed": typed, "rhythm": typed_rhythm(fields), **typed_fields}


def _read_request(call: ScheduleCall, fields: dict[str, str]) -> ScheduleWish:
    names: tuple[str, ...] = ("at", "zone", "mode", "budget", "keep", "overlap")
    seeds: tuple[str, ...] = ()
    if fields.get("mode") == NEW_JOB:
        names += ("profile", "name", "place")
        seeds = lines_of(fields.get("seeds", ""))
    values: dict[str, object] = {name: fields[name] for name in names if fields.get(name)}
    values |= {"seeds": seeds} if seeds else {}
    problems: list[Problem] = []
    rhythm = _part(sent_rhythm, fields, Rhythm(), problems)
    until = _part(until_of, fields.get("until", ""), None, problems)
    values |= {} if rhythm.often == CRON else {"at": rhythm.at}
    # Of a profile it is no job that new ones are made like.
    job = "" if values.get("profile") else fields.get("job", "")
    values |= {"until": until, "paused": fields.get("paused") == "1"}
    request = converted({"at": "", **values, "job": job}, ScheduleWish, "form")
    if problems:
        # What else is wrong is said together with it.
        _ = _part(check_schedule, request, request, problems)
        raise ConfigError(problems)
    call.note.change(None, request)
    return request


V = TypeVar("V")
R = TypeVar("R")


def _part(read: Callable[[V], R], value: V, instead: R, problems: list[Problem]) -> R:
    """Read a part of the form; if it has problems, add them and return `instead`."""
    try:
        return read(value)
    except ConfigError as error:
        problems += error.problems
        return instead


def _number(text: str) -> int:
    """The number of a schedule in a form; -1 for none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else -1


def _of(call: ScheduleCall, number: str) -> ScheduleCall:
    """Return the call of a handler for the schedule of a form."""
    return call._replace(params={"schedule": _number(number)})


async def _change(call: ScheduleCall, action: str) -> None:
    """Pause, resume or remove a schedule.

    Raises:
        RefusedRequestError: There is none (404), or no such action (422).
    """
    if action == "remove":
        await remove_schedule(call)
    elif action in {"pause", "resume"}:
        schedule = (await get_schedule(call)).schedule
        paused = msgspec.structs.replace(schedule, paused=action == "pause")
        await change_schedule(call._replace(body=paused))
    else:
        raise RefusedRequestError(
            422,
            "bad-form",
            message("console.no-action", "there is no action {action!r}", action=action),
        )


_O = Role.OPERATOR

SCHEDULE_ROUTES: tuple[RouteRow[ScheduleBook], ...] = (
    RouteRow("GET", "/calendar", Role.VIEWER, page, "When runs begin.",
             query=CalendarQuery),
    RouteRow("POST", "/calendar", _O, answer, "Change the calendar; a form."),
    RouteRow("GET", f"{API}/schedules", Role.VIEWER, list_schedules, "When runs begin.",
             answer=ScheduleList),
    RouteRow("POST", f"{API}/schedules", _O, add_schedule, "Keep a schedule.",
             body=ScheduleWish, answer=ScheduleItem, status=201,
             makes=("schedule", "id")),
    RouteRow("GET", f"{API}/schedules/{{schedule}}", Role.VIEWER, get_schedule,
             "A schedule.", answer=ScheduleItem,
             version_of=schedule_version),
    RouteRow("PUT", f"{API}/schedules/{{schedule}}", _O, change_schedule,
             "Replace a schedule.", body=ScheduleWish, answer=ScheduleItem,
             version_of=schedule_version),
    RouteRow("DELETE", f"{API}/schedules/{{schedule}}", _O, remove_schedule,
             "Forget a schedule.", status=204,
             version_of=schedule_version),
)  # fmt: skip
"""Its rows."""
