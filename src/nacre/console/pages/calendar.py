"""`/calendar`: when runs begin, as a month and as a list."""

from calendar import Calendar
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple

import msgspec
from starlette.responses import RedirectResponse

from nacre.console.api.schedules import (
    ScheduleItem,
    add,
    change,
    schedule_items,
    seen_schedules,
)
from nacre.console.background.answers import facts_of, read_or_later
from nacre.console.bounds import ShortText, Whole
from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import converted, lines_of, sent_form
from nacre.console.fleet.schedule_book import NEW_JOB, ScheduleWish, day_text, until_of
from nacre.console.live.notices import Notice
from nacre.console.new_jobs import job_places
from nacre.console.pages.acting import text_of
from nacre.console.problems import RefusedRequestError
from nacre.errors import NacreError
from nacre.job.schedules import RunOverlap, times_after
from nacre.settings.layers import list_profiles

_MOST_A_DAY: Final = 5
_MOST: Final = 3000
"""Times that are looked at for a month: a schedule by the minute has more."""


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


class CalendarDay(NamedTuple):
    """A day of the month.

    Attributes:
        day: Its number; 0 for a day of another month.
        runs: Its runs, as time and job, the first few.
        more: Further ones that are not shown.
        due: Pages of the job that is looked at which become due.
    """

    day: int
    runs: tuple[tuple[str, str], ...]
    more: int
    due: int = 0


async def page(call: Call) -> PageAnswer:
    """The schedules; and of one job what becomes due, and when it has other limits."""
    query: CalendarQuery = call.query
    if not query.job:
        return PageAnswer("calendar.html", facts(call))
    job = call.job(query.job)
    if job.layout.in_rounds:
        raise RefusedRequestError(409, "rounds", f"{job.id} is crawled in rounds, not in runs")
    running = (await call.services.poller.fresh(job)).running
    try:
        found, held = await read_or_later(call, job, "upcoming", running=running)
    except NacreError as error:
        return PageAnswer("calendar.html", {**facts(call), "refused": str(error)})
    if held is not None:
        return PageAnswer("wait.html", {"job": job.id, "task": facts_of(held)}, 202)
    return PageAnswer("calendar.html", facts(call, found))


