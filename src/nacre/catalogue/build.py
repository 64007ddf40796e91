"""Builds the catalogue of a member from its indexes: `python -m nacre.catalogue.build JOB`.

It is a process with the lowest priority, beside a crawl or after it; a short update can run in a
reader process, too. A closed index is read once, an open index from where the last update ended.
A kill loses nothing that was committed, and the next update resumes there. The database is deleted
and made again if it does not agree with the indexes: another size or time of a closed index, an
index that is gone, an open index that is not the one that was read.
"""

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from nacre.catalogue.captures import LONGEST_LINE, IndexedCapture, read_capture
from nacre.catalogue.holdings import Member, catalogue_folder, open_holding
from nacre.catalogue.index_files import GROWING, ZIPNUM, IndexPlace, all_lines
from nacre.catalogue.rows import (
    MOST_WARCS,
    OFFSET_BITS,
    CapturePack,
    host_of_capture,
    media_name,
    pack_capture,
)
from nacre.catalogue.run_logs import LogReader
from nacre.catalogue.schema import (
    DATABASE,
    LOCK,
    add_counts,
    open_writable,
    reading_database,
    remove_database,
    storage_error,
)
from nacre.core.clock import Clock
from nacre.machine.clock import SystemClock
from nacre.machine.local_files import is_locked, lock_file, open_ordinary

BATCH: Final = 50_000
"""Rows of a transaction."""
_SHORT_BATCH: Final = 2_000
"""Rows of a transaction of an update with a time limit."""
NICE: Final = 19
"""Nice value of the building process."""
_OPEN: Final = ".open"
_LAST: Final = 64
"""Bytes before the position in an open index that must be the same at the next update."""
_MEDIA_CACHE: Final = 20_000

Report = Callable[[int, int], None]
"""Receives the bytes of the indexes that are read, and all of them."""


class CatalogueState(NamedTuple):
    """The state of a catalogue.

    Attributes:
        is_complete: All captures that the indexes had at `as_of` are in it.
        is_building: A process builds it now.
        captures: Number of captures.
        done: Bytes of the indexes that are in it.
        total: Bytes of all indexes.
        as_of: Time of the last update, seconds since the epoch; 0 for never.
    """

    is_complete: bool = False
    is_building: bool = False
    captures: int = 0
    done: int = 0
    total: int = 0
    as_of: float = 0.0


class IndexSource(NamedTuple):
    """An index on the disk.

    Attributes:
        name: Its path in the member, as it is when it is closed.
        place: Its place.
        size: Bytes of its file.
        modified: Time of the last change of its file, ns.
        is_open: It is still being written.
    """

    name: str
    place: IndexPlace
    size: int
    modified: int
    is_open: bool


class StoredSource(NamedTuple):
    """An index as the database has it; the fields are the columns of the table `source`.

    Attributes:
        name, size, modified, is_open: See `IndexSource`.
        position: Bytes that were read.
        last: The last bytes before the position, of an open index.
        lines: Rows that were stored while it was open.
        repeated: Rows of these that were read again after it was closed; -1: none are expected.
    """

    name: str
    size: int
    modified: int
    position: int
    is_open: int
    last: bytes
    lines: int
    repeated: int


class StaleCatalogueError(Exception):
    """The database does not agree with the indexes."""


def update_catalogue(
    member: Member,
    *,
    seconds: float | None = None,
    report: Report | None = None,
    clock: Clock | None = None,
) -> CatalogueState:
    """Bring the catalogue of a member up to date; return its state.

    Nothing is done while another process builds it.

    Args:
        member: The member.
        seconds: Time limit; None for none. An update that exceeds it is resumed by the next one.
        report: Receives the progress; None for no reports.
        clock: The time; None for that of the system.

    Raises:
        StorageError: The database cannot be written.
    """
    folder = catalogue_folder(member)
    handle = lock_file(folder / LOCK)
    if handle is None:
        return read_state(folder)
    until = None if seconds is None else SystemClock().monotonic() + seconds
    try:
        for _ in range(2):
            try:
                with closing(open_writable(folder)) as database:
                    return _Builder(database, member, until, report, clock or SystemClock()).run()
            except StaleCatalogueError:
                remove_database(folder)
            except sqlite3.OperationalError as error:
                raise storage_error(folder / DATABASE, error) from error
            except sqlite3.DatabaseError:
                remove_database(folder)
        return CatalogueState()
    finally:
        os.close(handle)


