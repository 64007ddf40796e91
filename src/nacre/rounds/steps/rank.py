"""The step `rank`: LinkRank of the hosts, domains or pages of the table of links.

Each stage, and each iteration, gets a mark when all its tasks are done, so that a killed step
resumes after the last mark; the name of the graph is a hash of its links and options. Marks are
removed before their files; if files are missing nevertheless, as for a step that was killed days
ago, the graph is rebuilt. The ranks are written to a separate table, and with `apply` they become
the scores of URLs.
"""

import hashlib
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, TypeVar

import msgspec

from nacre.crawldb.rank import EDGES_AT_ONCE, MOST_NODES, Damping, RankLevel, parts_of, rank_table
from nacre.crawldb.row import ONE
from nacre.crawldb.scoring import NutchOpic, Opic
from nacre.errors import ConfigError, JobError
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.links import has_links, require_current_links
from nacre.rounds.steps.rank_tasks import (
    LINKS,
    ApplySpec,
    EdgesSpec,
    GraphShape,
    GraphSpec,
    GroupShape,
    IterateSpec,
    PublishSpec,
    ShapedSpec,
    apply_task,
    edges_task,
    iterate_task,
    names_task,
    number_task,
    publish_pure_task,
    publish_task,
)
from nacre.rounds.storage import MissingFileError, remove_empty_folders
from nacre.rounds.tables.readers import MOST_ROWS, TableView, sql
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, buckets_of, in_tasks
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, TableFile

_ROWS = 1_000_000
"""Links of a task that extracts edges."""

Spec = TypeVar("Spec")
Result = TypeVar("Result")


class RankOptions(NamedTuple):
    """The options of the step.

    Attributes:
        level: Nodes of the graph.
        iterations: Number of iterations.
        damping: Share of a rank that comes from links, 0 to 1.
        per_domain: One link of a page to each domain; at level `page`.
        apply: The ranks become the scores of URLs.
    """

    level: RankLevel = "host"
    iterations: int = 10
    damping: float = 0.85
    per_domain: bool = False
    apply: bool = False


class RankResult(NamedTuple):
    """The outcome of the step.

    Attributes:
        level: The level.
        nodes: Nodes of the graph.
        edges: Its edges.
        residuals: The mean change of a rank, for each iteration.
        applied: URLs whose score changed.
        version: The version; None if nothing was committed.
    """

    level: str
    nodes: int = 0
    edges: int = 0
    residuals: Sequence[float] = ()
    applied: int = 0
    version: CycleVersion | None = None


