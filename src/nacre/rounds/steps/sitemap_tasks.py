"""The tasks of the step `sitemaps`: origins of hosts, entries of sitemaps, and their rows.

Sitemaps are read from the WARC files of their fetch, each with the limits of `extract.sitemap`.
Their entries are judged by the same task, and exchanged through files by bucket.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.core.capture import Capture
from nacre.core.crawluri import Hop
from nacre.crawldb.fold import fold_query
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import Status, bucket_of, group_columns
from nacre.crawldb.sitemaps import changefreq_interval, lastmod_time, priority_score
from nacre.engine.prerequisites import RobotsRow
from nacre.engine.readback import read_at
from nacre.extract.document import Document, stored_document
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings
from nacre.extract.sitemap import (
    MAX_UNPACKED,
    SitemapEntry,
    no_sitemap,
    robots_sitemaps,
    sitemap_entries,
)
from nacre.report.statistics import Stored
from nacre.rounds.steps.host_rows import load_hosts
from nacre.rounds.steps.inject_rows import (
    InjectDefaults,
    InjectedFiles,
    InjectOptions,
    MergedSeed,
    NewSeed,
    known_rows,
    merge_seed,
    write_seeds,
)
from nacre.rounds.steps.judging import RulesOfStep
from nacre.rounds.steps.update_tasks import local_facts
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, TaskPlace, TaskWork, local_bucket
from nacre.rounds.tables.versions import TableFile
from nacre.scope.robots_txt import RobotsState
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host

PATH = Hop.MANIFEST.value
"""Hop path of the entries of a sitemap."""

_ORIGIN = "regexp_extract(key, '^https?://[^/?#]+')"
_ROW_TYPES = (
    ("bucket", "int32"),
    ("key", "string"),
    ("url", "string"),
    ("via", "string"),
    ("score", "int64"),
    ("interval", "int32"),
    ("modified", "int64"),
    ("own", "bool_"),
)
_PORTION = 50_000
"""Rows that a task merges at a time."""


class OriginsSpec(NamedTuple):
    """One task: buckets whose hosts are checked.

    Attributes:
        place: The work place of the task.
        buckets: Their files of the CrawlDb.
        hosts: Their files of hosts.
        now: The clock of the step, s since the epoch.
        most: Most sitemaps of a host.
    """

    place: TaskPlace
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    now: float
    most: int


class FoundSitemaps(NamedTuple):
    """Known sitemaps, each with its source, and origins whose robots.txt is needed first."""

    sitemaps: list[tuple[str, str]]
    origins: list[str]


def origins_task(spec: OriginsSpec) -> FoundSitemaps:
    """Return the sitemaps of known URLs, and the origins whose robots.txt is unknown."""
    with spec.place.open() as work:
        origins: set[str] = set()
        for bucket in spec.buckets:
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = fold_query(*local, interval=0, columns=("key", "excluded"), order=False)
            query = f"select distinct {_ORIGIN} from ({rows}) where excluded is null"
            origins.update(origin for (origin,) in work.kernel.rows(query) if origin)
        load_hosts(work, spec.hosts)
        blobs = work.kernel.rows("select robots from hosts where robots is not null")
        robots = _robots_rows(blob for (blob,) in blobs)
    sitemaps: list[tuple[str, str]] = []
    unknown: list[str] = []
    for origin in sorted(origins):
        row = robots.get(origin)
        if row is None or row.expires <= spec.now:
            unknown.append(origin)
        else:
            sitemaps += _list_sitemaps(origin, row, spec.most)
    return FoundSitemaps(sitemaps, unknown)


class HostRobotsSpec(NamedTuple):
    """One task: the hosts whose robots.txt units fetched.

    Attributes:
        place: The work place of the task.
        hosts: Files of facts of hosts.
        most: Most sitemaps of a host.
    """

    place: TaskPlace
    hosts: tuple[str, ...]
    most: int


def robots_task(spec: HostRobotsSpec) -> FoundSitemaps:
    """Return the sitemaps in the robots.txt of hosts."""
    with spec.place.open() as work:
        files = local_facts(work.storage, spec.hosts, work)
        query = f"select robots from {parquet(files)} where robots is not null"
        robots = _robots_rows(blob for (blob,) in work.kernel.rows(query))
    return FoundSitemaps(
        [
            sitemap
            for origin, row in sorted(robots.items())
            for sitemap in _list_sitemaps(origin, row, spec.most)
        ],
        [],
    )


def _robots_rows(blobs: Iterator[bytes]) -> dict[str, RobotsRow]:
    rows: dict[str, RobotsRow] = {}
    for blob in blobs:
        rows |= msgspec.msgpack.decode(blob, type=dict[str, RobotsRow])
    return rows


def _list_sitemaps(origin: str, row: RobotsRow, most: int) -> list[tuple[str, str]]:
    """Return the sitemaps of a robots.txt, each with the URL of the robots.txt."""
    if row.state is not RobotsState.RULES:
        return []
    url = f"{origin}/robots.txt"
    document = Document(url, mime="text/plain", body=row.text)
    links = LinkCollector(document, ExtractSettings())
    robots_sitemaps(document, links)
    return [(link.url, url) for link in links.outlinks[:most]]


# ---- reading


_NAMED = 20
"""Most unreadable sitemaps of a unit to list."""


class SitemapReadSpec(NamedTuple):
    """The sitemaps of a unit.

    Attributes:
        place: The work place of the task.
        visits: Files of facts of its visits.
        archive: Folder of the WARC files.
        extract: The limits.
        rules: The rules for entries.
        filter: Judge entries.
        normalize: Normalize entries.
        buckets: Buckets of the CrawlDb.
        interval: Least and greatest interval of the schedule, s.
        clock: The clock of the step, ms.
        nests: An index may list further sitemaps.
        most: Most sitemaps to return.
        exchange: Name of the file for the rows.
    """

    place: TaskPlace
    visits: tuple[str, ...]
    archive: str
    extract: ExtractSettings
    rules: RulesOfStep
    filter: bool
    normalize: bool
    buckets: int
    interval: tuple[int, int]
    clock: int
    nests: bool
    most: int
    exchange: str


class UnreadSitemap(NamedTuple):
    """A sitemap that could not be read.

    Attributes:
        url: Its URL.
        status: Status of its fetch.
        instead: The kind of reply instead of a sitemap, such as `an HTML page`; "" without a reply,
            or if the archive lacks it.
    """

    url: str
    status: int
    instead: str = ""


class ReadSitemaps(NamedTuple):
    """The outcome of reading the sitemaps of a unit.

    Attributes:
        read: Sitemaps that were read.
        failed: Sitemaps without a valid reply.
        rows: Rows in the exchanged file.
        refused: URLs that rules refuse, by file and line or name of the rule.
        nested: Sitemaps in indexes, each with its index.
        too_deep: Sitemaps in an index that is too deep.
        unread: The first failed sitemaps.
    """

    read: int
    failed: int
    rows: int
    refused: dict[str, int]
    nested: list[tuple[str, str]]
    too_deep: int
    unread: list[UnreadSitemap]


def read_task(spec: SitemapReadSpec) -> ReadSitemaps:
    """Read the sitemaps of a unit, and write their entries as rows."""
    with spec.place.open() as work:
        return _SitemapReading(work, spec).run()


class _ListedEntries(NamedTuple):
    """The URL of a sitemap, its entries, and the kind of a reply that is no sitemap."""

    url: str
    entries: list[SitemapEntry]
    instead: str


class _SitemapReading:
    """The reading of the sitemaps of a unit."""

    def __init__(self, work: TaskWork, spec: SitemapReadSpec) -> None:
        self._work = work
        self._spec = spec
        self._judges = spec.rules.admission(work.scratch)
        self._filters = spec.filter
        self._refused: Counter[str] = Counter()
        self._nested: dict[str, str] = {}
        self._stored: dict[str, tuple[str, int]] = {}
        self._too_deep = self._rows = 0

    def run(self) -> ReadSitemaps:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

        work, spec = self._work, self._spec
        source = parquet(local_facts(work.storage, spec.visits, work))
        visits = work.kernel.rows(
            "select key, status, redirect, warc_file, warc_offset, payload_digest "
            f"from {source} where reason is null and not ends_with(key, '/robots.txt') "
            f"order by stored = '{Stored.DUPLICATE.value}', warc_file, warc_offset, key"
        )
        schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in _ROW_TYPES])
        path = work.scratch / "entries.parquet"
        read = 0
        unread: list[UnreadSitemap] = []
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            for key, status, redirect, *stored in visits:
                listed = self._entries(key, *stored) if 200 <= status < 300 else None
                if listed is None and redirect is not None:
                    continue
                if listed is None or listed.instead:
                    unread.append(UnreadSitemap(key, status, listed.instead if listed else ""))
                    continue
                read += 1
                rows = list(self._rows_of_entries(listed.url, listed.entries))
                self._rows += len(rows)
                writer.write_table(pa.Table.from_pylist(rows, schema))
        if self._rows:
            work.storage.upload(path, spec.exchange)
        nested = list(self._nested.items())
        return ReadSitemaps(
            read, len(unread), self._rows, dict(self._refused), nested, self._too_deep,
            unread[:_NAMED],
        )  # fmt: skip

    def _entries(
        self, key: str, file: str | None, offset: int, digest: str | None
    ) -> _ListedEntries | None:
        """Return the entries of a sitemap; None if the archive lacks it.

        The archive stores equal sitemaps once; the others are revisits of it.
        """
        capture = self._capture(file, offset) if file else None
        if capture is not None and file:
            self._stored.setdefault(digest or "", (file, offset))
        elif digest in self._stored:
            capture = self._capture(*self._stored[digest])
            if capture is not None:
                capture = msgspec.structs.replace(capture, url=key)
        if capture is None:
            return None
        document = stored_document(capture, MAX_UNPACKED)
        links = LinkCollector(document, self._spec.extract)
        entries = sitemap_entries(document, links)
        return _ListedEntries(document.url, entries, "" if entries else no_sitemap(document))

    def _capture(self, file: str, offset: int) -> Capture | None:
        """Return a capture of the archive; None if that is no complete response."""
        work = self._work
        path = localize(work.storage, f"{self._spec.archive}/{file}", work.scratch)
        return read_at(Path(path), offset, _no_base, 2 * MAX_UNPACKED)

    def _rows_of_entries(
        self, sitemap: str, listed: Sequence[SitemapEntry]
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of the entries of a sitemap; collect nested sitemaps."""
        spec, judges = self._spec, self._judges
        domain = registered_domain(host(sitemap))
        for entry in listed:
            if not entry.loc.startswith(("http://", "https://")):
                continue
            if entry.is_sitemap:
                self._note(entry.loc, sitemap)
                continue
            normal = judges.normalizing if spec.normalize else None
            url = normal.link(entry.loc) if normal is not None else entry.loc
            if url is None:
                self._refused["uri.normalizers"] += 1
                continue
            refusal = judges.refusal(url, path=PATH, via=sitemap) if self._filters else ""
            if refusal:
                self._refused[refusal] += 1
                continue
            key = judges.key(url)
            yield {
                "bucket": bucket_of(key, spec.buckets),
                "key": key,
                "url": url,
                "via": sitemap,
                "score": priority_score(entry.priority),
                "interval": changefreq_interval(entry.changefreq, *spec.interval),
                "modified": lastmod_time(entry.lastmod, spec.clock),
                "own": registered_domain(host(key)) == domain,
            }

    def _note(self, url: str, index: str) -> None:
        if not self._spec.nests:
            self._too_deep += 1
        elif len(self._nested) < self._spec.most:
            self._nested.setdefault(url, index)