def read_state(folder: Path) -> CatalogueState:
    """Return the state of the catalogue of a folder, as its last update stored it."""
    is_building = is_locked(folder / LOCK)
    with reading_database(folder) as database:
        if database is None:
            return CatalogueState(is_building=is_building)
        stored = dict(database.execute("SELECT name, value FROM state"))
        (position,) = database.execute("SELECT coalesce(sum(position), 0) FROM source").fetchone()
    return CatalogueState(
        bool(stored.get("complete")), is_building,
        int(stored.get("captures", 0)), position, int(stored.get("total", 0)),
        float(stored.get("as_of", 0)),
    )  # fmt: skip


def spawn_builder(roots: Iterable[Path]) -> "subprocess.Popen[bytes]":
    """Start a process that builds the catalogues of jobs and files; it ends by itself."""
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "nacre.catalogue.build", *map(str, roots)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


class _Builder:
    """Reads new lines of the indexes of a member into its database."""

    def __init__(
        self,
        database: sqlite3.Connection,
        member: Member,
        until: float | None,
        report: Report | None,
        clock: Clock,
    ) -> None:
        self._database = database
        self._member = member
        self._until = until
        self._report = report
        self._clock = clock
        self._batch = BATCH if until is None else _SHORT_BATCH
        self._media: dict[str, int] = {}
        self._warcs: dict[str, int] = dict(database.execute("SELECT name, number FROM warc"))
        self._runs: dict[str, str] = {}

    def run(self) -> CatalogueState:
        """Read all that is new, or as much as the time limit allows."""
        sources = list(self._list_sources())
        stored = {
            row.name: row
            for row in map(StoredSource._make, self._database.execute("SELECT * FROM source"))
        }
        _check_sources(sources, stored)
        self._total = sum(source.size for source in sources)
        self._done = sum(row.position for row in stored.values())
        pending = [source for source in sources if not _is_read(source, stored.get(source.name))]
        if pending:
            self._set_state(complete=0, total=self._total)
        is_complete = all(self._read_source(item, stored.get(item.name)) for item in pending)
        if is_complete and self._member.kind == "job":
            logs = LogReader(self._database, self._member.root / "runs", self._batch)
            open_runs = {place.run for place in self._places if place.is_open}
            is_complete = logs.read(open_runs, self._is_late)
        return self._finish(is_complete=is_complete)

    def _finish(self, *, is_complete: bool) -> CatalogueState:
        as_of = self._clock.now()
        (captures,) = self._database.execute(
            "SELECT coalesce(sum(number), 0) FROM facet WHERE kind = 'status'"
        ).fetchone()
        self._set_state(complete=int(is_complete), captures=captures, as_of=as_of)
        return CatalogueState(
            is_complete, captures=captures, done=self._done, total=self._total, as_of=as_of
        )

    def _set_state(self, **values: float) -> None:
        self._database.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", values.items())

    def _list_sources(self) -> Iterator[IndexSource]:
        """Yield the indexes of the member."""
        self._places = self._member.warcs()
        self._runs = {place.name: place.run for place in self._places}
        root = self._member.root
        folder = root if root.is_dir() else root.parent
        for place in self._member.indexes():
            path, start, size = msgspec.structs.astuple(place.part)
            try:
                facts = path.stat()
            except OSError:
                continue  # renamed at this moment: the next update reads it
            name = os.path.relpath(path, folder).removesuffix(_OPEN) + (
                f"@{start}" if start else ""
            )
            size = facts.st_size if size < 0 else size
            yield IndexSource(name, place, size, facts.st_mtime_ns, place.kind == GROWING)

    def _is_late(self) -> bool:
        return self._until is not None and SystemClock().monotonic() > self._until

    # ---- an index

    def _read_source(self, source: IndexSource, stored: StoredSource | None) -> bool:
        """Read an index to its end; return False if the time was over before."""
        row = stored or StoredSource(source.name, 0, 0, 0, int(source.is_open), b"", 0, -1)
        if row.is_open and not source.is_open:  # it is closed now: its lines are sorted
            self._done -= row.position
            row = row._replace(position=0, last=b"", repeated=0)
        row = row._replace(size=source.size, modified=source.modified, is_open=int(source.is_open))
        is_late = False
        for lines, last, position in _batches(source, row.position, self._batch):
            if is_late:
                return False
            row = self._store(lines, row._replace(last=last, position=position), row.position)
            is_late = self._is_late()
            if self._report is not None:
                self._report(self._done, self._total)
        if row.repeated >= 0 and not source.is_open:
            if row.repeated != row.lines:  # lines of a time that a crash undid
                raise StaleCatalogueError
            row = row._replace(repeated=-1, lines=0)
        self._put_source(row)
        return True

    def _put_source(self, row: StoredSource) -> None:
        self._database.execute("INSERT OR REPLACE INTO source VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _store(self, lines: list[bytes], row: StoredSource, before: int) -> StoredSource:
        """Store some lines in a transaction; return the row of their index.

        Args:
            lines: The lines.
            row: The row of their index, with the position behind them.
            before: The position before them.
        """
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            packs, keys, repeated = self._pack(lines, is_repeated=row.repeated >= 0)
            packs.sort()
            keys.sort()
            database.executemany("INSERT INTO capture VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", packs)
            database.executemany("INSERT INTO capture_key VALUES (?, ?, ?)", keys)
            self._count(packs)
            row = row._replace(
                lines=row.lines + len(packs) * row.is_open,
                repeated=row.repeated + repeated if row.repeated >= 0 else -1,
            )  # fmt: skip
            self._put_source(row)
            database.execute("COMMIT")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        self._done += row.position - before
        return row

    def _pack(
        self, lines: list[bytes], *, is_repeated: bool
    ) -> tuple[list[CapturePack], list[tuple[str, int, int]], int]:
        """Return the new rows of some lines, their keys, and the number of known rows."""
        packs: dict[int, CapturePack] = {}
        keys: list[tuple[str, int, int]] = []
        repeated = 0
        is_new: dict[int, bool] = {}
        for line in lines:
            capture = read_capture(line)
            if capture is None:
                continue
            warc = self._warc_number(capture)
            pack = pack_capture(capture, warc, self._media_number(capture.mime))
            if pack is None or pack[0] in packs:
                continue
            if warc not in is_new:
                is_new[warc] = self._is_new(warc)
            if not is_new[warc] and self._is_stored(pack, is_strict=is_repeated):
                repeated += 1
                continue
            packs[pack[0]] = pack
            keys.append((capture.key, pack[2], pack[0]))
        return list(packs.values()), keys, repeated

    def _is_new(self, warc: int) -> bool:
        """Whether no capture of a WARC is stored."""
        query = "SELECT 1 FROM capture WHERE id BETWEEN ? AND ? LIMIT 1"
        first = warc << OFFSET_BITS
        return (
            self._database.execute(query, (first, first | (1 << OFFSET_BITS) - 1)).fetchone()
            is None
        )

    def _is_stored(self, pack: CapturePack, *, is_strict: bool) -> bool:
        """Whether a capture is stored.

        Args:
            pack: Its row.
            is_strict: The stored row must be of the same URL and time.

        Raises:
            StaleCatalogueError: It is another capture.
        """
        query = "SELECT url, time FROM capture WHERE id = ?"
        stored = self._database.execute(query, (pack[0],)).fetchone()
        if stored is not None and is_strict and stored != (pack[1], pack[2]):
            raise StaleCatalogueError
        return stored is not None

    def _warc_number(self, capture: IndexedCapture) -> int:
        number = self._warcs.get(capture.warc)
        if number is None:
            number = len(self._warcs) + 1
            if number >= MOST_WARCS:
                raise StaleCatalogueError
            run = self._runs.get(capture.warc, "")
            self._database.execute(
                "INSERT INTO warc VALUES (?, ?, ?, NULL, NULL)", (number, capture.warc, run)
            )
            self._warcs[capture.warc] = number
        return number

    def _media_number(self, mime: str) -> int:
        name = media_name(mime)
        number = self._media.get(name)
        if number is None:
            query = "SELECT number FROM media WHERE name = ?"
            row = self._database.execute(query, (name,)).fetchone()
            if row is None:
                insert = "INSERT INTO media (name) VALUES (?) RETURNING number"
                row = self._database.execute(insert, (name,)).fetchone()
            if len(self._media) >= _MEDIA_CACHE:
                self._media.clear()
            number = self._media[name] = int(row[0])
        return number

    def _count(self, packs: list[CapturePack]) -> None:
        """Add new rows to the counts of the facets, and to the times of their WARCs."""
        counts: Counter[tuple[str, str | int]] = Counter()
        spans: dict[int, tuple[int, int]] = {}
        for number, url, moment, _, status, mime, verdict, _, _ in packs:
            warc = number >> OFFSET_BITS
            oldest, newest = spans.get(warc, (moment, moment))
            spans[warc] = min(oldest, moment), max(newest, moment)
            counts["host", host_of_capture(url)] += 1
            counts["status", status] += 1
            counts["media", mime] += 1
            counts["verdict", verdict] += 1
            counts["day", moment // 86_400] += 1
            counts["warc", warc] += 1
        add_counts(self._database, counts)
        self._database.executemany(
            "UPDATE warc SET oldest = min(coalesce(oldest, ?1), ?1),"
            " newest = max(coalesce(newest, ?2), ?2) WHERE number = ?3",
            [(oldest, newest, warc) for warc, (oldest, newest) in spans.items()],
        )


def _check_sources(sources: Iterable[IndexSource], stored: dict[str, StoredSource]) -> None:
    """Compare the indexes with the parts that were read.

    Raises:
        StaleCatalogueError: They disagree.
    """
    present = {source.name: source for source in sources}
    for name, row in stored.items():
        source = present.get(name)
        if source is None or not _agrees(source, row):
            raise StaleCatalogueError


def _agrees(source: IndexSource, row: StoredSource) -> bool:
    if row.is_open:
        return not source.is_open or _continues(source, row)
    return not source.is_open and (source.size, source.modified) == (row.size, row.modified)


def _continues(source: IndexSource, row: StoredSource) -> bool:
    """Whether an open index still begins with the part that was read."""
    if source.size < row.position:
        return False
    try:
        with open_ordinary(source.place.part.path) as file:
            file.seek(row.position - len(row.last))
            return file.read(len(row.last)) == row.last
    except OSError:
        return True  # renamed at this moment: it is closed now


def _is_read(source: IndexSource, row: StoredSource | None) -> bool:
    """Whether nothing of an index is left to read."""
    if row is None or bool(row.is_open) != source.is_open or row.repeated >= 0:
        return False
    return row.position >= source.size


def _batches(
    source: IndexSource, position: int, most: int
) -> Iterator[tuple[list[bytes], bytes, int]]:
    """Yield the lines from a position on in portions.

    With each portion come its last bytes, and the position of their end. An index of ZipNum has no
    positions: it is read from its beginning, and its position is its end when all is read. Half a
    line at the end of an open index is left out.
    """
    is_packed = source.place.kind == ZIPNUM
    lines: list[bytes] = []
    try:
        for line in all_lines(source.place) if is_packed else _lines(source, position):
            lines.append(line)
            position += 0 if is_packed else len(line)
            if len(lines) >= most:
                yield lines, line[-_LAST:], position
                lines = []
    except FileNotFoundError:
        return  # renamed at this moment: the next update reads it
    if is_packed or lines:
        yield lines, b"".join(lines[-1:])[-_LAST:], source.size if is_packed else position


def _lines(source: IndexSource, position: int) -> Iterator[bytes]:
    """Yield the lines of an index that is no ZipNum, with their ends."""
    with open_ordinary(source.place.part.path) as file:
        file.seek(source.place.part.start + position)
        while position < source.size:
            line = file.readline(min(LONGEST_LINE, source.size - position))
            if not line or (source.is_open and not line.endswith(b"\n")):
                return
            position += len(line)
            yield line


def main() -> None:
    """Build the catalogues of the jobs and files that are the arguments."""
    os.nice(NICE)
    for target in sys.argv[1:]:
        for member in open_holding([target]).members:
            update_catalogue(member)


if __name__ == "__main__":
    main()
