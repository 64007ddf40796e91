"""Damaged buckets are made again: of an earlier version, of lists, and of the facts of segments.

A bucket keeps all of its files that are whole. Where a file of the CrawlDb is damaged, the bucket
takes the files of the newest version that has it whole, and the updates whose rows were lost are
done again with their own clock, in their places of the fold order. Rows that only a list knows come
back from it, and so do leases. Buckets of other tables are what an earlier version has; their steps
bring them up to date.
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
from nacre.rounds.storage import MissingFileError, localized
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
"""Steps that bring seeds which are not of the job's own list."""
STEP = "repair"
"""The step of a version whose buckets were made again."""


class RemadeBucket(NamedTuple):
    """A bucket that was made again.

    Attributes:
        table: Its table.
        bucket: Its number.
        since: The version whose files it begins with; 0: none of the kept ones has it whole.
        segments: The segments whose updates were done again.
        again: URLs that were listed and have no visit any more, so that they are fetched again.
        injected: Of the table of seeds, numbers of the kept versions whose injected lists have
            seeds that may be lost; 0 stands for all that are not kept.
    """

    table: str
    bucket: int
    since: int = 0
    segments: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    injected: tuple[int, ...] = ()


class _Replay(NamedTuple):
    """An update that is done again: its place in the fold order, its clock and its segments."""

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
    """Whether a version has segments of whose facts buckets can be made."""
    return any(one.parts and IMPORTED not in one.more for one in version.segments.values())


def damaged_buckets(
    cycle: Cycle, version: CycleVersion, names: Collection[str]
) -> dict[tuple[str, int], set[str]]:
    """The damaged files of tables by table and bucket; {} where one is of no bucket.

    Args:
        cycle: The versions.
        version: The version that names them.
        names: The names of damaged files.
    """
    found: dict[tuple[str, int], set[str]] = {}
    left = set(names)
    for table in version.tables:
        try:
            files = cycle.files(version, table)
        except (DamageError, MissingFileError):
            return {}  # the manifest is damaged
        for file in files:
            if file.path in left:
                left.discard(file.path)
                found.setdefault((table, file.bucket), set()).add(file.path)
    return {} if left else found


