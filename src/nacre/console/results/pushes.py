"""`POST /api/v1/jobs/J/push/outbackcdx`: the indexes that the job's OutbackCDX server lacks."""

import asyncio
from typing import Any, NamedTuple

import msgspec

from nacre.console.call import Call
from nacre.console.readers.background import HeldTask, Tell
from nacre.errors import NacreError, StorageError
from nacre.job.background.outbackcdx import PushCounts, gone_indexes, push_missing, withdraw
from nacre.job.background.pushed_indexes import PushedIndexes
from nacre.job.background.webhooks import DeliveryError
from nacre.messages import message
from nacre.rounds.pushing import archived_indexes
from nacre.settings.load import load_job
from nacre.store.layout import Layout

_SOON = 2.0
"""Seconds that a request waits for the end, before its answer is a task."""


class PushWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a push.

    Attributes:
        withdraw: Delete at the server what it has of WARCs that are not in the archive any more,
            before the rest is posted.
    """

    withdraw: bool = False


class PushedFiles(msgspec.Struct, frozen=True):
    """The indexes that a server took.

    Attributes:
        changed: Indexes that it took now; what it had already is not sent again.
        lines: Captures in them.
        withdrawn: Indexes whose captures were deleted there.
    """

    changed: int
    lines: int
    withdrawn: int = 0


class PushState(NamedTuple):
    """The content of the OutbackCDX server of a job.

    Attributes:
        names: The indexes that it took.
        gone: Indexes that it has and the archive has not any more.
    """

    names: frozenset[str]
    gone: int


def push_state(layout: Layout) -> PushState | None:
    """The content of the server of today's settings; None where nothing was ever posted; it blocks.

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
    except (NacreError, OSError):  # its own page says what is wrong with the job
        return None


async def push(call: Call) -> HeldTask:
    """Post what the server lacks."""
    wish: PushWish = call.body
    layout = call.job().layout

    async def work(tell: Tell) -> dict[str, Any]:
        settings = (await asyncio.to_thread(load_job, layout)).settings
        url = settings.archive.collection_url()
        done = 0

        def told(_: str) -> None:
            nonlocal done
            done += 1
            tell(done, 0)

        away = PushCounts(0, 0)
        opened = archived_indexes(layout, settings)
        try:
            indexes = await asyncio.to_thread(opened.__enter__)
            try:
                if wish.withdraw:
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

    what = "withdraw" if wish.withdraw else "push"
    return call.services.tasks.begin(call.job().id, what, call.identity.name, work, {}, _SOON)
