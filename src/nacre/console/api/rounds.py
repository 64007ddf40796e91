"""`/api/v1/jobs/J/dry-run-rounds` and `versions`: the next list of a batch crawl; its versions."""

from typing import Any, Final

import msgspec
from starlette.responses import Response

from nacre.console.actions import WHYS, allowed_now, own_command
from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import RefusedRequestError, not_found
from nacre.console.readers.background import HeldTask
from nacre.console.task_answers import later, read_or_later
from nacre.core.clock import iso
from nacre.messages import message

_PATIENCE: Final = 60.0
"""Seconds that reading the versions may take."""


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


class CycleVersionItem(msgspec.Struct, frozen=True):
    """A version of the tables of a batch crawl.

    Attributes:
        number: From 1.
        step: The step that made it.
        host: Where that ran.
        time: The clock of the step, RFC 3339.
        segments: Segments by state.
    """

    number: int
    step: str
    host: str
    time: str
    segments: dict[str, int]


class CycleVersionList(msgspec.Struct, frozen=True):
    """The versions of a batch crawl that are kept.

    Attributes:
        items: They, the newest first.
        next: Always null: all that are kept are given.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[CycleVersionItem, ...]
    next: None
    as_of: str


class RestoredVersion(msgspec.Struct, frozen=True):
    """A version that has the state of an earlier one.

    Attributes:
        version: Its number.
        restored: That of the earlier one.
    """

    version: int
    restored: int


async def dry_run(call: Call) -> DryRound | Response:
    """Try the next list without a change; what takes longer goes on as a task."""
    job = call.job()
    found, held = await dry_round_of(call, job)
    return later(held) if held is not None else msgspec.convert(found, DryRound)


async def dry_round_of(call: Call, job: FoundJob) -> tuple[Any, HeldTask | None]:
    """The list that the next `generate` of a job would make; or the task that makes it.

    Raises:
        RefusedRequestError: It is no batch crawl, or its rounds run (409).
        NacreError: It cannot be read.
    """
    await _require(call, job, "dry-run-rounds")
    return await read_or_later(call, job, "dry-round")


async def _require(call: Call, job: FoundJob, action: str) -> None:
    """Refuse what is for batch crawls whose rounds do not run.

    Raises:
        RefusedRequestError: It is none, or they do (409).
    """
    await call.services.poller.look(job)  # rounds may have begun within the last second
    found = {one.name: one for one in allowed_now(call.services, job, "")}[action]
    if not found.allowed:
        raise RefusedRequestError(409, found.why, f"{action}: {WHYS[found.why]} ({job.id})")


async def list_versions(call: Call) -> CycleVersionList:
    """The versions that are kept, the newest first."""
    return await versions_of(call, call.job())


async def versions_of(call: Call, job: FoundJob) -> CycleVersionList:
    """The versions of a batch crawl.

    Raises:
        RefusedRequestError: It is none (409).
    """
    if not job.layout.in_rounds:
        raise RefusedRequestError(
            409,
            "no-rounds",
            message("console.not-in-rounds", "{id} is not crawled in rounds", id=job.id),
        )
    found = await call.services.readers.ask("cycle-versions", job.layout.root, _PATIENCE)
    items = tuple(msgspec.convert(one, CycleVersionItem) for one in found)
    return CycleVersionList(items, None, iso(call.services.clock.now()))


async def restore_version(call: Call) -> RestoredVersion:
    """Go back to a version: the newest one says then what that one says."""
    text = str(call.request.path_params["number"])
    if not text.isdecimal() or len(text) > 9:
        raise not_found("version", text[:20])
    return await restore_of(call, call.job(), int(text))


async def restore_of(call: Call, job: FoundJob, number: int) -> RestoredVersion:
    """Go back to a version of a batch crawl, in a process of its own.

    Raises:
        RefusedRequestError: It is none, its rounds run (409), or there is no such version (404).
        JobError: That failed.
    """
    await _require(call, job, "run-rounds")
    if all(item.number != number for item in (await versions_of(call, job)).items):
        raise not_found(
            message("console.version-of-job", "version {number} of {id}", number=number, id=job.id)
        )
    said = await own_command("cycle", str(job.layout.root), "versions", "restore", str(number))
    call.note.change(None, {"restored": number, "said": said.strip()})
    await call.services.poller.look(job)
    newest = (await versions_of(call, job)).items[0].number
    return RestoredVersion(newest, number)
