"""Write seeds as rows of a table: those of the job's own list, and injected seeds.

The own list may be edited at any time: before a step that needs it, its rows are replaced by the
current list, in a separate version (`sync_seeds`). This also converts seed lines in files of an
earlier Nacre. A dry run and a command that only reads load the lines instead.
"""

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from nacre.config.seed_file import seed_lines
from nacre.crawldb.row import bucket_of_host
from nacre.crawldb.seeds import (
    LISTED,
    OWN,
    SEED_COLUMNS,
    SEEDS,
    SeedTableRow,
    seed_bucket,
    seed_rows,
    seed_schema,
)
from nacre.errors import ConfigError, Problem
from nacre.fetch.guard import is_private_seed_name
from nacre.machine.local_files import home_path
from nacre.rounds.admission import Admission, all_seed_lines
from nacre.rounds.segments.frozen_settings import freeze
from nacre.rounds.segments.seed_tasks import (
    PagesSpec,
    SeedChanges,
    SeedSpec,
    count_pages_task,
    find_pages_task,
    seed_buckets,
    seed_task,
    sum_changes,
)
from nacre.rounds.steps.context import StepContext
from nacre.rounds.tables.exchange_rows import ExchangeFiles
from nacre.rounds.tables.seed_index import KeptSeeds, SeedPlace, place_of_seeds, seed_mark
from nacre.rounds.tables.seedlist import (
    InjectedSeed,
    InjectEntry,
    guard_lines,
    portions,
    read_seed_list,
)
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, buckets_of, in_tasks
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SeedTableState
from nacre.scope.seeds import Seed, SeedDirective
from nacre.settings.settings import JobSettings
from nacre.uri.parse import host
from nacre.uri.surt import implied_by

STEP = "seeds"
"""Name of the step that makes rows of seed lines."""
_NAME = "seeds"
_BLOCK = 1 << 20


# ---- rows of seeds


@lru_cache(maxsize=30_000)
def host_bucket(name: str, buckets: int) -> int:
    """Return `bucket_of_host`, cached for lists of seeds with many hosts."""
    return bucket_of_host(name, buckets)


@lru_cache(maxsize=30_000)
def _is_private(name: str) -> bool:
    return is_private_seed_name(name)


def rows_of_seed(seed: Seed, page: str, prefix: str = "") -> Iterator[SeedTableRow]:
    """Return the rows of a seed.

    Args:
        seed: The seed.
        page: The key of its page in the table of URLs.
        prefix: The prefix that it implies, if already known; else "".
    """
    private = _is_private(host(seed.url))
    if seed.own is None:
        row = SeedTableRow(prefix or implied_by(seed.text, seed.url), seed.text, private=private)
    else:
        scope, depth = seed.own.scope, seed.own.depth
        row = SeedTableRow(
            OWN + seed.owner, seed.text, None, None if scope is None else str(scope), depth, private
        )
    yield from seed_rows(row, page)


def rows_of_directive(directive: SeedDirective) -> Iterator[SeedTableRow]:
    """Return the row of a line with + or -."""
    yield SeedTableRow(directive.text, directive.text)


def rows_of_entries(entries: Iterable[InjectEntry], admission: Admission) -> Iterator[SeedTableRow]:
    """Return the rows of all seeds and directives of a list.

    Args:
        entries: The list.
        admission: Returns the keys of pages.
    """
    for entry in entries:
        if isinstance(entry, SeedDirective):
            yield from rows_of_directive(entry)
        elif isinstance(entry, InjectedSeed):
            seed = admission.seed_form(entry.seed)
            yield from rows_of_seed(seed, admission.key(seed.url))


def add_rows(
    exchange: ExchangeFiles, rows: Sequence[SeedTableRow], buckets: int, *, listed: bool
) -> None:
    """Send rows to the tasks.

    Args:
        exchange: The exchange for the rows.
        rows: The rows.
        buckets: Number of buckets.
        listed: The rows are from the job's own list.
    """
    if not rows:
        return
    import pyarrow as pa  # noqa: PLC0415 - an extra

    columns = dict(zip(SeedTableRow._fields, zip(*rows, strict=True), strict=True))
    schema = seed_schema()
    values: list[Any] = []
    for column in SEED_COLUMNS:
        if column.name == "origin":
            values.append([LISTED if listed else None] * len(rows))
        else:
            values.append(columns.get(column.name, [0] * len(rows)))
    arrays = [pa.array(c, f.type) for c, f in zip(values, schema, strict=True)]
    numbers = [seed_bucket(row.key, buckets, host_bucket) for row in rows]
    names = [*schema.names, "bucket"]
    exchange.add(_NAME, pa.table([*arrays, pa.array(numbers, pa.int32())], names))


