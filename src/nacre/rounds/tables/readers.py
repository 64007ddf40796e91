"""Readers: what the tables of a version say, as numbers, rows and answers to SQL.

Rows are shown as a person reads them: a status by its name, times as timestamps, scores as
fractions; `readable` makes them of the folded rows. A reader works on buckets, in tasks where
that is worth it. What a user writes as SQL runs in a kernel whose configuration is locked.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any, NamedTuple

from nacre.crawldb.conditions import READER_COLUMNS, READER_SQL
from nacre.crawldb.fold import fold_query, require_statuses, with_status_codes
from nacre.crawldb.hosts import add_functions, counted_hosts
from nacre.crawldb.kernels import (
    Kernel,
    KernelDamageError,
    KernelError,
    KernelStorageError,
    UserSqlError,
    quoted,
)
from nacre.crawldb.row import COLUMNS, Status, bucket_of, bucket_of_host, status_of
from nacre.crawldb.select import true_sql
from nacre.crawldb.user_sql import check_expression, check_query
from nacre.errors import ConfigError
from nacre.rounds.engine import TaskEngine
from nacre.rounds.tables.row_files import plain_row
from nacre.rounds.tables.tables import (
    CRAWLDB,
    KINDS,
    BucketFiles,
    LocalBucket,
    TaskPlace,
    TaskWork,
    buckets_of,
    in_range_tasks,
    in_tasks,
    local_bucket,
    table_kind,
)
from nacre.rounds.tables.versions import Cycle, CycleVersion

QUANTILES = (0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99)
"""Those of the score; Nutch, `db.stats.score.quantiles`."""

_HOSTS = "hosts"
_BATCH = 10_000
_SHARES = 1_000_000
MOST_ROWS = 2**62
"""A limit that no table reaches; a kernel takes no greater ones."""


class TableView(NamedTuple):
    """A version of the tables that is read, and the means to read it.

    Attributes:
        cycle: The versions.
        version: The one that is read.
        engine: Runs the tasks.
        place: Where they work.
        interval: Interval of a row that has none, s.
    """

    cycle: Cycle
    version: CycleVersion
    engine: TaskEngine
    place: TaskPlace
    interval: int


class RowFilter(NamedTuple):
    """A filter of rows: all conditions must hold. Nutch: `readdb -dump`.

    Attributes:
        status: A status by its name or number, such as `db_gone` or `3`; "" for any.
        regex: An expression (RE2) that matches the whole key; "" for any.
        where: SQL over the readable columns; "" for any.
        sample: Share of the rows, the same ones every time; 1 for all.
        retries: Failures in a row; None for any.
    """

    status: str = ""
    regex: str = ""
    where: str = ""
    sample: float = 1.0
    retries: int | None = None


class ReadSpec(NamedTuple):
    """One task: a query over some buckets.

    Attributes:
        place: Where it works.
        buckets: The buckets, with their files.
        interval: Interval of a row that has none, s.
        query: SQL over `rows`, the readable rows of these buckets; "" for a task that asks for
            nothing else than what it says.
    """

    place: TaskPlace
    buckets: tuple[BucketFiles, ...]
    interval: int
    query: str = ""


class TableStats(NamedTuple):
    """Numbers of the table of URLs, as `nutch readdb -stats` has them.

    Attributes:
        total: URLs.
        statuses: URLs by name of status.
        retries: URLs by failures in a row.
        intervals: Shortest, mean and longest interval, s.
        fetch_times: Earliest, mean and latest fetch time, ms.
        scores: Least, mean and greatest score.
        quantiles: Of the score, to three digits.
        hosts: Counts by host and status; {} unless they were asked for.
    """

    total: int
    statuses: Mapping[str, int]
    retries: Mapping[int, int]
    intervals: tuple[float, float, float]
    fetch_times: tuple[float, float, float]
    scores: tuple[float, float, float]
    quantiles: Mapping[float, float]
    hosts: Mapping[str, Mapping[str, int]]


class KnownCounts(NamedTuple):
    """Counts of the URLs that are known.

    Attributes:
        known: All.
        waiting: Those that were never fetched and that no rule excludes.
    """

    known: int
    waiting: int


# ---- rows as a person reads them


def readable(query: str) -> str:
    """SQL that shows folded rows as a person reads them.

    Args:
        query: A query with all columns of the CrawlDb.
    """
    named = {name: f'"{name}"' for name in READER_COLUMNS}
    picks = [f"{READER_SQL.get(name, column)} as {column}" for name, column in named.items()]
    return f"select {', '.join(picks)} from ({query})"


def condition(kernel: Kernel, wanted: RowFilter) -> str:
    """SQL of a filter, over readable rows.

    Args:
        kernel: Has a table `rows`, by which `where` is checked.
        wanted: The filter.

    Raises:
        ConfigError: The status or the share is none.
        UserSqlError: `where` or `regex` is none.
    """
    parts = []
    if wanted.status:
        try:
            parts.append(f"status = {quoted(status_of(wanted.status).label)}")
        except ValueError as error:
            raise ConfigError(f"--status: {error}") from None
    if wanted.regex:
        test = f"regexp_full_match(key, {quoted(wanted.regex)})"
        check_expression(kernel, test, "rows")
        parts.append(test)
    if wanted.retries is not None:
        parts.append(f"retries = {wanted.retries:d}")
    if not 0 < wanted.sample <= 1:
        raise ConfigError(f"--sample {wanted.sample}: it is a share of the rows, above 0 up to 1")
    if wanted.sample < 1:
        parts.append(f"md5_number(key) % {_SHARES} < {round(wanted.sample * _SHARES)}")
    if wanted.where:
        require_statuses(kernel, wanted.where)
        meant = with_status_codes(kernel, wanted.where)
        check_expression(kernel, wanted.where, "rows", READER_COLUMNS, meant)
        parts.append(true_sql(meant))
    return " and ".join(parts) or "true"


def checked_condition(wanted: RowFilter) -> str:
    """The same, checked against an empty table, before any file is read."""
    with Kernel(100 * 10**6) as kernel:
        _empty_rows(kernel)
        return condition(kernel, wanted)


def _empty_rows(kernel: Kernel) -> None:
    types = ", ".join(f'null::{column.type} as "{column.name}"' for column in COLUMNS)
    kernel.execute(f"create temp table rows as {readable(f'select {types} limit 0')}")


# ---- tasks


def read_task(spec: ReadSpec) -> list[tuple[Any, ...]]:
    """The rows of a query over some buckets."""
    with spec.place.open() as work:
        rows_view(work, spec)
        return work.kernel.rows(spec.query)


def rows_view(work: TaskWork, spec: ReadSpec) -> None:
    """Make the view `rows`: the readable rows of the buckets of a task."""
    local = joined(work, spec.buckets)
    folded = fold_query(*local, interval=spec.interval, order=False)
    work.kernel.execute(f"create temp view rows as {readable(folded)}")


def joined(work: TaskWork, buckets: Iterable[BucketFiles]) -> LocalBucket:
    """The local files of several buckets, whose keys differ, as those of one."""
    all_of = BucketFiles(
        0,
        tuple(file for one in buckets for file in one.base),
        tuple(sorted((f for one in buckets for f in one.sets), key=lambda file: file.seq)),
        tuple(file for one in buckets for file in one.adds),
    )
    return local_bucket(work.storage, all_of, work.scratch)


def _read(view: TableView, query: str) -> list[tuple[Any, ...]]:
    """The rows of all tasks, in the order of the buckets."""
    buckets = buckets_of(view.cycle, view.version, CRAWLDB)
    specs = [
        ReadSpec(view.place, group, view.interval, query)
        for group in in_tasks(buckets, tasks=view.engine.workers)
    ]
    return [row for rows in view.engine.map(read_task, specs) for row in rows]


# ---- readdb


def table_stats(view: TableView, *, by_host: bool = False) -> TableStats:
    """Numbers of the table of URLs.

    Args:
        view: What is read.
        by_host: Count by host and status too.
    """
    # Scores are counted by three digits, so that a task returns few rows.
    digits = (
        "case when score = 0 then 0 else round(score, 2 - floor(log10(abs(score)))::INTEGER) end"
    )
    keys = f"status, retries, {digits} as s" + (", host" if by_host else ", '' as host")
    query = (
        f'select {keys}, count(*), min("interval"), sum("interval")::DOUBLE, '
        'max("interval"), epoch_ms(min(fetch_time)), sum(epoch_ms(fetch_time))::DOUBLE, '
        "epoch_ms(max(fetch_time)), min(score), sum(score), max(score) "
        "from rows group by all order by all"
    )
    return _summed(_read(view, query), by_host=by_host)


def known_urls(view: TableView) -> KnownCounts:
    """The URLs that are known and those that wait, counted: a fold of two columns.

    Args:
        view: What is read.
    """
    if CRAWLDB not in view.version.tables:
        return KnownCounts(0, 0)
    buckets = buckets_of(view.cycle, view.version, CRAWLDB)
    specs = [
        ReadSpec(view.place, group, view.interval)
        for group in in_range_tasks(buckets, view.engine.workers)
    ]
    found = view.engine.map(count_task, specs)
    return KnownCounts(sum(one.known for one in found), sum(one.waiting for one in found))


def count_task(spec: ReadSpec) -> KnownCounts:
    """The same for some buckets."""
    wait = f"status = {int(Status.UNFETCHED)} and excluded is null"
    known = waiting = 0
    with spec.place.open() as work:
        for bucket in spec.buckets:
            local = local_bucket(work.storage, bucket, work.scratch)
            columns = ("key", "status", "excluded")
            rows = fold_query(*local, interval=spec.interval, columns=columns, order=False)
            query = f"select count(*), count(*) filter ({wait}) from ({rows})"
            [(of_bucket, left)] = work.kernel.rows(query)
            known, waiting = known + of_bucket, waiting + left
    return KnownCounts(known, waiting)


def _summed(rows: Sequence[tuple[Any, ...]], *, by_host: bool) -> TableStats:
    statuses: Counter[str] = Counter()
    retries: Counter[int] = Counter()
    scores: Counter[float] = Counter()
    hosts: dict[str, Counter[str]] = {}
    for status, tries, score, host, number, *_ in rows:
        statuses[status] += number
        retries[tries] += number
        scores[score] += number
        if by_host:
            hosts.setdefault(host, Counter())[status] += number
    total = statuses.total()
    return TableStats(
        total,
        dict(sorted(statuses.items())),
        dict(sorted(retries.items())),
        _spread(rows, 5, total),
        _spread(rows, 8, total),
        _spread(rows, 11, total),
        _quantiles(scores, total),
        {host: dict(sorted(found.items())) for host, found in sorted(hosts.items())},
    )


def _spread(rows: Sequence[tuple[Any, ...]], at: int, total: int) -> tuple[float, float, float]:
    """Least, mean and greatest of three columns with minimum, sum and maximum."""
    if not rows:
        return 0, 0, 0
    mean = sum(row[at + 1] for row in rows) / total
    return min(row[at] for row in rows), mean, max(row[at + 2] for row in rows)


def _quantiles(counted: Mapping[float, int], total: int) -> dict[float, float]:
    found: dict[float, float] = {}
    wanted = list(QUANTILES)
    passed = 0
    for value, number in sorted(counted.items()):
        passed += number
        while wanted and passed >= wanted[0] * total:
            found[wanted.pop(0)] = value
    return found


def find_row(view: TableView, url: str, key: str) -> dict[str, Any] | None:
    """The readable row of a URL; None when it is not known.

    Args:
        view: What is read.
        url: The URL as it was asked for; for the message of an error.
        key: Its key.
    """
    table = view.version.tables.get(CRAWLDB)
    if table is None:
        return None
    wanted = bucket_of(key, table.buckets)
    for bucket in buckets_of(view.cycle, view.version, CRAWLDB):
        if bucket.bucket == wanted:
            query = f"select * from rows where key = {quoted(key)} or key = {quoted(url)}"
            with view.place.open() as work:
                rows_view(work, ReadSpec(view.place, (bucket,), view.interval, query))
                found = work.kernel.arrow(query).to_pylist()
            return plain_row(found[0]) if found else None
    return None


def top_rows(view: TableView, number: int, least: float = 0.0) -> list[tuple[float, str]]:
    """The URLs with the greatest scores, best first; equals by key. Nutch: `readdb -topN`.

    Args:
        view: What is read.
        number: How many.
        least: Least score; 0 for any.

    Raises:
        ConfigError: The least score is no number.
    """
    if not isfinite(least):
        raise ConfigError(f"--min {least}: it is a score, such as 0.5")
    having = f"where score >= {least!r}::DOUBLE" if least else ""
    limit = min(number, MOST_ROWS)
    query = f"select score, key from rows {having} order by score desc, key limit {limit:d}"
    found = _read(view, query)
    return sorted(found, key=lambda row: (-row[0], row[1].encode()))[:number]


def dump_rows(view: TableView, wanted: RowFilter) -> Iterator[Any]:
    """The readable rows that pass a filter, by bucket and key, in batches of Arrow.

    Raises:
        UserSqlError: `where` is wrong.
    """
    passing = checked_condition(wanted)
    query = f"select * from rows where {passing} order by key"
    for group in in_tasks(buckets_of(view.cycle, view.version, CRAWLDB)):
        with view.place.open() as work:
            rows_view(work, ReadSpec(view.place, group, view.interval, query))
            yield from work.kernel.batches(query, size=_BATCH, named=True)


# ---- SQL


@contextmanager
def sql(
    view: TableView, text: str, *, recount: str | None = None
) -> Iterator[tuple[list[str], Iterator[Any]]]:
    """The columns of a user's query and its rows, in batches of Arrow.

    The tables are `crawldb` with readable rows, `versions`, and those besides that the version has.

    Args:
        view: What is read.
        text: The query.
        recount: Let `hosts` have URLs by status as they are now: of this host alone, "" for all
            hosts; None: as `generate` counted them.

    Raises:
        UserSqlError: It is not one query that only reads, or fails on a row.
    """
    with view.place.open() as work:
        add_functions(work.kernel)
        with _of_user(text, view.version.tables):
            check_query(work.kernel, text)
        for table in view.version.tables:
            if table in KINDS:
                local = joined(work, buckets_of(view.cycle, view.version, table))
                if table == CRAWLDB or any(local):
                    rows = _table_sql(view, table, local)
                    work.kernel.execute(f'create temp view "{table}" as {rows}')
                else:
                    work.kernel.load(table, table_kind(table).schema().empty_table())
        if recount is not None:
            _recount(view, work, recount)
        work.kernel.load("versions", versions_table(view.cycle))
        with _of_user(text, view.version.tables):
            names = _apart(work.kernel.columns(text))
        yield names, _named(work.kernel, text, names, view.version.tables)


def _named(
    kernel: Kernel, text: str, names: Sequence[str], tables: Collection[str]
) -> Iterator[Any]:
    """The batches of a user's query, with these names of columns."""
    with _of_user(text, tables):
        for batch in kernel.batches(text, size=_BATCH, named=True):
            yield batch.rename_columns(list(names))


