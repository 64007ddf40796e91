"""The step `dedup`: of pages with the same content one counts, the others become db_duplicate.

Four passes. Visits tell which signatures have new or lost pages; the table of signatures, which is
an index and nothing more, names all pages that may have one of those; the CrawlDb says which of
them really have it now, and with which score; of those the criteria choose. What pages declare as
canonical comes first. Source: Nutch, `DeduplicationJob` (reference N 1.12).
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
from nacre.rounds.steps.dedup_files import SIGNATURES, published, with_buckets
from nacre.rounds.steps.dedup_marks import COMPARED, compared_before, marked_as_compared
from nacre.rounds.steps.links import bucket_ranges, waiting_segments
from nacre.rounds.steps.near import IndexSpec, NearSearch, near_duplicates
from nacre.rounds.steps.update_tasks import FetchedFacts, facts_of, local_facts
from nacre.rounds.storage import localized, remove_folder
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
"""Pages that one task looks at."""
_BESIDE = 260 * 10**6
"""Bytes of the process that chooses beside those of its kernel, which fills what it may have: one
task does so for all pages."""
_THERE = f"({int(Status.FETCHED)}, {int(Status.NOT_MODIFIED)}, {int(Status.DUPLICATE)})"


_NEWEST = (
    "row_number() over (partition by v.key order by v.time desc, l.last_time desc nulls last) = 1"
)
"""The newest visit of a page, with the newest row of it in a list."""


class DedupResult(NamedTuple):
    """The outcome of the step.

    Attributes:
        segments: Segments whose visits were looked at.
        pages: Pages that share their signature with another.
        groups: Groups of them.
        marked: Pages that are duplicates now and were none.
        released: Pages that were duplicates and are none.
        canonical: Of the marked ones, those that name another page as their canonical one.
        near: Of the marked ones, those whose text is almost that of another.
        again: Segments that were compared before, with other options.
        version: The version; None where nothing was committed.
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
    """Bring the visits into the index; candidates for the second pass, and the files."""
    with spec.place.open() as work:
        _load_changes(work, spec)
        columns = ", ".join(one.name for one in SIGNATURE_COLUMNS)
        merge = table_kind(SIGNATURES).merge
        work.kernel.execute("create temp table known as select * from changes limit 0")
        for bucket in spec.known:
            merged = merge(local_bucket(work.storage, bucket, work.scratch))
            work.kernel.execute(
                f"insert into known select {columns}, {bucket.bucket} as bucket from ({merged}) "
                "where signature in (select signature from changes)"
            )
        where = (SIGNATURES, spec.version)
        files = published(work, "changes", columns, "signature, key", where, dry=spec.dry)
        return _members(work, spec), files


def _load_changes(work: TaskWork, spec: IndexSpec) -> None:
    """Make the table `changes`: pages that have a signature since their visit, or lost one."""
    visits = parquet(
        local_facts(work.storage, [n for one in spec.facts for n in one.files("visits")], work)
    )
    lists = parquet(local_facts(work.storage, [n for one in spec.facts for n in one.lists], work))
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
    with_buckets(kernel, "members", spec.buckets)
    return work.send("select signature, key, bucket from members_in", spec.exchange)


class ClaimsSpec(NamedTuple):
    """Pages that declare another one as their canonical one.

    Attributes:
        place: Where it works.
        facts: The segments.
        uri: `uri`, for keys.
        exchange: Name of the file of claims.
    """

    place: TaskPlace
    facts: tuple[FetchedFacts, ...]
    uri: UriSettings
    exchange: str


