"""The table of seeds: the prefix that each seed adds to the scope, in order, and its page.

A row's `key` is a SURT prefix (`uri.surt.implied_prefix`), so that a scope finds the rows of a host
by a few look-ups. Other rows have a sign before their key, which no prefix begins with:

    =SEED     a seed that shares the own scope of SEED: itself, or where SEED redirected to
    +PREFIX   a line of the list that begins with + or -, as it is written
    ~URL      the page of a seed, where that is in another registered domain than its prefix
    !KEY      a row that was removed; judged rows may depend on it

Rows are only added; a repeated row counts once. An edit of the job's own list rewrites buckets that
lose rows.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import bucket_of, bucket_of_domain, bucket_of_host
from nacre.scope.seed_index import prefix_host
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host

if TYPE_CHECKING:
    import pyarrow as pa

SEEDS = "seeds"
"""The name of the table."""
OWN, PAGE, GONE = "=", "~", "!"
DIRECTIVES = ("+", "-")
LISTED = "list"
"""`origin` of the rows of the job's own list."""
FIRST_PREFIX = "A"
"""No text that begins with a sign is between this and `PAGE`; every prefix is."""


class SeedColumn(NamedTuple):
    """A column of the table of seeds: its name, its type in SQL, its meaning."""

    name: str
    type: str
    doc: str


SEED_COLUMNS = (
    SeedColumn("key", "VARCHAR", "SURT prefix, or a type mark and an identifier."),
    SeedColumn("text", "VARCHAR", "The seed as its line has it, or the line."),
    SeedColumn("page", "VARCHAR", "Key of its page in the table of URLs; null: another row's."),
    SeedColumn("scope", "VARCHAR", "Own scope of the seed; null for that of the job."),
    SeedColumn("depth", "INTEGER", "Own depth of the seed; null for none."),
    SeedColumn("private", "BOOLEAN", "Whether its host is a private name or address."),
    SeedColumn("origin", "VARCHAR", "`list`: in the job's own list; null: injected."),
    SeedColumn("since", "BIGINT", "Number of the version that wrote it first."),
)
"""The columns in the order of their files."""
_SAME = ("key", "text", "scope", "depth", "origin")
_VALUES = ("page", "private")


class SeedTableRow(NamedTuple):
    """A row without its origin and version; see `SEED_COLUMNS`."""

    key: str
    text: str
    page: str | None = None
    scope: str | None = None
    depth: int | None = None
    private: bool = False


@cache
def seed_schema() -> "pa.Schema":
    """Return the schema of the table in Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    kinds = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "INTEGER": pa.int32()}
    kinds["BOOLEAN"] = pa.bool_()
    return pa.schema([pa.field(c.name, kinds[c.type]) for c in SEED_COLUMNS])


def seed_rows(row: SeedTableRow, page: str) -> Iterator[SeedTableRow]:
    """Return the rows of a seed: its own, and one of its page if that is in another bucket.

    Args:
        row: The row, without its page.
        page: The page.
    """
    near, far = prefix_host(row.key), host(page)
    if row.key[:1] != OWN and (near == far or registered_domain(near) == registered_domain(far)):
        yield row._replace(page=page)
        return
    yield row
    yield SeedTableRow(PAGE + page, row.text, page)


def seed_bucket(key: str, buckets: int, of_host: Callable[[str, int], int] = bucket_of_host) -> int:
    """Return the bucket of a row by its key; directives are all in the first.

    Args:
        key: The key.
        buckets: Number of buckets, a power of two.
        of_host: Returns the bucket of a host, for example from a cache.
    """
    sign, inner = key[:1], key[1:]
    if sign >= FIRST_PREFIX and sign != PAGE:
        return of_host(prefix_host(key), buckets)
    if sign == GONE:
        return seed_bucket(inner, buckets)
    if sign in DIRECTIVES:
        return 0
    if sign == OWN:
        return bucket_of_domain(inner, buckets)
    return bucket_of(inner, buckets)


def merged_seeds(paths: Sequence[str]) -> str:
    """Return the SQL that folds the files of a bucket: each row once, with its first version.

    Args:
        paths: The files.
    """
    same = ", ".join(f'"{name}"' for name in _SAME)
    values = ", ".join(f'max("{name}") as "{name}"' for name in _VALUES)
    columns = ", ".join(f'"{c.name}"' for c in SEED_COLUMNS)
    rows = f"select {same}, {values}, min(since) as since from {parquet(paths)} group by {same}"
    return f"select {columns} from ({rows}) order by key, text, scope, depth, origin"


def same_row(left: str, right: str) -> str:
    """Return an SQL condition for two rows of the same seed, in any versions.

    Args:
        left: Name of a table.
        right: Name of another table.
    """
    exact = ("key", "text")
    parts = [f"{left}.{name} = {right}.{name}" for name in exact]
    parts += [
        f"{left}.{name} is not distinct from {right}.{name}" for name in _SAME if name not in exact
    ]
    return " and ".join(parts)
