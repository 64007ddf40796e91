"""`POST /api/v1/jobs`: a new job; and its dry run before it is made."""

import msgspec

from nacre.console.call import Call
from nacre.console.new_jobs import MadeJob, NewJobWish, SampleDecision, check_new, look, make
from nacre.errors import ConfigError
from nacre.ops.fields import LineTexts


class DryRunWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The dry run of a job that is not made yet.

    Attributes:
        job: The job.
        urls: URLs to look at, 1,000 at most.
    """

    job: NewJobWish
    urls: LineTexts


class DryRunOfNewJob(msgspec.Struct, frozen=True):
    """The dry run of a job that is not made yet.

    Attributes:
        problems: What keeps it from being made, each with `path` and `message`.
        urls: The decisions; () if the settings have problems.
    """

    problems: tuple[dict[str, str | int], ...]
    urls: tuple[SampleDecision, ...]


async def make_job(call: Call) -> MadeJob:
    """Make a job."""
    _, made = await make(call, call.body)
    return made


async def look_at_job(call: Call) -> DryRunOfNewJob:
    """Make the dry run of a job that is not made yet."""
    wish: DryRunWish = call.body
    found = await look(call, wish.job, wish.urls[:1000])
    if not found["problems"]:
        try:
            await check_new(call, wish.job)
        except ConfigError as error:
            found["problems"] = [problem._asdict() for problem in error.problems]
    return msgspec.convert(found, DryRunOfNewJob)
