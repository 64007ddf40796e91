"""Hashes of tables, to compare the rows of two cycles with different engines and files.

The hash is a sha256 over the sha256 of 64 buckets, each over the sha256 of its rows in the order of
keys; rows are hashed as text. It does not depend on files, attempts and compactions.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.row import COLUMNS
from nacre.rounds.tables.readers import TableView, join_buckets
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, TaskPlace, buckets_of, table_kind

HASH_BUCKETS = 64
"""Buckets of a hash, for any number of buckets of the table."""

_BATCH = 10_000
_FACTS = frozenset(
    """
    fetch_time modified first_seen last_inlink last_time warc_date record_id leased leased_until
    purged via path source first last since
    latencies latency backoff delay robots answer time
    """.split()  # noqa: SIM905 - lines that merge well
)
"""Columns that depend on the time and the order of fetches; and those of hosts with their speed and
addresses."""


class HashSpec(NamedTuple):
    """One task: hash some buckets of a table.

    Attributes:
        place: The work place of the task.
        table: The table.
        groups: Buckets to hash together, in the order of their keys.
        interval: Interval of a row that has none, s.
        without: Columns to ignore.
    """

    place: TaskPlace
    table: str
    groups: tuple[tuple[BucketFiles, ...], ...]
    interval: int
    without: frozenset[str] = frozenset()


def table_hash(view: TableView, table: str = CRAWLDB, *, facts: bool = False) -> str:
    """Return a hash of the rows of a table, the same for any engine, buckets and compaction.

    See `docs/cycle.md`.

    Args:
        view: The tables.
        table: The table.
        facts: Ignore times and columns that depend on them, so that two crawls of the same site
            match.
    """
    kind = table_kind(table)
    state = view.version.tables.get(table)
    parts: dict[int, str] = {}
    if state is not None:
        groups = _hash_groups(buckets_of(view.cycle, view.version, table), state.buckets)
        without = _FACTS if facts else frozenset()
        tasks = max(1, -(-len(groups) // (view.engine.workers * 4)))
        specs = [
            HashSpec(view.place, kind.name, tuple(groups[n : n + tasks]), view.interval, without)
            for n in range(0, len(groups), tasks)
        ]
        for digests in view.engine.map(hash_task, specs):
            parts.update(digests)
    listed = "".join(f"{bucket} {digest}\n" for bucket, digest in sorted(parts.items()))
    return hashlib.sha256(listed.encode()).hexdigest()


def _hash_groups(buckets: Iterable[BucketFiles], number: int) -> list[tuple[BucketFiles, ...]]:
    """Group buckets by the 64 buckets of a hash; with fewer, each alone."""
    groups: dict[int, list[BucketFiles]] = {}
    for bucket in buckets:
        part = bucket.bucket * HASH_BUCKETS // number if number > HASH_BUCKETS else bucket.bucket
        groups.setdefault(part, []).append(bucket)
    return [tuple(group) for _, group in sorted(groups.items())]


def hash_task(spec: HashSpec) -> dict[int, str]:
    """Return the hash of each of the 64 buckets."""
    kind = table_kind(spec.table)
    digests: dict[int, Any] = {}
    with spec.place.open() as work:
        for group in spec.groups:
            with TemporaryDirectory(dir=work.scratch) as folder:
                local = join_buckets(work._replace(scratch=Path(folder)), group)
                if spec.table == CRAWLDB:
                    columns = [name.name for name in COLUMNS if name.name not in spec.without]
                    rows = fold_query(*local, interval=spec.interval, columns=columns, order=False)
                else:
                    rows = kind.merge(local)
                    columns = [
                        name for name in work.kernel.columns(rows) if name not in spec.without
                    ]
                keys = ", ".join(f'"{key}"' for key in kind.keys)
                picks = f'"{kind.keys[0]}" as k, {_row_hash(columns)} as h'
                query = f"select {picks} from ({rows}) order by {keys}"
                for batch in work.kernel.batches(query, size=_BATCH):
                    _hash(batch, kind.bucket, digests)
    return {bucket: digest.hexdigest() for bucket, digest in digests.items()}


def _hash(batch: Any, bucket_for: Callable[[str, int], int], digests: dict[int, Any]) -> None:  # noqa: ANN401 - pyarrow has no types
    for key, row in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
        bucket = bucket_for(key, HASH_BUCKETS)
        if bucket not in digests:
            digests[bucket] = hashlib.sha256()
        digests[bucket].update(row.encode())


def _row_hash(columns: Sequence[str]) -> str:
    """Return SQL of the sha256 of columns as text; each text has its length in front."""
    texts = (f'coalesce("{name}"::VARCHAR, chr(0))' for name in columns)
    parts = ", ".join(f"strlen({text}), ':', {text}" for text in texts)
    return f"sha256(concat({parts}))"
