"""The tasks of the step `sitemaps`: origins of hosts, what sitemaps list, and rows of that.

Sitemaps are read out of the WARC files of their fetch, each under the limits of `extract.sitemap`.
What they list is judged where it is read, and exchanged through files by bucket.
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
from nacre.rounds.storage import localized
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, TaskPlace, TaskWork, local_bucket
from nacre.rounds.tables.versions import TableFile
from nacre.scope.robots_txt import RobotsState
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host

PATH = Hop.MANIFEST.value
"""Hop path of what a sitemap lists."""

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
    """Buckets whose hosts are looked at.

    Attributes:
        place: Where the task works.
        buckets: Their files of the CrawlDb.
        hosts: Their files of hosts.
        now: The clock of the step, s since the epoch.
        most: Sitemaps of a host at most.
    """

    place: TaskPlace
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    now: float
    most: int


class FoundSitemaps(NamedTuple):
    """Sitemaps that are known, each with what names it, and origins that are to be asked first."""

    sitemaps: list[tuple[str, str]]
    origins: list[str]


def origins_task(spec: OriginsSpec) -> FoundSitemaps:
    """The origins of known URLs: their sitemaps, where their robots.txt is known."""
    with spec.place.open() as work:
        origins: set[str] = set()
        for bucket in spec.buckets:
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = fold_query(*local, interval=0, columns=("key", "excluded"), order=False)
            asked = f"select distinct {_ORIGIN} from ({rows}) where excluded is null"
            origins.update(origin for (origin,) in work.kernel.rows(asked) if origin)
        load_hosts(work, spec.hosts)
        blobs = work.kernel.rows("select robots from hosts where robots is not null")
        robots = _robots_rows(blob for (blob,) in blobs)
    sitemaps: list[tuple[str, str]] = []
    left: list[str] = []
    for origin in sorted(origins):
        row = robots.get(origin)
        if row is None or row.expires <= spec.now:
            left.append(origin)
        else:
            sitemaps += _named_by(origin, row, spec.most)
    return FoundSitemaps(sitemaps, left)


class HostRobotsSpec(NamedTuple):
    """The hosts that units asked for their robots.txt.

    Attributes:
        place: Where the task works.
        hosts: Files of facts of hosts.
        most: Sitemaps of a host at most.
    """

    place: TaskPlace
    hosts: tuple[str, ...]
    most: int


def robots_task(spec: HostRobotsSpec) -> FoundSitemaps:
    """The sitemaps that the robots.txt of hosts name."""
    with spec.place.open() as work:
        files = local_facts(work.storage, spec.hosts, work)
        query = f"select robots from {parquet(files)} where robots is not null"
        robots = _robots_rows(blob for (blob,) in work.kernel.rows(query))
    return FoundSitemaps(
        [
            one
            for origin, row in sorted(robots.items())
            for one in _named_by(origin, row, spec.most)
        ],
        [],
    )


def _robots_rows(blobs: Iterator[bytes]) -> dict[str, RobotsRow]:
    found: dict[str, RobotsRow] = {}
    for blob in blobs:
        found |= msgspec.msgpack.decode(blob, type=dict[str, RobotsRow])
    return found


def _named_by(origin: str, row: RobotsRow, most: int) -> list[tuple[str, str]]:
    """The sitemaps of a robots.txt, each with its URL."""
    if row.state is not RobotsState.RULES:
        return []
    url = f"{origin}/robots.txt"
    document = Document(url, mime="text/plain", body=row.text)
    links = LinkCollector(document, ExtractSettings())
    robots_sitemaps(document, links)
    return [(link.url, url) for link in links.outlinks[:most]]


# ---- reading


_NAMED = 20
"""Sitemaps of a unit that are named where they cannot be read."""


class SitemapReadSpec(NamedTuple):
    """The sitemaps of a unit.

    Attributes:
        place: Where the task works.
        visits: Files of facts of its visits.
        archive: Folder of the WARC files.
        extract: The limits.
        rules: Rewrite and judge what they list.
        filter: They judge it.
        normalize: They rewrite it.
        buckets: Buckets of the CrawlDb.
        interval: Least and greatest interval of the schedule, s.
        clock: The clock of the step, ms.
        nests: An index may name further sitemaps.
        most: Sitemaps that are returned at most.
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
        instead: What came instead of a sitemap, such as `an HTML page`; "" where nothing came, or
            the archive lacks it.
    """

    url: str
    status: int
    instead: str = ""


class ReadSitemaps(NamedTuple):
    """The outcome of reading the sitemaps of a unit.

    Attributes:
        read: Sitemaps that were read.
        failed: Sitemaps without a reply that is one.
        rows: Rows in the exchanged file.
        refused: URLs that rules refuse, by file and line or name of the rule.
        nested: Sitemaps that indexes name, each with its index.
        too_deep: Sitemaps that are named by an index that is too deep.
        unread: The first that failed.
    """

    read: int
    failed: int
    rows: int
    refused: dict[str, int]
    nested: list[tuple[str, str]]
    too_deep: int
    unread: list[UnreadSitemap]


def read_task(spec: SitemapReadSpec) -> ReadSitemaps:
    """Read the sitemaps of a unit, and write what they list as rows."""
    with spec.place.open() as work:
        return _SitemapReading(work, spec).run()


class _ListedEntries(NamedTuple):
    """The URL of a sitemap, its entries, and what it is where it is none."""

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
                rows = list(self._kept(listed.url, listed.entries))
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
        """The entries of a sitemap; None when the archive has it not.

        The archive has the bytes of equal sitemaps once; the others are revisits of that one.
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
        """A capture as the archive has it; None where that is no whole response."""
        work = self._work
        path = localized(work.storage, f"{self._spec.archive}/{file}", work.scratch)
        return read_at(Path(path), offset, _no_base, 2 * MAX_UNPACKED)

    def _kept(self, sitemap: str, listed: Sequence[SitemapEntry]) -> Iterator[dict[str, Any]]:
        """The rows of the entries of a sitemap; sitemaps are noted."""
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
    """Sitemaps are stored whole: nothing is known of them when they are fetched."""
    return b""