@contextmanager
def _of_user(text: str, tables: Collection[str]) -> Iterator[None]:
    """A query that fails is the user's, unless a disk or a file does."""
    try:
        yield
    except (KernelStorageError, KernelDamageError):
        raise
    except KernelError as error:
        said = str(error).partition("\n")[0]
        known = ", ".join([*sorted(tables), "versions"])
        named = f"; tables: {known}" if said.startswith("Catalog") else ""
        raise UserSqlError(f"{said}{named}, in {text!r}") from None


def _apart(names: Sequence[str]) -> list[str]:
    """Names of columns, each once: `a`, `a_1`."""
    found: list[str] = []
    for name in names:
        number, other = 0, name
        while other in found:
            number += 1
            other = f"{name}_{number}"
        found.append(other)
    return found


def _recount(view: TableView, work: TaskWork, host: str) -> None:
    """Count the URLs of hosts by status anew: `generate` did it, and visits changed them since."""
    buckets = buckets_of(view.cycle, view.version, CRAWLDB)
    if host:
        # All of a host lies in one bucket.
        wanted = bucket_of_host(host, view.version.tables[CRAWLDB].buckets)
        buckets = [one for one in buckets if one.bucket == wanted]
    before = joined(work, buckets_of(view.cycle, view.version, _HOSTS))
    local = joined(work, buckets)
    if not any(local) or not any(before):
        return
    rows = fold_query(*local, interval=view.interval, columns=("key", "status"), order=False)
    counted = counted_hosts(f"({table_kind(_HOSTS).merge(before)})", f"({rows})")
    work.kernel.execute(f"create or replace temp view hosts as {counted}")


def _table_sql(view: TableView, table: str, local: LocalBucket) -> str:
    if table != CRAWLDB:
        return table_kind(table).merge(local)
    if not any(local):
        types = ", ".join(f'null::{column.type} as "{column.name}"' for column in COLUMNS)
        return readable(f"select {types} limit 0")
    return readable(fold_query(*local, interval=view.interval, order=False))


def versions_table(cycle: Cycle) -> Any:  # noqa: ANN401 - pyarrow has no types
    """The versions as a table of Arrow: number, step, host, times, counters."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    found = [cycle.version(number) for number in cycle.numbers()]
    moment = pa.timestamp("ms")
    return pa.table(
        {
            "version": pa.array([one.number for one in found], pa.int64()),
            "parent": pa.array([one.parent for one in found], pa.int64()),
            "step": pa.array([one.step for one in found], pa.string()),
            "host": pa.array([one.host for one in found], pa.string()),
            "clock": pa.array([one.clock for one in found], moment),
            "committed": pa.array([one.committed for one in found], moment),
            "counters": pa.array([json.dumps(one.counters) for one in found], pa.string()),
        }
    )
