"""The step `sitemaps`: add the entries of sitemaps to the table of URLs.

Source: Nutch, `SitemapProcessor` (reference N 1.16), with limits. Sitemaps have separate segments,
which units fetch like all others; `update` ignores them. The first segment fetches robots.txt
of hosts, the next the sitemaps in them, and further ones the sitemaps in indexes. A segment is
read in the commit that makes the next, so that a killed step resumes there.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.kernels import parquet
from nacre.rounds.journal import (
    GENERATED,
    SITEMAPS,
    UPDATED,
    late_sitemaps,
    marked_late,
    waiting_sitemaps,
)
from nacre.rounds.segments.parts import ARCHIVED
from nacre.rounds.segments.segment_files import record_segment
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.fetch import FetchOptions, fetch
from nacre.rounds.steps.given import GivenUrl, list_given
from nacre.rounds.steps.host_rows import host_buckets, select_buckets
from nacre.rounds.steps.inject_rows import InjectedFiles, inject_defaults
from nacre.rounds.steps.judging import RulesOfStep, rules_of_step
from nacre.rounds.steps.links import bucket_ranges
from nacre.rounds.steps.seed_rows import sync_seeds
from nacre.rounds.steps.sitemap_tasks import (
    PATH,
    HostRobotsSpec,
    MergeEntriesSpec,
    OriginsSpec,
    ReadSitemaps,
    SitemapReadSpec,
    UnreadSitemap,
    merge_entries_task,
    origins_task,
    read_task,
    robots_task,
)
from nacre.rounds.steps.update_tasks import local_facts
from nacre.rounds.storage import remove_folder
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, added_files, buckets_of, in_tasks
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SegmentState, TableFile
from nacre.rounds.visits.unit_visits import NotAttempted
from nacre.scope.seeds import BadSeed, SeedList, read_seeds
from nacre.uri.parse import host

INDEXES = 3
"""Most nested index files above a sitemap."""


class SitemapOptions(NamedTuple):
    """Options of the step.

    Attributes:
        hosts: Fetch the robots.txt of all known hosts for sitemaps.
        overwrite: Known URLs take score, interval and modification of a sitemap of their domain.
        filter: Judge entries.
        normalize: Normalize entries first.
        units: Units of each fetch, at least 1.
        parallel: Parallel fetches of each unit; 0: as in the settings.
        time_limit: Longest time of each fetch, s; 0: no limit.
        stopped: Returns whether a stop is requested; the step can be resumed.
    """

    hosts: bool = False
    overwrite: bool = False
    filter: bool = True
    normalize: bool = True
    units: int = 1
    parallel: int = 0
    time_limit: float = 0.0
    stopped: Callable[[], bool] = lambda: False


class SitemapsResult(NamedTuple):
    """Counts of the step.

    Attributes:
        asked: Hosts whose robots.txt was requested.
        sitemaps: Sitemaps that were read.
        failed: Sitemaps that could not be fetched, or are invalid.
        urls: Accepted entries, with duplicates.
        new: New URLs.
        merged: Known URLs that changed.
        known: Known URLs without a change.
        refused: Entries and sitemaps that rules refuse, by file and line or name of the rule.
        too_deep: Sitemaps below more than three indexes.
        left: Sitemaps beyond `cycle.sitemaps.max` and `max_count`.
        unasked: Sitemaps, or robots.txt of hosts, that were not requested, as the host failed.
        late: Those that were not requested for lack of time. The next step requests them, and
            rounds repeat the step until there are none.
        planned: With `--dry-run`: sitemaps that would be fetched first.
        malformed: Lines of a list that are no URLs.
        unread: Sitemaps that could not be read, the first 20 of a unit.
        interrupted: A stop was requested; the same command resumes it.
        version: The newest version that the step committed; None for none.
    """

    asked: int = 0
    sitemaps: int = 0
    failed: int = 0
    urls: int = 0
    new: int = 0
    merged: int = 0
    known: int = 0
    refused: Mapping[str, int] = {}
    too_deep: int = 0
    left: int = 0
    unasked: int = 0
    late: int = 0
    planned: int = 0
    malformed: Sequence[BadSeed] = ()
    unread: Sequence[UnreadSitemap] = ()
    interrupted: bool = False
    version: CycleVersion | None = None


def sitemaps(
    context: StepContext, lists: Sequence[SeedList], options: SitemapOptions
) -> SitemapsResult:
    """Fetch sitemaps, and add their entries.

    An interrupted step is finished first; an equal request is not begun again.

    Args:
        context: The context of the driver.
        lists: URLs of sitemaps.
        options: Options of the step.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    return _SitemapsStep(context, options).run(lists)


