"""The layout of the store: its version and migrations, and its column families.

An older store is brought up to date, a newer one is refused.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from nacre.errors import DamageError, OldLayoutError, StorageError
from nacre.store.seam import StorageEngine

SCHEMA = 4
"""Version of the layout that this Nacre writes."""

READABLE = 2
"""Oldest version that is read unchanged: later versions have more families, and equal rows."""

ADDED = frozenset(("facts", "rights"))
"""Families that were added after `READABLE`; a read-only store may lack them."""

KEY = b"schema"

Migration = Callable[[StorageEngine], None]
"""Rewrites the rows of one version for the next; must bear to be run again after a crash."""


def _nothing(_: StorageEngine) -> None:
    """Do nothing: opening the store makes the new family, and no row changes."""


MIGRATIONS: Mapping[int, Migration] = {1: _nothing, 2: _nothing, 3: _nothing}
"""Version -> how to get from it to the next."""


def stored_version(engine: StorageEngine) -> int | None:
    """Version in the store; None for a new store."""
    value = engine.get("meta", KEY)
    if value is None:
        return None
    if not value.isdigit() or not int(value):
        raise DamageError(f"The schema version of the store is {value!r}; the first was 1.")
    return int(value)


def upgrade(
    engine: StorageEngine,
    path: str,
    *,
    read_only: bool = False,
    current: int = SCHEMA,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Bring a store to the current version.

    Args:
        engine: The store.
        path: Its directory, for messages.
        read_only: Only check; a store older than `READABLE` is then refused too.
        current: The version wanted.
        migrations: Steps from each older version.

    Raises:
        OldLayoutError: It was made by an older Nacre and may not be changed.
        StorageError: It was made by a newer Nacre.
    """
    version = stored_version(engine)
    if version is None and not read_only:
        return _mark(engine, current)
    if version == current:
        return None
    if version is None or version < current:
        if read_only and version is not None and version >= READABLE and current == SCHEMA:
            return None
        if read_only:
            raise OldLayoutError(
                f"{path}: its layout is of version {version or 0}, this Nacre reads {current}. "
                "`nacre run JOB` brings it up to date."
            )
        return _climb(engine, version or 0, current, migrations)
    raise StorageError(
        f"{path}: its layout is of version {version}, made by a newer Nacre; this one knows "
        f"{current}. Use the newer version."
    )


def _climb(
    engine: StorageEngine, stored: int, current: int, migrations: Mapping[int, Migration]
) -> None:
    for version in range(stored, current):
        migrations[version](engine)
        _mark(engine, version + 1)


def _mark(engine: StorageEngine, version: int) -> None:
    engine.write({"meta": {KEY: b"%d" % version}})
    engine.flush_wal()


class ColumnFamily(NamedTuple):
    """One column family.

    Attributes:
        name: Its name in RocksDB.
        holds: Key and value, for the reader.
        lookup: Read by single keys that are often absent; False: mostly in key order.
        filtered: Its files have filters of their keys; False if no absent key is looked up.
        merged: It has a row for each link, so that its files are merged all the time.
        block: Size of a data block, bytes.
        packed: Values are worth compressing.
    """

    name: str
    holds: str
    lookup: bool = False
    filtered: bool = True
    merged: bool = False
    block: int = 8192
    packed: bool = True


FAMILIES = (
    ColumnFamily(
        "seen",
        "host hash (4 B) + URL hash (12 B) -> nothing",
        lookup=True,
        merged=True,
        block=4096,
        packed=False,
    ),
    ColumnFamily(
        "queue",
        "queue key, directive, precedence, ordinal -> CrawlURI",
        filtered=False,
        merged=True,
    ),
    ColumnFamily("future", "due time -> retries and revisits"),
    ColumnFamily("wake", "wake time, queue -> nothing"),
    ColumnFamily("hosts", "queue key -> state, cursor, politeness, budgets, DNS", lookup=True),
    ColumnFamily("robots", "origin -> raw text", lookup=True),
    ColumnFamily("cookies", "registrable domain, path, name -> cookie"),
    ColumnFamily("urls", "key -> URL, via, hop path, outcome: for explain", lookup=True),
    ColumnFamily("outside", "key -> rejected URL: rule, via, hops; bounded", lookup=True),
    ColumnFamily("history", "SURT -> facts of the last visit", lookup=True),
    ColumnFamily(
        "digests", "payload digest + framing -> the original", lookup=True, block=4096, packed=False
    ),
    ColumnFamily(
        "pages",
        "kind (1 B), key -> what incremental crawling knows: pages, sites, lists, visits",
        lookup=True,
    ),
    ColumnFamily(
        "rights", "site and kind, or URL -> signals of preferences; earlier versions", lookup=True
    ),
    ColumnFamily("stats", "kind, name -> counts by host, mime type, status, source"),
    ColumnFamily("scope", "seeds, prefixes learned, hit rates: what changes while rules run"),
    ColumnFamily("facts", "number -> a final visit of a unit of batch rounds, with its links"),
    ColumnFamily(
        "journal", "file number, offset -> log and index lines not yet synced in their files"
    ),
    ColumnFamily("meta", "files, counters, schema"),
)

NAMES = tuple(family.name for family in FAMILIES)
