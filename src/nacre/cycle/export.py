"""The facts of a unit's visits as the files of a part: rows of the store become Parquet.

`PartTables` takes final visits one after the other and sums the links of all by target; `write`
makes the four files of `crawldb.facts`. Nothing here asks a clock, a network or the store.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from nacre.annotations import PARSER_FAILED, PARSER_TIMEOUT
from nacre.core.base32 import decode_sha1
from nacre.core.crawluri import Hop, extend_path
from nacre.core.history import HistoryRecord
from nacre.crawldb import facts as schemas
from nacre.crawldb.row import ADD_COLUMNS, bucket_of_host, group_columns
from nacre.crawldb.scoring import (
    LinkShare,
    PageScore,
    ScoreChange,
    Scoring,
    distribute,
    distribute_alike,
)
from nacre.job.unit_visits import VisitFact
from nacre.uri.parse import host, origin
from nacre.wire.date import parse_http_date

FILES = ("visits", "links", "adds", "hosts")
"""Names of the files of a part, without `.parquet`."""

_ANCHOR = 100
_ROWS = 65_536
"""Rows of a row group at least; one ends with its bucket."""
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
        status = fact.status
        self.visits += 1
        self.bytes += fact.size
        self.time = max(self.time, fact.began // 1000)
        self.replies += 0 < status < 400
        self.missing += 400 <= status < 500
        self.errors += status >= 500
        self.dns_failures += status in _NAME_FAILURES
        self.refused += status == _ROBOTS_FORBIDS
        self.connection_failures += -61 <= status < 0 and status not in _NAME_FAILURES
        if status > 0:
            power = min(fact.first_byte.bit_length(), schemas.LATENCIES - 1)
            self.latencies[power] += 1


class HostExtra(msgspec.Struct, frozen=True):
    """Knowledge of a host out of the store of a unit; see `facts.HOST_COLUMNS`."""

    latency: float = 0.0
    backoff: float = 1.0
    delay: float = 0.0
    robots: bytes | None = None
    answer: bytes | None = None


class _Sum:
    """The links to one target."""

    __slots__ = (
        "bucket", "cash", "depth", "first", "inlinks", "last",
        "md", "path", "score", "source", "url", "via",
    )  # fmt: skip

    def __init__(self, bucket: int) -> None:
        self.bucket = bucket
        self.url = self.via = self.path = self.source = ""
        self.score = self.cash = self.inlinks = self.last = 0
        self.md: Mapping[str, str] = {}
        self.depth = 65_535
        self.first = -1

    def link(
        self, fact: VisitFact, way: tuple[str, int], time: int, share: LinkShare, url: str
    ) -> None:
        """A page links to it, in a way with a hop path and a depth."""
        self.inlinks += 1
        self.score += share.score
        self.cash += share.cash
        self.depth = min(self.depth, way[1])
        self.last = max(self.last, time)
        if self.first < 0 or (time <= self.first and (time, fact.url) < (self.first, self.via)):
            self.first, self.via, self.path = time, fact.url, way[0]
            self.source, self.url, self.md = fact.source, url, share.md

    def give(self, fact: VisitFact, time: int, change: ScoreChange) -> None:
        """It was visited itself, and hands something out; that is no link to it."""
        self.score += change.score
        self.cash += change.cash
        if self.first < 0:
            self.first, self.via, self.path = time, fact.via, fact.path
            self.source, self.url = fact.source, fact.url


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
        self._scoring = scoring
        self._alike = all(one.alike for one in scoring)
        self._keys: dict[str, tuple[str, int, str]] = {}
        self._by_host: dict[str, int] = {}
        self._history = msgspec.msgpack.Decoder(HistoryRecord)
        self._visits: list[tuple[Any, ...]] = []
        self._links: list[tuple[Any, ...]] = []
        self._sums: dict[str, _Sum] = {}
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
        key, bucket, name = self.key(fact.url)
        time = fact.began // 1000
        links = self._take_links(key, fact, time)
        self.visits += 1
        self.bytes += fact.size
        self.statuses[fact.status] = self.statuses.get(fact.status, 0) + 1
        self.keys.add(key)
        tally = self.hosts.setdefault(name, HostTally())
        self.origins.setdefault(name, set()).add(origin(fact.url))
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
            fact.soft_404, _parse_failed(fact), fact.simhash,
        )  # fmt: skip
        self._visits.append((*row, *_capture(known, fact)))

    def leave_out(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Take URLs of the list that were not attempted: key, URL, reason."""
        rest = (None,) * (len(schemas.VISIT_COLUMNS) - 5 + len(_CAPTURE))
        for key, url, reason in rows:
            bucket = self._bucket(host(url))
            self._visits.append((bucket, key, url if url != key else None, 0, reason, *rest))

    def _take_links(self, key: str, fact: VisitFact, time: int) -> int:
        """Take the links of a page; the number of targets that differ."""
        page = self._listed(key) or self._stood_in(key, fact, time)
        depth = page.depth or depth_of_path(fact.path)
        found: dict[str, tuple[str, str, str]] = {}
        keys, add = self._keys, self._links.append
        for url, hop, rel, context, text, rank in fact.links:
            known = keys.get(url)
            if known is None:
                known = self.key(url)
            dst, bucket, name = known
            # Nutch's redirects keep the depth of their page, too.
            to = depth if hop == _REDIRECT else depth + 1
            add((bucket, dst, key, hop, rel, context, text[:_ANCHOR], rank, to, time))
            if dst not in found:
                found[dst] = url, hop, name
        if fact.status > 0:
            self._share(key, fact, page, found, time)
        return len(found)

    def _stood_in(self, key: str, fact: VisitFact, time: int) -> PageScore:
        """The scores of a page that is not listed: those of a seed that it stands in for.

        That seed cannot be reached by https, and loses them.
        """
        seed = self._fallbacks.get(fact.url, "")
        page = self._listed(seed) if seed and not fact.path else None
        if page is None:
            return PageScore(depth=depth_of_path(fact.path))
        self._sum(key, fact.url).give(fact, time, ScoreChange(page.score, page.cash))
        lost = self._sum(seed, seed)
        lost.give(fact, time, ScoreChange(-page.score, -page.cash))
        lost.url = seed
        return page

    def _share(
        self,
        key: str,
        fact: VisitFact,
        page: PageScore,
        found: dict[str, tuple[str, str, str]],
        time: int,
    ) -> None:
        """Give the targets of a page what it hands out; each of them counts once."""
        own = self.key(fact.url)[2]
        internal = [name == own for _, _, name in found.values()]
        shares, change = self._shares(page, internal, fact.outlinks)
        if shares:
            sums = self._sums
            hops: dict[str, tuple[str, int]] = {}
            depth = page.depth or depth_of_path(fact.path)
            for (dst, (url, hop, _)), share in zip(found.items(), shares, strict=True):
                way = hops.get(hop)
                if way is None:
                    path = extend_path(fact.path, hop)
                    way = hops[hop] = path, depth + (hop != _REDIRECT)
                known = sums.get(dst)
                if known is None:
                    known = self._sum(dst, url)
                known.link(fact, way, time, share, url)
        self.virtual += change.virtual
        if change.score or change.cash:
            self._sum(key, fact.url).give(fact, time, change)

    def _shares(
        self, page: PageScore, internal: Sequence[bool], total: int
    ) -> tuple[Sequence[LinkShare], ScoreChange]:
        """A share for each link, none at all when none is followed; and what the page gets."""
        if not self._alike:
            return distribute(self._scoring, page, internal, total)
        inside = sum(internal)
        alike, change = distribute_alike(self._scoring, page, inside, len(internal) - inside, total)
        if alike is None:
            return (), change
        inner, outer = alike
        return [inner if inside else outer for inside in internal], change

    def _sum(self, key: str, url: str) -> "_Sum":
        known = self._sums.get(key)
        if known is None:
            known = self._sums[key] = _Sum(self.key(url)[1])
        return known

    # ---- files

    def write(self, folder: Path, extras: Mapping[str, HostExtra]) -> dict[str, int]:
        """Write the files into a folder, which exists; their rows by name.

        Args:
            folder: Where to.
            extras: What else is known of hosts.
        """
        tables = {
            "visits": (self._visits, schemas.VISITS, "key"),
            "links": (self._links, schemas.LINKS, "dst"),
            "adds": (list(self._add_rows()), schemas.ADDS, "key"),
            "hosts": (list(self._host_rows(extras)), schemas.HOSTS, "host"),
        }
        for name, (rows, schema, key) in tables.items():
            _write(folder / f"{name}.parquet", rows, schema, key)
        return {name: len(tables[name][0]) for name in FILES}

    def _add_rows(self) -> Iterable[tuple[Any, ...]]:
        rules = self._rules or None
        for key, one in self._sums.items():
            found = {
                "key": key,
                "url": one.url if one.url != key else None,
                "via": one.via or None,
                "path": one.path,
                "source": one.source or None,
                "md": dict(one.md) or None,
                "judged": rules if one.inlinks else None,
                "score": one.score,
                "cash": one.cash,
                "inlinks": one.inlinks,
                "depth": one.depth if one.inlinks else None,
                "first_seen": one.first,
                "last_inlink": one.last if one.inlinks else None,
            }
            yield (one.bucket, *(found[column.name] for column in ADD_COLUMNS))

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


