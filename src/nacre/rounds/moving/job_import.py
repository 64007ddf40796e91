"""Import the store of a continuous crawl as rows of batch rounds.

Visited URLs keep their status, time, capture, and their learned change rate; waiting URLs keep
their due time and the order of their queue. A visit without a page has the state that it would have
in rounds. The store is only read. A running job makes a checkpoint, which is read. Its WARC files
stay where they are.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.core.history import HistoryRecord
from nacre.crawldb.row import GIVEN_UP, ONE, Status, bucket_of
from nacre.crawldb.scoring import Opic
from nacre.engine.outcomes import scan_outcomes
from nacre.engine.seeding.seedbook import directive_lines, seed_rows
from nacre.frontier.pending import pending
from nacre.inspect.stored_job import read_only, require_store
from nacre.job.control import is_running, send_command
from nacre.machine.layout import Layout
from nacre.rounds.admission import Admission
from nacre.rounds.moving.job_archive import REPLIES, located_sql, name_archive, reply_rows
from nacre.rounds.moving.job_timings import RevisitTimings, VisitPlans, revisit_timings
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.seed_rows import rows_of_entries, seed_changes, sync_seeds
from nacre.rounds.steps.taking import (
    OtherRows,
    TakenRows,
    buckets_here,
    commit_rows,
    compare_rows,
    import_rows_sql,
)
from nacre.rounds.tables.seedlist import read_seed_list
from nacre.rounds.tables.tables import TaskWork
from nacre.store.store import Store

_PREREQUISITE = "P"
_HTTP = ("http://", "https://")
_MOST_PRECEDENCE = 30
_DAY = 86_400
_BATCH = 50_000


class JobRows(NamedTuple):
    """The numbers of rows in a store.

    Attributes:
        visited: URLs with an outcome.
        waiting: URLs that wait.
        captures: URLs with a capture.
        seeds: Seeds.
        timed: URLs with a learned interval.
        robots: Waiting requests for robots.txt, which are not imported: rounds make their own.
    """

    visited: int = 0
    waiting: int = 0
    captures: int = 0
    seeds: int = 0
    timed: int = 0
    robots: int = 0


class JobImport(NamedTuple):
    """The outcome of an import of a job.

    Attributes:
        rows: The numbers of rows in its store.
        taken: The outcomes of the URLs.
        warcs: WARC files of its archive that our archive did not list before.
        located: Captures whose place was unknown before.
    """

    rows: JobRows
    taken: TakenRows
    warcs: int = 0
    located: int = 0


def import_job(context: StepContext, layout: Layout) -> JobImport:
    """Import a continuous crawl into the tables of batch rounds.

    Args:
        context: The context of the driver.
        layout: The directory of the job.

    Raises:
        JobError: The job never ran.
        StorageError: Its store cannot be read.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    require_store(layout)
    version = sync_seeds(context)
    storage = context.cycle.storage
    admission = Admission(context.settings, context.layout.root, ())
    target = f"exchange/import-{version.number + 1}-{secrets.token_hex(6)}.parquet"
    try:
        with read_only(str(store_path(layout))) as store, context.place.open() as work:
            place = _Places(admission.key, buckets_here(context, version))
            timings = revisit_timings(context.settings), VisitPlans(context.settings)
            loaded = _load(work, store, place, layout.root, *timings)
            total = work.send(_rows_sql(context), target)
            archive = name_archive(context, version, work)
            imported = OtherRows(
                (target,) if total else (), total=total,
                archive=archive.files, segments=archive.segments,
            )  # fmt: skip
            changes = compare_rows(context, version, imported)
            lines = chain((seed.text for seed in seed_rows(store)), directive_lines(store))
            rows = rows_of_entries(read_seed_list(lines), admission)
            if changes.added and not context.dry:
                imported = imported._replace(seeds=seed_changes(context, version, rows))
            seeds = sum(1 for _ in seed_rows(store))
        options = {"job": str(layout.root)}
        taken_rows = commit_rows(context, version, imported, changes, "import", options)
        counts = loaded._replace(seeds=seeds)
        return JobImport(counts, taken_rows, len(archive.files), archive.captures)
    finally:
        storage.delete(target)


def store_path(layout: Layout) -> Path:
    """Return a store that can be read for long; for a running job that of a checkpoint."""
    if not is_running(layout.socket):
        return layout.store
    answer = send_command(layout.socket, "checkpoint", name="")
    return layout.checkpoints / str(answer["name"])


