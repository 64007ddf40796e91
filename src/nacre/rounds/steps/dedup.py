"""The step `dedup`: one page of the same content stays, the others become db_duplicate.

Four passes. Visits show which signatures have new or lost pages; the table of signatures, which is
only an index, lists all pages that may have these; the CrawlDb confirms the pages that have them
now, with their scores; the criteria choose among them. Declared canonical pages come first. Source:
Nutch, `DeduplicationJob` (reference N 1.12).
"""

import secrets
from collections.abc import Sequence
from typing import NamedTuple

from nacre.crawldb.dedup import (
    SIGNATURE_COLUMNS,
    canonical_query,
    duplicates_query,
    signature_bucket_sql,
)
from nacre.crawldb.fold import fold_query
from nacre.crawldb.hosts import host_sql, load_domains
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import Status
from nacre.crawldb.settings import CycleDedupSettings
from nacre.engine.candidates.identity import canonicalizer
from nacre.engine.settings import UriSettings
from nacre.rounds.journal import UPDATED
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.dedup_files import (
    COMPARED,
    SIGNATURES,
    add_buckets,
    compared_before,
    mark_compared,
    publish_sets,
)
from nacre.rounds.steps.links import bucket_ranges, waiting_segments
from nacre.rounds.steps.near import IndexSpec, NearSearch, find_near_duplicates
from nacre.rounds.steps.update_tasks import FetchedFacts, facts_of, local_facts
from nacre.rounds.storage import localize, remove_folder
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    TaskWork,
    buckets_of,
    in_tasks,
    local_bucket,
    table_kind,
)
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, TableFile

_FEW = 100_000
"""Pages that one task reads."""
_BESIDE = 260 * 10**6
"""Bytes of the choosing process in addition to its kernel, which uses all of its memory: one task
chooses for all pages."""
_EXISTING = f"({int(Status.FETCHED)}, {int(Status.NOT_MODIFIED)}, {int(Status.DUPLICATE)})"


_NEWEST = (
    "row_number() over (partition by v.key order by v.time desc, l.last_time desc nulls last) = 1"
)
"""The newest visit of a page, with the newest row of it in a list."""


class DedupResult(NamedTuple):
    """The outcome of the step.

    Attributes:
        segments: Segments whose visits were read.
        pages: Pages that share their signature with another page.
        groups: Groups of them.
        marked: New duplicates.
        released: Pages that are no duplicates any more.
        canonical: Marked pages that declare another page as canonical.
        near: Marked pages whose text is almost that of another page.
        again: Segments that were compared before, with other options.
        version: The version; None if nothing was committed.
    """

    segments: Sequence[str] = ()
    pages: int = 0
    groups: int = 0
    marked: int = 0
    released: int = 0
    canonical: int = 0
    near: int = 0
    again: int = 0
    version: CycleVersion | None = None


def index_task(spec: IndexSpec) -> tuple[int, list[TableFile]]:
    """Add visits to the index; return the number of candidates for the second pass, and files."""
    with spec.place.open() as work:
        _load_changes(work, spec)
        columns = ", ".join(column.name for column in SIGNATURE_COLUMNS)
        merge = table_kind(SIGNATURES).merge
        work.kernel.execute("create temp table known as select * from changes limit 0")
        for bucket in spec.known_pages:
            merged = merge(local_bucket(work.storage, bucket, work.scratch))
            work.kernel.execute(
                f"insert into known select {columns}, {bucket.bucket} as bucket from ({merged}) "
                "where signature in (select signature from changes)"
            )
        where = (SIGNATURES, spec.version)
        files = publish_sets(work, "changes", columns, "signature, key", where, dry=spec.dry)
        return _members(work, spec), files


def _load_changes(work: TaskWork, spec: IndexSpec) -> None:
    """Make the table `changes`: pages that have a signature since their visit, or lost one."""
    visits = parquet(
        local_facts(
            work.storage,
            [n for segment_facts in spec.facts for n in segment_facts.files("visits")],
            work,
        )
    )
    lists = parquet(
        local_facts(
            work.storage, [n for segment_facts in spec.facts for n in segment_facts.lists], work
        )
    )
    bucket = signature_bucket_sql("signature", spec.buckets)
    new = (
        "case when v.status between 200 and 299 then v.signature "
        "when v.status = 304 then l.signature end"
    )
    work.kernel.execute(
        "create temp table met as select v.key, v.time // 1000 as time, "
        f"{new} as new, l.signature as old from {visits} v left join {lists} l on l.key = v.key "
        f"where v.status <> 0 qualify {_NEWEST}"
    )
    work.kernel.execute(
        "create temp table changes as select *, null::BIGINT as simhash, "
        f"{bucket} as bucket from (select new as signature, key, true as live, time from met "
        "where new is not null union all select old, key, false, time from met "
        "where old is not null and old is distinct from new) "
        f"where {bucket} between {spec.first} and {spec.last}"
    )


