"""`archive.outbackcdx`: the index of each closed WARC is posted to an OutbackCDX server.

It goes on beside the crawl, and never holds it up. A server that is away is tried again, at the
next start too. What it has is known for each collection (`pushed_indexes.py`), so that another one
gets everything. A rebuilt index replaces the lines of the former index on the server. Lines of
indexes that are gone here are deleted there on request, and when `nacre archive DIR delete` deletes
their WARCs. Lines sent twice are the same
captures.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol

from nacre.archive.settings import WarcSettings
from nacre.core.clock import Clock
from nacre.core.states import JobState
from nacre.errors import StorageError
from nacre.job.background.pushed_indexes import (
    ClosedIndex,
    PushedIndexes,
    cdx_lines,
    closed_indexes,
    portions,
    shared_directories,
)
from nacre.job.background.webhooks import LONGEST_WAIT, DeliveryError, post
from nacre.job.session import Session
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.runs.runs import keep_notes
from nacre.settings.settings import JobSettings

LOOK = 5.0
"""Seconds between two looks for closed WARCs."""
PATIENCE = 60.0
"""Seconds that a server has for a request."""
AT_THE_END = 10.0
"""Seconds for the last indexes when the job ends."""
_FIELDS = {"Content-Type": "text/plain; charset=utf-8"}
_DELETE = "/delete"


class PushCounts(NamedTuple):
    """The numbers of a push.

    Attributes:
        files: Indexes that the server took, or that were deleted there.
        lines: Captures in them.
    """

    files: int
    lines: int


async def push_index(index: ClosedIndex, record: PushedIndexes, url: str) -> int:
    """Post the lines of an index, and delete those of a former content; the number of its lines.

    Args:
        index: Facts of a closed index.
        record: What the server has.
        url: The collection.

    Raises:
        DeliveryError: The server takes them not.
        OSError: The index or the record cannot be read or written.
        StorageError: The index cannot be fetched.
    """
    path = await asyncio.to_thread(index.bring)
    old = await asyncio.to_thread(_replaced, record, index.name, path)
    if old:
        # Noted first: after a kill it is still known what the server may have.
        await asyncio.to_thread(record.keep, index.name, chain(cdx_lines(path), old))
        await _send(url + _DELETE, old)
    else:
        await asyncio.to_thread(record.keep, index.name, cdx_lines(path))
    number = await _send(url, cdx_lines(path))
    if old:
        await asyncio.to_thread(record.keep, index.name, cdx_lines(path))
    await asyncio.to_thread(record.add, index)
    return number


def _replaced(record: PushedIndexes, name: str, path: Path) -> list[str]:
    """The lines of the former content of an index that it has no more."""
    old = set(record.lines(name))
    if old:
        old.difference_update(cdx_lines(path))
    return sorted(old)


async def _send(url: str, lines: Iterable[str]) -> int:
    """Post lines in portions; their number."""
    number, every = 0, portions(lines)
    while portion := await asyncio.to_thread(next, every, None):
        await post(url, "".join(f"{line}\n" for line in portion).encode(), _FIELDS, PATIENCE)
        number += len(portion)
    return number


async def push_missing(
    indexes: Sequence[ClosedIndex], layout: Layout, url: str, tell: Callable[[str], None]
) -> PushCounts:
    """Post the indexes that a server lacks.

    Args:
        indexes: Those of the archive.
        layout: The job.
        url: The collection.
        tell: Called with each file.

    Raises:
        DeliveryError: The server rejects a post. The earlier posts are remembered.
        OSError: A file cannot be read or written.
        StorageError: An index cannot be fetched.
    """
    files = lines = 0
    record = await asyncio.to_thread(PushedIndexes, layout, url)
    for index in indexes:
        if not record.has(index):
            number = await push_index(index, record, url)
            files, lines = files + 1, lines + number
            tell(f"{index.name}: {number}")
    return PushCounts(files, lines)


def gone_indexes(indexes: Sequence[ClosedIndex], layout: Layout, url: str) -> list[str]:
    """The indexes that a server may have lines of and the archive has not any more; it blocks.

    Args:
        indexes: Those of the archive.
        layout: The job.
        url: The collection.
    """
    here = {index.name for index in indexes}
    return [name for name in PushedIndexes(layout, url).possible_names() if name not in here]


async def withdraw(
    indexes: Sequence[ClosedIndex],
    layout: Layout,
    settings: WarcSettings,
    tell: Callable[[str], None],
    names: Collection[str] | None = None,
) -> PushCounts:
    """Delete from a server the captures of indexes that the archive has not any more.

    Older versions of OutbackCDX know one capture of a URL and second: what other indexes have of
    the same URL and second is posted once more.

    Args:
        indexes: Those of the archive.
        layout: The job.
        settings: Where the archive is, and the collection.
        tell: Called with each file.
        names: Only of these indexes; None for all that are gone.

    Raises:
        StorageError: A directory of the archive is not there, so that all in it would seem gone.
        DeliveryError: The server takes something not.
        OSError: A file cannot be read or written.
    """
    if away := await asyncio.to_thread(_away, settings.directories):
        raise StorageError(
            message(
                "job.archive-directories",
                "{away} (archive.directories) is not there, so that nothing is deleted at the "
                "server: mount it, or take it out of the settings",
                away=away[0],
            )
        )
    url, files, lines = settings.outbackcdx, 0, 0
    record = await asyncio.to_thread(PushedIndexes, layout, url)
    for name in await asyncio.to_thread(gone_indexes, indexes, layout, url):
        if names is not None and name not in names:
            continue
        number = await _send(url + _DELETE, record.lines(name))
        await _send(url, await asyncio.to_thread(_shared, record, name))
        await asyncio.to_thread(record.forget, name)
        files, lines = files + 1, lines + number
        tell(f"{name}: {number}")
    return PushCounts(files, lines)


async def follow_deletion(
    layout: Layout, settings: WarcSettings, deleted: Collection[str], joined: Collection[str]
) -> PushCounts:
    """Delete from a server the captures of deleted indexes, and post those that joined the job.

    Args:
        layout: The job.
        settings: Where the archive is, and the collection.
        deleted: Names of the deleted indexes.
        joined: Names of the indexes that joined.

    Returns:
        The numbers of the deletion.

    Raises:
        StorageError: See `withdraw`.
        DeliveryError: The server takes something not.
        OSError: A file cannot be read or written.
    """
    indexes = await asyncio.to_thread(closed_indexes, layout, settings.directories)
    new = [index for index in indexes if index.name in joined]
    await push_missing(new, layout, settings.outbackcdx, _ignore)
    return await withdraw(indexes, layout, settings, _ignore, deleted)


def _ignore(_line: str) -> None:
    """Ignore the progress."""


def _away(directories: tuple[str, ...]) -> list[str]:
    return [
        directory for directory in shared_directories(directories) if not Path(directory).is_dir()
    ]


def _shared(record: PushedIndexes, name: str) -> list[str]:
    """The lines of other indexes with the URL and second of a line of this one."""
    gone = {_moment(line) for line in record.lines(name)}
    other_indexes = (index for index in record.possible_names() if index != name)
    return [
        line for index in other_indexes for line in record.lines(index) if _moment(line) in gone
    ]


def _moment(line: str) -> tuple[str, ...]:
    return tuple(line.split(" ", 2)[:2])


class PushingJob(Protocol):
    """The part of a job that the pusher needs."""

    layout: Layout
    settings: JobSettings
    session: Session | None

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


class IndexPusher:
    """It posts the indexes of one job, in their order.

    Args:
        job: The job; its settings may change while it runs.
    """

    def __init__(self, job: PushingJob) -> None:
        self._job = job
        self._failures = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Post indexes while the block runs, and the last ones for some seconds after it."""
        try:
            async with asyncio.TaskGroup() as group:
                pushing = group.create_task(self._push_all(), name="outbackcdx")
                try:
                    yield
                finally:
                    pushing.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the job's own: pushing raises nothing
        await self._push_last()

    @property
    def _settings(self) -> WarcSettings:
        """The settings as they are now: those of a running job may have been changed."""
        session = self._job.session
        return (self._job.settings if session is None else session.settings).archive

    @property
    def _url(self) -> str:
        return self._settings.outbackcdx

    async def _push_all(self) -> None:
        while True:
            wait = LOOK
            if self._url and not await self._push(self._url):
                wait = min(2.0 ** min(self._failures, 6), LONGEST_WAIT)
            await self._job.clock.sleep(wait)

    async def _push(self, url: str) -> bool:
        """Post all that the server has not yet; False where it does not take one."""
        try:
            return await self._post_missing(url)
        except Exception as error:  # noqa: BLE001 - a bug here is not the end of a crawl
            self._failures += 1
            self._note(f"an error, it is tried again: {type(error).__name__}: {error}")
            return False

    async def _post_missing(self, url: str) -> bool:
        layout, settings = self._job.layout, self._settings
        record = await asyncio.to_thread(PushedIndexes, layout, url)
        indexes = await asyncio.to_thread(closed_indexes, layout, settings.directories)
        for index in indexes:
            if record.has(index):
                continue
            try:
                await push_index(index, record, url)
            except (DeliveryError, OSError) as error:
                self._failures += 1
                if self._failures == 1:
                    self._note(f"{index.name} was not taken, it is tried again: {error}")
                return False
            if self._failures:
                self._note(f"the server takes indexes again, after {self._failures} failures")
            self._failures = 0
        return True

    async def _push_last(self) -> None:
        """Push the last indexes, for some seconds; the next start pushes those that remain."""
        url = self._url
        if not url:
            return
        is_complete = False
        with suppress(TimeoutError):
            async with asyncio.timeout(AT_THE_END):
                is_complete = await self._push(url)
        if not is_complete:
            self._note("the server has not taken all indexes; `nacre archive DIR push` goes on")

    def _note(self, text: str) -> None:
        """In job.log; in that of the next start where this one is closed."""
        session, line = self._job.session, f"outbackcdx: {text}"
        if session is not None and session.state is not JobState.FINISHED:
            session.logs.job(line)
            return
        with suppress(OSError):
            keep_notes(self._job.layout, [line])