def _no_base(_delta: object) -> bytes:
    """Refuse deltas: sitemaps are fetched without history, and stored whole."""
    return b""


# ---- merging


class MergeEntriesSpec(NamedTuple):
    """The entries of sitemaps in some buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        sources: The files of the first pass.
        buckets: The buckets with their files.
        overwrite: Known rows take score, interval and modification, too.
        judged: Hash of the rules that accepted the URLs; 0 without rules.
        defaults: Default values of rows.
        clock: The clock of the step, ms.
        dry: Count, and write nothing.
    """

    place: TaskPlace
    version: int
    sources: tuple[str, ...]
    buckets: tuple[BucketFiles, ...]
    overwrite: bool
    judged: int
    defaults: InjectDefaults
    clock: int
    dry: bool = False


class ListedUrl(NamedTuple):
    """The merged entries of sitemaps for a URL.

    Attributes:
        key: Its key.
        url: The requested URL.
        via: The sitemap.
        score: From its priority, in 2^-32.
        interval: From its changefreq, s; None without one.
        modified: From its lastmod, ms since the epoch; 0 without one.
        own: The sitemap is of the same registered domain.
    """

    key: str
    url: str
    via: str
    score: int
    interval: int | None
    modified: int
    own: bool


def merge_entries_task(spec: MergeEntriesSpec) -> InjectedFiles:
    """Merge the entries of sitemaps with known rows."""
    files: list[TableFile] = []
    counts: Counter[str] = Counter()
    with spec.place.open() as work:
        source = parquet(local_facts(work.storage, spec.sources, work))
        for bucket in spec.buckets:
            work.kernel.execute(
                "create or replace temp table listed as select key, min(url) as url, "
                'min(via) as via, max(score) as score, min("interval") as "interval", '
                f"max(modified) as modified, bool_or(own) as own from {source} "
                f"where bucket = {bucket.bucket} group by key"
            )
            rows = work.kernel.rows("select * from listed order by key")
            for start in range(0, len(rows), _PORTION):
                urls = [ListedUrl(*row) for row in rows[start : start + _PORTION]]
                files += _merge_urls(work, spec, bucket, urls, counts)
    return InjectedFiles({CRAWLDB: files}, dict(counts))


