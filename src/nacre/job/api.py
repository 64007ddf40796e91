"""The Python interface: make a job, open it, check it, visit it again, and query its contents.

A job is named by its directory. It may run in another process, in this one, or not at all: answers
are of the last committed state. Changes of the frontier go to the process that runs the job, or
into its store.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from nacre.config.secret import allow_unread_secrets
from nacre.core.crawluri import CrawlURI
from nacre.core.message_data import to_plain
from nacre.fetch.dns import DnsResolver
from nacre.frontier.pending import pending
from nacre.inspect.analysis.page_history import PageFilter, page, pages
from nacre.inspect.explain.answers import Explanation
from nacre.inspect.explain.explain import Explainer
from nacre.inspect.other_jobs import other_jobs
from nacre.inspect.registry import all_reports, report_named
from nacre.inspect.reports.base import ReportRequest
from nacre.inspect.typed_urls import typed_spellings
from nacre.inspect.view import View, reading
from nacre.job.checks import Findings, check
from nacre.job.control import Answer, NotRunningError, is_running, send_command
from nacre.job.frontier_edits import Imported
from nacre.job.imports import ImportMode, ImportOptions
from nacre.job.job import Job
from nacre.job.next_run import plan_next
from nacre.job.stopped_job import open_stopped
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.runs.runs import FULL, INCREMENTAL
from nacre.scope.patterns.matching import matcher
from nacre.scope.rules.stock import rules_for
from nacre.settings.contact import resolver_lookup
from nacre.settings.load import examine_job, load_job
from nacre.settings.new_job import NewJob, create_job
from nacre.settings.settings import JobSettings

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
        directory: Directory of the new job; it must not contain a job yet.
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
    """Open a job's directory; `await job.run()` starts or resumes it.

    Args:
        directory: The job.
        assignments: `path=value` texts, as of `--set`.

    Raises:
        JobError: The directory is not a job.
        ConfigError: With every problem of its settings.
    """
    layout = Layout(Path(directory))
    loaded = load_job(layout, assignments)
    return Job(layout.root, loaded.settings, origin=loaded.origin)


def recrawl_job(
    directory: PathText,
    assignments: Iterable[str] = (),
    *,
    budget: str = "",
    keep: Keep = "strict",
    full: bool = False,
) -> Job:
    """Plan the next run of a job and open it; `await job.run()` starts it.

    An incremental run that was interrupted is resumed.

    Args:
        directory: The job; it does not run now.
        assignments: `path=value` texts, as of `--set`.
        budget: What the run may spend, as of `nacre recrawl --budget`; "" for no limit.
        keep: What of its visits is stored in full: `strict`, `lean` or `delta`.
        full: Visit everything, as the first run did.

    Raises:
        JobError: The directory is not a job, or its run is not over.
        ConfigError: With every problem of its settings; or the budget is none.
        StorageError: The job runs, or its store cannot be written.
    """
    job = open_job(directory, assignments)
    mode = FULL if full else INCREMENTAL
    plan_next(job.layout, job.settings, job.clock.now(), mode=mode, budget=budget, keep=keep)
    return job


async def check_job(directory: PathText, assignments: Iterable[str] = ()) -> Findings:
    """Check a job as `nacre check` does: problems, which keep it from starting, and warnings.

    Raises:
        JobError: The directory is not a job.
    """
    layout = Layout(Path(directory))
    loaded, problems = examine_job(layout, assignments)
    settings = loaded.settings if loaded else JobSettings()
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    return await check(layout, loaded, problems, lookup)


def explain_url(directory: PathText, url: str) -> Explanation:
    """Explain why a URL was or was not crawled, and which rule decided.

    Secrets of the settings need not be readable: see `SigningAnswer.unread`.

    Args:
        directory: The job.
        url: Any URL.

    Raises:
        JobError: The directory is not a job, or the job never ran.
        ConfigError: Its settings cannot be read.
        URIError: That is not a URL.
    """
    answer = _answer(Layout(Path(directory)), "explain", url=url)
    if answer is not None:
        explanation = msgspec.convert(answer["explanation"], Explanation)
    else:
        with allow_unread_secrets(), _looking(directory) as view:
            explanation = Explainer(view).explain(url)
    with other_jobs(Path(directory), SystemClock()) as jobs:
        sharers = tuple(jobs.sharers(explanation.queue.name))
    return replace(explanation, queue=replace(explanation.queue, sharers=sharers))


def report_names() -> list[str]:
    """Return the names of all reports that `read_report` accepts, those of plug-ins included."""
    return [report.name for report in all_reports()]


def read_report(directory: PathText, name: str = "crawl-summary", url: str = "") -> dict[str, Any]:
    """A report as data, as `nacre report --json` gives it.

    Args:
        directory: The job.
        name: One of `report_names`.
        url: The page, for those that are of one page; "" for none.

    Raises:
        JobError: The job never ran, there is no such report, or it needs a URL or takes none.
    """
    report, request = report_named(name), ReportRequest(url)
    report.check(request)
    layout = Layout(Path(directory))
    answer = _answer(layout, "report", name=name) if report.live else None
    if answer is not None:
        return dict(answer["report"])
    with _looking(directory, running=is_running(layout.socket)) as view:
        return dict(to_plain(report.data(view, request)))


def waiting_urls(directory: PathText, regex: str = "", queue: str = "") -> Iterator[CrawlURI]:
    """The URLs that wait to be fetched, queue by queue, in their order.

    Args:
        directory: The job.
        regex: Expression found in the URL; "" for any.
        queue: Expression found in the queue key, such as `com,example,`; "" for any.

    Raises:
        JobError: The job never ran.
        ConfigError: An expression is none.
    """
    urls, queues = matcher(regex), matcher(queue)
    with _looking(directory) as view:
        for entry in pending(view.store, urls, queues):
            yield entry.uri


async def schedule_urls(
    directory: PathText, urls: Iterable[str], *, scoped: bool = False, force: bool = False
) -> Imported:
    """Put URLs into the frontier; a job that never ran begins its first run.

    Args:
        directory: The job.
        urls: Absolute URLs.
        scoped: Only those in scope.
        force: Also those that were fetched or deleted before.

    Raises:
        JobError: The directory is not a job, or its run is over.
        StorageError: The job runs in this process, or its store cannot be written.
    """
    layout, settings = _opened(directory)
    options = ImportOptions(ImportMode.IMPORT, scoped=scoped, force=force)
    lines, packed_options = list(urls), to_plain(options)
    answer = await asyncio.to_thread(
        _answer, layout, "frontier-import", lines=lines, first=1, options=packed_options
    )
    if answer is not None:
        return msgspec.convert(answer["imported"], Imported)
    async with open_stopped(layout, settings, new=True) as editor:
        return await editor.import_lines(lines, options)


async def delete_urls(directory: PathText, regex: str, queue: str = "") -> int:
    """Delete the waiting URLs that match both; they count as disregarded (-6000).

    Args:
        directory: The job.
        regex: Expression found in the URL; "" for any.
        queue: Expression found in the queue key; "" for any.

    Returns:
        How many there were.

    Raises:
        JobError: The job never ran, or its run is over.
        ConfigError: An expression is none.
        StorageError: The job runs in this process, or its store cannot be written.
    """
    layout, settings = _opened(directory)
    urls, queues = matcher(regex), matcher(queue)
    answer = await asyncio.to_thread(_answer, layout, "frontier-delete", urls=regex, queues=queue)
    if answer is not None:
        return int(answer["deleted"])
    async with open_stopped(layout, settings) as editor:
        return await editor.delete(urls, queues)


def page_history(directory: PathText, url: str) -> dict[str, Any] | None:
    """All that is known of a page over all runs, and each of its visits; None: nothing is.

    The keys are those of `nacre history DIR url URL --json`: `url`, `page`, `way`, `version`,
    `capture`, `visits`, as far as they are known.

    Args:
        directory: The job.
        url: The page.

    Raises:
        JobError: The job never ran.
    """
    with _looking(directory) as view:
        pages = (page(view.store, name) for name in typed_spellings(view.store, url))
        return next((page_facts for page_facts in pages if page_facts is not None), None)


def known_pages(directory: PathText, regex: str = "") -> Iterator[dict[str, Any]]:
    """The pages that were visited, in any run, as `nacre history DIR dump` has them.

    Args:
        directory: The job.
        regex: Expression found in the URL; "" for any.

    Raises:
        JobError: The job never ran.
        ConfigError: That is not an expression.
    """
    with _looking(directory) as view:
        yield from pages(view.store, PageFilter(regex))


def _opened(directory: PathText) -> tuple[Layout, JobSettings]:
    layout = Layout(Path(directory))
    return layout, load_job(layout).settings


def _answer(layout: Layout, command: str, **arguments: object) -> Answer | None:
    """The reply of the process that runs the job; None if there is none."""
    layout.require()
    try:
        return send_command(layout.socket, command, **arguments)
    except NotRunningError:
        return None


@contextmanager
def _looking(directory: PathText, *, running: bool = False) -> Iterator[View]:
    layout = Layout(Path(directory))
    loaded = load_job(layout)
    with reading(layout, loaded.settings, loaded.origin, running=running) as view:
        yield view
