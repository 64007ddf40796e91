"""Near-duplicates in `dedup`: pages whose text is almost that of a better one.

The bands of a page's simhash are rows of the table of signatures. Three passes, as for the same
content: visits tell which bands have new or lost pages, and the index who is near to those; the
CrawlDb says which of them are there, and with which score; of those the criteria choose. A page
that is a copy already is looked at again only when the page that it is near to was visited.
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
from nacre.rounds.steps.dedup_files import SIGNATURES, published, with_buckets
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

_THERE = f"({int(Status.FETCHED)}, {int(Status.NOT_MODIFIED)}, {int(Status.DUPLICATE)})"
_MOST_IN_BAND = 1_000
"""Pages of a band that are compared, the newest first: templates without text share one."""
_MEMBERS = "key VARCHAR, simhash BIGINT, lost VARCHAR"


class NearSearch(NamedTuple):
    """A search for near-duplicates.

    Attributes:
        context: The context of the driver.
        settings: `cycle.dedup`.
        version: The version that it begins with.
        facts: The segments.
        known: The buckets of the table of signatures.
        chosen: The file of the duplicates that were found before; their pages take no part. "" for
            none.
        folder: Where tasks exchange files.
        buckets: Number of buckets.
    """

    context: StepContext
    settings: CycleDedupSettings
    version: CycleVersion
    facts: tuple[FetchedFacts, ...]
    known: tuple[BucketFiles, ...]
    chosen: str
    folder: str
    buckets: int


class NearResult(NamedTuple):
    """The files of a search by table, and how many pages are copies now, and none any more."""

    files: dict[str, list[TableFile]]
    marked: int = 0
    released: int = 0


class IndexSpec(NamedTuple):
    """The first pass: what visits change in some buckets of the table of signatures.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        facts: The segments.
        known: The buckets with their files.
        buckets: Number of buckets.
        first: The first bucket.
        last: The last bucket.
        exchange: Name of the file of pages for the second pass.
        dry: Publish nothing.
    """

    place: TaskPlace
    version: int
    facts: tuple[FetchedFacts, ...]
    known: tuple[BucketFiles, ...]
    buckets: int
    first: int
    last: int
    exchange: str
    dry: bool = False


def near_index_task(spec: IndexSpec) -> tuple[int, list[TableFile]]:
    """Bring the bands of visits into the index; pages for the second pass, and the files."""
    with spec.place.open() as work:
        kernel = work.kernel
        names = [name for one in spec.facts for name in one.files("visits")]
        kernel.execute(
            "create temp table met as select key, time // 1000 as time, "
            "case when status between 200 and 299 then simhash end as simhash "
            f"from {parquet(local_facts(work.storage, names, work))} "
            # What was not modified keeps its text.
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
        columns = ", ".join(one.name for one in SIGNATURE_COLUMNS)
        merge = table_kind(SIGNATURES).merge
        for one in spec.known:
            merged = merge(local_bucket(work.storage, one, work.scratch))
            kernel.execute(
                f"insert into known select {columns}, {one.bucket} from ({merged}) "
                "where live and simhash is not null"
            )
        kernel.execute(
            "create temp table lost as select k.signature, k.key, false as live, m.time, "
            "k.simhash, k.bucket from known k join met m using (key) "
            "where k.simhash is distinct from m.simhash"
        )
        _find_near(kernel)
        with_buckets(kernel, "members", spec.buckets)
        written = work.send("select * from members_in", spec.exchange)
        kernel.execute(
            "create temp table changed as from fresh union all from lost "
            "where (signature, key) not in (select (signature, key) from fresh)"
        )
        where = (SIGNATURES, spec.version)
        files = published(work, "changed", columns, "signature, key", where, dry=spec.dry)
        return written, files


def _find_near(kernel: Kernel) -> None:
    """Make the table `members`: pages near to visited ones, and with what they were near before."""
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
    """The second pass: which pages are there.

    Attributes:
        place: Where it works.
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
    """Write the rows of pages that are there; how many they are."""
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
                f"where r.status in {_THERE}"
            )
        return work.send("select * from there", spec.exchange)


class NearChooseSpec(NamedTuple):
    """The last pass: which of the pages that are near count.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        members: The files of the first pass.
        sources: The files of the second pass.
        chosen: The file of the duplicates that were found before; "" for none.
        settings: `cycle.dedup`.
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
    """Choose, and write what changes in the CrawlDb."""
    with spec.place.open() as work:
        kernel = work.kernel
        rows = parquet(local_facts(work.storage, spec.sources, work))
        members = parquet(local_facts(work.storage, spec.members, work))
        taken = ""
        if spec.chosen:
            chosen = parquet(local_facts(work.storage, [spec.chosen], work))
            taken = f"where key not in (select key from {chosen})"
        kernel.execute(f"create temp table there as select * from {rows} {taken}")
        # What is a copy for another reason stays one: of the same content, or as it declares.
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
        with_buckets(kernel, "found", spec.buckets)
        where = (CRAWLDB, spec.version)
        made = published(work, "found_in", "key, dup_of", "key", where, dry=spec.dry)
        files = {CRAWLDB: made}
        marked, released = kernel.rows("select count(dup_of), count(*) - count(dup_of) from found")[
            0
        ]
        return NearResult(files, marked, released)


def near_duplicates(search: NearSearch) -> NearResult:
    """Look for near-duplicates of the pages that were visited."""
    context, number = search.context, search.version.number + 1
    known = search.version.tables.get(SIGNATURES)
    buckets = known.buckets if known is not None else search.buckets
    specs = [
        IndexSpec(
            context.place,
            number,
            search.facts,
            tuple(one for one in search.known if first <= one.bucket <= last),
            buckets,
            first,
            last,
            f"{search.folder}/near-{first}.parquet",
            context.dry,
        )
        for first, last in bucket_ranges(buckets, context.engine.workers)
    ]
    indexed = context.engine.map(near_index_task, specs)
    members = tuple(spec.exchange for spec, (rows, _) in zip(specs, indexed, strict=True) if rows)
    files = {SIGNATURES: [file for _, made in indexed for file in made]}
    if not members:
        return NearResult(files)
    groups = in_tasks(
        buckets_of(context.cycle, search.version, CRAWLDB), tasks=context.engine.workers
    )
    asked = [
        NearConfirmSpec(
            context.place, members, group, context.interval,
            f"{search.folder}/there-{place}.parquet",
        )
        for place, group in enumerate(groups)
    ]  # fmt: skip
    rows = context.engine.map(near_confirm_task, asked)
    sources = tuple(spec.exchange for spec, found in zip(asked, rows, strict=True) if found)
    if not sources:
        return NearResult(files)
    spec = NearChooseSpec(
        context.place, number, members, sources, search.chosen, search.settings, search.buckets,
        context.dry,
    )  # fmt: skip
    (found,) = context.engine.map(near_choose_task, [spec])
    return found._replace(files={**files, **found.files})
