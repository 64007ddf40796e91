"""`POST /api/v1/jobs/J/archive/check`: whether the archive of a job is whole."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from nacre.console.actions import own_command
from nacre.console.call import Call
from nacre.core.clock import iso
from nacre.core.message_data import to_plain
from nacre.core.states import ExitCode
from nacre.errors import NacreError, StorageError
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.background.checkpoints import ListedCheckpoint, list_checkpoints
from nacre.job.background.outbackcdx import PushCounts, gone_indexes, push_missing, withdraw
from nacre.job.background.pushed_indexes import PushedIndexes
from nacre.job.background.webhooks import DeliveryError
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.rounds.pushing import archived_indexes
from nacre.settings.load import load_job
from nacre.web.workers.background import HeldTask, Tell

MOST: Final = 200
"""Findings that an answer has."""
_SOON = 2.0
"""Seconds that a request waits for the end, before its answer is a task."""


class ArchiveFinding(msgspec.Struct, frozen=True):
    """A place of the archive where something is wrong.

    Attributes:
        file: Its path in the directory of the job.
        offset: Bytes before the place.
        code: What is wrong, for programs.
        message: What is wrong, in words.
    """

    file: str
    offset: int
    code: str
    message: str


class CheckedArchive(msgspec.Struct, frozen=True):
    """The result of a look at every record of an archive.

    Attributes:
        damaged: Whether something is lost or wrong.
        files: WARC files.
        bytes: Their size.
        records: Their records.
        digests: Digests that were compared with the content.
        found: Number of places where something is wrong.
        findings: The first 200 of them.
    """

    damaged: bool
    files: int
    bytes: int
    records: int
    digests: int
    found: int = 0
    findings: tuple[ArchiveFinding, ...] = ()


async def check_archive(call: Call) -> HeldTask:
    """Read the archive of a job and compare every digest, in its own process.

    Raises:
        RefusedRequestError: It has not run (409), so that there is no archive.
    """
    job = call.job()
    if not job.layout.has_store:
        raise RefusedRequestError(
            409,
            "never-ran",
            message("console.no-archive", "{id} has not run: it has no archive yet", id=job.id),
        )

    async def work(_: Tell) -> dict[str, object]:
        output = await own_command(
            "archive", str(job.layout.root), "check", "--json", fine=(ExitCode.DAMAGED,)
        )
        result: dict[str, object] = to_plain(read_answer(output, f"{job.layout.root}/"))
        return result

    return call.tasks.begin(job.id, "check-archive", call.identity.name, work, {}, _SOON)


def read_answer(output: str, root: str = "") -> CheckedArchive:
    """The result that the command printed (pure).

    Args:
        output: Its JSON.
        root: Beginning of the files' paths that is left out.
    """
    data: Mapping[str, Any] = msgspec.json.decode(output)
    wrong = [finding for finding in data["findings"] if finding["severity"] == "error"]
    findings = tuple(
        ArchiveFinding(
            file=str(finding["file"]).removeprefix(root),
            offset=int(finding["offset"]),
            code=str(finding["code"]),
            message=str(finding["message"]),
        )
        for finding in wrong[:MOST]
    )
    return CheckedArchive(
        damaged=bool(data["damaged"]),
        files=int(data["files"]),
        bytes=int(data["bytes"]),
        records=sum(data["records"].values()),
        digests=int(data["digests"]),
        found=len(wrong),
        findings=findings,
    )


class PushWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a push.

    Attributes:
        withdraw: Before the rest is posted, delete the server's captures of WARCs that are no
            longer in the archive.
    """

    withdraw: bool = False


class PushedFiles(msgspec.Struct, frozen=True):
    """The indexes that a server accepted.

    Attributes:
        changed: Indexes that it accepted now; indexes that it had already are not sent again.
        lines: Captures in these indexes.
        withdrawn: Indexes whose captures were deleted there.
    """

    changed: int
    lines: int
    withdrawn: int = 0


class PushState(NamedTuple):
    """The content of the OutbackCDX server of a job.

    Attributes:
        names: The indexes that it accepted.
        gone: Number of its indexes that are no longer in the archive.
    """

    names: frozenset[str]
    gone: int


def push_state(layout: Layout) -> PushState | None:
    """Return the content of the configured server; None if nothing was ever posted; it blocks.

    Args:
        layout: The job.
    """
    if not (layout.state / "pushed").is_dir():
        return None
    try:
        settings = load_job(layout).settings
        url = settings.archive.outbackcdx
        if not url:
            return None
        with archived_indexes(layout, settings) as indexes:
            gone = gone_indexes(indexes, layout, url)
        return PushState(PushedIndexes(layout, url).names(), len(gone))
    except (NacreError, OSError):  # the page of the job shows the error
        return None


async def push(call: Call) -> HeldTask:
    """Post what the server lacks."""
    request: PushWish = call.body
    layout = call.job().layout

    async def work(tell: Tell) -> dict[str, object]:
        settings = (await asyncio.to_thread(load_job, layout)).settings
        url = settings.archive.collection_url()
        pushed = 0

        def told(_: str) -> None:
            nonlocal pushed
            pushed += 1
            tell(pushed, 0)

        away = PushCounts(0, 0)
        opened = archived_indexes(layout, settings)
        try:
            indexes = await asyncio.to_thread(opened.__enter__)
            try:
                if request.withdraw:
                    away = await withdraw(indexes, layout, settings.archive, told)
                posted = await push_missing(indexes, layout, url, told)
            finally:
                await asyncio.to_thread(opened.__exit__, None, None, None)
        except (DeliveryError, OSError) as error:
            raise StorageError(
                message(
                    "console.push-interrupted",
                    "{error}; the next push goes on from there",
                    error=error,
                )
            ) from error
        return {"changed": posted.files, "lines": posted.lines, "withdrawn": away.files}

    subject = "withdraw" if request.withdraw else "push"
    return call.tasks.begin(call.job().id, subject, call.identity.name, work, {}, _SOON)


class CheckpointItem(msgspec.Struct, frozen=True):
    """A checkpoint.

    Attributes:
        name: Its name.
        made: When, RFC 3339.
        run: Name of its run; "" if not recorded.
        finished: Finished URIs at that time; null if not recorded.
        queued: Queued URIs at that time; null if not recorded.
    """

    name: str
    made: str
    run: str = ""
    finished: int | None = None
    queued: int | None = None


class CheckpointList(msgspec.Struct, frozen=True):
    """All checkpoints, the newest first; `next` is always null."""

    items: tuple[CheckpointItem, ...]
    as_of: str
    next: str | None = None


async def list_job_checkpoints(call: Call) -> CheckpointList:
    """All checkpoints."""
    layout = call.job().layout
    checkpoints = await asyncio.to_thread(lambda: list(list_checkpoints(layout)))
    items = [
        CheckpointItem(checkpoint.name, iso(checkpoint.time), *_noted(checkpoint))
        for checkpoint in reversed(checkpoints)
    ]
    return CheckpointList(tuple(items), call.now)


def _noted(checkpoint: ListedCheckpoint) -> tuple[str, int | None, int | None]:
    """Run, URIs done and URIs that waited, as far as they were noted."""
    note = checkpoint.moment
    return ("", None, None) if note is None else (note.run, note.finished, note.queued)
