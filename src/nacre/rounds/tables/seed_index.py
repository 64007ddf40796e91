"""The seeds of a version as a scope asks them: by key, in the files of their table.

Of a file only the parts are read that have a key that is asked for, and the last ones are kept.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.row import bucket_of_domain, bucket_of_host
from nacre.crawldb.seeds import FIRST_PREFIX, OWN, PAGE, SEEDS
from nacre.rounds.storage import Storage, open_storage
from nacre.rounds.tables.tables import local_file
from nacre.rounds.tables.versions import Cycle, CycleVersion, TableFile, TableState

_PARTS = 48
"""Parts of files (`ROW_GROUP` rows each) whose keys are kept in memory: some 1.5 MB each."""
_OPEN = 256
"""Files that are open."""
_OWN_COLUMNS = ("key", "text", "scope", "depth", "since")


class SeedPlace(NamedTuple):
    """The place of the seeds of a version; part of a task's spec.

    Attributes:
        storage: What `open_storage` takes.
        table: The state of their table.
        own: Some seed may have a scope of its own.
        directives: The list may have lines with + or -.
    """

    storage: str
    table: TableState
    own: bool
    directives: bool

    def open(self, scratch: Path) -> "KeptSeeds":
        """Open the table.

        Args:
            scratch: Folder for files of a storage that is not on this machine.
        """
        storage = open_storage(self.storage)
        version = CycleVersion(tables={SEEDS: self.table})
        files = Cycle(storage, "here").files(version, SEEDS)
        return KeptSeeds(storage, files, self, scratch)


_MARK = "seeds"


def seed_mark(place: SeedPlace) -> dict[str, Any]:
    """Return what the state of a segment notes of its seeds (`SegmentState.more`)."""
    return {_MARK: msgspec.to_builtins(place._replace(storage=""))}


def marked_seeds(more: Mapping[str, Any], storage: str) -> SeedPlace | None:
    """Return where the seeds of a segment are; None: its file of seed lines has all of them.

    Args:
        more: What the state of the segment notes.
        storage: What `open_storage` takes.
    """
    if _MARK not in more:
        return None
    return msgspec.convert(more[_MARK], SeedPlace)._replace(storage=storage)


def place_of_seeds(version: CycleVersion, storage: str) -> SeedPlace | None:
    """Return where the rows of seeds of a version are; None: it has none.

    Args:
        version: The version.
        storage: What `open_storage` takes.
    """
    table, state = version.tables.get(SEEDS), version.seed_state
    if table is None:
        return None
    return SeedPlace(storage, table, state.own, state.directives)


class _Keys(NamedTuple):
    """A place in a file: the part, and the row in it."""

    part: int
    row: int


class _SortedFile:
    """The keys of one file, in order.

    Args:
        file: The file.
        path: Its local path.
        parts: Keeps the keys of parts that were read last, of all files.
    """

    def __init__(
        self, file: TableFile, path: str, parts: "OrderedDict[tuple[str, int], Any]"
    ) -> None:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

        self._path = path
        self._file = pq.ParquetFile(path)
        self._parts = parts
        self._firsts: dict[int, str] = {0: file.first}
        self.count = self._file.num_row_groups

    def close(self) -> None:
        self._file.close()

    def keys(self, part: int) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the keys of a part as an array of Arrow."""
        place = (self._path, part)
        found = self._parts.get(place)
        if found is None:
            found = self.read(part, ("key",)).column(0).combine_chunks()
            self._parts[place] = found
            if len(self._parts) > _PARTS:
                self._parts.popitem(last=False)
        else:
            self._parts.move_to_end(place)
        return found

    def read(self, part: int, columns: Sequence[str]) -> Any:  # noqa: ANN401 - likewise
        """Return columns of a part as a table of Arrow."""
        return self._file.read_row_group(part, columns=list(columns))

    def _first(self, part: int) -> str:
        if part not in self._firsts:
            self._firsts[part] = self.keys(part)[0].as_py()
        return self._firsts[part]

    def find(self, text: str, *, after: bool) -> _Keys | None:
        """Return the first place whose key is not less than a text; None: there is none.

        Args:
            text: The text.
            after: Its key must be greater.
        """
        low, high = 0, self.count
        while high - low > 1:
            middle = (low + high) // 2
            first = self._first(middle)
            if first < text or (after and first == text):
                low = middle
            else:
                high = middle
        keys = self.keys(low)
        at, end = 0, len(keys)
        while at < end:
            middle = (at + end) // 2
            key = keys[middle].as_py()
            if key < text or (after and key == text):
                at = middle + 1
            else:
                end = middle
        if at < len(keys):
            return _Keys(low, at)
        return _Keys(low + 1, 0) if low + 1 < self.count else None

    def key(self, place: _Keys) -> str:
        """Return the key at a place."""
        found: str = self.keys(place.part)[place.row].as_py()
        return found

    def before(self, place: _Keys | None) -> str | None:
        """Return the key before a place, that of the last row before the end (None)."""
        if place is None:
            last = self.keys(self.count - 1)
            return str(last[len(last) - 1].as_py())
        if place.row:
            return self.key(_Keys(place.part, place.row - 1))
        if not place.part:
            return None
        keys = self.keys(place.part - 1)
        return str(keys[len(keys) - 1].as_py())


