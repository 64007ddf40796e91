"""Rows of seeds as lines: injected seeds, and seeds that allow addresses for a unit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.seeds import FIRST_PREFIX, LISTED, OWN, PAGE, merged_seeds
from nacre.rounds.tables.tables import BucketFiles, TaskWork, local_file
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.scope.seeds import Seed, seed_as_line
from nacre.uri.surt import surt_authority

_PUBLIC = 100
"""Public seeds that a unit gets, so that it requires a contact like the crawl."""
_PREFIXES = f"key >= '{FIRST_PREFIX}' and key < '{PAGE}'"
_SEEDS = f"({_PREFIXES} or starts_with(key, '{OWN}'))"


def injected_lines(work: TaskWork, buckets: Sequence[BucketFiles]) -> Iterator[str]:
    """Yield the lines of rows from outside of the job's own list.

    Args:
        work: The kernel and folder of the command.
        buckets: The buckets of the table of seeds.
    """
    kinds = f"({_SEEDS} or starts_with(key, '+') or starts_with(key, '-'))"
    for bucket in buckets:
        paths = [local_file(work.storage, file, work.scratch) for file in bucket.all]
        where = f"where origin is distinct from {quoted(LISTED)} and {kinds}"
        for batch in work.kernel.batches(f"select * from ({merged_seeds(paths)}) {where}"):
            yield from map(line_of, batch.to_pylist())


def line_of(row: Mapping[str, Any]) -> str:
    """Return the line of a row of a seed or a directive."""
    if not row["key"].startswith(OWN):
        return str(row["text"])
    kind = ScopeKind(row["scope"]) if row["scope"] else None
    owner = row["key"][len(OWN) :]
    text, own = row["text"], SeedOwnScope(kind, row["depth"])
    return seed_as_line(Seed(text, text, own=own, of="" if owner == text else owner))


def guard_lines(work: TaskWork, buckets: Sequence[BucketFiles], mapped: Sequence[str]) -> list[str]:
    """Return lines of the seeds that decide which addresses a unit may connect to.

    These are one for each private host, one for each name with addresses in the settings, and a few
    others.

    Args:
        work: The kernel and folder of the step.
        buckets: The buckets of the table of seeds.
        mapped: Names with addresses in the settings (`dns.hosts`).
    """
    paths = [local_file(work.storage, file, work.scratch) for e in buckets for file in e.all]
    if not paths:
        return []
    columns = "key, text, scope, depth"
    place = "regexp_extract(key, '^[^)]*')"
    queries = [
        f"select {', '.join(f'min_by({e}, text) as {e}' for e in columns.split(', '))} "
        f"from {parquet(paths)} where private and {_SEEDS} "
        f"group by case when starts_with(key, '{OWN}') then key else {place} end",
        f"select {columns} from {parquet(paths)} where not private and {_SEEDS} limit {_PUBLIC}",
    ]
    if mapped:
        starts = [f"http://({surt_authority(f'http://{name}/')}" for name in mapped]
        near = " or ".join(f"starts_with(key, {quoted(e)})" for e in starts)
        queries.append(f"select {columns} from {parquet(paths)} where {near}")
    lines: dict[str, None] = {}
    for query in queries:
        for batch in work.kernel.batches(query):
            lines.update(dict.fromkeys(map(line_of, batch.to_pylist())))
    return sorted(lines)
