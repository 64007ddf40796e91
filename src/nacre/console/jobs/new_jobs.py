"""New jobs: their names and places, and what each scope would let in."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec

from nacre.config.layer import Layer, merge
from nacre.console.actions import own_command
from nacre.console.call import Call, JobCall
from nacre.console.parts import Common
from nacre.console.settings.form_tasks import fields_shown
from nacre.console.task_answers import ask, ask_readers
from nacre.core.message_data import to_builtins, to_json
from nacre.editing.file_settings import is_file_of_profile, named_files
from nacre.errors import ConfigError, JobError, Problem
from nacre.fleet.job_books import JobLabels, JobLabelsWish, changed_labels
from nacre.fleet.places import FoundJob, JobPlace, check_name, with_tail
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import Layout, run_name
from nacre.messages import message
from nacre.ops.fields import LineTexts, ShortText, ShortTexts, Whole
from nacre.ops.job_request import (
    NewJobRequest,
    SampleDecision,
    create_of_profile,
    create_requested,
    load_requested,
    try_requested,
)
from nacre.ops.seed_input import first_url
from nacre.scope.seed_scope import ScopeKind
from nacre.uri.domain import registered_domain, without_www
from nacre.uri.parse import host, origin
from nacre.web.workers.task import Nothing, reader_task

MOST_SEEDS: Final = 200_000
"""Lines of a seed list in a request; a longer one is a file of the job."""
_PATIENCE: Final = 60.0


class NewJobWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The request for a new job.

    Attributes:
        seeds: Lines of the seed list: URLs, `+` and `-` directives.
        name: Name of its directory; "" for one by the first host and the time.
        place: Label of the place that it is made in; "" for the first one.
        scope: `page`, `prefix`, `host`, `domain`, `site` or `any`; "" for that of the profile, and
            `prefix` without one.
        depth: Links followed from a seed; null for the 20 hops of the stock scope.
        include: Expressions; at least one of them must match in a page's URL.
        exclude: Expressions; none of them may match.
        profile: Name of a profile; "" for none.
        settings: Other settings, nested as in `crawl.yaml`.
        template: Id of a job whose settings are copied, without its seeds, secrets and files in its
            directory; "" for none.
        tags: Its tags in the console.
        kind: `runs`, or `rounds` for a batch crawl, whose table gets the seeds at once.
    """

    seeds: LineTexts
    name: ShortText = ""
    place: ShortText = ""
    scope: ShortText = ""
    depth: Whole | None = None
    include: LineTexts = ()
    exclude: LineTexts = ()
    profile: ShortText = ""
    settings: dict[str, Any] = {}
    template: ShortText = ""
    tags: ShortTexts = ()
    kind: Literal["runs", "rounds"] = "runs"


class NewJobTrial(NewJobRequest, frozen=True, kw_only=True):
    """The dry run of a job that is not made yet.

    Attributes:
        urls: The URLs.
    """

    urls: tuple[str, ...]


class NewJobFields(NewJobRequest, frozen=True, kw_only=True):
    """The settings of a job that is not made yet.

    Attributes:
        section: Those of a section; "" for the common ones.
        search: Those that contain this text; "" for no search.
        paths: Settings that are shown too.
        spoken: Name of the language of the page.
    """

    section: str
    search: str
    paths: tuple[str, ...]
    spoken: str


class ProfileJobRequest(msgspec.Struct, frozen=True):
    """A job of a profile that has no seeds yet."""

    profile: str


class MadeJob(msgspec.Struct, frozen=True):
    """A job that was made.

    Attributes:
        id: Its name in URLs.
        directory: Its directory.
        warnings: What the operator should know.
    """

    id: str
    directory: str
    warnings: tuple[str, ...] = ()


class ScopeReach(NamedTuple):
    """The reach of a scope.

    Attributes:
        kind: Its name.
        what: The prefix, host or domain that it accepts; "" if it has none.
    """

    kind: str
    what: str


