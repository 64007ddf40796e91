"""`/api/v1/schedules`: when runs begin."""

import msgspec

from nacre.console.call import Call
from nacre.console.fleet.schedule_book import (
    KeptSchedule,
    ScheduleWish,
    ToldNote,
    check_schedule,
    require_alone,
    told,
)
from nacre.console.jobs.new_jobs import NewJobWish, job_places, place_for, require_settings
from nacre.console.problems import RefusedRequestError, not_found
from nacre.console.versions import EditedThing, edited
from nacre.core.clock import iso
from nacre.job.schedules import next_times
from nacre.messages import message


class ScheduleItem(msgspec.Struct, frozen=True):
    """A schedule.

    Attributes:
        id: Its number.
        schedule: As it was set.
        owner: Who set it last.
        times: Its next ten times, RFC 3339; those of a paused one too.
        waits: A run waits until the job rests.
        note: The last that became of it.
        notes: What became of it the last twenty times, the newest first.
        made: Id of the last job that it made; "" for none, or for one that is gone.
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


async def list_schedules(call: Call) -> ScheduleList:
    """All schedules of jobs that the requester may see."""
    return ScheduleList(tuple(schedule_items(call)), call.now)


def schedule_items(call: Call) -> list[ScheduleItem]:
    """The schedules that the one who asks may see, with their next times."""
    now = call.services.clock.now()
    jobs = {str(job.layout.root): job.id for job, _ in call.snapshots()}
    return [
        item_of(schedule, now, jobs.get(schedule.made, "")) for schedule in seen_schedules(call)
    ]


def seen_schedules(call: Call) -> list[KeptSchedule]:
    """The schedules of jobs, and of places of new jobs, that the one who asks may see.

    Each names its job as it is called now: another console may have called it otherwise.
    """
    jobs = {str(job.layout.root): job.id for job, _ in call.snapshots()}
    places = {str(place.root) for place in job_places(call)}
    found = []
    for one in call.services.schedules.all():
        if one.wish.profile:
            found += [one] if one.path in places else []
        elif one.path in jobs:
            wish = msgspec.structs.replace(one.wish, job=jobs[one.path])
            found.append(msgspec.structs.replace(one, wish=wish))
    return found


def item_of(one: KeptSchedule, now: float, made: str = "") -> ScheduleItem:
    """A schedule with its next times.

    Args:
        one: It.
        now: Seconds since the epoch.
        made: Id of the last job that it made; "" for none.
    """
    times = tuple(iso(time) for time in next_times(one.wish.times, now))
    notes = tuple(told(note) for note in one.notes)
    return ScheduleItem(one.id, one.wish, one.owner, times, one.waits, told(one.note), made, notes)


async def add_schedule(call: Call) -> ScheduleItem:
    """Add a schedule.

    Raises:
        ConfigError: It is wrong.
        RefusedRequestError: Its job is unknown (404), or has its own passes already (409); or it
            makes jobs where that is refused (403, 409, 422).
    """
    wish, path = _placed(call, call.body)
    number = call.services.schedules.add(wish, path, call.identity.name)
    call.note.job = wish.job
    return await get_schedule(call._replace(params={"schedule": number}))


def _placed(call: Call, wish: ScheduleWish) -> tuple[ScheduleWish, str]:
    """A schedule with the place of its new jobs; and the directory of its job, or of that place.

    Raises:
        ConfigError: It is wrong.
        RefusedRequestError: See `add_schedule`.
    """
    check_schedule(wish)
    if wish.profile:
        require_settings(call, NewJobWish((), profile=wish.profile))
        place = place_for(call, wish.place)
        return msgspec.structs.replace(wish, place=place.label), str(place.root)
    job = call.job(wish.job)
    require_alone(job, wish)
    if wish.is_of_new_jobs:
        beside = any(place.label == job.place for place in job_places(call))
        place = place_for(call, wish.place or (job.place if beside else ""))
        wish = msgspec.structs.replace(wish, place=place.label)
    return wish, str(job.layout.root)


async def get_schedule(call: Call) -> ScheduleItem:
    """A schedule.

    Raises:
        RefusedRequestError: There is none that the requester may see (404).
    """
    number = int(call.params["schedule"])
    for item in schedule_items(call):
        if item.id == number:
            return item
    raise not_found("schedule", number)


async def schedule_version(call: Call) -> EditedThing:
    """A schedule as it was set."""
    return edited((await get_schedule(call)).schedule)


async def change_schedule(call: Call) -> ScheduleItem:
    """Set a schedule again.

    Raises:
        ConfigError: It is wrong.
        RefusedRequestError: There is no such schedule or job (404), or it is of another job (409).
    """
    wish: ScheduleWish = call.body
    before = await get_schedule(call)
    # What is only paused or resumed need not fit any more: the job may begin its passes itself.
    is_same = msgspec.structs.replace(before.schedule, paused=wish.paused) == wish
    wish, path = (wish, "") if is_same else _placed(call, wish)
    if before.schedule.job != wish.job:
        raise RefusedRequestError(
            409,
            "job",
            message("console.schedule-job-fixed", "a schedule keeps its job: make another one"),
        )
    call.services.schedules.change(before.id, wish, call.identity.name, path)
    call.note.job = wish.job
    call.note.change(before.schedule, wish)
    return await get_schedule(call)


async def remove_schedule(call: Call) -> None:
    """Remove a schedule.

    Raises:
        RefusedRequestError: There is none that the requester may see (404).
    """
    item = await get_schedule(call)
    call.note.job = item.schedule.job
    call.note.change(item.schedule, None)
    call.services.schedules.remove(item.id)
