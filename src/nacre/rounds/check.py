"""Check a storage: whether every file that a version lists exists and is whole.

 A file is whole if its sha256 is the
committed one. A repair rebuilds damaged facts and indexes from the WARCs, and buckets of tables
from facts (`bucket_repair`). If a version or a manifest is damaged, `repair` restores the newest
version whose tables are whole. Lists and settings of a segment are stored only once: without a copy
the segment must be dropped. The check also compares the sum of all cash, which only a few steps may
change.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nacre.crawldb.kernels import KernelError, quoted
from nacre.crawldb.settings import UpdateSettings
from nacre.errors import DamageError, JobError, StorageError
from nacre.planner.schedules.timetable import ScheduleSettings
from nacre.rounds.bucket_repair import (
    BucketRepair,
    RemadeBucket,
    damaged_buckets,
    has_facts,
)
from nacre.rounds.engine import TaskEngine
from nacre.rounds.journal import IMPORTED, OF_NUTCH
from nacre.rounds.segments.digests import damaged_of
from nacre.rounds.segments.named_files import DamagedFile, damaged_notes, named_files
from nacre.rounds.segments.outside import RemadeIndex, remake_indexes
from nacre.rounds.segments.segment_files import is_note, known_files, record_name, record_segment
from nacre.rounds.steps.parse import ParseResult, parse
from nacre.rounds.steps.update_tasks import RevisitPlan
from nacre.rounds.tables.tables import CRAWLDB, TaskPlace, TaskWork
from nacre.rounds.tables.versions import (
    ARCHIVE,
    Cycle,
    CycleChanges,
    CycleVersion,
    SegmentState,
    version_name,
)

_FACTS = re.compile(r"(segments/([^/]+)/parts/[^/]+/[^/]+)(?:/[a-z]+\.parquet|\.json)")
_OF_SEGMENT = re.compile(r"segments/([^/]+)/(?!parts/)")
_RECORDS = f"{ARCHIVE}/"
_KEEPS_CASH = frozenset(
    ("generate", "fetch", "update", "compact", "dedup", "links", "parse", "storage check")
)
"""Steps that leave the sum of all cash as it is, with that of the virtual page."""


def _is_record(file: DamagedFile) -> bool:
    """Return whether a file is in the archive: our own, or a WARC of an imported crawl."""
    return file.name.startswith((_RECORDS, "/")) or "://" in file.name


class CashChange(NamedTuple):
    """A version whose step changed the sum of all cash, though it may not.

    Attributes:
        version: Its number.
        step: Its step.
        before: The sum before, in 2^-32.
        after: The sum after it.
    """

    version: int
    step: str
    before: int
    after: int


class StorageCheck(NamedTuple):
    """The result of a check.

    Attributes:
        version: The version that was checked; the newest.
        files: Files compared.
        size: Their bytes.
        damaged: Files that are not whole.
        cash: Versions that changed the sum of all cash.
        restored: The version whose state was restored; 0 when none was.
        now: The newest version after a repair; `version` without one.
        remade: Parts whose facts were rebuilt from the WARCs.
        lost: Listed URLs that are not in these WARCs, or were fetched after the restored version;
            they are due again.
        buckets: Buckets of tables that were rebuilt.
        indexes: Indexes of WARCs that were rebuilt.
        forgotten: Damaged notes of segments that no version lists any more.
        left: Damaged files that were not repaired.
        imported: Segments whose damaged facts cannot be rebuilt here, with their origin.
    """

    version: int
    files: int
    size: int
    damaged: tuple[DamagedFile, ...]
    cash: tuple[CashChange, ...] = ()
    restored: int = 0
    now: int = 0
    remade: int = 0
    lost: int = 0
    buckets: tuple[RemadeBucket, ...] = ()
    indexes: tuple[RemadeIndex, ...] = ()
    forgotten: tuple[str, ...] = ()
    left: tuple[DamagedFile, ...] = ()
    imported: Mapping[str, str] = {}

    @property
    def records(self) -> tuple[DamagedFile, ...]:
        """Damaged files of the archive: tables do not need them."""
        return tuple(file for file in self.damaged if _is_record(file))

    @property
    def segments(self) -> dict[str, tuple[DamagedFile, ...]]:
        """Damaged lists, settings and notes, by segment: its steps need them, tables do not."""
        by_segment: dict[str, tuple[DamagedFile, ...]] = {}
        for file in self.damaged:
            if match := _OF_SEGMENT.match(file.name):
                by_segment[match[1]] = (*by_segment.get(match[1], ()), file)
        return by_segment

    @property
    def tables(self) -> tuple[DamagedFile, ...]:
        """The other damaged files."""
        return tuple(
            file
            for file in self.damaged
            if not _is_record(file) and not _OF_SEGMENT.match(file.name)
        )

    @property
    def whole(self) -> bool:
        """Whether nothing was found."""
        return not self.damaged and not self.cash


def check_storage(  # noqa: PLR0913 - the tables, how to read them, and what a repair may do
    cycle: Cycle,
    engine: TaskEngine,
    place: TaskPlace,
    clock: int,
    *,
    repair: bool = False,
    dry: bool = False,
    plan: RevisitPlan | None = None,
) -> StorageCheck:
    """Compare every file that the newest version lists with its digest.

    Args:
        cycle: The versions.
        engine: Runs the tasks.
        place: Where they work.
        clock: Now, ms.
        repair: Rebuild damaged facts from the WARCs, and damaged buckets of tables from an earlier
            version, lists and facts; if a version or a manifest is damaged, restore the newest
            version whose tables are whole. Rebuild indexes from their WARCs, and drop damaged notes
            from the version. WARCs, lists and settings stay as they are.
        dry: Report what a repair would begin with, and change nothing.
        plan: The state machine that turns visits into rows; None for that of new jobs.

    Raises:
        JobError: There is no version yet, or no version is whole.
        DamageError: A version is missing between two others.
    """
    numbers = cycle.numbers()
    if not numbers:
        raise JobError(f"{cycle.storage.place} has no version yet: nothing was committed")
    result = _check_version(cycle, engine, place, numbers[-1])
    plan = plan or RevisitPlan(ScheduleSettings(), {}, UpdateSettings())
    return _Repair(cycle, engine, place, clock, plan, dry=dry).run(result) if repair else result


class _Repair:
    """Repairs what a check reported, as far as possible."""

    def __init__(
        self,
        cycle: Cycle,
        engine: TaskEngine,
        place: TaskPlace,
        clock: int,
        plan: RevisitPlan,
        *,
        dry: bool,
    ) -> None:
        self._plan = plan
        self._cycle = cycle
        self._engine = engine
        self._place = place
        self._clock = clock
        self._dry = dry
        self._remade: set[str] = set()

    def run(self, result: StorageCheck) -> StorageCheck:
        """Repair, and return the result."""
        result = self._repair_tables(result) if result.tables else result
        result = self._repair_indexes(result) if result.records else result
        result = self._forget_notes(result) if result.segments or result.restored else result
        if self._dry:
            return result
        segments = self._cycle.newest().segments
        result = result._replace(
            imported={name: f for name, f in result.imported.items() if name in segments}
        )
        repaired = {*(file.name for file in result.indexes if file.is_same), *result.forgotten}
        repaired.update(
            file.name
            for file in result.tables
            if result.restored and _segment_of_facts(file.name) not in result.imported
        )
        repaired.update(
            file.name for name, f in result.segments.items() if name not in segments for file in f
        )
        repaired.update(self._remade)
        return result._replace(
            left=tuple(file for file in result.damaged if file.name not in repaired)
        )

    def _repair_tables(self, result: StorageCheck) -> StorageCheck:
        """Rebuild facts and buckets, or restore an earlier version; return the result."""
        lost = lost_facts(self._cycle, result)
        names = {file.name for file in lost}
        result = result._replace(imported=_origins(self._cycle, result.version, lost))
        damaged = [file for file in result.tables if file.name not in names]
        if not damaged:
            return result
        self._remade = {file.name for file in damaged}
        cycle, engine, place = self._cycle, self._engine, self._place
        facts = [file for file in damaged if _FACTS.fullmatch(file.name)]
        buckets = self._rebuildable_buckets([file.name for file in damaged if file not in facts])
        numbers = cycle.numbers()
        if len(facts) == len(damaged) or buckets:
            parts = _damaged_parts(facts)
            if self._dry:
                planned = tuple(RemadeBucket(*name) for name in buckets)
                return result._replace(remade=sum(map(len, parts.values())), buckets=planned)
            parsed = (
                _parse_again(cycle, engine, place, self._clock, parts) if parts else ParseResult()
            )
            if parsed is not None or buckets:
                rebuilt = result._replace(buckets=self._rebuild(buckets))
                # Facts without a WARC stay damaged: no bucket needs them any more.
                unparsed = set() if parsed is not None else {file.name for file in facts}
                self._remade -= unparsed
                checked = _check_version(cycle, engine, place, cycle.numbers()[-1])
                if (names | unparsed).issuperset(file.name for file in checked.tables):
                    parsed = parsed or ParseResult()
                    return rebuilt._replace(
                        remade=parsed.parts, lost=parsed.lost, now=checked.version
                    )
        for number in reversed(numbers[:-1]):
            earlier = _check_version(cycle, engine, place, number)
            if names.issuperset(file.name for file in earlier.tables):
                if self._dry:
                    return result._replace(restored=number)
                lost_urls = _fetched_since(cycle, number)
                restored = cycle.restore(number, self._clock)
                return result._replace(restored=number, now=restored.number, lost=lost_urls)
        raise JobError(
            f"{cycle.storage.place}: none of the versions {numbers[0]} to {numbers[-1]} is whole. "
            f"Put back {damaged[0].name} from a copy"
        )

    def _rebuildable_buckets(self, names: Sequence[str]) -> dict[tuple[str, int], set[str]]:
        """The buckets of damaged files; {} if they are not of buckets, or nothing was fetched."""
        try:
            version = self._cycle.newest()
        except StorageError:
            return {}
        return damaged_buckets(self._cycle, version, names) if has_facts(version) else {}

    def _rebuild(self, buckets: Mapping[tuple[str, int], set[str]]) -> tuple[RemadeBucket, ...]:
        """Make damaged buckets again."""
        if not buckets:
            return ()
        at = (self._cycle, self._engine, self._place, self._clock, self._plan)
        return tuple(BucketRepair(*at).run(buckets))

    def _repair_indexes(self, result: StorageCheck) -> StorageCheck:
        """Rebuild indexes whose WARCs are whole; return the result."""
        damaged = {file.name: file.expected for file in result.records}
        version = self._cycle.newest() if not self._dry else self._cycle.version(result.version)
        files = self._cycle.files(version, ARCHIVE)
        indexes = remake_indexes(self._engine, self._place, files, damaged, dry=self._dry)
        return result._replace(indexes=indexes)

    def _forget_notes(self, result: StorageCheck) -> StorageCheck:
        """Forget damaged notes that only `explain` and this check read.

        Return the result. The repair of tables may have replaced a record. Records stay, as earlier
        versions list them.
        """
        cycle, storage = self._cycle, self._cycle.storage
        version = cycle.newest()
        forgotten = [
            file.name
            for name, f in result.segments.items()
            for file in f
            if name in version.segments and is_note(file.name)
        ]
        if self._dry:
            return result._replace(forgotten=tuple(forgotten))
        segments: dict[str, SegmentState | None] = {}
        for name, state in version.segments.items():
            notes = damaged_notes(storage, name, state)
            if notes:
                other_files = [
                    file for file in known_files(storage, name, state) if file.name not in notes
                ]
                for file in notes:
                    if file != record_name(name, state.files):
                        storage.delete(file)
                segments[name] = record_segment(self._engine, storage, name, state, other_files)
                forgotten += notes
        result = result._replace(forgotten=tuple(dict.fromkeys(forgotten)))
        if not segments:
            return result
        changes = CycleChanges(step="storage check", clock=self._clock, segments=segments)
        return result._replace(now=cycle.commit(version, changes).number)


def _fetched_since(cycle: Cycle, number: int) -> int:
    """Return the number of URLs of segments that were fetched after a version."""
    try:
        newest = cycle.newest()
    except StorageError:
        return 0
    before = cycle.version(number).segments
    return sum(
        state.urls
        for name, state in newest.segments.items()
        if state.parts and (name not in before or not before[name].parts)
    )


def _parse_again(
    cycle: Cycle, engine: TaskEngine, place: TaskPlace, clock: int, parts: dict[str, list[str]]
) -> ParseResult | None:
    """Rebuild facts from their WARCs; None if these are damaged, too."""
    try:
        return parse(cycle, engine, place, clock, parts)
    except DamageError:
        return None


def require_whole(cycle: Cycle, engine: TaskEngine, place: TaskPlace, number: int) -> None:
    """Compare the files of a version with their digests.

    Args:
        cycle: The versions.
        engine: Runs the tasks that compare.
        place: Where they work.
        number: The version.

    Raises:
        DamageError: A file is damaged or missing.
    """
    damage = _check_version(cycle, engine, place, number).damaged
    damaged = [file for file in damage if not is_note(file.name)]
    if damaged:
        more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise DamageError(
            f"version {number} cannot be restored: {damaged[0].name}{more}: expected "
            f"{damaged[0].expected}, found {damaged[0].found}. Put it back from a copy, or let "
            "`storage check --repair` find the newest version that is whole"
        )


def restore_whole(
    cycle: Cycle, engine: TaskEngine, place: TaskPlace, number: int, clock: int
) -> CycleVersion:
    """Restore an earlier version as a new one, if all of its files are whole.

    Args:
        cycle: The versions.
        engine: Runs the tasks that compare.
        place: Where they work.
        number: The earlier version.
        clock: Now, ms.

    Raises:
        DamageError: A file of the earlier version is damaged or missing.
    """
    require_whole(cycle, engine, place, number)
    return cycle.restore(number, clock)


def _damaged_parts(damaged: Sequence[DamagedFile]) -> dict[str, list[str]]:
    """Return the parts whose facts are damaged, by segment."""
    parts: dict[str, list[str]] = {}
    for file in damaged:
        match = _FACTS.fullmatch(file.name)
        if match is not None and match[1] not in parts.setdefault(match[2], []):
            parts[match[2]].append(match[1])
    return parts


def _segment_of_facts(name: str) -> str:
    """Return the segment of a file of facts or of the manifest of a part; "" for other files."""
    match = _FACTS.fullmatch(name)
    return match[2] if match else ""


def lost_facts(cycle: Cycle, result: StorageCheck) -> tuple[DamagedFile, ...]:
    """Return the damaged facts of imported segments that WARCs cannot replace.

    Nutch parses its segments itself. The WARCs of jobs and other crawls have more captures than
    were imported; only the visits list these: without its visits a part cannot be rebuilt.

    Args:
        cycle: The versions.
        result: The result of a check.
    """
    named = {name for file in result.tables if (name := _segment_of_facts(file.name))}
    segments = cycle.version(result.version).segments if named else {}
    damaged = {file.name for file in result.tables}
    lost: set[str] = set()
    for name in named:
        state = segments[name]
        parts = {part for of in state.parts.values() for part in of}
        if state.more.get(IMPORTED) == OF_NUTCH:
            lost |= parts
        elif IMPORTED in state.more:
            intact = {file.name for file in known_files(cycle.storage, name, state)}
            for part in parts:
                visits = f"{part}/visits.parquet"
                if visits in damaged or (f"{part}.json" in damaged and visits not in intact):
                    lost.add(part)
    return tuple(
        file
        for file in result.tables
        if (match := _FACTS.fullmatch(file.name)) is not None and match[1] in lost
    )


def _origins(cycle: Cycle, number: int, lost: Sequence[DamagedFile]) -> dict[str, str]:
    """Return the origins of the imported segments whose facts are damaged."""
    names = dict.fromkeys(_segment_of_facts(file.name) for file in lost)
    segments = cycle.version(number).segments if names else {}
    return {name: str(segments[name].more[IMPORTED]) for name in names}


def _check_version(cycle: Cycle, engine: TaskEngine, place: TaskPlace, number: int) -> StorageCheck:
    try:
        version = cycle.version(number)
    except DamageError as error:
        damaged_version = DamagedFile(
            version_name(number), "a version that can be read", str(error)
        )
        return StorageCheck(number, 0, 0, (damaged_version,), now=number, left=(damaged_version,))
    named = named_files(cycle, version)
    damage = (*named.damaged, *damaged_of(engine, place, named.files))
    cash = () if damage else tuple(cash_changes(cycle, place))
    size = sum(file.size for file in named.files)
    return StorageCheck(number, len(named.files), size, damage, cash, now=number, left=damage)


# ---- cash


def cash_changes(cycle: Cycle, place: TaskPlace) -> Iterator[CashChange]:
    """Yield the stored versions whose step changed the sum of all cash, though it may not.

    `opic` hands cash from page to page, so only seeds add cash, and only rows that leave the table
    remove it. The fold adds cash up, so the sum over all files is the sum over all rows; no file
    contains the cash that pages of updated segments gave to the virtual page.
    """
    sums: dict[str, int | None] = {}
    with place.open() as work:
        for name in dict.fromkeys(_cash_files(cycle)):
            sums[name] = _sum_cash(work, name)
    before: int | None = None
    for number in cycle.numbers():
        version = _readable(cycle, number)
        after = None if version is None else _total_cash(cycle, version, sums)
        if version is None or after is None:
            before = None  # its damage is reported separately
            continue
        if before is not None and after != before and version.step in _KEEPS_CASH:
            yield CashChange(number, version.step, before, after)
        before = after


def _readable(cycle: Cycle, number: int) -> CycleVersion | None:
    """Return a version whose manifest can be read; None otherwise."""
    try:
        version = cycle.version(number)
        cycle.files(version, CRAWLDB)
    except StorageError:
        return None
    return version


def _cash_files(cycle: Cycle) -> Iterator[str]:
    for number in cycle.numbers():
        version = _readable(cycle, number)
        for file in cycle.files(version, CRAWLDB) if version else ():
            if file.kind != "set":
                yield file.path


def _sum_cash(work: TaskWork, name: str) -> int | None:
    """Return the sum of the cash in a file; None if it cannot be read."""
    path = work.storage.local_path(name)
    try:
        if path is None:
            path = work.scratch / "cash.parquet"
            work.storage.fetch(name, path)
        rows = f"read_parquet({quoted(str(path))})"
        return int(work.kernel.value(f"select coalesce(sum(cash), 0) from {rows}"))
    except (StorageError, KernelError):
        return None


def _total_cash(cycle: Cycle, version: CycleVersion, sums: Mapping[str, int | None]) -> int | None:
    states = version.segments.values()
    total = sum(int(state.more.get("virtual", 0)) for state in states if state.state == "updated")
    for file in cycle.files(version, CRAWLDB):
        if file.kind != "set":
            cash = sums[file.path]
            if cash is None:
                return None
            total += cash
    return total