def reaches(url: str) -> tuple[ScopeReach, ...]:
    """The reach of each scope for a seed; without a seed they name nothing (pure).

    Args:
        url: The first seed; "" for none.
    """
    if not url:
        return tuple(ScopeReach(kind.value, "") for kind in ScopeKind)
    name, base = host(url), origin(url)
    path = url.partition("?")[0].removeprefix(base).rpartition("/")[0]
    reach = {
        ScopeKind.PAGE: url,
        ScopeKind.PREFIX: f"{base}{path}/",
        ScopeKind.HOST: f"{base}/",
        ScopeKind.DOMAIN: without_www(name),
        ScopeKind.SITE: registered_domain(name) or name,
        ScopeKind.ANY: "",
    }
    return tuple(ScopeReach(kind.value, reach[kind]) for kind in ScopeKind)


def samples(url: str) -> tuple[str, ...]:
    """Return five URLs on which scopes differ, four for an IP address; () without a seed (pure).

    Args:
        url: The first seed; "" for none.
    """
    if not url:
        return ()
    by_kind = {reach.kind: reach.what for reach in reaches(url)}
    scheme, name = url.partition(":")[0], host(url)
    is_address = name.startswith("[") or name.rpartition(".")[2].isdecimal()
    below = () if is_address else (f"{scheme}://sub.{by_kind['site']}/page.html",)
    return (
        url,
        f"{by_kind['prefix']}sample/page.html",
        f"{by_kind['host']}other/page.html",
        *below,
        "https://elsewhere.example/page.html",
    )


def job_places(call: Call) -> list[JobPlace]:
    """The places for jobs that the caller sees."""
    places = [place for place in call.fleet.places if not place.job]
    return [place for place in places if call.identity.sees(place.label)]


def place_for(call: Call, label: str) -> JobPlace:
    """The place that a new job is made in.

    Raises:
        RefusedRequestError: The caller does not see it (403), or there is none (409, 422).
    """
    if label:
        call.require_place(label)
    places = [place for place in job_places(call) if label in {"", place.label}]
    if label and not places:
        raise RefusedRequestError(
            422,
            "place",
            message(
                "console.no-place-for-new-jobs", "there is no place {label!r} for jobs", label=label
            ),
        )
    if not places:
        raise RefusedRequestError(
            409,
            "no-place",
            message(
                "console.no-directory-for-jobs",
                "no directory for new jobs: start `nacre console DIR` with one",
            ),
        )
    return places[0]


def directory_for(call: Call, request: NewJobWish) -> Path:
    """The directory of a new job.

    Raises:
        ConfigError: Its name is none.
        RefusedRequestError: See `place_for`.
    """
    root = place_for(call, request.place).root
    if request.name:
        return root / check_name(request.name)
    first = re.sub(r"[^A-Za-z0-9.-]+", "-", host(first_url(request.seeds)) or "").strip("-.")
    name = f"{first or 'crawl'}-{run_name(call.clock.now())}"
    return free_directory(root, name)


def free_directory(root: Path, name: str) -> Path:
    """Return a directory that does not exist yet, with a number appended if the name is taken."""
    number, free = 1, root / name
    while free.exists():
        number += 1
        free = root / with_tail(name, f"-{number}")
    return free


@reader_task("look-at-new-job")
def try_new_job(layout: Layout, request: NewJobTrial) -> tuple[SampleDecision, ...]:
    """Make the dry run of a job that is not made yet; see `ops.job_request.try_requested`."""
    return try_requested(layout, request, request.urls)


@reader_task("make-new-job")
def make_new_job(layout: Layout, request: NewJobRequest) -> tuple[str, ...]:
    """Check a new job, and write it; see `ops.job_request.create_requested`."""
    return create_requested(layout, request)


@reader_task("make-of-profile")
def make_of_profile(layout: Layout, request: ProfileJobRequest) -> Nothing:
    """Write a job of a profile that has no seeds yet; see `ops.job_request.create_of_profile`."""
    create_of_profile(layout, request.profile)
    return Nothing()


