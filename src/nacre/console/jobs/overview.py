"""`/j/J`: what a job does now, and what can be done with it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from shlex import quote as quote_word
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from nacre.console.actions import allowed_now
from nacre.console.call import JobCall
from nacre.console.forms import may_operate, request_fields
from nacre.console.jobs.listing import JobItem, SpokenSentence, job_item, moment_text, next_runs
from nacre.console.jobs.logs import alert_item, log_items
from nacre.console.jobs.new_jobs import job_places
from nacre.console.jobs.watch import watch_charts
from nacre.console.links import exact, exclude_link, job_path
from nacre.console.logs.lines import CRAWL
from nacre.console.logs.pages import LogLine
from nacre.console.logs.tails import LogTail
from nacre.errors import NacreError
from nacre.fleet.job_folders import ever_ran
from nacre.fleet.launch import LaunchFacts
from nacre.fleet.places import FoundJob
from nacre.fleet.snapshot import JobSnapshot, ToeList
from nacre.job.diagnosis import CrowdedKind, Diagnosis, crowd_diagnosis
from nacre.job.diagnosis_facts import unwanted
from nacre.job.diagnosis_text import REMEDIES
from nacre.job.overview import FetchInProcess, JobOverview, SlowQueue
from nacre.ops.allowed_actions import JobAction
from nacre.ops.operation import option_line
from nacre.ops.rounds import ROUNDS
from nacre.uri.surt import beginning_with, queue_root

_ACTIONS: Final = frozenset(("start", "resume", "go-on", "stop", "recrawl"))
"""Levers that are buttons beside the title of Overview."""
_PAGES: Final = {
    "fix": "/settings",
    "free-space": "/files",
    "disk.reserve": "/settings/form?q=disk.reserve",
    "limits": "/settings/form?section=limits",
    "unretire": "/frontier?state=retired",
    "log": "/log?name=job",
    "parallel": "/watch",
    "contact": "/settings/form?q=fetch.contact",
    "watch": "/watch",
    "seeds": "/seeds",
    "failed": "/reports/responsecode",
    "traps": "/reports/traps",
    "deeper": "/settings/form?q=max_hops",
    "trap-share": "/settings/form?q=recrawl.trap_share",
}
"""The pages of remedies that need no parameters, relative to the page of the job."""
_WAITING: Final = frozenset(("look-waiting", "exclude-part"))
"""Remedies whose page is that of the queued URIs, where each part can be excluded."""
_LOOKS: Final = frozenset(("log", "watch", "seeds", "failed", "traps", "look-waiting"))
"""Read-only remedies, which every user who sees the job may use."""
_FOR_HOST: Final = {"delay": "politeness.delay", "in_flight": "politeness.in_flight"}
"""Levers that are a setting for one host, and the setting."""


class LeverLink(NamedTuple):
    """A lever as a link.

    Attributes:
        name: The lever.
        label: Its text.
        url: The page, or the part of a page, where the user can apply it; "" if they may not.
    """

    name: str
    label: str
    url: str


def lever_links(
    job: str, sentence: Diagnosis, slowest: Sequence[SlowQueue], translate: Callable[[str], str]
) -> tuple[LeverLink, ...]:
    """The levers of a sentence, the best first.

    Args:
        job: Id of the job.
        sentence: The sentence.
        slowest: The queues that take longest; one of them is the queue of the sentence's host.
        translate: Gives the text of another language.
    """
    host, queue = sentence.params.get("host", ""), str(sentence.params.get("queue", ""))
    queue = queue or next(
        (slow_queue.name for slow_queue in slowest if host and slow_queue.host == host), ""
    )
    return tuple(
        LeverLink(name, translate(REMEDIES[name]), _url(job, name, sentence, queue))
        for name in sentence.remedies
    )


def only_looks(links: Sequence[LeverLink]) -> tuple[LeverLink, ...]:
    """Remove the links that a user with read-only access may not use.

    Args:
        links: The links of all remedies.
    """
    return tuple(link if link.name in _LOOKS else link._replace(url="") for link in links)


def _url(job: str, name: str, sentence: Diagnosis, queue: str) -> str:
    base = job_path(job)
    if name in _ACTIONS:
        return f"{base}#first-actions"
    if name in _PAGES:
        return base + _PAGES[name]
    host, prefix = (str(sentence.params.get(key, "")) for key in ("host", "prefix"))
    if name in _FOR_HOST:
        place = {"u": queue_root(queue) if queue else f"http://{host}/"} if host else {}
        return f"{base}/settings/sheets?{urlencode({**place, 'key': _FOR_HOST[name]})}"
    if name in _WAITING:
        return f"{base}/uris" + (f"?{urlencode({'queue': queue})}" if queue else "")
    if name == "exclude":
        return exclude_link(job, prefix)
    # What is left is done to queues: retire, wake.
    return f"{base}/frontier" + (f"?{urlencode({'re': exact(queue)})}" if queue else "")


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
        step: Step of its chain; "" if it is not known.
        seconds: Time since it was handed out.
    """

    url: str
    step: str
    seconds: float


