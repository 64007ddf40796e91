"""The list of a unit: a file of rows of the CrawlDb, in the order of their fetch."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from nacre.core.history import HistoryRecord
from nacre.crawldb.scoring import PageScore
from nacre.crawldb.select import Place, SelectOptions
from nacre.engine.prerequisites import HostAnswer, RobotsRow
from nacre.errors import URIError
from nacre.frontier.policy import Backoff
from nacre.rounds.segments.fetch_progress import HostLoad
from nacre.rounds.segments.part_maker import read_columns
from nacre.rounds.segments.parts import UnitPlace
from nacre.rounds.storage import Storage
from nacre.rounds.visits.session_unit import UnitHost, UnitUri
from nacre.scope.seeds import parse_seed
from nacre.uri.parse import host, origin


class ListChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The data of the choice of a `generate` that cannot be computed again.

    Attributes:
        tests: The attributes of its `SelectOptions`.
        ends: The end of each list: sort value and tie; None if it has all candidates.
        segments: The segments of the lists.
        cuts: For each list the number of URLs of hosts that exceed the time limit.
    """

    tests: dict[str, Any]
    ends: list[tuple[float, int] | None]
    segments: list[str]
    cuts: list[dict[str, int]]


class GivenChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of a `generate --urls`: the URLs of files, and those that filters refused.

    Attributes:
        files: The files as the operator typed them; "" for typed URLs.
        urls: URLs that are in the list.
        refused: The first keys that a filter refused, each with its file and line.
        refused_count: The number of all that were refused.
    """

    files: list[str]
    urls: int
    refused: dict[str, str] = {}
    refused_count: int = 0


GIVEN = "given"
"""Mark of a segment of given URLs: the number of the version that made it."""


def choice_name(segment: str) -> str:
    """Name of the file of a choice, in the folder of its first segment."""
    return f"segments/{segment}/choice.json"


def write_choice(
    storage: Storage,
    options: SelectOptions,
    ends: Sequence[Place | None],
    segments: Sequence[str],
    cuts: Sequence[Mapping[str, int]],
) -> None:
    """Write the choice of a `generate` before the commit."""
    choice = ListChoice(
        tests=options._asdict(),
        ends=[None if end is None else (end.sort, end.tie) for end in ends],
        segments=list(segments),
        cuts=[dict(cut) for cut in cuts],
    )
    storage.put(choice_name(segments[0]), msgspec.json.encode(choice))


def write_given(storage: Storage, choice: GivenChoice, segment: str) -> None:
    """Write the choice of a `generate --urls` before the commit."""
    storage.put(choice_name(segment), msgspec.json.encode(choice))


_URL_COLUMNS = ("key", "via", "path", "source", "last_status")
_CAPTURED = [
    "last_status",
    "last_time",
    "warc_date",
    "digest",
    "framing",
    "record_id",
    "etag",
    "last_modified",
    "length",
]
_COLUMNS = (*_URL_COLUMNS, "url", "score", "cash", "depth", "md", "order", "delay", *_CAPTURED[1:])


class ParquetList:
    """The list of a unit, read from its file: a `UnitList`.

    Args:
        place: The unit.

    Attributes:
        hosts: The hosts of its URLs.
        done: Keys that earlier attempts fetched.
        fallbacks: The key of each seed for which https was a guess, by its http URL.
    """

    def __init__(self, place: UnitPlace) -> None:
        self._place = place
        table = read_columns(place.storage, place.list, _COLUMNS)
        if "order" in table.column_names:
            table = table.sort_by("order")
        self._table = table
        keys, urls = table.column("key").to_pylist(), table.column("url").to_pylist()
        self._urls = [url or key for key, url in zip(keys, urls, strict=True)]
        self._keys: list[str] = keys
        scores = (table.column(name).to_pylist() for name in ("score", "cash", "depth", "md"))
        self._scores = dict(zip(keys, zip(*scores, strict=True), strict=True))
        self._others = {url for key, url in zip(keys, self._urls, strict=True) if url != key}
        self._by_host = Counter(map(host, self._urls))
        self.hosts = frozenset(self._by_host)
        self.done: set[str] = set()
        # Hashes: a million keys take a third of the memory.
        self._fetched: set[int] | None = None
        columns = (table.column(name).to_pylist() for name in ("path", "source", "last_status"))
        rows = zip(keys, self._urls, *columns, strict=True)
        fallbacks = {_fallback(url, *more): key for key, url, *more in rows}
        self.fallbacks = {url: key for url, key in fallbacks.items() if url}

    def __len__(self) -> int:
        """Number of URLs."""
        return len(self._keys)

    def __contains__(self, url: object) -> bool:
        """Return whether the list has a URL or a key."""
        return url in self._scores or url in self._others

    def plans(self) -> dict[str, HostLoad]:
        """Return the hosts with their URLs, and the expected time between two fetches."""
        delays: dict[str, float] = {}
        if "delay" in self._table.column_names:
            column = self._table.column("delay").to_pylist()
            delays = dict(zip(map(host, self._urls), column, strict=True))
        return {
            name: HostLoad(urls, delays.get(name) or 0.0) for name, urls in self._by_host.items()
        }

    def listed(self, key: str) -> PageScore | None:
        """Return score, cash, depth and metadata of a listed URL; None if it is not listed."""
        values = self._scores.get(key)
        if values is None:
            return None
        score, cash, depth, md = values
        return PageScore(int(score or 0), int(cash or 0), depth or 0, dict(md or ()))

    def remaining(self, fetched: set[str]) -> Iterator[tuple[str, str]]:
        """Yield key and URL of the entries that are not fetched."""
        for key, url in zip(self._keys, self._urls, strict=True):
            if key not in fetched:
                yield key, url

    def portion(self, start: int, number: int) -> Sequence[UnitUri | None]:
        """See `UnitList.portion`."""
        table, fetched = self._table.slice(start, number), self.done
        columns = (table.column(name).to_pylist() for name in _URL_COLUMNS)
        ways = zip(*columns, strict=True)
        captures: Sequence[Mapping[str, Any] | None] = [None] * len(table)
        if table.column("warc_date").null_count < len(table):
            captures = table.select(_CAPTURED).to_pylist()
        return [
            None if key in fetched else _unit_uri(url, via, path, source, tried, captured)
            for url, (key, via, path, source, tried), captured in zip(
                self._urls[start : start + number], ways, captures, strict=True
            )
        ]

    def fetched(self, key: str) -> bool:
        """See `UnitList.fetched`."""
        if self._fetched is None:
            self._fetched = set(map(hash, _fetched_keys(self._place)))
        return key in self.done or hash(key) in self._fetched

    def known_hosts(self) -> Sequence[UnitHost]:
        """See `UnitList.known_hosts`."""
        storage, name = self._place.storage, self._place.hosts
        if name not in storage.list(name.rpartition("/")[0]):
            return ()
        columns = ("host", "robots", "answer", "backoff", "latency")
        origins: dict[str, set[str]] = {}
        for start in set(map(origin, self._urls)):
            origins.setdefault(host(start), set()).add(start)
        return [
            _unit_host(row, frozenset(origins.get(row["host"], ())))
            for row in read_columns(storage, name, columns).to_pylist()
        ]


def _fetched_keys(place: UnitPlace) -> list[str]:
    storage, name = place.storage, place.fetched
    if name not in storage.list(name.rpartition("/")[0]):
        return []
    keys: list[str] = read_columns(storage, name, ("key",)).column(0).to_pylist()
    return keys


def _unit_uri(
    url: str,
    via: str | None,
    path: str | None,
    source: str | None,
    tried: int | None,
    row: Mapping[str, Any] | None,
) -> UnitUri:
    history = None
    if row is not None and row["warc_date"]:
        history = HistoryRecord(
            url,
            status=row["last_status"] or 0,
            visited=row["last_time"] or row["warc_date"],
            date=row["warc_date"],
            digest=row["digest"] or "",
            framing=row["framing"] or "",
            record_id=row["record_id"] or "",
            etag=row["etag"] or b"",
            last_modified=row["last_modified"] or b"",
            length=row["length"] or 0,
            visits=1,
        )
    fallback = _fallback(url, path, source, tried)
    return UnitUri(url, via or "", path or "", source or "", fallback, history)


def _fallback(url: str, path: str | None, source: str | None, tried: int | None) -> str:
    """The http URL of a seed for which https was a guess, at its first visit; else ""."""
    if path or tried is not None or not source or "://" in source or url[:8] != "https://":
        return ""
    try:
        seed = parse_seed(source)
    except URIError:
        return ""
    if not seed.fallback:
        return ""
    return seed.fallback if seed.url == url else f"http://{url[8:]}"


def _unit_host(row: Mapping[str, Any], origins: frozenset[str]) -> UnitHost:
    robots = row["robots"]
    answer = row["answer"]
    return UnitHost(
        row["host"],
        msgspec.msgpack.decode(robots, type=dict[str, RobotsRow]) if robots else {},
        msgspec.msgpack.decode(answer, type=HostAnswer) if answer else None,
        Backoff(row["backoff"] or 1.0, row["latency"] or 0.0),
        origins,
    )