def claims_task(spec: ClaimsSpec) -> int:
    """Write what pages declare, as keys: how many they are."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    canonical = canonicalizer(spec.uri).canonical
    with spec.place.open() as work:
        names = [name for one in spec.facts for name in one.files("visits")]
        rows = work.kernel.rows(
            "select key, canonical, signature from (select key, canonical, signature, status from "
            f"{parquet(local_facts(work.storage, names, work))} "
            # What was not modified, or not reached, declares what it did before.
            "where status > 0 and status <> 304 "
            "qualify row_number() over (partition by key order by time desc) = 1) "
            "where canonical is not null and status between 200 and 299"
        )
        types = {"key": pa.string(), "canonical": pa.string(), "signature": pa.binary()}
        keys, urls, signatures = zip(*rows, strict=True) if rows else ((), (), ())
        columns = [keys, [canonical(url) for url in urls], signatures]
        arrays = [pa.array(one, of) for one, of in zip(columns, types.values(), strict=True)]
        work.kernel.load("claims", pa.table(arrays, names=list(types)))
        return work.send("select * from claims where canonical <> key", spec.exchange)


class ConfirmSpec(NamedTuple):
    """The second pass: which pages of some buckets really have the signature.

    Attributes:
        place: Where it works.
        sources: The files of the first pass.
        claims: The file of what pages declare as canonical; "" for none.
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
    """Ask the CrawlDb; confirmed pages, and pairs of a page and its canonical one that is there."""
    with spec.place.open() as work:
        kernel = work.kernel
        kernel.execute(f"create temp table confirmed ({_CONFIRMED})")
        pairs: list[tuple[str, str]] = []
        members = parquet(local_facts(work.storage, spec.sources, work)) if spec.sources else ""
        claims = ""
        if spec.claims:
            claims = parquet([str(localized(work.storage, spec.claims, work.scratch))])
        for bucket in spec.buckets:
            columns = ["status", "signature", "score", "cash", "fetch_time", "dup_of"]
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = fold_query(*local, interval=spec.interval, columns=columns, order=False)
            kernel.execute(f"create or replace temp table rows as {rows}")
            if members:
                kernel.execute(
                    "insert into confirmed select m.signature, m.key, r.score + r.cash, "
                    f"r.fetch_time, r.dup_of, {bucket.bucket} from {members} m join rows r "
                    f"on r.key = m.key and r.signature = m.signature and r.status in {_THERE} "
                    f"where m.bucket = {bucket.bucket}"
                )
            if claims:
                pairs += kernel.rows(canonical_query(claims, "rows"))
        return work.send("select * from confirmed", spec.exchange), pairs


class ChooseSpec(NamedTuple):
    """The last pass: which of the pages of a group counts.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        sources: The files of the second pass.
        canonical: Pages that are copies of their canonical ones, which are there.
        claims: The file of what pages declare; "" for none.
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
    """Choose, and write what changes in the CrawlDb and in the index."""
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
        return _chosen(work, spec)


def _chosen(work: TaskWork, spec: ChooseSpec) -> tuple[DedupResult, dict[str, list[TableFile]]]:
    kernel = work.kernel
    with_buckets(kernel, "found", spec.buckets)
    kernel.execute("drop table found")
    where = (CRAWLDB, spec.version)
    made = published(work, "found_in", "key, dup_of", "key", where, dry=spec.dry)
    files = {CRAWLDB: made}
    if spec.exchange:
        work.send("select key from found_in", spec.exchange)
    if spec.claims:
        # They take no part among equals until they are visited again.
        claims = parquet([str(localized(work.storage, spec.claims, work.scratch))])
        columns = ", ".join(one.name for one in SIGNATURE_COLUMNS)
        kernel.execute(
            "create temp table past as select signature, key, false as live, 0::BIGINT as time, "
            "null::BIGINT as simhash, "
            f"{signature_bucket_sql('signature', spec.buckets)} as bucket from {claims} "
            "where signature is not null and key in (select key from declared)"
        )
        where = (SIGNATURES, spec.version)
        files[SIGNATURES] = published(work, "past", columns, "signature, key", where, dry=spec.dry)
    pages, groups = kernel.rows("select count(*), count(distinct signature) from pages")[0]
    marks, released = kernel.rows("select count(dup_of), count(*) - count(dup_of) from found_in")[0]
    return DedupResult((), pages, groups, marks, released, len(spec.canonical)), files


# ---- the driver


def dedup(context: StepContext, settings: CycleDedupSettings) -> DedupResult:
    """Look for duplicates among the pages that were visited since the last time.

    All updated segments are looked at where some were compared with other options.

    Args:
        context: The context of the driver.
        settings: `cycle.dedup`, with what options say.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    waiting = waiting_segments(version, COMPARED, (UPDATED,))
    updated = waiting_segments(version, "", (UPDATED,))
    again = compared_before(updated, settings)
    # The newest visit of a page may be in any of them.
    waiting = updated if again else waiting
    facts = tuple(facts_of(name, state) for name, state in waiting.items())
    if not any(one.parts for one in facts):
        return DedupResult()
    folder = f"exchange/dedup-{version.number + 1}-{secrets.token_hex(6)}"
    try:
        found, added = _Looking(context, settings, version, facts, folder).run()
        found = found._replace(segments=tuple(waiting), again=len(again))
        if context.dry:
            return found
        changes = CycleChanges(
            step="dedup",
            clock=context.clock,
            options=settings.model_dump(mode="json", exclude_defaults=True),
            counters={
                name: value for name, value in found._asdict().items() if isinstance(value, int)
            },
            added={table: files for table, files in added.items() if files},
            buckets=_new_buckets(version, added),
            segments=marked_as_compared(waiting, settings),
        )
        return found._replace(version=context.cycle.commit(version, changes))
    finally:
        remove_folder(context.cycle.storage, folder)


