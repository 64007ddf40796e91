"""`/j/J/watch`: charts of ten minutes, of a day or of the run, and the fetches in process."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import msgspec

from nacre.console.call import Call, JobCall, PageAnswer
from nacre.console.forms import may_operate
from nacre.console.jobs.listing import job_item
from nacre.console.logs.progress import DAY, STATUSES, PastRequest, ProgressPoint, read_progress
from nacre.console.task_answers import ask
from nacre.core.message_data import to_json
from nacre.errors import NacreError
from nacre.fleet.places import FoundJob
from nacre.fleet.snapshot import REPLIES, FetchSlot, ToeList
from nacre.job.activity import RatePoint, busy_between
from nacre.web.workers.pool import PATIENCE

Values = Sequence[float | None]
_STATES: Final = ("in_process", "ready", "snoozed", "inactive", "exhausted", "retired")
_ROWS: Final = 12


WatchSpan = Literal["", "live", "day", "all"]


class WatchQuery(msgspec.Struct, frozen=True):
    """The query of the page.

    Attributes:
        span: Time span of the charts: `live`, the last ten minutes; `day` or `all`, from the log of
            the run; "" for `live` while the job runs, otherwise `all`.
    """

    span: WatchSpan = ""


SPANS: Final[Mapping[str, float | None]] = {"day": DAY, "all": None}
"""Seconds before the last row of the log; None for all of it."""


ProgressSpan = Literal["day", "all"]


class ProgressQuery(msgspec.Struct, frozen=True):
    """The time that the points cover.

    Attributes:
        span: `day`: 24 hours before the last row of the log; `all`: all of the run.
    """

    span: ProgressSpan = "day"


class WatchChart(NamedTuple):
    """A chart, as the page has it.

    Attributes:
        name: Its name in the page.
        title: Its title.
        unit: `bytes` for sizes, `seconds` for times; "" for plain numbers.
        series: The names of its lines.
        times: Seconds since the epoch of the values.
        values: Values of each line; None for an unknown value.
        is_stacked: The lines lie on one another.
    """

    name: str
    title: str
    unit: str
    series: tuple[str, ...]
    times: tuple[float, ...]
    values: tuple[tuple[float | None, ...], ...]
    is_stacked: bool = False

    @property
    def spec(self) -> str:
        """Its lines for the script, JSON."""
        return to_json([{"name": name} for name in self.series]).decode()

    @property
    def points(self) -> str:
        """Its values for the script, JSON."""
        return to_json([self.times, *self.values]).decode()

    @property
    def rows(self) -> list[tuple[float, list[float | None]]]:
        """Some of its moments with the values, the newest first, for the table."""
        step = max(len(self.times) // _ROWS, 1)
        places = range(len(self.times) - 1, -1, -step)
        return [(self.times[place], [line[place] for line in self.values]) for place in places]

    @property
    def now(self) -> list[float | None]:
        """The last value of each line."""
        return [line[-1] if line else None for line in self.values]

    @property
    def most(self) -> float:
        """The largest value of all lines; 0 if there is none."""
        values = (value for line in self.values for value in line if value is not None)
        return max(values, default=0.0)


async def watch_page(call: JobCall) -> PageAnswer:
    """Show a job while it crawls, and the past of its run."""
    job = call.job()
    await call.poller.fresh(job)
    toes = None
    with suppress(NacreError):  # it does not run, or does not answer now
        toes = await call.poller.look_at_toes(job)
    facts = {**watch_facts(call, job), "toes": toes}
    span = _span(call, job)
    if span != "live":
        facts |= await _past(call, span)
    return PageAnswer("watch.html", facts)


async def _past(call: Call, span: ProgressSpan) -> dict[str, object]:
    """Return the charts of the log of the run; without them, why there are none."""
    try:
        past = await get_progress(call._replace(query=ProgressQuery(span)))
    except NacreError as error:
        return {"past_trouble": error.message}
    text = call.language.texts.gettext
    return {"charts": past_charts(past.items, text) if past.items else [], "past": past}


def _span(call: Call, job: FoundJob) -> Literal["live", "day", "all"]:
    """Return what the charts show."""
    query: WatchQuery = call.query
    return query.span or ("live" if call.poller.is_running(job) else "all")


def watch_facts(call: JobCall, job: FoundJob) -> dict[str, object]:
    """Return the charts and fetches of a job as it was seen last, without charts of the past."""
    poller, span = call.poller, _span(call, job)
    snapshot, activity = poller.snapshot(job), poller.activity(job)
    charts = watch_charts(poller.points(job), call.language.texts.gettext)
    return {
        "item": job_item(call, job, snapshot), "toes": poller.toes(job),
        "overview": snapshot.overview,
        "span": span, "charts": charts if span == "live" else [], "busy_lately": activity.busy,
        "past": None, "past_trouble": "", "may_change": may_operate(call),
    }  # fmt: skip


def past_charts(points: Sequence[ProgressPoint], text: Callable[[str], str]) -> list[WatchChart]:
    """The charts of the points of a log.

    Args:
        points: The points, the oldest first.
        text: Gives the text of a language for an English one.
    """
    _ = text
    times = tuple(point.time for point in points)
    labels = {"failed": _("failed"), "refused": _("refused")}
    kinds = {
        kind: labels.get(kind, kind)
        for kind in STATUSES
        if any(kind in point.statuses for point in points)
    }

    def chart(name: str, title: str, lines: dict[str, str], unit: str = "") -> WatchChart:
        values = tuple(tuple(getattr(point, line) for point in points) for line in lines)
        return WatchChart(name, title, unit, tuple(lines.values()), times, values)

    return [
        chart("documents", _("Documents a second"), {"documents": _("Documents a second")}),
        chart("bytes", _("Bytes a second"), {"speed": _("Bytes a second")}, "bytes"),
        chart("busy", _("Fetches at a time"), {"busy": _("busy")}),
        chart("queued", _("URIs that wait"), {"queued": _("waiting")}),
        chart("growth", _("URIs found and failed a second"),
              {"discovered": _("found"), "failed": _("failed")}),
        chart("memory", _("Memory in use"), {"memory": _("memory")}, "bytes"),
        *([WatchChart("statuses", _("Statuses a second"), "", tuple(kinds.values()), times,
                      tuple(tuple(_status(point, kind) for point in points) for kind in kinds),
                      is_stacked=True)] if kinds else []),
    ]  # fmt: skip


def watch_charts(points: Sequence[RatePoint], text: Callable[[str], str]) -> list[WatchChart]:
    """The charts of some points.

    Args:
        points: The points, the oldest first.
        text: Gives the text of a language for an English one.
    """
    _ = text
    times = tuple(point.time for point in points)
    later = times[1:]
    states = [name for name in _STATES if any(point.queues.get(name) for point in points)]
    kinds = {
        "documents": _("documents"), "unchanged": _("unchanged"), "redirects": _("redirects"),
        "errors": _("error replies"), "failed": _("failed"),
    }  # fmt: skip
    words = {
        "in_process": _("in process"), "ready": _("ready"), "snoozed": _("snoozed"),
        "inactive": _("inactive"), "exhausted": _("exhausted"), "retired": _("retired"),
    }  # fmt: skip
    return [
        WatchChart("uris", _("URIs a second"), "", (_("URIs a second"),), later,
                   (_rates(points, lambda point: point.finished),)),
        WatchChart("bytes", _("Bytes a second"), "bytes", (_("Bytes a second"),), later,
                   (_rates(points, lambda point: point.bytes),)),
        # Most fetches take less time than lies between two looks: the average shows them.
        WatchChart("busy", _("Fetches at a time, on average"), "", (_("busy"), _("fetch slots")),
                   later, (tuple(_means(points)), tuple(point.parallel for point in points[1:]))),
        WatchChart("queues", _("Queues by state"), "", tuple(words[name] for name in states), times,
                   tuple(tuple(point.queues.get(name, 0) for point in points) for name in states),
                   is_stacked=True),
        WatchChart("replies", _("Replies a second by kind"), "", tuple(kinds.values()), later,
                   tuple(_rates(points, _replies(name)) for name in REPLIES), is_stacked=True),
        WatchChart("delays", _("Time until changes are durable, and gaps of the event loop"),
                   "seconds", (_("waiting commit"), _("longest gap")), times,
                   (tuple(point.age for point in points),
                    tuple(point.gap / 1000 for point in points))),
    ]  # fmt: skip


def _status(point: ProgressPoint, kind: str) -> float | None:
    """Return the lines per second of a kind of status; None while the job did not run."""
    return None if point.queued is None else point.statuses.get(kind, 0.0)


def _means(points: Sequence[RatePoint]) -> Iterator[float | None]:
    for before, after in pairwise(points):
        mean = busy_between(before, after)
        yield None if mean is None else round(mean, 3)


def _replies(name: str) -> Callable[[RatePoint], int]:
    return lambda point: point.replies.get(name, 0)


def _rates(
    points: Sequence[RatePoint], count: Callable[[RatePoint], int]
) -> tuple[float | None, ...]:
    """Changes a second of a count between the points."""
    return tuple(
        round((count(b) - count(a)) / max(b.time - a.time, 1e-3), 3) for a, b in pairwise(points)
    )


class ProgressAnswer(msgspec.Struct, frozen=True):
    """The past of the last run of a job, at most 300 points.

    Attributes:
        items: Stretches of equal length, the oldest first.
        step: Their length, seconds; 0 without points.
        is_sampled: The logs are so large that averages are of samples; rates are exact.
        has_sampled_statuses: crawl.log is so large that `statuses` are of samples.
        next: Always null.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[ProgressPoint, ...]
    step: float
    is_sampled: bool
    next: None
    as_of: str
    has_sampled_statuses: bool = False


async def get_progress(call: Call) -> ProgressAnswer:
    """Return the speed of the last run over a day, or over all of it.

    Raises:
        RefusedRequestError: Reading took too long (503).
    """
    query: ProgressQuery = call.query
    past = await ask(call, read_progress, PastRequest(SPANS[query.span]), PATIENCE)
    return ProgressAnswer(
        past.points, past.step, past.is_sampled, None, call.now, past.has_sampled_statuses
    )


class FetchSlotList(ToeList, frozen=True, kw_only=True):
    """The fetches in process, as other lists are.

    Attributes:
        items: The fetches; `toes` has the same.
        next: Always null: all are on this page.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[FetchSlot, ...]
    next: str | None
    as_of: str


async def get_toes(call: Call) -> FetchSlotList:
    """Return the fetches of a running job."""
    toes = await call.poller.look_at_toes(call.job())
    return FetchSlotList(
        toes.parallel, toes.offset, toes.toes, items=toes.toes, next=None, as_of=call.now
    )