# ---- merging


class MergeEntriesSpec(NamedTuple):
    """The entries of sitemaps in some buckets.

    Attributes:
        place: Where the task works.
        version: Number of the version that it is for.
        sources: The files of the first pass.
        buckets: The buckets with their files.
        overwrite: Known rows take score, interval and modification, too.
        judged: Hash of the rules that let the URLs in; 0: none did.
        defaults: Values of rows that say nothing.
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
    """The entries of sitemaps for a URL, as one.

    Attributes:
        key: Its key.
        url: What is asked for.
        via: The sitemap.
        score: Of its priority, in 2^-32.
        interval: Of its changefreq, s; None: it says none.
        modified: Of its lastmod, ms since the epoch; 0: it says none.
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
    """Merge what sitemaps list with what is known."""
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
                files += _merged(work, spec, bucket, urls, counts)
    return InjectedFiles({CRAWLDB: files}, dict(counts))


def _merged(
    work: TaskWork,
    spec: MergeEntriesSpec,
    bucket: BucketFiles,
    urls: Sequence[ListedUrl],
    counts: Counter[str],
) -> list[TableFile]:
    seeds = [_seed(one, spec.judged) for one in urls]
    known, purged = known_rows(work, bucket, seeds, spec.defaults.interval)
    made = []
    for one, seed in zip(urls, seeds, strict=True):
        row = known.get(one.key)
        if row is None:
            made.append(new_entry(one, seed, spec.defaults, spec.clock))
        else:
            made.append(changed_entry(one, row, spec.defaults, overwrite=spec.overwrite))
    counts.update(one.outcome for one in made)
    if spec.dry:
        return []
    return list(write_seeds(work, bucket.bucket, spec.version, made, purged))


def _seed(one: ListedUrl, judged: int) -> NewSeed:
    return NewSeed(one.key, one.url, "", judged, one.score, one.interval, None, {})


def new_entry(one: ListedUrl, seed: NewSeed, defaults: InjectDefaults, clock: int) -> MergedSeed:
    """The rows of a URL that was not known, which a sitemap lists.

    Args:
        one: What the sitemap says.
        seed: The same as a seed.
        defaults: Values of rows that say nothing.
        clock: The clock of the step, ms.
    """
    merged = merge_seed(seed, None, InjectOptions(), defaults, clock)
    add = {**(merged.add or {}), "via": one.via, "path": PATH, "source": None}
    state = None
    if one.interval is not None or one.modified:
        state = {
            "key": one.key,
            "status": int(Status.UNFETCHED),
            "fetch_time": clock,
            "interval": one.interval or defaults.interval,
            "retries": 0,
            "modified": one.modified,
        }
    return merged._replace(add=add, state=state)


def changed_entry(
    one: ListedUrl, known: Mapping[str, Any], defaults: InjectDefaults, *, overwrite: bool
) -> MergedSeed:
    """The rows of a known URL: it stays as it is, unless a sitemap of its domain overwrites it.

    Args:
        one: What the sitemap says.
        known: Its row.
        defaults: Values of rows that say nothing.
        overwrite: It takes score, interval and modification; its status stays.
    """
    if not overwrite or not one.own:
        return MergedSeed("known")
    seed = _seed(one, 0)
    options = InjectOptions(update=True)
    # A score that equals the usual one is one that was said, here.
    merged = merge_seed(seed, known, options, defaults._replace(score=-1, interval=-1), 0)
    state = merged.state
    if one.modified and one.modified != known["modified"]:
        kept = {column.name: known.get(column.name) for column in group_columns("state")}
        state = {**(state or {**kept, "key": one.key}), "modified": one.modified}
    if state is not None and all(known.get(name) == value for name, value in state.items()):
        state = None
    changes = merged.add is not None or state is not None
    return MergedSeed("merged" if changes else "known", merged.add, state)
