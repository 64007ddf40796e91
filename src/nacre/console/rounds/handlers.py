"""Handlers of batch crawls: the dry run of their next list, and the versions of their tables."""

from typing import Final

import msgspec

from nacre.console.actions import allowed_now, own_command, refusal_text
from nacre.console.answering import with_page
from nacre.console.call import ActionCall, PageAnswer
from nacre.console.forms import FormAction, button_handler
from nacre.console.parts import ActionParts
from nacre.console.rounds.tasks import CycleVersionItem, DryRound, cycle_versions, dry_round
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.console.task_answers import ask, read
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.messages import message
from nacre.ops.operation import Role
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import NoRequest

_PATIENCE: Final = 60.0
"""Seconds that reading the versions may take."""


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


async def dry_run(call: ActionCall) -> DryRound | HeldTask:
    """Compute the next list without a change; a long computation continues as a task.

    Raises:
        RefusedRequestError: The job is no batch crawl, or its rounds run (409).
        NacreError: It cannot be read.
    """
    await _require(call, call.job(), "dry-run-rounds")
    return await read(call, dry_round, NoRequest())


async def _require(call: ActionCall, job: FoundJob, action: str) -> None:
    """Refuse an action unless the job is a batch crawl whose rounds do not run.

    Raises:
        RefusedRequestError: The job is not a batch crawl, or its rounds run (409).
    """
    await call.poller.look(job)  # rounds may have begun within the last second
    actions = {action_now.name: action_now for action_now in allowed_now(call.parts, job, "")}
    if not actions[action].allowed:
        reason = actions[action].why
        raise RefusedRequestError(409, reason, refusal_text(action, reason, job.id))


async def list_versions(call: ActionCall) -> CycleVersionList:
    """List the versions that are kept, the newest first.

    Raises:
        RefusedRequestError: The job is no batch crawl (409).
    """
    job = call.job()
    if not job.layout.in_rounds:
        raise RefusedRequestError(
            409,
            "no-rounds",
            message("console.not-in-rounds", "{id} is not crawled in rounds", id=job.id),
        )
    items = await ask(call, cycle_versions, NoRequest(), _PATIENCE)
    return CycleVersionList(items, None, call.now)


async def versions_page(call: ActionCall) -> CycleVersionList | PageAnswer:
    """List the versions; a page without them for a job that is no batch crawl."""
    if call.job().layout.in_rounds:
        return await list_versions(call)
    return PageAnswer("versions.html", {"found": None, "running": False})


async def version_facts(call: ActionCall, _: CycleVersionList) -> dict[str, object]:
    """Return the further facts of the page of versions: whether the rounds run."""
    return {"running": (await call.poller.fresh(call.job())).running}


async def restore_version(call: ActionCall) -> RestoredVersion:
    """Restore the state of an earlier version as a new one, by a command.

    Raises:
        RefusedRequestError: The job is no batch crawl, its rounds run (409), or there is no such
            version (404).
        JobError: The command failed.
    """
    job, text = call.job(), str(call.params["number"])
    await _require(call, job, "run-rounds")
    if all(str(item.number) != text for item in (await list_versions(call)).items):
        raise not_found(
            message(
                "console.version-of-job", "version {number} of {id}", number=text[:20], id=job.id
            )
        )
    output = await own_command("cycle", str(job.layout.root), "versions", "restore", text)
    call.note.change(None, {"restored": int(text), "said": output.strip()})
    await call.poller.look(job)
    newest = (await list_versions(call)).items[0].number
    return RestoredVersion(newest, int(text))


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


submit_version: Final = button_handler(
    FormAction(
        restore_version, params={"number": "version"},
        done=_("Restored version {restored} as version {version}."),
    ),
    "{job}/versions",
)  # fmt: skip
"""The handler of the form of a version."""


_V, _O = Role.VIEWER, Role.OPERATOR
_JOB = f"{API}/jobs/{{job}}"

ROUND_ROUTES: Final[tuple[RouteRow[ActionParts], ...]] = (
    *with_page(RouteRow("POST", f"{_JOB}/dry-run-rounds", _O, dry_run,
                        "What the next round of a batch crawl would list.", answer=DryRound,
                        changes=False),
               "/j/{job}/dry-run-rounds", RouteView("dry_round.html")),
    RouteRow("GET", f"{_JOB}/versions", _V, list_versions,
             "The versions of a batch crawl.", answer=CycleVersionList),
    RouteRow("GET", "/j/{job}/versions", _V, versions_page,
             "The versions of a batch crawl; a page.",
             view=RouteView("versions.html", version_facts)),
    RouteRow("POST", f"{_JOB}/versions/{{number}}/restore", _O, restore_version,
             "Go back to a version of a batch crawl.", answer=RestoredVersion),
    RouteRow("POST", "/j/{job}/versions", _O, submit_version,
             "Go back to a version of a batch crawl; a form."),
)  # fmt: skip
"""Its rows."""