def change_seeds(
    context: StepContext, version: CycleVersion, exchange: ExchangeFiles, *, whole: bool
) -> SeedChanges:
    """Add the rows of an exchange to the table, by tasks.

    Args:
        context: The context of the driver.
        version: The version that it begins with.
        exchange: The exchange with the rows.
        whole: They are the whole list of the job.
    """
    sent = exchange.send(_NAME)
    number = version.number + 1
    by_number = {b.bucket: b for b in buckets_of(context.cycle, version, SEEDS)}
    numbers = {
        bucket for bucket in range(buckets_here(context, version)) if exchange.group(bucket) in sent
    }
    numbers |= by_number.keys() if whole else set()
    groups: dict[int, list[BucketFiles]] = {}
    for bucket in sorted(numbers):
        groups.setdefault(exchange.group(bucket), []).append(
            by_number.get(bucket, BucketFiles(bucket))
        )
    specs = [
        SeedSpec(context.shared_place, number, sent.get(g, ""), tuple(listed), whole)
        for g, listed in groups.items()
    ]
    return sum_changes(context.engine.map(seed_task, specs))


def buckets_here(context: StepContext, version: CycleVersion) -> int:
    """Return the number of buckets of the tables."""
    for name in (CRAWLDB, SEEDS):
        if name in version.tables:
            return version.tables[name].buckets
    return context.settings.cycle.buckets


def next_state(
    version: CycleVersion, changes: SeedChanges, *, listed: str | None = None
) -> SeedTableState:
    """Return the state of seeds of the next version.

    Args:
        version: The version before.
        changes: The changes of seeds.
        listed: Stamp of the job's own list; None for no change.
    """
    state, number = version.seed_state, version.number + 1
    # Without a table, no row was judged without these seeds.
    is_first = CRAWLDB not in version.tables
    return structs.replace(
        state,
        listed=state.listed if listed is None else listed,
        own=state.own or bool(changes.own),
        directives=state.directives or bool(changes.directives),
        own_at=number if changes.own else state.own_at,
        directives_at=number if changes.directives else state.directives_at,
        judged=number if is_first else state.judged,
    )


# ---- the job's own list


def list_stamp(settings: JobSettings, root: Path) -> str:
    """Return a stamp of the job's own list, which changes with it; "" for an empty list.

    Raises:
        ConfigError: The list cannot be read.
    """
    named = settings.seeds
    if not isinstance(named, str):
        text = "\n".join(named)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else ""
    path = root / home_path(named)
    try:
        status = path.stat()
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError([Problem("seeds", f"{named} cannot be read: {reason}")]) from error
    return f"{digest.hexdigest()} {_status(status)}"


def _status(stat: os.stat_result) -> str:
    return f"{stat.st_size} {stat.st_mtime_ns}"


def _is_listed(stamp: str, settings: JobSettings, root: Path) -> bool:
    """Return whether a stamp is that of the job's current own list."""
    named = settings.seeds
    if isinstance(named, str):
        try:
            status = _status((root / home_path(named)).stat())
        except OSError:
            status = ""
        if status and stamp.partition(" ")[2] == status:
            return True
    return list_stamp(settings, root).partition(" ")[0] == stamp.partition(" ")[0]


class SeedView(NamedTuple):
    """The seeds of a version, for its rules.

    Attributes:
        place: The place of their rows; None if they are no rows yet.
        lines: All seed lines if they are no rows yet.
    """

    place: SeedPlace | None
    lines: tuple[str, ...] = ()

    def open(self, scratch: Path) -> KeptSeeds | None:
        """Open the table; return None without a table.

        Args:
            scratch: Folder for local copies of files of a remote storage.
        """
        return None if self.place is None else self.place.open(scratch)


def is_synced(context: StepContext, version: CycleVersion) -> bool:
    """Return whether all seed lines of a version are rows."""
    settings, root = context.settings, context.layout.root
    return not version.seeds and _is_listed(version.seed_state.listed, settings, root)


def seed_view(context: StepContext, version: CycleVersion) -> SeedView:
    """Return the seeds of a version.

    Raises:
        ConfigError: The job's own list cannot be read.
    """
    if is_synced(context, version):
        return SeedView(seed_place(context, version))
    lines = all_seed_lines(context.settings, context.layout.root, context.cycle.storage, version)
    return SeedView(None, tuple(lines))


def seed_place(context: StepContext, version: CycleVersion) -> SeedPlace | None:
    """Return the place of the rows of seeds of a version; None if it has none."""
    return place_of_seeds(version, context.cycle.storage.place)


