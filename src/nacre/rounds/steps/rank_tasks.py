"""The tasks of `rank`: extract a graph from the table of links, number it, and iterate.

Each stage writes files into a folder for the next stage. A group has all edges to its nodes, as
links are stored by target; its edges are read in slices, each with the distinct names of its
sources. Names are numbered by parts, so that the texts of one part fit into memory. An iteration
uses arrays of numbers: the shares of the sources of a block, and the edges of a group.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from nacre.crawldb.fold import merge_query
from nacre.crawldb.hosts import host_sql, load_domains
from nacre.crawldb.kernels import parquet
from nacre.crawldb.rank import (
    Damping,
    RankLevel,
    edges_sql,
    part_sql,
    rank_bucket,
    rank_table,
    score_changes_sql,
)
from nacre.crawldb.row import ONE
from nacre.rounds.steps.rank_files import BatchReader, BatchWriter
from nacre.rounds.steps.taking import files_by_bucket
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    LocalBucket,
    TaskPlace,
    TaskWork,
    local_bucket,
    publish,
    table_kind,
    write_arrow,
)
from nacre.rounds.tables.versions import TableFile

if TYPE_CHECKING:
    from nacre.crawldb.kernels import Kernel
    from nacre.crawldb.rank_arrays import Array

LINKS = "links"

SLICE = 1_000_000
"""Edges of a slice."""
BLOCK = 1 << 25
"""Ids of a block: a task has 8 bytes for each."""


class GraphSpec(NamedTuple):
    """The graph that tasks work on.

    Attributes:
        place: The work place of the tasks.
        folder: Folder of its files.
        level: The level.
        parts: Parts that names are numbered in.
        per_domain: One link of a page to each domain.
        slice: Edges of a slice.
        block: Ids of a block.
    """

    place: TaskPlace
    folder: str
    level: RankLevel
    parts: int
    per_domain: bool = False
    slice: int = SLICE
    block: int = BLOCK

    def name(self, stage: str, number: int) -> str:
        """The name of a file of a stage."""
        return f"{self.folder}/{stage}-{number:05d}.arrow"


class GroupShape(NamedTuple):
    """The shape of a group.

    Attributes:
        targets: Nodes with links to them.
        slices: Slices of its edges.
        edges: Its edges.
    """

    targets: int
    slices: int
    edges: int


class GraphShape(NamedTuple):
    """The known shape of a graph.

    Attributes:
        groups: Its groups.
        pure: Number of nodes without links to them, by part.
    """

    groups: tuple[GroupShape, ...]
    pure: tuple[int, ...] = ()

    def first_id(self, group: int) -> int:
        """Return the id of the first node of a group; the number of groups gives the end."""
        return sum(shape.targets for shape in self.groups[:group])

    def first_slice(self, group: int) -> int:
        """Return the number of the first slice of a group among all."""
        return sum(shape.slices for shape in self.groups[:group])

    def first_pure(self, part: int) -> int:
        """Return the id of the first node of a part without links to it."""
        return self.first_id(len(self.groups)) + sum(self.pure[:part])

    @property
    def nodes(self) -> int:
        """All nodes."""
        return self.first_pure(len(self.pure))


class EdgesSpec(NamedTuple):
    """One task: the edges of some buckets of links, which are a group."""

    graph: GraphSpec
    group: int
    buckets: tuple[BucketFiles, ...]


class ShapedSpec(NamedTuple):
    """One task: a group or a part, by its number."""

    graph: GraphSpec
    shape: GraphShape
    number: int


class IterateSpec(NamedTuple):
    """One task: some groups after an iteration.

    Attributes:
        graph: The graph.
        shape: Its shape.
        groups: Numbers of the groups.
        iteration: The iteration, from 1.
        damping: The damping of the iteration.
    """

    graph: GraphSpec
    shape: GraphShape
    groups: tuple[int, ...]
    iteration: int
    damping: Damping


class PublishSpec(NamedTuple):
    """One task: the ranks of a group, or of the pages of a part without links to them, as files.

    Attributes:
        graph: The graph.
        number: The group, or the part.
        iteration: The last iteration.
        buckets: Buckets of the table.
        version: Number of the version to commit.
        rank: The rank of all nodes of a part.
    """

    graph: GraphSpec
    number: int
    iteration: int
    buckets: int
    version: int
    rank: int = 0


class ApplySpec(NamedTuple):
    """One task: the scores of the URLs of some buckets become their ranks."""

    place: TaskPlace
    version: int
    level: RankLevel
    buckets: tuple[BucketFiles, ...]
    ranks: tuple[BucketFiles, ...]


# ---- edges


def edges_task(spec: EdgesSpec) -> GroupShape:
    """Write the edges of a group in slices, with the names of their ends; return its shape."""
    graph = spec.graph
    with graph.place.open() as work, ExitStack() as stack:
        query = _edges_query(work, spec)
        files = {
            kind: stack.enter_context(BatchWriter(work, kind, graph.name(kind, spec.group)))
            for kind in ("own", "targets", "sources", "pairs")
        }
        writer = _SliceWriter(files, graph.parts)
        for batch in work.kernel.batches(query, size=graph.slice):
            writer.add(batch)
        return GroupShape(writer.targets, writer.slices, writer.edges)


def _edges_query(work: TaskWork, spec: EdgesSpec) -> str:
    """Return SQL of the edges of a group by target: `bucket`, `s`, `d`, and the parts of both."""
    graph, kernel = spec.graph, work.kernel
    kernel.execute("create temp table found (bucket INTEGER, s VARCHAR, d VARCHAR)")
    # One after the other: the buffers of many open files would not fit into its memory.
    for bucket in spec.buckets:
        local = local_bucket(work.storage, bucket, work.scratch)
        rows = f"(select src, dst from ({_links_sql(local)}))"
        if graph.level == "domain" or graph.per_domain:
            kernel.execute(f"create or replace temp table taken as from {rows}")
            rows = "taken"
            ends = (
                f"select {host_sql('src')} from {rows} union select {host_sql('dst')} from {rows}"
            )
            load_domains(kernel, "domains", [host for (host,) in kernel.rows(ends)])
        edges = edges_sql(rows, graph.level, "domains", per_domain=graph.per_domain)
        kernel.execute(f"insert into found select {bucket.bucket}, s, d from ({edges})")
    return (
        f"select bucket, s, d, {part_sql('s', graph.parts)} as of_s, "
        f"{part_sql('d', graph.parts)} as of_d from found order by bucket, d"
    )


def _links_sql(local: LocalBucket) -> str:
    """Return SQL of the links of a bucket; an unchanged base is not sorted again."""
    if len(local.base) == 1 and not (local.sets or local.adds):
        return f"select * from {parquet(local.base)}"
    return table_kind(LINKS).merge(local)


class _SliceWriter:
    """Writes edges that are sorted by target, slice by slice."""

    def __init__(self, files: dict[str, BatchWriter], parts: int) -> None:
        self._files, self._parts = files, parts
        self._last: tuple[int, str] | None = None
        self.targets = self.slices = self.edges = 0

    def add(self, batch: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        from nacre.crawldb.rank_arrays import DistinctTexts, bounds_of, inverse  # noqa: PLC0415

        if not batch.num_rows:
            return
        self.slices += 1
        self.edges += batch.num_rows
        targets = DistinctTexts.of(batch.column("d"))
        first = self._begin(batch, targets)
        self._write_targets(batch, targets, first)
        sources = DistinctTexts.of(batch.column("s"))
        parts = sources.at_places(batch.column("of_s").to_numpy())
        order = sources.sorted_by(parts)
        places = inverse(order)[sources.places]
        self._files["pairs"].add(places, targets.places + first)
        import numpy as np  # noqa: PLC0415 - an extra

        links = np.bincount(places, minlength=len(order))
        self._write_parts("sources", links, sources.texts, order, bounds_of(parts, self._parts))

    def _begin(self, batch: Any, targets: Any) -> int:  # noqa: ANN401 - pyarrow has no types
        """Return the number of the first target, which may be the last target of the last slice."""
        head = (batch.column("bucket")[0].as_py(), targets.texts[0].as_py())
        goes_on = head == self._last
        end = batch.num_rows - 1
        self._last = (
            batch.column("bucket")[end].as_py(),
            targets.texts[len(targets.texts) - 1].as_py(),
        )
        return self.targets - goes_on

    def _write_targets(self, batch: Any, targets: Any, first: int) -> None:  # noqa: ANN401 - likewise
        """Write the names of targets that no earlier slice has."""
        import numpy as np  # noqa: PLC0415 - an extra

        from nacre.crawldb.rank_arrays import bounds_of  # noqa: PLC0415 - needs numpy

        written = self.targets - first
        buckets = targets.at_places(batch.column("bucket").to_numpy())[written:]
        parts = targets.at_places(batch.column("of_d").to_numpy())[written:]
        names = targets.texts.slice(written)
        self._files["own"].add(buckets, names)
        numbers = np.arange(self.targets, self.targets + len(names), dtype=np.int32)
        order = np.argsort(parts, kind="stable")
        self._write_parts("targets", numbers[order], names, order, bounds_of(parts, self._parts))
        self.targets += len(names)

    def _write_parts(
        self,
        kind: str,
        numbers: "Array",
        names: Any,  # noqa: ANN401 - pyarrow has no types
        order: "Array",
        bounds: Sequence[int],
    ) -> None:
        """Write a batch for each part: numbers in their order, and the names of these places."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        ordered = names.take(pa.array(order))
        for low, high in pairwise(bounds):
            self._files[kind].add(numbers[low:high], ordered.slice(low, high - low))


