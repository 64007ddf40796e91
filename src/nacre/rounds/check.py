"""The check of a storage: whether every file that a version names is there, and whole.

A file is whole when its sha256 is the one that was committed. Facts that are damaged are made again
of the WARCs, and so are indexes; buckets of tables are made again of facts (`bucket_repair`); for a
damaged version or manifest `repair` makes the newest version whose tables are whole the state
again. Lists and settings of a segment are nowhere else: who has no copy
gives the segment up. Beside the files the sum of all cash is compared: only a few steps may change
it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nacre.crawldb.kernels import KernelError, quoted
from nacre.crawldb.settings import UpdateSettings
from nacre.errors import DamageError, JobError, StorageError
from nacre.recrawl.planner.schedules.timetable import ScheduleSettings
from nacre.rounds.bucket_repair import (
    BucketRepair,
    RemadeBucket,
    damaged_buckets,
    has_facts,
)
from nacre.rounds.engine import TaskEngine
from nacre.rounds.journal import IMPORTED, OF_NUTCH
from nacre.rounds.segments.archive_indexes import RemadeIndex, remake_indexes
from nacre.rounds.segments.digests import damaged_of
from nacre.rounds.segments.named_files import DamagedFile, damaged_notes, named_files
from nacre.rounds.segments.segment_files import is_note, known_files, record_name, recorded
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
    """Whether it is of the archive: one of ours, or a WARC of an imported job or another crawl."""
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
        damaged: Those that are not whole.
        cash: Versions that changed the sum of all cash.
        restored: The version whose state was restored; 0 when none was.
        now: The newest version after a repair; `version` without one.
        remade: Parts whose facts were made again of the WARCs.
        lost: URLs of lists of which those say nothing, or that were fetched after the version that
            was restored; they are due again.
        buckets: Buckets of tables that were made again.
        indexes: Indexes of WARCs that were made again.
        forgotten: Damaged notes of segments that no version names any more.
        left: Those of `damaged` that were not mended.
        imported: Segments whose damaged facts cannot be made again here, and where they came from.
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
        return tuple(one for one in self.damaged if _is_record(one))

    @property
    def segments(self) -> dict[str, tuple[DamagedFile, ...]]:
        """Damaged lists, settings and notes, by segment: no table needs them, but its steps do."""
        found: dict[str, tuple[DamagedFile, ...]] = {}
        for one in self.damaged:
            if match := _OF_SEGMENT.match(one.name):
                found[match[1]] = (*found.get(match[1], ()), one)
        return found

    @property
    def tables(self) -> tuple[DamagedFile, ...]:
        """The other damaged files."""
        return tuple(
            one for one in self.damaged if not _is_record(one) and not _OF_SEGMENT.match(one.name)
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
    """Compare every file that the newest version names with its digest.

    Args:
        cycle: The versions.
        engine: Runs the tasks.
        place: Where they work.
        clock: Now, ms.
        repair: Make damaged facts again of the WARCs, and damaged buckets of tables of an earlier
            version, of lists and of facts; if a version or a manifest is damaged, restore the
            newest version whose tables are whole. Make indexes again of their WARCs, and name
            damaged notes no more. WARCs, lists and settings stay as they are.
        dry: Say what a repair would begin with, and change nothing.
        plan: The state machine by which visits become rows again; None: that of new jobs.

    Raises:
        JobError: There is nothing yet; or no version is whole.
        DamageError: A version is missing between two others.
    """
    numbers = cycle.numbers()
    if not numbers:
        raise JobError(f"{cycle.storage.place} has no version yet: nothing was committed")
    found = _checked(cycle, engine, place, numbers[-1])
    plan = plan or RevisitPlan(ScheduleSettings(), {}, UpdateSettings())
    return _Repair(cycle, engine, place, clock, plan, dry=dry).run(found) if repair else found


class _Repair:
    """Mends what a check has found, as far as it can be."""

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

    def run(self, found: StorageCheck) -> StorageCheck:
        """The result of the repair."""
        found = self._tables(found) if found.tables else found
        found = self._indexes(found) if found.records else found
        found = self._notes(found) if found.segments or found.restored else found
        if self._dry:
            return found
        segments = self._cycle.newest().segments
        found = found._replace(
            imported={name: of for name, of in found.imported.items() if name in segments}
        )
        mended = {*(one.name for one in found.indexes if one.is_same), *found.forgotten}
        mended.update(
            one.name
            for one in found.tables
            if found.restored and _segment_of_facts(one.name) not in found.imported
        )
        mended.update(
            one.name for name, of in found.segments.items() if name not in segments for one in of
        )
        mended.update(self._remade)
        return found._replace(left=tuple(one for one in found.damaged if one.name not in mended))

    def _tables(self, found: StorageCheck) -> StorageCheck:
        """With whole tables: facts and buckets made again, or the state of an earlier version."""
        lost = lost_facts(self._cycle, found)
        names = {one.name for one in lost}
        found = found._replace(imported=_origins(self._cycle, found.version, lost))
        damaged = [one for one in found.tables if one.name not in names]
        if not damaged:
            return found
        self._remade = {one.name for one in damaged}
        cycle, engine, place = self._cycle, self._engine, self._place
        facts = [one for one in damaged if _FACTS.fullmatch(one.name)]
        buckets = self._buckets([one.name for one in damaged if one not in facts])
        numbers = cycle.numbers()
        if len(facts) == len(damaged) or buckets:
            wanted = _damaged_parts(facts)
            if self._dry:
                planned = tuple(RemadeBucket(*name) for name in buckets)
                return found._replace(remade=sum(map(len, wanted.values())), buckets=planned)
            made = _parsed(cycle, engine, place, self._clock, wanted) if wanted else ParseResult()
            if made is not None or buckets:
                again = found._replace(buckets=self._made_again(buckets))
                # Facts that nothing has stay damaged: no bucket needs them any more.
                lost_too = set() if made is not None else {one.name for one in facts}
                self._remade -= lost_too
                checked = _checked(cycle, engine, place, cycle.numbers()[-1])
                if (names | lost_too).issuperset(one.name for one in checked.tables):
                    made = made or ParseResult()
                    return again._replace(remade=made.parts, lost=made.lost, now=checked.version)
        for number in reversed(numbers[:-1]):
            earlier = _checked(cycle, engine, place, number)
            if names.issuperset(one.name for one in earlier.tables):
                if self._dry:
                    return found._replace(restored=number)
                lost_urls = _fetched_since(cycle, number)
                restored = cycle.restore(number, self._clock)
                return found._replace(restored=number, now=restored.number, lost=lost_urls)
        raise JobError(
            f"{cycle.storage.place}: none of the versions {numbers[0]} to {numbers[-1]} is whole. "
            f"Put back {damaged[0].name} from a copy"
        )

    def _buckets(self, names: Sequence[str]) -> dict[tuple[str, int], set[str]]:
        """The buckets of damaged files; {} if they are not of buckets, or nothing was fetched."""
        try:
            version = self._cycle.newest()
        except StorageError:
            return {}
        return damaged_buckets(self._cycle, version, names) if has_facts(version) else {}

    def _made_again(self, buckets: Mapping[tuple[str, int], set[str]]) -> tuple[RemadeBucket, ...]:
        """Make damaged buckets again."""
        if not buckets:
            return ()
        at = (self._cycle, self._engine, self._place, self._clock, self._plan)
        return tuple(BucketRepair(*at).run(buckets))

    def _indexes(self, found: StorageCheck) -> StorageCheck:
        """With indexes made again, as far as their WARCs are whole."""
        damaged = {one.name: one.expected for one in found.records}
        version = self._cycle.newest() if not self._dry else self._cycle.version(found.version)
        files = self._cycle.files(version, ARCHIVE)
        made = remake_indexes(self._engine, self._place, files, damaged, dry=self._dry)
        return found._replace(indexes=made)

    def _notes(self, found: StorageCheck) -> StorageCheck:
        """With notes forgotten that nothing but `explain` and this check reads.

        What the tables needed may have made a record anew, or brought back another one. Records
        stay, as earlier versions name them.
        """
        cycle, storage = self._cycle, self._cycle.storage
        version = cycle.newest()
        told = [
            one.name
            for name, of in found.segments.items()
            for one in of
            if name in version.segments and is_note(one.name)
        ]
        if self._dry:
            return found._replace(forgotten=tuple(told))
        segments: dict[str, SegmentState | None] = {}
        for name, state in version.segments.items():
            notes = damaged_notes(storage, name, state)
            if notes:
                known = [one for one in known_files(storage, name, state) if one.name not in notes]
                for one in notes:
                    if one != record_name(name, state.files):
                        storage.delete(one)
                segments[name] = recorded(self._engine, storage, name, state, known)
                told += notes
        found = found._replace(forgotten=tuple(dict.fromkeys(told)))
        if not segments:
            return found
        changes = CycleChanges(step="storage check", clock=self._clock, segments=segments)
        return found._replace(now=cycle.commit(version, changes).number)


def _fetched_since(cycle: Cycle, number: int) -> int:
    """URLs of segments that were fetched, and that a version before does not have as fetched."""
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


def _parsed(
    cycle: Cycle, engine: TaskEngine, place: TaskPlace, clock: int, wanted: dict[str, list[str]]
) -> ParseResult | None:
    """Facts made again of their WARCs; None where these are damaged, too."""
    try:
        return parse(cycle, engine, place, clock, wanted)
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
    found = _checked(cycle, engine, place, number).damaged
    damaged = [one for one in found if not is_note(one.name)]
    if damaged:
        others = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise DamageError(
            f"version {number} cannot be restored: {damaged[0].name}{others}: expected "
            f"{damaged[0].expected}, found {damaged[0].found}. Put it back from a copy, or let "
            "`storage check --repair` find the newest version that is whole"
        )


def restore_whole(
    cycle: Cycle, engine: TaskEngine, place: TaskPlace, number: int, clock: int
) -> CycleVersion:
    """Commit a version that says what an earlier one says, if all files of that are whole.

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
    """The parts whose facts are damaged, by segment."""
    found: dict[str, list[str]] = {}
    for file in damaged:
        match = _FACTS.fullmatch(file.name)
        if match is not None and match[1] not in found.setdefault(match[2], []):
            found[match[2]].append(match[1])
    return found


