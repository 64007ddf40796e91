"""`/api/v1/jobs/J/toes` and `/parallel`: the fetches in process, and how many there may be."""

from nacre.console.actions import name_of, operate
from nacre.console.call import Call
from nacre.console.live.toes import FetchSlot, ToeList
from nacre.core.clock import iso
from nacre.ops.lifecycle import PARALLEL, ParallelResult


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


async def put_parallel(call: Call) -> ParallelResult:
    """Change the number of parallel fetches, at once."""
    job = call.job()
    result = await operate(call.services, job, PARALLEL, call.body, name_of(call.identity))
    call.note.change({"parallel": result.before}, {"parallel": result.parallel})
    await call.services.poller.look(job)
    return result
