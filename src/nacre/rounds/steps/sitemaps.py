"""The step `sitemaps`: what sitemaps list enters the table of URLs.

Source: Nutch, `SitemapProcessor` (reference N 1.16), with limits. Sitemaps are segments of their
own, which units fetch as all others; `update` has nothing to do with them. The first asks hosts for
their robots.txt, the next fetches what those name, and further ones what indexes name. Each is
read in the commit that makes the next, so that a killed step goes on where it was.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.kernels import parquet
from nacre.engine.seeding.seeds import BadSeed, SeedList, read_seeds
from nacre.rounds.journal import (
    GENERATED,
    SITEMAPS,
    UPDATED,
    late_sitemaps,
    marked_late,
    waiting_sitemaps,
)
from nacre.rounds.segments.parts import ARCHIVED
from nacre.rounds.segments.segment_files import recorded
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.fetch import FetchOptions, fetch
from nacre.rounds.steps.given import GivenUrl, list_given
from nacre.rounds.steps.host_rows import host_buckets, of_buckets
from nacre.rounds.steps.inject_rows import InjectedFiles, inject_defaults
from nacre.rounds.steps.judging import RulesOfStep, rules_of_step
from nacre.rounds.steps.links import bucket_ranges
from nacre.rounds.steps.seed_rows import synced
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
from nacre.uri.parse import host

INDEXES = 3
"""Index files that may lead to a sitemap, one through the other."""


class SitemapOptions(NamedTuple):
    """Options of the step.

    Attributes:
        hosts: Ask all known hosts for the sitemaps that their robots.txt names.
        overwrite: Known URLs take score, interval and modification of a sitemap of their domain.
        filter: Rules judge what sitemaps list.
        normalize: Normalizers rewrite it first.
        units: Units of each fetch, at least 1.
        parallel: Fetches at the same time in each; 0: as the settings say.
        time_limit: Longest time of each fetch, s; 0: no limit.
        stopped: Whether somebody wants the step to end; it can be resumed.
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
        asked: Hosts that were asked for their robots.txt.
        sitemaps: Sitemaps that were read.
        failed: Sitemaps that could not be fetched, or are none.
        urls: Entries that nothing refuses, each counted as often as it is listed.
        new: URLs that were not known.
        merged: Known URLs that changed.
        known: Known URLs that stay as they are.
        refused: Entries and sitemaps that rules refuse, by file and line or name of the rule.
        too_deep: Sitemaps behind more than three indexes.
        left: Sitemaps beyond `cycle.sitemaps.max` and `max_count`.
        unasked: Sitemaps, or robots.txt of hosts, that were not asked for, as the host failed.
        late: Those that were not asked for, as the time was over. The next step takes them along,
            and rounds have one while there are any.
        planned: With `--dry-run`: sitemaps that would be fetched first.
        malformed: Lines of a list that are no URLs.
        unread: Sitemaps that could not be read, the first 20 of a unit.
        interrupted: Somebody ended it; the same command goes on.
        version: The newest version that the step committed; None: none.
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
    """Fetch sitemaps, and bring in what they list.

    A step that was interrupted is finished first; it is not begun again when it is the same.

    Args:
        context: The context of the driver.
        lists: URLs of sitemaps.
        options: Options of the step.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    return _SitemapsStep(context, options).run(lists)


class _Wanted(NamedTuple):
    """Sitemaps that are fetched next, each with what names it, or hosts that are asked first."""

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
        read = [SeedList(one.file, list(one.lines)) for one in lists]
        wish = _digest(read, hosts=self._options.hosts)
        version = self._context.cycle.newest()
        left = waiting_sitemaps(version)
        same = left and version.segments[left].more.get("wish") == wish
        if left and self._context.dry:
            self._counts["planned"] += version.segments[left].urls
        elif left:
            self._finish(left)
        if not same and not self._interrupted:
            segment = self._begin(read, wish)
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

    def _begin(self, lists: Sequence[SeedList], wish: str) -> str:
        """Commit the first segment; its name, "" when there is nothing to fetch."""
        version = synced(self._context)
        late = late_sitemaps(version)
        wanted = self._late(version, late, [(url, None) for url in self._given(lists)])
        if self._options.hosts and CRAWLDB in version.tables:
            wanted = self._of_hosts(version, wanted)
        mark = {"wish": wish, "run": secrets.token_hex(8)}
        made = self._segment(version, wanted, 0 if wanted.origins else 1, mark)
        if made or (late and not self._context.dry):
            taken = {name: marked_late(version.segments[name], 0) for name in late}
            self._commit(version, made, taken, {})
        return next(iter(made), "")

    def _given(self, lists: Sequence[SeedList]) -> Iterable[str]:
        for one in lists:
            for entry in read_seeds(one.lines, one.file):
                if isinstance(entry, BadSeed):
                    self._malformed.append(entry)
                elif url := getattr(entry, "url", ""):
                    yield url

    def _late(
        self, version: CycleVersion, segments: Sequence[str], given: Sequence[tuple[str, None]]
    ) -> _Wanted:
        """What is given, and what segments of earlier steps had no time for."""
        sitemaps: list[tuple[str, str | None]] = list(given)
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
        return _Wanted(sitemaps, origins)

    def _of_hosts(self, version: CycleVersion, wanted: _Wanted) -> _Wanted:
        """With the sitemaps of all known hosts."""
        context = self._context
        buckets = buckets_of(context.cycle, version, CRAWLDB)
        hosts = host_buckets(context.cycle, version)
        most = self._settings.max_count
        specs = [
            OriginsSpec(context.place, group, of_buckets(hosts, group), context.clock / 1000, most)
            for group in in_tasks(buckets, tasks=context.engine.workers)
        ]
        found = context.engine.map(origins_task, specs)
        named = [one for task in found for one in task.sitemaps]
        origins = [*wanted.origins, *(origin for task in found for origin in task.origins)]
        return _Wanted([*wanted.sitemaps, *named], list(dict.fromkeys(origins)))

    # ---- one segment after the other

    def _finish(self, segment: str) -> None:
        """Fetch and read a segment, and those that follow from it."""
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
                found = fetch(context, segment, how)
                if found.interrupted:
                    self._interrupted = True
                    return
            segment = self._read(segment)

    def _read(self, segment: str) -> str:
        """Read a fetched segment, and commit that with the next one; its name, "" for none."""
        storage = self._context.cycle.storage
        version = self._context.cycle.newest()
        state = version.segments[segment]
        depth = int(state.more[SITEMAPS])
        folder = f"exchange/sitemaps-{version.number + 1}-{secrets.token_hex(6)}"
        parts = {unit: folders for unit, folders in sorted(state.parts.items()) if folders}
        try:
            added: dict[str, list[TableFile]] = {}
            if depth == 0:
                wanted = self._of_robots(segment, self._host_facts(parts))
            else:
                wanted, added = self._entries(version, parts, depth, folder)
            mark = {name: state.more[name] for name in ("wish", "run")}
            facts = self._host_facts(parts)
            made = self._segment(version, wanted, depth + 1, mark, facts)
            late = self._not_attempted(state)
            done = marked_late(msgspec.structs.replace(state, state=UPDATED), late)
            self._commit(version, made, {segment: done}, added)
        finally:
            remove_folder(storage, folder)
        return next(iter(made), "")

    def _not_attempted(self, state: SegmentState) -> int:
        """Count what was not asked for; the number of those that the time was over for."""
        names = _visits(state)
        if not names:
            return 0
        with self._context.place.open() as work:
            source = parquet(local_facts(work.storage, names, work))
            query = f"select reason in {_LATE}, count(*) from {source} where reason is not null"
            found: dict[bool, int] = dict(work.kernel.rows(f"{query} group by 1"))
        self._counts.update(unasked=found.get(False, 0), late=found.get(True, 0))
        return found.get(True, 0)

    def _host_facts(self, parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """The files of what units saw of hosts."""
        storage = self._context.cycle.storage
        folders = [folder for chain in parts.values() for folder in chain]
        return tuple(
            file.name
            for folder in folders
            for file in storage.walk(folder)
            if file.name == f"{folder}/hosts.parquet"
        )

    def _of_robots(self, segment: str, hosts: tuple[str, ...]) -> _Wanted:
        """The sitemaps that were known when hosts were asked, and those that these name."""
        context = self._context
        text = context.cycle.storage.read(_known_file(segment))
        known = msgspec.json.decode(text, type=list[tuple[str, str | None]])
        if hosts:
            spec = HostRobotsSpec(context.place, hosts, self._settings.max_count)
            (found,) = context.engine.map(robots_task, [spec])
            known += found.sitemaps
        return _Wanted(known)

    def _entries(
        self, version: CycleVersion, parts: Mapping[str, Sequence[str]], depth: int, folder: str
    ) -> tuple[_Wanted, dict[str, list[TableFile]]]:
        """The sitemaps that indexes name, and the files of new rows."""
        context = self._context
        rules = rules_of_step(context, version)
        specs = [
            self._read_spec(version, rules, depth, folders, f"{folder}/{unit}.parquet")
            for unit, folders in parts.items()
        ]
        found: list[ReadSitemaps] = context.engine.map(read_task, specs)
        for one in found:
            self._counts.update(
                sitemaps=one.read, failed=one.failed, urls=one.rows, too_deep=one.too_deep
            )
            self._refused.update(one.refused)
            self._unread += one.unread
        sources = tuple(spec.exchange for spec, one in zip(specs, found, strict=True) if one.rows)
        added: dict[str, list[TableFile]] = {}
        if sources:
            results = self._merged(version, rules, sources)
            added = added_files(one.files for one in results)
            for merged in results:
                self._counts.update(merged.counts)
        return _Wanted([pair for one in found for pair in one.nested]), added

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
            visits=tuple(f"{one}/visits.parquet" for one in folders),
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

    def _merged(
        self, version: CycleVersion, rules: RulesOfStep, sources: tuple[str, ...]
    ) -> list[InjectedFiles]:
        context = self._context
        files = {one.bucket: one for one in buckets_of(context.cycle, version, CRAWLDB)}
        with context.place.open() as work:
            local = parquet(local_facts(work.storage, sources, work))
            counted = work.kernel.rows(f"select bucket, count(*) from {local} group by 1")
        buckets = sorted(bucket for bucket, _ in counted)
        tasks = 1 if sum(rows for _, rows in counted) < _FEW else context.engine.workers
        specs = [
            MergeEntriesSpec(
                context.place, version.number + 1, sources,
                tuple(files.get(one, BucketFiles(one)) for one in buckets[first : last + 1]),
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

    def _segment(
        self,
        version: CycleVersion,
        wanted: _Wanted,
        depth: int,
        mark: Mapping[str, str],
        facts: Sequence[str] = (),
    ) -> dict[str, SegmentState]:
        """Write the lists of the next segment; {} when nothing is left to fetch."""
        urls = (
            self._robots_urls(wanted) if depth == 0 else self._sitemap_urls(version, wanted, mark)
        )
        if depth == 0:
            self._counts["asked"] += len(urls)
        if self._context.dry:
            self._counts["planned"] += len(urls) if depth else len(wanted.sitemaps)
        if not urls or self._context.dry:
            return {}
        units = self._options.units
        made = list_given(self._context, version, urls, units, fresh=True, facts=facts)
        if depth == 0:
            text = msgspec.json.encode(list(wanted.sitemaps))
            self._context.cycle.storage.put(_known_file(made.segment), text)
        more = {**made.state.more, **mark, SITEMAPS: depth, "made": version.number + 1}
        state = msgspec.structs.replace(made.state, more=more)
        storage, engine = self._context.cycle.storage, self._context.engine
        return {made.segment: recorded(engine, storage, made.segment, state)}

    def _robots_urls(self, wanted: _Wanted) -> list[GivenUrl]:
        urls = [f"{origin}/robots.txt" for origin in wanted.origins]
        self._counts["left"] += max(0, len(urls) - self._settings.max)
        return [GivenUrl(url, url, path=PATH) for url in urls[: self._settings.max]]

    def _sitemap_urls(
        self, version: CycleVersion, wanted: _Wanted, mark: Mapping[str, str]
    ) -> list[GivenUrl]:
        """The sitemaps that no segment of this step had, as many as the settings allow."""
        context = self._context
        admission = rules_of_step(context, version).admission(context.layout.root)
        seen, of_host = _listed_before(context, version, mark["run"]), Counter(map(host, ()))
        of_host.update(host(key) for key in seen)
        urls: dict[str, GivenUrl] = {}
        for url, via in wanted.sitemaps:
            key = admission.key(url)
            if key in seen or key in urls:
                continue
            # What the operator names is fetched, as a seed is.
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
        made: Mapping[str, SegmentState],
        done: Mapping[str, SegmentState],
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
            segments={**done, **made},
        )
        self._version = context.cycle.commit(version, changes)


_FEW = 20_000
"""Rows that one task merges."""
_LATE = f"('{NotAttempted.DEADLINE}', '{NotAttempted.THROUGHPUT}')"
"""Reasons that say nothing of the host, in SQL."""


def _digest(lists: Sequence[SeedList], *, hosts: bool) -> str:
    """A name of what is asked for, so that an interrupted step is not begun twice."""
    digest = blake2b(b"hosts" if hosts else b"", digest_size=8)
    for one in lists:
        digest.update("\n".join([*one.lines, ""]).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _visits(state: SegmentState) -> list[str]:
    """The files of the visits of a segment."""
    return [f"{part}/visits.parquet" for chain in state.parts.values() for part in chain]


def _known_file(segment: str) -> str:
    return f"segments/{segment}/known.json"


def _listed_before(context: StepContext, version: CycleVersion, run: str) -> set[str]:
    """The keys that segments of the same step had."""
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
