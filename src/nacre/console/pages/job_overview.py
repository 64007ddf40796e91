"""`/j/J`: what a job does now, and what can be done with it."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote as quote_url
from urllib.parse import urlencode

from nacre.console.api.jobs import job_details
from nacre.console.api.logs import alert_item
from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.forgetting import ever_ran
from nacre.console.fleet.places import FoundJob
from nacre.console.forms import may_operate
from nacre.console.links import exclude_link
from nacre.console.live.snapshot import JobSnapshot
from nacre.console.live.tails import LogTail
from nacre.console.live.toes import ToeList
from nacre.console.logs.pages import LogLine
from nacre.console.new_jobs import job_places
from nacre.console.pages.job_log import CRAWL, rows
from nacre.console.pages.job_watch import watch_charts
from nacre.console.pages.lever_links import LeverLink, lever_links, only_looks
from nacre.console.pages.request_form import request_fields
from nacre.errors import NacreError
from nacre.job.overview import FetchInProcess
from nacre.job.sentence import CrowdedKind, crowd_sentence
from nacre.ops.operation import option_line
from nacre.ops.rounds import ROUNDS
from nacre.uri.expressions import beginning_with

LINES: Final = 12
"""Lines of crawl.log."""
ALERTS: Final = 3
SLOTS: Final = 8
"""Fetches in process."""
_CHARTS: Final = frozenset(("uris", "bytes"))


class OverviewTails(NamedTuple):
    """The tails of the logs that the page has lines of: crawl.log, and alerts.log."""

    crawl: LogTail
    alerts: LogTail


class OverviewFetch(NamedTuple):
    """A row of the fetches in process.

    Attributes:
        url: The URL.
        step: Step of its chain; "" where it is not known.
        seconds: Time since it was handed out.
    """

    url: str
    step: str
    seconds: float


async def page(call: Call) -> PageAnswer:
    """The overview of a job."""
    job = call.job()
    poller = call.services.poller
    seen = await poller.checked(job)
    tails = OverviewTails(LogTail(job, CRAWL), LogTail(job, "alerts"))
    await asyncio.to_thread(lambda: [tail.look() for tail in tails])
    toes = None
    if seen.running:
        try:
            toes = await poller.look_at_toes(job)
        except NacreError:  # it ended just now, or does not answer; the page says that anyway
            toes = None
    return PageAnswer("overview.html", facts(call, job, tails, toes))


async def tails_of(call: Call, job: FoundJob) -> OverviewTails:
    """The tails of a job, shared with all who look at it."""
    tails = call.services.tails
    return OverviewTails(await tails.tail(job, CRAWL), await tails.tail(job, "alerts"))


def facts(
    call: Call, job: FoundJob, tails: OverviewTails, toes: ToeList | None = None
) -> dict[str, Any]:
    """The facts of a job as it was seen last.

    Args:
        call: The request.
        job: The job.
        tails: Its logs, read already.
        toes: The fetches in process; None for those that the console saw last.
    """
    poller, text = call.services.poller, call.language.texts.gettext
    seen = poller.snapshot(job)
    details = job_details(call.services, job, seen, call.language)
    activity = poller.activity(job)
    charts = watch_charts(poller.points(job), text) if seen.running else []
    toes = toes or poller.toes(job)
    rests = not seen.running and (details.launch is None or details.launch.step == "failed")
    return {
        "job": details,
        "item": details.item,
        "labels": call.services.labels.of(job),
        "rounds_form": request_fields(ROUNDS.request, text) if details.rounds else (),
        "rounds_options": option_line(ROUNDS.request),
        "homes": [place.label for place in job_places(call)],
        "levers": _levers(call, seen),
        "crowd": crowd_links(job.id, details.crowded),
        "crowd_said": crowd_text(call, details.crowded, grows=seen.grows),
        "places": [(place, exclude_link(job.id, place.prefix)) for place in seen.places],
        "charts": [chart for chart in charts if chart.name in _CHARTS],
        "fetches": fetches(toes, seen.fetching),
        "busy": len(toes.toes) if toes else None,
        "busy_lately": activity.busy,
        "alerts": [alert_item(line) for line in last_lines(tails.alerts, ALERTS)[::-1]],
        "lines": rows(last_lines(tails.crawl, LINES)),
        "can_be_removed": rests,
        "never_ran": rests and seen.state == "NASCENT" and not ever_ran(job.layout),
    }


def _levers(call: Call, seen: JobSnapshot) -> tuple[LeverLink, ...]:
    """What would change the sentence; links of what the one who asks may do or look at."""
    links = lever_links(seen.job, seen.sentence, seen.slowest, call.language.texts.gettext)
    return links if may_operate(call) else only_looks(links)


class CrowdLinks(NamedTuple):
    """The banner about the kind of URLs that most of what waits is of.

    Attributes:
        kind: It.
        exclude: Where it is excluded.
        show: Where its URLs are shown.
    """

    kind: CrowdedKind
    exclude: str
    show: str


def crowd_links(job: str, kind: CrowdedKind | None) -> CrowdLinks | None:
    """The banner of a kind; None for none.

    Args:
        job: Id of the job.
        kind: It.
    """
    if kind is None:
        return None
    options = urlencode({"queue": kind.queue, "re": beginning_with(kind.prefix)})
    show = f"/j/{quote_url(job, safe='')}/uris?{options}"
    return CrowdLinks(kind, exclude_link(job, kind.prefix), show)


def crowd_text(call: Call, kind: CrowdedKind | None, *, grows: bool) -> str:
    """The words of that banner, the same as in `nacre status`; "" for none.

    Args:
        call: The request.
        kind: The kind.
        grows: What waits grew by more than what was done, lately.
    """
    return "" if kind is None else call.language.say(crowd_sentence(kind, grows=grows))


def fetches(toes: ToeList | None, longest: Sequence[FetchInProcess]) -> list[OverviewFetch]:
    """The rows of the fetches in process.

    Args:
        toes: All fetches; None where they are not known yet.
        longest: Those that have taken longest, for this case.
    """
    if toes is None:
        found = [OverviewFetch(one.url, "", one.seconds) for one in longest]
    else:
        found = [OverviewFetch(toe.uri, toe.step, toe.seconds) for toe in toes.toes]
    return found[:SLOTS]


def last_lines(tail: LogTail, number: int) -> tuple[LogLine, ...]:
    """The last lines of a log that was read, the newest last; () where there is none."""
    return tail.behind(None).lines[-number:]
