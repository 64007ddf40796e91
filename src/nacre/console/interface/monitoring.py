"""`/health`: whether the console answers."""

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import suppress

import msgspec
from starlette.responses import Response

from nacre import __version__
from nacre.console.call import Call, MonitorCall
from nacre.console.metrics import console_metrics, job_figures
from nacre.fleet.places import JobPlace
from nacre.fleet.reach import is_loopback
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.schedule_book import due_runs
from nacre.messages import message


class Health(msgspec.Struct, frozen=True):
    """The console answers.

    Attributes:
        status: `ok`.
        version: Version of Nacre; "" for who is not logged in.
    """

    status: str = "ok"
    version: str = ""


async def health(call: Call) -> Health:
    """Say that it answers."""
    return Health(version=__version__ if call.identity.role else "")


async def metrics(call: MonitorCall) -> Response:
    """The metrics as text or OpenMetrics, for a key, and for programs of this machine."""
    if not call.identity.role and not (call.address and is_loopback(call.address)):
        raise RefusedRequestError(
            401,
            "no-login",
            message(
                "console.metrics-key",
                "from another machine /metrics needs `Authorization: Bearer KEY`",
            ),
        )
    free = await asyncio.to_thread(_free, call.fleet.places)
    accept = call.request.headers.get("accept", "")
    media_type, text = console_metrics(
        call.parts.times, job_figures(call.snapshots(), free, due_runs(call.parts.schedules.all())),
        call.hub.streams, call.readers.times, accept,
    )  # fmt: skip
    return Response(text, headers={"content-type": media_type})


def _free(places: Sequence[JobPlace]) -> dict[str, int]:
    """Free bytes of the file systems of places, by their labels."""
    sizes = {}
    for place in places:
        with suppress(OSError):
            sizes[place.label] = shutil.disk_usage(place.root).free
    return sizes
