"""`/api/v1/jobs/J/wanted-kinds`: kinds of URLs of which no banner warns, however many wait."""

from typing import Annotated

import msgspec

from nacre.console.call import Call
from nacre.console.fleet.wanted_book import MOST
from nacre.console.live.hub import job_topic
from nacre.console.versions import EditedThing, edited
from nacre.ops.fields import LineText


class WantedKinds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The kinds of URLs of a job that are wanted.

    Attributes:
        prefixes: Beginnings of their URLs, the oldest first, 100 at most.
    """

    prefixes: Annotated[tuple[LineText, ...], msgspec.Meta(max_length=MOST)] = ()


async def show_wanted(call: Call) -> WantedKinds:
    """The kinds of URLs of a job that are wanted."""
    return WantedKinds(call.services.wanted.of(call.job()))


async def wanted_version(call: Call) -> EditedThing:
    """The wanted kinds of a job, which are edited as a whole."""
    return edited(await show_wanted(call))


async def set_wanted(call: Call) -> WantedKinds:
    """Say which kinds of URLs of a job are wanted, in place of those of before."""
    return keep_wanted(call, call.body)


def keep_wanted(call: Call, wish: WantedKinds) -> WantedKinds:
    """Keep the wanted kinds of the job that the path names, and tell who looks at it."""
    job, book = call.job(), call.services.wanted
    before = WantedKinds(book.of(job))
    after = WantedKinds(book.set(job, wish.prefixes))
    call.note.change(msgspec.to_builtins(before), msgspec.to_builtins(after))
    call.services.hub.changed(job_topic(job.id))
    return after
