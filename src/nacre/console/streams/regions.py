"""Parts of pages that are live: the same templates as in the pages, sent again when they change."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from nacre.console.call import Call
from nacre.console.live.events import EventStream, event
from nacre.console.live.hub import JOBS, job_topic
from nacre.console.pages import job_list, job_overview
from nacre.console.pages.assets import assets
from nacre.console.pages.rendering import render
from nacre.console.streams.follow import follow

_BEAT = event("", "beat")


async def jobs(call: Call) -> EventStream:
    """The list of all jobs."""
    return _region(call, "live/jobs.html", JOBS, (), lambda: job_list.facts(call))


async def overview(call: Call) -> EventStream:
    """The present doings of a job."""
    job = call.job()
    await call.services.poller.fresh(job)
    return _region(
        call, "live/overview.html", job_topic(job.id), (job.id,),
        lambda: job_overview.facts(call, job),
    )  # fmt: skip


def _region(
    call: Call,
    template: str,
    topic: str,
    jobs: Collection[str],
    facts: Callable[[], dict[str, Any]],
) -> EventStream:
    """A stream of a part of a page."""
    last = b""

    def made() -> bytes:
        shown = {"session": call.session, "identity": call.identity, **facts()}
        text = render(template, shown, call.language, assets())
        return event(text.decode())

    def changed(_: frozenset[str]) -> Iterable[bytes]:
        nonlocal last
        identity = call.identity
        key = (template, call.language.name, identity.role, identity.places, bool(call.session))
        found = call.services.hub.made(topic, key, made)
        if found != last:
            last = found
            yield found

    return EventStream(follow(call, (topic,), jobs, changed, _BEAT))
