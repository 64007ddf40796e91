"""Seeds become rows of a table: those of the job's own list, and those that were injected.

The own list may be edited at any time: before a step that needs it, its rows become those of the
list as it is now, in a version of its own (`synced`). The same makes rows of the seed lines that a
cycle of an earlier Nacre has in files. A dry run and a command that only reads load lines instead.
"""

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from nacre.config.ordinary import home_path
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
from nacre.engine.seeding.seedfile import seed_lines
from nacre.engine.seeding.seeds import Seed, SeedDirective
from nacre.errors import ConfigError, Problem
from nacre.fetch.guard import is_private_seed_name
from nacre.rounds.admission import Admission, all_seed_lines
from nacre.rounds.segments.seed_tasks import (
    PagesSpec,
    SeedChanges,
    SeedSpec,
    count_pages_task,
    find_pages_task,
    seed_buckets,
    seed_task,
    summed_changes,
)
from nacre.rounds.steps.context import StepContext
from nacre.rounds.tables.exchange_rows import ExchangeFiles
from nacre.rounds.tables.seed_index import KeptSeeds, SeedPlace, place_of_seeds
from nacre.rounds.tables.seedlist import InjectedSeed, InjectEntry, portions, read_seed_list
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, buckets_of, in_tasks
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SeedTableState
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
    """Return what `bucket_of_host` returns; lists of seeds have many hosts."""
    return bucket_of_host(name, buckets)


@lru_cache(maxsize=30_000)
def _is_private(name: str) -> bool:
    return is_private_seed_name(name)


def rows_of_seed(seed: Seed, page: str, prefix: str = "") -> Iterator[SeedTableRow]:
    """Return the rows of a seed.

    Args:
        seed: The seed.
        page: The key of its page in the table of URLs.
        prefix: The prefix that it implies, where that is known already; else "".
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
        admission: Gives pages their keys.
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
    """Send rows on their way to the tasks.

    Args:
        exchange: Takes them.
        rows: The rows.
        buckets: Number of buckets.
        listed: They are of the job's own list.
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
    arrays = [pa.array(one, field.type) for one, field in zip(values, schema, strict=True)]
    numbers = [seed_bucket(row.key, buckets, host_bucket) for row in rows]
    names = [*schema.names, "bucket"]
    exchange.add(_NAME, pa.table([*arrays, pa.array(numbers, pa.int32())], names))


def changed_seeds(
    context: StepContext, version: CycleVersion, exchange: ExchangeFiles, *, whole: bool
) -> SeedChanges:
    """Bring the rows of an exchange into the table, by tasks.

    Args:
        context: What the step works with.
        version: The version that it begins with.
        exchange: Has the rows.
        whole: They are all that the job's own list has.
    """
    sent = exchange.send(_NAME)
    number = version.number + 1
    known = {one.bucket: one for one in buckets_of(context.cycle, version, SEEDS)}
    wanted = {
        bucket for bucket in range(buckets_here(context, version)) if exchange.group(bucket) in sent
    }
    wanted |= known.keys() if whole else set()
    groups: dict[int, list[BucketFiles]] = {}
    for bucket in sorted(wanted):
        groups.setdefault(exchange.group(bucket), []).append(known.get(bucket, BucketFiles(bucket)))
    specs = [
        SeedSpec(context.shared_place, number, sent.get(group, ""), tuple(listed), whole)
        for group, listed in groups.items()
    ]
    return summed_changes(context.engine.map(seed_task, specs))


def buckets_here(context: StepContext, version: CycleVersion) -> int:
    """Return the number of buckets of the tables."""
    for name in (CRAWLDB, SEEDS):
        if name in version.tables:
            return version.tables[name].buckets
    return context.settings.cycle.buckets


def state_with(
    version: CycleVersion, changes: SeedChanges, *, listed: str | None = None
) -> SeedTableState:
    """Return what the next version knows of its seeds.

    Args:
        version: The version before.
        changes: What changes.
        listed: Stamp of the job's own list; None: as before.
    """
    known, number = version.seed_state, version.number + 1
    # Where nothing is known, nothing was judged without these seeds.
    is_first = CRAWLDB not in version.tables
    return structs.replace(
        known,
        listed=known.listed if listed is None else listed,
        own=known.own or bool(changes.own),
        directives=known.directives or bool(changes.directives),
        own_at=number if changes.own else known.own_at,
        directives_at=number if changes.directives else known.directives_at,
        judged=number if is_first else known.judged,
    )


