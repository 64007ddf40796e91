"""`/api/v1/stream`: what changes, as server-sent events.

The name of an event is its kind. `jobs` and `job` have the same JSON as the answer of the list or
the job, with their `topic`; the list accepts the same query fields. Each event is a complete state,
so a viewer who was offline or is slow only misses intermediate states. The same is true for `task`,
which ends with the state `done` or `failed`. `log` and `alerts` have new lines. Their ids are byte
offsets, so a client that reconnects with Last-Event-ID resumes at its position; a client that lags
far behind receives only the last lines.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol
from urllib.parse import unquote

import msgspec

from nacre.console.call import JobCall, StreamCall
from nacre.console.jobs.listing import JobList, JobsQuery, job_list
from nacre.console.jobs.overview import JobDetails, job_details
from nacre.console.logs.pages import LogLine, is_log_name
from nacre.console.logs.tails import LogPosition, LogTail, log_position
from nacre.console.streams.follow import COMMENT, EventStream, event, follow
from nacre.console.task_answers import TaskFacts, facts_of, seen_task
from nacre.core.message_data import to_json
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.messages import message
from nacre.ops.fields import LineText
from nacre.web.live.hub import JOBS, job_topic, task_topic
from nacre.web.workers.background import HeldTask

ALERTS: Final = "alerts"
MOST_TOPICS: Final = 32


class StreamQuery(JobsQuery, frozen=True):
    """The topics of a stream; its other fields say which page of the list of jobs `jobs` is.

    Attributes:
        topics: With commas between: `jobs`, `job:J`, `log:J:NAME`, `alerts:J`, `task:ID`. A comma,
            a percent sign or a colon in the id of a job is written as a percent-escape once more.
    """

    topics: LineText = JOBS


class JobsEvent(msgspec.Struct, frozen=True):
    """A page of the list of jobs, as an event: its topic, and the list."""

    topic: str
    data: JobList


class JobEvent(msgspec.Struct, frozen=True):
    """A job, as an event: its topic, and the job."""

    topic: str
    data: JobDetails


class LogLinesEvent(msgspec.Struct, frozen=True):
    """New lines of a log, as an event.

    Attributes:
        topic: Its topic.
        is_anew: The lines do not follow those before: they are the last of the file.
        lines: The lines, in the order of the file.
    """

    topic: str
    is_anew: bool
    lines: tuple[LogLine, ...]


class TaskEvent(msgspec.Struct, frozen=True):
    """A task in the background, as an event: its topic, and the task."""

    topic: str
    data: TaskFacts


class TopicSource(Protocol):
    """A topic of a stream."""

    @property
    def topic(self) -> str:
        """Its name in the hub."""
        ...

    def look(self) -> AbstractContextManager[None]:
        """Return a context manager that registers a viewer."""
        ...

    def event(self) -> bytes:
        """The event of its present state; b"" for none."""
        ...


class _Jobs:
    """The list of all jobs."""

    def __init__(self, call: JobCall) -> None:
        self.topic = JOBS
        self._call = call
        query: StreamQuery = call.query
        self._query = msgspec.structs.replace(query, topics=JOBS)

    def look(self) -> AbstractContextManager[None]:
        """See `TopicSource`."""
        return nullcontext()

    def event(self) -> bytes:
        """See `TopicSource`."""
        call = self._call

        def render_event() -> bytes:
            data = JobsEvent(JOBS, job_list(call, self._query))
            return event(to_json(data).decode(), "jobs")

        key = ("api", call.language.name, call.identity.places, self._query)
        return call.hub.render(JOBS, key, render_event)


class _Job:
    """A job."""

    def __init__(self, call: JobCall, job: FoundJob) -> None:
        self.topic = job_topic(job.id)
        self._call = call
        self._job = job

    def look(self) -> AbstractContextManager[None]:
        """See `TopicSource`."""
        return self._call.poller.watching(self._job.id)

    def event(self) -> bytes:
        """See `TopicSource`."""
        call = self._call

        def render_event() -> bytes:
            data = JobEvent(self.topic, job_details(call, self._job))
            return event(to_json(data).decode(), "job")

        return call.hub.render(self.topic, ("api", call.language.name), render_event)


class _Task:
    """A task in the background, which may be removed while it is followed."""

    def __init__(self, task: HeldTask) -> None:
        self.topic = task_topic(task.id)
        self._held = task

    def look(self) -> AbstractContextManager[None]:
        """See `TopicSource`."""
        return nullcontext()

    def event(self) -> bytes:
        """See `TopicSource`."""
        data = TaskEvent(self.topic, facts_of(self._held))
        return event(to_json(data).decode(), "task")


class _Log:
    """A log; `alerts:J` is the log of alerts under a shorter name."""

    def __init__(self, call: StreamCall, tail: LogTail, kind: str, places: "_Places") -> None:
        self.topic = tail.topic
        self._call = call
        self._tail = tail
        self._kind = kind
        self._places = places
        self._index = places.add()

    def look(self) -> AbstractContextManager[None]:
        """See `TopicSource`."""
        return self._call.parts.tails.watching(self._tail)

    def event(self) -> bytes:
        """See `TopicSource`."""
        position = self._places.seen[self._index]
        lines = self._tail.behind(position)
        if lines.position == position:
            return b""
        self._places.seen[self._index] = lines.position
        data = to_json(LogLinesEvent(self.topic, lines.is_anew, lines.lines))
        return event(data.decode(), self._kind, str(self._places))


class _Places:
    """The places in all logs of a stream: the id of its events, which a client sends back.

    Args:
        last: The Last-Event-ID of the request; "" for none.
    """

    def __init__(self, last: str) -> None:
        self._last = last.split(",") if last else []
        self.seen: list[LogPosition | None] = []

    def add(self) -> int:
        """Take the place of the next log; its number."""
        number = len(self.seen)
        position = self._last[number] if number < len(self._last) else ""
        self.seen.append(log_position(position))
        return number

    def __str__(self) -> str:
        return ",".join(str(place or "") for place in self.seen)


async def stream(call: StreamCall) -> EventStream:
    """Send what changes until the client leaves."""
    query: StreamQuery = call.query
    places = _Places(call.request.headers.get("last-event-id", ""))
    topic_sources = [await _source(call, name, places) for name in _names(query.topics)]
    sources = {source.topic: source for source in topic_sources}

    def changed(topics: frozenset[str]) -> Iterable[bytes]:
        events = (source.event() for topic, source in sources.items() if topic in topics)
        return filter(None, events)

    looks = [source.look() for source in sources.values()]
    return EventStream(follow(call, sources, looks, changed, COMMENT))


def _names(topics: str) -> list[str]:
    """The names of the topics of a query.

    Raises:
        RefusedRequestError: There are none, or too many (400).
    """
    names = list(dict.fromkeys(filter(None, topics.split(","))))
    if not 0 < len(names) <= MOST_TOPICS:
        raise RefusedRequestError(
            400,
            "topics",
            message(
                "console.topics-number",
                "name 1 to {most_topics} topics, such as `jobs`",
                most_topics=MOST_TOPICS,
            ),
        )
    return names


async def _source(call: StreamCall, name: str, places: _Places) -> TopicSource:
    """A topic by its name.

    Raises:
        RefusedRequestError: There is no such topic (400), job or log (404).
    """
    kind, *details = (unquote(part) for part in name.split(":"))
    match kind, details:
        case "jobs", []:
            return _Jobs(call.with_parts(call.parts.jobs))
        case "job", [job]:
            await call.poller.fresh(call.job(job))
            return _Job(call.with_parts(call.parts.jobs), call.job(job))
        case "alerts", [job]:
            return _Log(call, await call.parts.tails.tail(call.job(job), ALERTS), kind, places)
        case "log", [job, log]:
            if not is_log_name(log):
                raise not_found("log", log)
            return _Log(call, await call.parts.tails.tail(call.job(job), log), kind, places)
        case "task", [task]:
            return _Task(seen_task(call, task))
        case _:
            topics = "jobs, job:J, log:J:NAME, alerts:J and task:ID"
            raise RefusedRequestError(
                400,
                "topic",
                message(
                    "console.no-topic",
                    "there is no topic {name}; there are {names}",
                    name=name,
                    names=topics,
                ),
            )
