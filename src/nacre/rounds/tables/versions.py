"""Versions: the lists of the files that are the state of a cycle.

`versions/0000000042.json` is a `CycleVersion`. It lists a manifest (Parquet) of each table and of
the archive, and the segments. A commit writes the files, then the manifests, then creates the next
version exclusively: of two drivers one wins, and the other gets an error with the winner. The
highest version is the state; there is no lock. A version is never changed. `compaction` removes old
versions, from the lowest on, so that a missing number between two others is a damage.
"""

import hashlib
import io
import re
import secrets
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from nacre.errors import ConflictError, DamageError, JobError, StorageError
from nacre.rounds.storage import AlreadyThereError, MissingFileError, Storage, open_storage
from nacre.store.disk import failure

SCHEMA = 2
"""Version of the layout that this Nacre writes; 2: seeds are rows of a table."""

FOLDER = "versions"
MANIFESTS = "manifests"
ARCHIVE = "archive"
"""The manifest of WARC and CDXJ files, stored like that of a table."""
OUTSIDE = "outside"
"""The kind of a WARC of an imported job or a merged crawl, which stays where it is.

Its path is absolute, or a URL."""

_NAME = re.compile(r"versions/(\d{10})\.json")


class CommittedByAnotherError(ConflictError):
    """Another driver committed the same version first.

    Attributes:
        version: Its number.
        step: The step that committed it.
        host: The host of that step.
    """

    def __init__(self, version: int, step: str, host: str) -> None:
        self.version, self.step, self.host = version, step, host
        super().__init__(f"version {version} was committed by {step} on host {host}; begin again")


class TableFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a table: a row of a manifest.

    Attributes:
        path: Its name in the storage; for a WARC that is `outside` its absolute path or URL.
        bucket: The bucket of its rows (`crawldb.row.bucket_of`); in an archive the unit.
        kind: `base`, `set` or `add`; in an archive `warc`, `cdxj`, or `outside` for a WARC of an
            imported job or a merged crawl.
        group: For a `set` its group of columns; in an archive the segment; else "".
        seq: Number of the version that committed it; 0 before.
        rows: Rows; 0 in an archive.
        size: Bytes.
        first: Least key; "" without rows.
        last: Greatest key.
        min_fetch_time: Least fetch_time of its rows, ms; None without this column.
        sha256: Digest of its bytes, hexadecimal; "" for a WARC that is `outside`.
    """

    path: str
    bucket: int = 0
    kind: str = "base"
    group: str = ""
    seq: int = 0
    rows: int = 0
    size: int = 0
    first: str = ""
    last: str = ""
    min_fetch_time: int | None = None
    sha256: str = ""


class TableState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a table in a version.

    Attributes:
        manifest: Name of the manifest.
        sha256: Digest of the manifest.
        buckets: Number of buckets, a power of two.
        files: Files.
        rows: Sum over the files; not the number of keys.
        size: Bytes of the files.
    """

    manifest: str
    sha256: str
    buckets: int
    files: int = 0
    rows: int = 0
    size: int = 0


class SegmentState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a segment in a version.

    Attributes:
        state: `generated`, `fetched` or `updated`.
        units: Units.
        urls: URLs of its lists.
        parts: The names of the committed parts of each unit, in order; {} before `fetched`.
        until: End of its leases, ms since the epoch; 0 for none.
        more: Further marks of steps.
        files: The sha256 of the record of its files (`segment_files`); "" without a record, as in
            versions of an earlier Nacre.
    """

    state: str
    units: int = 0
    urls: int = 0
    parts: dict[str, list[str]] = {}
    until: int = 0
    more: dict[str, Any] = {}
    files: str = ""


class SeedTableState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the table of seeds in a version.

    Attributes:
        listed: Stamp of the job's own list, whose seeds are in the table; "" for an empty one.
        own: Some seeds may have a separate scope.
        directives: The list may have lines with + or -.
        own_at: Number of the last version that changed separate scopes.
        directives_at: Number of the last version that changed directives.
        judged: Number of the version with the seeds that rows of URLs were judged with; later
            changes may concern them. -1: all rows have to be judged.
        judged_by: Name of the rules that judged injected seeds; "" if unknown. judged_lists:
            Numbers of the versions whose injected seeds they judged, the last 1,000.
        outside: Texts of those seeds that the scope refuses.
    """

    listed: str = ""
    own: bool = False
    directives: bool = False
    own_at: int = 0
    directives_at: int = 0
    judged: int = -1
    judged_by: str = ""
    judged_lists: tuple[int, ...] = ()
    outside: tuple[str, ...] = ()


class CycleVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One state of a cycle.

    Attributes:
        number: From 1; 0 for a cycle without a commit.
        parent: The version that it is based on.
        step: The command that made it, such as `generate`.
        id: Random, so that a driver recognizes its own commit.
        host: The host of that step.
        options: Options of the step.
        settings: Hash of the effective settings; "" when unknown.
        clock: The clock of the step, ms since the epoch.
        committed: When it was committed, ms since the epoch.
        tables: The tables by name.
        archive: The manifest of WARC and CDXJ files; None before the first.
        segments: The segments by id.
        seeds: Names of files with seed lines that are no rows yet: of versions of layout 1, and of
            imported jobs. The next step that needs them converts them to rows.
        seed_state: The state of the table of seeds.
        counters: Counters of the step.
        nacre: Version of Nacre.
        schema: Version of this layout.
    """

    number: int = 0
    parent: int = 0
    step: str = ""
    id: str = ""
    host: str = ""
    options: dict[str, Any] = {}
    settings: str = ""
    clock: int = 0
    committed: int = 0
    tables: dict[str, TableState] = {}
    archive: TableState | None = None
    segments: dict[str, SegmentState] = {}
    seeds: list[str] = []
    seed_state: SeedTableState = SeedTableState()
    counters: dict[str, Any] = {}
    nacre: str = ""
    schema: int = SCHEMA


class CycleChanges(msgspec.Struct, kw_only=True):
    """The changes of a step; everything else stays as in the parent.

    Attributes:
        step: See `CycleVersion`; so are options, clock and counters.
        settings: See `CycleVersion`; "" for the settings of `Cycle`.
        committed: Now, ms since the epoch.
        added: New files by table, in fold order.
        dropped: Names of removed files, by table.
        restored: Files by table that keep their place in the fold order, their `seq`.
        buckets: Number of buckets of a table: for its first files, and for a new number.
        archive: New files of the archive.
        segments: New or changed segments; None removes one.
        seeds: Further files of seed lines; None: existing files became rows.
        seed_state: The state of the table of seeds; None: as in the parent.
    """

    step: str
    clock: int
    committed: int = 0
    options: dict[str, Any] = {}
    settings: str = ""
    counters: dict[str, Any] = {}
    added: dict[str, list[TableFile]] = {}
    dropped: dict[str, set[str]] = {}
    restored: dict[str, list[TableFile]] = {}
    buckets: dict[str, int] = {}
    archive: list[TableFile] = []
    segments: dict[str, SegmentState | None] = {}
    seeds: list[str] | None = []
    seed_state: SeedTableState | None = None


def state_of(version: CycleVersion, name: str) -> SegmentState:
    """Return the state of a segment.

    Args:
        version: The version.
        name: The segment.

    Raises:
        JobError: There is no such segment.
    """
    state = version.segments.get(name)
    if state is None:
        names = ", ".join(sorted(version.segments)) or "none yet: `generate` makes one"
        raise JobError(f"there is no segment {name!r}; there are: {names}")
    return state


def version_name(number: int) -> str:
    """Name of the file of a version."""
    return f"{FOLDER}/{number:010d}.json"


class Cycle:
    """The versions in a storage.

    Args:
        storage: The storage of the versions and all files.
        host: Name of this machine in versions; "" for its own name.
        read: Reads a manifest; None for `read_manifest`.
        mark: A folder that a commit makes; None for none.
        settings: Hash of the effective settings, for the versions that are committed.

    Attributes:
        storage: The storage.
    """

    def __init__(
        self,
        storage: Storage,
        host: str = "",
        read: Callable[[bytes], list[TableFile]] | None = None,
        mark: Path | None = None,
        settings: str = "",
    ) -> None:
        self.storage = storage
        self._host = host or socket.gethostname()
        self._read = read or read_manifest
        self._mark = mark
        self._settings = settings
        self._manifests: dict[str, list[TableFile]] = {}

    @classmethod
    def open(cls, directory: Path, storage: str = "", settings: str = "") -> "Cycle":
        """Open the cycle of a job directory.

        Args:
            directory: The directory of the job.
            storage: The setting `cycle.storage`; "" is the folder `cycle` in the directory.
            settings: Hash of the effective settings; "" for readers.
        """
        # The folder marks a directory of rounds, wherever the tables are stored.
        folder = directory / "cycle"
        return cls(open_storage(storage or str(folder)), mark=folder, settings=settings)

    def with_reader(self, read: Callable[[bytes], list[TableFile]]) -> "Cycle":
        """Return the same versions with another reader of manifests."""
        return Cycle(self.storage, self._host, read, self._mark, self._settings)

    def numbers(self) -> list[int]:
        """Return the numbers of all versions, ascending.

        Raises:
            DamageError: A version is missing between two others.
        """
        versions = [
            int(match[1]) for name in self.storage.list(FOLDER) if (match := _NAME.fullmatch(name))
        ]
        for before, after in pairwise(versions):
            if after != before + 1:
                raise DamageError(
                    f"{self.storage.place}: {version_name(before + 1)} is missing, though "
                    f"{version_name(after)} is there. Put it back, or keep a copy of the later "
                    "ones elsewhere and remove them here: the state is then that of version "
                    f"{before}."
                )
        return versions

    def newest(self) -> CycleVersion:
        """Return the state; version 0 if nothing was committed."""
        numbers = self.numbers()
        return self.version(numbers[-1]) if numbers else CycleVersion()

    def version(self, number: int) -> CycleVersion:
        """Return a version.

        Raises:
            JobError: It never existed, or was removed.
            StorageError: A newer Nacre made it.
            DamageError: It cannot be read.
        """
        name = version_name(number)
        try:
            data = self.storage.read(name)
        except MissingFileError as error:
            raise JobError(
                f"{self.storage.place} has no version {number}: `versions` lists those that it has"
            ) from error
        return _decode(data, f"{self.storage.place}/{name}")

    def files(self, version: CycleVersion, table: str) -> list[TableFile]:
        """Return the files of a table, or of `ARCHIVE`, in fold order; [] without the table.

        Raises:
            DamageError: The manifest is not the committed one.
        """
        state = version.archive if table == ARCHIVE else version.tables.get(table)
        if state is None:
            return []
        if state.manifest not in self._manifests:
            data = self.storage.read(state.manifest)
            digest = hashlib.sha256(data).hexdigest()
            if digest != state.sha256:
                raise DamageError(
                    f"{self.storage.place}/{state.manifest}: its sha256 is {digest}, and version "
                    f"{version.number} says {state.sha256}. `storage check --repair` goes back to "
                    "a version whose files are whole."
                )
            self._manifests = {state.manifest: self._read(data), **self._recent_manifests()}
        return list(self._manifests[state.manifest])

    def _recent_manifests(self) -> dict[str, list[TableFile]]:
        """Return the manifests to keep in the cache: about the tables of one version."""
        return dict(list(self._manifests.items())[:7])

    def commit(self, parent: CycleVersion, changes: CycleChanges) -> CycleVersion:
        """Commit the next version.

        All files of `changes` must be in the storage, durable.

        Raises:
            CommittedByAnotherError: Another driver made it first; nothing has changed.
        """
        number = parent.number + 1
        tables = dict(parent.tables)
        for table in changes.added.keys() | changes.dropped.keys() | changes.restored.keys():
            tables[table] = self._table(parent, changes, table)
        version = CycleVersion(
            number=number,
            parent=parent.number,
            step=changes.step,
            id=secrets.token_hex(8),
            host=self._host,
            options=changes.options,
            settings=changes.settings or self._settings,
            clock=changes.clock,
            committed=changes.committed or changes.clock,
            tables=tables,
            archive=self._archive(parent, changes),
            segments=_merge_segments(parent.segments, changes.segments),
            seeds=[] if changes.seeds is None else [*parent.seeds, *changes.seeds],
            seed_state=changes.seed_state or parent.seed_state,
            counters=changes.counters,
            nacre=_nacre(),
        )
        self._create(version)
        return version

    def restore(self, number: int, clock: int) -> CycleVersion:
        """Commit an earlier version again as a new one, so that nothing is lost.

        Args:
            number: The earlier version, which must still be stored.
            clock: Now, ms since the epoch.
        """
        # The newest version is not read: it may be damaged.
        old, newest = self.version(number), self.numbers()[-1]
        restored = msgspec.structs.replace(
            old,
            number=newest + 1,
            parent=newest,
            step="restore",
            id=secrets.token_hex(8),
            host=self._host,
            options={"version": number},
            clock=clock,
            committed=clock,
            counters={},
            nacre=_nacre(),
        )
        self._create(restored)
        return restored

    def _create(self, version: CycleVersion) -> None:
        if self._mark is not None:
            try:
                self._mark.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise failure("make", str(self._mark), error) from error
        name = version_name(version.number)
        data = msgspec.json.format(msgspec.json.encode(version), indent=1)
        try:
            self.storage.create(name, data)
        except AlreadyThereError:
            # A network that repeats a request whose answer was lost reports our own version.
            existing = self.version(version.number)
            if existing.id != version.id:
                raise CommittedByAnotherError(
                    existing.number, existing.step, existing.host
                ) from None

    def _table(self, parent: CycleVersion, changes: CycleChanges, table: str) -> TableState:
        before = parent.tables.get(table)
        buckets = changes.buckets.get(table, before.buckets if before else 0)
        if buckets < 1 or buckets & (buckets - 1):
            raise StorageError(f"table {table}: {buckets} buckets; it takes a power of two")
        dropped = changes.dropped.get(table, set())
        remaining = [file for file in self.files(parent, table) if file.path not in dropped]
        added = [
            msgspec.structs.replace(file, seq=parent.number + 1)
            for file in changes.added.get(table, [])
        ]
        added += changes.restored.get(table, [])
        return self._manifest(table, parent.number + 1, [*remaining, *added], buckets)

    def _archive(self, parent: CycleVersion, changes: CycleChanges) -> TableState | None:
        if not changes.archive:
            return parent.archive
        seq = parent.number + 1
        added = [msgspec.structs.replace(file, seq=seq) for file in changes.archive]
        return self._manifest(ARCHIVE, seq, [*self.files(parent, ARCHIVE), *added], 1)

    def _manifest(
        self, table: str, number: int, files: list[TableFile], buckets: int
    ) -> TableState:
        ordered = sort_fold_order(files)
        data = write_manifest(ordered)
        name = f"{MANIFESTS}/{table}-{number:010d}-{secrets.token_hex(4)}.parquet"
        self.storage.put(name, data)
        return TableState(
            manifest=name,
            sha256=hashlib.sha256(data).hexdigest(),
            buckets=buckets,
            files=len(ordered),
            rows=sum(file.rows for file in ordered),
            size=sum(file.size for file in ordered),
        )


def sort_fold_order(files: Iterable[TableFile]) -> list[TableFile]:
    """Sort files by bucket, then the base first, then by seq and their order in a version."""
    return sorted(files, key=lambda file: (file.bucket, file.kind != "base", file.seq))


def write_manifest(files: Sequence[TableFile]) -> bytes:
    """Return a manifest as Parquet, one row per file."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pa.Table.from_pylist([msgspec.to_builtins(file) for file in files], _schema())
    target = io.BytesIO()
    pq.write_table(table, target, compression="zstd")
    return target.getvalue()


