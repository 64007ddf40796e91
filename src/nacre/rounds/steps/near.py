"""Near-duplicates in `dedup`: pages whose text is almost that of a better page.

The bands of a page's simhash are rows of the table of signatures. Three passes, as for the same
content: visits show which bands have new or lost pages, and the index the pages near to those; the
CrawlDb confirms the existing pages, with their scores; the criteria choose among them. An existing
duplicate is compared again only after a visit of its original.
"""

from typing import NamedTuple

from nacre.crawldb.dedup import (
    SIGNATURE_COLUMNS,
    bands_sql,
    near_duplicates_query,
    near_sql,
    signature_bucket_sql,
)
from nacre.crawldb.fold import fold_query
from nacre.crawldb.hosts import host_sql, load_domains
from nacre.crawldb.kernels import Kernel, parquet
from nacre.crawldb.row import Status
from nacre.crawldb.settings import CycleDedupSettings
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.dedup_files import SIGNATURES, add_buckets, publish_sets
from nacre.rounds.steps.links import bucket_ranges
from nacre.rounds.steps.update_tasks import FetchedFacts, local_facts
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    buckets_of,
    in_tasks,
    local_bucket,
    table_kind,
)
from nacre.rounds.tables.versions import CycleVersion, TableFile

_EXISTING = f"({int(Status.FETCHED)}, {int(Status.NOT_MODIFIED)}, {int(Status.DUPLICATE)})"
_MOST_IN_BAND = 1_000
"""Most pages of a band to compare, the newest first: templates without text share a band."""
_MEMBERS = "key VARCHAR, simhash BIGINT, lost VARCHAR"


class NearSearch(NamedTuple):
    """A search for near-duplicates.

    Attributes:
        context: The context of the driver.
        settings: `cycle.dedup`.
        version: The version that it begins with.
        facts: The segments.
        known_pages: The buckets of the table of signatures.
        chosen: The file of the duplicates of the same content, which are not compared; "" for none.
        folder: Folder for exchanged files.
        buckets: Number of buckets.
    """

    context: StepContext
    settings: CycleDedupSettings
    version: CycleVersion
    facts: tuple[FetchedFacts, ...]
    known_pages: tuple[BucketFiles, ...]
    chosen: str
    folder: str
    buckets: int


class NearResult(NamedTuple):
    """The files of a search by table, and the numbers of new and released duplicates."""

    files: dict[str, list[TableFile]]
    marked: int = 0
    released: int = 0


class IndexSpec(NamedTuple):
    """The first pass: changes by visits in some buckets of the table of signatures.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        facts: The segments.
        known_pages: The buckets with their files.
        buckets: Number of buckets.
        first: The first bucket.
        last: The last bucket.
        exchange: Name of the file of pages for the second pass.
        dry: Publish nothing.
    """

    place: TaskPlace
    version: int
    facts: tuple[FetchedFacts, ...]
    known_pages: tuple[BucketFiles, ...]
    buckets: int
    first: int
    last: int
    exchange: str
    dry: bool = False