def _segment_of_facts(name: str) -> str:
    """The segment that a file of facts or a manifest of a part is of; "" for other files."""
    match = _FACTS.fullmatch(name)
    return match[2] if match else ""


def lost_facts(cycle: Cycle, found: StorageCheck) -> tuple[DamagedFile, ...]:
    """Damaged facts of imported segments that cannot be made again of WARCs.

    Nutch has parsed its segments itself. The WARCs of jobs and other crawls have more captures than
    those that came in, which only the visits name: a part needs those whole.

    Args:
        cycle: The versions.
        found: What a check has found.
    """
    named = {name for one in found.tables if (name := _segment_of_facts(one.name))}
    segments = cycle.version(found.version).segments if named else {}
    damaged = {one.name for one in found.tables}
    lost: set[str] = set()
    for name in named:
        state = segments[name]
        parts = {part for of in state.parts.values() for part in of}
        if state.more.get(IMPORTED) == OF_NUTCH:
            lost |= parts
        elif IMPORTED in state.more:
            known = {one.name for one in known_files(cycle.storage, name, state)}
            for part in parts:
                visits = f"{part}/visits.parquet"
                if visits in damaged or (f"{part}.json" in damaged and visits not in known):
                    lost.add(part)
    return tuple(
        one
        for one in found.tables
        if (match := _FACTS.fullmatch(one.name)) is not None and match[1] in lost
    )


