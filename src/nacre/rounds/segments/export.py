"""Write the facts of a unit's visits as the files of a part, in Parquet.

`PartTables` collects final visits and sums their links by target; `write` makes the four files of
`crawldb.facts`. This module uses no clock, no network and no store.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from nacre.annotations import PARSER_FAILED, PARSER_TIMEOUT
from nacre.core.base32 import decode_sha1
from nacre.core.crawluri import Hop
from nacre.core.history import HistoryRecord
from nacre.crawldb import facts as schemas
from nacre.crawldb.row import bucket_of_host, group_columns
from nacre.crawldb.scoring import PageScore, ScoreChange, Scoring
from nacre.rounds.segments.part_links import LinkBook, LinkRows, TargetSums
from nacre.rounds.visits.unit_visits import VisitFact
from nacre.uri.parse import host, origin
from nacre.wire.date import parse_http_date

if TYPE_CHECKING:
    import pyarrow as pa

FILES = ("visits", "links", "adds", "hosts")
"""Names of the files of a part, without `.parquet`."""

_ARROW_SCHEMA = "ARROW:schema"
"""Name of the schema in the metadata of a Parquet file, where Arrow looks for it."""
_ROWS = 65_536
"""Least number of rows of a row group, which ends at the end of a bucket."""
_SOUGHT = frozenset(("bucket", "key", "dst", "host"))
"""Columns by whose least and greatest values row groups are chosen."""
_NOINDEX, _NOFOLLOW = frozenset(("noindex", "none")), frozenset(("nofollow", "none"))
_CAPTURE = tuple(column.name for column in group_columns("capture"))
_REDIRECT = Hop.REDIRECT.value
_NAME_FAILURES = frozenset((-1, -6))
_ROBOTS_FORBIDS = -9998
_PARSER, _ERROR = frozenset((PARSER_FAILED, PARSER_TIMEOUT)), "err="


class HostTally(msgspec.Struct):
    """Counts of a host; the attributes are those of `facts.HOST_COLUMNS`."""

    visits: int = 0
    replies: int = 0
    missing: int = 0
    errors: int = 0
    dns_failures: int = 0
    connection_failures: int = 0
    refused: int = 0
    bytes: int = 0
    latencies: list[int] = msgspec.field(default_factory=lambda: [0] * schemas.LATENCIES)
    time: int = 0

    def count(self, fact: VisitFact) -> None:
        """Count a final visit."""
        status, time = fact.status, fact.began // 1000
        self.visits += 1
        self.bytes += fact.size
        self.time = max(self.time, time)
        if status > 0:
            power = min(fact.first_byte.bit_length(), schemas.LATENCIES - 1)
            self.latencies[power] += 1
            if status < 400:
                self.replies += 1
            elif status < 500:
                self.missing += 1
            else:
                self.errors += 1
        elif status in _NAME_FAILURES:
            self.dns_failures += 1
        elif status == _ROBOTS_FORBIDS:
            self.refused += 1
        elif -61 <= status < 0:
            self.connection_failures += 1


class HostExtra(msgspec.Struct, frozen=True):
    """Data of a host from the store of a unit; see `facts.HOST_COLUMNS`."""

    latency: float = 0.0
    backoff: float = 1.0
    delay: float = 0.0
    robots: bytes | None = None
    answer: bytes | None = None


class PartTables:
    """Collects the facts of a part.

    Args:
        canonical: Returns the key of a URL.
        buckets: Number of buckets, a power of two.
        rules: Hash of the rules that judged the links; 0: unknown.
        listed: Returns score, cash, depth and metadata of a listed URL by its key; None if not
            listed.
        scoring: The kinds of score, in order.
        fallbacks: The key of each seed for which https was a guess, by its http URL.

    Attributes:
        visits: Number of final visits.
        statuses: Their number by status.
        virtual: Cash that pages gave to the virtual page, in 2^-32.
        hosts: Counts by host.
        origins: Origins of each host.
        keys: Keys of the visits.
        bytes: Payload received.
    """

    def __init__(
        self,
        canonical: Callable[[str], str],
        buckets: int,
        *,
        rules: int = 0,
        listed: Callable[[str], PageScore | None] = lambda _: None,
        scoring: Sequence[Scoring] = (),
        fallbacks: Mapping[str, str] = {},
    ) -> None:
        self._canonical = canonical
        self._fallbacks = fallbacks
        self._buckets = buckets
        self._rules = rules
        self._listed = listed
        self._keys: dict[str, tuple[str, int, str]] = {}
        self._by_host: dict[str, int] = {}
        self._history = msgspec.msgpack.Decoder(HistoryRecord)
        self._visits: list[tuple[Any, ...]] = []
        self._book = LinkBook(self.key)
        self._links = LinkRows(self._book)
        self._sums = TargetSums(self._book, scoring)
        self.hosts: dict[str, HostTally] = {}
        self.origins: dict[str, set[str]] = {}
        self.keys: set[str] = set()
        self.visits = self.bytes = self.virtual = 0
        self.statuses: dict[int, int] = {}

    def key(self, url: str) -> tuple[str, int, str]:
        """Return key, bucket and host of a URL."""
        place = self._keys.get(url)
        if place is None:
            name = host(url)
            place = self._keys[url] = self._canonical(url), self._bucket(name), name
        return place

    def _bucket(self, name: str) -> int:
        bucket = self._by_host.get(name)
        if bucket is None:
            bucket = self._by_host[name] = bucket_of_host(name, self._buckets)
        return bucket

    def take(self, fact: VisitFact) -> None:
        """Add a final visit."""
        place = key, bucket, name = self.key(fact.url)
        links = self._take_links(place, fact, fact.began // 1000)
        self.visits += 1
        self.bytes += fact.size
        self.statuses[fact.status] = self.statuses.get(fact.status, 0) + 1
        self.keys.add(key)
        tally = self.hosts.get(name)
        if tally is None:
            tally, self.origins[name] = self.hosts.setdefault(name, HostTally()), set()
        self.origins[name].add(origin(fact.url))
        tally.count(fact)
        record = self._history.decode(fact.history) if fact.history else None
        robots = frozenset(fact.robots)
        row = (
            bucket, key, fact.url if fact.url != key else None, fact.status, None,
            fact.via or None, fact.path, fact.source or None,
            fact.began, fact.duration, fact.first_byte, fact.size,
            fact.digest or None, _milliseconds(fact.modified), _signature(fact),
            fact.address or None, fact.retry_after,
            not _NOINDEX.isdisjoint(robots), not _NOFOLLOW.isdisjoint(robots),
            fact.redirect or None, fact.new_seed, fact.canonical or None, fact.outlinks, links,
            fact.stored or None, fact.warc or None, fact.offset, fact.attempts, fact.error or None,
            fact.soft_404, parse_failed(fact), fact.simhash,
        )  # fmt: skip
        self._visits.append((*row, *_capture_columns(record, fact)))

    def leave_out(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Add URLs of the list that were not attempted: key, URL, reason."""
        nulls = (None,) * (len(schemas.VISIT_COLUMNS) - 5 + len(_CAPTURE))
        for key, url, reason in rows:
            bucket = self._bucket(host(url))
            self._visits.append((bucket, key, url if url != key else None, 0, reason, *nulls))

    def _take_links(self, key: tuple[str, int, str], fact: VisitFact, time: int) -> int:
        """Add the links of a page; return the number of different targets."""
        target = self._book.target(*key[:2])
        page = self._listed(key[0]) or self._take_over_seed(target, fact)
        depth = page.depth or depth_of_path(fact.path)
        places = self._book.places(fact.links)
        self._links.add(target, places, fact.links.every_rank(), depth, time)
        first = self._book.first_of_each(places)
        if fact.status > 0:
            change = self._sums.link(fact, key[2], page, depth, first)
            self.virtual += change.virtual
            if change.score or change.cash:
                self._sums.give(target, fact, change)
        return len(first)

    def _take_over_seed(self, target: int, fact: VisitFact) -> PageScore:
        """Return the scores of a page that is not listed: those of the seed that it replaces.

        That seed cannot be reached by https, and loses its scores.
        """
        seed = self._fallbacks.get(fact.url, "")
        page = self._listed(seed) if seed and not fact.path else None
        if page is None:
            return PageScore(depth=depth_of_path(fact.path))
        self._sums.give(target, fact, ScoreChange(page.score, page.cash))
        lost = self._book.target(seed, self.key(seed)[1])
        self._sums.give(lost, fact, ScoreChange(-page.score, -page.cash), seed)
        return page

    # ---- files

    def write(self, folder: Path, extras: Mapping[str, HostExtra]) -> dict[str, int]:
        """Write the files into a folder; return the number of rows by name.

        Args:
            folder: An existing folder.
            extras: Further data of hosts, by host.
        """
        tables = {
            "visits": _sort_rows(self._visits, schemas.VISITS, "key"),
            "links": self._links.table(),
            "adds": self._sums.table(self._rules),
            "hosts": _sort_rows(list(self._host_rows(extras)), schemas.HOSTS, "host"),
        }
        schema_of = {
            "visits": schemas.VISITS, "links": schemas.LINKS,
            "adds": schemas.ADDS, "hosts": schemas.HOSTS,
        }  # fmt: skip
        for name, table in tables.items():
            _write(folder / f"{name}.parquet", table, schema_of[name])
        return {name: tables[name].num_rows for name in FILES}

    def _host_rows(self, extras: Mapping[str, HostExtra]) -> Iterable[tuple[Any, ...]]:
        nothing_more, nothing_counted = HostExtra(), HostTally()
        for name in {**self.hosts, **extras}:
            tally, extra = self.hosts.get(name, nothing_counted), extras.get(name, nothing_more)
            values = {**msgspec.structs.asdict(tally), **msgspec.structs.asdict(extra)}
            values |= {"bucket": self._bucket(name), "host": name}
            yield tuple(values[column.name] for column in schemas.HOST_COLUMNS)


