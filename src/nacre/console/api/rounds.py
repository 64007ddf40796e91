"""`/api/v1/jobs/J/dry-run-rounds`: what the next round of a batch crawl would list."""

from typing import Final

import msgspec

from nacre.console.actions import WHYS, allowed_now
from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import RefusedRequestError

_PATIENCE: Final = 60.0
"""Seconds that a dry run may take: it reads the whole table once."""


class DryRound(msgspec.Struct, frozen=True):
    """The list that the next `generate` would make.

    Attributes:
        at: The step that an earlier list waits for, which rounds do first; "" for none.
        known: URLs that are known.
        due: Candidates: due and refused by nothing.
        selected: URLs of the list.
        refused: Refusals by reason, such as `schedule`.
        excluded: Refusals by rules, by file and line or by name of the rule.
        cut: URLs that would need longer than the time limit.
        capped: URLs beyond the limits of hosts and domains.
        beyond: URLs that are not among the best.
        units: Units of the list.
        longest: Expected time of the longest unit, s.
        next_due: When the first of those becomes due that are not, ms since the epoch; null for
            none.
    """

    at: str
    known: int
    due: int
    selected: int
    refused: dict[str, int]
    excluded: dict[str, int]
    cut: int
    capped: int
    beyond: int
    units: int
    longest: float
    next_due: int | None


async def dry_run(call: Call) -> DryRound:
    """Try the next list without a change."""
    return await dry_round_of(call, call.job())


async def dry_round_of(call: Call, job: FoundJob) -> DryRound:
    """The list that the next `generate` of a job would make.

    Raises:
        RefusedRequestError: It is no batch crawl, or its rounds run (409).
        NacreError: It cannot be read.
    """
    await call.services.poller.fresh(job)
    found = {one.name: one for one in allowed_now(call.services, job, "")}["dry-run-rounds"]
    if not found.allowed:
        raise RefusedRequestError(409, found.why, f"dry run: {WHYS[found.why]} ({job.id})")
    answer = await call.services.readers.ask("dry-round", job.layout.root, _PATIENCE)
    return msgspec.convert(answer, DryRound)
