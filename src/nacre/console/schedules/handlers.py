"""`/api/v1/schedules`: when runs begin."""

import msgspec

from nacre.console.call import ScheduleCall
from nacre.console.jobs.new_jobs import NewJobWish, job_places, place_for, require_settings
from nacre.core.clock import iso
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.fleet.schedule_book import (
    KeptSchedule,
    ScheduleWish,
    ToldNote,
    check_schedule,
    format_note,
    require_alone,
)
from nacre.job.schedules import next_times
from nacre.messages import message
from nacre.web.versions import EditedThing, edited


class ScheduleItem(msgspec.Struct, frozen=True):
    """A schedule.

    Attributes:
        id: Its number.
        schedule: As it was set.
        owner: Who set it last.
        times: Its next ten times, RFC 3339; those of a paused one too.
        waits: A run waits until the job rests.
        note: Its last outcome.
        notes: Its last twenty outcomes, the newest first.
        made: Id of the last job that it made; "" if there is none, or if it no longer exists.
    """

    id: int
    schedule: ScheduleWish
    owner: str
    times: tuple[str, ...]
    waits: bool
    note: ToldNote
    made: str = ""
    notes: tuple[ToldNote, ...] = ()

    @property
    def about(self) -> str:
        """Id of its job, or the profile of its new jobs."""
        return self.schedule.about


class ScheduleList(msgspec.Struct, frozen=True):
    """All schedules.

    Attributes:
        items: They, by their numbers.
        as_of: The time of the answer, RFC 3339.
        next: Always null: all are on this page.
    """

    items: tuple[ScheduleItem, ...]
    as_of: str
    next: str | None = None


async def list_schedules(call: ScheduleCall) -> ScheduleList:
    """All schedules of jobs that the requester may see."""
    return ScheduleList(tuple(schedule_items(call)), call.now)


def schedule_items(call: ScheduleCall) -> list[ScheduleItem]:
    """The schedules that the caller may see, with their next times."""
    now = call.clock.now()
    jobs = {str(job.layout.root): job.id for job, _ in call.snapshots()}
    return [
        item_of(schedule, now, jobs.get(schedule.made, "")) for schedule in seen_schedules(call)
    ]


def seen_schedules(call: ScheduleCall) -> list[KeptSchedule]:
    """Return the schedules of jobs, and of places of new jobs, that the caller may see.

    Each has the present id of its job, which may differ from the id in another console.
    """
    jobs = {str(job.layout.root): job.id for job, _ in call.snapshots()}
    places = {str(place.root) for place in job_places(call)}
    schedules = []
    for schedule in call.parts.all():
        if schedule.wish.profile:
            schedules += [schedule] if schedule.path in places else []
        elif schedule.path in jobs:
            request = msgspec.structs.replace(schedule.wish, job=jobs[schedule.path])
            schedules.append(msgspec.structs.replace(schedule, wish=request))
    return schedules


def item_of(schedule: KeptSchedule, now: float, job_made: str = "") -> ScheduleItem:
    """A schedule with its next times.

    Args:
        schedule: The schedule.
        now: Seconds since the epoch.
        job_made: Id of the last job that it made; "" for none.
    """
    times = tuple(iso(time) for time in next_times(schedule.wish.times, now))
    notes = tuple(format_note(note) for note in schedule.notes)
    return ScheduleItem(
        schedule.id,
        schedule.wish,
        schedule.owner,
        times,
        schedule.waits,
        format_note(schedule.note),
        job_made,
        notes,
    )


async def add_schedule(call: ScheduleCall) -> ScheduleItem:
    """Add a schedule.

    Raises:
        ConfigError: It is wrong.
        RefusedRequestError: Its job is unknown (404), or has its own passes already (409); or it
            makes jobs where that is refused (403, 409, 422).
    """
    request, path = _placed(call, call.body)
    number = call.parts.add(request, path, call.identity.name)
    call.note.job = request.job
    return await get_schedule(call._replace(params={"schedule": number}))


def _placed(call: ScheduleCall, request: ScheduleWish) -> tuple[ScheduleWish, str]:
    """A schedule with the place of its new jobs; and the directory of its job, or of that place.

    Raises:
        ConfigError: It is wrong.
        RefusedRequestError: See `add_schedule`.
    """
    check_schedule(request)
    if request.profile:
        require_settings(call, NewJobWish((), profile=request.profile))
        place = place_for(call, request.place)
        return msgspec.structs.replace(request, place=place.label), str(place.root)
    job = call.job(request.job)
    require_alone(job, request)
    if request.is_of_new_jobs:
        beside = any(place.label == job.place for place in job_places(call))
        place = place_for(call, request.place or (job.place if beside else ""))
        request = msgspec.structs.replace(request, place=place.label)
    return request, str(job.layout.root)


async def get_schedule(call: ScheduleCall) -> ScheduleItem:
    """A schedule.

    Raises:
        RefusedRequestError: There is none that the requester may see (404).
    """
    number = int(call.params["schedule"])
    for item in schedule_items(call):
        if item.id == number:
            return item
    raise not_found("schedule", number)


async def schedule_version(call: ScheduleCall) -> EditedThing:
    """A schedule as it was set."""
    return edited((await get_schedule(call)).schedule)


async def change_schedule(call: ScheduleCall) -> ScheduleItem:
    """Set a schedule again.

    Raises:
        ConfigError: It is wrong.
        RefusedRequestError: There is no such schedule or job (404), or it is of another job (409).
    """
    request: ScheduleWish = call.body
    before = await get_schedule(call)
    # What is only paused or resumed need not fit any more: the job may begin its passes itself.
    is_same = msgspec.structs.replace(before.schedule, paused=request.paused) == request
    request, path = (request, "") if is_same else _placed(call, request)
    if before.schedule.job != request.job:
        raise RefusedRequestError(
            409,
            "job",
            message("console.schedule-job-fixed", "a schedule keeps its job: make another one"),
        )
    call.parts.change(before.id, request, call.identity.name, path)
    call.note.job = request.job
    call.note.change(before.schedule, request)
    return await get_schedule(call)


async def remove_schedule(call: ScheduleCall) -> None:
    """Remove a schedule.

    Raises:
        RefusedRequestError: There is none that the requester may see (404).
    """
    item = await get_schedule(call)
    call.note.job = item.schedule.job
    call.note.change(item.schedule, None)
    call.parts.remove(item.id)
