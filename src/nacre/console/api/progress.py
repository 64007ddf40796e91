"""`/api/v1/jobs/J/progress`: the past of a run, out of its log."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.logs.progress import DAY, ProgressPast, ProgressPoint
from nacre.core.clock import iso

SPANS: Final[Mapping[str, float | None]] = {"day": DAY, "all": None}
"""Seconds before the last row of the log; None for all of it."""


class ProgressQuery(msgspec.Struct, frozen=True):
    """The time that the points cover.

    Attributes:
        span: `day`: 24 hours before the last row of the log; `all`: all of the run.
    """

    span: Literal["day", "all"] = "day"


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
    """The speed of a run over a day, or over all of it."""
    query: ProgressQuery = call.query
    past = await progress_of(call, call.job(), SPANS[query.span])
    now = iso(call.services.clock.now())
    return ProgressAnswer(
        past.points, past.step, past.is_sampled, None, now, past.has_sampled_statuses
    )


async def progress_of(call: Call, job: FoundJob, seconds: float | None) -> ProgressPast:
    """The past of a job, read by a reader process.

    Args:
        call: The request.
        job: The job.
        seconds: How far back before the last row; None for all.

    Raises:
        RefusedRequestError: It took too long (503).
    """
    found = await call.services.readers.ask("progress", job.layout.root, seconds=seconds)
    return msgspec.convert(found, ProgressPast)
