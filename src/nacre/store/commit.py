"""Group commit: WARC bytes, rows and lines of many visits become durable as one, in order.

A visit appends its records, puts its rows and lines, and calls `visit_done`, in one step without
an await. All of it goes to the open group. `run` seals the group when it is big or old enough and
the previous commit has returned; then the writer thread and the loop thread take turns, as
`writer.py` explains. The bodies stay where they are until then.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Final, ParamSpec, TypeVar

from nacre.core.capture import Body
from nacre.core.clock import Clock
from nacre.errors import StorageError
from nacre.store.file_table import (
    FileTable,
    drop_journal,
    get_row,
    put_row,
    sync_files,
    unsynced_files,
)
from nacre.store.files import FileKind, OpenFile, encode_row, row_key
from nacre.store.seam import Disk, OperationError
from nacre.store.store import STALL, CommitGroup, Store
from nacre.store.writer import CommitWork, GroupWriter, SortIndex

VISITS: Final = 256
"""Visits that fill a group."""
BYTES: Final = 4_000_000
"""Bytes that fill a group."""
AGE: Final = 0.200
"""Age at which a group is sealed, seconds: a commit costs 1.5 ms of CPU, whatever is in it."""
PENDING: Final = 16_000_000
"""Number of bytes not yet durable at which no more URIs are handed out."""
SYNC: Final = 1.0
"""Seconds between two syncs of logs and indexes."""

P = ParamSpec("P")
R = TypeVar("R")


def sort_lines(data: bytes) -> bytes:
    """Sort the lines of an index bytewise, as readers that search by halves need them."""
    return b"".join(sorted(data.splitlines(keepends=True)))


class GroupCommit:
    """The one way in which a job's changes become durable.

    Args:
        store: The store; it must have been through `recovery.recover`.
        disk: Has the files.
        root: Directory of the job, absolute.
        clock: For the age of groups and the syncing of logs.
        sort_index: What closing an index does to its lines.

    Attributes:
        files: The files open for writing.
        committed: Visits that are durable, counted from the start of this process.
        groups: Groups that are durable, likewise.
        largest: Bytes of the largest group so far, for the reserve.
        failure: What ended it; None while all is well.
    """

    def __init__(
        self,
        store: Store,
        disk: Disk,
        root: str,
        clock: Clock,
        sort_index: SortIndex = sort_lines,
    ) -> None:
        self._store = store
        self._disk = disk
        self._clock = clock
        self.files = FileTable(store, disk, root, store.counter("epoch"))
        self.files.adopt()
        self._open_files = self.files.open
        self._engine = store.engine
        self._writer = GroupWriter(disk, self._engine, self.files, sort_index)
        self._thread: Executor = ThreadPoolExecutor(1, "nacre-writer")
        self._before_seal: list[Callable[[], None]] = []
        self._when_room: list[Callable[[], None]] = []
        self._begun = asyncio.Event()
        store.when_begun(self._begun.set)
        self._ripe = asyncio.Event()
        self._released = asyncio.Event()
        self._holds = 0
        self._finishing = False
        self._finished = False
        self._sealed: CommitGroup | None = None
        self._sealed_at = 0.0
        self._synced = clock.monotonic()
        self.committed = 0
        self.groups = 0
        self.largest = 0
        self.failure: BaseException | None = None

    @property
    def _group(self) -> CommitGroup:
        """The open group: another one after each seal."""
        return self._store.group

    # The synchronous step of a visit.

    def append(self, number: int, data: bytes | Body) -> int:
        """Add bytes to the end of a WARC.

        Args:
            number: Its number in the table of files.
            data: The bytes, or a body that is copied by the writer thread and closed then.

        Returns:
            Their offset in the file.
        """
        file = self._open_files[number]
        group = self._store.group
        size = len(data) if isinstance(data, bytes) else data.length
        offset = file.reserve(size)
        group.appends.setdefault(file, []).append(data)
        if not group.size:
            self._begun.set()
        group.size += size
        return offset

    def line(self, number: int, text: bytes) -> None:
        """Add a line, its line feed included, to the end of a log or an index."""
        group = self._store.group
        group.lines.setdefault(self._open_files[number], []).append(text)
        if not group.size:
            self._begun.set()
        group.size += len(text)

    def visit_done(self) -> None:
        """The visit is complete in the open group.

        Raises:
            StorageError: A commit has failed; drop everything and open again.
        """
        if self.failure is not None:
            raise self._failure()
        group = self._store.group
        if not group.visits:
            self._begun.set()
        group.visits += 1
        if group.visits >= VISITS or group.size >= BYTES:
            self._ripe.set()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep the open group open: steps of others may lie between those that belong together.

        If one of the steps fails, nothing is committed any more: a part of them would be durable.
        """
        self._holds += 1
        yield
        self._holds -= 1
        if not self._holds:
            self._released.set()

    def create_file(self, kind: FileKind, path: str, final: str = "") -> int:
        """Make a new file; see `FileTable.create`. Its name is durable before a batch refers to it.

        If that fails, nothing is committed any more: the open group may hold half of what
        belongs together, such as a WARC without its index.

        Raises:
            StorageError: It could not be made.
        """
        try:
            return self.files.create(kind, path, final)
        except StorageError as error:
            self._fail(error)
            raise

    def log(self, path: str) -> int:
        """Number of the open log of that name (relative to the job), made when there is none."""
        return self.files.log(path)

    def close_file(self, number: int, final: str = "") -> None:
        """End a file with the bytes of the open group; then it gets its final name.

        Args:
            number: Its number in the table of files.
            final: Final name relative to the job; "" for the one given at its making.
        """
        file = self._open_files.pop(number)
        if final:
            file.name_finally(final)
        group = self._group
        group.closing.append(file)
        self._begun.set()

    def size(self, number: int) -> int:
        """Size of a file with all that was added to it, durable or not, in bytes."""
        file = self._open_files.get(number)
        if file:
            return file.end
        row = get_row(self._store, number)
        return row.size if row else 0

    def on_seal(self, callback: Callable[[], None]) -> None:
        """Have a function called just before each seal, to put absolute counters into the group."""
        self._before_seal.append(callback)

    def when_room(self, callback: Callable[[], None]) -> None:
        """Have a function called each time that it is not `saturated` any more."""
        self._when_room.append(callback)

    @property
    def saturated(self) -> bool:
        """Whether so much waits to become durable that no more URIs should be handed out."""
        sealed = self._sealed.size if self._sealed else 0
        return self._group.size + sealed >= PENDING

    @property
    def age(self) -> float:
        """Seconds for which the group that is being written waits to be durable; 0 for none."""
        if self._sealed is None:
            return 0.0
        return max(asyncio.get_running_loop().time() - self._sealed_at, 0.0)

    # The loop that commits.

    async def run(self) -> None:
        """Commit until `finish`; one task of the job's group.

        Raises:
            StorageError: A file or store operation failed: drop everything and open again.
        """
        try:
            while not self._finishing:
                await self._wait()
                await self._turn()
            await self._drain()
            self._finished = True
        except BaseException as error:
            self._fail(error)
            raise

    async def _wait(self) -> None:
        """Wait until the group is ripe or of age, or a sync is due; for an empty one nothing is.

        A group that began while the last one was written is as old as the seal of that one.
        """
        began = self._sealed_at
        if self._group.empty:
            self._begun.clear()
            await _wait_for(self._begun, self._until_sync())
            began = asyncio.get_running_loop().time()
        if not self._group.empty:
            await _wait_for(self._ripe, began + AGE - asyncio.get_running_loop().time())

    def _until_sync(self) -> float | None:
        """Return the seconds until a sync is due; None while no file needs it."""
        if not unsynced_files(self._open_files.values()):
            return None
        return self._synced + SYNC - self._clock.monotonic()

    async def _turn(self) -> None:
        self._ripe.clear()
        while self._holds:
            self._released.clear()
            await self._released.wait()
        if not self._group.empty:
            await self._commit()
        if self._clock.monotonic() - self._synced >= SYNC:
            await self._sync()

    async def _drain(self) -> None:
        """Everything becomes durable, the lines in their files too."""
        while not self._group.empty or unsynced_files(self._open_files.values()):
            await self._commit()
            await self._sync()

    async def _commit(self) -> None:
        if self.failure is not None or self._holds:
            raise self._failure()
        work = self._seal()
        if work.announced:
            await self.in_writer(self._writer.name, work)
            await self._write({"meta": _announcement(work)})
            await self.in_writer(self._engine.flush_wal)
        await self.in_writer(self._writer.before, work)
        await self._write(work.group.rows)
        self._store.settle()
        self._acknowledge(work, await self.in_writer(self._writer.after, work))

    def _seal(self) -> CommitWork:
        for callback in self._before_seal:
            callback()
        work = CommitWork(self._store)
        self._sealed = work.group
        self._sealed_at = asyncio.get_running_loop().time()
        self.largest = max(self.largest, work.group.size)
        return work

    async def _write(self, rows: dict[str, dict[bytes, bytes | None]]) -> None:
        while not self._engine.write(rows):
            await self._clock.sleep(STALL)

    def _acknowledge(self, work: CommitWork, ended: dict[OpenFile, int]) -> None:
        was_saturated = self.saturated
        self._sealed = None
        if was_saturated and not self.saturated:
            for callback in self._when_room:
                callback()
        self.committed += work.group.visits
        self.groups += 1
        for file, size in ended.items():
            self._end_file(file, size)
        _wake(work.group)

    def _end_file(self, file: OpenFile, size: int) -> None:
        """Note in the next group that an index or log is complete on disk; it may drop the rest."""
        group = self._store.group
        path, final = self.files.absolute(file.row.path), self.files.absolute(file.row.final)
        file.note_size(size)
        file.close()
        put_row(self._store, file.number, file.row)
        for key in file.waiting:
            self._store.delete("journal", key)
        if file.row.kind == FileKind.INDEX:
            group.obsolete.append(path)
        else:
            group.renames.append((path, final))

    async def _sync(self) -> None:
        self._synced = self._clock.monotonic()
        work = unsynced_files(self._open_files.values())
        if work:
            await self.in_writer(sync_files, self._disk, work)
            drop_journal(self._store, work)

    # Waiting for it.

    async def durable(self) -> None:
        """Return when everything added so far is durable.

        Raises:
            StorageError: It will not be; drop everything and open again.
        """
        if self.failure is not None or self._finished:
            raise self._failure()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        group = self._group
        group.waiters.append(waiter)
        self._begun.set()
        await waiter

    async def flush(self) -> None:
        """`durable`, but seal now instead of when the group is ripe."""
        self._ripe.set()
        await self.durable()

    def finish(self) -> None:
        """Let `run` commit everything, sync all files and return."""
        self._finishing = True
        self._begun.set()
        self._ripe.set()

    async def in_writer(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function in the writer thread, after those that it was given before.

        Raises:
            StorageError: The job has finished.
        """
        loop = asyncio.get_running_loop()
        try:
            future = loop.run_in_executor(self._thread, lambda: work(*args, **kwargs))
        except RuntimeError as error:  # `close` has given the thread back
            raise self._failure() from error
        return await future

    @property
    def suspects(self) -> frozenset[str]:
        """Files whose fsync failed: recovery must not trust them to a second one."""
        error = self.failure
        if isinstance(error, OperationError) and error.operation == "fdatasync":
            return frozenset([error.path])
        return frozenset()

    def close(self) -> None:
        """Release the handles and the thread; uncommitted data is dropped."""
        self._thread.shutdown(wait=True)
        self.files.close()
        for group in (self._sealed, self._store.group):
            if group:
                group.close_bodies()

    def _fail(self, error: BaseException) -> None:
        self.failure = error
        for group in (self._sealed, self._store.group):
            if group:
                _wake(group, self._failure())

    def _failure(self) -> StorageError:
        if isinstance(self.failure, StorageError):
            return self.failure
        reason = repr(self.failure) if self.failure else "the job has finished"
        return StorageError(f"Nothing can be committed any more: {reason}.")


async def _wait_for(event: asyncio.Event, seconds: float | None) -> None:
    """Wait for an event, for some seconds at most; None for any time."""
    if seconds is None or seconds > 0:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()


def _announcement(work: CommitWork) -> dict[bytes, bytes | None]:
    return {row_key(number): encode_row(row) for number, row in work.announced}


def _wake(group: CommitGroup, error: StorageError | None = None) -> None:
    waiters, group.waiters = group.waiters, []
    for waiter in waiters:
        if waiter.done():
            continue
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)