# ---- the job's own list


def list_stamp(settings: JobSettings, root: Path) -> str:
    """Return what tells the job's own list from one that was edited; "" for an empty one.

    Raises:
        ConfigError: It cannot be read.
    """
    named = settings.seeds
    if not isinstance(named, str):
        text = "\n".join(named)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else ""
    path = root / home_path(named)
    try:
        known = path.stat()
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError([Problem("seeds", f"{named} cannot be read: {why}")]) from error
    return f"{digest.hexdigest()} {_status(known)}"


def _status(known: os.stat_result) -> str:
    return f"{known.st_size} {known.st_mtime_ns}"


def _is_listed(stamp: str, settings: JobSettings, root: Path) -> bool:
    """True when a stamp is that of the job's own list as it is now."""
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
        place: Where their rows are; None: they are no rows yet.
        lines: All seed lines where they are no rows yet.
    """

    place: SeedPlace | None
    lines: tuple[str, ...] = ()

    def open(self, scratch: Path) -> KeptSeeds | None:
        """Open the table; None: there is none.

        Args:
            scratch: Folder for files of a storage that is not on this machine.
        """
        return None if self.place is None else self.place.open(scratch)


def is_synced(context: StepContext, version: CycleVersion) -> bool:
    """True when all seed lines of a version are rows."""
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
    """Return where the rows of seeds of a version are; None: it has none."""
    return place_of_seeds(version, context.cycle.storage.place)


def synced(context: StepContext) -> CycleVersion:
    """Return the newest version, once all seed lines are rows of its table.

    Where they are not, a version is committed that has them, unless the step is dry. It holds a
    portion of the lines in memory; when it is killed, the version before it stays as it is.

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
            changes = changed_seeds(context, version, exchange, whole=True)
        finally:
            exchange.remove()
    is_same = not (changes.added or changes.dropped or version.seeds or version.seed_state.listed)
    if is_same and (not stamp or CRAWLDB not in version.tables):
        return version
    made = CycleChanges(
        step=STEP,
        clock=context.clock,
        counters={"new": changes.new, "gone": changes.gone},
        added={SEEDS: list(changes.added)} if changes.added else {},
        dropped={SEEDS: set(changes.dropped)} if changes.dropped else {},
        buckets={} if SEEDS in version.tables else {SEEDS: buckets},
        seeds=None,
        seed_state=state_with(version, changes, listed=stamp),
    )
    return context.cycle.commit(version, made)


def seed_changes(
    context: StepContext, version: CycleVersion, rows: Iterator[SeedTableRow]
) -> SeedChanges:
    """Bring rows into the table of seeds that are not of the job's own list.

    Args:
        context: What the step works with.
        version: The version that it begins with.
        rows: The rows, of any number.
    """
    folder = f"exchange/seeds-{version.number + 1}-{secrets.token_hex(6)}"
    buckets = buckets_here(context, version)
    with ExchangeFiles(context.cycle.storage, folder, buckets) as exchange:
        try:
            for portion in portions(rows, _row_size):
                add_rows(exchange, portion, buckets, listed=False)
            return changed_seeds(context, version, exchange, whole=False)
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
    """Return the lines of a file of a storage, one at a time."""
    from nacre.rounds.storage import localized  # noqa: PLC0415 - where files are

    with context.place.open() as work:
        path = localized(work.storage, name, work.scratch)
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line.rstrip("\n")


def count_pages(context: StepContext, version: CycleVersion) -> int:
    """Return the number of pages that are seeds."""
    buckets = buckets_of(context.cycle, version, SEEDS)
    specs = [PagesSpec(context.place, group) for group in in_tasks(buckets)]
    return sum(context.engine.map(count_pages_task, specs))


def pages_among(context: StepContext, version: CycleVersion, pages: Sequence[str]) -> set[str]:
    """Return those of some pages that are pages of seeds.

    Args:
        context: What the step works with.
        version: The version, which is synced.
        pages: Keys of the table of URLs.
    """
    if not pages or SEEDS not in version.tables:
        return set()
    buckets = version.tables[SEEDS].buckets
    wanted = {bucket_of_host(host(page), buckets) for page in pages}
    files = seed_buckets(buckets_of(context.cycle, version, SEEDS), wanted)
    specs = [PagesSpec(context.place, group, tuple(pages)) for group in in_tasks(files)]
    return set().union(*context.engine.map(find_pages_task, specs))
