"""Rows of seeds as lines: those that were injected, and those that open addresses for a unit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.seeds import FIRST_PREFIX, LISTED, OWN, PAGE, merged_seeds
from nacre.engine.seeding.seeds import Seed, seed_as_line
from nacre.rounds.tables.tables import BucketFiles, TaskWork, local_file
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.uri.surt import surt_authority

_PUBLIC = 100
"""Public seeds that a unit is told, so that it asks for a contact as the crawl does."""
_PREFIXES = f"key >= '{FIRST_PREFIX}' and key < '{PAGE}'"
_SEEDS = f"({_PREFIXES} or starts_with(key, '{OWN}'))"


def injected_lines(work: TaskWork, buckets: Sequence[BucketFiles]) -> Iterator[str]:
    """Return the lines of the rows that are not of the job's own list.

    Args:
        work: What the command works with.
        buckets: The buckets of the table of seeds.
    """
    shown = f"({_SEEDS} or starts_with(key, '+') or starts_with(key, '-'))"
    for bucket in buckets:
        paths = [local_file(work.storage, file, work.scratch) for file in bucket.all]
        where = f"where origin is distinct from {quoted(LISTED)} and {shown}"
        for batch in work.kernel.batches(f"select * from ({merged_seeds(paths)}) {where}"):
            yield from map(line_of, batch.to_pylist())


def line_of(row: Mapping[str, Any]) -> str:
    """Return a row of a seed or a directive as the line that makes it again."""
    if not row["key"].startswith(OWN):
        return str(row["text"])
    kind = ScopeKind(row["scope"]) if row["scope"] else None
    owner = row["key"][len(OWN) :]
    text, own = row["text"], SeedOwnScope(kind, row["depth"])
    return seed_as_line(Seed(text, text, own=own, of="" if owner == text else owner))


def guard_lines(work: TaskWork, buckets: Sequence[BucketFiles], mapped: Sequence[str]) -> list[str]:
    """Return lines of the seeds that decide which addresses a unit may connect to.

    These are one for each host of a private kind, one for each name that has addresses in the
    settings, and a few others.

    Args:
        work: What the step works with.
        buckets: The buckets of the table of seeds.
        mapped: Names that the operator gave addresses (`dns.hosts`).
    """
    paths = [local_file(work.storage, file, work.scratch) for one in buckets for file in one.all]
    if not paths:
        return []
    columns = "key, text, scope, depth"
    place = "regexp_extract(key, '^[^)]*')"
    queries = [
        f"select {', '.join(f'min_by({one}, text) as {one}' for one in columns.split(', '))} "
        f"from {parquet(paths)} where private and {_SEEDS} "
        f"group by case when starts_with(key, '{OWN}') then key else {place} end",
        f"select {columns} from {parquet(paths)} where not private and {_SEEDS} limit {_PUBLIC}",
    ]
    if mapped:
        starts = [f"http://({surt_authority(f'http://{name}/')}" for name in mapped]
        near = " or ".join(f"starts_with(key, {quoted(one)})" for one in starts)
        queries.append(f"select {columns} from {parquet(paths)} where {near}")
    found: dict[str, None] = {}
    for query in queries:
        for batch in work.kernel.batches(query):
            found.update(dict.fromkeys(map(line_of, batch.to_pylist())))
    return sorted(found)
