"""Readers of the tables of a version: statistics, rows, and results of SQL.

Rows are readable for people: a status by its name, times as timestamps, scores as fractions;
`readable` converts the folded rows. A reader works on buckets, in tasks if that is faster. SQL
of users runs in a kernel with a locked configuration.
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
"""Quantiles of the score; Nutch, `db.stats.score.quantiles`."""

_HOSTS = "hosts"
_BATCH = 10_000
_SHARES = 1_000_000
MOST_ROWS = 2**62
"""A limit that no table reaches; the greatest limit of a kernel."""


class TableView(NamedTuple):
    """A version of the tables, with the engine to read it.

    Attributes:
        cycle: The versions.
        version: The version to read.
        engine: Runs the tasks.
        place: The work place of the tasks.
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
        sample: Share of the rows, always the same rows; 1 for all.
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
        place: The work place of the task.
        buckets: The buckets, with their files.
        interval: Interval of a row that has none, s.
        query: SQL over `rows`, the readable rows of these buckets; "" for a task with its own
            query.
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
        quantiles: Quantiles of the score, to three digits.
        hosts: Counts by host and status; {} unless requested.
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
    """Counts of known URLs.

    Attributes:
        known: All known URLs.
        waiting: URLs that were never fetched and that no rule excludes.
    """

    known: int
    waiting: int


# ---- rows as a person reads them


def readable(query: str) -> str:
    """Return SQL that converts folded rows to readable ones.

    Args:
        query: A query with all columns of the CrawlDb.
    """
    named = {name: f'"{name}"' for name in READER_COLUMNS}
    picks = [f"{READER_SQL.get(name, column)} as {column}" for name, column in named.items()]
    return f"select {', '.join(picks)} from ({query})"


def filter_sql(kernel: Kernel, row_filter: RowFilter) -> str:
    """Return SQL of a filter, over readable rows.

    Args:
        kernel: Has a table `rows`, for checking `where`.
        row_filter: The filter.

    Raises:
        ConfigError: The status or the share is invalid.
        UserSqlError: `where` or `regex` is invalid.
    """
    parts = []
    if row_filter.status:
        try:
            parts.append(f"status = {quoted(status_of(row_filter.status).label)}")
        except ValueError as error:
            raise ConfigError(f"--status: {error}") from None
    if row_filter.regex:
        test = f"regexp_full_match(key, {quoted(row_filter.regex)})"
        check_expression(kernel, test, "rows")
        parts.append(test)
    if row_filter.retries is not None:
        parts.append(f"retries = {row_filter.retries:d}")
    if not 0 < row_filter.sample <= 1:
        raise ConfigError(
            f"--sample {row_filter.sample}: it is a share of the rows, above 0 up to 1"
        )
    if row_filter.sample < 1:
        parts.append(f"md5_number(key) % {_SHARES} < {round(row_filter.sample * _SHARES)}")
    if row_filter.where:
        require_statuses(kernel, row_filter.where)
        meant = with_status_codes(kernel, row_filter.where)
        check_expression(kernel, row_filter.where, "rows", READER_COLUMNS, meant)
        parts.append(true_sql(meant))
    return " and ".join(parts) or "true"


def check_filter(row_filter: RowFilter) -> str:
    """Return SQL of a filter, checked against an empty table, before any file is read."""
    with Kernel(100 * 10**6) as kernel:
        _empty_rows(kernel)
        return filter_sql(kernel, row_filter)


def _empty_rows(kernel: Kernel) -> None:
    types = ", ".join(f'null::{column.type} as "{column.name}"' for column in COLUMNS)
    kernel.execute(f"create temp table rows as {readable(f'select {types} limit 0')}")


# ---- tasks


def read_task(spec: ReadSpec) -> list[tuple[Any, ...]]:
    """Return the rows of a query over some buckets."""
    with spec.place.open() as work:
        rows_view(work, spec)
        return work.kernel.rows(spec.query)


def rows_view(work: TaskWork, spec: ReadSpec) -> None:
    """Make the view `rows`: the readable rows of the buckets of a task."""
    local = join_buckets(work, spec.buckets)
    folded = fold_query(*local, interval=spec.interval, order=False)
    work.kernel.execute(f"create temp view rows as {readable(folded)}")


