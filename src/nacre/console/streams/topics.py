"""`/api/v1/stream`: what changes, as server-sent events.

An event has the name of its kind, `jobs` or `job`, and as data the same JSON as the answer of the
list or the job, with its `topic`. Each is a whole state, so that a viewer who was away or is slow
misses states, and nothing else.
"""

from collections.abc import Iterable
from typing import Final, Protocol
from urllib.parse import unquote

import msgspec

from nacre.console.api.jobs import JobDetails, JobList, JobsQuery, job_details, job_list
from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.live.events import COMMENT, EventStream, event
from nacre.console.live.hub import JOBS, job_topic
from nacre.console.problems import RefusedRequestError
from nacre.console.streams.follow import follow

MOST_TOPICS: Final = 32


class StreamQuery(msgspec.Struct, frozen=True):
    """The topics of a stream.

    Attributes:
        topics: With commas between: `jobs`, `job:J`. A comma, a percent sign or a colon in the id
            of a job is written as a percent-escape once more.
    """

    topics: str = JOBS


class JobsEvent(msgspec.Struct, frozen=True):
    """The list of all jobs, as an event: its topic, and the list."""

    topic: str
    data: JobList


class JobEvent(msgspec.Struct, frozen=True):
    """A job, as an event: its topic, and the job."""

    topic: str
    data: JobDetails


class TopicSource(Protocol):
    """A topic of a stream."""

    @property
    def topic(self) -> str:
        """Its name in the hub."""
        ...

    @property
    def job(self) -> FoundJob | None:
        """The job that is looked at; None for none."""
        ...

    def event(self) -> bytes:
        """The event of its present state; b"" for none."""
        ...


class _Jobs:
    """The list of all jobs."""

    def __init__(self, call: Call) -> None:
        self.topic = JOBS
        self.job: FoundJob | None = None
        self._call = call

    def event(self) -> bytes:
        """See `TopicSource`."""
        call = self._call

        def made() -> bytes:
            data = JobsEvent(JOBS, job_list(call, JobsQuery(limit=500)))
            return event(msgspec.json.encode(data).decode(), "jobs")

        return call.services.hub.made(JOBS, ("api", call.language.name, call.identity.places), made)


class _Job:
    """A job."""

    def __init__(self, call: Call, job: FoundJob) -> None:
        self.topic = job_topic(job.id)
        self.job: FoundJob | None = job
        self._call = call
        self._job = job

    def event(self) -> bytes:
        """See `TopicSource`."""
        call = self._call

        def made() -> bytes:
            seen = call.services.poller.snapshot(self._job)
            data = JobEvent(self.topic, job_details(call.services, self._job, seen, call.language))
            return event(msgspec.json.encode(data).decode(), "job")

        return call.services.hub.made(self.topic, ("api", call.language.name), made)


async def stream(call: Call) -> EventStream:
    """Send what changes until the client leaves."""
    query: StreamQuery = call.query
    sources = {source.topic: source for source in _sources(call, query.topics)}
    jobs = {source.job.id: source.job for source in sources.values() if source.job}
    for job in jobs.values():
        await call.services.poller.fresh(job)

    def changed(topics: frozenset[str]) -> Iterable[bytes]:
        found = (source.event() for topic, source in sources.items() if topic in topics)
        return filter(None, found)

    return EventStream(follow(call, sources, tuple(jobs), changed, COMMENT))


def _sources(call: Call, topics: str) -> list[TopicSource]:
    """The topics of a query.

    Raises:
        RefusedRequestError: There is no such topic (400) or job (404).
    """
    names = list(dict.fromkeys(filter(None, topics.split(","))))
    if not 0 < len(names) <= MOST_TOPICS:
        raise RefusedRequestError(400, "topics", f"name 1 to {MOST_TOPICS} topics, such as `jobs`")
    return [_source(call, name) for name in names]


def _source(call: Call, name: str) -> TopicSource:
    kind, _, rest = name.partition(":")
    if kind == "jobs" and not rest:
        return _Jobs(call)
    if kind == "job" and rest:
        return _Job(call, call.job(unquote(rest)))
    raise RefusedRequestError(400, "topic", f"there is no topic {name}; there are jobs and job:J")
