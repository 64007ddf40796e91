"""`/api/v1/jobs`: the jobs, and one of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from shlex import quote
from typing import Any, NamedTuple

import msgspec

from nacre.console.actions import allowed_now
from nacre.console.call import Call
from nacre.console.catalogue import Language
from nacre.console.fleet.label_book import JobLabels, JobLabelsWish, changed_labels
from nacre.console.fleet.launch import LaunchFacts
from nacre.console.fleet.places import FoundJob
from nacre.console.item_list import ItemList
from nacre.console.job_moves import move_job
from nacre.console.live.hub import JOBS, job_topic
from nacre.console.live.snapshot import JobSnapshot
from nacre.console.services import ConsoleServices
from nacre.console.versions import EditedThing, edited
from nacre.core.clock import iso
from nacre.job.crowding import unwanted
from nacre.job.overview import FetchInProcess, JobOverview, SlowQueue
from nacre.job.schedules import times_after
from nacre.job.sentence import CrowdedKind, Value
from nacre.ops.allowed_actions import JobAction
from nacre.ops.fields import RowCount, ShortText


class SpokenSentence(msgspec.Struct, frozen=True):
    """A sentence with its text.

    Attributes:
        code: Which it is.
        params: Its numbers and names; durations in seconds, sizes in bytes, times in seconds since
            the epoch, shares from 0 to 1.
        lever: Names of what would change it, the best first.
        text: Its text in the language of the request.
        also: What the text says behind it: codes as well.
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

    def wants(self, job: FoundJob, seen: JobSnapshot, labels: JobLabels) -> bool:
        """Whether a job passes."""
        name = self.name.strip().casefold()
        return (
            (name in job.id.casefold() or name in labels.name.casefold())
            and self.state in {"", seen.state}
            and (not self.tag or self.tag in labels.tags)
        )