class KeptSeeds:
    """The seeds of a version: a `nacre.scope.seed_index.SeedIndex`.

    Args:
        storage: Has the files.
        files: All files of the table.
        place: Where they are, and what kinds of rows there are.
        scratch: Folder for files of a storage that is not on this machine.
    """

    def __init__(
        self, storage: Storage, files: Sequence[TableFile], place: SeedPlace, scratch: Path
    ) -> None:
        self._storage, self._place, self._scratch = storage, place, scratch
        self._files: dict[int, list[TableFile]] = {}
        for file in files:
            self._files.setdefault(file.bucket, []).append(file)
        self._parts: OrderedDict[tuple[str, int], Any] = OrderedDict()
        self._open: OrderedDict[str, _SortedFile] = OrderedDict()

    def floor(self, near: str, text: str) -> str | None:
        """See `SeedIndex.floor`."""
        found = ""
        for file in self._of_host(near):
            if file.first <= text and file.last > found:
                key = file.last
                if key > text:
                    opened = self._opened(file)
                    key = opened.before(opened.find(text, after=True)) or ""
                found = max(found, key)
        return found if found >= FIRST_PREFIX else None

    def ceiling(self, near: str, text: str) -> str | None:
        """See `SeedIndex.ceiling`."""
        found = PAGE
        for file in self._of_host(near):
            if file.last >= text and file.first < found:
                key = file.first
                if key < text:
                    opened = self._opened(file)
                    place = opened.find(text, after=False)
                    key = PAGE if place is None else opened.key(place)
                found = min(found, key)
        return found if found < PAGE else None

    def prefixes(self) -> Iterator[str]:
        """See `SeedIndex.prefixes`."""
        for files in self._files.values():
            for file in files:
                yield from self._within(file, FIRST_PREFIX, PAGE)

    def is_empty(self) -> bool:
        """See `SeedIndex.is_empty`."""
        return not self._files

    def has_own(self) -> bool:
        """See `SeedIndex.has_own`."""
        return self._place.own

    def own_places(self, owner: str) -> Sequence[tuple[str, str, int]]:
        """See `SeedIndex.own_places`."""
        key = OWN + owner
        rows: list[tuple[int, str, str, int]] = []
        for file in self._of_bucket(bucket_of_domain(owner, self._place.table.buckets)):
            if file.first <= key <= file.last:
                rows += self._own_rows(self._opened(file), key)
        return list(dict.fromkeys(row[1:] for row in sorted(rows, key=lambda row: row[0])))

    @cached_property
    def directives(self) -> list[str]:
        """The lines of the list that begin with + or -."""
        if not self._place.directives:
            return []
        found = (key for file in self._of_bucket(0) for key in self._within(file, "+", "."))
        return list(dict.fromkeys(found))

    def _own_rows(self, opened: _SortedFile, key: str) -> Iterator[tuple[int, str, str, int]]:
        place = opened.find(key, after=False)
        parts = range(place.part, opened.count) if place is not None else ()
        for part in parts:
            for row in opened.read(part, _OWN_COLUMNS).to_pylist():
                if row["key"] == key:
                    depth = -1 if row["depth"] is None else row["depth"]
                    yield row["since"], row["text"], row["scope"] or "", depth
                elif row["key"] > key:
                    return

    def _within(self, file: TableFile, low: str, high: str) -> Iterator[str]:
        """The keys of a file in a range."""
        if file.last < low or file.first >= high:
            return
        opened = self._opened(file)
        place = opened.find(low, after=False)
        while place is not None:
            keys = opened.keys(place.part).slice(place.row).to_pylist()
            for key in keys:
                if key >= high:
                    return
                yield key
            place = _Keys(place.part + 1, 0) if place.part + 1 < opened.count else None

    def _of_host(self, near: str) -> Sequence[TableFile]:
        return self._of_bucket(bucket_of_host(near, self._place.table.buckets))

    def _of_bucket(self, bucket: int) -> Sequence[TableFile]:
        return self._files.get(bucket, ())

    def _opened(self, file: TableFile) -> _SortedFile:
        found = self._open.get(file.path)
        if found is None:
            path = local_file(self._storage, file, self._scratch)
            found = self._open[file.path] = _SortedFile(file, path, self._parts)
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)[1].close()
        else:
            self._open.move_to_end(file.path)
        return found
