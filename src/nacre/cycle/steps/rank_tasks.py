"""The tasks of `rank`: a graph is taken out of the table of links, numbered, and iterated over.

Each stage writes files of a folder that the next one reads; a part of the graph is a task. Who
gives to a part is read part by part, so that a task needs memory for two parts, not for all.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nacre.crawldb.fold import merge_query
from nacre.crawldb.hosts import host_sql, load_domains
from nacre.crawldb.rank import (
    Damping,
    RankLevel,
    edges_sql,
    files_sql,
    next_ranks_sql,
    numbered_sql,
    part_sql,
    rank_bucket,
    rank_table,
    score_changes_sql,
    shares_sql,
)
from nacre.crawldb.row import ONE
from nacre.cycle.steps.taking import files_by_bucket
from nacre.cycle.storage import localized
from nacre.cycle.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_bucket,
    publish,
    table_kind,
)
from nacre.cycle.versions import TableFile

LINKS = "links"


class GraphSpec(NamedTuple):
    """The graph that tasks work on.

    Attributes:
        place: Where they work.
        folder: Folder of its files.
        level: The level.
        parts: Number of parts.
        per_domain: One link of a page to each domain.
    """

    place: TaskPlace
    folder: str
    level: RankLevel
    parts: int
    per_domain: bool = False

    def name(self, stage: str, number: int) -> str:
        """The name of a file of a stage."""
        return f"{self.folder}/{stage}-{number:05d}.parquet"


class EdgesSpec(NamedTuple):
    """One task: the edges that some buckets of links have."""

    graph: GraphSpec
    number: int
    buckets: tuple[BucketFiles, ...]


class PartSpec(NamedTuple):
    """One task: a part of the graph.

    Attributes:
        graph: The graph.
        part: The part.
        sources: Names of the files that it reads, where they are not those of parts.
        iteration: The iteration, from 1.
        damping: Its numbers.
    """

    graph: GraphSpec
    part: int
    sources: tuple[str, ...] = ()
    iteration: int = 0
    damping: Damping = Damping(0, 0)


class PublishSpec(NamedTuple):
    """One task: the ranks of a part become files of the table."""

    graph: GraphSpec
    part: int
    iteration: int
    buckets: int
    version: int


class ApplySpec(NamedTuple):
    """One task: the scores of the URLs of some buckets become their ranks."""

    place: TaskPlace
    version: int
    level: RankLevel
    buckets: tuple[BucketFiles, ...]
    ranks: tuple[BucketFiles, ...]


class PartCounts(NamedTuple):
    """The counts of a part: nodes, edges, and how much its ranks changed, in 2^-32."""

    nodes: int = 0
    edges: int = 0
    change: int = 0


def _files(work: TaskWork, names: Iterable[str]) -> list[str]:
    """The local paths of those files that have rows; others were not written."""
    known = {}
    for name in names:
        folder = name.rpartition("/")[0]
        if folder not in known:
            known[folder] = set(work.storage.list(folder))
    return [
        str(localized(work.storage, name, work.scratch))
        for name in names
        if name in known[name.rpartition("/")[0]]
    ]


def _of_files(paths: Sequence[str], columns: str, where: str = "") -> str:
    """What stands behind `from` for files; for none a table without rows with these columns."""
    if paths:
        return files_sql(list(paths), where)
    picks = ", ".join(
        f"null::{kind} as {name}" for name, kind in map(str.split, columns.split(","))
    )
    return f"(select {picks} limit 0)"


def edges_task(spec: EdgesSpec) -> int:
    """Write the edges of some buckets by the part of their source, and their nodes; the edges."""
    graph = spec.graph
    with graph.place.open() as work:
        kernel = work.kernel
        kernel.execute("create temp table found (s VARCHAR, d VARCHAR)")
        for bucket in spec.buckets:
            merged = table_kind(LINKS).merge(local_bucket(work.storage, bucket, work.scratch))
            kernel.execute(f"create or replace temp table taken as select src, dst from ({merged})")
            if graph.level == "domain" or graph.per_domain:
                ends = (
                    f"select {host_sql('src')} from taken union select {host_sql('dst')} from taken"
                )
                load_domains(kernel, "domains", [host for (host,) in kernel.rows(ends)])
            edges = edges_sql("taken", graph.level, "domains", per_domain=graph.per_domain)
            kernel.execute(f"insert into found {edges}")
        part = part_sql("s", graph.parts)
        # Of pages each link is one row of the table; hosts have many, in several buckets.
        once = "" if graph.level == "page" else "distinct "
        query = f"select {once}{part} as part, s, d from found order by part"
        count = work.send(query, graph.name("edges", spec.number))
        ends = "select s as node from found union select d from found"
        node = part_sql("node", graph.parts)
        work.send(
            f"select {node} as part, node from ({ends}) order by part",
            graph.name("names", spec.number),
        )
        return count


def nodes_task(spec: PartSpec) -> int:
    """Number the nodes of a part; how many there are."""
    with spec.graph.place.open() as work:
        paths = _files(work, spec.sources)
        names = _of_files(paths, "part USMALLINT,node VARCHAR")
        query = numbered_sql(names, spec.part)
        return work.send(f"{query} order by id", spec.graph.name("nodes", spec.part))


_NODES = "id INTEGER,node VARCHAR"


def sources_task(spec: PartSpec) -> int:
    """Number the sources of the edges of a part, by the part of their targets; the edges."""
    graph = spec.graph
    with graph.place.open() as work:
        kernel = work.kernel
        edges = _of_files(
            _files(work, spec.sources), "part USMALLINT,s VARCHAR,d VARCHAR", f"part = {spec.part}"
        )
        nodes = _of_files(_files(work, [graph.name("nodes", spec.part)]), _NODES)
        once = "" if graph.level == "page" else "distinct "
        kernel.execute(
            f"create temp table half as select n.id as s, e.d from (select {once}s, d from "
            f"{edges}) e join {nodes} n on n.node = e.s"
        )
        part = part_sql("d", graph.parts)
        work.send(f"select {part} as part, s, d from half order by part",
                  graph.name("half", spec.part))  # fmt: skip
        work.send(
            "select s as id, count(*) as num_out from half group by s order by s",
            graph.name("out", spec.part),
        )
        return int(kernel.value("select count(*) from half"))


def targets_task(spec: PartSpec) -> PartCounts:
    """Number the targets of the edges to a part, and write the first ranks of its nodes."""
    graph = spec.graph
    with graph.place.open() as work:
        kernel = work.kernel
        kernel.execute("create temp table edges (part USMALLINT, s INTEGER, d INTEGER)")
        nodes = _of_files(_files(work, [graph.name("nodes", spec.part)]), _NODES)
        for other in range(graph.parts):
            half = _of_files(
                _files(work, [graph.name("half", other)]), "part USMALLINT,s INTEGER,d VARCHAR",
                f"part = {spec.part}",
            )  # fmt: skip
            kernel.execute(
                f"insert into edges select {other}, h.s, n.id from {half} h "
                f"join {nodes} n on n.node = h.d"
            )
        edges = work.send("select * from edges order by part, d, s", graph.name("in", spec.part))
        out = _of_files(_files(work, [graph.name("out", spec.part)]), "id INTEGER,num_out BIGINT")
        rows = work.send(
            f"select n.id, coalesce(i.num_in, 0) as num_in, coalesce(o.num_out, 0) as num_out, "
            f"{ONE}::BIGINT as rank from {nodes} n left join {out} o on o.id = n.id left join "
            "(select d, count(*) as num_in from edges group by d) i on i.d = n.id order by n.id",
            graph.name("rank0", spec.part),
        )
        return PartCounts(rows, edges)


_RANKS = "id INTEGER,num_in BIGINT,num_out BIGINT,rank BIGINT"


def iterate_task(spec: PartSpec) -> PartCounts:
    """Write the ranks of a part after an iteration; how much they changed."""
    graph, before = spec.graph, f"rank{spec.iteration - 1}"
    with graph.place.open() as work:
        kernel = work.kernel
        own = _files(work, [graph.name(before, spec.part)])
        ranks = _of_files(own, _RANKS)
        edges = _files(work, [graph.name("in", spec.part)])
        kernel.execute("create temp table given (id INTEGER, total HUGEINT)")
        for other in range(graph.parts if edges else 0):
            theirs = _of_files(_files(work, [graph.name(before, other)]), _RANKS)
            kernel.execute(f"create or replace temp table shares as {shares_sql(theirs)}")
            kernel.execute(
                "insert into given select e.d, sum(s.share) from "
                f"{files_sql(edges, f'part = {other}')} e join shares s on s.id = e.s group by e.d"
            )
        sums = "(select id, sum(total) as total from given group by id)"
        kernel.execute(f"create temp table after as {next_ranks_sql(ranks, sums, spec.damping)}")
        work.send("select * from after order by id",
                  graph.name(f"rank{spec.iteration}", spec.part))  # fmt: skip
        change = kernel.value(
            f"select coalesce(sum(abs(a.rank - b.rank)), 0) from after a join {ranks} b "
            "on a.id = b.id"
        )
        return PartCounts(change=int(change))


def publish_task(spec: PublishSpec) -> list[TableFile]:
    """Write the ranks of a part as files of the table."""
    graph = spec.graph
    with graph.place.open() as work:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        kernel = work.kernel
        nodes = _of_files(_files(work, [graph.name("nodes", spec.part)]), _NODES)
        ranks = _of_files(_files(work, [graph.name(f"rank{spec.iteration}", spec.part)]), _RANKS)
        host = host_sql("node") if graph.level == "page" else "node"
        hosts = [name for (name,) in kernel.rows(f"select distinct {host} from {nodes}")]
        numbers = [rank_bucket(name, spec.buckets) for name in hosts]
        table = {"host": pa.array(hosts, pa.string()), "bucket": pa.array(numbers, pa.int32())}
        kernel.load("host_buckets", pa.table(table))
        kernel.execute(
            "create temp table placed as select b.bucket, n.node, r.num_in, r.num_out, r.rank from "
            f"{nodes} n join {ranks} r on r.id = n.id join host_buckets b on b.host = {host}"
        )
        plan = FilePlan(rank_table(graph.level), 0, "base", spec.version)
        return list(files_by_bucket(work, work.storage, "placed", "node", plan))


def apply_task(spec: ApplySpec) -> tuple[int, list[TableFile]]:
    """Write what makes scores those of the ranks; how many changed, and the files."""
    found: list[TableFile] = []
    changed = 0
    columns = ("key", "url", "via", "path", "source", "md", "first_seen", "score")
    with spec.place.open() as work:
        kernel = work.kernel
        for bucket, ranks in zip(spec.buckets, spec.ranks, strict=True):
            local = local_bucket(work.storage, bucket, work.scratch)
            merged = merge_query(*local, columns=columns, order=False)
            kernel.execute(f"create or replace temp table known as {merged}")
            paths = local_bucket(work.storage, ranks, work.scratch).base
            table = _of_files(paths, "node VARCHAR,rank BIGINT")
            node = "m.key" if spec.level == "page" else host_sql("m.key")
            if spec.level == "domain":
                hosts = kernel.rows(f"select distinct {host_sql('key')} from known")
                load_domains(kernel, "domains", [host for (host,) in hosts])
                table = (
                    f"(select t.host as node, r.rank from {table} r "
                    "join domains t on t.domain = r.node)"
                )
            query = score_changes_sql("known", table, f"r.node = {node}")
            path = work.scratch / f"scores-{bucket.bucket}.parquet"
            rows = kernel.write(query, str(path)).rows
            file = publish(
                work.storage, path, FilePlan(CRAWLDB, bucket.bucket, "add", spec.version)
            )
            changed += rows
            if file is not None:
                found.append(file)
    return changed, found