def near_index_task(spec: IndexSpec) -> tuple[int, list[TableFile]]:
    """Add bands of visits to the index; return the page count for the second pass, and files."""
    with spec.place.open() as work:
        kernel = work.kernel
        names = [name for known_bucket in spec.facts for name in known_bucket.files("visits")]
        kernel.execute(
            "create temp table met as select key, time // 1000 as time, "
            "case when status between 200 and 299 then simhash end as simhash "
            f"from {parquet(local_facts(work.storage, names, work))} "
            # A page that was not modified keeps its text.
            "where status not in (0, 304) "
            "qualify row_number() over (partition by key order by time desc) = 1"
        )
        bucket = signature_bucket_sql("signature", spec.buckets)
        kernel.execute(
            "create temp table fresh as select * from (select signature, key, true as live, time, "
            f"simhash, {bucket} as bucket from (select *, unnest({bands_sql('simhash')}) as "
            "signature from met where simhash is not null)) "
            f"where bucket between {spec.first} and {spec.last}"
        )
        kernel.execute("create temp table known as select * from fresh limit 0")
        columns = ", ".join(known_bucket.name for known_bucket in SIGNATURE_COLUMNS)
        merge = table_kind(SIGNATURES).merge
        for known_bucket in spec.known_pages:
            merged = merge(local_bucket(work.storage, known_bucket, work.scratch))
            kernel.execute(
                f"insert into known select {columns}, {known_bucket.bucket} from ({merged}) "
                "where live and simhash is not null"
            )
        kernel.execute(
            "create temp table lost as select k.signature, k.key, false as live, m.time, "
            "k.simhash, k.bucket from known k join met m using (key) "
            "where k.simhash is distinct from m.simhash"
        )
        _find_near(kernel)
        add_buckets(kernel, "members", spec.buckets)
        written = work.send("select * from members_in", spec.exchange)
        kernel.execute(
            "create temp table changed as from fresh union all from lost "
            "where (signature, key) not in (select (signature, key) from fresh)"
        )
        where = (SIGNATURES, spec.version)
        files = publish_sets(work, "changed", columns, "signature, key", where, dry=spec.dry)
        return written, files


def _find_near(kernel: Kernel) -> None:
    """Make the table `members`: pages near to visited pages, now or before."""
    kernel.execute(
        "create temp table present as from (select signature, key, simhash, true as fresh, time "
        "from fresh union all select signature, key, simhash, false, time from known "
        "where key not in (select key from met)) qualify row_number() over "
        f"(partition by signature order by fresh desc, time desc, key) <= {_MOST_IN_BAND}"
    )
    kernel.execute(
        "create temp table pairs as select p.key, p.simhash, m.key as other, m.simhash as hash, "
        "m.live from present p join (from fresh union all from lost) m using (signature) "
        f"where p.key <> m.key and {near_sql('p.simhash', 'm.simhash')}"
    )
    kernel.execute(f"create temp table members ({_MEMBERS})")
    kernel.execute(
        "insert into members select distinct * from (select key, simhash, case when not live then "
        "other end from pairs union all select other, hash, null from pairs where live)"
    )


class NearConfirmSpec(NamedTuple):
    """The second pass: confirm existing pages.

    Attributes:
        place: The work place of the task.
        sources: The files of the first pass.
        buckets: The buckets of the CrawlDb.
        interval: Interval of a row that has none, s.
        exchange: Name of the file for their rows.
    """

    place: TaskPlace
    sources: tuple[str, ...]
    buckets: tuple[BucketFiles, ...]
    interval: int
    exchange: str


def near_confirm_task(spec: NearConfirmSpec) -> int:
    """Write the rows of existing pages; return their number."""
    with spec.place.open() as work:
        kernel = work.kernel
        members = parquet(local_facts(work.storage, spec.sources, work))
        kernel.execute(
            "create temp table there (key VARCHAR, simhash BIGINT, score DECIMAL(38,0), "
            "time BIGINT, signature BLOB, dup_of VARCHAR)"
        )
        columns = ["status", "signature", "score", "cash", "fetch_time", "dup_of"]
        for bucket in spec.buckets:
            kernel.execute(
                "create or replace temp table wanted as select key, any_value(simhash) as simhash "
                f"from {members} where bucket = {bucket.bucket} group by key"
            )
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = fold_query(
                *local, interval=spec.interval, columns=columns, keys="wanted", order=False
            )
            kernel.execute(
                "insert into there select w.key, w.simhash, r.score + r.cash, r.fetch_time, "
                f"r.signature, r.dup_of from wanted w join ({rows}) r using (key) "
                f"where r.status in {_EXISTING}"
            )
        return work.send("select * from there", spec.exchange)


class NearChooseSpec(NamedTuple):
    """The last pass: choose among near pages.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        members: The files of the first pass.
        sources: The files of the second pass.
        chosen: The file of the duplicates of the same content; "" for none. settings:
            `cycle.dedup`.
        buckets: Number of buckets.
        dry: Count, and publish nothing.
    """

    place: TaskPlace
    version: int
    members: tuple[str, ...]
    sources: tuple[str, ...]
    chosen: str
    settings: CycleDedupSettings
    buckets: int
    dry: bool = False