def sync_seeds(context: StepContext) -> CycleVersion:
    """Return the newest version, after all seed lines became rows of its table.

    If rows are missing, commit a version with them, unless the step is dry. Only one portion of the
    lines is in memory at a time. If the process is killed, the previous version stays unchanged.

    Raises:
        ConfigError: The job's own list cannot be read.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    if context.dry or is_synced(context, version):
        return version
    settings, root = context.settings, context.layout.root
    stamp = list_stamp(settings, root)
    admission = Admission(settings, root, ())
    buckets = buckets_here(context, version)
    storage = context.cycle.storage
    folder = f"exchange/seeds-{version.number + 1}-{secrets.token_hex(6)}"
    with ExchangeFiles(storage, folder, buckets) as exchange:
        try:
            _add_lines(exchange, seed_lines(settings.seeds, root), admission, buckets, listed=True)
            for name in version.seeds:
                lines = stored_lines(context, name)
                _add_lines(exchange, lines, admission, buckets, listed=False)
            changes = change_seeds(context, version, exchange, whole=True)
        finally:
            exchange.remove()
    is_same = not (changes.added or changes.dropped or version.seeds or version.seed_state.listed)
    if is_same and (not stamp or CRAWLDB not in version.tables):
        return version
    synced_changes = CycleChanges(
        step=STEP,
        clock=context.clock,
        counters={"new": changes.new, "gone": changes.gone},
        added={SEEDS: list(changes.added)} if changes.added else {},
        dropped={SEEDS: set(changes.dropped)} if changes.dropped else {},
        buckets={} if SEEDS in version.tables else {SEEDS: buckets},
        seeds=None,
        seed_state=next_state(version, changes, listed=stamp),
    )
    return context.cycle.commit(version, synced_changes)


def seed_changes(
    context: StepContext, version: CycleVersion, rows: Iterator[SeedTableRow]
) -> SeedChanges:
    """Add rows from outside of the job's own list to the table of seeds.

    Args:
        context: The context of the driver.
        version: The version that it begins with.
        rows: The rows, of any number.
    """
    folder = f"exchange/seeds-{version.number + 1}-{secrets.token_hex(6)}"
    buckets = buckets_here(context, version)
    with ExchangeFiles(context.cycle.storage, folder, buckets) as exchange:
        try:
            for portion in portions(rows, _row_size):
                add_rows(exchange, portion, buckets, listed=False)
            return change_seeds(context, version, exchange, whole=False)
        finally:
            exchange.remove()


def _add_lines(
    exchange: ExchangeFiles,
    lines: Iterable[str],
    admission: Admission,
    buckets: int,
    *,
    listed: bool,
) -> None:
    rows = rows_of_entries(read_seed_list(lines), admission)
    for portion in portions(rows, _row_size):
        add_rows(exchange, portion, buckets, listed=listed)


def _row_size(row: SeedTableRow) -> int:
    return len(row.key) + len(row.text)


def stored_lines(context: StepContext, name: str) -> Iterator[str]:
    """Yield the lines of a file of a storage."""
    from nacre.rounds.storage import localize  # noqa: PLC0415 - where files are

    with context.place.open() as work:
        path = localize(work.storage, name, work.scratch)
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line.rstrip("\n")


def count_pages(context: StepContext, version: CycleVersion) -> int:
    """Return the number of pages that are seeds."""
    buckets = buckets_of(context.cycle, version, SEEDS)
    specs = [PagesSpec(context.place, group) for group in in_tasks(buckets)]
    return sum(context.engine.map(count_pages_task, specs))


def find_seed_pages(context: StepContext, version: CycleVersion, pages: Sequence[str]) -> set[str]:
    """Return the pages that are pages of seeds.

    Args:
        context: The context of the driver.
        version: The version, whose seeds are rows.
        pages: Keys of the table of URLs.
    """
    if not pages or SEEDS not in version.tables:
        return set()
    buckets = version.tables[SEEDS].buckets
    numbers = {bucket_of_host(host(page), buckets) for page in pages}
    files = seed_buckets(buckets_of(context.cycle, version, SEEDS), numbers)
    specs = [PagesSpec(context.place, group, tuple(pages)) for group in in_tasks(files)]
    return set().union(*context.engine.map(find_pages_task, specs))


def freeze_segment(context: StepContext, version: CycleVersion, segment: str) -> dict[str, Any]:
    """Write the current settings for all units of a segment.

    Seeds are not copied: the units look them up in the table of the version. They only get the
    lines of seeds that open addresses.

    Args:
        context: The context of the driver.
        version: The version with the seeds.
        segment: Id of the segment.

    Returns:
        The marks of its seeds for the state of the segment (`SegmentState.more`).

    Raises:
        ConfigError: The configuration contains a secret in plain text.
    """
    view, storage = seed_view(context, version), context.cycle.storage
    lines = list(view.lines)
    if view.place is not None:
        mapped = tuple(context.settings.dns.hosts)
        with context.place.open() as work:
            lines = guard_lines(work, buckets_of(context.cycle, version, SEEDS), mapped)
    freeze(context.layout, context.loaded, lines, storage, segment)
    return {} if view.place is None else seed_mark(view.place)
