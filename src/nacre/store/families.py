"""The column families of the store: what each holds, and how it is read."""

from typing import NamedTuple


class Family(NamedTuple):
    """One column family.

    Attributes:
        name: Its name in RocksDB.
        holds: Key and value, for the reader.
        lookup: Read by single keys that are often absent; False: read in key order.
        block: Size of a data block, bytes.
        packed: Values are worth compressing.
    """

    name: str
    holds: str
    lookup: bool = False
    block: int = 8192
    packed: bool = True


FAMILIES = (
    Family(
        "seen",
        "host hash (4 B) + URL hash (12 B) -> nothing",
        lookup=True,
        block=4096,
        packed=False,
    ),
    Family("queue", "queue key, directive, precedence, ordinal -> CrawlURI"),
    Family("future", "due time -> retries and revisits"),
    Family("wake", "wake time, queue -> nothing"),
    Family("hosts", "queue key -> state, cursor, politeness, budgets, DNS", lookup=True),
    Family("robots", "origin -> raw text", lookup=True),
    Family("cookies", "registrable domain, path, name -> cookie"),
    Family("urls", "key -> URL, via, hop path, outcome: for explain", lookup=True),
    Family("outside", "key -> rejected URL: rule, via, hops; bounded", lookup=True),
    Family("history", "SURT -> what was known at the last visit", lookup=True),
    Family(
        "digests", "payload digest + framing -> the original", lookup=True, block=4096, packed=False
    ),
    Family(
        "pages",
        "kind (1 B), key -> what incremental crawling knows: pages, sites, lists, visits",
        lookup=True,
    ),
    Family("stats", "kind, name -> counts by host, mime type, status, source"),
    Family("scope", "seeds, prefixes learned, hit rates: what changes while rules run"),
    Family("journal", "file number, offset -> log and index lines not yet synced in their files"),
    Family("meta", "files, counters, schema"),
)

NAMES = tuple(family.name for family in FAMILIES)