# ---- the store as tables of a kernel

_VISITED = {
    "key": "VARCHAR", "url": "VARCHAR", "bucket": "INTEGER", "status": "BIGINT", "wait": "BIGINT",
    "interval": "BIGINT", "code": "BIGINT", "time": "BIGINT", "attempts": "BIGINT",
    "via": "VARCHAR", "path": "VARCHAR",
}  # fmt: skip
_WAITING = {
    "key": "VARCHAR", "url": "VARCHAR", "bucket": "INTEGER", "due": "BIGINT", "attempts": "BIGINT",
    "via": "VARCHAR", "path": "VARCHAR", "source": "VARCHAR", "precedence": "BIGINT",
    "code": "BIGINT", "place": "BIGINT",
}  # fmt: skip
_CAPTURED = {
    "key": "VARCHAR", "url": "VARCHAR", "bucket": "INTEGER", "status": "BIGINT", "code": "BIGINT",
    "time": "BIGINT", "digest": "VARCHAR", "framing": "VARCHAR", "record_id": "VARCHAR",
    "warc_date": "BIGINT", "etag": "BLOB", "last_modified": "BLOB", "length": "BIGINT",
    "original": "VARCHAR",
}  # fmt: skip
_TIMED = {
    "key": "VARCHAR", "url": "VARCHAR", "bucket": "INTEGER", "interval": "BIGINT", "due": "BIGINT",
    "modified": "BIGINT", "retries": "BIGINT", "evidence": "BLOB",
}  # fmt: skip
_ARROW = {"VARCHAR": "string", "BLOB": "binary"}


class _Places(NamedTuple):
    """Returns the key of a URL, the URL and its bucket."""

    key_of: Callable[[str], str]
    buckets: int

    def __call__(self, url: str) -> tuple[str, str, int]:
        key = self.key_of(url)
        return key, url, bucket_of(key, self.buckets)


def _load(
    work: TaskWork,
    store: Store,
    place: _Places,
    root: Path,
    timings: RevisitTimings,
    plans: VisitPlans,
) -> JobRows:
    """Load a store into tables of the kernel; return the numbers of rows."""
    visited = (
        (*place(item.url), *plans.of(item.status), item.status, item.finished, item.attempts,
         item.via, item.path)
        for _, item in scan_outcomes(store)
        if item.url.startswith(_HTTP)
    )  # fmt: skip
    waiting = (
        (*place(item.url), round(item.not_before * 1000), item.attempts, item.via, item.path,
         item.source, item.precedence, item.last_status, number)
        for number, item in enumerate(entry.uri for entry in pending(store))
        if item.url.startswith(_HTTP)
    )  # fmt: skip
    decode = msgspec.msgpack.Decoder(HistoryRecord).decode
    captured = (
        (*place(item.url), plans.of(item.status).status, item.status, item.visited,
         item.digest, item.framing, item.record_id, item.date, item.etag or None,
         item.last_modified or None, item.length, item.original or item.url)
        for item in (decode(value) for _, value in store.scan("history", b""))
        if item.record_id and item.url.startswith(_HTTP)
    )  # fmt: skip
    timed = (
        (
            *place(url),
            item.interval,
            item.fetch_time,
            item.modified,
            item.retries,
            item.evidence or None,
        )
        for url, item in timings.of(store)
    )
    tables = {"visited": (_VISITED, visited), "waiting": (_WAITING, waiting),
              "captured": (_CAPTURED, captured), "timed": (_TIMED, timed)}  # fmt: skip
    for name, (columns, rows) in tables.items():
        _fill(work, name, columns, rows)
    kernel = work.kernel
    # A URL that was not requested, as robots.txt forbids it, has no time.
    kernel.execute("create temp table latest as select max(time) as time from visited")
    # The history does not mark robots.txt.
    condition = f"ends_with(path, '{_PREREQUISITE}')"
    robots = int(kernel.value(f"select count(*) from waiting where {condition}"))
    kernel.execute(f"delete from waiting where {condition}")
    condition = f"select key from visited where {condition}"
    for name in ("captured", "timed", "visited"):
        kernel.execute(f"delete from {name} where key in ({condition})")
    counts = [int(kernel.value(f"select count(*) from {name}")) for name in tables]
    fill_rows(work, "replies", REPLIES, reply_rows(root, store) if counts[2] else ())
    kernel.execute(f"create temp table located as {located_sql()}")
    return JobRows(counts[0], counts[1], counts[2], timed=counts[3], robots=robots)


