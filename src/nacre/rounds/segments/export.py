"""The facts of a unit's visits as the files of a part: rows of the store become Parquet.

`PartTables` takes final visits one after the other and sums the links of all by target; `write`
makes the four files of `crawldb.facts`. Nothing here asks a clock, a network or the store.
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
"""Rows of a row group at least; one ends with its bucket."""
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
    """Knowledge of a host out of the store of a unit; see `facts.HOST_COLUMNS`."""

    latency: float = 0.0
    backoff: float = 1.0
    delay: float = 0.0
    robots: bytes | None = None
    answer: bytes | None = None


class PartTables:
    """Collects the facts of a part.

    Args:
        canonical: The key of a URL.
        buckets: Number of buckets, a power of two.
        rules: Hash of the rules that judged the links; 0: unknown.
        listed: Score, cash, depth and metadata of a listed URL by its key; None: not listed.
        scoring: The kinds of score, in order.
        fallbacks: Of seeds for which https was a guess: the key by the http URL.

    Attributes:
        visits: Final visits that were taken.
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
        """Key, bucket and host of a URL."""
        known = self._keys.get(url)
        if known is None:
            name = host(url)
            known = self._keys[url] = self._canonical(url), self._bucket(name), name
        return known

    def _bucket(self, name: str) -> int:
        bucket = self._by_host.get(name)
        if bucket is None:
            bucket = self._by_host[name] = bucket_of_host(name, self._buckets)
        return bucket

    def take(self, fact: VisitFact) -> None:
        """Take a final visit."""
        known_key = key, bucket, name = self.key(fact.url)
        links = self._take_links(known_key, fact, fact.began // 1000)
        self.visits += 1
        self.bytes += fact.size
        self.statuses[fact.status] = self.statuses.get(fact.status, 0) + 1
        self.keys.add(key)
        tally = self.hosts.get(name)
        if tally is None:
            tally, self.origins[name] = self.hosts.setdefault(name, HostTally()), set()
        self.origins[name].add(origin(fact.url))
        tally.count(fact)
        known = self._history.decode(fact.history) if fact.history else None
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
        self._visits.append((*row, *_capture(known, fact)))

    def leave_out(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Take URLs of the list that were not attempted: key, URL, reason."""
        rest = (None,) * (len(schemas.VISIT_COLUMNS) - 5 + len(_CAPTURE))
        for key, url, reason in rows:
            bucket = self._bucket(host(url))
            self._visits.append((bucket, key, url if url != key else None, 0, reason, *rest))

    def _take_links(self, key: tuple[str, int, str], fact: VisitFact, time: int) -> int:
        """Take the links of a page; the number of targets that differ."""
        target = self._book.target(*key[:2])
        page = self._listed(key[0]) or self._stood_in(target, fact)
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

    def _stood_in(self, target: int, fact: VisitFact) -> PageScore:
        """The scores of a page that is not listed: those of a seed that it stands in for.

        That seed cannot be reached by https, and loses them.
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
        """Write the files into a folder, which exists; their rows by name.

        Args:
            folder: Where to.
            extras: What else is known of hosts.
        """
        tables = {
            "visits": _sorted(self._visits, schemas.VISITS, "key"),
            "links": self._links.table(),
            "adds": self._sums.table(self._rules),
            "hosts": _sorted(list(self._host_rows(extras)), schemas.HOSTS, "host"),
        }
        known = {
            "visits": schemas.VISITS, "links": schemas.LINKS,
            "adds": schemas.ADDS, "hosts": schemas.HOSTS,
        }  # fmt: skip
        for name, table in tables.items():
            _write(folder / f"{name}.parquet", table, known[name])
        return {name: tables[name].num_rows for name in FILES}

    def _host_rows(self, extras: Mapping[str, HostExtra]) -> Iterable[tuple[Any, ...]]:
        nothing_more, nothing_counted = HostExtra(), HostTally()
        for name in {**self.hosts, **extras}:
            tally, extra = self.hosts.get(name, nothing_counted), extras.get(name, nothing_more)
            known = {**msgspec.structs.asdict(tally), **msgspec.structs.asdict(extra)}
            known |= {"bucket": self._bucket(name), "host": name}
            yield tuple(known[column.name] for column in schemas.HOST_COLUMNS)


def depth_of_path(path: str) -> int:
    """Depth of a URL by its hop path: a seed has 1, and redirects do not count."""
    over, _, letters = path.rpartition("+")
    return 1 + int(over or 0) + len(letters) - letters.count(_REDIRECT)


@lru_cache(maxsize=4096)
def _milliseconds(date: bytes) -> int | None:
    """A date of a header, ms since the epoch; pages that were made together share it."""
    seconds = parse_http_date(date.decode("latin-1")) if date else None
    return None if seconds is None else round(seconds * 1000)


def _signature(fact: VisitFact) -> bytes | None:
    """What the content is compared by with that of other pages."""
    if fact.signature:
        return fact.signature
    if fact.status != 200 or not fact.size:
        return None
    name, _, value = fact.digest.partition(":")
    return decode_sha1(value) if name == "sha1" and len(value) == 32 else fact.digest.encode()


def parse_failed(fact: VisitFact) -> bool:
    """A parser raised an error, took too long, or was killed."""
    return fact.status > 0 and any(
        one in _PARSER or one.startswith(_ERROR) for one in fact.annotations
    )


def _capture(known: HistoryRecord | None, fact: VisitFact) -> tuple[Any, ...]:
    """The columns of the group `capture`, in their order: a test compares it."""
    if known is None or not known.date:
        return (None,) * len(_CAPTURE)
    return (
        known.digest or None, known.framing or None, known.record_id or None, known.date,
        known.etag or None, known.last_modified or None, known.length,
        fact.mime or None, fact.lang or None,
    )  # fmt: skip


def _sorted(rows: Sequence[tuple[Any, ...]], schema: Any, key: str) -> "pa.Table":  # noqa: ANN401 - pyarrow has no types
    """Rows by bucket and key."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema)
    return table.sort_by([("bucket", "ascending"), (key, "ascending")])


def _write(path: Path, table: "pa.Table", schema: "pa.Schema") -> None:
    """A file of rows that are sorted by bucket, whose row groups end where buckets do.

    Args:
        path: The file.
        table: The rows.
        schema: What readers by Arrow are told of the columns: those of the table may be texts by
            number where these are texts.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    sought = [name for name in table.schema.names if name in _SOUGHT]
    with pq.ParquetWriter(
        path, table.schema, compression="zstd", compression_level=1, write_statistics=sought,
        store_schema=False,
    ) as writer:  # fmt: skip
        said = b64encode(schema.serialize().to_pybytes())
        writer.add_key_value_metadata({_ARROW_SCHEMA: said})
        start = 0
        for stop in _ends(table.column("bucket")):
            writer.write_table(table.slice(start, stop - start))
            start = stop


def _ends(buckets: "pa.ChunkedArray") -> list[int]:
    """Where row groups end: with a bucket, as soon as there are enough rows, and at the end."""
    rows = len(buckets)
    found: list[int] = []
    begin = end = 0
    for one in buckets.value_counts().to_pylist():
        end += one["counts"]
        if end - begin >= _ROWS or end == rows:
            found.append(end)
            begin = end
    return found
