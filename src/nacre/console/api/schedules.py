"""`/api/v1/schedules`: when runs begin."""

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.fleet.schedule_book import KeptSchedule, ScheduleNote, ScheduleWish
from nacre.console.problems import RefusedRequestError, not_found
from nacre.console.versions import EditedThing, edited
from nacre.core.clock import iso
from nacre.job.schedules import next_times
from nacre.runs.passes import find_recurring


class ScheduleItem(msgspec.Struct, frozen=True):
    """A schedule.

    Attributes:
        id: Its number.
        schedule: As it was set.
        owner: Who set it last.
        times: Its next ten times, RFC 3339; those of a paused one too.
        waits: A run waits until the job rests.
        note: The last that became of it.
    """

    id: int
    schedule: ScheduleWish
    owner: str
    times: tuple[str, ...]
    waits: bool
    note: ScheduleNote


class ScheduleList(msgspec.Struct, frozen=True):
    """All schedules.

    Attributes:
        items: They, by their numbers.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[ScheduleItem, ...]
    as_of: str


async def list_schedules(call: Call) -> ScheduleList:
    """All schedules of jobs that the one who asks may see."""
    now = call.services.clock.now()
    return ScheduleList(tuple(item_of(one, now) for _, one in seen_schedules(call)), iso(now))


def seen_schedules(call: Call) -> list[tuple[FoundJob, KeptSchedule]]:
    """The schedules of jobs that the one who asks may see."""
    jobs = {str(job.layout.root): job for job, _ in call.snapshots()}
    return [(jobs[one.path], one) for one in call.services.schedules.all() if one.path in jobs]


def item_of(one: KeptSchedule, now: float) -> ScheduleItem:
    """A schedule with its next times.

    Args:
        one: It.
        now: Seconds since the epoch.
    """
    times = tuple(iso(time) for time in next_times(one.wish.times, now))
    return ScheduleItem(one.id, one.wish, one.owner, times, one.waits, one.note)


async def add_schedule(call: Call) -> ScheduleItem:
    """Keep a schedule."""
    return add(call, call.body)


def add(call: Call, wish: ScheduleWish) -> ScheduleItem:
    """Keep a schedule.

    Raises:
        ConfigError: It is none.
        RefusedRequestError: Its job is none (404), or has passes of its own already (409).
    """
    job = call.job(wish.job)
    _require_alone(job)
    number = call.services.schedules.add(wish, str(job.layout.root), call.identity.name)
    call.note.job = job.id
    return _item(call, number)


def _require_alone(job: FoundJob) -> None:
    """Refuse a job that begins its passes itself: it would be scheduled twice.

    Raises:
        RefusedRequestError: It does (409).
    """
    if job.layout.in_rounds:
        raise RefusedRequestError(409, "rounds", f"{job.id} is crawled in rounds, not in runs")
    again = find_recurring(job.layout)
    if again is not None and again.waits:
        raise RefusedRequestError(
            409, "recurring", f"{job.id} begins its passes itself (nacre recrawl {again.rhythm})"
        )


async def get_schedule(call: Call) -> ScheduleItem:
    """A schedule."""
    return _item(call, number_of(call))


async def schedule_version(call: Call) -> EditedThing:
    """A schedule as it was set."""
    return edited(_item(call, number_of(call)).schedule)


async def change_schedule(call: Call) -> ScheduleItem:
    """Set a schedule anew."""
    return change(call, number_of(call), call.body)


def change(call: Call, number: int, wish: ScheduleWish) -> ScheduleItem:
    """Set a schedule anew.

    Raises:
        ConfigError: It is none.
        RefusedRequestError: There is no such schedule or job (404), or it is of another job (409).
    """
    before = _item(call, number)
    job = call.job(wish.job)
    if before.schedule.job != wish.job:
        raise RefusedRequestError(409, "job", "a schedule keeps its job: make another one")
    call.services.schedules.change(number, wish, call.identity.name)
    call.note.job = job.id
    call.note.change(before.schedule, wish)
    return _item(call, number)


async def remove_schedule(call: Call) -> Response:
    """Forget a schedule."""
    number = number_of(call)
    call.note.change(_item(call, number).schedule, None)
    call.services.schedules.remove(number)
    return Response(status_code=204)


def number_of(call: Call) -> int:
    """The number that the path names."""
    return int(call.request.path_params["schedule"])


def _item(call: Call, number: int) -> ScheduleItem:
    """A schedule that the one who asks may see.

    Raises:
        RefusedRequestError: There is none (404).
    """
    for _, one in seen_schedules(call):
        if one.id == number:
            return item_of(one, call.services.clock.now())
    raise not_found(f"schedule {number}")