# ---- numbers of nodes


def names_task(spec: ShapedSpec) -> int:
    """Number the nodes of a part, with their links; return the nodes without links to them."""
    import numpy as np  # noqa: PLC0415 - an extra
    import pyarrow as pa  # noqa: PLC0415

    from nacre.crawldb.rank_arrays import DistinctTexts  # noqa: PLC0415 - needs numpy

    graph, part = spec.graph, spec.number
    with graph.place.open() as work:
        numbers, names = _read_part(work, spec, "targets", "number")
        links, sources = _read_part(work, spec, "sources", "links")
        every = pa.chunked_array([*names, *sources], pa.string())
        lengths = [len(texts) for texts in sources]
        bases = [spec.shape.first_id(group) for group in _groups_of_slices(spec.shape)]
        ids_of_targets = [own + base for own, base in zip(numbers, bases, strict=True)]
        del names, sources
        distinct = DistinctTexts.of_chunks(every)
        del every
        of_targets = distinct.places[: sum(map(len, numbers))]
        of_sources = distinct.places[len(of_targets) :]
        ids = np.full(len(distinct.texts), -1, np.int32)
        ids[of_targets] = np.concatenate([*ids_of_targets, np.empty(0, np.int32)])
        pure = np.flatnonzero(ids < 0)
        ids[pure] = -1 - np.arange(len(pure))
        num_out = np.zeros(len(distinct.texts), np.int32)
        np.add.at(num_out, of_sources, np.concatenate([*links, np.empty(0, np.int32)]))
        with BatchWriter(work, "ids", graph.name("ids", part)) as file:
            for end, length in zip(np.cumsum(lengths), lengths, strict=True):
                file.add(ids[of_sources[end - length : end]])
        with BatchWriter(work, "out", graph.name("out", part)) as file:
            linked = np.flatnonzero((ids >= 0) & (num_out > 0))
            linked = linked[np.argsort(ids[linked])]
            file.add(ids[linked], num_out[linked])
        with BatchWriter(work, "pure", graph.name("pure", part)) as file:
            file.add(num_out[pure], distinct.texts.take(pa.array(pure)))
        return len(pure)