@reader_task("new-job-fields")
def new_job_fields(layout: Layout, request: NewJobFields) -> dict[str, Any]:
    """Return the settings of a job that is not made yet, as `settings.form_tasks.fields_shown`.

    If the settings cannot be read, they have their defaults.
    """
    loaded = load_requested(layout, request)
    return fields_shown(
        loaded, "", request.section, request.search, *request.paths, language=request.spoken
    )


async def look(call: Call, request: NewJobWish, urls: Sequence[str]) -> tuple[SampleDecision, ...]:
    """Make the dry run of a job that is not made yet.

    Raises:
        ConfigError: With every problem of its settings.
        RefusedRequestError: See `directory_for`; or a setting is for admins.
    """
    require_settings(call, request)
    trial = _reader_request(call, request, NewJobTrial, urls=tuple(urls))
    return await ask(call, try_new_job, trial, _PATIENCE, directory_for(call, request))


async def with_values(call: Call, request: NewJobWish, values: Mapping[str, str]) -> NewJobWish:
    """A wish with the values of the form of all settings over those it has.

    Args:
        call: The request.
        request: The other fields of the request.
        values: Texts by path.

    Raises:
        ConfigError: A value is wrong; with every problem.
    """
    if not values:
        return request
    answer = await call.readers.ask(
        "form-values", directory_for(call, request), _PATIENCE, values=dict(values)
    )
    merged, _ = merge([Layer("option", request.settings), Layer("option", answer["settings"])])
    return msgspec.structs.replace(request, settings=merged)


async def fields_of_new(
    call: Call, request: NewJobWish, section: str, search: str, paths: Sequence[str]
) -> dict[str, object]:
    """The settings of a job that is not made yet: `fields`, `sections` and `total`.

    Args:
        call: The request.
        request: The job, without what its form of all settings changes.
        section: All of this section; "" for the common ones.
        search: Those that have this text in them; "" for no search.
        paths: Settings that are shown too.
    """
    require_settings(call, request)
    question = _reader_request(
        call, request, NewJobFields, section=section, search=search, paths=tuple(paths),
        spoken=call.language.name,
    )  # fmt: skip
    return await ask(call, new_job_fields, question, _PATIENCE, directory_for(call, request))


R = TypeVar("R", bound=NewJobRequest)


def _reader_request(call: Call, request: NewJobWish, kind: type[R], **more: object) -> R:
    """Return a request as the tasks of readers take it: the template is a directory.

    Args:
        call: The request of the caller.
        request: The new job.
        kind: The struct.
        more: Its other fields.

    Raises:
        ConfigError: The request has both a template and a profile.
        RefusedRequestError: There is no such job (404).
    """
    names = {field.name for field in msgspec.structs.fields(NewJobRequest)}
    values = {name: value for name, value in to_builtins(request).items() if name in names}
    if request.template:
        if request.profile:
            text = message(
                "console.profile-beside-template",
                "the template has its own settings, so it cannot be combined with a profile",
            )
            raise ConfigError(
                [Problem("profile", text, message("console.either", "one of the two"))]
            )
        values["template"] = str(call.job(request.template).layout.root)
    return msgspec.convert({**values, **more}, kind)


async def make(call: JobCall, request: NewJobWish) -> tuple[FoundJob, MadeJob]:
    """Make a job.

    Raises:
        ConfigError: With every problem of its settings.
        RefusedRequestError: See `place_for`; or a setting is for admins.
    """
    root, labels = _required(call, request)
    job, warnings = await make_at(call.common, root, _reader_request(call, request, NewJobRequest))
    call.note.job = job.id
    if request.kind == "rounds":
        await _inject(job)
    if labels.tags:
        call.parts.books.labels.set(job, labels)
    return job, MadeJob(job.id, str(root), warnings)


async def check_new(call: Call, request: NewJobWish) -> tuple[str, ...]:
    """Check a job as `make` does, and write nothing; return what the operator should know.

    Raises:
        ConfigError: With every problem of its settings, its seeds and its contact.
        RefusedRequestError: See `make`.
    """
    root, _ = _required(call, request)
    checked = _reader_request(call, request, NewJobRequest, writes=False)
    return await ask(call, make_new_job, checked, _PATIENCE, root)