def join_buckets(work: TaskWork, buckets: Iterable[BucketFiles]) -> LocalBucket:
    """Return the local files of several buckets as one, as their keys differ."""
    all_of = BucketFiles(
        0,
        tuple(file for bucket in buckets for file in bucket.base),
        tuple(sorted((f for bucket in buckets for f in bucket.sets), key=lambda file: file.seq)),
        tuple(file for bucket in buckets for file in bucket.adds),
    )
    return local_bucket(work.storage, all_of, work.scratch)


def _read(view: TableView, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of all tasks, in the order of the buckets."""
    buckets = buckets_of(view.cycle, view.version, CRAWLDB)
    specs = [
        ReadSpec(view.place, group, view.interval, query)
        for group in in_tasks(buckets, tasks=view.engine.workers)
    ]
    return [row for rows in view.engine.map(read_task, specs) for row in rows]


# ---- readdb


def table_stats(view: TableView, *, by_host: bool = False) -> TableStats:
    """Return statistics of the table of URLs.

    Args:
        view: The tables.
        by_host: Count by host and status, too.
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
    return _sum_stats(_read(view, query), by_host=by_host)


def count_known_urls(view: TableView) -> KnownCounts:
    """Count known and waiting URLs, with a fold of two columns.

    Args:
        view: The tables.
    """
    if CRAWLDB not in view.version.tables:
        return KnownCounts(0, 0)
    buckets = buckets_of(view.cycle, view.version, CRAWLDB)
    specs = [
        ReadSpec(view.place, group, view.interval)
        for group in in_range_tasks(buckets, view.engine.workers)
    ]
    counts = view.engine.map(count_task, specs)
    return KnownCounts(sum(count.known for count in counts), sum(count.waiting for count in counts))


def count_task(spec: ReadSpec) -> KnownCounts:
    """Count known and waiting URLs of some buckets."""
    wait = f"status = {int(Status.UNFETCHED)} and excluded is null"
    total = waiting = 0
    with spec.place.open() as work:
        for bucket in spec.buckets:
            local = local_bucket(work.storage, bucket, work.scratch)
            columns = ("key", "status", "excluded")
            rows = fold_query(*local, interval=spec.interval, columns=columns, order=False)
            query = f"select count(*), count(*) filter ({wait}) from ({rows})"
            [(of_bucket, unfetched)] = work.kernel.rows(query)
            total, waiting = total + of_bucket, waiting + unfetched
    return KnownCounts(total, waiting)


def _sum_stats(rows: Sequence[tuple[Any, ...]], *, by_host: bool) -> TableStats:
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
        {host: dict(sorted(by_status.items())) for host, by_status in sorted(hosts.items())},
    )


def _spread(rows: Sequence[tuple[Any, ...]], at: int, total: int) -> tuple[float, float, float]:
    """Return least, mean and greatest from three columns with minimum, sum and maximum."""
    if not rows:
        return 0, 0, 0
    mean = sum(row[at + 1] for row in rows) / total
    return min(row[at] for row in rows), mean, max(row[at + 2] for row in rows)


def _quantiles(counted: Mapping[float, int], total: int) -> dict[float, float]:
    quantiles: dict[float, float] = {}
    pending = list(QUANTILES)
    passed = 0
    for value, number in sorted(counted.items()):
        passed += number
        while pending and passed >= pending[0] * total:
            quantiles[pending.pop(0)] = value
    return quantiles


def find_row(view: TableView, url: str, key: str) -> dict[str, Any] | None:
    """Return the readable row of a URL; None for an unknown URL.

    Args:
        view: The tables.
        url: The URL as it was requested.
        key: Its key.
    """
    table = view.version.tables.get(CRAWLDB)
    if table is None:
        return None
    number = bucket_of(key, table.buckets)
    for bucket in buckets_of(view.cycle, view.version, CRAWLDB):
        if bucket.bucket == number:
            query = f"select * from rows where key = {quoted(key)} or key = {quoted(url)}"
            with view.place.open() as work:
                rows_view(work, ReadSpec(view.place, (bucket,), view.interval, query))
                rows = work.kernel.arrow(query).to_pylist()
            return plain_row(rows[0]) if rows else None
    return None


