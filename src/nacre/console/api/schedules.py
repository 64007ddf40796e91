"""`/api/v1/schedules`: when runs begin."""

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.fleet.schedule_book import (
    KeptSchedule,
    ScheduleWish,
    ToldNote,
    check_schedule,
    require_alone,
    told,
)
from nacre.console.new_jobs import NewJobWish, job_places, place_for, require_settings
from nacre.console.problems import RefusedRequestError, not_found
from nacre.console.versions import EditedThing, edited
from nacre.core.clock import iso
from nacre.job.schedules import next_times


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
    """All schedules of jobs that the one who asks may see."""
    now = call.services.clock.now()
    return ScheduleList(tuple(schedule_items(call)), iso(now))


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
    """Keep a schedule."""
    return add(call, call.body)


def add(call: Call, wish: ScheduleWish) -> ScheduleItem:
    """Keep a schedule.

    Raises:
        ConfigError: It is none.
        RefusedRequestError: Its job is none (404), or has passes of its own already (409); or it
            makes jobs where that is refused (403, 409, 422).
    """
    wish, path = _placed(call, wish)
    number = call.services.schedules.add(wish, path, call.identity.name)
    call.note.job = wish.job
    return _item(call, number)


def _placed(call: Call, wish: ScheduleWish) -> tuple[ScheduleWish, str]:
    """A schedule with the place of its new jobs; and the directory of its job, or of that place.

    Raises:
        ConfigError: It is none.
        RefusedRequestError: See `add`.
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
    # What is only paused or resumed need not fit any more: the job may begin its passes itself.
    is_same = msgspec.structs.replace(before.schedule, paused=wish.paused) == wish
    wish, path = (wish, "") if is_same else _placed(call, wish)
    if before.schedule.job != wish.job:
        raise RefusedRequestError(409, "job", "a schedule keeps its job: make another one")
    call.services.schedules.change(number, wish, call.identity.name, path)
    call.note.job = wish.job
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
    for item in schedule_items(call):
        if item.id == number:
            return item
    raise not_found(f"schedule {number}")