class _NextUrls(NamedTuple):
    """Sitemaps to fetch next, each with its source, or hosts whose robots.txt is fetched first."""

    sitemaps: Sequence[tuple[str, str | None]]
    origins: Sequence[str] = ()


class _SitemapsStep:
    """One step."""

    def __init__(self, context: StepContext, options: SitemapOptions) -> None:
        self._context = context
        self._options = options
        self._settings = context.settings.cycle.sitemaps
        self._counts: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._malformed: list[BadSeed] = []
        self._unread: list[UnreadSitemap] = []
        self._version: CycleVersion | None = None
        self._interrupted = False

    def run(self, lists: Sequence[SeedList]) -> SitemapsResult:
        read = [SeedList(seed_list.file, list(seed_list.lines)) for seed_list in lists]
        request = _digest(read, hosts=self._options.hosts)
        version = self._context.cycle.newest()
        unfinished = waiting_sitemaps(version)
        same = unfinished and version.segments[unfinished].more.get("wish") == request
        if unfinished and self._context.dry:
            self._counts["planned"] += version.segments[unfinished].urls
        elif unfinished:
            self._finish(unfinished)
        if not same and not self._interrupted:
            segment = self._begin(read, request)
            if segment:
                self._finish(segment)
        return self._result()

    def _result(self) -> SitemapsResult:
        return SitemapsResult(
            **self._counts,
            refused=dict(self._refused),
            malformed=self._malformed,
            unread=self._unread,
            interrupted=self._interrupted,
            version=self._version,
        )

    # ---- the first segment

    def _begin(self, lists: Sequence[SeedList], request: str) -> str:
        """Commit the first segment; return its name, "" if there is nothing to fetch."""
        version = sync_seeds(self._context)
        late = late_sitemaps(version)
        next_urls = self._with_late(
            version, late, [(url, None) for url in self._listed_urls(lists)]
        )
        if self._options.hosts and CRAWLDB in version.tables:
            next_urls = self._with_hosts(version, next_urls)
        mark = {"wish": request, "run": secrets.token_hex(8)}
        new_segment = self._write_segment(version, next_urls, 0 if next_urls.origins else 1, mark)
        if new_segment or (late and not self._context.dry):
            without_late = {name: marked_late(version.segments[name], 0) for name in late}
            self._commit(version, new_segment, without_late, {})
        return next(iter(new_segment), "")

    def _listed_urls(self, lists: Sequence[SeedList]) -> Iterable[str]:
        for seed_list in lists:
            for entry in read_seeds(seed_list.lines, seed_list.file):
                if isinstance(entry, BadSeed):
                    self._malformed.append(entry)
                elif url := getattr(entry, "url", ""):
                    yield url

    def _with_late(
        self, version: CycleVersion, segments: Sequence[str], urls_given: Sequence[tuple[str, None]]
    ) -> _NextUrls:
        """Return the given sitemaps, with those that earlier steps had no time for."""
        sitemaps: list[tuple[str, str | None]] = list(urls_given)
        origins: list[str] = []
        for segment in segments:
            storage, state = self._context.cycle.storage, version.segments[segment]
            lists = [f for f in storage.list(f"segments/{segment}/lists") if f.endswith(".parquet")]
            with self._context.place.open() as work:
                visits = parquet(local_facts(work.storage, _visits(state), work))
                listed = parquet(local_facts(work.storage, lists, work))
                rows = work.kernel.rows(
                    f"select key, coalesce(url, key), via from {listed} where key in "
                    f'(select key from {visits} where reason in {_LATE}) order by "order", key'
                )
            if int(state.more[SITEMAPS]):
                sitemaps += [(url, via) for _, url, via in rows]
            else:
                origins += [key.removesuffix("/robots.txt") for key, _, _ in rows]
        return _NextUrls(sitemaps, origins)

    def _with_hosts(self, version: CycleVersion, next_urls: _NextUrls) -> _NextUrls:
        """Add the sitemaps of all known hosts."""
        context = self._context
        buckets = buckets_of(context.cycle, version, CRAWLDB)
        hosts = host_buckets(context.cycle, version)
        most = self._settings.max_count
        specs = [
            OriginsSpec(context.place, g, select_buckets(hosts, g), context.clock / 1000, most)
            for g in in_tasks(buckets, tasks=context.engine.workers)
        ]
        results = context.engine.map(origins_task, specs)
        named = [sitemap for task in results for sitemap in task.sitemaps]
        origins = [*next_urls.origins, *(origin for task in results for origin in task.origins)]
        return _NextUrls([*next_urls.sitemaps, *named], list(dict.fromkeys(origins)))

    # ---- one segment after the other

    def _finish(self, segment: str) -> None:
        """Fetch and read a segment, and the segments that follow from it."""
        context, options = self._context, self._options
        while segment:
            version = context.cycle.newest()
            if version.segments[segment].state == GENERATED:
                if options.stopped():
                    self._interrupted = True
                    return
                how = FetchOptions(
                    parallel=options.parallel,
                    time_limit=options.time_limit,
                    stopped=options.stopped,
                )
                fetched = fetch(context, segment, how)
                if fetched.interrupted:
                    self._interrupted = True
                    return
            segment = self._read(segment)

    def _read(self, segment: str) -> str:
        """Read a fetched segment, and commit the next one; return its name, "" for none."""
        storage = self._context.cycle.storage
        version = self._context.cycle.newest()
        state = version.segments[segment]
        depth = int(state.more[SITEMAPS])
        folder = f"exchange/sitemaps-{version.number + 1}-{secrets.token_hex(6)}"
        parts = {unit: folders for unit, folders in sorted(state.parts.items()) if folders}
        try:
            added: dict[str, list[TableFile]] = {}
            if depth == 0:
                next_urls = self._with_robots(segment, self._host_facts(parts))
            else:
                next_urls, added = self._read_entries(version, parts, depth, folder)
            mark = {name: state.more[name] for name in ("wish", "run")}
            facts = self._host_facts(parts)
            new_segment = self._write_segment(version, next_urls, depth + 1, mark, facts)
            late = self._count_not_attempted(state)
            finished = marked_late(msgspec.structs.replace(state, state=UPDATED), late)
            self._commit(version, new_segment, {segment: finished}, added)
        finally:
            remove_folder(storage, folder)
        return next(iter(new_segment), "")

    def _count_not_attempted(self, state: SegmentState) -> int:
        """Count URLs without a request; return the number of those for lack of time."""
        names = _visits(state)
        if not names:
            return 0
        with self._context.place.open() as work:
            source = parquet(local_facts(work.storage, names, work))
            query = f"select reason in {_LATE}, count(*) from {source} where reason is not null"
            counts: dict[bool, int] = dict(work.kernel.rows(f"{query} group by 1"))
        self._counts.update(unasked=counts.get(False, 0), late=counts.get(True, 0))
        return counts.get(True, 0)

    def _host_facts(self, parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Return the files of facts of hosts."""
        storage = self._context.cycle.storage
        folders = [folder for chain in parts.values() for folder in chain]
        return tuple(
            file.name
            for folder in folders
            for file in storage.walk(folder)
            if file.name == f"{folder}/hosts.parquet"
        )

    def _with_robots(self, segment: str, hosts: tuple[str, ...]) -> _NextUrls:
        """Return the known sitemaps of a segment, with those in the robots.txt of its hosts."""
        context = self._context
        text = context.cycle.storage.read(_known_file(segment))
        known_sitemaps = msgspec.json.decode(text, type=list[tuple[str, str | None]])
        if hosts:
            spec = HostRobotsSpec(context.place, hosts, self._settings.max_count)
            (result,) = context.engine.map(robots_task, [spec])
            known_sitemaps += result.sitemaps
        return _NextUrls(known_sitemaps)

    def _read_entries(
        self, version: CycleVersion, parts: Mapping[str, Sequence[str]], depth: int, folder: str
    ) -> tuple[_NextUrls, dict[str, list[TableFile]]]:
        """Read entries; return the sitemaps in indexes, and the files of new rows."""
        context = self._context
        rules = rules_of_step(context, version)
        specs = [
            self._read_spec(version, rules, depth, f, f"{folder}/{unit}.parquet")
            for unit, f in parts.items()
        ]
        readings: list[ReadSitemaps] = context.engine.map(read_task, specs)
        for result in readings:
            self._counts.update(
                sitemaps=result.read,
                failed=result.failed,
                urls=result.rows,
                too_deep=result.too_deep,
            )
            self._refused.update(result.refused)
            self._unread += result.unread
        sources = tuple(
            spec.exchange for spec, result in zip(specs, readings, strict=True) if result.rows
        )
        added: dict[str, list[TableFile]] = {}
        if sources:
            results = self._merge_entries(version, rules, sources)
            added = added_files(result.files for result in results)
            for merged in results:
                self._counts.update(merged.counts)
        return _NextUrls([pair for result in readings for pair in result.nested]), added

    def _read_spec(
        self,
        version: CycleVersion,
        rules: RulesOfStep,
        depth: int,
        folders: Sequence[str],
        exchange: str,
    ) -> SitemapReadSpec:
        context, times = self._context, self._context.settings.recrawl.schedule.nutch
        return SitemapReadSpec(
            place=context.place,
            visits=tuple(f"{part_folder}/visits.parquet" for part_folder in folders),
            archive=ARCHIVED,
            extract=context.settings.extract,
            rules=rules,
            filter=self._options.filter,
            normalize=self._options.normalize,
            buckets=self._buckets(version),
            interval=(round(times.min_interval), round(times.interval_max)),
            clock=context.clock,
            nests=depth <= INDEXES,
            most=self._settings.max,
            exchange=exchange,
        )

    def _merge_entries(
        self, version: CycleVersion, rules: RulesOfStep, sources: tuple[str, ...]
    ) -> list[InjectedFiles]:
        context = self._context
        files = {number.bucket: number for number in buckets_of(context.cycle, version, CRAWLDB)}
        with context.place.open() as work:
            local = parquet(local_facts(work.storage, sources, work))
            counted = work.kernel.rows(f"select bucket, count(*) from {local} group by 1")
        buckets = sorted(bucket for bucket, _ in counted)
        tasks = 1 if sum(rows for _, rows in counted) < _FEW else context.engine.workers
        specs = [
            MergeEntriesSpec(
                context.place, version.number + 1, sources,
                tuple(files.get(n, BucketFiles(n)) for n in buckets[first : last + 1]),
                self._options.overwrite, rules.hash if self._options.filter else 0,
                inject_defaults(context), context.clock,
            )
            for first, last in bucket_ranges(len(buckets), tasks)
        ]  # fmt: skip
        return context.engine.map(merge_entries_task, specs)

    def _buckets(self, version: CycleVersion) -> int:
        table = version.tables.get(CRAWLDB)
        return table.buckets if table is not None else self._context.settings.cycle.buckets

    # ---- new segments

    def _write_segment(
        self,
        version: CycleVersion,
        next_urls: _NextUrls,
        depth: int,
        mark: Mapping[str, str],
        facts: Sequence[str] = (),
    ) -> dict[str, SegmentState]:
        """Write the lists of the next segment; return {} if there is nothing to fetch."""
        urls = (
            self._robots_urls(next_urls)
            if depth == 0
            else self._sitemap_urls(version, next_urls, mark)
        )
        if depth == 0:
            self._counts["asked"] += len(urls)
        if self._context.dry:
            self._counts["planned"] += len(urls) if depth else len(next_urls.sitemaps)
        if not urls or self._context.dry:
            return {}
        units = self._options.units
        listed = list_given(self._context, version, urls, units, fresh=True, facts=facts)
        if depth == 0:
            text = msgspec.json.encode(list(next_urls.sitemaps))
            self._context.cycle.storage.put(_known_file(listed.segment), text)
        more = {**listed.state.more, **mark, SITEMAPS: depth, "made": version.number + 1}
        state = msgspec.structs.replace(listed.state, more=more)
        storage, engine = self._context.cycle.storage, self._context.engine
        return {listed.segment: record_segment(engine, storage, listed.segment, state)}

    def _robots_urls(self, next_urls: _NextUrls) -> list[GivenUrl]:
        urls = [f"{origin}/robots.txt" for origin in next_urls.origins]
        self._counts["left"] += max(0, len(urls) - self._settings.max)
        return [GivenUrl(url, url, path=PATH) for url in urls[: self._settings.max]]

    def _sitemap_urls(
        self, version: CycleVersion, next_urls: _NextUrls, mark: Mapping[str, str]
    ) -> list[GivenUrl]:
        """Return the sitemaps that no segment of this step had, limited by the settings."""
        context = self._context
        admission = rules_of_step(context, version).admission(context.layout.root)
        listed_keys, of_host = _listed_before(context, version, mark["run"]), Counter(map(host, ()))
        of_host.update(host(key) for key in listed_keys)
        urls: dict[str, GivenUrl] = {}
        for url, via in next_urls.sitemaps:
            key = admission.key(url)
            if key in listed_keys or key in urls:
                continue
            # A sitemap of the operator is fetched like a seed.
            refusal = admission.refusal(url, path=PATH, via=via) if via is not None else ""
            if refusal:
                self._refused[refusal] += 1
            elif of_host[host(key)] >= self._settings.max_count or len(urls) >= self._settings.max:
                self._counts["left"] += 1
            else:
                of_host[host(key)] += 1
                urls[key] = GivenUrl(key, url, via, PATH if via is not None else None)
        return list(urls.values())

    def _commit(
        self,
        version: CycleVersion,
        new_segment: Mapping[str, SegmentState],
        finished: Mapping[str, SegmentState],
        added: Mapping[str, list[TableFile]],
    ) -> None:
        context, options = self._context, self._options
        rows = {table: files for table, files in added.items() if files}
        counters: dict[str, Any] = {**self._counts, "refused": dict(self._refused)}
        changes = CycleChanges(
            step="sitemaps",
            clock=context.clock,
            options={"hosts": options.hosts, "overwrite": options.overwrite},
            counters=counters,
            added=rows,
            buckets={CRAWLDB: self._buckets(version)}
            if CRAWLDB not in version.tables and rows
            else {},
            segments={**finished, **new_segment},
        )
        self._version = context.cycle.commit(version, changes)


_FEW = 20_000
"""Rows that one task merges."""
_LATE = f"('{NotAttempted.DEADLINE}', '{NotAttempted.THROUGHPUT}')"
"""Reasons that are no fault of the host, in SQL."""


def _digest(lists: Sequence[SeedList], *, hosts: bool) -> str:
    """Return a digest of the request, so that an interrupted step is not begun twice."""
    digest = blake2b(b"hosts" if hosts else b"", digest_size=8)
    for seed_list in lists:
        digest.update("\n".join([*seed_list.lines, ""]).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _visits(state: SegmentState) -> list[str]:
    """Return the files of the visits of a segment."""
    return [f"{part}/visits.parquet" for chain in state.parts.values() for part in chain]


def _known_file(segment: str) -> str:
    return f"segments/{segment}/known.json"


def _listed_before(context: StepContext, version: CycleVersion, run: str) -> set[str]:
    """Return the keys that segments of the same step had."""
    storage = context.cycle.storage
    names = [
        name
        for segment, state in version.segments.items()
        if state.more.get("run") == run and int(state.more.get(SITEMAPS, 0)) > 0
        for name in storage.list(f"segments/{segment}/lists")
        if name.endswith(".parquet")
    ]
    if not names:
        return set()
    with context.place.open() as work:
        files = parquet(local_facts(work.storage, names, work))
        return {key for (key,) in work.kernel.rows(f"select key from {files}")}