def _groups_of_slices(shape: GraphShape) -> list[int]:
    """Return the group of each slice."""
    return [g for g, group_shape in enumerate(shape.groups) for _ in range(group_shape.slices)]


def _read_part(
    work: TaskWork, spec: ShapedSpec, kind: str, column: str
) -> tuple[list["Array"], list[Any]]:
    """Return the numbers and names of a part in each slice."""
    numbers, names = [], []
    for group, shape in enumerate(spec.shape.groups):
        with BatchReader(work, spec.graph.name(kind, group)) as file:
            for at in range(shape.slices):
                batch = file.batch(at * spec.graph.parts + spec.number)
                numbers.append(batch.column(column).to_numpy())
                names.append(batch.column("node"))
    return numbers, names


def number_task(spec: ShapedSpec) -> int:
    """Write the edges of a group as numbers, and initial ranks; return the number of edges."""
    import numpy as np  # noqa: PLC0415 - an extra

    from nacre.crawldb.rank_arrays import edge_blocks, resolved, shares_of  # noqa: PLC0415

    graph, shape, group = spec
    own = shape.groups[group]
    num_in = np.zeros(own.targets, np.int64)
    with graph.place.open() as work, ExitStack() as stack:
        parts = [
            stack.enter_context(BatchReader(work, graph.name("ids", part)))
            for part in range(graph.parts)
        ]
        pairs = stack.enter_context(BatchReader(work, graph.name("pairs", group)))
        edges = stack.enter_context(BatchWriter(work, "in", graph.name("in", group)))
        for at in range(own.slices):
            number = shape.first_slice(group) + at
            ids = [
                resolved(file.arrays(number, ["id"])[0], shape.first_pure(part))
                for part, file in enumerate(parts)
            ]
            places, targets = pairs.arrays(at, ["place", "target"])
            num_in += np.bincount(targets, minlength=own.targets)
            sources = np.concatenate(ids)[places]
            for block in edge_blocks(targets, sources, shape.nodes, graph.block):
                edges.add(block >> 32, block & (ONE - 1))
        num_out = _count_links(work, spec)
        with BatchWriter(work, "counts", graph.name("counts", group)) as file:
            file.add(num_in, num_out)
        ranks = np.full(own.targets, ONE, np.int64)
        with BatchWriter(work, "rank", graph.name("rank0", group)) as file:
            file.add(ranks, shares_of(ranks, num_out))
        return int(num_in.sum())


