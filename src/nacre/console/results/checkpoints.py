"""The checkpoints of a job."""

import asyncio

import msgspec

from nacre.console.call import Call
from nacre.core.clock import iso
from nacre.job.background.checkpoints import ListedCheckpoint, list_checkpoints


class CheckpointItem(msgspec.Struct, frozen=True):
    """A checkpoint.

    Attributes:
        name: Its name.
        made: When, RFC 3339.
        run: Its run; "" where that was not noted.
        finished: URIs done then; null where that was not noted.
        queued: URIs that waited then; likewise.
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
    found = await asyncio.to_thread(lambda: list(list_checkpoints(layout)))
    items = [CheckpointItem(one.name, iso(one.made), *_noted(one)) for one in reversed(found)]
    return CheckpointList(tuple(items), call.now)


def _noted(checkpoint: ListedCheckpoint) -> tuple[str, int | None, int | None]:
    """Run, URIs done and URIs that waited, as far as they were noted."""
    note = checkpoint.moment
    return ("", None, None) if note is None else (note.run, note.finished, note.queued)
