"""Opens a job that does not run: to change its frontier, or to salvage captures.

`salvage` registers captures that the store does not know, after it was restored from a copy or lost
its log. The start registers their files and marks unknown captures in the same batch; then each
capture gets its outcome, history, digest, counters, links and line in crawl.log. So nothing is
crawled twice and nothing that was found is forgotten. It may be cut off at any point: the marks
stay, and the next start of any kind continues.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nacre.archive.index import sort_index
from nacre.core.events import Events
from nacre.core.states import ExitStatus
from nacre.engine.readback import CaptureReader
from nacre.engine.rights_book import RightsRows
from nacre.errors import JobError
from nacre.inspect.stored_job import require_store
from nacre.job.frontier_edits import FrontierEditor
from nacre.job.job import Job
from nacre.job.salvaged import mark_salvaged
from nacre.job.session import Session
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.runs.runs import read_run, run_archives
from nacre.settings.settings import JobSettings
from nacre.store.commit import GroupCommit
from nacre.store.file_table import file_rows, put_row
from nacre.store.files import FileKind, FileRow
from nacre.store.recovery import StartOptions, Tail, recover
from nacre.store.store import Store


@asynccontextmanager
async def open_stopped(
    layout: Layout, settings: JobSettings, *, new: bool = False
) -> AsyncIterator[FrontierEditor]:
    """Change the frontier of a job that does not run; durable when the block ends.

    The start does what every start does first (`store.recovery`); nothing is fetched.

    Args:
        layout: The job's directories.
        settings: Its settings.
        new: The job need not have run: its first run begins, with its first seeds.

    Raises:
        JobError: It never ran, or its run is over and does not wait for URIs
            (`engine.run_while_empty`).
        StorageError: The store is in use or cannot be written.
    """
    if not new:
        require_store(layout)
    async with _open(Job(layout.root, settings)) as session:
        is_finished = session.run_row.exit is ExitStatus.FINISHED
        if session.run_row.closed or (is_finished and not settings.engine.run_while_empty):
            raise JobError(
                message(
                    "job.run-of-is-over",
                    "the run of {name} is over: recrawl it",
                    name=layout.root.name,
                )
            )
        async with _committing(session.storing.commit):
            yield session.editor
            if is_finished and not session.frontier.is_empty:
                session.reopen()


@asynccontextmanager
async def _open(job: Job) -> AsyncIterator[Session]:
    """Open a session that crawls nothing."""
    guard = await job.guard()
    session = Session(job.layout, job.settings, job.disk, job.clock, Events())
    try:
        session.open(guard, job.seeds, StartOptions())
        session.keep_run()
        yield session
    finally:
        await session.close()


@asynccontextmanager
async def _committing(commit: GroupCommit) -> AsyncIterator[None]:
    """Commit while the block runs; all of it is durable when it ends."""
    async with asyncio.TaskGroup() as group:
        group.create_task(commit.run(), name="commit")
        try:
            yield
        finally:
            commit.finish()


class SalvageResult(NamedTuple):
    """The result of a salvage.

    Attributes:
        files: WARCs that held something unknown.
        captures: Captures registered.
        moved: What was not a capture and went to `lost+found/`.
    """

    files: int
    captures: int
    moved: tuple[str, ...]


def salvage(layout: Layout, settings: JobSettings) -> SalvageResult:
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
    result = _take_over(job)
    asyncio.run(_register(job))
    return result


def _take_over(job: Job) -> SalvageResult:
    """Make the start that every job makes, but keep what the store does not know."""
    files, captures = 0, 0
    layout, settings = job.layout, job.settings
    with Store.open(str(layout.store), memory=settings.store.memory) as store:

        def take(tail: Tail) -> int:
            nonlocal files, captures
            reader = CaptureReader(Path(tail.path), tail.start, tail.end)
            # The preferences of what is salvaged are not known: `nacre rights JOB --rebuild`.
            rights = RightsRows(store)
            rights.record_since(None)
            for capture in reader:
                if capture.url.startswith(("http://", "https://")):
                    rights.end_versions(capture.url, capture.mime, capture.date)
            mark_salvaged(store, tail, reader.end)
            files += 1
            captures += reader.count
            return reader.end

        _take_logs(store, job)
        archives = run_archives(layout, settings.archive.directories)
        start = StartOptions(archives=archives, sort_index=sort_index, salvage=take)
        recovered = recover(store, job.disk, str(layout.root), start)
    # The indexes of files that it did not know are made again.
    moved = tuple(path for path in recovered.moved if ".cdxj" not in PurePosixPath(path).suffixes)
    return SalvageResult(files, captures, moved)


def _take_logs(store: Store, job: Job) -> None:
    """Continue logs of the run that lost groups had begun, instead of starting new ones."""
    run = read_run(store)
    if run is None:
        return
    stored_paths = {row.path for _, row in file_rows(store)}
    for name in job.disk.list(str(job.layout.run(run.name) / "logs")):
        path = f"runs/{run.name}/logs/{name}"
        if path not in stored_paths:
            number = store.counter("files") + 1
            store.set_counter("files", number)
            put_row(store, number, FileRow(FileKind.LOG, path, path))


async def _register(job: Job) -> None:
    """Register the captures; nothing is fetched."""
    async with _open(job) as session, _committing(session.storing.commit):
        await session.repair()
