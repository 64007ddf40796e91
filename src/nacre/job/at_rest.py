"""A job that does not run, with all its parts: to change its frontier."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nacre.errors import JobError
from nacre.job.assemble import Parts
from nacre.job.configuration.settings import JobSettings
from nacre.job.events import Events
from nacre.job.job import Job
from nacre.job.layout import Layout
from nacre.job.runs.runs import read_run
from nacre.job.session import Session
from nacre.job.stored import require_store
from nacre.store.recovery import Start


@asynccontextmanager
async def changing(
    layout: Layout, settings: JobSettings, *, new: bool = False
) -> AsyncIterator[Parts]:
    """Change the frontier of a job that does not run; durable when the block ends.

    The start does what every start does first (`store.recovery`); nothing is fetched.

    Args:
        layout: The job's directories.
        settings: Its settings.
        new: The job need not have run: its first run begins, with its first seeds.

    Raises:
        JobError: It never ran, or its run is over.
        StorageError: The store is in use or cannot be written.
    """
    if not new:
        require_store(layout)
    job = Job(layout.root, settings)
    guard = await job.guard()
    session = Session(layout, settings, job.disk, job.clock, Events())
    try:
        session.open(guard, job.seeds, Start())
        parts = session.parts
        run = read_run(parts.store)
        if run is not None:
            session.run_row = run
        if run is None or run.exit == "FINISHED":
            raise JobError(f"the run of {layout.root} is over: nothing waits in its frontier")
        async with asyncio.TaskGroup() as group:
            group.create_task(parts.commit.run(), name="commit")
            try:
                yield parts
            finally:
                parts.commit.finish()
    finally:
        await session.close()
