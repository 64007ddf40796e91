"""`/api/v1/jobs`: the jobs, and one of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from nacre.console.call import JobCall, PageAnswer
from nacre.console.forms import may_operate
from nacre.console.jobs.buttons import many_buttons
from nacre.console.jobs.new_job_form import form_facts
from nacre.console.jobs.removals import removed_jobs
from nacre.console.links import ItemList
from nacre.core.clock import iso
from nacre.core.message_data import to_plain
from nacre.fleet.job_books import NONE, JobLabels
from nacre.fleet.places import FoundJob
from nacre.fleet.snapshot import JobSnapshot
from nacre.job.diagnosis import Value
from nacre.job.overview import JobOverview
from nacre.job.schedules import times_after
from nacre.ops.fields import RowCount, ShortText


class SpokenSentence(msgspec.Struct, frozen=True):
    """A sentence with its text.

    Attributes:
        code: Which it is.
        params: Its numbers and names; durations in seconds, sizes in bytes, times in seconds since
            the epoch, shares from 0 to 1.
        lever: Names of what would change it, the best first.
        text: Its text in the language of the request.
        also: The codes of further sentences in the text.
    """

    code: str
    params: dict[str, Value]
    lever: tuple[str, ...]
    text: str
    also: tuple[str, ...] = ()


class JobFilters(msgspec.Struct, frozen=True):
    """The filters of the list of jobs.

    Attributes:
        state: Only jobs in this state, such as `RUNNING`; "" for all.
        name: Only jobs whose id or name contains this text, in small or capital letters; "" for
            all.
        tag: Only jobs with this tag; "" for all.
    """

    state: ShortText = ""
    name: ShortText = ""
    tag: ShortText = ""

    def wants(self, job: FoundJob, snapshot: JobSnapshot, labels: JobLabels) -> bool:
        """Whether a job passes."""
        name = self.name.strip().casefold()
        return (
            (name in job.id.casefold() or name in labels.name.casefold())
            and self.state in {"", snapshot.state}
            and (not self.tag or self.tag in labels.tags)
        )


class JobsQuery(JobFilters, frozen=True):
    """A page of the list of jobs.

    Attributes:
        after: The page begins after this id; "" for the first page.
        before: The page ends before this id; "" if `after` selects the page.
        key: The page begins with this id, or with the next id if no job has it.
        limit: Jobs on a page, 1 to 500.
    """

    after: ShortText = ""
    before: ShortText = ""
    key: ShortText = ""
    limit: RowCount = 100


class JobItem(msgspec.Struct, frozen=True):
    """A job in the list.

    Attributes:
        id: Its name in URLs.
        name: The name that a user gave it, or else the name of its directory.
        place: Label of its place.
        state: State of the job, or how its run ended; ROUNDS for a batch crawl, READING until it
            is read, UNREADABLE if it cannot be read.
        running: A process works on it.
        sentence: Diagnosis of its activity and speed.
        finished: URIs finished.
        queued: URIs that wait.
        warc_bytes: Bytes of WARC that the last run wrote.
        archive_bytes: Bytes of WARC of all runs.
        alerts: Alerts of the run.
        rate: Recent rate of finished URIs per second; null if the job does not run.
        next_pass: When its next run begins, by its own settings or by a schedule, RFC 3339; "" for
            none.
        as_of: When its state was read, RFC 3339; "" for never.
        tags: Its tags, in order.
        stale: When its numbers were read, RFC 3339, if it can no longer be read; "" if they are
            current.
    """

    id: str
    name: str
    place: str
    state: str
    running: bool
    sentence: SpokenSentence
    finished: int = 0
    queued: int = 0
    warc_bytes: int = 0
    archive_bytes: int = 0
    alerts: int = 0
    rate: float | None = None
    next_pass: str = ""
    as_of: str = ""
    tags: tuple[str, ...] = ()
    stale: str = ""


class JobList(ItemList[JobItem], frozen=True):
    """A page of jobs.

    Attributes:
        previous: The `before` of the page before; null for none.
        total: Jobs that pass the filters, on all pages.
    """

    previous: str | None
    total: int


async def list_jobs(call: JobCall) -> JobList:
    """All jobs, with their state and sentence."""
    await call.poller.scan_after()
    return job_list(call, call.query)


def job_list(call: JobCall, query: JobsQuery) -> JobList:
    """Return the page of a query of the list of jobs, with the next runs of the calendar."""
    jobs, runs = wanted_jobs(call, query), next_runs(call)
    page = jobs_page(jobs, query)
    items = tuple(
        job_item(call, job, snapshot, runs.get(str(job.layout.root), 0.0))
        for job, snapshot in page.jobs
    )
    return JobList(items, page.next, call.now, page.previous, len(jobs))


SeenJob = tuple[FoundJob, JobSnapshot]


class JobsPage(NamedTuple):
    """A page of jobs, with the cursors of the previous and the next page.

    Attributes:
        jobs: The jobs.
        previous: The `before` of the previous page; None for none.
        next: The `after` of the next page; None for none.
        first: Jobs before the page.
    """

    jobs: Sequence[SeenJob]
    previous: str | None
    next: str | None
    first: int


def jobs_page(selected: Sequence[SeenJob], query: JobsQuery) -> JobsPage:
    """The page of a query (pure).

    Args:
        selected: All jobs that pass its filters, by their ids.
        query: The query.
    """
    if query.before:
        end = bisect_left(selected, _place(query.before), key=_order_of)
        first = max(end - query.limit, 0)
    elif query.after:
        first = bisect_right(selected, _place(query.after), key=_order_of)
    else:
        first = bisect_left(selected, _place(query.key), key=_order_of)
    jobs = selected[first : first + query.limit]
    return JobsPage(
        jobs,
        jobs[0][0].id if first and jobs else None,
        jobs[-1][0].id if first + len(jobs) < len(selected) and jobs else None,
        first,
    )


def _place(job: str) -> tuple[str, str]:
    """Return the place of an id in the list: without regard to capital letters."""
    return job.casefold(), job


def _order_of(job: SeenJob) -> tuple[str, str]:
    return _place(job[0].id)


def wanted_jobs(call: JobCall, filters: JobFilters) -> list[SeenJob]:
    """The jobs that pass the filters, with their snapshots, by their ids."""
    labels = call.parts.books.labels.all()
    jobs = [
        (job, snapshot)
        for job, snapshot in call.snapshots()
        if filters.wants(job, snapshot, labels.get(str(job.layout.root), NONE))
    ]
    return sorted(jobs, key=_order_of)


def next_runs(call: JobCall) -> dict[str, float]:
    """Return the next runs of the calendar, seconds since the epoch, by the directories of jobs."""
    runs: dict[str, float] = {}
    now = call.clock.now()
    for schedule in call.parts.books.schedules.all():
        if schedule.wish.paused or schedule.wish.is_of_new_jobs:
            continue
        time = next(times_after(schedule.wish.times, now), None)
        if time is not None:
            runs[schedule.path] = min(time, runs.get(schedule.path, time))
    return runs


def job_item(call: JobCall, job: FoundJob, snapshot: JobSnapshot, next_run: float = 0.0) -> JobItem:
    """Return a job as lists have it.

    Args:
        call: The request.
        job: The job.
        snapshot: Its snapshot.
        next_run: When the calendar begins a run, seconds since the epoch; 0 for never.
    """
    overview, labels = (
        snapshot.overview or JobOverview(snapshot.state),
        call.parts.books.labels.of(job),
    )
    next_times = [time for time in (overview.next_pass, next_run) if time]
    sentence = snapshot.sentence
    text = call.language.say(sentence)
    return JobItem(
        id=job.id,
        name=labels.name or job.name,
        place=job.place,
        state=snapshot.state,
        running=snapshot.running,
        sentence=SpokenSentence(
            sentence.code, sentence.params, sentence.remedies, text, sentence.also
        ),
        finished=overview.finished,
        queued=overview.queued,
        warc_bytes=overview.warc_bytes,
        archive_bytes=max(overview.archive_bytes, overview.warc_bytes),
        alerts=overview.alerts,
        rate=snapshot.rate,
        next_pass=moment_text(min(next_times, default=0.0)),
        as_of=moment_text(snapshot.as_of),
        tags=labels.tags,
        stale=moment_text(snapshot.stale),
    )


def moment_text(seconds: float) -> str:
    """Return a moment in RFC 3339; "" for 0."""
    return iso(seconds) if seconds else ""


ROWS: Final = 50
"""Jobs of a page."""
URLS: Final = 3
"""Number of URLs of each running job, if the request includes them."""


class JobListQuery(JobsQuery, frozen=True):
    """The query of the page.

    Attributes:
        urls: Show the last URLs of each job that runs.
        limit: Jobs on a page, 1 to 500.
    """

    urls: bool = False
    limit: RowCount = ROWS


async def list_facts(call: JobCall, answer: JobList) -> dict[str, object] | PageAnswer:
    """Return what the page of all jobs shows; without jobs the form of a new job."""
    removed = removed_jobs(call)
    if not (removed or call.snapshots()) and may_operate(call):
        return PageAnswer("new.html", form_facts(call, {}))
    return {**live_facts(call, answer), "removed": removed}


def live_facts(call: JobCall, answer: JobList) -> dict[str, object]:
    """Return what the live part of the page shows."""
    query: JobListQuery = call.query
    jobs, selected = call.snapshots(), wanted_jobs(call, query)
    page = jobs_page(selected, query)
    tags = call.parts.books.labels.all_tags([job for job, _ in jobs])
    places = [place for place in call.fleet.places if call.identity.sees(place.label)]
    return {
        "query": query,
        "is_filtered": bool(query.name or query.state or query.tag),
        "total": answer.total,
        "first": page.first,
        "ways": [
            _page_link(query) if query.after or query.before or query.key else "",
            _page_link(query, before=answer.previous) if answer.previous else "",
            _page_link(query, after=answer.next) if answer.next else "",
        ],
        "filters": _query_of(query),
        "other_urls": _query_of(msgspec.structs.replace(query, urls=not query.urls)),
        "sparks": {
            job.id: snapshot.rates for job, snapshot in page.jobs if len(snapshot.rates) > 1
        },
        "last_urls": last_urls(call, page.jobs) if query.urls else {},
        "tags": sorted({query.tag, *tags} - {""}),
        "states": sorted({query.state, *(snapshot.state for _, snapshot in jobs)} - {""}),
        "jobs": answer.items,
        "running": sum(snapshot.is_crawling for _, snapshot in selected),
        "many": many_buttons(call.language.texts.gettext, call.identity),
        "places": [str(place.root) for place in places],
    }


def last_urls(call: JobCall, jobs: Sequence[SeenJob]) -> dict[str, list[tuple[int, str, str]]]:
    """The last URLs of crawl.log of jobs that run: status, its colour, URL; the newest first."""
    poller = call.poller
    return {
        job.id: [
            (line.status, line.kind, line.url) for line in poller.lately(job)[: -URLS - 1 : -1]
        ]
        for job, snapshot in jobs
        if snapshot.running
    }


def _page_link(query: JobListQuery, after: str = "", before: str = "") -> str:
    """The link to another page of the same list."""
    return "?" + _query_of(msgspec.structs.replace(query, after=after, before=before, key=""))


def _query_of(query: JobListQuery) -> str:
    """The fields that are set, for a link; "" for none."""
    usual = JobListQuery()
    values = {
        name: value for name, value in to_plain(query).items() if value != getattr(usual, name)
    }
    return urlencode({name: int(v) if v is True else v for name, v in values.items()})
