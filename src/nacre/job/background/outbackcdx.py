"""`archive.outbackcdx`: the index of each closed WARC is posted to an OutbackCDX server.

It goes on beside the crawl, and never holds it up. What a server has taken is a line of
`state/outbackcdx`; a server that is away is tried again, at the next start too. Lines that are sent
twice are the same captures there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

from nacre.archive.cdx11 import cdx11_line
from nacre.archive.settings import WarcSettings
from nacre.core.clock import Clock
from nacre.core.states import JobState
from nacre.job.background.webhooks import LONGEST_WAIT, DeliveryError, post
from nacre.job.session import Session
from nacre.runs.runs import keep_notes, run_archives
from nacre.settings.settings import JobSettings
from nacre.store.layout import Layout

LOOK = 5.0
"""Seconds between two looks for closed WARCs."""
PORTION = 5_000
"""Lines of one request."""
PATIENCE = 60.0
"""Seconds that a server has for a request."""
AT_THE_END = 10.0
"""Seconds that are left for what waits when the job ends."""
_FILE = "outbackcdx"
_FIELDS = {"Content-Type": "text/plain; charset=utf-8"}


class ClosedIndex(NamedTuple):
    """The index of a closed WARC.

    Attributes:
        path: The file with its lines of CDXJ.
        name: Its name, by which it is remembered.
    """

    path: Path
    name: str


class PushedIndexes:
    """The record of which indexes a server has.

    Args:
        layout: The job.
        url: The collection.
    """

    def __init__(self, layout: Layout, url: str) -> None:
        self._path = layout.state / _FILE
        self._url = url
        text = ""
        with suppress(OSError):
            text = self._path.read_text("utf-8")
        self._known = {line for line in text.splitlines() if line.startswith(f"{url} ")}

    def has(self, index: ClosedIndex) -> bool:
        """Whether the server has an index."""
        return f"{self._url} {index.name}" in self._known

    def add(self, index: ClosedIndex) -> None:
        """Note that the server has it.

        Raises:
            OSError: The file cannot be written.
        """
        line = f"{self._url} {index.name}"
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        self._known.add(line)


def taken_indexes(layout: Layout) -> frozenset[str]:
    """The names of the indexes that a server has taken, whichever it was; it blocks.

    Args:
        layout: The job.
    """
    text = ""
    with suppress(OSError):
        text = (layout.state / _FILE).read_text("utf-8")
    return frozenset(line.rpartition(" ")[2] for line in text.splitlines())


def closed_indexes(layout: Layout, directories: tuple[str, ...]) -> list[ClosedIndex]:
    """The indexes of all closed WARCs of a job, by their names; it blocks.

    Args:
        layout: The job.
        directories: `archive.directories`.
    """
    folders = {layout.root / folder for folder in run_archives(layout, directories)}
    folders |= {Path(one) for one in directories if Path(one).is_absolute() and "$" not in one}
    found = [
        ClosedIndex(path, path.name)
        for folder in folders
        if folder.is_dir()
        for path in folder.glob("*.cdxj")
    ]
    return sorted(found, key=lambda index: index.name)


async def push_index(index: ClosedIndex, url: str) -> int:
    """Post the lines of an index; their number.

    Raises:
        DeliveryError: The server takes them not.
        OSError: The index cannot be read.
    """
    number = 0
    with index.path.open(encoding="utf-8", errors="replace") as file:
        lines = filter(None, map(cdx11_line, file))
        while portion := await asyncio.to_thread(_portion, lines):
            body = "".join(f"{line}\n" for line in portion).encode()
            await post(url, body, _FIELDS, PATIENCE)
            number += len(portion)
    return number


def _portion(lines: Iterator[str]) -> list[str]:
    return list(islice(lines, PORTION))


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
        """Post while the block runs, and what is left for some seconds after it."""
        try:
            async with asyncio.TaskGroup() as group:
                pushing = group.create_task(self._push_all(), name="outbackcdx")
                try:
                    yield
                finally:
                    pushing.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the job's own: pushing raises nothing
        await self._rest()

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
        pushed = await asyncio.to_thread(PushedIndexes, layout, url)
        found = await asyncio.to_thread(closed_indexes, layout, settings.directories)
        for index in found:
            if pushed.has(index):
                continue
            try:
                await push_index(index, url)
                pushed.add(index)
            except (DeliveryError, OSError) as error:
                self._failures += 1
                if self._failures == 1:
                    self._note(f"{index.name} was not taken, it is tried again: {error}")
                return False
            if self._failures:
                self._note(f"the server takes indexes again, after {self._failures} failures")
            self._failures = 0
        return True

    async def _rest(self) -> None:
        """The last files have some seconds; the next start goes on with what is left."""
        url = self._url
        if not url:
            return
        done = False
        with suppress(TimeoutError):
            async with asyncio.timeout(AT_THE_END):
                done = await self._push(url)
        if not done:
            self._note("the server has not taken all indexes; `nacre archive DIR push` goes on")

    def _note(self, text: str) -> None:
        """In job.log; in that of the next start where this one is closed."""
        session, line = self._job.session, f"outbackcdx: {text}"
        if session is not None and session.state is not JobState.FINISHED:
            session.logs.job(line)
            return
        with suppress(OSError):
            keep_notes(self._job.layout, [line])


async def push_job(
    layout: Layout, settings: JobSettings, tell: Callable[[str], None]
) -> tuple[int, int]:
    """Post what the server of a job that does not run lacks: files and lines.

    Args:
        layout: The job.
        settings: Its settings, with `archive.outbackcdx`.
        tell: Called with each file.

    Raises:
        DeliveryError: The server takes one not; what was posted before is remembered.
        OSError: A file cannot be read or written.
    """
    url, files, lines = settings.archive.outbackcdx, 0, 0
    pushed = PushedIndexes(layout, url)
    for index in closed_indexes(layout, settings.archive.directories):
        if not pushed.has(index):
            number = await push_index(index, url)
            pushed.add(index)
            files, lines = files + 1, lines + number
            tell(f"{index.name}: {number}")
    return files, lines
