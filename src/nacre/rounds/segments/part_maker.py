"""Makes the parts of a running unit: a background task of its session.

After a rotation of a WARC, or some minutes with new visits, the open WARCs are closed, and the
durable data are uploaded to the storage of the segment. The store of the unit forgets them only
after the manifest of the part exists; the next start detects a kill between the two.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from nacre.assembly.records import RunRecords
from nacre.core.states import ExitStatus
from nacre.errors import DamageError, StorageError
from nacre.rounds.segments.export import HostExtra, PartTables
from nacre.rounds.segments.parts import Chain, PartManifest, UnitPlace, upload_files
from nacre.rounds.storage import AlreadyThereError, Storage
from nacre.rounds.visits.unit_visits import NotAttempted, VisitFacts, given_up_hosts
from nacre.store.file_table import delete_row, file_rows, put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.uri.parse import host

if TYPE_CHECKING:
    import pyarrow as pa

_TICK = 0.5
_REMOTE = 20.0
"""Seconds between two checks for a later attempt in a remote storage."""
_CHUNK = 100
_RESUMABLE = frozenset(
    (
        ExitStatus.INTERRUPTED,
        ExitStatus.ABORTED,
        ExitStatus.DISK_WAIT,
        ExitStatus.ABNORMAL,
    )
)
_KINDS = (FileKind.WARC, FileKind.INDEX)


@dataclass(frozen=True, kw_only=True)
class PartOptions:
    """Options of the parts of a unit.

    Attributes:
        place: Files of the unit in the storage.
        attempt: The number of the attempt.
        chain: The parts that the attempt builds on.
        scratch: The scratch directory.
        mark: Mark of that directory.
        slice: Seconds after which new visits become a part.
        tables: Makes the collector of the facts of a part; its argument returns the key of a URL.
        remaining: Returns the entries (key, URL) of the list without these keys.
        tell: Receives twice a second the number of visits of the scratch directory.
    """

    place: UnitPlace
    attempt: int
    chain: Chain
    scratch: Path
    mark: str
    slice: float
    tables: Callable[[Callable[[str], str]], PartTables]
    remaining: Callable[[set[str]], Iterable[tuple[str, str]]]
    tell: Callable[[int], None]


class PartMaker:
    """A `BackgroundTask` of a unit.

    Args:
        records: The records of its session.
        facts: The facts of its visits.
        options: The options of the unit.
        reason: Returns why URLs remain whose host was not given up.

    Attributes:
        fenced: A later attempt has begun; new parts of this attempt do not count.
    """

    name = "parts"
    busy = False

    def __init__(
        self,
        records: RunRecords,
        facts: VisitFacts,
        options: PartOptions,
        reason: Callable[[], NotAttempted],
    ) -> None:
        storing, queues, context = records.storing, records.queues, records.context
        self._options, self._facts, self._reason = options, facts, reason
        self._storing, self._store, self._commit = storing, storing.store, storing.commit
        self._identity, self._hosts = queues.identity, queues.hosts
        self._queues = queues.frontier.queue_states
        self._robots = records.fetching.robots
        self._supervisor, self._clock = context.supervisor, context.clock
        self._root = context.layout.root
        self.fenced = False
        own = _own_parts(options)
        self._made = len(own)
        self._exported = 0
        self._gone: dict[int, Path] = {}
        self._making: asyncio.Future[None] | None = None
        for part in (*options.chain, *own):
            if part.scratch == options.mark:
                self._forget(part)
        self._since = self._looked = self._clock.monotonic()

    def _forget(self, part: PartManifest) -> None:
        """Remove the data of a part from the store; files are removed when that is durable."""
        self._facts.forget(part.facts)
        self._exported = max(self._exported, part.facts)
        names = {PurePosixPath(file.name).name for file in part.files}
        for number, row in list(file_rows(self._store)):
            if row.kind in _KINDS and PurePosixPath(row.final).name in names:
                # Until the file is removed the row stays: the next start knows whose file it is.
                put_row(self._store, number, msgspec.structs.replace(row, state=FileState.LOST))
                self._gone[number] = self._root / row.final

    async def _clean(self) -> None:
        """Remove files that the store has forgotten, once that is durable."""
        if self._gone:
            await self._commit.flush()
            for number, path in self._gone.items():
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()
                delete_row(self._store, number)
            self._gone.clear()

    # ---- the background task

    async def run(self) -> None:
        """Make parts until cancelled."""
        await self._clean()
        while True:
            self._report()
            await self._check_attempt()
            if self._is_due():
                # At the end of the crawl this task is cancelled: `ending` waits for the part.
                self._making = asyncio.ensure_future(self._cut(last=False))
                await asyncio.shield(self._making)
            await self._clock.sleep(_TICK)

    async def ending(self, how: ExitStatus) -> None:
        """Make the last part; if the unit is done, with the URLs that were not attempted."""
        if self._making is not None:
            await self._making
        if not self.fenced:
            await self._cut(last=how not in _RESUMABLE)
        self._report()

    def _report(self) -> None:
        self._options.tell(self._facts.next)

    async def _check_attempt(self) -> None:
        """End the unit if another attempt has begun, or a stop is requested."""
        mono, place = self._clock.monotonic(), self._options.place
        remote = place.storage.local_path("x") is None
        if remote and mono - self._looked < _REMOTE:
            return
        self._looked = mono
        latest, stops = await asyncio.to_thread(_read_signs, place)
        if latest > self._options.attempt:
            self.fenced = True
            self._supervisor.stop(ExitStatus.ABORTED)
        elif stops:
            self._supervisor.stop(ExitStatus.INTERRUPTED)

    def _is_due(self) -> bool:
        if self._facts.next == self._exported:
            self._since = self._clock.monotonic()
            return False
        if self._clock.monotonic() - self._since >= self._options.slice:
            return True
        return any(row.state is FileState.CLOSED for _, row in self._archives())

    def _archives(self) -> list[tuple[int, FileRow]]:
        return [
            (number, row)
            for number, row in file_rows(self._store)
            if row.kind in _KINDS and row.state is not FileState.LOST
        ]

    # ---- a part

    async def _cut(self, *, last: bool) -> None:
        """Make a part of all new data; a failure halfway loses nothing."""
        self._storing.rotate()
        boundary, newest = self._facts.cut(), self._store.counter("files")
        if boundary == self._exported and not last:
            return
        files = await self._closed(newest)
        tables = self._options.tables(self._identity.canonical)
        for place, fact in enumerate(self._facts.rows(boundary), 1):
            tables.take(fact)
            if place % _CHUNK == 0:
                await asyncio.sleep(0)
        given_up = given_up_hosts(self._store)
        not_attempted = await asyncio.to_thread(self._left_out, tables, given_up) if last else {}
        part = self._manifest(tables, boundary, not_attempted, last=last)
        extras = {name: self._extra(name, tables.origins[name]) for name in tables.hosts}
        sent = await asyncio.to_thread(self._send, part, tables, extras, files)
        if sent is None:
            self.fenced = True
            self._supervisor.stop(ExitStatus.ABORTED)
            return
        self._made += 1
        self._since = self._clock.monotonic()
        self._forget(sent)
        await self._clean()

    async def _closed(self, newest: int) -> list[Path]:
        """Return the WARCs and indexes up to a number, once they are closed and durable."""
        while True:
            await self._commit.flush()
            rows = [row for number, row in self._archives() if number <= newest]
            if all(row.state is FileState.CLOSED for row in rows):
                return [self._root / row.final for row in rows]

    def _manifest(
        self, tables: PartTables, boundary: int, not_attempted: dict[str, int], *, last: bool
    ) -> PartManifest:
        options = self._options
        before = options.chain[-1] if options.chain else None
        return PartManifest(
            unit=options.place.unit,
            attempt=options.attempt,
            number=self._made + 1,
            predecessor=before.attempt if before else 0,
            builds_on=before.number if before else 0,
            scratch=options.mark,
            facts=boundary,
            statuses=tables.statuses,
            bytes=tables.bytes,
            virtual=tables.virtual,
            not_attempted=not_attempted,
            last=last,
        )

    def _left_out(self, tables: PartTables, given_up: dict[str, NotAttempted]) -> dict[str, int]:
        """Add URLs of the list without an attempt; return numbers by reason. Runs in a thread."""
        fetched = fetched_keys(
            self._options.place, (*self._options.chain, *_own_parts(self._options))
        )
        fetched |= tables.keys
        default = self._reason()
        counts: dict[str, int] = {}
        rows = []
        for key, url in self._options.remaining(fetched):
            reason = given_up.get(host(url), default).value
            counts[reason] = counts.get(reason, 0) + 1
            rows.append((key, url, reason))
        tables.leave_out(rows)
        return counts

    def _send(
        self,
        part: PartManifest,
        tables: PartTables,
        extras: dict[str, HostExtra],
        files: Sequence[Path],
    ) -> PartManifest | None:
        """Write and upload a part with its manifest; None if another attempt has begun."""
        place = self._options.place
        folder = self._options.scratch / "parts" / part.name
        folder.mkdir(parents=True, exist_ok=True)
        rows = tables.write(folder, extras)
        sent = tuple(
            upload_files(
                place.storage,
                [*files, *sorted(folder.glob("*.parquet"))],
                f"{place.parts}/{part.name}",
            )
        )
        for path in folder.iterdir():
            path.unlink()
        if place.latest_attempt() > part.attempt:
            return None
        manifest = msgspec.structs.replace(part, files=sent, rows=rows)
        try:
            place.create(manifest)
        except AlreadyThereError as error:
            if place.latest_attempt() > part.attempt:
                return None
            # A failed session of this attempt has made it: the next session checks.
            raise StorageError(str(error)) from error
        return manifest

    def _extra(self, name: str, origins: Iterable[str]) -> HostExtra:
        """Return the data of a host in the store."""
        answer, robots_by_origin, row = self._hosts.latest(name), {}, None
        for origin in sorted(origins):
            robots = self._robots.last(origin)
            if robots is not None:
                robots_by_origin[origin] = robots
            row = self._queues.find(self._identity.queue(f"{origin}/")).row
        return HostExtra(
            latency=row.latency if row else 0.0,
            backoff=row.backoff if row else 1.0,
            delay=row.delay if row else 0.0,
            robots=msgspec.msgpack.encode(robots_by_origin) if robots_by_origin else None,
            answer=msgspec.msgpack.encode(answer) if answer else None,
        )


def _own_parts(options: PartOptions) -> list[PartManifest]:
    """Return the parts of the attempt itself, which exist if a session of it failed."""
    parts = options.place.manifests()
    return [part for key, part in sorted(parts.items()) if key[0] == options.attempt]


def _read_signs(place: UnitPlace) -> tuple[int, bool]:
    """Return the newest attempt, and whether a stop is requested."""
    return place.latest_attempt(), place.stops()


def fetched_keys(place: UnitPlace, chain: Iterable[PartManifest]) -> set[str]:
    """Return the keys of the visits of some parts."""
    found_keys: set[str] = set()
    for part in chain:
        name = f"{place.parts}/{part.name}/visits.parquet"
        table = read_columns(place.storage, name, ("key", "reason"))
        reasons = table.column("reason").to_pylist()
        keys = table.column("key").to_pylist()
        found_keys.update(key for key, reason in zip(keys, reasons, strict=True) if reason is None)
    return found_keys


def read_columns(storage: Storage, name: str, columns: Sequence[str]) -> "pa.Table":
    """Some columns of a Parquet file.

    Args:
        storage: The storage of the file.
        name: Name of the file.
        columns: Names of columns; missing columns are skipped.

    Raises:
        DamageError: It is no Parquet file, or truncated.
    """
    # `read_table` would import all that can read data sets of many files: 0.1 s of a unit's start.
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    path = storage.local_path(name)
    source = path if path is not None else BytesIO(storage.read(name))
    try:
        with pq.ParquetFile(source) as file:
            return file.read(columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise DamageError(
            f"{storage.place}/{name} is damaged: {error}. Put it back from a copy, or give its "
            "segment up (`segments drop SEGMENT`), so that its URLs are due again"
        ) from error
