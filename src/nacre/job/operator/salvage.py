"""Captures that the store does not know: after it was restored from a copy, or lost its log.

First the start takes their files over, and marks what was unknown in the same batch. Then each
capture is registered as if it had just been made: outcome, history, digest, counters, its row in
the queue, its links (the metadata record holds them), its line in crawl.log if that was lost too.
So nothing is crawled twice, and nothing that was found is forgotten. It may be cut off at any
point: the marks stay until all is done, and the next start of any kind goes on with it.
"""

import asyncio
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nacre.archive.cdxj import sorted_index
from nacre.job.configuration.settings import JobSettings
from nacre.job.events import Events
from nacre.job.holdings.readback import CaptureReader
from nacre.job.job import Job
from nacre.job.layout import Layout
from nacre.job.mending.mending import mend
from nacre.job.mending.salvaged import mark
from nacre.job.runs.runs import read_run, run_archives
from nacre.job.session import Session
from nacre.job.stored import require_store
from nacre.store.files import FileKind, FileRow
from nacre.store.recovery import Start, Tail, recover
from nacre.store.store import Store
from nacre.store.table import file_rows, put_row


class Salvaged(NamedTuple):
    """What a salvage came to.

    Attributes:
        files: WARCs that held something unknown.
        captures: Captures registered.
        moved: What was no capture and went to `lost+found/`.
    """

    files: int
    captures: int
    moved: tuple[str, ...]


def salvage(layout: Layout, settings: JobSettings) -> Salvaged:
    """Bring a stopped job's store up to its archive.

    Raises:
        JobError: It never ran.
        StorageError: It runs, or a file cannot be read or written; DamageError when committed data
            is missing as well.
    """
    if not run_archives(layout, settings.archive.directories):
        require_store(layout)
    layout.require()
    job = Job(layout.root, settings)
    taken = _take_over(job)
    asyncio.run(_register(job))
    return taken


def _take_over(job: Job) -> Salvaged:
    """Make the start that every job makes, but keep what the store does not know."""
    files, captures = 0, 0
    with Store.open(str(job.layout.store), memory=job.settings.store.memory) as store:

        def take(tail: Tail) -> int:
            nonlocal files, captures
            reader = CaptureReader(Path(tail.path), tail.start, tail.end)
            for _ in reader:
                pass
            mark(store, tail, reader.end)
            files += 1
            captures += reader.count
            return reader.end

        _take_logs(store, job)
        archives = run_archives(job.layout, job.settings.archive.directories)
        start = Start(archives=archives, sort_index=sorted_index, salvage=take)
        recovered = recover(store, job.disk, str(job.layout.root), start)
    # The indexes of files that it did not know are made again.
    moved = tuple(path for path in recovered.moved if ".cdxj" not in PurePosixPath(path).suffixes)
    return Salvaged(files, captures, moved)


def _take_logs(store: Store, job: Job) -> None:
    """Logs of the run that lost groups had begun go on, instead of beginning anew."""
    run = read_run(store)
    if run is None:
        return
    known = {row.path for _, row in file_rows(store)}
    for name in job.disk.list(str(job.layout.run(run.name) / "logs")):
        path = f"runs/{run.name}/logs/{name}"
        if path not in known:
            number = store.counter("files") + 1
            store.set_counter("files", number)
            put_row(store, number, FileRow(FileKind.LOG, path, path))


async def _register(job: Job) -> None:
    """Register what was taken over; nothing is fetched."""
    guard = await job.guard()
    session = Session(job.layout, job.settings, job.disk, job.clock, Events())
    try:
        session.open(guard, job.seeds, Start())
        parts = session.parts
        session.run_row = read_run(parts.store) or session.run_row
        async with asyncio.TaskGroup() as group:
            group.create_task(parts.commit.run(), name="commit")
            try:
                await mend(parts, job.disk)
            finally:
                parts.commit.finish()
    finally:
        await session.close()