def _milliseconds(date: bytes) -> int | None:
    seconds = parse_http_date(date.decode("latin-1")) if date else None
    return None if seconds is None else round(seconds * 1000)


def _signature(fact: VisitFact) -> bytes | None:
    """What the content is compared by with that of other pages."""
    if fact.signature:
        return fact.signature
    name, _, value = fact.digest.partition(":")
    if fact.status != 200 or not fact.size:
        return None
    return decode_sha1(value) if name == "sha1" and len(value) == 32 else fact.digest.encode()


def _parse_failed(fact: VisitFact) -> bool:
    """A parser raised an error, took too long, or was killed."""
    return fact.status > 0 and any(
        one in _PARSER or one.startswith(_ERROR) for one in fact.annotations
    )


def _capture(known: HistoryRecord | None, fact: VisitFact) -> tuple[Any, ...]:
    """The columns of the group `capture`."""
    if known is None or not known.date:
        return (None,) * len(_CAPTURE)
    found = {
        "digest": known.digest or None,
        "framing": known.framing or None,
        "record_id": known.record_id or None,
        "warc_date": known.date,
        "etag": known.etag or None,
        "last_modified": known.last_modified or None,
        "length": known.length,
        "mime": fact.mime or None,
        "lang": fact.lang or None,
    }
    return tuple(found[name] for name in _CAPTURE)


def _write(path: Path, rows: Sequence[tuple[Any, ...]], schema: Any, key: str) -> None:  # noqa: ANN401 - pyarrow has no types
    """A file sorted by bucket and key, whose row groups end where buckets do."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema)
    table = table.sort_by([("bucket", "ascending"), (key, "ascending")])
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer:
        start = 0
        for stop in _ends(table.column("bucket").to_pylist()):
            writer.write_table(table.slice(start, stop - start))
            start = stop


def _ends(buckets: Sequence[int]) -> list[int]:
    """Where row groups end: with a bucket, as soon as there are enough rows, and at the end."""
    found: list[int] = []
    begin = 0
    for place in range(1, len(buckets)):
        if place - begin >= _ROWS and buckets[place] != buckets[place - 1]:
            found.append(place)
            begin = place
    return [*found, len(buckets)] if buckets else []