def _members(work: TaskWork, spec: IndexSpec) -> int:
    """Write the pages that may be in a group with a signature that changed."""
    kernel = work.kernel
    kernel.execute(
        "create temp table live as select signature, key, bool_or(fresh) as fresh from "
        "(select signature, key, true as fresh from changes where live union all "
        "select signature, key, false from known k where live and not exists "
        "(select 1 from changes c where c.signature = k.signature and c.key = k.key)) group by all"
    )
    # A page alone is no duplicate; that one which was just visited is none is known already.
    kernel.execute(
        "create temp table members as select signature, key from live qualify "
        "count(*) over (partition by signature) > 1 or not fresh"
    )
    add_buckets(kernel, "members", spec.buckets)
    return work.send("select signature, key, bucket from members_in", spec.exchange)


class ClaimsSpec(NamedTuple):
    """One task: pages that declare another page as canonical.

    Attributes:
        place: The work place of the task.
        facts: The segments.
        uri: `uri`, for keys.
        exchange: Name of the file of claims.
    """

    place: TaskPlace
    facts: tuple[FetchedFacts, ...]
    uri: UriSettings
    exchange: str


def claims_task(spec: ClaimsSpec) -> int:
    """Write the declared canonical pages as keys; return their number."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    canonical = canonicalizer(spec.uri).canonical
    with spec.place.open() as work:
        names = [name for values in spec.facts for name in values.files("visits")]
        rows = work.kernel.rows(
            "select key, canonical, signature from (select key, canonical, signature, status from "
            f"{parquet(local_facts(work.storage, names, work))} "
            # A page that was not modified or not reached keeps its declaration.
            "where status > 0 and status <> 304 "
            "qualify row_number() over (partition by key order by time desc) = 1) "
            "where canonical is not null and status between 200 and 299"
        )
        types = {"key": pa.string(), "canonical": pa.string(), "signature": pa.binary()}
        keys, urls, signatures = zip(*rows, strict=True) if rows else ((), (), ())
        columns = [keys, [canonical(url) for url in urls], signatures]
        arrays = [pa.array(values, of) for values, of in zip(columns, types.values(), strict=True)]
        work.kernel.load("claims", pa.table(arrays, names=list(types)))
        return work.send("select * from claims where canonical <> key", spec.exchange)


class ConfirmSpec(NamedTuple):
    """The second pass: confirm the pages of some buckets that have the signature.

    Attributes:
        place: The work place of the task.
        sources: The files of the first pass.
        claims: The file of declared canonical pages; "" for none.
        buckets: The buckets of the CrawlDb.
        interval: Interval of a row that has none, s.
        exchange: Name of the file of confirmed pages.
    """

    place: TaskPlace
    sources: tuple[str, ...]
    claims: str
    buckets: tuple[BucketFiles, ...]
    interval: int
    exchange: str


_CONFIRMED = (
    "signature BLOB, key VARCHAR, score DECIMAL(38,0), time BIGINT, dup_of VARCHAR, bucket INTEGER"
)


def confirm_task(spec: ConfirmSpec) -> tuple[int, list[tuple[str, str]]]:
    """Look pages up; return the number of confirmed pages, and pairs of page and canonical page."""
    with spec.place.open() as work:
        kernel = work.kernel
        kernel.execute(f"create temp table confirmed ({_CONFIRMED})")
        pairs: list[tuple[str, str]] = []
        members = parquet(local_facts(work.storage, spec.sources, work)) if spec.sources else ""
        claims = ""
        if spec.claims:
            claims = parquet([str(localize(work.storage, spec.claims, work.scratch))])
        for bucket in spec.buckets:
            columns = ["status", "signature", "score", "cash", "fetch_time", "dup_of"]
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = fold_query(*local, interval=spec.interval, columns=columns, order=False)
            kernel.execute(f"create or replace temp table rows as {rows}")
            if members:
                kernel.execute(
                    "insert into confirmed select m.signature, m.key, r.score + r.cash, "
                    f"r.fetch_time, r.dup_of, {bucket.bucket} from {members} m join rows r "
                    f"on r.key = m.key and r.signature = m.signature and r.status in {_EXISTING} "
                    f"where m.bucket = {bucket.bucket}"
                )
            if claims:
                pairs += kernel.rows(canonical_query(claims, "rows"))
        return work.send("select * from confirmed", spec.exchange), pairs


class ChooseSpec(NamedTuple):
    """The last pass: choose one page of each group.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        sources: The files of the second pass.
        canonical: Pairs of a page and its existing canonical page.
        claims: The file of declared canonical pages; "" for none.
        settings: `cycle.dedup`.
        buckets: Number of buckets.
        exchange: Name of the file for the keys of duplicates; "" for none.
        dry: Count, and publish nothing.
    """

    place: TaskPlace
    version: int
    sources: tuple[str, ...]
    canonical: tuple[tuple[str, str], ...]
    claims: str
    settings: CycleDedupSettings
    buckets: int
    exchange: str = ""
    dry: bool = False


def choose_task(spec: ChooseSpec) -> tuple[DedupResult, dict[str, list[TableFile]]]:
    """Choose, and write the changes of the CrawlDb and of the index."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    memory = spec.place.memory
    place = spec.place._replace(memory=max(memory - _BESIDE, memory // 2))
    with place.open() as work:
        kernel = work.kernel
        names = [("key", pa.string()), ("dup_of", pa.string())]
        pairs = [dict(zip(("key", "dup_of"), pair, strict=True)) for pair in spec.canonical]
        kernel.load("declared", pa.Table.from_pylist(pairs, pa.schema(names)))
        source = parquet(local_facts(work.storage, spec.sources, work)) if spec.sources else ""
        if source:
            # A page that declares another one as canonical takes no part among equals.
            kernel.execute(
                f"create temp view pages as select *, true as live from {source} c "
                "where key not in (select key from declared)"
            )
        else:
            kernel.execute(f"create temp table pages ({_CONFIRMED}, live BOOLEAN)")
        if spec.settings.group == "domain":
            hosts = kernel.rows(f"select distinct {host_sql('key')} from pages")
            load_domains(kernel, "domains", [host for (host,) in hosts])
        query = duplicates_query("pages", spec.settings.order, spec.settings.group, "domains")
        kernel.execute(
            f"create temp table found as select key, dup_of from ({query}) union all "
            "select key, dup_of from declared"
        )
        return _write_choice(work, spec)


def _write_choice(
    work: TaskWork, spec: ChooseSpec
) -> tuple[DedupResult, dict[str, list[TableFile]]]:
    kernel = work.kernel
    add_buckets(kernel, "found", spec.buckets)
    kernel.execute("drop table found")
    where = (CRAWLDB, spec.version)
    changed_files = publish_sets(work, "found_in", "key, dup_of", "key", where, dry=spec.dry)
    files = {CRAWLDB: changed_files}
    if spec.exchange:
        work.send("select key from found_in", spec.exchange)
    if spec.claims:
        # They are not compared until they are visited again.
        claims = parquet([str(localize(work.storage, spec.claims, work.scratch))])
        columns = ", ".join(column.name for column in SIGNATURE_COLUMNS)
        kernel.execute(
            "create temp table past as select signature, key, false as live, 0::BIGINT as time, "
            "null::BIGINT as simhash, "
            f"{signature_bucket_sql('signature', spec.buckets)} as bucket from {claims} "
            "where signature is not null and key in (select key from declared)"
        )
        where = (SIGNATURES, spec.version)
        files[SIGNATURES] = publish_sets(
            work, "past", columns, "signature, key", where, dry=spec.dry
        )
    pages, groups = kernel.rows("select count(*), count(distinct signature) from pages")[0]
    marks, released = kernel.rows("select count(dup_of), count(*) - count(dup_of) from found_in")[0]
    return DedupResult((), pages, groups, marks, released, len(spec.canonical)), files


# ---- the driver


def dedup(context: StepContext, settings: CycleDedupSettings) -> DedupResult:
    """Find duplicates among the pages that were visited since the last time.

    If some segments were compared with other options, all updated segments are compared.

    Args:
        context: The context of the driver.
        settings: `cycle.dedup`, with the options applied.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    waiting = waiting_segments(version, COMPARED, (UPDATED,))
    updated = waiting_segments(version, "", (UPDATED,))
    again = compared_before(updated, settings)
    # The newest visit of a page may be in any segment.
    waiting = updated if again else waiting
    facts = tuple(facts_of(name, state) for name, state in waiting.items())
    if not any(segment_facts.parts for segment_facts in facts):
        return DedupResult()
    folder = f"exchange/dedup-{version.number + 1}-{secrets.token_hex(6)}"
    try:
        result, added = _DuplicateSearch(context, settings, version, facts, folder).run()
        result = result._replace(segments=tuple(waiting), again=len(again))
        if context.dry:
            return result
        changes = CycleChanges(
            step="dedup",
            clock=context.clock,
            options=settings.model_dump(mode="json", exclude_defaults=True),
            counters={
                name: value for name, value in result._asdict().items() if isinstance(value, int)
            },
            added={table: files for table, files in added.items() if files},
            buckets=_new_buckets(version, added),
            segments=mark_compared(waiting, settings),
        )
        return result._replace(version=context.cycle.commit(version, changes))
    finally:
        remove_folder(context.cycle.storage, folder)


def _new_buckets(version: CycleVersion, added: dict[str, list[TableFile]]) -> dict[str, int]:
    if SIGNATURES in version.tables or not added.get(SIGNATURES):
        return {}
    return {SIGNATURES: version.tables[CRAWLDB].buckets}


class _DuplicateSearch:
    """One search for duplicates."""

    def __init__(
        self,
        context: StepContext,
        settings: CycleDedupSettings,
        version: CycleVersion,
        facts: tuple[FetchedFacts, ...],
        folder: str,
    ) -> None:
        self._context = context
        self._settings = settings
        self._version = version
        self._facts = facts
        self._folder = folder
        self._buckets = version.tables[CRAWLDB].buckets

    def run(self) -> tuple[DedupResult, dict[str, list[TableFile]]]:
        """Search; return the result, and the files of each table."""
        members, files = self._index()
        claims = self._claims() if self._settings.canonical else ""
        confirmed, pairs = self._confirm(members, claims)
        spec = ChooseSpec(
            self._context.place,
            self._version.number + 1,
            confirmed,
            pairs,
            claims,
            self._settings,
            self._buckets,
            f"{self._folder}/chosen.parquet" if self._settings.near else "",
            self._context.dry,
        )
        ((result, chosen),) = self._context.engine.map(choose_task, [spec])
        marked = result.marked or result.released
        chosen[SIGNATURES] = [*files, *chosen.get(SIGNATURES, [])]
        if self._settings.near:
            near = find_near_duplicates(self._near(spec.exchange if marked else ""))
            for table, more in near.files.items():
                chosen[table] = [*chosen[table], *more]
            result = result._replace(
                near=near.marked,
                marked=result.marked + near.marked,
                released=result.released + near.released,
            )
        return result, chosen

    def _near(self, chosen: str) -> NearSearch:
        cycle, version = self._context.cycle, self._version
        buckets = buckets_of(cycle, version, SIGNATURES) if SIGNATURES in version.tables else []
        return NearSearch(
            self._context,
            self._settings,
            version,
            self._facts,
            tuple(buckets),
            chosen,
            self._folder,
            self._buckets,
        )

    def _index(self) -> tuple[tuple[str, ...], list[TableFile]]:
        cycle, version = self._context.cycle, self._version
        known_buckets = []
        buckets = self._buckets
        if SIGNATURES in version.tables:
            known_buckets = buckets_of(cycle, version, SIGNATURES)
            buckets = version.tables[SIGNATURES].buckets
        specs = [
            IndexSpec(
                self._context.place,
                version.number + 1,
                self._facts,
                tuple(bucket for bucket in known_buckets if first <= bucket.bucket <= last),
                buckets,
                first,
                last,
                f"{self._folder}/members-{first}.parquet",
                self._context.dry,
            )
            for first, last in bucket_ranges(buckets, self._index_tasks(known_buckets))
        ]
        results = self._context.engine.map(index_task, specs)
        named = [spec.exchange for spec, (rows, _) in zip(specs, results, strict=True) if rows]
        return tuple(named), [file for _, files in results for file in files]

    def _index_tasks(self, bucket_files: Sequence[BucketFiles]) -> int:
        """Return the number of tasks of the first pass: 1 for few pages."""
        rows = sum(file.rows for bucket in bucket_files for file in bucket.all)
        rows += sum(self._version.segments[s.segment].urls for s in self._facts)
        return self._context.engine.workers if rows > _FEW else 1

    def _claims(self) -> str:
        name = f"{self._folder}/claims.parquet"
        context = self._context
        spec = ClaimsSpec(context.place, self._facts, context.settings.uri, name)
        (rows,) = context.engine.map(claims_task, [spec])
        return name if rows else ""

    def _confirm(
        self, members: tuple[str, ...], claims: str
    ) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Return the files of confirmed pages, and pairs of a page and its canonical page."""
        if not members and not claims:
            return (), ()
        context = self._context
        buckets = buckets_of(context.cycle, self._version, CRAWLDB)
        specs = [
            ConfirmSpec(
                context.place,
                members,
                claims,
                group,
                context.interval,
                f"{self._folder}/confirmed-{number}.parquet",
            )
            for number, group in enumerate(in_tasks(buckets, tasks=context.engine.workers))
        ]
        results = context.engine.map(confirm_task, specs)
        named = [spec.exchange for spec, (rows, _) in zip(specs, results, strict=True) if rows]
        return tuple(named), tuple(sorted({pair for _, pairs in results for pair in pairs}))