def _new_buckets(version: CycleVersion, added: dict[str, list[TableFile]]) -> dict[str, int]:
    if SIGNATURES in version.tables or not added.get(SIGNATURES):
        return {}
    return {SIGNATURES: version.tables[CRAWLDB].buckets}


class _Looking:
    """One look for duplicates."""

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
        """Look: the outcome, and the files of each table."""
        members, files = self._indexed()
        claims = self._claims() if self._settings.canonical else ""
        confirmed, pairs = self._confirmed(members, claims)
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
        ((found, chosen),) = self._context.engine.map(choose_task, [spec])
        marked = found.marked or found.released
        chosen[SIGNATURES] = [*files, *chosen.get(SIGNATURES, [])]
        if self._settings.near:
            near = near_duplicates(self._near(spec.exchange if marked else ""))
            for table, more in near.files.items():
                chosen[table] = [*chosen[table], *more]
            found = found._replace(
                near=near.marked,
                marked=found.marked + near.marked,
                released=found.released + near.released,
            )
        return found, chosen

    def _near(self, chosen: str) -> NearSearch:
        cycle, version = self._context.cycle, self._version
        known = buckets_of(cycle, version, SIGNATURES) if SIGNATURES in version.tables else []
        return NearSearch(
            self._context,
            self._settings,
            version,
            self._facts,
            tuple(known),
            chosen,
            self._folder,
            self._buckets,
        )

    def _indexed(self) -> tuple[tuple[str, ...], list[TableFile]]:
        cycle, version = self._context.cycle, self._version
        known = []
        buckets = self._buckets
        if SIGNATURES in version.tables:
            known = buckets_of(cycle, version, SIGNATURES)
            buckets = version.tables[SIGNATURES].buckets
        specs = [
            IndexSpec(
                self._context.place,
                version.number + 1,
                self._facts,
                tuple(one for one in known if first <= one.bucket <= last),
                buckets,
                first,
                last,
                f"{self._folder}/members-{first}.parquet",
                self._context.dry,
            )
            for first, last in bucket_ranges(buckets, self._index_tasks(known))
        ]
        results = self._context.engine.map(index_task, specs)
        named = [spec.exchange for spec, (rows, _) in zip(specs, results, strict=True) if rows]
        return tuple(named), [file for _, files in results for file in files]

    def _index_tasks(self, known: Sequence[BucketFiles]) -> int:
        """Tasks of the first pass; one for few pages, as a process costs more than they do."""
        rows = sum(file.rows for bucket in known for file in bucket.all)
        rows += sum(self._version.segments[one.segment].urls for one in self._facts)
        return self._context.engine.workers if rows > _FEW else 1

    def _claims(self) -> str:
        name = f"{self._folder}/claims.parquet"
        context = self._context
        spec = ClaimsSpec(context.place, self._facts, context.settings.uri, name)
        (rows,) = context.engine.map(claims_task, [spec])
        return name if rows else ""

    def _confirmed(
        self, members: tuple[str, ...], claims: str
    ) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """The files of confirmed pages, and pages whose canonical one is there."""
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