def rank(context: StepContext, options: RankOptions) -> RankResult:
    """Compute ranks.

    Args:
        context: The context of the driver.
        options: The options.

    Raises:
        JobError: The table of links is empty or stale; the message has the remedy.
        ConfigError: Scores belong to a kind of score that sums them up.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    if not context.dry:
        require_current_links(version, context.settings.cycle.links, context.layout.root)
    elif not has_links(version):
        return RankResult(options.level)
    if options.apply:
        _require_free_scores(context)
    if context.dry:
        return RankResult(options.level, edges=version.tables[LINKS].rows)
    graph = _Graph(context, version, options)
    result = graph.run()
    files = graph.published(version)
    old_files = {file.path for file in context.cycle.files(version, rank_table(options.level))}
    added: dict[str, list[TableFile]] = {rank_table(options.level): files} if files else {}
    if options.apply:
        applied, scores = _apply(context, version, options.level, files)
        result = result._replace(applied=applied)
        added |= {CRAWLDB: scores} if scores else {}
    changes = CycleChanges(
        step="rank",
        clock=context.clock,
        options=options._asdict(),
        counters={"nodes": result.nodes, "edges": result.edges, "applied": result.applied},
        added=added,
        dropped={rank_table(options.level): old_files} if old_files else {},
        buckets={rank_table(options.level): version.tables[LINKS].buckets},
    )
    committed = context.cycle.commit(version, changes)
    graph.remove()
    return result._replace(version=committed)


def _require_free_scores(context: StepContext) -> None:
    for kind in context.settings.cycle.scoring:
        if isinstance(kind, Opic | NutchOpic):
            raise ConfigError(
                f"--apply makes scores those of ranks, and cycle.scoring has `{kind.scoring}`, "
                "which sums them up: write cycle.scoring: [rank], or leave --apply out"
            )


class _Graph:
    """The stages of the driver."""

    def __init__(self, context: StepContext, version: CycleVersion, options: RankOptions) -> None:
        self._context, self._options = context, options
        self._storage = context.cycle.storage
        table = version.tables[LINKS]
        parts = parts_of(table.rows)
        description = (
            f"{table.sha256} {options.level} {options.damping!r} {options.per_domain} {parts}"
        )
        folder = f"exchange/rank-{hashlib.sha256(f'{description} 2'.encode()).hexdigest()[:16]}"
        self._buckets = buckets_of(context.cycle, version, LINKS)
        self._spec = GraphSpec(context.place, folder, options.level, parts, options.per_domain)
        self._shape = GraphShape(())
        self._damping = Damping(0, 0)

    def run(self) -> RankResult:
        there = {file.name for file in self._storage.walk(self._spec.folder)}
        if not self._is_whole(there):
            self.remove()
        edges = self._number_edges()
        nodes = self._shape.nodes
        self._damping = Damping.of(self._options.damping, nodes)
        together = self._group_tasks()
        residuals = []
        for iteration in range(1, self._options.iterations + 1):
            specs = [
                IterateSpec(self._spec, self._shape, groups, iteration, self._damping)
                for groups in together
            ]
            change = sum(self._stage(f"rank{iteration}", iterate_task, specs))
            if iteration == 1:
                change += abs(ONE - self._damping.base) * sum(self._shape.pure)
            residuals.append(change / ONE / max(nodes, 1))
            self._context.tell("iteration", {"number": iteration, "residual": residuals[-1]})
            self._remove_ranks(iteration - 2)
        return RankResult(self._options.level, nodes, edges, tuple(residuals))

    def _number_edges(self) -> int:
        """Convert the edges to numbers; return the number of edges."""
        graph = self._spec
        groups = list(enumerate(in_tasks(self._buckets, rows=_ROWS)))
        shapes = self._stage("edges", edges_task, [EdgesSpec(graph, *entry) for entry in groups])
        self._shape = GraphShape(tuple(GroupShape(*entry) for entry in shapes))
        self._require_ids()
        parts = [ShapedSpec(graph, self._shape, part) for part in range(graph.parts)]
        pure = self._stage("names", names_task, parts)
        self._shape = self._shape._replace(pure=tuple(pure))
        self._require_ids()
        specs = [ShapedSpec(graph, self._shape, group) for group, _ in groups]
        edges = sum(int(entry) for entry in self._stage("in", number_task, specs))
        for kind, number in (("targets", len(groups)), ("sources", len(groups)),
                             ("pairs", len(groups)), ("ids", graph.parts),
                             ("out", graph.parts)):  # fmt: skip
            for entry in range(number):
                self._storage.delete(graph.name(kind, entry))
        return edges

    def _mark(self, stage: str) -> str:
        """Return the name of the mark of a finished stage."""
        return f"{self._spec.folder}/done-{stage}.json"

    def _is_whole(self, there: AbstractSet[str]) -> bool:
        """Return whether the files of the marked stages exist, as far as they are needed.

        Args:
            there: The files of the graph.
        """
        graph, iterations = self._spec, self._options.iterations
        stages = [
            "edges",
            "names",
            "in",
            *(f"rank{iteration + 1}" for iteration in range(iterations)),
        ]
        marked = [self._mark(stage) in there for stage in stages]
        finished = marked.index(False) if False in marked else len(marked)
        if any(marked[finished:]):
            return False
        of_groups, of_parts = {
            0: ((), ()),
            1: (("targets", "sources", "pairs"), ()),
            2: (("targets", "sources", "pairs"), ("ids", "out", "pure")),
        }.get(finished, (("in", "counts", f"rank{finished - 3}"), ("pure",)))
        groups = msgspec.json.decode(self._storage.read(self._mark("edges"))) if finished else ()
        return all(
            graph.name(kind, number) in there
            for k, n in ((of_groups, len(groups)), (of_parts, graph.parts))
            for kind in k
            for number in range(n)
        )

    def _require_ids(self) -> None:
        if self._shape.nodes > MOST_NODES:
            raise JobError(
                f"the graph has over {MOST_NODES:,} {self._options.level}s, and so many at most "
                "are ranked: take --level host or --level domain"
            )

    def _group_tasks(self) -> list[tuple[int, ...]]:
        """Return the groups of each task of an iteration: each reads all shares."""
        most = EDGES_AT_ONCE[self._options.level]
        tasks: list[tuple[int, ...]] = []
        size = 0
        for group, shape in enumerate(self._shape.groups):
            size += shape.edges
            if not tasks or size > most:
                tasks.append(())
                size = shape.edges
            tasks[-1] += (group,)
        return tasks

    def _stage(self, name: str, task: Callable[[Spec], Result], specs: Sequence[Spec]) -> list[Any]:
        """Run a stage; return its results, or the stored results of a finished stage."""
        mark = self._mark(name)
        try:
            return list(msgspec.json.decode(self._storage.read(mark)))
        except MissingFileError:
            results = self._context.engine.map(task, specs)
            self._storage.put(mark, msgspec.json.encode(results))
            return list(results)

    def _remove_ranks(self, iteration: int) -> None:
        """Remove the ranks of an iteration that are not needed any more."""
        for group in range(len(self._shape.groups) if iteration >= 0 else 0):
            self._storage.delete(self._spec.name(f"rank{iteration}", group))

    def published(self, version: CycleVersion) -> list[TableFile]:
        """Publish the files of the table."""
        last = self._options.iterations
        plan = PublishSpec(self._spec, 0, last, version.tables[LINKS].buckets, version.number + 1)
        groups = [plan._replace(number=n) for n in range(len(self._shape.groups))]
        rank_of_pure = self._damping.base if last else ONE
        parts = [
            plan._replace(number=n, rank=rank_of_pure)
            for n, number in enumerate(self._shape.pure)
            if number
        ]
        engine = self._context.engine
        results = [*engine.map(publish_task, groups), *engine.map(publish_pure_task, parts)]
        return [file for files in results for file in files]

    def remove(self) -> None:
        """Remove all files of the graph, the marks before their files."""
        names = [file.name for file in self._storage.walk(self._spec.folder)]
        for name in sorted(names, key=lambda name: "/done-" not in name):
            self._storage.delete(name)
        remove_empty_folders(self._storage, self._spec.folder)


def _apply(
    context: StepContext, version: CycleVersion, level: RankLevel, files: Sequence[TableFile]
) -> tuple[int, list[TableFile]]:
    by_bucket: dict[int, list[TableFile]] = {}
    for file in files:
        by_bucket.setdefault(file.bucket, []).append(file)
    specs = [
        ApplySpec(
            context.place, version.number + 1, level, g,
            tuple(BucketFiles(b.bucket, tuple(by_bucket.get(b.bucket, ()))) for b in g),
        )
        for g in in_tasks(buckets_of(context.cycle, version, CRAWLDB),
                              tasks=context.engine.workers)
    ]  # fmt: skip
    results = context.engine.map(apply_task, specs)
    return sum(bucket for bucket, _ in results), [file for _, f in results for file in f]


class RankedNode(NamedTuple):
    """A node with its rank, and the numbers of nodes that link to it, and that it links to."""

    node: str
    rank: float
    num_in: int
    num_out: int


def best_nodes(view: TableView, level: RankLevel, number: int) -> list[RankedNode]:
    """Return the nodes with the greatest ranks, then by name; [] without links.

    Args:
        view: The tables.
        level: The level.
        number: Most nodes to return.

    Raises:
        JobError: The ranks of this level were not computed yet.
    """
    table = rank_table(level)
    if table not in view.version.tables:
        if not has_links(view.version):
            return []
        raise JobError(
            f"there are no ranks of this level: `rank --level {level}` makes them, where links "
            f"join two {level}s"
        )
    query = (
        f"select node, rank, num_in, num_out from {table} order by rank desc, node "
        f"limit {min(number, MOST_ROWS):d}"
    )
    with sql(view, query) as (_, batches):
        rows = [row for batch in batches for row in batch.to_pylist()]
    return [
        RankedNode(row["node"], row["rank"] / ONE, row["num_in"], row["num_out"]) for row in rows
    ]