class JobDetails(msgspec.Struct, frozen=True):
    """A job.

    Attributes:
        item: The job as in the list.
        sentence: Diagnosis of its activity and speed, as in the list.
        directory: Its directory.
        overview: Its numbers; null for a batch crawl, and if the job cannot be read.
        started: When its run began, RFC 3339; "" for never.
        ended: When its run ended, RFC 3339; "" if it is not over.
        bytes_rate: Recent rate of received bytes per second; null if the job does not run.
        left: Estimated seconds until the end; null if not known.
        slowest: The queues that take longest.
        fetching: The fetches that have taken longest so far.
        rates: URIs a second in the last ten minutes, the oldest first.
        rounds: The state of a batch crawl; null for another job.
        actions: What can be done with it now.
        launch: Its start, if that is pending or failed; null otherwise.
        crowded: The kind of most queued URLs while the queues grow, unless its warning is muted;
            null for none.
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


async def get_job(call: JobCall) -> JobDetails:
    """Return a job: its numbers, its sentence, and what can be done with it."""
    job = call.job()
    await call.poller.checked(job)
    return job_details(call, job)


def job_details(call: JobCall, job: FoundJob) -> JobDetails:
    """Return all that is known of a job as it was seen last."""
    directory = str(job.layout.root)
    snapshot = call.poller.snapshot(job)
    overview = snapshot.overview
    item = job_item(call, job, snapshot, next_runs(call).get(directory, 0.0))
    return JobDetails(
        item=item,
        sentence=item.sentence,
        directory=directory,
        overview=overview,
        started=moment_text(overview.started) if overview else "",
        ended=moment_text(overview.ended_at) if overview else "",
        bytes_rate=snapshot.bytes_rate,
        left=snapshot.left,
        slowest=snapshot.slowest,
        fetching=snapshot.fetching,
        rates=snapshot.rates,
        rounds=snapshot.rounds,
        actions=allowed_now(call.parts.actions, job, quote_word(directory)),
        launch=None if snapshot.running else call.parts.actions.launcher.facts(job),
        crowded=unwanted(snapshot.crowded, call.parts.books.muted_warnings.of(job)),
    )


async def page_facts(call: JobCall, details: JobDetails) -> dict[str, object]:
    """Return what the page shows, with the logs and the fetches of this moment."""
    job, poller = call.job(), call.poller
    tails = OverviewTails(LogTail(job, CRAWL), LogTail(job, "alerts"))
    await asyncio.to_thread(lambda: [tail.look() for tail in tails])
    toes = None
    if details.item.running:
        with suppress(NacreError):  # it ended just now, or does not answer; the page shows that
            toes = await poller.look_at_toes(job)
    return overview_facts(call, details, tails, toes)


def overview_facts(
    call: JobCall, details: JobDetails, tails: OverviewTails, toes: ToeList | None = None
) -> dict[str, object]:
    """Return what the page of a job shows.

    Args:
        call: The request.
        details: The job as it was seen last.
        tails: Its logs, read already.
        toes: The fetches in process; None for those that the console saw last.
    """
    job, poller, text = call.job(), call.poller, call.language.texts.gettext
    snapshot, activity = poller.snapshot(job), poller.activity(job)
    charts = watch_charts(poller.points(job), text) if snapshot.running else []
    toes = toes or poller.toes(job)
    rests = not snapshot.running and (details.launch is None or details.launch.step == "failed")
    return {
        "job": details,
        "item": details.item,
        "labels": call.parts.books.labels.of(job),
        "rounds_form": request_fields(ROUNDS.request, text) if details.rounds else (),
        "rounds_options": option_line(ROUNDS.request),
        "homes": [place.label for place in job_places(call)],
        "levers": _levers(call, snapshot),
        "crowd": crowd_links(job.id, details.crowded),
        "crowd_said": crowd_text(call, details.crowded, grows=snapshot.grows),
        "places": [(place, exclude_link(job.id, place.prefix)) for place in snapshot.places],
        "charts": [chart for chart in charts if chart.name in _CHARTS],
        "fetches": fetches(toes, snapshot.fetching),
        "busy": len(toes.toes) if toes else None,
        "busy_lately": activity.busy,
        "alerts": [alert_item(line) for line in last_lines(tails.alerts, ALERTS)[::-1]],
        "lines": log_items(last_lines(tails.crawl, LINES)),
        "can_be_removed": rests,
        "never_ran": rests and snapshot.state == "NASCENT" and not ever_ran(job.layout),
    }


def _levers(call: JobCall, snapshot: JobSnapshot) -> tuple[LeverLink, ...]:
    """Return the remedies of the diagnosis, with links to those that the caller may use."""
    links = lever_links(snapshot.job, snapshot.sentence, snapshot.slowest, call.language.text)
    return links if may_operate(call) else only_looks(links)


class CrowdLinks(NamedTuple):
    """The banner about the kind of most queued URLs.

    Attributes:
        kind: The kind.
        exclude: Link to the page that excludes it.
        show: Link to the page that shows its URLs.
    """

    kind: CrowdedKind
    exclude: str
    show: str


def crowd_links(job: str, kind: CrowdedKind | None) -> CrowdLinks | None:
    """The banner of a kind; None for none.

    Args:
        job: Id of the job.
        kind: The kind.
    """
    if kind is None:
        return None
    options = urlencode({"queue": kind.queue, "re": beginning_with(kind.prefix)})
    show = f"{job_path(job)}/uris?{options}"
    return CrowdLinks(kind, exclude_link(job, kind.prefix), show)


def crowd_text(call: JobCall, kind: CrowdedKind | None, *, grows: bool) -> str:
    """Return the text of that banner, the same as in `nacre status`; "" for none.

    Args:
        call: The request.
        kind: The kind.
        grows: More URIs were recently queued than finished.
    """
    return "" if kind is None else call.language.say(crowd_diagnosis(kind, grows=grows))


def fetches(toes: ToeList | None, longest: Sequence[FetchInProcess]) -> list[OverviewFetch]:
    """The rows of the fetches in process.

    Args:
        toes: All fetches; None if they are not known yet.
        longest: Those that have taken longest, for this case.
    """
    if toes is None:
        fetch_rows = [OverviewFetch(fetch.url, "", fetch.seconds) for fetch in longest]
    else:
        fetch_rows = [OverviewFetch(toe.uri, toe.step, toe.seconds) for toe in toes.toes]
    return fetch_rows[:SLOTS]


def last_lines(tail: LogTail, number: int) -> tuple[LogLine, ...]:
    """The last lines of a log that was read, the newest last; () if there is none."""
    return tail.behind(None).lines[-number:]