class JobsQuery(JobFilters, frozen=True):
    """A page of the list of jobs.

    Attributes:
        after: The id behind which the page begins; "" for the first page.
        before: The id before which the page ends; "" where `after` says it.
        key: The page begins with this id, or with the first behind it.
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
        name: The name that people gave it; without one that of its directory.
        place: Label of the place where it was found.
        state: State of the job, or how its run ended; ROUNDS for a batch crawl, READING before it
            was read, UNREADABLE where it cannot be.
        running: A process works on it.
        sentence: What it does, and why it is not faster.
        finished: URIs finished.
        queued: URIs that wait.
        warc_bytes: Bytes of WARC that the last run wrote.
        archive_bytes: Bytes of WARC of all runs.
        alerts: Alerts of the run.
        rate: URIs finished a second, lately; null where it does not run.
        next_pass: When its next run begins, of its own or by the calendar, RFC 3339; "" for none.
        as_of: When it was looked at, RFC 3339; "" for never.
        tags: Its tags, in order.
        stale: When its numbers were those of now, RFC 3339, where it cannot be read any more; ""
            where they are.
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


class JobDetails(msgspec.Struct, frozen=True):
    """A job.

    Attributes:
        item: It as in the list.
        sentence: What it does, and why it is not faster, as in the list.
        directory: Its directory.
        overview: Its numbers; null for a batch crawl, and where it cannot be read.
        started: When its run began, RFC 3339; "" for never.
        ended: When its run ended, RFC 3339; "" where it is not over.
        bytes_rate: Bytes received a second, lately; null where it does not run.
        left: Seconds that the rest takes about; null where that is not known.
        slowest: The queues that take longest.
        fetching: The fetches that have taken longest so far.
        rates: URIs a second in the last ten minutes, the oldest first.
        rounds: The state of a batch crawl; null for another job.
        actions: What can be done with it now.
        launch: Its start, while it waits for that or where that failed; null otherwise.
        crowded: The kind of URLs that most of what waits is of while that grows, and of which
            nobody said that it is wanted; null for none.
    """

    item: JobItem
    sentence: SpokenSentence
    directory: str
    overview: JobOverview | None
    started: str
    ended: str
    bytes_rate: float | None
    left: float | None
    slowest: tuple[SlowQueue, ...]
    fetching: tuple[FetchInProcess, ...]
    rates: tuple[float, ...]
    rounds: dict[str, Any] | None
    actions: tuple[JobAction, ...]
    launch: LaunchFacts | None = None
    crowded: CrowdedKind | None = None


async def list_jobs(call: Call) -> JobList:
    """All jobs, with their state and sentence."""
    await call.services.poller.scan_after()
    return job_list(call, call.query)


def job_list(call: Call, query: JobsQuery) -> JobList:
    """The jobs that a query asks for."""
    wanted = wanted_jobs(call, query)
    page = jobs_page(wanted, query)
    items = tuple(job_items(call, page.jobs))
    now = iso(call.services.clock.now())
    return JobList(items, page.next, now, page.previous, len(wanted))


SeenJob = tuple[FoundJob, JobSnapshot]


class JobsPage(NamedTuple):
    """A page of jobs, and the ids at which those beside it begin and end.

    Attributes:
        jobs: The jobs.
        previous: The `before` of the page before; None for none.
        next: The `after` of the page behind; None for none.
        first: Jobs before the page.
    """

    jobs: Sequence[SeenJob]
    previous: str | None
    next: str | None
    first: int


def jobs_page(wanted: Sequence[SeenJob], query: JobsQuery) -> JobsPage:
    """The page of a query (pure).

    Args:
        wanted: All jobs that pass its filters, by their ids.
        query: It.
    """
    if query.before:
        end = bisect_left(wanted, query.before, key=_id_of)
        first = max(end - query.limit, 0)
    elif query.after:
        first = bisect_right(wanted, query.after, key=_id_of)
    else:
        first = bisect_left(wanted, query.key, key=_id_of)
    jobs = wanted[first : first + query.limit]
    return JobsPage(
        jobs,
        jobs[0][0].id if first and jobs else None,
        jobs[-1][0].id if first + len(jobs) < len(wanted) and jobs else None,
        first,
    )


def _id_of(job: SeenJob) -> str:
    return job[0].id


def wanted_jobs(call: Call, filters: JobFilters) -> list[SeenJob]:
    """The jobs that pass the filters, with their snapshots, by their ids."""
    book = call.services.labels
    return [(job, seen) for job, seen in call.snapshots() if filters.wants(job, seen, book.of(job))]


def job_items(call: Call, jobs: Sequence[SeenJob]) -> list[JobItem]:
    """Jobs in the list, with the next runs of the calendar."""
    book, runs = call.services.labels, next_runs(call.services)
    return [
        job_item(job, seen, call.language, book.of(job), runs.get(str(job.layout.root), 0.0))
        for job, seen in jobs
    ]


def next_runs(services: ConsoleServices) -> dict[str, float]:
    """The next runs of the calendar, seconds since the epoch, by the directories of jobs."""
    found: dict[str, float] = {}
    now = services.clock.now()
    for one in services.schedules.all():
        if one.wish.is_of_new_jobs:
            continue
        following = None if one.wish.paused else next(times_after(one.wish.times, now), None)
        if following is not None:
            found[one.path] = min(following, found.get(one.path, following))
    return found


async def get_job(call: Call) -> JobDetails:
    """One job: its numbers, its sentence, and what can be done with it."""
    job = call.job()
    seen = await call.services.poller.checked(job)
    return job_details(call.services, job, seen, call.language)


async def change_job(call: Call) -> JobItem:
    """Give a job another name, other tags, or another place; what is left out stays.

    Its id is another one after a move, and nothing is changed where the move is refused.
    """
    job = moved = call.job()
    changed_labels(call.services.labels.of(job), call.body)
    if call.body.place is not msgspec.UNSET:
        moved = await move_job(call, job, call.body.place)
        call.request.path_params["job"] = moved.id  # the answer has the ETag of its labels
    seen = await call.services.poller.fresh(moved)
    labels = label_job(call, moved, call.body, job.place)
    return job_item(moved, seen, call.language, labels)


def label_job(call: Call, job: FoundJob, wish: JobLabelsWish, came_from: str) -> JobLabels:
    """Change the labels of a job, and tell who looks at it.

    Args:
        call: The request.
        job: It.
        wish: The change.
        came_from: Label of the place that it was in before the request.

    Raises:
        RefusedRequestError: The name or a tag cannot be taken (422).
    """
    services = call.services
    before = services.labels.of(job)
    after = changed_labels(before, wish)
    services.labels.set(job, after)
    call.note.change(
        {**msgspec.to_builtins(before), "place": came_from},
        {**msgspec.to_builtins(after), "place": job.place},
    )
    for topic in (JOBS, job_topic(job.id)):
        services.hub.changed(topic)
    return after


async def labels_version(call: Call) -> EditedThing:
    """The labels of a job: what can be edited of it here."""
    return edited(call.services.labels.of(call.job()))


def job_item(
    job: FoundJob,
    seen: JobSnapshot,
    language: Language,
    labels: JobLabels,
    next_run: float = 0.0,
) -> JobItem:
    """A job in the list.

    Args:
        job: It.
        seen: What is known of it.
        language: The language of its sentence.
        labels: Its name and tags.
        next_run: When the calendar begins a run, seconds since the epoch; 0 for never.
    """
    overview = seen.overview or JobOverview(seen.state)
    next_times = [time for time in (overview.next_pass, next_run) if time]
    sentence = seen.sentence
    return JobItem(
        id=job.id,
        name=labels.name or job.name,
        place=job.place,
        state=seen.state,
        running=seen.running,
        sentence=SpokenSentence(
            sentence.code, sentence.params, sentence.lever, language.say(sentence), sentence.also
        ),
        finished=overview.finished,
        queued=overview.queued,
        warc_bytes=overview.warc_bytes,
        archive_bytes=max(overview.archive_bytes, overview.warc_bytes),
        alerts=overview.alerts,
        rate=seen.rate,
        next_pass=_moment(min(next_times, default=0.0)),
        as_of=_moment(seen.as_of),
        tags=labels.tags,
        stale=_moment(seen.stale),
    )


def job_details(
    services: ConsoleServices, job: FoundJob, seen: JobSnapshot, language: Language
) -> JobDetails:
    """All that is known of a job."""
    overview = seen.overview
    directory = str(job.layout.root)
    next_run = next_runs(services).get(directory, 0.0)
    item = job_item(job, seen, language, services.labels.of(job), next_run)
    return JobDetails(
        item=item,
        sentence=item.sentence,
        directory=directory,
        overview=overview,
        started=_moment(overview.started) if overview else "",
        ended=_moment(overview.ended_at) if overview else "",
        bytes_rate=seen.bytes_rate,
        left=seen.left,
        slowest=seen.slowest,
        fetching=seen.fetching,
        rates=seen.rates,
        rounds=seen.rounds,
        actions=allowed_now(services, job, quote(directory)),
        launch=None if seen.running else services.launcher.facts(job),
        crowded=unwanted(seen.crowded, services.wanted.of(job)),
    )


def _moment(seconds: float) -> str:
    return iso(seconds) if seconds else ""