def _merge_urls(
    work: TaskWork,
    spec: MergeEntriesSpec,
    bucket: BucketFiles,
    urls: Sequence[ListedUrl],
    counts: Counter[str],
) -> list[TableFile]:
    seeds = [_seed(listed_url, spec.judged) for listed_url in urls]
    rows_by_key, purged = known_rows(work, bucket, seeds, spec.defaults.interval)
    merged_seeds = []
    for listed_url, seed in zip(urls, seeds, strict=True):
        row = rows_by_key.get(listed_url.key)
        if row is None:
            merged_seeds.append(add_entry(listed_url, seed, spec.defaults, spec.clock))
        else:
            merged_seeds.append(
                merge_entry(listed_url, row, spec.defaults, overwrite=spec.overwrite)
            )
    counts.update(listed_url.outcome for listed_url in merged_seeds)
    if spec.dry:
        return []
    return list(write_seeds(work, bucket.bucket, spec.version, merged_seeds, purged))


def _seed(listed: ListedUrl, judged: int) -> NewSeed:
    return NewSeed(listed.key, listed.url, "", judged, listed.score, listed.interval, None, {})


def add_entry(listed: ListedUrl, seed: NewSeed, defaults: InjectDefaults, clock: int) -> MergedSeed:
    """Return the rows of a new URL of a sitemap.

    Args:
        listed: The entry.
        seed: The entry as a seed.
        defaults: Default values of rows.
        clock: The clock of the step, ms.
    """
    merged = merge_seed(seed, None, InjectOptions(), defaults, clock)
    add = {**(merged.add or {}), "via": listed.via, "path": PATH, "source": None}
    state = None
    if listed.interval is not None or listed.modified:
        state = {
            "key": listed.key,
            "status": int(Status.UNFETCHED),
            "fetch_time": clock,
            "interval": listed.interval or defaults.interval,
            "retries": 0,
            "modified": listed.modified,
        }
    return merged._replace(add=add, state=state)


def merge_entry(
    listed: ListedUrl, row: Mapping[str, Any], defaults: InjectDefaults, *, overwrite: bool
) -> MergedSeed:
    """Return the rows of a known URL: none, unless a sitemap of its domain overwrites it.

    Args:
        listed: The entry.
        row: The row of the URL.
        defaults: Default values of rows.
        overwrite: The row takes score, interval and modification; its status stays.
    """
    if not overwrite or not listed.own:
        return MergedSeed("known")
    seed = _seed(listed, 0)
    options = InjectOptions(update=True)
    # A score that equals the default counts as given here.
    merged = merge_seed(seed, row, options, defaults._replace(score=-1, interval=-1), 0)
    state = merged.state
    if listed.modified and listed.modified != row["modified"]:
        columns = {column.name: row.get(column.name) for column in group_columns("state")}
        state = {**(state or {**columns, "key": listed.key}), "modified": listed.modified}
    if state is not None and all(row.get(name) == value for name, value in state.items()):
        state = None
    changes = merged.add is not None or state is not None
    return MergedSeed("merged" if changes else "known", merged.add, state)