def top_rows(view: TableView, number: int, least: float = 0.0) -> list[tuple[float, str]]:
    """Return the URLs with the greatest scores, then by key. Nutch: `readdb -topN`.

    Args:
        view: The tables.
        number: Most URLs to return.
        least: Least score; 0 for any.

    Raises:
        ConfigError: The least score is no number.
    """
    if not isfinite(least):
        raise ConfigError(f"--min {least}: it is a score, such as 0.5")
    having = f"where score >= {least!r}::DOUBLE" if least else ""
    limit = min(number, MOST_ROWS)
    query = f"select score, key from rows {having} order by score desc, key limit {limit:d}"
    rows = _read(view, query)
    return sorted(rows, key=lambda row: (-row[0], row[1].encode()))[:number]


def dump_rows(view: TableView, row_filter: RowFilter) -> Iterator[Any]:
    """Yield the readable rows that pass a filter, by bucket and key, in batches of Arrow.

    Raises:
        UserSqlError: `where` is wrong.
    """
    passing = check_filter(row_filter)
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
    """Yield the columns of a user's query and its rows, in batches of Arrow.

    The tables are `crawldb` with readable rows, `versions`, and the other tables of the version.

    Args:
        view: The tables.
        text: The query.
        recount: Count URLs by status again for `hosts`: of this host, or "" for all hosts; None for
            the counts of `generate`.

    Raises:
        UserSqlError: It is not one query that only reads, or fails on a row.
    """
    with view.place.open() as work:
        add_functions(work.kernel)
        with _translate_user_errors(text, view.version.tables):
            check_query(work.kernel, text)
        for table in view.version.tables:
            if table in KINDS:
                local = join_buckets(work, buckets_of(view.cycle, view.version, table))
                if table == CRAWLDB or any(local):
                    rows = _table_sql(view, table, local)
                    work.kernel.execute(f'create temp view "{table}" as {rows}')
                else:
                    work.kernel.load(table, table_kind(table).schema().empty_table())
        if recount is not None:
            _recount(view, work, recount)
        work.kernel.load("versions", versions_table(view.cycle))
        with _translate_user_errors(text, view.version.tables):
            names = _unique_names(work.kernel.columns(text))
        yield names, _rename_columns(work.kernel, text, names, view.version.tables)


def _rename_columns(
    kernel: Kernel, text: str, names: Sequence[str], tables: Collection[str]
) -> Iterator[Any]:
    """Yield the batches of a user's query, with these names of columns."""
    with _translate_user_errors(text, tables):
        for batch in kernel.batches(text, size=_BATCH, named=True):
            yield batch.rename_columns(list(names))


@contextmanager
def _translate_user_errors(text: str, tables: Collection[str]) -> Iterator[None]:
    """Translate failures of a user's query, except those of a disk or a file."""
    try:
        yield
    except (KernelStorageError, KernelDamageError):
        raise
    except KernelError as error:
        message = str(error).partition("\n")[0]
        table_names = ", ".join([*sorted(tables), "versions"])
        hint = f"; tables: {table_names}" if message.startswith("Catalog") else ""
        raise UserSqlError(f"{message}{hint}, in {text!r}") from None


def _unique_names(names: Sequence[str]) -> list[str]:
    """Return unique names of columns: `a`, `a_1`."""
    unique: list[str] = []
    for name in names:
        number, candidate = 0, name
        while candidate in unique:
            number += 1
            candidate = f"{name}_{number}"
        unique.append(candidate)
    return unique


def _recount(view: TableView, work: TaskWork, host: str) -> None:
    """Count the URLs of hosts by status again, as visits changed them since `generate`."""
    buckets = buckets_of(view.cycle, view.version, CRAWLDB)
    if host:
        # A host is in one bucket.
        number = bucket_of_host(host, view.version.tables[CRAWLDB].buckets)
        buckets = [bucket for bucket in buckets if bucket.bucket == number]
    before = join_buckets(work, buckets_of(view.cycle, view.version, _HOSTS))
    local = join_buckets(work, buckets)
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
    """Return the versions as a table of Arrow: number, step, host, times, counters."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    versions = [cycle.version(number) for number in cycle.numbers()]
    moment = pa.timestamp("ms")
    return pa.table(
        {
            "version": pa.array([version.number for version in versions], pa.int64()),
            "parent": pa.array([version.parent for version in versions], pa.int64()),
            "step": pa.array([version.step for version in versions], pa.string()),
            "host": pa.array([version.host for version in versions], pa.string()),
            "clock": pa.array([version.clock for version in versions], moment),
            "committed": pa.array([version.committed for version in versions], moment),
            "counters": pa.array(
                [json.dumps(version.counters) for version in versions], pa.string()
            ),
        }
    )
