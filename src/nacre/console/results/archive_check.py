"""`POST /api/v1/jobs/J/archive/check`: whether the archive of a job is whole."""

from typing import Any, Final

import msgspec

from nacre.console.actions import own_command
from nacre.console.call import Call
from nacre.console.problems import RefusedRequestError
from nacre.console.readers.background import HeldTask, Tell
from nacre.core.states import ExitCode
from nacre.messages import message

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
    """Read the archive of a job and compare every digest, in a process of its own.

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

    async def work(_: Tell) -> dict[str, Any]:
        said = await own_command(
            "archive", str(job.layout.root), "check", "--json", fine=(ExitCode.DAMAGED,)
        )
        found: dict[str, Any] = msgspec.to_builtins(read_answer(said, f"{job.layout.root}/"))
        return found

    return call.services.tasks.begin(job.id, "check-archive", call.identity.name, work, {}, _SOON)


def read_answer(said: str, root: str = "") -> CheckedArchive:
    """The result that the command printed (pure).

    Args:
        said: Its JSON.
        root: Beginning of the files' paths that is left out.
    """
    data: dict[str, Any] = msgspec.json.decode(said)
    wrong = [one for one in data["findings"] if one["severity"] == "error"]
    shown = tuple(
        ArchiveFinding(
            file=str(one["file"]).removeprefix(root),
            offset=int(one["offset"]),
            code=str(one["code"]),
            message=str(one["message"]),
        )
        for one in wrong[:MOST]
    )
    return CheckedArchive(
        damaged=bool(data["damaged"]),
        files=int(data["files"]),
        bytes=int(data["bytes"]),
        records=sum(data["records"].values()),
        digests=int(data["digests"]),
        found=len(wrong),
        findings=shown,
    )
