"""`/`: all jobs of all places."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from nacre.console.api.jobs import JobsQuery, SeenJob, job_items, jobs_page, wanted_jobs
from nacre.console.call import Call, PageAnswer
from nacre.console.jobs.removals import removed_jobs
from nacre.console.pages import new_job
from nacre.console.pages.action_buttons import many_buttons
from nacre.ops.fields import RowCount
from nacre.ops.roles import Role

ROWS: Final = 50
"""Jobs of a page."""
URLS: Final = 3
"""URLs of each job that runs, where they are wanted."""


class JobListQuery(JobsQuery, frozen=True):
    """The query of the page.

    Attributes:
        urls: Show the last URLs of each job that runs.
        limit: Jobs on a page, 1 to 500.
    """

    urls: bool = False
    limit: RowCount = ROWS


async def page(call: Call) -> PageAnswer:
    """The list of all jobs; without jobs it is the form of a new one."""
    await call.services.poller.scan_after()
    removed = removed_jobs(call)
    if not (removed or call.snapshots()) and call.identity.role >= Role.OPERATOR:
        return PageAnswer("new.html", new_job.facts(call, {}))
    return PageAnswer("jobs.html", {**facts(call), "removed": removed})


def facts(call: Call) -> dict[str, Any]:
    """The facts of the list."""
    services = call.services
    query: JobListQuery = call.query
    seen_jobs, all_wanted = call.snapshots(), wanted_jobs(call, query)
    shown = jobs_page(all_wanted, query)
    wanted = shown.jobs
    items = job_items(call, wanted)
    return {
        "query": query,
        "is_filtered": bool(query.name or query.state or query.tag),
        "total": len(all_wanted),
        "first": shown.first,
        "ways": [
            _way(query) if query.after or query.before or query.key else "",
            _way(query, before=shown.previous) if shown.previous else "",
            _way(query, after=shown.next) if shown.next else "",
        ],
        "filters": _query_of(query),
        "other_urls": _query_of(msgspec.structs.replace(query, urls=not query.urls)),
        "sparks": {job.id: seen.rates for job, seen in wanted if len(seen.rates) > 1},
        "last_urls": last_urls(call, wanted) if query.urls else {},
        "tags": sorted(
            {query.tag, *services.labels.all_tags([job for job, _ in seen_jobs])} - {""}
        ),
        "states": sorted({query.state, *(seen.state for _, seen in seen_jobs)} - {""}),
        "jobs": items,
        "running": sum(seen.running for _, seen in all_wanted),
        "many": many_buttons(call.language.texts.gettext, call.identity),
        "places": [
            str(place.root) for place in services.fleet.places if call.identity.sees(place.label)
        ],
    }


def last_urls(call: Call, jobs: Sequence[SeenJob]) -> dict[str, list[tuple[int, str, str]]]:
    """The last URLs of crawl.log of jobs that run: status, its colour, URL; the newest first."""
    poller = call.services.poller
    return {
        job.id: [
            (line.status, line.kind, line.url) for line in poller.lately(job)[: -URLS - 1 : -1]
        ]
        for job, seen in jobs
        if seen.running
    }


def _way(query: JobListQuery, after: str = "", before: str = "") -> str:
    """The link to another page of the same list."""
    return "?" + _query_of(msgspec.structs.replace(query, after=after, before=before, key=""))


def _query_of(query: JobListQuery) -> str:
    """The fields that are set, for a link; "" for none."""
    usual = JobListQuery()
    values = {
        name: value
        for name, value in msgspec.to_builtins(query).items()
        if value != getattr(usual, name)
    }
    return urlencode({name: int(v) if v is True else v for name, v in values.items()})
