"""`/api/v1/jobs/J/toes` and `/parallel`: the fetches in process, and how many there may be."""

import msgspec

from nacre.console.bounds import Fetches
from nacre.console.call import Call
from nacre.console.live.toes import FetchSlot, ToeList
from nacre.core.clock import iso
from nacre.job.control import BY, ask_command

_PATIENCE = 5.0


class ParallelWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The wanted number of fetches at a time.

    Attributes:
        number: It, 1 to 10,000.
    """

    number: Fetches


class ParallelChange(msgspec.Struct, frozen=True):
    """The number of fetches at a time, before and now."""

    before: int
    parallel: int


class FetchSlotList(ToeList, frozen=True, kw_only=True):
    """The fetches in process, as other lists are.

    Attributes:
        items: The fetches; `toes` has the same.
        next: Always null: all are on this page.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[FetchSlot, ...]
    next: str | None
    as_of: str


async def get_toes(call: Call) -> FetchSlotList:
    """The fetches of a running job."""
    found = await call.services.poller.look_at_toes(call.job())
    now = iso(call.services.clock.now())
    return FetchSlotList(
        found.parallel, found.offset, found.toes, items=found.toes, next=None, as_of=now
    )


async def put_parallel(call: Call) -> ParallelChange:
    """Change the number of fetches at a time, at once."""
    wish: ParallelWish = call.body
    job = call.job()
    who = f"{call.identity.name} via console"
    answer = await ask_command(
        job.layout.socket, "parallel", _PATIENCE, number=wish.number, **{BY: who}
    )
    found = msgspec.convert(answer, ParallelChange)
    call.note.change({"parallel": found.before}, {"parallel": found.parallel})
    await call.services.poller.look(job)
    return found
