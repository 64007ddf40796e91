"""Hashes of tables: whether two cycles know the same, whatever engine and files they have.

Of each row the sha256 of its columns as text, in the order of the keys; of these a sha256 for each
of 64 buckets, however many the table has; of these a sha256. Files, attempts and compactions leave
it as it is.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.row import COLUMNS
from nacre.cycle.readers import TableView, joined
from nacre.cycle.tables import CRAWLDB, BucketFiles, TaskPlace, buckets_of, table_kind

HASH_BUCKETS = 64
"""Buckets by which a table is hashed, however many it has."""

_BATCH = 10_000
_FACTS = frozenset(
    """
    fetch_time modified first_seen last_inlink last_time warc_date record_id leased leased_until
    purged via path source
    """.split()  # noqa: SIM905 - lines that merge well
)
"""Columns that depend on when a page was fetched, so also on which of two came first."""


class HashSpec(NamedTuple):
    """One task: some buckets of a table, hashed.

    Attributes:
        place: Where it works.
        table: The table.
        groups: Buckets that are hashed together, in the order of their keys.
        interval: Interval of a row that has none, s.
        columns: Columns that are hashed.
    """

    place: TaskPlace
    table: str
    groups: tuple[tuple[BucketFiles, ...], ...]
    interval: int
    columns: tuple[str, ...]


def table_hash(view: TableView, table: str = CRAWLDB, *, facts: bool = False) -> str:
    """A hash of the rows of a table, the same for any engine, buckets and compaction.

    Of each row the sha256 of its columns as text, in the order of the keys; of these a sha256 for
    each of 64 buckets; of these a sha256. See `docs/cycle.md`.

    Args:
        view: What is read.
        table: The table.
        facts: Leave out times and what depends on them, so that two crawls of the same site match.
    """
    kind = table_kind(table)
    known = view.version.tables.get(table)
    parts: dict[int, str] = {}
    if known is not None:
        columns = tuple(column.name for column in COLUMNS if not (facts and column.name in _FACTS))
        groups = _hash_groups(buckets_of(view.cycle, view.version, table), known.buckets)
        tasks = max(1, -(-len(groups) // (view.engine.workers * 4)))
        specs = [
            HashSpec(view.place, kind.name, tuple(groups[n : n + tasks]), view.interval, columns)
            for n in range(0, len(groups), tasks)
        ]
        for found in view.engine.map(hash_task, specs):
            parts.update(found)
    listed = "".join(f"{bucket} {digest}\n" for bucket, digest in sorted(parts.items()))
    return hashlib.sha256(listed.encode()).hexdigest()


def _hash_groups(buckets: Iterable[BucketFiles], number: int) -> list[tuple[BucketFiles, ...]]:
    """Buckets that lie in one of the 64 together; with fewer, each alone."""
    groups: dict[int, list[BucketFiles]] = {}
    for bucket in buckets:
        part = bucket.bucket * HASH_BUCKETS // number if number > HASH_BUCKETS else bucket.bucket
        groups.setdefault(part, []).append(bucket)
    return [tuple(group) for _, group in sorted(groups.items())]


def hash_task(spec: HashSpec) -> dict[int, str]:
    """Hash by bucket of the 64."""
    kind = table_kind(spec.table)
    digests: dict[int, Any] = {}
    for group in spec.groups:
        with spec.place.open() as work:
            local = joined(work, group)
            if spec.table == CRAWLDB:
                rows = fold_query(*local, interval=spec.interval, columns=spec.columns, order=False)
                columns = spec.columns
            else:
                rows = kind.merge(local)
                columns = tuple(work.kernel.columns(rows))
            keys = ", ".join(f'"{key}"' for key in kind.keys)
            picks = f'"{kind.keys[0]}" as k, {_row_hash(columns)} as h'
            query = f"select {picks} from ({rows}) order by {keys}"
            for batch in work.kernel.batches(query, size=_BATCH):
                _digest(batch, kind.bucket, digests)
    return {bucket: digest.hexdigest() for bucket, digest in digests.items()}


def _digest(batch: Any, bucket_for: Callable[[str, int], int], digests: dict[int, Any]) -> None:  # noqa: ANN401 - pyarrow has no types
    for key, row in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
        bucket = bucket_for(key, HASH_BUCKETS)
        if bucket not in digests:
            digests[bucket] = hashlib.sha256()
        digests[bucket].update(row.encode())


def _row_hash(columns: Sequence[str]) -> str:
    """SQL of the sha256 of columns as text; a text says how long it is, so that none runs over."""
    texts = (f'coalesce("{name}"::VARCHAR, chr(0))' for name in columns)
    parts = ", ".join(f"strlen({text}), ':', {text}" for text in texts)
    return f"sha256(concat({parts}))"
