"""For programs that crawl: make a job, open it, check it, visit it again. The rest is `Job`."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

from nacre.fetch.dns import DnsResolver
from nacre.job.checks import Findings, check
from nacre.job.clock import SystemClock
from nacre.job.configuration.configure import NewJob, create_job, examine_job, load_job
from nacre.job.configuration.contact import resolver_lookup
from nacre.job.configuration.settings import JobSettings
from nacre.job.job import Job
from nacre.job.layout import Layout
from nacre.job.offline import plan_next
from nacre.job.runs.newrun import FULL, INCREMENTAL
from nacre.scope.options import rules_for

PathText = str | PathLike[str]
Keep = Literal["strict", "lean", "delta"]


def new_job(  # noqa: PLR0913 - what `nacre new` has as options
    directory: PathText,
    seeds: str | Sequence[str],
    *,
    scope: str = "prefix",
    depth: int | None = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    profile: str = "",
    settings: Mapping[str, object] | None = None,
) -> Job:
    """Write a new job's directory, and open it.

    Where several texts can be given, one alone will do.

    Args:
        directory: Where; it must hold no job yet.
        seeds: Lines of the seed list: URLs, `+` and `-` directives.
        scope: `page`, `prefix`, `host`, `domain`, `site` or `any`; without meaning with a profile.
        depth: Links followed from a seed; None for the 20 hops of the stock scope.
        include: Expressions of which one must be found in a page's URL.
        exclude: Expressions of which none may be found.
        profile: Name of a profile, whose scope then holds; "" for none.
        settings: Other settings, nested as in `crawl.yaml`.

    Raises:
        ConfigError: With every problem of the settings.
        JobError: There is a job already, or the directory cannot be written.
    """
    layout = Layout(Path(directory))
    rules = rules_for(scope, depth=depth, include=_several(include), exclude=_several(exclude))
    new = NewJob(_several(seeds), () if profile else rules, settings or {}, profile)
    create_job(layout, new)
    return open_job(directory)


def _several(texts: str | Sequence[str]) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts


def open_job(directory: PathText, assignments: Iterable[str] = ()) -> Job:
    """Open a job's directory; `await job.run()` starts it or goes on with it.

    Args:
        directory: The job.
        assignments: `path=value` texts, as of `--set`.

    Raises:
        JobError: The directory is no job.
        ConfigError: With every problem of its settings.
    """
    layout = Layout(Path(directory))
    loaded = load_job(layout, assignments)
    job = Job(layout.root, loaded.settings)
    job.origin = loaded.origin
    return job


def recrawl_job(
    directory: PathText,
    assignments: Iterable[str] = (),
    *,
    budget: str = "",
    keep: Keep = "strict",
    full: bool = False,
) -> Job:
    """Plan the next run of a job and open it; `await job.run()` starts it.

    An incremental run that was interrupted goes on.

    Args:
        directory: The job; it does not run now.
        assignments: `path=value` texts, as of `--set`.
        budget: What the run may spend, as of `nacre recrawl --budget`; "" for no limit.
        keep: What of its visits is stored in full: `strict`, `lean` or `delta`.
        full: Visit everything, as the first run did.

    Raises:
        JobError: The directory is no job, or its run is not over.
        ConfigError: With every problem of its settings; or the budget is none.
        StorageError: The job runs, or its store cannot be written.
    """
    job = open_job(directory, assignments)
    mode = FULL if full else INCREMENTAL
    plan_next(job.layout, job.settings, mode=mode, budget=budget, keep=keep)
    return job


async def check_job(directory: PathText, assignments: Iterable[str] = ()) -> Findings:
    """What `nacre check` finds: problems, which keep the job from starting, and warnings.

    Raises:
        JobError: The directory is no job.
    """
    layout = Layout(Path(directory))
    loaded, problems = examine_job(layout, assignments)
    settings = loaded.settings if loaded else JobSettings()
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    return await check(layout, loaded, problems, lookup)
