"""Parts of pages that are live: the same templates as in the pages, sent again when they change.

A page has one stream: its own part comes as messages, and the numbers of the header as the event
`header`. The event `over` ends a stream: the page is to be loaded again.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

import msgspec

from nacre.console.assets import assets
from nacre.console.call import PageAnswer, StreamCall
from nacre.console.jobs.listing import job_list, live_facts
from nacre.console.jobs.logs import LogTailQuery, in_columns, log_items
from nacre.console.jobs.overview import OverviewTails, job_details, overview_facts
from nacre.console.jobs.watch import watch_facts
from nacre.console.logs.lines import CRAWL, wanted_lines
from nacre.console.logs.tails import log_position
from nacre.console.rendering import header_facts, render
from nacre.console.streams.follow import EventStream, event, follow
from nacre.console.task_answers import facts_of, seen_task
from nacre.fleet.places import FoundJob
from nacre.web.live.hub import JOBS, job_topic, task_topic

_BEAT = event("", "beat")
_OVER = event("", "over")


async def jobs(call: StreamCall) -> EventStream:
    """The list of all jobs."""
    listed = call.with_parts(call.parts.jobs)
    return _region(
        call,
        "live/jobs.html",
        JOBS,
        (),
        lambda: live_facts(listed, job_list(listed, call.query)),
        call.query,
    )


async def overview(call: StreamCall) -> EventStream:
    """The present doings of a job."""
    job, view = call.job(), call.with_parts(call.parts.jobs)
    await call.poller.fresh(job)
    tails = await _tails_of(call, job)
    looks = (
        call.poller.watching_toes(job.id),
        *(call.parts.tails.watching(tail) for tail in tails),
    )
    return _region(
        call, "live/overview.html", job_topic(job.id), looks,
        lambda: overview_facts(view, job_details(view, job), tails),
    )  # fmt: skip


async def watch(call: StreamCall) -> EventStream:
    """The charts and fetches of a job."""
    job, view = call.job(), call.with_parts(call.parts.jobs)
    await call.poller.fresh(job)
    return _region(
        call, "live/watch.html", job_topic(job.id), (call.poller.watching_toes(job.id),),
        lambda: watch_facts(view, job), call.query,
    )  # fmt: skip


async def log(call: StreamCall) -> EventStream:
    """New lines of a log, as rows of its table."""
    query: LogTailQuery = call.query
    job, name = call.job(), str(call.request.path_params["log"])
    wants = wanted_lines(query)
    tails = call.parts.tails
    tail = await tails.tail(job, name)
    position = log_position(call.request.headers.get("last-event-id") or query.seen)
    kind = (msgspec.structs.replace(query, seen=""), call.language.name)

    def changed() -> Iterator[bytes]:
        nonlocal position
        tail_lines = tail.behind(position)
        was, position = position, tail_lines.position
        if tail_lines.position == was:
            return

        def render_event() -> bytes:
            rows = log_items(line for line in tail_lines.lines if wants(line.text))
            facts = {
                "rows": rows, "job": job.id, "is_anew": tail_lines.is_anew,
                "columns": in_columns(name),
            }  # fmt: skip
            text = render("live/log.html", facts, call.language, assets())
            return event(text.decode(), position=str(tail_lines.position))

        yield call.hub.render(tail.topic, (kind, was), render_event)

    return _stream(call, tail.topic, (tails.watching(tail),), changed)


async def task(call: StreamCall) -> EventStream:
    """The progress of a task, until it is over."""
    task_shown = seen_task(call)
    topic = task_topic(task_shown.id)

    def changed() -> Iterator[bytes]:
        text = render("live/task.html", {"task": facts_of(task_shown)}, call.language, assets())
        yield _OVER if task_shown.ended else event(text.decode())

    return _stream(call, topic, (), changed)


async def header(call: StreamCall) -> EventStream:
    """The numbers of the header, for pages without other live parts."""
    return _stream(call, JOBS, (), lambda: iter(()))


async def header_part(call: StreamCall) -> PageAnswer:
    """The numbers of the header, for pages that get no stream."""
    return PageAnswer("live/header.html", {})


def _region(
    call: StreamCall,
    template: str,
    topic: str,
    looks: Sequence[AbstractContextManager[None]],
    facts: Callable[[], dict[str, object]],
    query: Hashable = None,
) -> EventStream:
    """A stream of a part of a page."""
    last = b""

    def render_event() -> bytes:
        page_facts = {"session": call.session, "identity": call.identity, **facts()}
        text = render(template, page_facts, call.language, assets())
        return event(text.decode())

    def changed() -> Iterator[bytes]:
        nonlocal last
        identity = call.identity
        key = (
            template,
            call.language.name,
            identity.role,
            identity.places,
            bool(call.session),
            query,
        )
        content = call.hub.render(topic, key, render_event)
        if content != last:
            last = content
            yield content

    return _stream(call, topic, looks, changed)


def _stream(
    call: StreamCall,
    topic: str,
    looks: Sequence[AbstractContextManager[None]],
    changed: Callable[[], Iterator[bytes]],
) -> EventStream:
    """A stream of what changes in a topic, and of the numbers of the header.

    Args:
        call: The request.
        topic: The topic that the viewer follows.
        looks: Context managers that are entered while the stream is open.
        changed: Makes the events of a change.
    """
    last, standing = b"", call.parts.standing.elsewhere

    def render_event() -> bytes:
        facts = header_facts(call.parts.header, call.snapshots(), call.identity)
        text = render("live/header.html", facts, call.language, assets())
        return event(text.decode(), "header")

    def events(topics: frozenset[str]) -> Iterable[bytes]:
        nonlocal last
        if call.parts.standing.elsewhere != standing:
            yield _OVER  # the page says who has the jobs, and has other buttons now
            return
        if topic in topics:
            yield from changed()
        if JOBS in topics:
            identity = call.identity
            key = ("header", call.language.name, identity.role, identity.places)
            content = call.hub.render(JOBS, key, render_event)
            if content != last:
                last = content
                yield content

    return EventStream(follow(call, {topic, JOBS}, looks, events, _BEAT))


async def _tails_of(call: StreamCall, job: FoundJob) -> OverviewTails:
    """The tails of a job, shared with all who look at it."""
    tails = call.parts.tails
    return OverviewTails(await tails.tail(job, CRAWL), await tails.tail(job, "alerts"))
