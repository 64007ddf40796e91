"""Hashes of tables: whether two cycles know the same, whatever engine and files they have.

Of each row the sha256 of its columns as text, in the order of the keys; of these a sha256 for each
of 64 buckets, however many the table has; of these a sha256. Files, attempts and compactions leave
it as it is.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.row import COLUMNS
from nacre.rounds.tables.readers import TableView, joined
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, TaskPlace, buckets_of, table_kind

HASH_BUCKETS = 64
"""Buckets by which a table is hashed, however many it has."""

_BATCH = 10_000
_FACTS = frozenset(
    """
    fetch_time modified first_seen last_inlink last_time warc_date record_id leased leased_until
    purged via path source first last since
    latencies latency backoff delay robots answer time
    """.split()  # noqa: SIM905 - lines that merge well
)
"""Columns that depend on when a page was fetched, so also on which of two came first; and those of
hosts that say how fast they are and where."""


class HashSpec(NamedTuple):
    """One task: some buckets of a table, hashed.

    Attributes:
        place: Where it works.
        table: The table.
        groups: Buckets that are hashed together, in the order of their keys.
        interval: Interval of a row that has none, s.
        without: Columns that are not hashed.
    """

    place: TaskPlace
    table: str
    groups: tuple[tuple[BucketFiles, ...], ...]
    interval: int
    without: frozenset[str] = frozenset()


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
        groups = _hash_groups(buckets_of(view.cycle, view.version, table), known.buckets)
        without = _FACTS if facts else frozenset()
        tasks = max(1, -(-len(groups) // (view.engine.workers * 4)))
        specs = [
            HashSpec(view.place, kind.name, tuple(groups[n : n + tasks]), view.interval, without)
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
    with spec.place.open() as work:
        for group in spec.groups:
            with TemporaryDirectory(dir=work.scratch) as folder:
                local = joined(work._replace(scratch=Path(folder)), group)
                if spec.table == CRAWLDB:
                    columns = [one.name for one in COLUMNS if one.name not in spec.without]
                    rows = fold_query(*local, interval=spec.interval, columns=columns, order=False)
                else:
                    rows = kind.merge(local)
                    columns = [one for one in work.kernel.columns(rows) if one not in spec.without]
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
