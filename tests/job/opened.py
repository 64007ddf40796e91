"""A job that is open and commits, but fetches nothing: for what works on its store and files."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from nacre.fetch.guard import AddressGuard
from nacre.job.clock import SystemClock
from nacre.job.configuration.settings import JobSettings
from nacre.job.events import Event, Events
from nacre.job.layout import Layout
from nacre.job.seeding.seeds import Entry, read_seeds
from nacre.job.session import Session
from nacre.store.disk import RealDisk
from nacre.store.recovery import Start


@asynccontextmanager
async def opened(
    root: Path,
    settings: JobSettings | None = None,
    seeds: Sequence[str] = ("http://a.test/",),
    heard: list[Event] | None = None,
) -> AsyncIterator[Session]:
    """Open a session, commit while the block runs, and close it."""
    events = Events()
    if heard is not None:
        events.subscribe(heard.append)

    def entries() -> Iterator[Entry]:
        return read_seeds(seeds)

    session = Session(Layout(root), settings or JobSettings(), RealDisk(), SystemClock(), events)
    try:
        session.open(AddressGuard(), entries, Start())
        async with asyncio.TaskGroup() as group:
            group.create_task(session.parts.commit.run())
            try:
                yield session
            finally:
                session.parts.commit.finish()
    finally:
        await session.close()


def log_of(session: Session, name: str = "job.log") -> str:
    """The text of a log of a session that is closed."""
    return (session.directory / "logs" / name).read_text()
