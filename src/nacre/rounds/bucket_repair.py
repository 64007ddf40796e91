"""Rebuild damaged buckets from an earlier version, lists, and the facts of segments.

A bucket keeps all of its files that are whole. If a file of the CrawlDb is damaged, the bucket
takes the files of the newest version that has it whole. The updates whose rows were lost are
repeated with their original clock, in their places of the fold order. Rows and leases that only a
list has are restored from it. Buckets of other tables are restored from an earlier version; their
steps bring them up to date.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.fold import fold_query
from nacre.crawldb.kernels import KernelError, parquet, quoted
from nacre.crawldb.row import ADD_COLUMNS, Status, bucket_of
from nacre.crawldb.seeds import SEEDS
from nacre.errors import DamageError, StorageError
from nacre.rounds.engine import TaskEngine
from nacre.rounds.journal import IMPORTED, SITEMAPS, UPDATED
from nacre.rounds.segments.digests import damaged_of
from nacre.rounds.segments.named_files import NamedFile
from nacre.rounds.steps.inject_rows import write_rows
from nacre.rounds.steps.update_tasks import (
    FetchedFacts,
    RevisitPlan,
    UpdateSpec,
    facts_of,
    update_task,
)
from nacre.rounds.storage import MissingFileError, localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_bucket,
)
from nacre.rounds.tables.versions import (
    Cycle,
    CycleChanges,
    CycleVersion,
    SeedTableState,
    SegmentState,
    TableFile,
)

_INJECTS = frozenset(("inject", "import"))
"""Steps that add seeds from outside of the job's seed list."""
STEP = "repair"
"""The step of a version that rebuilt buckets."""


class RemadeBucket(NamedTuple):
    """A bucket that was rebuilt.

    Attributes:
        table: The table.
        bucket: The number of the bucket.
        since: The version whose files it begins with; 0 if no stored version has it whole.
        segments: The segments whose updates were repeated.
        again: URLs that were listed and have no visit any more, so that they are fetched again.
        injected: For the table of seeds, the numbers of the stored versions whose injected seeds
            may be lost; 0 stands for all versions that are not stored.
    """

    table: str
    bucket: int
    since: int = 0
    segments: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    injected: tuple[int, ...] = ()


class _Replay(NamedTuple):
    """An update to repeat: its place in the fold order, its clock and its segments."""

    seq: int
    clock: int
    additions: bool
    segments: tuple[str, ...]


class _Start(NamedTuple):
    """The files that a bucket begins with, and the place in the fold order from which it lost."""

    since: int
    files: tuple[TableFile, ...]
    lost: frozenset[int]


def has_facts(version: CycleVersion) -> bool:
    """Return whether a version has segments from whose facts buckets can be rebuilt."""
    return any(state.parts and IMPORTED not in state.more for state in version.segments.values())


def damaged_buckets(
    cycle: Cycle, version: CycleVersion, names: Collection[str]
) -> dict[tuple[str, int], set[str]]:
    """Return the damaged files by table and bucket; {} if a file belongs to no bucket.

    Args:
        cycle: The versions.
        version: The version that lists them.
        names: The names of damaged files.
    """
    damaged: dict[tuple[str, int], set[str]] = {}
    remaining = set(names)
    for table in version.tables:
        try:
            files = cycle.files(version, table)
        except (DamageError, MissingFileError):
            return {}  # the manifest is damaged
        for file in files:
            if file.path in remaining:
                remaining.discard(file.path)
                damaged.setdefault((table, file.bucket), set()).add(file.path)
    return {} if remaining else damaged