def _origins(cycle: Cycle, number: int, lost: Sequence[DamagedFile]) -> dict[str, str]:
    """Where the segments of damaged facts were imported from."""
    names = dict.fromkeys(_segment_of_facts(one.name) for one in lost)
    segments = cycle.version(number).segments if names else {}
    return {name: str(segments[name].more[IMPORTED]) for name in names}


def _checked(cycle: Cycle, engine: TaskEngine, place: TaskPlace, number: int) -> StorageCheck:
    try:
        version = cycle.version(number)
    except DamageError as error:
        said = DamagedFile(version_name(number), "a version that can be read", str(error))
        return StorageCheck(number, 0, 0, (said,), now=number, left=(said,))
    named = named_files(cycle, version)
    damage = (*named.damaged, *damaged_of(engine, place, named.files))
    cash = () if damage else tuple(cash_changes(cycle, place))
    size = sum(file.size for file in named.files)
    return StorageCheck(number, len(named.files), size, damage, cash, now=number, left=damage)


# ---- cash


def cash_changes(cycle: Cycle, place: TaskPlace) -> Iterator[CashChange]:
    """The kept versions whose step changed the sum of all cash, though it may not.

    `opic` hands cash from page to page, so only seeds bring some in, and only what leaves the table
    takes some out. Cash is summed in the fold, so its sum over all files is that over all rows;
    what pages of updated segments gave to the virtual page is in none of them.
    """
    sums: dict[str, int | None] = {}
    with place.open() as work:
        for name in dict.fromkeys(_cash_files(cycle)):
            sums[name] = _cash_of(work, name)
    before: int | None = None
    for number in cycle.numbers():
        version = _readable(cycle, number)
        after = None if version is None else _total(cycle, version, sums)
        if version is None or after is None:
            before = None  # it is damaged, which is told for itself
            continue
        if before is not None and after != before and version.step in _KEEPS_CASH:
            yield CashChange(number, version.step, before, after)
        before = after


def _readable(cycle: Cycle, number: int) -> CycleVersion | None:
    """A version whose manifest can be read; None otherwise."""
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


def _cash_of(work: TaskWork, name: str) -> int | None:
    """The sum of the cash in a file; None where it cannot be read."""
    path = work.storage.local_path(name)
    try:
        if path is None:
            path = work.scratch / "cash.parquet"
            work.storage.fetch(name, path)
        rows = f"read_parquet({quoted(str(path))})"
        return int(work.kernel.value(f"select coalesce(sum(cash), 0) from {rows}"))
    except (StorageError, KernelError):
        return None


def _total(cycle: Cycle, version: CycleVersion, sums: Mapping[str, int | None]) -> int | None:
    states = version.segments.values()
    total = sum(int(one.more.get("virtual", 0)) for one in states if one.state == "updated")
    for file in cycle.files(version, CRAWLDB):
        if file.kind != "set":
            cash = sums[file.path]
            if cash is None:
                return None
            total += cash
    return total
