"""`nacre console schedule …`: when runs begin."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nacre.cli import output
from nacre.cli.console_books import console_books, tell_broken
from nacre.cli.console_options import State
from nacre.cli.options import AsJson
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.fleet.books import ConsoleBooks
    from nacre.fleet.places import FoundJob
    from nacre.fleet.schedule_book import KeptSchedule, ScheduleWish

Number = Annotated[
    int, typer.Argument(metavar="N", help="Number of the schedule.", show_default=False)
]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="TIMES", show_default=False,
        help="Cron's five fields, such as `30 2 * * 1`, or @hourly, @daily, @weekly, @monthly.",
    ),
]  # fmt: skip
Zone = Annotated[
    str | None,
    typer.Option(
        "--zone", metavar="NAME", show_default=False,
        help="Time zone, such as Asia/Shanghai; default: UTC.",
    ),
]  # fmt: skip
Mode = Annotated[
    Literal["recrawl", "recrawl-full", "new-job"] | None,
    typer.Option(
        "--mode", metavar="recrawl|recrawl-full|new-job", show_default=False,
        help="recrawl (the default): visit the pages that are worth it; recrawl-full: visit "
             "everything; new-job: create a job with the same settings and seeds each time, "
             "and start it.",
    ),
]  # fmt: skip
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget", metavar="BUDGET", show_default=False,
        help="What a recrawl may spend: URLs, bytes or time, such as 500, 2GB, 3h.",
    ),
]  # fmt: skip
Keep = Annotated[
    Literal["strict", "lean", "delta"] | None,
    typer.Option(
        "--keep", metavar="strict|lean|delta", show_default=False,
        help="What a recrawl stores in full; default: strict.",
    ),
]  # fmt: skip
Overlap = Annotated[
    Literal["skip", "queue", "end"] | None,
    typer.Option(
        "--overlap", metavar="skip|queue|end", show_default=False,
        help="If another run is open: skip this run (the default), begin it when the other is "
             "over, or end the other if it is paused.",
    ),
]  # fmt: skip
Until = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="DAY", show_default=False,
        help="No run begins after this day of UTC, such as 2026-12-31; `never`: no end.",
    ),
]  # fmt: skip
Profile = Annotated[
    str,
    typer.Option(
        "--profile", metavar="NAME", show_default=False,
        help="Create new jobs from this profile in place of DIR; needs --seed.",
    ),
]  # fmt: skip
Seeds = Annotated[
    list[str] | None,
    typer.Option(
        "--seed", metavar="URL", show_default=False,
        help="Seed of new jobs, in place of the seeds of DIR; can be repeated.",
    ),
]  # fmt: skip
JobName = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="PATTERN", show_default=False,
        help="Name of new jobs, with %Y, %m, %d, %H, %M, %j, %G and %V for parts of the date; "
        "default: the name of DIR and the day.",
    ),
]  # fmt: skip
Home = Annotated[
    str | None,
    typer.Option(
        "--in", metavar="LABEL", show_default=False,
        help="Place of new jobs; `nacre console place list` lists them.",
    ),
]  # fmt: skip

schedule = Program()


@schedule.callback()
def _schedule() -> None:
    """When runs begin. A running console carries schedules out; these commands change them."""


@schedule.command("list")
def list_schedules(state: State = None, as_json: AsJson = False) -> None:
    """List the schedules, with their next times and last results."""
    from nacre.core.clock import iso
    from nacre.job.schedules import next_times

    with console_books(state) as books:
        schedules, now = books.schedules.all(), books.now()
        tell_broken(books.schedules.broken())
        if as_json:
            output.say_json([_facts(books, item) for item in schedules])
            return
        rows = []
        for item in schedules:
            following = next_times(item.wish.times, now, 1)
            rows.append(
                (
                    item.id, _about(item), f"{item.wish.at} {item.wish.zone}", item.wish.mode,
                    "paused" if item.wish.paused else iso(following[0]) if following else "never",
                    f"{item.note.what} {iso(item.note.time)} {item.note.text}".strip()
                    if item.note.what else "-",
                )
            )  # fmt: skip
    head = ("number", "job", "at", "mode", "next", "last")
    output.say(output.table([head, *rows]) if rows else "no schedules")


def _about(schedule: "KeptSchedule") -> str:
    return (
        f"profile {schedule.wish.profile}"
        if schedule.wish.profile
        else output.format_path(Path(schedule.path))
    )


def _facts(books: "ConsoleBooks", schedule: "KeptSchedule", number: int = 10) -> dict[str, Any]:
    """A schedule for programs, as the interface of the console has it."""
    from nacre.core.clock import iso
    from nacre.core.message_data import to_plain
    from nacre.fleet.schedule_book import format_note
    from nacre.job.schedules import next_times

    facts: dict[str, Any] = to_plain(schedule)
    facts["note"] = to_plain(format_note(schedule.note))
    facts["notes"] = [to_plain(format_note(note)) for note in schedule.notes]
    times = [iso(time) for time in next_times(schedule.wish.times, books.now(), number)]
    return {**facts, "times": times}


@schedule.command("show")
def show_schedule(
    number: Number,
    count: Annotated[
        int,
        typer.Option("--next", metavar="N", min=1, max=1000, help="Number of next times to show."),
    ] = 10,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Show a schedule, with its next times."""
    with console_books(state) as books:
        facts = _facts(books, _require_schedule(books, number), count)
    if as_json:
        output.say_json(facts)
        return
    fields = {"directory": facts["path"], **facts["wish"], "owner": facts["owner"]}
    output.say(output.pairs({name: value for name, value in fields.items() if value}))
    for time in facts["times"]:
        output.say(f"  next {time}")


