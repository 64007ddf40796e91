"""The other jobs of this user on this machine that fetch from the same hosts.

Nothing here runs in a crawl: the process of a command reads the notes of the jobs, their table of
slots, and their stores, as it was asked about a queue.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.core.clock import Clock, duration
from nacre.errors import NacreError
from nacre.frontier.queue_cache import read_queue
from nacre.frontier.queues import QueueRow, QueueState
from nacre.frontier.rows import queue_id
from nacre.frontier.shared_slots import last_rest
from nacre.frontier.slot_owners import SlotOwner, slot_owners, table_path
from nacre.inspect.stored_job import read_only
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.store.store import Store


class QueueSharer(msgspec.Struct, frozen=True):
    """Another running job that fetches from the host of a queue.

    Attributes:
        job: Its directory.
        pid: Its process.
        delay: Its last politeness delay at the host, seconds; 0 before its first fetch.
        rests: Seconds for which the host still rests by that delay; 0 when it does not.
    """

    job: str
    pid: int
    delay: float = 0.0
    rests: float = 0.0


class _OtherJob(NamedTuple):
    owner: SlotOwner
    store: Store | None


class OtherJobs:
    """Answers which other jobs share a queue.

    Args:
        table: The table of slots.
        jobs: The other jobs; a store is None where it cannot be read.
        clock: The time.
    """

    def __init__(self, table: Path, jobs: Sequence[_OtherJob], clock: Clock) -> None:
        self._table = table
        self._jobs = jobs
        self._clock = clock

    def sharers(self, queue: str) -> list[QueueSharer]:
        """The other jobs that have URIs for the host of a queue, or whose delay holds there."""
        if not self._jobs:
            return []
        identity = queue_id(queue)
        until, writer = last_rest(self._table, identity)
        pause_left = max(until - self._clock.monotonic(), 0.0) if isfinite(until) else 0.0
        sharers = []
        for owner, store in self._jobs:
            row = _row(store, identity)
            rests = pause_left if owner.name == writer else 0.0
            if rests or (row is not None and _has_work(row)):
                delay = row.delay if row is not None else 0.0
                sharers.append(QueueSharer(owner.job, owner.pid, delay, rests))
        return sharers


@contextmanager
def other_jobs(root: Path, clock: Clock) -> Iterator[OtherJobs]:
    """Look at the other jobs that run.

    Args:
        root: The directory of the job that asks.
        clock: The time.
    """
    with ExitStack() as stack:
        try:
            table, own = table_path(), str(root.resolve())
            owners = [owner for owner in slot_owners(table) if owner.job != own]
        except (OSError, RuntimeError):
            table, owners = Path(), []
        yield OtherJobs(table, [_OtherJob(owner, _store(owner, stack)) for owner in owners], clock)


def sharing_text(sharer: QueueSharer) -> str:
    """One clause: the other job, and the delay that is in effect."""
    job = message(
        "inspect.job-and-process", "job {job} (process {pid})", job=sharer.job, pid=sharer.pid
    )
    delay = duration(sharer.delay)
    if not sharer.delay:
        if not sharer.rests:
            return message("inspect.takes-turns", "it takes turns with {job}", job=job)
        return message(
            "inspect.delay-of-job",
            "the delay of {job} is in effect for {rests:.1f} s more",
            job=job,
            rests=sharer.rests,
        )
    if sharer.rests:
        return message(
            "inspect.known-delay-of-job",
            "the delay of {delay} of {job} is in effect for {rests:.1f} s more",
            delay=delay,
            job=job,
            rests=sharer.rests,
        )
    return message(
        "inspect.takes-turns-with-delay",
        "it takes turns with {job}, whose delay of {delay} is in effect after its fetches",
        job=job,
        delay=delay,
    )


def _store(owner: SlotOwner, stack: ExitStack) -> Store | None:
    """The store of another job: of any state, and perhaps of another version of Nacre."""
    layout = Layout(Path(owner.job))
    try:
        return stack.enter_context(read_only(str(layout.store))) if layout.has_store else None
    except (NacreError, OSError):
        return None


def _row(store: Store | None, identity: bytes) -> QueueRow | None:
    try:
        return read_queue(store, identity) if store is not None else None
    except (NacreError, msgspec.MsgspecError):
        return None


def _has_work(row: QueueRow) -> bool:
    return row.size + row.waiting > 0 and row.state != QueueState.RETIRED