def facts(call: Call, upcoming: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The values that the page shows.

    Args:
        call: The request.
        upcoming: What becomes due of the job that the query names; None for none.

    Raises:
        RefusedRequestError: The query names no month (400).
    """
    now, query = call.services.clock.now(), call.query or CalendarQuery()
    first = month_of(query.month, now)
    found = schedule_items(call)
    edited = next((one for one in found if one.id == query.edit), None)
    days = upcoming["days"] if upcoming else {}
    own = [(job, seen.overview) for job, seen in call.snapshots() if seen.overview is not None]
    return {
        "schedules": found,
        "own": [(job, view.next_pass, view.next_why) for job, view in own if view.next_pass > now],
        "jobs": [job.id for job, _ in call.snapshots() if not job.layout.in_rounds],
        "weeks": weeks_of(first, found, now, days),
        "edited": edited,
        "until": day_text(edited.schedule.until) if edited else "",
        "profiles": [one.name for one in list_profiles()],
        "places": [place.label for place in job_places(call)],
        "upcoming": upcoming,
        "looked_at": query.job,
        "refused": "",
        "month": first,
        "before": f"{_shifted(first, -1):%Y-%m}",
        "after": f"{_shifted(first, 1):%Y-%m}",
        "overlaps": [one.value for one in RunOverlap],
    }


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
        raise RefusedRequestError(400, "bad-query", f"{text!r} is no month, as 2026-11") from None


def _shifted(first: date, months: int) -> date:
    number = first.year * 12 + first.month - 1 + months
    return date(min(max(number // 12, 1), 9999), number % 12 + 1, 1)


def weeks_of(
    first: date,
    schedules: list[ScheduleItem],
    now: float,
    due: Mapping[str, int] | None = None,
) -> list[list[CalendarDay]]:
    """The weeks of a month, with the runs that are to come; days are those of UTC (pure).

    Args:
        first: Its first day.
        schedules: The schedules.
        now: Seconds since the epoch; what is over is not shown.
        due: Pages that become due, by day as `2026-11-23`; None for none.
    """
    begin = datetime(first.year, first.month, 1, tzinfo=UTC).timestamp()
    following = _shifted(first, 1)
    end = datetime(following.year, following.month, 1, tzinfo=UTC).timestamp()
    runs: dict[int, list[tuple[str, str]]] = {}
    for item in schedules:
        if item.schedule.paused:
            continue
        for number, time in enumerate(times_after(item.schedule.times, max(begin - 1, now))):
            if time >= end or number >= _MOST:
                break
            moment = datetime.fromtimestamp(time, UTC)
            runs.setdefault(moment.day, []).append((f"{moment:%H:%M}", item.about))
    weeks = Calendar().monthdayscalendar(first.year, first.month)
    counts = due or {}

    def shown(day: int) -> CalendarDay:
        of_day = sorted(runs.get(day, []))
        more = max(len(of_day) - _MOST_A_DAY, 0)
        return CalendarDay(
            day, tuple(of_day[:_MOST_A_DAY]), more, counts.get(f"{first:%Y-%m}-{day:02}", 0)
        )

    return [[shown(day) for day in week] for week in weeks]


async def answer(call: Call) -> RedirectResponse:
    """Add, change, pause, resume or remove a schedule; a form of the page."""
    form = await sent_form(call.request)
    action, number = text_of(form, "do"), text_of(form, "schedule")
    notice = Notice("done", call.language.texts.gettext("The calendar is changed."))
    try:
        if action in {"add", "edit"}:
            wish = _wish(call, {name: text_of(form, name) for name in form})
            _ = add(call, wish) if action == "add" else change(call, _number(number), wish)
        else:
            _change(call, action, number)
    except NacreError as error:
        notice = Notice("error", str(error))
    if call.session is not None:
        call.services.notices.add(call.identity.session, notice)
    return RedirectResponse("/calendar", status_code=303)


def _wish(call: Call, fields: dict[str, str]) -> ScheduleWish:
    known: tuple[str, ...] = ("at", "zone", "mode", "budget", "keep", "overlap")
    seeds: tuple[str, ...] = ()
    if fields.get("mode") == NEW_JOB:
        known += ("profile", "name", "place")
        seeds = lines_of(fields.get("seeds", ""))
    values: dict[str, Any] = {name: fields[name] for name in known if fields.get(name)}
    values |= {"seeds": seeds} if seeds else {}
    # Of a profile it is no job that new ones are made like.
    job = "" if values.get("profile") else fields.get("job", "")
    values |= {"until": until_of(fields.get("until", "")), "paused": fields.get("paused") == "1"}
    wish = converted({"at": "", **values, "job": job}, ScheduleWish, "form")
    call.note.change(None, wish)
    return wish


def _number(text: str) -> int:
    """The number of a schedule in a form; -1 for none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else -1


def _change(call: Call, action: str, number: str) -> None:
    """Pause, resume or remove a schedule.

    Raises:
        RefusedRequestError: There is none, or no such action (422).
    """
    book = call.services.schedules
    found = next((one for one in seen_schedules(call) if str(one.id) == number), None)
    if found is None or action not in {"pause", "resume", "remove"}:
        raise RefusedRequestError(422, "bad-form", f"there is no schedule {number!r}")
    call.note.job = found.wish.job
    if action == "remove":
        call.note.change(found.wish, None)
        book.remove(found.id)
        return
    wish = msgspec.structs.replace(found.wish, paused=action == "pause")
    call.note.change(found.wish, wish)
    book.change(found.id, wish, call.identity.name)