@schedule.command("add")
def add_schedule(  # noqa: PLR0917 - typer reads them by name
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", show_default=False,
            help="Directory of the job, or its id; none with --profile.",
        ),
    ] = None,
    at: At = None,
    zone: Zone = None,
    mode: Mode = None,
    budget: Budget = None,
    keep: Keep = None,
    overlap: Overlap = None,
    until: Until = None,
    profile: Profile = "",
    seeds: Seeds = None,
    name: JobName = None,
    home: Home = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Add a schedule: runs of a job, or new jobs with its settings or from a profile."""
    from nacre.errors import ConfigError, Problem
    from nacre.fleet.schedule_book import NEW_JOB, ScheduleWish

    if (directory is None) != bool(profile):
        message = "name the job, or a profile by --profile"
        raise ConfigError([Problem("", message, "one of the two", "crawls/news --at @daily")])
    if not at:
        raise ConfigError([Problem("at", "say when, by --at", "", "--at '30 2 * * 1'")])
    options = {
        "zone": zone, "budget": budget, "keep": keep, "overlap": overlap, "name": name,
        "mode": mode, "profile": profile, "place": home, "until": until,
    }  # fmt: skip
    with console_books(state) as books:
        job = books.job(directory) if directory is not None else None
        plain = ScheduleWish(job.id if job else "", at, mode=NEW_JOB if profile else "recrawl")
        request, path = _with_place(books, job, _with_options(plain, options, seeds))
        number = books.schedules.add(request, path, books.who)
        books.note("nacre console schedule add", job, None, request)
        added = _require_schedule(books, number)
        _say(books, added, f"added schedule {number}", as_json=as_json)


@schedule.command("set")
def set_schedule(  # noqa: PLR0917 - typer reads them by name
    number: Number,
    at: At = None,
    zone: Zone = None,
    mode: Mode = None,
    budget: Budget = None,
    keep: Keep = None,
    overlap: Overlap = None,
    until: Until = None,
    seeds: Seeds = None,
    name: JobName = None,
    home: Home = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Change a schedule: omitted values do not change, and an empty value ("") removes one."""
    options = {
        "at": at, "zone": zone, "mode": mode, "budget": budget, "keep": keep, "overlap": overlap,
        "until": until, "name": name, "place": home,
    }  # fmt: skip
    with console_books(state) as books:
        before = _require_schedule(books, number)
        _keep(books, before, _with_options(before.wish, options, seeds))
        changed = _require_schedule(books, number)
        _say(books, changed, f"changed schedule {number}", as_json=as_json)


@schedule.command("pause")
def pause_schedule(number: Number, state: State = None) -> None:
    """Pause a schedule: no runs begin, and missed runs are not made up for."""
    _pause(number, state, paused=True)


@schedule.command("resume")
def resume_schedule(number: Number, state: State = None) -> None:
    """Resume a paused schedule."""
    _pause(number, state, paused=False)


@schedule.command("remove")
def remove_schedule(number: Number, state: State = None) -> None:
    """Remove a schedule; its job stays, and a run that it began continues."""
    with console_books(state) as books:
        is_broken = number in books.schedules.broken()
        before = None if is_broken else _require_schedule(books, number)
        books.schedules.remove(number)
        job, request = (_job(books, before), before.wish) if before is not None else (None, None)
        books.note("nacre console schedule remove", job, request, None)
    output.say(f"removed schedule {number}")