def _count_links(work: TaskWork, spec: ShapedSpec) -> "Array":
    """Return the number of nodes that each node of a group links to."""
    import numpy as np  # noqa: PLC0415 - an extra

    graph, shape, group = spec
    first, counts = shape.first_id(group), np.zeros(shape.groups[group].targets, np.int64)
    for part in range(graph.parts):
        with BatchReader(work, graph.name("out", part)) as file:
            ids, num_out = file.arrays(0, ["id", "num_out"])
            low, high = np.searchsorted(ids, [first, first + len(counts)])
            counts[ids[low:high] - first] = num_out[low:high]
    return counts


# ---- iterations


def iterate_task(spec: IterateSpec) -> int:
    """Write the ranks of some groups after an iteration; return the total change, in 2^-32."""
    import numpy as np  # noqa: PLC0415 - an extra

    from nacre.crawldb.rank_arrays import add_shares  # noqa: PLC0415 - needs numpy

    graph, shape = spec.graph, spec.shape
    with graph.place.open() as work:
        sums = {n: np.zeros(shape.groups[n].targets, np.int64) for n in spec.groups}
        blocks = range(0, shape.nodes, graph.block)
        for number, low in enumerate(blocks):
            shares = _shares(work, spec, low, min(low + graph.block, shape.nodes))
            for group, totals in sums.items():
                with BatchReader(work, graph.name("in", group)) as file:
                    for at in range(shape.groups[group].slices):
                        targets, sources = file.arrays(
                            at * len(blocks) + number, ["target", "source"]
                        )
                        add_shares(totals, targets, sources, shares)
        return sum(_write_ranks(work, spec, group, totals) for group, totals in sums.items())


def _shares(work: TaskWork, spec: IterateSpec, low: int, high: int) -> "Array":
    """Return the share that each node of a range of ids gives to each of its links."""
    import numpy as np  # noqa: PLC0415 - an extra

    from nacre.crawldb.rank_arrays import shares_of  # noqa: PLC0415 - needs numpy

    graph, shape = spec.graph, spec.shape
    shares = np.empty(high - low, np.int64)
    first = 0
    for group, group_shape in enumerate(shape.groups):
        if low < first + group_shape.targets and first < high:
            with BatchReader(work, graph.name(f"rank{spec.iteration - 1}", group)) as file:
                _copy_into(shares, file.arrays(0, ["share"])[0], first - low)
        first += group_shape.targets
    rank = ONE if spec.iteration == 1 else spec.damping.base
    for part, number in enumerate(shape.pure):
        if low < first + number and first < high:
            with BatchReader(work, graph.name("pure", part)) as file:
                num_out = file.arrays(0, ["num_out"])[0]
                _copy_into(shares, shares_of(np.full(number, rank, np.int64), num_out), first - low)
        first += number
    return shares


def _copy_into(array: "Array", values: "Array", at: int) -> None:
    """Copy values to a place of an array, without values beyond its ends."""
    low, high = max(at, 0), min(at + len(values), len(array))
    array[low:high] = values[low - at : high - at]


