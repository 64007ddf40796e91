"""New jobs: their names and places, and what each scope would let in."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from nacre.config.layer import Layer, merge
from nacre.console.actions import own_command
from nacre.console.call import Call
from nacre.console.services import ConsoleServices
from nacre.core.message_data import to_json, to_plain
from nacre.editing.file_settings import is_file_of_profile, named_files
from nacre.errors import ConfigError, JobError, Problem
from nacre.fleet.job_books import JobLabels, JobLabelsWish, changed_labels
from nacre.fleet.places import FoundJob, JobPlace, check_name, with_tail
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import run_name
from nacre.messages import message
from nacre.ops.fields import LineTexts, ShortText, ShortTexts, Whole
from nacre.scope.seed_scope import ScopeKind
from nacre.scope.seeds import Seed, read_seeds
from nacre.uri.domain import registered_domain, without_www
from nacre.uri.parse import host, origin

MOST_SEEDS: Final = 200_000
"""Lines of a seed list in a request; a longer one is a file of the job."""
_PATIENCE: Final = 60.0


class NewJobWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job that somebody wants.

    Attributes:
        seeds: Lines of the seed list: URLs, `+` and `-` directives.
        name: Name of its directory; "" for one by the first host and the time.
        place: Label of the place that it is made in; "" for the first one.
        scope: `page`, `prefix`, `host`, `domain`, `site` or `any`; "" for that of the profile, and
            `prefix` without one.
        depth: Links followed from a seed; null for the 20 hops of the stock scope.
        include: Expressions of which one must be found in a page's URL.
        exclude: Expressions of which none may be found.
        profile: Name of a profile; "" for none.
        settings: Other settings, nested as in `crawl.yaml`.
        template: Id of a job whose settings it takes, without seeds, secrets and files beside it;
            "" for none.
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


class SampleDecision(msgspec.Struct, frozen=True):
    """The dry run of a URL.

    Attributes:
        url: The URL.
        decision: `ACCEPT`, `REJECT`, or "" if it is no URL that can be crawled.
        rule: The rule that decides.
        error: Why it is no URL that can be crawled; "" where it is.
    """

    url: str
    decision: str = ""
    rule: str = ""
    error: str = ""


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
        what: The prefix, host or domain that it lets in; "" where it names none.
    """

    kind: str
    what: str


