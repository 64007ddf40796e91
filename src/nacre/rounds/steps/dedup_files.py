"""The files of the tasks of `dedup`, and the marks of segments that it has compared."""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.crawldb.hosts import host_sql
from nacre.crawldb.kernels import Kernel
from nacre.crawldb.row import bucket_of_host
from nacre.crawldb.settings import CycleDedupSettings
from nacre.rounds.tables.tables import CRAWLDB, FilePlan, TaskWork, publish
from nacre.rounds.tables.versions import SegmentState, TableFile

COMPARED = "dedup"
"""The key of the mark of a compared segment."""


def covers(mark: object, settings: CycleDedupSettings) -> bool:
    """Return whether a comparison with the options of a mark covers the settings.

    Args:
        mark: The value of a mark; True, of an earlier version, for the default options.
        settings: `cycle.dedup`, with the options applied.
    """
    options = _options(mark)
    return (
        (options["group"], options["order"]) == (settings.group, list(settings.order))
        and options["canonical"] >= settings.canonical
        and options["near"] >= settings.near
    )


def mark_of(settings: CycleDedupSettings, before: object = None) -> dict[str, Any]:
    """Return the mark of a compared segment.

    Args:
        settings: The options.
        before: Its earlier mark; None for none. Its comparisons are included.
    """
    now = _plain(settings)
    old = _options(before) if before is not None else now
    if (old["group"], old["order"]) == (now["group"], now["order"]):
        now |= {name: now[name] or old[name] for name in ("canonical", "near")}
    return now


def compared_before(
    updated: Mapping[str, SegmentState], settings: CycleDedupSettings
) -> tuple[str, ...]:
    """Return the segments that were compared with options that do not cover the settings.

    Args:
        updated: Segments by name.
        settings: The options.
    """
    return tuple(
        name
        for name, state in updated.items()
        if COMPARED in state.more and not covers(state.more[COMPARED], settings)
    )


def mark_compared(
    segments: Mapping[str, SegmentState], settings: CycleDedupSettings
) -> dict[str, SegmentState | None]:
    """Return segments with the mark of these options.

    Args:
        segments: Segments by name.
        settings: The options.
    """
    return {
        name: msgspec.structs.replace(
            state, more={**state.more, COMPARED: mark_of(settings, state.more.get(COMPARED))}
        )
        for name, state in segments.items()
    }


def _plain(settings: CycleDedupSettings) -> dict[str, Any]:
    return settings.model_dump(mode="json", include={"group", "order", "canonical", "near"})


def _options(mark: object) -> dict[str, Any]:
    default = _plain(CycleDedupSettings())
    return {**default, **mark} if isinstance(mark, dict) else default


SIGNATURES = "signatures"
"""The name of the table of signatures."""


def add_buckets(kernel: Kernel, table: str, buckets: int, column: str = "key") -> None:
    """Make `TABLE_in` from a table, with the column `bucket` of the URL in a column."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    hosts = [name for (name,) in kernel.rows(f"select distinct {host_sql(column)} from {table}")]
    numbers = [bucket_of_host(name, buckets) for name in hosts]
    kernel.load("hosts_in", pa.table({"host": pa.array(hosts, pa.string()), "bucket": numbers}))
    kernel.execute(
        f"create or replace temp table {table}_in as select t.*, h.bucket::INTEGER as bucket "
        f"from {table} t join hosts_in h on h.host = {host_sql(f't.{column}')}"
    )


def publish_sets(
    work: TaskWork,
    table: str,
    columns: str,
    order: str,
    where: tuple[str, int],
    *,
    dry: bool = False,
) -> list[TableFile]:
    """Write the rows of a table with `bucket` as sets of a table of the cycle, bucket by bucket."""
    name, version = where
    if dry:
        return []
    files = []
    for (bucket,) in work.kernel.rows(f"select distinct bucket from {table} order by 1"):
        path = work.scratch / f"{name}-{table}-{bucket}.parquet"
        work.kernel.write(
            f"select {columns} from {table} where bucket = {bucket} order by {order}", str(path)
        )
        group = "duplicate" if name == CRAWLDB else ""
        file = publish(work.storage, path, FilePlan(name, int(bucket), "set", version, group))
        files += [file] if file is not None else []
    return files