def _with_options(
    request: "ScheduleWish", options: Mapping[str, str | None], seeds: list[str] | None
) -> "ScheduleWish":
    """Return a schedule with the given options; in another mode without unfit values.

    Raises:
        ConfigError: The last day is invalid.
    """
    import msgspec

    from nacre.fleet.schedule_book import OF_NEW_JOBS, OF_RECRAWLS, ScheduleWish, until_of
    from nacre.job.schedules import RunOverlap

    plain = ScheduleWish(request.job, "")
    values: dict[str, Any] = {
        name: text or getattr(plain, name) for name, text in options.items() if text is not None
    }
    if "overlap" in values:
        values["overlap"] = RunOverlap(values["overlap"])
    if "until" in values:
        values["until"] = None if values["until"] == "never" else until_of(values["until"] or "")
    if seeds is not None:
        values["seeds"] = tuple(url for url in seeds if url)
    changed = msgspec.structs.replace(request, **values)
    if changed.is_of_new_jobs == request.is_of_new_jobs:
        return changed
    unfit = OF_RECRAWLS if changed.is_of_new_jobs else OF_NEW_JOBS
    defaults = {name: getattr(plain, name) for name in unfit if name not in values}
    return msgspec.structs.replace(changed, **defaults)


def _with_place(
    books: "ConsoleBooks", job: "FoundJob | None", request: "ScheduleWish"
) -> "tuple[ScheduleWish, str]":
    """Return a schedule with the place of its new jobs; and the directory of its job, or place.

    Raises:
        ConfigError: It is invalid.
        JobError: There is no such place.
        RefusedRequestError: The job begins its passes itself, or is crawled in rounds.
    """
    import msgspec

    from nacre.fleet.schedule_book import check_schedule, require_alone

    check_schedule(request)
    if job is not None:
        require_alone(job, request)
    if not request.is_of_new_jobs:
        return request, str(job.layout.root) if job is not None else ""
    homes = {place.label for place in books.homes() if not place.job}
    same_place = job.place if job is not None and job.place in homes else ""
    place = books.home(request.place or same_place)
    request = msgspec.structs.replace(request, place=place.label)
    return request, str(job.layout.root if job is not None else place.root)


def _require_schedule(books: "ConsoleBooks", number: int) -> "KeptSchedule":
    from nacre.errors import JobError

    item = books.schedules.find(number)
    if item is None:
        raise JobError(f"there is no schedule {number}; `nacre console schedule list` lists them")
    return item


def _job(books: "ConsoleBooks", schedule: "KeptSchedule") -> "FoundJob | None":
    """The job of a schedule; None for new ones of a profile, and for one that is gone."""
    is_there = not schedule.wish.profile and (Path(schedule.path) / "crawl.yaml").is_file()
    return books.job(Path(schedule.path)) if is_there else None


def _keep(books: "ConsoleBooks", before: "KeptSchedule", request: "ScheduleWish") -> None:
    """Change a schedule.

    Raises:
        ConfigError: It is invalid.
        JobError: Its job is gone, or there is no such place.
    """
    from nacre.errors import JobError

    job = _job(books, before)
    if before.wish.profile and not request.profile:
        raise JobError(
            f"schedule {before.id} has no job, only a profile: remove it, and add one for a job"
        )
    if job is None and not request.profile:
        raise JobError(f"{before.path} is no job any more: remove schedule {before.id}")
    request, path = _with_place(books, job, request)
    books.schedules.change(before.id, request, books.who, path)
    books.note("nacre console schedule set", job, before.wish, request)


def _pause(number: int, state: Path | None, *, paused: bool) -> None:
    """Pause a schedule or resume it, also if its job or place would now be refused."""
    import msgspec

    with console_books(state) as books:
        before = _require_schedule(books, number)
        schedule = msgspec.structs.replace(before.wish, paused=paused)
        books.schedules.change(number, schedule, books.who)
        command = f"nacre console schedule {'pause' if paused else 'resume'}"
        books.note(command, _job(books, before), before.wish, schedule)
    output.say(f"schedule {number} is paused" if paused else f"schedule {number} goes on")


def _say(books: "ConsoleBooks", schedule: "KeptSchedule", text: str, *, as_json: bool) -> None:
    """Print the change, and a hint if no console runs."""
    facts = _facts(books, schedule)
    if as_json:
        output.say_json(facts)
        return
    following = facts["times"][0] if facts["times"] else "never"
    output.say(f"{text} of {_about(schedule)}; next: {following}")
    if not books.is_served:
        output.tell("nacre: no console runs with these files; `nacre console` carries it out")