def _write_ranks(work: TaskWork, spec: IterateSpec, group: int, sums: "Array") -> int:
    """Write the ranks of a group; return the total change."""
    from nacre.crawldb.rank_arrays import change_of, next_ranks, shares_of  # noqa: PLC0415

    graph = spec.graph
    after = next_ranks(sums, spec.damping)
    with BatchReader(work, graph.name("counts", group)) as file:
        shares = shares_of(after, file.arrays(0, ["num_out"])[0])
    with BatchWriter(work, "rank", graph.name(f"rank{spec.iteration}", group)) as out:
        out.add(after, shares)
    with BatchReader(work, graph.name(f"rank{spec.iteration - 1}", group)) as file:
        return change_of(after, file.arrays(0, ["rank"])[0])


# ---- the table


def publish_task(spec: PublishSpec) -> list[TableFile]:
    """Write the ranks of a group as files of the table."""
    return list(_publish_ranks(spec))


def _publish_ranks(spec: PublishSpec) -> Iterator[TableFile]:
    import numpy as np  # noqa: PLC0415 - an extra
    import pyarrow as pa  # noqa: PLC0415

    graph, group = spec.graph, spec.number
    with graph.place.open() as work, ExitStack() as stack:
        own, counts, ranks = (
            stack.enter_context(BatchReader(work, graph.name(kind, group)))
            for kind in ("own", "counts", f"rank{spec.iteration}")
        )
        batches = [own.batch(at) for at in range(len(own))]
        if not batches:
            return
        names = pa.chunked_array([batch.column("node") for batch in batches])
        buckets = np.concatenate([batch.column("bucket").to_numpy() for batch in batches])
        numbers = [*counts.arrays(0, ["num_in", "num_out"]), *ranks.arrays(0, ["rank"])]
        columns = dict(zip(("num_in", "num_out", "rank"), numbers, strict=True))
        table = pa.table({"node": names, **columns})
        for bucket in np.unique(buckets).tolist():
            low, high = np.searchsorted(buckets, [bucket, bucket + 1])
            path = work.scratch / f"rank-{bucket}.parquet"
            write_arrow(table.slice(low, high - low), path)
            plan = FilePlan(rank_table(graph.level), bucket, "base", spec.version)
            file = publish(work.storage, path, plan)
            if file is not None:
                yield file


def publish_pure_task(spec: PublishSpec) -> list[TableFile]:
    """Write the ranks of the nodes of a part without links to them as files of the table."""
    graph = spec.graph
    with graph.place.open() as work:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        kernel = work.kernel
        with BatchReader(work, graph.name("pure", spec.number)) as reader:
            if not reader.batch(0).num_rows:
                return []
            kernel.load("pure", pa.table(reader.batch(0)))
        _load_buckets(kernel, graph.level, spec.buckets)
        host = host_sql("node") if graph.level == "page" else "node"
        kernel.execute(
            "create temp table placed as select b.bucket, n.node, 0::BIGINT as num_in, "
            f"n.num_out::BIGINT as num_out, {spec.rank}::BIGINT as rank from pure n "
            f"join host_buckets b on b.host = {host}"
        )
        plan = FilePlan(rank_table(graph.level), 0, "base", spec.version)
        return list(files_by_bucket(work, work.storage, "placed", "node", plan))


def _load_buckets(kernel: "Kernel", level: RankLevel, buckets: int) -> None:
    """Make a table of the buckets of the hosts, or other nodes, of `pure`."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    host = host_sql("node") if level == "page" else "node"
    hosts = [name for (name,) in kernel.rows(f"select distinct {host} from pure")]
    numbers = [rank_bucket(name, buckets) for name in hosts]
    table = {"host": pa.array(hosts, pa.string()), "bucket": pa.array(numbers, pa.int32())}
    kernel.load("host_buckets", pa.table(table))


_NO_RANKS = "(select null::VARCHAR as node, null::BIGINT as rank limit 0)"


def apply_task(spec: ApplySpec) -> tuple[int, list[TableFile]]:
    """Write changes that make ranks the scores; return the number of changes, and the files."""
    files: list[TableFile] = []
    changed = 0
    columns = ("key", "url", "via", "path", "source", "md", "first_seen", "score")
    with spec.place.open() as work:
        kernel = work.kernel
        for bucket, ranks in zip(spec.buckets, spec.ranks, strict=True):
            local = local_bucket(work.storage, bucket, work.scratch)
            merged = merge_query(*local, columns=columns, order=False)
            kernel.execute(f"create or replace temp table known as {merged}")
            paths = local_bucket(work.storage, ranks, work.scratch).base
            table = f"(select node, rank from {parquet(paths)})" if paths else _NO_RANKS
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
                files.append(file)
    return changed, files
