"""The check of a storage: whether every file that a version names is there, and whole.

A file is whole when its sha256 is the one that was committed. Facts that are damaged are made again
of the WARCs; for other damage `repair` makes the newest version whose files are all whole the state
again. Beside the files the sum of all cash is compared: only a
few steps may change it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.crawldb.kernels import KernelError, quoted
from nacre.cycle.engine import TaskEngine
from nacre.cycle.steps.parse import ParseResult, parse
from nacre.cycle.storage import MissingFileError, Storage, file_sha256
from nacre.cycle.tables import CRAWLDB, TaskPlace, TaskWork, local_warc
from nacre.cycle.versions import (
    ARCHIVE,
    OUTSIDE,
    Cycle,
    CycleVersion,
    TableFile,
    version_name,
)
from nacre.errors import DamageError, JobError, StorageError

MISSING = "missing"
"""What is found in place of a digest where there is no file."""

_TASK_BYTES = 256 << 20
_TASK_FILES = 256
_FACTS = re.compile(r"(segments/([^/]+)/parts/[^/]+/[^/]+)/[a-z]+\.parquet")
_RECORDS = f"{ARCHIVE}/"
_KEEPS_CASH = frozenset(("generate", "fetch", "update", "compact", "dedup", "links", "parse"))
"""Steps that leave the sum of all cash as it is, with that of the virtual page."""


class NamedFile(NamedTuple):
    """A file that a version names.

    Attributes:
        name: Its name in the storage.
        size: Bytes.
        sha256: The digest that was committed; "" for a file that only has to be there.
    """

    name: str
    size: int
    sha256: str


class DamagedFile(NamedTuple):
    """A file that is not whole.

    Attributes:
        name: Its name in the storage.
        expected: Its sha256, as it was committed.
        found: Its sha256 now; `missing` without the file; or why it cannot be read.
    """

    name: str
    expected: str
    found: str


def _is_record(file: DamagedFile) -> bool:
    """Whether it is of the archive: one of ours, or a WARC of an imported job."""
    return file.name.startswith((_RECORDS, "/"))


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
        lost: URLs of lists of which those say nothing; they are due again.
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

    @property
    def records(self) -> tuple[DamagedFile, ...]:
        """Damaged files of the archive: only a copy mends them, and tables do not need them."""
        return tuple(one for one in self.damaged if _is_record(one))

    @property
    def tables(self) -> tuple[DamagedFile, ...]:
        """The other damaged files."""
        return tuple(one for one in self.damaged if not _is_record(one))

    @property
    def whole(self) -> bool:
        """Whether nothing was found."""
        return not self.damaged and not self.cash


class DigestSpec(NamedTuple):
    """One task: files whose digests are compared."""

    place: TaskPlace
    files: tuple[NamedFile, ...]


def check_storage(
    cycle: Cycle,
    engine: TaskEngine,
    place: TaskPlace,
    clock: int,
    *,
    repair: bool = False,
    dry: bool = False,
) -> StorageCheck:
    """Compare every file that the newest version names with its digest.

    Args:
        cycle: The versions.
        engine: Runs the tasks.
        place: Where they work.
        clock: Now, ms.
        repair: If facts alone are damaged, make them again of the WARCs; for other damage of
            tables restore the newest version whose tables are whole. WARCs stay as they are.
        dry: Say what a repair would begin with, and change nothing.

    Raises:
        JobError: There is nothing yet; or no version is whole.
        DamageError: A version is missing between two others.
    """
    numbers = cycle.numbers()
    if not numbers:
        raise JobError(f"{cycle.storage.place} has no version yet: nothing was committed")
    found = _checked(cycle, engine, place, numbers[-1])
    if not (repair and found.tables):
        return found
    wanted = _damaged_parts(found.tables)
    if wanted and dry:
        return found._replace(remade=sum(map(len, wanted.values())))
    made = _parsed(cycle, engine, place, clock, wanted) if wanted else None
    if made is not None:
        again = _checked(cycle, engine, place, cycle.numbers()[-1])
        if not again.tables:
            return found._replace(remade=made.parts, lost=made.lost, now=again.version)
    for number in reversed(numbers[:-1]):
        if not _checked(cycle, engine, place, number).tables:
            if dry:
                return found._replace(restored=number)
            restored = cycle.restore(number, clock)
            return found._replace(restored=number, now=restored.number)
    raise JobError(
        f"{cycle.storage.place}: none of the versions {numbers[0]} to {numbers[-1]} is whole. "
        f"Put back {found.tables[0].name} from a copy"
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
    damaged = _checked(cycle, engine, place, number).damaged
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
    """The parts whose facts are damaged, by segment; {} when anything else is, too."""
    found: dict[str, list[str]] = {}
    for file in damaged:
        match = _FACTS.fullmatch(file.name)
        if match is None:
            return {}
        if match[1] not in found.setdefault(match[2], []):
            found[match[2]].append(match[1])
    return found


def _checked(cycle: Cycle, engine: TaskEngine, place: TaskPlace, number: int) -> StorageCheck:
    try:
        version = cycle.version(number)
        files = list(named_files(cycle, version))
    except DamageError as error:
        damaged = DamagedFile(version_name(number), "a version that can be read", str(error))
        return StorageCheck(number, 0, 0, (damaged,), now=number)
    except MissingFileError as error:
        damaged = DamagedFile(version_name(number), "all its manifests", str(error))
        return StorageCheck(number, 0, 0, (damaged,), now=number)
    specs = [DigestSpec(place, group) for group in _groups(files)]
    damage = [one for found in engine.map(digest_task, specs) for one in found]
    cash = () if damage else tuple(cash_changes(cycle, place))
    size = sum(file.size for file in files)
    return StorageCheck(number, len(files), size, tuple(damage), cash, now=number)


def named_files(cycle: Cycle, version: CycleVersion) -> Iterator[NamedFile]:
    """All files that a version names: tables, archive, facts and lists of segments, seeds.

    Raises:
        DamageError: A manifest is not the one that was committed.
    """
    for table in (*version.tables, ARCHIVE):
        for file in cycle.files(version, table):
            if file.kind != OUTSIDE or not _is_there(cycle.storage, file):
                yield NamedFile(file.path, file.size, file.sha256)
    for segment, state in version.segments.items():
        for unit in state.parts.values():
            for part in unit:
                yield from _part_files(cycle.storage, f"{part}.json")
        if state.state == "generated":
            for name in cycle.storage.list(f"segments/{segment}/lists"):
                yield NamedFile(name, 0, "")
    for name in version.seeds:
        yield NamedFile(name, 0, "")


def _is_there(storage: Storage, file: TableFile) -> bool:
    """Whether a WARC of an imported job is where it was; it may have grown since."""
    return local_warc(storage, file, Path()).is_file()


class _PartFile(msgspec.Struct):
    name: str
    size: int
    sha256: str


class _Part(msgspec.Struct):
    files: list[_PartFile] = []


def _part_files(storage: Storage, name: str) -> Iterator[NamedFile]:
    """The facts of a part; its WARCs were moved into the archive."""
    try:
        part = msgspec.json.decode(storage.read(name), type=_Part)
    except msgspec.DecodeError as error:
        raise DamageError(f"{storage.place}/{name}: it is no manifest of a part: {error}") from None
    for file in part.files:
        if file.name.endswith(".parquet"):
            yield NamedFile(file.name, file.size, file.sha256)


def _groups(files: Sequence[NamedFile]) -> Iterator[tuple[NamedFile, ...]]:
    """Files by tasks of about the same size."""
    group: list[NamedFile] = []
    size = 0
    for file in files:
        group.append(file)
        size += file.size
        if size >= _TASK_BYTES or len(group) >= _TASK_FILES:
            yield tuple(group)
            group, size = [], 0
    if group:
        yield tuple(group)


def digest_task(spec: DigestSpec) -> list[DamagedFile]:
    """The files of a task that are not whole."""
    found = []
    with spec.place.open() as work:
        for file in spec.files:
            said = _found(work, file)
            if said != file.sha256 and (file.sha256 or said == MISSING):
                found.append(DamagedFile(file.name, file.sha256 or "a file", said))
    return found


def _found(work: TaskWork, file: NamedFile) -> str:
    storage = work.storage
    if file.name.startswith("/"):
        return MISSING
    path = storage.local_path(file.name)
    try:
        if path is not None:
            return file_sha256(path) if path.is_file() else MISSING
        copy = work.scratch / "compared"
        storage.fetch(file.name, copy)
        return file_sha256(copy)
    except MissingFileError:
        return MISSING
    except (StorageError, OSError) as error:
        return f"it cannot be read: {error}"


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