class BucketRepair:
    """Makes damaged buckets of the newest version again.

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
        self._kept = {one.number: one for one in _versions(cycle)}

    def run(self, damaged: Mapping[tuple[str, int], Collection[str]]) -> list[RemadeBucket]:
        """Make the buckets again, and commit them.

        Args:
            damaged: Names of the damaged files by table and bucket.

        Raises:
            CommittedByAnotherError: Another driver committed meanwhile.
        """
        made: list[RemadeBucket] = []
        dropped: dict[str, set[str]] = {}
        restored: dict[str, list[TableFile]] = {}
        for (table, bucket), names in sorted(damaged.items()):
            files = [f for f in self._cycle.files(self._newest, table) if f.bucket == bucket]
            start = self._start(table, bucket, files, names)
            now = list(start.files)
            one = RemadeBucket(table, bucket, start.since)
            if table == CRAWLDB:
                one = self._made_again(one, start, now)
            elif table == SEEDS:
                one = one._replace(injected=self._injected(start))
            made.append(one)
            before, after = {f.path for f in files}, {f.path for f in now}
            dropped.setdefault(table, set()).update(before - after)
            restored.setdefault(table, []).extend(f for f in now if f.path not in before)
        changes = CycleChanges(
            step=STEP,
            clock=self._clock,
            counters={"buckets": [[one.table, one.bucket, one.since] for one in made]},
            dropped=dropped,
            restored=restored,
            seed_state=self._seed_state(dropped),
        )
        self._cycle.commit(self._newest, changes)
        return made

    def _injected(self, start: _Start) -> tuple[int, ...]:
        """The versions whose injected lists may have lost seeds; nothing else has these."""
        stamps = {number: one.seed_state.listed for number, one in self._kept.items()}
        # With another stamp it was the job's own list that came.
        listed = {
            number
            for number, one in self._kept.items()
            if one.step in _INJECTS and stamps.get(number - 1, "") == stamps[number]
        }
        before = () if start.since or min(self._kept) <= 1 else (0,)
        return (*before, *sorted(listed & start.lost))

    def _seed_state(self, dropped: Mapping[str, object]) -> SeedTableState:
        """What is known of seeds: the job's own list is read again where rows were lost."""
        state = self._newest.seed_state
        if SEEDS not in dropped:
            return state
        return msgspec.structs.replace(state, listed="", judged=-1)

    def _start(
        self, table: str, bucket: int, files: Sequence[TableFile], names: Collection[str]
    ) -> _Start:
        """The whole files of a bucket: those of now, behind those of an earlier version."""
        whole = [file for file in files if file.path not in names]
        gone = [file for file in files if file.path in names]
        bases = [file.seq for file in gone if file.kind == "base"]
        lost = {file.seq for file in gone}
        if not bases:
            return _Start(self._newest.number, tuple(whole), frozenset(lost))
        until = max(bases)
        since, before = self._earlier(table, bucket, until, names)
        known = {file.path for file in before}
        whole = [f for f in whole if f.path not in known and (f.kind != "base" or not before)]
        lost.update(range(since + 1, until + 1))
        return _Start(since, (*before, *whole), frozenset(lost))

    def _earlier(
        self, table: str, bucket: int, until: int, names: Collection[str]
    ) -> tuple[int, list[TableFile]]:
        """The newest kept version before another one that has a bucket whole, and its files."""
        buckets = self._newest.tables[table].buckets
        for number in sorted(self._kept, reverse=True):
            state = self._kept[number].tables.get(table)
            if number >= until or state is None or state.buckets != buckets:
                continue
            try:
                known = self._cycle.files(self._kept[number], table)
            except (DamageError, MissingFileError):
                continue
            files = [file for file in known if file.bucket == bucket]
            compared = [NamedFile(file.path, file.size, file.sha256) for file in files]
            if not any(file.path in names for file in files) and not damaged_of(
                self._engine, self._place, compared
            ):
                return number, files
        return 0, []

    def _made_again(self, one: RemadeBucket, start: _Start, now: list[TableFile]) -> RemadeBucket:
        """Do lost updates again, then take rows and leases from lists; `now` gets their files."""
        replays = self._replays(start)
        done = [name for replay in replays for name in self._replay(one.bucket, replay, now)]
        with self._place.open() as work:
            self._lists(work, one.bucket, start, now)
            again = self._again(work, one.bucket, now)
        return one._replace(segments=tuple(done), again=again)

    def _replays(self, start: _Start) -> list[_Replay]:
        """The updates whose rows a bucket has lost, in their order."""
        found = []
        told: set[str] = set()
        for number, version in self._kept.items():
            if version.step == "update":
                names = tuple(version.options.get("segments", ()))
                told.update(names)
                if number in start.lost:
                    additions = bool(version.options.get("additions", True))
                    found.append(_Replay(number, version.clock, additions, names))
        if not start.since:
            # The versions of these updates are not kept: they come before all that are.
            for name, state in sorted(self._newest.segments.items()):
                if state.state == UPDATED and name not in told:
                    number = max(1, int(state.more.get("version", 1)))
                    clock = int(state.more.get("clock", self._clock))
                    found.append(_Replay(number, clock, additions=True, segments=(name,)))
        return sorted(found)

    def _replay(self, bucket: int, replay: _Replay, now: list[TableFile]) -> tuple[str, ...]:
        """Do an update for a bucket again; return the segments whose facts can be read."""
        states = {name: self._newest.segments.get(name) for name in replay.segments}
        facts = {
            name: facts_of(name, state)
            for name, state in states.items()
            if state is not None and IMPORTED not in state.more and SITEMAPS not in state.more
        }
        names = tuple(name for name, one in facts.items() if self._is_of_bucket(one, bucket))
        if not names:
            return ()
        spec = UpdateSpec(
            self._place, replay.seq, (_files_of(bucket, now, replay.seq),),
            tuple(facts[name] for name in names), self._plan, replay.additions, replay.clock,
            0, {}, {},
        )  # fmt: skip
        try:
            updated = update_task(spec)
        except (StorageError, KernelError):
            return ()
        for table, files in updated.files.items():
            if table == CRAWLDB:
                now += [_at(file, replay.seq) for file in files]
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
                    path = localized(work.storage, name, work.scratch)
                    source = parquet([str(path)])
                    rows = work.kernel.rows(
                        f"select key from {source} where bucket = {bucket} limit 1"
                    )
                    if rows and bucket_of(rows[0][0], buckets) != bucket:
                        return False
        except (StorageError, KernelError):
            return False
        return True

    def _lists(self, work: TaskWork, bucket: int, start: _Start, now: list[TableFile]) -> None:
        """Rows that only lists have, and leases of lists that were lost."""
        known = set(self._rows(work, bucket, now, "first_seen is not null"))
        rows: dict[str, dict[str, Any]] = {}
        for name, state in sorted(self._newest.segments.items()):
            listed = list(_listed(work, name, state, self._newest, bucket))
            for row in listed:
                if row["key"] not in known:
                    rows.setdefault(row["key"], row)
            made = int(state.more.get("version", 0))
            if state.state != UPDATED and made and (made in start.lost or made <= start.since):
                now += self._leases(work, bucket, name, state, listed, made, now)
        plan = FilePlan(CRAWLDB, bucket, "add", self._newest.number + 1)
        ordered = [
            {column.name: row.get(column.name) for column in ADD_COLUMNS}
            for _, row in sorted(rows.items(), key=lambda item: item[0].encode())
        ]
        file = write_rows(work, plan, ordered)
        if file is not None:
            now.append(_at(file, self._newest.number + 1))

    def _leases(  # noqa: PLR0913, PLR0917 - a list, its segment, and the files of its bucket
        self,
        work: TaskWork,
        bucket: int,
        name: str,
        state: SegmentState,
        listed: Sequence[Mapping[str, Any]],
        made: int,
        now: Sequence[TableFile],
    ) -> list[TableFile]:
        """The leases of a list in a bucket that its files do not have."""
        held = set(self._rows(work, bucket, now, f"leased = {quoted(name)}"))
        rows = [
            {"key": row["key"], "leased": name, "leased_until": state.until}
            for row in listed
            if row["key"] not in held
        ]
        file = write_rows(work, FilePlan(CRAWLDB, bucket, "set", made, "lease"), rows)
        return [] if file is None else [_at(file, made)]

    def _again(self, work: TaskWork, bucket: int, now: Sequence[TableFile]) -> tuple[str, ...]:
        """Keys that were listed and updated, and have no visit any more."""
        never = f"status = {int(Status.UNFETCHED)} and last_time is null and excluded is null"
        waiting = set(self._rows(work, bucket, now, never))
        done = [
            row["key"]
            for name, state in self._newest.segments.items()
            if state.state == UPDATED
            for row in _listed(work, name, state, self._newest, bucket)
        ]
        return tuple(sorted(waiting.intersection(done)))

    def _rows(
        self, work: TaskWork, bucket: int, now: Sequence[TableFile], condition: str
    ) -> Iterator[str]:
        """Keys of the rows of some files for which a condition is true."""
        if not now:
            return
        files = _files_of(bucket, now, self._newest.number + 2)
        rows = fold_query(*local_bucket(work.storage, files, work.scratch), interval=0, order=False)
        yield from (
            key for (key,) in work.kernel.rows(f"select key from ({rows}) where {condition}")
        )


