"""The seeds of a version for the look-ups of a scope: by key, in the files of their table.

Only the parts of a file with a requested key are read, and the last parts are cached.
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
"""Parts of files (`ROW_GROUP` rows each) whose keys are cached: some 1.5 MB each."""
_OPEN = 256
"""Most open files."""
_OWN_COLUMNS = ("key", "text", "scope", "depth", "since")


class SeedPlace(NamedTuple):
    """The place of the seeds of a version; part of a task's spec.

    Attributes:
        storage: The argument of `open_storage`.
        table: The state of their table.
        own: Some seeds may have a separate scope.
        directives: The list may have lines with + or -.
    """

    storage: str
    table: TableState
    own: bool
    directives: bool

    def open(self, scratch: Path) -> "KeptSeeds":
        """Open the table.

        Args:
            scratch: Folder for local copies of files of a remote storage.
        """
        storage = open_storage(self.storage)
        version = CycleVersion(tables={SEEDS: self.table})
        files = Cycle(storage, "here").files(version, SEEDS)
        return KeptSeeds(storage, files, self, scratch)


_MARK = "seeds"


def seed_mark(place: SeedPlace) -> dict[str, Any]:
    """Return the mark of the seeds of a segment for its state (`SegmentState.more`)."""
    return {_MARK: msgspec.to_builtins(place._replace(storage=""))}


def marked_seeds(more: Mapping[str, Any], storage: str) -> SeedPlace | None:
    """Return the place of the seeds of a segment; None if its file of seed lines has all.

    Args:
        more: The marks of the state of the segment.
        storage: The argument of `open_storage`.
    """
    if _MARK not in more:
        return None
    return msgspec.convert(more[_MARK], SeedPlace)._replace(storage=storage)


def place_of_seeds(version: CycleVersion, storage: str) -> SeedPlace | None:
    """Return the place of the rows of seeds of a version; None if it has none.

    Args:
        version: The version.
        storage: The argument of `open_storage`.
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
        parts: Cache of the keys of the last parts, of all files.
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
        keys_of_part = self._parts.get(place)
        if keys_of_part is None:
            keys_of_part = self.read(part, ("key",)).column(0).combine_chunks()
            self._parts[place] = keys_of_part
            if len(self._parts) > _PARTS:
                self._parts.popitem(last=False)
        else:
            self._parts.move_to_end(place)
        return keys_of_part

    def read(self, part: int, columns: Sequence[str]) -> Any:  # noqa: ANN401 - likewise
        """Return columns of a part as a table of Arrow."""
        return self._file.read_row_group(part, columns=list(columns))

    def _first(self, part: int) -> str:
        if part not in self._firsts:
            self._firsts[part] = self.keys(part)[0].as_py()
        return self._firsts[part]

    def find(self, text: str, *, after: bool) -> _Keys | None:
        """Return the first place whose key is not less than a text; None for none.

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
        key_text: str = self.keys(place.part)[place.row].as_py()
        return key_text

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
        storage: The storage of the files.
        files: All files of the table.
        place: Their place, with the kinds of rows.
        scratch: Folder for local copies of files of a remote storage.
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
        best = ""
        for file in self._files_of_host(near):
            if file.first <= text and file.last > best:
                key = file.last
                if key > text:
                    opened = self._open_file(file)
                    key = opened.before(opened.find(text, after=True)) or ""
                best = max(best, key)
        return best if best >= FIRST_PREFIX else None

    def ceiling(self, near: str, text: str) -> str | None:
        """See `SeedIndex.ceiling`."""
        best = PAGE
        for file in self._files_of_host(near):
            if file.last >= text and file.first < best:
                key = file.first
                if key < text:
                    opened = self._open_file(file)
                    place = opened.find(text, after=False)
                    key = PAGE if place is None else opened.key(place)
                best = min(best, key)
        return best if best < PAGE else None

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
        for file in self._files_of_bucket(bucket_of_domain(owner, self._place.table.buckets)):
            if file.first <= key <= file.last:
                rows += self._own_rows(self._open_file(file), key)
        return list(dict.fromkeys(row[1:] for row in sorted(rows, key=lambda row: row[0])))

    @cached_property
    def directives(self) -> list[str]:
        """The lines of the list that begin with + or -."""
        if not self._place.directives:
            return []
        lines = (key for file in self._files_of_bucket(0) for key in self._within(file, "+", "."))
        return list(dict.fromkeys(lines))

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
        """Yield the keys of a file in a range."""
        if file.last < low or file.first >= high:
            return
        opened = self._open_file(file)
        place = opened.find(low, after=False)
        while place is not None:
            keys = opened.keys(place.part).slice(place.row).to_pylist()
            for key in keys:
                if key >= high:
                    return
                yield key
            place = _Keys(place.part + 1, 0) if place.part + 1 < opened.count else None

    def _files_of_host(self, near: str) -> Sequence[TableFile]:
        return self._files_of_bucket(bucket_of_host(near, self._place.table.buckets))

    def _files_of_bucket(self, bucket: int) -> Sequence[TableFile]:
        return self._files.get(bucket, ())

    def _open_file(self, file: TableFile) -> _SortedFile:
        opened = self._open.get(file.path)
        if opened is None:
            path = local_file(self._storage, file, self._scratch)
            opened = self._open[file.path] = _SortedFile(file, path, self._parts)
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)[1].close()
        else:
            self._open.move_to_end(file.path)
        return opened