def near_choose_task(spec: NearChooseSpec) -> NearResult:
    """Choose, and write the changes of the CrawlDb."""
    with spec.place.open() as work:
        kernel = work.kernel
        rows = parquet(local_facts(work.storage, spec.sources, work))
        members = parquet(local_facts(work.storage, spec.members, work))
        without_chosen = ""
        if spec.chosen:
            chosen = parquet(local_facts(work.storage, [spec.chosen], work))
            without_chosen = f"where key not in (select key from {chosen})"
        kernel.execute(f"create temp table there as select * from {rows} {without_chosen}")
        # A duplicate for another reason stays: the same content, or a declared canonical page.
        kernel.execute(
            "create temp table pages as select p.*, true as live from there p where dup_of is null "
            "or exists (select 1 from there q where q.key = p.dup_of and "
            f"{near_sql('p.simhash', 'q.simhash')} and q.signature is distinct from p.signature) "
            f"or exists (select 1 from {members} m where m.key = p.key and m.lost = p.dup_of)"
        )
        part = "null"
        if spec.settings.group != "none":
            part = host_sql("key")
        if spec.settings.group == "domain":
            hosts = kernel.rows(f"select distinct {part} from pages")
            load_domains(kernel, "domains", [host for (host,) in hosts])
            part = f"(select domain from domains g where g.host = {part})"
        query = near_duplicates_query("pages", spec.settings.order, group=part)
        kernel.execute(
            f"create temp table found as select p.key, n.dup_of from pages p left join ({query}) n "
            "using (key) where n.dup_of is distinct from p.dup_of"
        )
        add_buckets(kernel, "found", spec.buckets)
        where = (CRAWLDB, spec.version)
        changed_files = publish_sets(work, "found_in", "key, dup_of", "key", where, dry=spec.dry)
        files = {CRAWLDB: changed_files}
        marked, released = kernel.rows("select count(dup_of), count(*) - count(dup_of) from found")[
            0
        ]
        return NearResult(files, marked, released)


def find_near_duplicates(search: NearSearch) -> NearResult:
    """Find near-duplicates of the visited pages."""
    context, number = search.context, search.version.number + 1
    state = search.version.tables.get(SIGNATURES)
    buckets = state.buckets if state is not None else search.buckets
    specs = [
        IndexSpec(
            context.place,
            number,
            search.facts,
            tuple(bucket for bucket in search.known_pages if f <= bucket.bucket <= last),
            buckets,
            f,
            last,
            f"{search.folder}/near-{f}.parquet",
            context.dry,
        )
        for f, last in bucket_ranges(buckets, context.engine.workers)
    ]
    indexed = context.engine.map(near_index_task, specs)
    members = tuple(spec.exchange for spec, (rows, _) in zip(specs, indexed, strict=True) if rows)
    files = {SIGNATURES: [file for _, index_files in indexed for file in index_files]}
    if not members:
        return NearResult(files)
    groups = in_tasks(
        buckets_of(context.cycle, search.version, CRAWLDB), tasks=context.engine.workers
    )
    confirm_specs = [
        NearConfirmSpec(
            context.place, members, g, context.interval,
            f"{search.folder}/there-{p}.parquet",
        )
        for p, g in enumerate(groups)
    ]  # fmt: skip
    rows = context.engine.map(near_confirm_task, confirm_specs)
    sources = tuple(
        spec.exchange for spec, result in zip(confirm_specs, rows, strict=True) if result
    )
    if not sources:
        return NearResult(files)
    spec = NearChooseSpec(
        context.place, number, members, sources, search.chosen, search.settings, search.buckets,
        context.dry,
    )  # fmt: skip
    (result,) = context.engine.map(near_choose_task, [spec])
    return result._replace(files={**files, **result.files})