def depth_of_path(path: str) -> int:
    """Return the depth of a URL by its hop path: 1 for a seed; redirects do not count."""
    over, _, letters = path.rpartition("+")
    return 1 + int(over or 0) + len(letters) - letters.count(_REDIRECT)


@lru_cache(maxsize=4096)
def _milliseconds(date: bytes) -> int | None:
    """Return a date of a header, ms since the epoch; cached, as many pages share a date."""
    seconds = parse_http_date(date.decode("latin-1")) if date else None
    return None if seconds is None else round(seconds * 1000)


def _signature(fact: VisitFact) -> bytes | None:
    """Return the signature of the content, for the comparison with other pages."""
    if fact.signature:
        return fact.signature
    if fact.status != 200 or not fact.size:
        return None
    name, _, value = fact.digest.partition(":")
    return decode_sha1(value) if name == "sha1" and len(value) == 32 else fact.digest.encode()


def parse_failed(fact: VisitFact) -> bool:
    """Return whether a parser raised an error, timed out, or was killed."""
    return fact.status > 0 and any(
        annotation in _PARSER or annotation.startswith(_ERROR) for annotation in fact.annotations
    )


def _capture_columns(record: HistoryRecord | None, fact: VisitFact) -> tuple[Any, ...]:
    """Return the columns of the group `capture`, in their order, which a test checks."""
    if record is None or not record.date:
        return (None,) * len(_CAPTURE)
    return (
        record.digest or None, record.framing or None, record.record_id or None, record.date,
        record.etag or None, record.last_modified or None, record.length,
        fact.mime or None, fact.lang or None,
    )  # fmt: skip