def _fill(
    work: TaskWork, name: str, columns: Mapping[str, str], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Make a table of rows, with the last row of each key."""
    kernel = work.kernel
    fill_rows(work, f"all_{name}", columns, rows)
    last = "qualify row_number() over (partition by key order by n desc) = 1"
    kernel.execute(f"create temp table {name} as select * exclude (n) from all_{name} {last}")
    kernel.execute(f"drop table all_{name}")


def fill_rows(
    work: TaskWork, name: str, columns: Mapping[str, str], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Make a table of rows, with their number `n` as the last column.

    Args:
        work: The kernel.
        name: Name of the table.
        columns: Their types in SQL, by name.
        rows: The rows.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    kernel = work.kernel
    typed = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    kernel.execute(f"create temp table {name} ({typed}, n BIGINT)")
    source, number = iter(rows), 0
    while batch := list(islice(source, _BATCH)):
        arrays = [
            pa.array(values, getattr(pa, _ARROW.get(kind, "int64"))())
            for values, kind in zip(zip(*batch, strict=True), columns.values(), strict=True)
        ]
        arrays.append(pa.array(range(number, number + len(batch)), pa.int64()))
        kernel.load("batch", pa.table(arrays, [*columns, "n"]))
        kernel.execute(f"insert into {name} select * from batch")
        number += len(batch)


def _rows_sql(context: StepContext) -> str:
    """Return SQL of the rows of waiting, visited and captured URLs, by key."""
    interval = context.interval
    unfetched = int(Status.UNFETCHED)
    status = f"coalesce(v.status, c.status, {unfetched})"
    time = "coalesce(nullif(v.time, 0), c.time)"
    wait = f"(case when {status} = {unfetched} then {_DAY} else {interval} end)::BIGINT * 1000"
    since = f"coalesce({time}, (select time from latest)) // 1000"
    planned = f"coalesce(t.due, {since} + coalesce(v.wait, {wait}))"
    # A waiting URL without a time is due since its discovery, whose time is unknown: now.
    due = f"case when w.due > 0 then w.due when w.key is not null then {context.clock} end"
    score = (
        f"case when w.key is null then 0 else {ONE} >> least(w.precedence, {_MOST_PRECEDENCE}) end"
    )
    has_cash = any(isinstance(kind, Opic) for kind in context.settings.cycle.scoring)
    path = "coalesce(v.path, w.path)"
    visit = "v.key is not null or c.key is not null"
    values = {
        "bucket": "coalesce(v.bucket, w.bucket, c.bucket)",
        "place": "0",
        "key": _KEY,
        "url": f"nullif(coalesce(w.url, v.url, c.url), {_KEY})",
        "status": status,
        "fetch_time": f"coalesce({due}, {planned}, {context.clock})",
        "interval": f"coalesce(t.interval, v.interval, {interval})",
        "retries": f"least(case when {status} = {unfetched} then coalesce(w.attempts, v.attempts) "
        "else coalesce(t.retries, 0) end, 255)",
        "modified": "coalesce(t.modified, 0)",
        "evidence": "t.evidence",
        "last_status": f"case when {visit} then coalesce(v.code, c.code) else nullif(w.code, 0) "
        "end",
        "last_time": f"case when {visit} then {time} end",
        "last_reason": f"case when v.status = {unfetched} and w.key is null then '{GIVEN_UP}' end",
        "via": "nullif(coalesce(v.via, w.via), '')",
        "path": f"nullif({path}, '')",
        "source": "nullif(w.source, '')",
        "depth": f"case when {path} is not null then least(length({path}) + 1, 65535) end",
        "score": score,
        "cash": score if has_cash else "0",
        "inlinks": "0",
        # Keeps the order of the queue, which `export` restores.
        "first_seen": f"{context.clock} - coalesce((select max(place) from waiting) - w.place, 0)",
    } | {name: f"c.{name}" for name in _OF_CAPTURE}
    source = (
        "visited v full join waiting w on w.key = v.key "
        "full join located c on c.key = coalesce(v.key, w.key) "
        "left join timed t on t.key = coalesce(v.key, w.key, c.key)"
    )
    return import_rows_sql(values, source)


_KEY = "coalesce(v.key, w.key, c.key)"
_OF_CAPTURE = (
    "digest", "framing", "record_id", "warc_date", "etag", "last_modified", "length", "mime",
)  # fmt: skip
