"""A job that is open and commits, but fetches nothing: for what works on its store and files."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from nacre.core.clock import Clock
from nacre.core.events import Event, Events
from nacre.fetch.guard import AddressGuard
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.scope.seeds import Entry, read_seeds
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.recovery import StartOptions


@asynccontextmanager
async def opened(
    root: Path,
    settings: JobSettings | None = None,
    seeds: Sequence[str] = ("http://a.test/",),
    heard: list[Event] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Session]:
    """Open a session, commit while the block runs, and close it."""
    events = Events()
    if heard is not None:
        events.subscribe(heard.append)

    def entries() -> Iterator[Entry]:
        return read_seeds(seeds)

    time = clock or SystemClock()
    session = Session(Layout(root), settings or JobSettings(), RealDisk(), time, events)
    try:
        session.open(AddressGuard(), entries, StartOptions())
        async with asyncio.TaskGroup() as group:
            group.create_task(session.storing.commit.run())
            try:
                yield session
            finally:
                session.storing.commit.finish()
    finally:
        await session.close()


def log_of(session: Session, name: str = "job.log") -> str:
    """The text of a log of a session that is closed."""
    return (session.directory / "logs" / name).read_text()