def _sort_rows(rows: Sequence[tuple[Any, ...]], schema: Any, key: str) -> "pa.Table":  # noqa: ANN401 - pyarrow has no types
    """Return a table of rows, sorted by bucket and key."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema)
    return table.sort_by([("bucket", "ascending"), (key, "ascending")])


def _write(path: Path, table: "pa.Table", schema: "pa.Schema") -> None:
    """Write rows that are sorted by bucket; row groups end at the end of buckets.

    Args:
        path: The file.
        table: The rows.
        schema: The schema for readers that use Arrow: it has texts for columns that are
            dictionaries in the table.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    sought = [name for name in table.schema.names if name in _SOUGHT]
    with pq.ParquetWriter(
        path, table.schema, compression="zstd", compression_level=1, write_statistics=sought,
        store_schema=False,
    ) as writer:  # fmt: skip
        serialized = b64encode(schema.serialize().to_pybytes())
        writer.add_key_value_metadata({_ARROW_SCHEMA: serialized})
        start = 0
        for stop in _ends(table.column("bucket")):
            writer.write_table(table.slice(start, stop - start))
            start = stop


def _ends(buckets: "pa.ChunkedArray") -> list[int]:
    """Return the ends of row groups: the end of a bucket after enough rows, and the last row."""
    rows = len(buckets)
    ends: list[int] = []
    begin = end = 0
    for run in buckets.value_counts().to_pylist():
        end += run["counts"]
        if end - begin >= _ROWS or end == rows:
            ends.append(end)
            begin = end
    return ends
