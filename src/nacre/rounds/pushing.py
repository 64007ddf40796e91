"""The indexes of WARCs of batch rounds, for an OutbackCDX server (`archive.outbackcdx`).

Only indexes of the newest version are pushed: a part that no version lists may still be dropped.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from nacre.errors import StorageError
from nacre.job.background.outbackcdx import PushCounts, push_missing
from nacre.job.background.pushed_indexes import ClosedIndex, closed_indexes
from nacre.job.background.webhooks import DeliveryError
from nacre.machine.layout import Layout
from nacre.machine.local_files import HeldFolder
from nacre.rounds.storage import localize
from nacre.rounds.tables.versions import ARCHIVE, Cycle
from nacre.settings.settings import JobSettings

LONGEST_PUSH = 60.0
"""Seconds that a step of rounds waits for the server."""


@contextmanager
def archived_indexes(layout: Layout, settings: JobSettings) -> Iterator[Sequence[ClosedIndex]]:
    """Yield all indexes of a job, of runs and of rounds; blocks.

    Args:
        layout: The job.
        settings: Its settings.

    Raises:
        JobError: The versions of its rounds cannot be read.
        StorageError: The storage of its rounds cannot be opened.
        OSError: A directory cannot be read.
    """
    indexes = closed_indexes(layout, settings.archive.directories)
    if not layout.in_rounds:
        yield indexes
        return
    folder = HeldFolder("push")
    try:
        cycle = Cycle.open(layout.root, settings.cycle.storage)
        yield [*indexes, *_round_indexes(cycle, folder.path)]
    finally:
        folder.close()


def _round_indexes(cycle: Cycle, scratch: Path) -> list[ClosedIndex]:
    files = cycle.files(cycle.newest(), ARCHIVE)
    return [
        ClosedIndex(
            file.path.rpartition("/")[2],
            file.sha256,
            partial(localize, cycle.storage, file.path, scratch),
        )
        for file in files
        if file.kind == "cdxj"
    ]


def push_rounds(
    layout: Layout, settings: JobSettings, tell: Callable[[str], None]
) -> PushCounts | None:
    """Post the indexes that the server lacks after a step; None if it did not take all.

    Rounds continue nevertheless: the next step tries again, and so does `nacre archive DIR push`.

    Args:
        layout: The job.
        settings: Its settings; without `archive.outbackcdx` nothing is posted.
        tell: Called with a line of why the server did not take all.
    """
    if not settings.archive.outbackcdx:
        return PushCounts(0, 0)

    async def push(indexes: Sequence[ClosedIndex]) -> PushCounts:
        async with asyncio.timeout(LONGEST_PUSH):
            return await push_missing(
                indexes, layout, settings.archive.outbackcdx, lambda _line: None
            )

    try:
        with archived_indexes(layout, settings) as indexes:
            return asyncio.run(push(indexes))
    except TimeoutError:
        reason = f"it took longer than {LONGEST_PUSH:.0f} s"
    except (DeliveryError, StorageError, OSError) as error:
        reason = str(error)
    tell(f"outbackcdx: the server has not taken all indexes, it is tried again: {reason}")
    return None