def _required(call: Call, request: NewJobWish) -> tuple[Path, JobLabels]:
    """Return the directory and the labels of a new job; see `make` for the exceptions."""
    require_settings(call, request)
    root = directory_for(call, request)
    return root, changed_labels(JobLabels(), JobLabelsWish(tags=request.tags))


async def make_at(
    common: Common, root: Path, request: NewJobRequest
) -> tuple[FoundJob, tuple[str, ...]]:
    """Make a job in a directory; it, and what the operator should know.

    Args:
        common: The common parts of the console.
        root: Its directory, below a place.
        request: The job.

    Raises:
        ConfigError: With every problem of its settings.
        JobError: It is not found afterwards.
    """
    warnings = await ask_readers(common.readers, root, make_new_job, request, _PATIENCE)
    # A removal of this directory is of an earlier job, whose directory no longer exists.
    common.fleet.removals.drop(str(root))
    await common.fleet.scan()
    jobs = [job for job in common.fleet.jobs if job.layout.root == root]
    if not jobs:
        raise JobError(
            message(
                "console.new-job-not-listed",
                "{root} was made, and is not found below the places of the console",
                root=root,
            )
        )
    return jobs[0], warnings


async def _inject(job: FoundJob) -> None:
    """Put the seeds of a job into the table of a batch crawl, which makes it one.

    Raises:
        JobError: That failed; the job is there, and its seeds can be injected again.
    """
    try:
        await own_command("cycle", str(job.layout.root), "inject", "--quiet")
    except JobError as error:
        raise JobError(
            message(
                "console.new-job-without-rounds",
                "{id} is made, but no batch crawl yet: {error}",
                id=job.id,
                error=error,
            )
        ) from None


def require_settings(call: Call, request: NewJobWish) -> None:
    """Refuse settings with names of files of this machine, if only admins may set these.

    Raises:
        RefusedRequestError: The request contains such settings (403).
        ConfigError: There are too many seeds.
    """
    if len(request.seeds) > MOST_SEEDS:
        raise ConfigError(
            [
                Problem(
                    "seeds",
                    message(
                        "console.too-many-seed-lines",
                        "more than {most_seeds:,} lines of seeds",
                        most_seeds=MOST_SEEDS,
                    ),
                )
            ]
        )
    if call.may_name_files:
        return
    named = list(named_files(to_json(request.settings).decode()))
    if is_file_of_profile(request.profile):
        named.append("profile")
    if named:
        raise RefusedRequestError(
            403,
            "names-files",
            message(
                "console.admin-only-names",
                "{names}: only an admin may name files, programs, servers, networks and ports",
                names=", ".join(named),
            ),
        )


class DryRunWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The dry run of a job that is not made yet.

    Attributes:
        job: The job.
        urls: URLs to look at, 1,000 at most.
    """

    job: NewJobWish
    urls: LineTexts


class DryRunOfNewJob(msgspec.Struct, frozen=True):
    """The dry run of a job that is not made yet.

    Attributes:
        problems: What keeps it from being made, each with `path` and `message`.
        urls: The decisions; () if the settings have problems.
    """

    problems: tuple[dict[str, str | int], ...]
    urls: tuple[SampleDecision, ...]


async def make_job(call: JobCall) -> MadeJob:
    """Make a job."""
    _, created = await make(call, call.body)
    return created


async def look_at_job(call: Call) -> DryRunOfNewJob:
    """Make the dry run of a job that is not made yet."""
    request: DryRunWish = call.body
    try:
        decisions = await look(call, request.job, request.urls[:1000])
    except ConfigError as error:
        return DryRunOfNewJob(_as_answer(error.problems), ())
    try:
        await check_new(call, request.job)
    except ConfigError as error:
        return DryRunOfNewJob(_as_answer(error.problems), decisions)
    return DryRunOfNewJob((), decisions)


def _as_answer(problems: Sequence[Problem]) -> tuple[dict[str, str | int], ...]:
    return tuple(problem._asdict() for problem in problems)