def read_manifest(data: bytes) -> list[TableFile]:
    """Return the files of a manifest.

    Raises:
        DamageError: It is no manifest.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        # `read_table` would import all that can read data sets of many files, which takes 0.1 s.
        with pq.ParquetFile(io.BytesIO(data)) as file:
            rows = file.read().to_pylist()
        return [msgspec.convert(row, TableFile) for row in rows]
    except (pa.ArrowException, msgspec.ValidationError) as error:
        raise DamageError(f"a manifest cannot be read: {error}") from error


def _schema() -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - an extra

    text, number = pa.string(), pa.int64()
    types = {"bucket": pa.int32(), "seq": number, "rows": number, "size": number}
    types["min_fetch_time"] = number
    return pa.schema([(name, types.get(name, text)) for name in TableFile.__struct_fields__])


def _merge_segments(
    before: Mapping[str, SegmentState], changed: Mapping[str, SegmentState | None]
) -> dict[str, SegmentState]:
    merged = {**before, **changed}
    return {name: state for name, state in merged.items() if state is not None}


class _Layout(msgspec.Struct):
    schema: int = 0
    nacre: str = "?"


def _decode(data: bytes, path: str) -> CycleVersion:
    try:
        layout = msgspec.json.decode(data, type=_Layout)
        if layout.schema > SCHEMA:
            raise StorageError(
                f"{path}: its layout is of version {layout.schema}, made by Nacre {layout.nacre}; "
                f"this one knows {SCHEMA}. Use the newer Nacre."
            )
        return msgspec.json.decode(data, type=CycleVersion)
    except ValueError as error:  # of msgspec, or the encoding
        raise DamageError(
            f"{path}: it is no version of a cycle ({error}). Put back the file from a copy, or "
            "remove it if it is the last one: the state is then that of the version before."
        ) from error


def _nacre() -> str:
    from nacre import __version__  # noqa: PLC0415 - the package itself

    return __version__