def _versions(cycle: Cycle) -> Iterator[CycleVersion]:
    """The versions that can be read, the oldest first."""
    for number in cycle.numbers():
        try:
            yield cycle.version(number)
        except StorageError:
            continue


def _at(file: TableFile, seq: int) -> TableFile:
    import msgspec  # noqa: PLC0415 - the one use of it

    return msgspec.structs.replace(file, seq=seq)


def _files_of(bucket: int, files: Sequence[TableFile], before: int) -> BucketFiles:
    """The files of a bucket that come before a place of the fold order, in that order."""
    ordered = sorted((f for f in files if f.seq < before), key=lambda file: file.seq)

    def of(kind: str) -> tuple[TableFile, ...]:
        return tuple(file for file in ordered if file.kind == kind)

    return BucketFiles(bucket, of("base"), of("set"), of("add"))


def _listed(
    work: TaskWork, segment: str, state: SegmentState, version: CycleVersion, bucket: int
) -> Iterator[dict[str, Any]]:
    """The rows of the lists of a segment that are of a bucket; none of a list that is damaged."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    if SITEMAPS in state.more:
        return
    buckets = version.tables[CRAWLDB].buckets
    for unit in range(1, state.units + 1):
        try:
            path = localized(
                work.storage, f"segments/{segment}/lists/u{unit:04d}.parquet", work.scratch
            )
            with pq.ParquetFile(path) as file:
                rows = [row for batch in file.iter_batches() for row in batch.to_pylist()]
        except (StorageError, OSError, ValueError):
            continue
        yield from (row for row in rows if bucket_of(row["key"], buckets) == bucket)