class BucketRepair:
    """Rebuilds damaged buckets of the newest version.

    Args:
        cycle: The versions.
        engine: Compares the files of earlier versions.
        place: Where to work.
        clock: Now, ms.
        plan: The state machine of the job.
    """

    def __init__(
        self, cycle: Cycle, engine: TaskEngine, place: TaskPlace, clock: int, plan: RevisitPlan
    ) -> None:
        self._cycle = cycle
        self._engine = engine
        self._place = place
        self._clock = clock
        self._plan = plan
        self._newest = cycle.newest()
        self._versions_by_number = {v.number: v for v in _readable_versions(cycle)}

    def run(self, damaged: Mapping[tuple[str, int], Collection[str]]) -> list[RemadeBucket]:
        """Rebuild the buckets, and commit them.

        Args:
            damaged: Names of the damaged files by table and bucket.

        Raises:
            CommittedByAnotherError: Another driver committed meanwhile.
        """
        remade: list[RemadeBucket] = []
        dropped: dict[str, set[str]] = {}
        restored: dict[str, list[TableFile]] = {}
        for (table, bucket), names in sorted(damaged.items()):
            files = [f for f in self._cycle.files(self._newest, table) if f.bucket == bucket]
            start = self._starting_files(table, bucket, files, names)
            current = list(start.files)
            bucket_result = RemadeBucket(table, bucket, start.since)
            if table == CRAWLDB:
                bucket_result = self._remake_row_bucket(bucket_result, start, current)
            elif table == SEEDS:
                bucket_result = bucket_result._replace(injected=self._find_lost_injects(start))
            remade.append(bucket_result)
            before, after = {f.path for f in files}, {f.path for f in current}
            dropped.setdefault(table, set()).update(before - after)
            restored.setdefault(table, []).extend(f for f in current if f.path not in before)
        changes = CycleChanges(
            step=STEP,
            clock=self._clock,
            counters={
                "buckets": [
                    [bucket_result.table, bucket_result.bucket, bucket_result.since]
                    for bucket_result in remade
                ]
            },
            dropped=dropped,
            restored=restored,
            seed_state=self._seed_state(dropped),
        )
        self._cycle.commit(self._newest, changes)
        return remade

    def _find_lost_injects(self, start: _Start) -> tuple[int, ...]:
        """Return the versions whose injected seeds may be lost; no other file has these seeds."""
        stamps = {n: v.seed_state.listed for n, v in self._versions_by_number.items()}
        # A version with another stamp read the job's own list.
        listed = {
            n
            for n, v in self._versions_by_number.items()
            if v.step in _INJECTS and stamps.get(n - 1, "") == stamps[n]
        }
        before = () if start.since or min(self._versions_by_number) <= 1 else (0,)
        return (*before, *sorted(listed & start.lost))

    def _seed_state(self, dropped: Mapping[str, object]) -> SeedTableState:
        """Return the state of seeds: the job's own list is read again if rows were lost."""
        state = self._newest.seed_state
        if SEEDS not in dropped:
            return state
        return msgspec.structs.replace(state, listed="", judged=-1)

    def _starting_files(
        self, table: str, bucket: int, files: Sequence[TableFile], names: Collection[str]
    ) -> _Start:
        """Return the whole files of a bucket: those of an earlier version, then current ones."""
        whole = [file for file in files if file.path not in names]
        gone = [file for file in files if file.path in names]
        bases = [file.seq for file in gone if file.kind == "base"]
        lost = {file.seq for file in gone}
        if not bases:
            return _Start(self._newest.number, tuple(whole), frozenset(lost))
        until = max(bases)
        since, before = self._find_earlier(table, bucket, until, names)
        paths = {file.path for file in before}
        whole = [f for f in whole if f.path not in paths and (f.kind != "base" or not before)]
        lost.update(range(since + 1, until + 1))
        return _Start(since, (*before, *whole), frozenset(lost))

    def _find_earlier(
        self, table: str, bucket: int, until: int, names: Collection[str]
    ) -> tuple[int, list[TableFile]]:
        """Return the newest stored version before `until` with the whole bucket, and its files."""
        buckets = self._newest.tables[table].buckets
        for number in sorted(self._versions_by_number, reverse=True):
            state = self._versions_by_number[number].tables.get(table)
            if number >= until or state is None or state.buckets != buckets:
                continue
            try:
                table_files = self._cycle.files(self._versions_by_number[number], table)
            except (DamageError, MissingFileError):
                continue
            files = [file for file in table_files if file.bucket == bucket]
            compared = [NamedFile(file.path, file.size, file.sha256) for file in files]
            if not any(file.path in names for file in files) and not damaged_of(
                self._engine, self._place, compared
            ):
                return number, files
        return 0, []

    def _remake_row_bucket(
        self, remade: RemadeBucket, start: _Start, current: list[TableFile]
    ) -> RemadeBucket:
        """Repeat lost updates, then restore rows and leases from lists; adds to `current`."""
        replays = self._find_replays(start)
        names = [name for r in replays for name in self._replay(remade.bucket, r, current)]
        with self._place.open() as work:
            self._restore_listed(work, remade.bucket, start, current)
            again = self._find_refetched(work, remade.bucket, current)
        return remade._replace(segments=tuple(names), again=again)

    def _find_replays(self, start: _Start) -> list[_Replay]:
        """Return the updates whose rows a bucket has lost, in their order."""
        replays = []
        named: set[str] = set()
        for number, version in self._versions_by_number.items():
            if version.step == "update":
                names = tuple(version.options.get("segments", ()))
                named.update(names)
                if number in start.lost:
                    additions = bool(version.options.get("additions", True))
                    replays.append(_Replay(number, version.clock, additions, names))
        if not start.since:
            # The versions of these updates are not stored: they precede all stored versions.
            for name, state in sorted(self._newest.segments.items()):
                if state.state == UPDATED and name not in named:
                    number = max(1, int(state.more.get("version", 1)))
                    clock = int(state.more.get("clock", self._clock))
                    replays.append(_Replay(number, clock, additions=True, segments=(name,)))
        return sorted(replays)

    def _replay(self, bucket: int, replay: _Replay, current: list[TableFile]) -> tuple[str, ...]:
        """Repeat an update for a bucket; return the segments whose facts can be read."""
        states = {name: self._newest.segments.get(name) for name in replay.segments}
        facts = {
            name: facts_of(name, s)
            for name, s in states.items()
            if s is not None and IMPORTED not in s.more and SITEMAPS not in s.more
        }
        names = tuple(
            name
            for name, segment_facts in facts.items()
            if self._is_of_bucket(segment_facts, bucket)
        )
        if not names:
            return ()
        spec = UpdateSpec(
            self._place, replay.seq, (_files_of(bucket, current, replay.seq),),
            tuple(facts[name] for name in names), self._plan, replay.additions, replay.clock,
            0, {}, {},
        )  # fmt: skip
        try:
            updated = update_task(spec)
        except (StorageError, KernelError):
            return ()
        for table, files in updated.files.items():
            if table == CRAWLDB:
                current += [_with_seq(file, replay.seq) for file in files]
                continue
            for file in files:
                self._cycle.storage.delete(file.path)
        return names

    def _is_of_bucket(self, facts: FetchedFacts, bucket: int) -> bool:
        """Whether facts can be read and have today's buckets, whose number `compact` can change."""
        buckets = self._newest.tables[CRAWLDB].buckets
        try:
            with self._place.open() as work:
                for name in facts.files("visits"):
                    path = localize(work.storage, name, work.scratch)
                    source = parquet([str(path)])
                    rows = work.kernel.rows(
                        f"select key from {source} where bucket = {bucket} limit 1"
                    )
                    if rows and bucket_of(rows[0][0], buckets) != bucket:
                        return False
        except (StorageError, KernelError):
            return False
        return True

    def _restore_listed(
        self, work: TaskWork, bucket: int, start: _Start, current: list[TableFile]
    ) -> None:
        """Restore rows that only lists have, and the lost leases of lists."""
        keys = set(self._rows(work, bucket, current, "first_seen is not null"))
        rows: dict[str, dict[str, Any]] = {}
        for name, state in sorted(self._newest.segments.items()):
            listed = list(_read_listed(work, name, state, self._newest, bucket))
            for row in listed:
                if row["key"] not in keys:
                    rows.setdefault(row["key"], row)
            number = int(state.more.get("version", 0))
            if (
                state.state != UPDATED
                and number
                and (number in start.lost or number <= start.since)
            ):
                current += self._restore_leases(work, bucket, name, state, listed, number, current)
        plan = FilePlan(CRAWLDB, bucket, "add", self._newest.number + 1)
        ordered = [
            {column.name: row.get(column.name) for column in ADD_COLUMNS}
            for _, row in sorted(rows.items(), key=lambda item: item[0].encode())
        ]
        file = write_rows(work, plan, ordered)
        if file is not None:
            current.append(_with_seq(file, self._newest.number + 1))

    def _restore_leases(  # noqa: PLR0913, PLR0917 - a list, its segment, and the files of its bucket
        self,
        work: TaskWork,
        bucket: int,
        name: str,
        state: SegmentState,
        listed: Sequence[Mapping[str, Any]],
        number: int,
        current: Sequence[TableFile],
    ) -> list[TableFile]:
        """Write the leases of a list in a bucket that its files do not have."""
        leased = set(self._rows(work, bucket, current, f"leased = {quoted(name)}"))
        rows = [
            {"key": row["key"], "leased": name, "leased_until": state.until}
            for row in listed
            if row["key"] not in leased
        ]
        file = write_rows(work, FilePlan(CRAWLDB, bucket, "set", number, "lease"), rows)
        return [] if file is None else [_with_seq(file, number)]

    def _find_refetched(
        self, work: TaskWork, bucket: int, current: Sequence[TableFile]
    ) -> tuple[str, ...]:
        """Return the keys that were listed and updated, and have no visit any more."""
        never = f"status = {int(Status.UNFETCHED)} and last_time is null and excluded is null"
        waiting = set(self._rows(work, bucket, current, never))
        updated = [
            row["key"]
            for name, s in self._newest.segments.items()
            if s.state == UPDATED
            for row in _read_listed(work, name, s, self._newest, bucket)
        ]
        return tuple(sorted(waiting.intersection(updated)))

    def _rows(
        self, work: TaskWork, bucket: int, current: Sequence[TableFile], condition: str
    ) -> Iterator[str]:
        """Keys of the rows of some files for which a condition is true."""
        if not current:
            return
        files = _files_of(bucket, current, self._newest.number + 2)
        rows = fold_query(*local_bucket(work.storage, files, work.scratch), interval=0, order=False)
        yield from (
            key for (key,) in work.kernel.rows(f"select key from ({rows}) where {condition}")
        )


