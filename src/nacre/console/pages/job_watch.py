"""`/j/J/watch`: charts of ten minutes, of a day or of the run, and the fetches in process."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import msgspec

from nacre.console.api.jobs import job_item
from nacre.console.api.progress import SPANS, progress_of
from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.places import FoundJob
from nacre.console.live.snapshot import REPLIES
from nacre.console.logs.progress import ProgressPoint
from nacre.console.logs.statuses import STATUSES
from nacre.errors import NacreError
from nacre.job.activity import RatePoint, busy_between

Values = Sequence[float | None]
_STATES: Final = ("in_process", "ready", "snoozed", "inactive", "exhausted", "retired")
_ROWS: Final = 12


WatchSpan = Literal["", "live", "day", "all"]


class WatchQuery(msgspec.Struct, frozen=True):
    """The query of the page.

    Attributes:
        span: What the charts show: `live`, the last ten minutes; `day` or `all`, out of the log of
            the run; "" for `live` while the job runs, and else `all`.
    """

    span: WatchSpan = ""


class WatchChart(NamedTuple):
    """A chart, as the page has it.

    Attributes:
        name: Its name in the page.
        title: Its title.
        unit: `bytes` for sizes, `seconds` for times; "" for plain numbers.
        series: The names of its lines.
        times: Seconds since the epoch of the values.
        values: Values of each line; None where one is not known.
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
        return msgspec.json.encode([{"name": name} for name in self.series]).decode()

    @property
    def points(self) -> str:
        """Its values for the script, JSON."""
        return msgspec.json.encode([self.times, *self.values]).decode()

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
        """The largest value of all lines; 0 where there is none."""
        known = (value for line in self.values for value in line if value is not None)
        return max(known, default=0.0)


async def page(call: Call) -> PageAnswer:
    """A job while it crawls, and what its run was like."""
    job = call.job()
    await call.services.poller.fresh(job)
    try:
        toes = await call.services.poller.look_at_toes(job)
    except NacreError:  # it does not run, or does not answer now
        toes = None
    shown = {**facts(call, job), "toes": toes}
    if shown["span"] != "live":
        shown |= await _past(call, job, SPANS[shown["span"]])
    return PageAnswer("watch.html", shown)


async def _past(call: Call, job: FoundJob, seconds: float | None) -> dict[str, Any]:
    """The charts out of the log; without them, why."""
    try:
        past = await progress_of(call, job, seconds)
    except NacreError as error:
        return {"past_trouble": error.message}
    text = call.language.texts.gettext
    return {"charts": past_charts(past.points, text) if past.points else [], "past": past}


def facts(call: Call, job: FoundJob) -> dict[str, Any]:
    """The charts and fetches of a job as it was seen last; those of the past are left out."""
    poller = call.services.poller
    seen = poller.snapshot(job)
    item = job_item(job, seen, call.language, call.services.labels.of(job))
    query: WatchQuery = call.query
    span = query.span or ("live" if seen.running else "all")
    activity = poller.activity(job)
    points = poller.points(job) if span == "live" else ()
    return {
        "item": item, "toes": poller.toes(job), "overview": seen.overview, "span": span,
        "charts": watch_charts(points, call.language.texts.gettext) if span == "live" else [],
        "busy_lately": activity.busy, "past": None, "past_trouble": "",
        "may_change": call.identity.role.title in {"operator", "admin"},
    }  # fmt: skip


def past_charts(points: Sequence[ProgressPoint], text: Callable[[str], str]) -> list[WatchChart]:
    """The charts of the points of a log.

    Args:
        points: The points, the oldest first.
        text: Gives the text of a language for an English one.
    """
    _ = text
    times = tuple(point.time for point in points)
    known = {"failed": _("failed"), "refused": _("refused")}
    kinds = {
        kind: known.get(kind, kind)
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
    """The lines a second of a kind of status; None where the job did not run."""
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
