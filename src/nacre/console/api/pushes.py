"""`POST /api/v1/jobs/J/push/outbackcdx`: the indexes that the job's OutbackCDX server lacks."""

import asyncio
from typing import Any

import msgspec
from starlette.responses import RedirectResponse, Response

from nacre.console.background.answers import later
from nacre.console.call import Call
from nacre.console.readers.background import HeldTask, Tell
from nacre.errors import ConfigError, StorageError
from nacre.job.background.outbackcdx import push_job
from nacre.job.background.webhooks import DeliveryError
from nacre.settings.load import load_job

_SOON = 2.0
"""Seconds that a request waits for the end, before its answer is a task."""


class PushedFiles(msgspec.Struct, frozen=True):
    """The indexes that a server took.

    Attributes:
        changed: Indexes that it took now; what it had already is not sent again.
        lines: Captures in them.
    """

    changed: int
    lines: int


async def push(call: Call) -> PushedFiles | Response:
    """Post what the server lacks."""
    held = begin_push(call)
    found = await held.outcome(_SOON)
    return msgspec.convert(found, PushedFiles) if held.ended else later(held)


async def answer(call: Call) -> Response:
    """Post what the server lacks; a form of the page of files."""
    held = begin_push(call)
    await held.wait(_SOON)
    return RedirectResponse(
        f"{str(call.request.url.path).removesuffix('/push')}/tasks/{held.id}", 303
    )


def begin_push(call: Call) -> HeldTask:
    """Begin to post what the server lacks."""
    layout = call.job().layout

    async def work(tell: Tell) -> dict[str, Any]:
        settings = (await asyncio.to_thread(load_job, layout)).settings
        if not settings.archive.outbackcdx:
            raise ConfigError(
                "archive.outbackcdx is empty: name a collection, http://HOST:PORT/NAME"
            )
        done = 0

        def told(_: str) -> None:
            nonlocal done
            done += 1
            tell(done, 0)

        try:
            files, lines = await push_job(layout, settings, told)
        except (DeliveryError, OSError) as error:
            raise StorageError(f"{error}; the next push goes on from there") from error
        return {"changed": files, "lines": lines}

    return call.services.tasks.begin(call.job().id, "push", call.identity.name, work, {})