def _readable_versions(cycle: Cycle) -> Iterator[CycleVersion]:
    """The versions that can be read, the oldest first."""
    for number in cycle.numbers():
        try:
            yield cycle.version(number)
        except StorageError:
            continue


def _with_seq(file: TableFile, seq: int) -> TableFile:
    import msgspec  # noqa: PLC0415 - the one use of it

    return msgspec.structs.replace(file, seq=seq)


def _files_of(bucket: int, files: Sequence[TableFile], before: int) -> BucketFiles:
    """The files of a bucket that come before a place of the fold order, in that order."""
    ordered = sorted((f for f in files if f.seq < before), key=lambda file: file.seq)

    def of(kind: str) -> tuple[TableFile, ...]:
        return tuple(file for file in ordered if file.kind == kind)

    return BucketFiles(bucket, of("base"), of("set"), of("add"))


def _read_listed(
    work: TaskWork, segment: str, state: SegmentState, version: CycleVersion, bucket: int
) -> Iterator[dict[str, Any]]:
    """The rows of the lists of a segment that are of a bucket; none of a list that is damaged."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    if SITEMAPS in state.more:
        return
    buckets = version.tables[CRAWLDB].buckets
    for unit in range(1, state.units + 1):
        try:
            path = localize(
                work.storage, f"segments/{segment}/lists/u{unit:04d}.parquet", work.scratch
            )
            with pq.ParquetFile(path) as file:
                rows = [row for batch in file.iter_batches() for row in batch.to_pylist()]
        except (StorageError, OSError, ValueError):
            continue
        yield from (row for row in rows if bucket_of(row["key"], buckets) == bucket)