def first_url(seeds: Sequence[str]) -> str:
    """The first URL of a seed list; "" for none (pure)."""
    for entry in read_seeds(seeds):
        if isinstance(entry, Seed):
            return entry.url
    return ""


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
    """Five URLs that the scopes tell apart, four for an address; () without a seed (pure).

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
    places = [place for place in call.services.fleet.places if not place.job]
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
    name = f"{first or 'crawl'}-{run_name(call.services.clock.now())}"
    return free_directory(root, name)


def free_directory(root: Path, name: str) -> Path:
    """A directory of a name that is not there yet: with a number behind it where it is taken."""
    number, free = 1, root / name
    while free.exists():
        number += 1
        free = root / with_tail(name, f"-{number}")
    return free


async def look(call: Call, request: NewJobWish, urls: Sequence[str]) -> dict[str, object]:
    """Make the dry run of a job that is not made yet: `problems`, and `urls` with decisions."""
    require_settings(call, request)
    answer: dict[str, object] = await call.services.readers.ask(
        "look-at-new-job", directory_for(call, request), _PATIENCE, urls=list(urls),
        **_arguments(call, request),
    )  # fmt: skip
    return answer


async def with_values(call: Call, request: NewJobWish, values: Mapping[str, str]) -> NewJobWish:
    """A wish with the values of the form of all settings over those it has.

    Args:
        call: The request.
        request: What else is wanted.
        values: Texts by path.

    Raises:
        ConfigError: A value is wrong; with every problem.
    """
    if not values:
        return request
    answer = await call.services.readers.ask(
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
    answer: dict[str, object] = await call.services.readers.ask(
        "new-job-fields", directory_for(call, request), _PATIENCE, section=section, search=search,
        paths=list(paths), spoken=call.language.name, **_arguments(call, request),
    )  # fmt: skip
    return answer


def _arguments(call: Call, request: NewJobWish) -> dict[str, object]:
    """A wish as the tasks of readers take it: the template is a directory.

    Raises:
        ConfigError: The template has a profile beside it.
        RefusedRequestError: There is no such job (404).
    """
    arguments: dict[str, object] = to_plain(request)
    if request.template:
        if request.profile:
            text = message(
                "console.profile-beside-template",
                "the template has settings of its own, and a profile beside it has no place",
            )
            raise ConfigError(
                [Problem("profile", text, message("console.either", "one of the two"))]
            )
        arguments["template"] = str(call.job(request.template).layout.root)
    return arguments


async def make(call: Call, request: NewJobWish) -> tuple[FoundJob, MadeJob]:
    """Make a job.

    Raises:
        ConfigError: With every problem of its settings.
        RefusedRequestError: See `place_for`; or a setting is for admins.
    """
    root, labels = _required(call, request)
    job, warnings = await make_at(call.services, root, _arguments(call, request))
    call.note.job = job.id
    if request.kind == "rounds":
        await _inject(job)
    if labels.tags:
        call.services.labels.set(job, labels)
    return job, MadeJob(job.id, str(root), warnings)


async def check_new(call: Call, request: NewJobWish) -> tuple[str, ...]:
    """Check a job as `make` does, and write nothing; return what the operator should know.

    Raises:
        ConfigError: With every problem of its settings, its seeds and its contact.
        RefusedRequestError: See `make`.
    """
    root, _ = _required(call, request)
    return await _ask_readers(call.services, root, {**_arguments(call, request), "writes": False})


def _required(call: Call, request: NewJobWish) -> tuple[Path, JobLabels]:
    """The directory and the labels of a new job; see `make` for what is raised."""
    require_settings(call, request)
    root = directory_for(call, request)
    return root, changed_labels(JobLabels(), JobLabelsWish(tags=request.tags))


async def _ask_readers(
    services: ConsoleServices, root: Path, arguments: Mapping[str, Any]
) -> tuple[str, ...]:
    """Let a reader process check a job, and make it; return what the operator should know.

    Raises:
        ConfigError: With every problem of its settings.
    """
    answer = await services.readers.ask("make-new-job", root, _PATIENCE, **arguments)
    if answer["problems"]:
        raise ConfigError([Problem(**problem) for problem in answer["problems"]])
    return tuple(answer["warnings"])


async def make_at(
    services: ConsoleServices, root: Path, arguments: Mapping[str, Any]
) -> tuple[FoundJob, tuple[str, ...]]:
    """Make a job in a directory; it, and what the operator should know.

    Args:
        services: The parts of the console.
        root: Its directory, below a place.
        arguments: As `jobs.new_job_tasks.make_new_job` takes them.

    Raises:
        ConfigError: With every problem of its settings.
        JobError: It is not found afterwards.
    """
    warnings = await _ask_readers(services, root, arguments)
    # What was removed from the console there was another job, whose directory is gone.
    services.removals.drop(str(root))
    await services.fleet.scan()
    jobs = [job for job in services.fleet.jobs if job.layout.root == root]
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
    """Refuse what names files of this machine where that is for admins alone.

    Raises:
        RefusedRequestError: It does (403).
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


async def make_job(call: Call) -> MadeJob:
    """Make a job."""
    _, created = await make(call, call.body)
    return created


async def look_at_job(call: Call) -> DryRunOfNewJob:
    """Make the dry run of a job that is not made yet."""
    request: DryRunWish = call.body
    outlook = await look(call, request.job, request.urls[:1000])
    if not outlook["problems"]:
        try:
            await check_new(call, request.job)
        except ConfigError as error:
            outlook["problems"] = [problem._asdict() for problem in error.problems]
    return msgspec.convert(outlook, DryRunOfNewJob)
