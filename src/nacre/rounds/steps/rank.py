"""The step `rank`: LinkRank of the hosts, domains or pages of the table of links.

Each stage, and each iteration, is noted when all its tasks are done, so that a step that was killed
goes on behind the last one; the graph is named after the links and options that it is made of.
Marks are removed before what they stand for; where that is gone all the same, as of a step that was
killed days ago, the graph is made anew. The ranks come into a table of their own, and with `apply`
they are the scores of URLs.
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
"""Links that a task takes the edges of."""

Spec = TypeVar("Spec")
Result = TypeVar("Result")


class RankOptions(NamedTuple):
    """The options of the step.

    Attributes:
        level: Nodes of the graph.
        iterations: How often ranks are computed anew.
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
        residuals: Of each iteration how much a rank changed, in the mean.
        applied: URLs whose score changed.
        version: The version; None where nothing was committed.
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
    found = graph.run()
    files = graph.published(version)
    known = {file.path for file in context.cycle.files(version, rank_table(options.level))}
    added: dict[str, list[TableFile]] = {rank_table(options.level): files} if files else {}
    if options.apply:
        applied, scores = _applied(context, version, options.level, files)
        found = found._replace(applied=applied)
        added |= {CRAWLDB: scores} if scores else {}
    changes = CycleChanges(
        step="rank",
        clock=context.clock,
        options=options._asdict(),
        counters={"nodes": found.nodes, "edges": found.edges, "applied": found.applied},
        added=added,
        dropped={rank_table(options.level): known} if known else {},
        buckets={rank_table(options.level): version.tables[LINKS].buckets},
    )
    committed = context.cycle.commit(version, changes)
    graph.remove()
    return found._replace(version=committed)


def _require_free_scores(context: StepContext) -> None:
    for one in context.settings.cycle.scoring:
        if isinstance(one, Opic | NutchOpic):
            raise ConfigError(
                f"--apply makes scores those of ranks, and cycle.scoring has `{one.scoring}`, "
                "which sums them up: write cycle.scoring: [rank], or leave --apply out"
            )


class _Graph:
    """The stages of the driver."""

    def __init__(self, context: StepContext, version: CycleVersion, options: RankOptions) -> None:
        self._context, self._options = context, options
        self._storage = context.cycle.storage
        table = version.tables[LINKS]
        parts = parts_of(table.rows)
        said = f"{table.sha256} {options.level} {options.damping!r} {options.per_domain} {parts}"
        folder = f"exchange/rank-{hashlib.sha256(f'{said} 2'.encode()).hexdigest()[:16]}"
        self._buckets = buckets_of(context.cycle, version, LINKS)
        self._spec = GraphSpec(context.place, folder, options.level, parts, options.per_domain)
        self._shape = GraphShape(())
        self._damping = Damping(0, 0)

    def run(self) -> RankResult:
        there = {file.name for file in self._storage.walk(self._spec.folder)}
        if not self._is_whole(there):
            self.remove()
        edges = self._numbered()
        nodes = self._shape.nodes
        self._damping = Damping.of(self._options.damping, nodes)
        together = self._in_tasks()
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
            self._context.told("iteration", {"number": iteration, "residual": residuals[-1]})
            self._forget(iteration - 2)
        return RankResult(self._options.level, nodes, edges, tuple(residuals))

    def _numbered(self) -> int:
        """Make the edges as numbers; how many there are."""
        graph = self._spec
        groups = list(enumerate(in_tasks(self._buckets, rows=_ROWS)))
        found = self._stage("edges", edges_task, [EdgesSpec(graph, *one) for one in groups])
        self._shape = GraphShape(tuple(GroupShape(*one) for one in found))
        self._require_ids()
        parts = [ShapedSpec(graph, self._shape, part) for part in range(graph.parts)]
        pure = self._stage("names", names_task, parts)
        self._shape = self._shape._replace(pure=tuple(pure))
        self._require_ids()
        specs = [ShapedSpec(graph, self._shape, group) for group, _ in groups]
        edges = sum(int(one) for one in self._stage("in", number_task, specs))
        for kind, number in (("targets", len(groups)), ("sources", len(groups)),
                             ("pairs", len(groups)), ("ids", graph.parts),
                             ("out", graph.parts)):  # fmt: skip
            for one in range(number):
                self._storage.delete(graph.name(kind, one))
        return edges

    def _mark(self, stage: str) -> str:
        """The name of the mark of a stage that is done."""
        return f"{self._spec.folder}/done-{stage}.json"

    def _is_whole(self, there: AbstractSet[str]) -> bool:
        """Whether what the stages that are marked as done made is there, as far as it is needed.

        Args:
            there: The files of the graph.
        """
        graph, iterations = self._spec, self._options.iterations
        stages = ["edges", "names", "in", *(f"rank{one + 1}" for one in range(iterations))]
        marked = [self._mark(stage) in there for stage in stages]
        done = marked.index(False) if False in marked else len(marked)
        if any(marked[done:]):
            return False
        of_groups, of_parts = {
            0: ((), ()),
            1: (("targets", "sources", "pairs"), ()),
            2: (("targets", "sources", "pairs"), ("ids", "out", "pure")),
        }.get(done, (("in", "counts", f"rank{done - 3}"), ("pure",)))
        groups = msgspec.json.decode(self._storage.read(self._mark("edges"))) if done else ()
        return all(
            graph.name(kind, number) in there
            for kinds, numbers in ((of_groups, len(groups)), (of_parts, graph.parts))
            for kind in kinds
            for number in range(numbers)
        )

    def _require_ids(self) -> None:
        if self._shape.nodes > MOST_NODES:
            raise JobError(
                f"the graph has over {MOST_NODES:,} {self._options.level}s, and so many at most "
                "are ranked: take --level host or --level domain"
            )

    def _in_tasks(self) -> list[tuple[int, ...]]:
        """The groups that are iterated over in one task: few, since each reads what all give."""
        most = EDGES_AT_ONCE[self._options.level]
        found: list[tuple[int, ...]] = []
        size = 0
        for group, shape in enumerate(self._shape.groups):
            size += shape.edges
            if not found or size > most:
                found.append(())
                size = shape.edges
            found[-1] += (group,)
        return found

    def _stage(self, name: str, task: Callable[[Spec], Result], specs: Sequence[Spec]) -> list[Any]:
        """The results of a stage; of one that is done already as they were noted."""
        mark = self._mark(name)
        try:
            return list(msgspec.json.decode(self._storage.read(mark)))
        except MissingFileError:
            results = self._context.engine.map(task, specs)
            self._storage.put(mark, msgspec.json.encode(results))
            return list(results)

    def _forget(self, iteration: int) -> None:
        """Remove the ranks of an iteration that none needs any more."""
        for group in range(len(self._shape.groups) if iteration >= 0 else 0):
            self._storage.delete(self._spec.name(f"rank{iteration}", group))

    def published(self, version: CycleVersion) -> list[TableFile]:
        """The files of the table."""
        last = self._options.iterations
        plan = PublishSpec(self._spec, 0, last, version.tables[LINKS].buckets, version.number + 1)
        groups = [plan._replace(number=one) for one in range(len(self._shape.groups))]
        rank_of_pure = self._damping.base if last else ONE
        parts = [
            plan._replace(number=one, rank=rank_of_pure)
            for one, number in enumerate(self._shape.pure)
            if number
        ]
        engine = self._context.engine
        found = [*engine.map(publish_task, groups), *engine.map(publish_pure_task, parts)]
        return [file for files in found for file in files]

    def remove(self) -> None:
        """Remove all files of the graph, the marks first: a kill leaves none without its files."""
        names = [file.name for file in self._storage.walk(self._spec.folder)]
        for name in sorted(names, key=lambda name: "/done-" not in name):
            self._storage.delete(name)
        remove_empty_folders(self._storage, self._spec.folder)


def _applied(
    context: StepContext, version: CycleVersion, level: RankLevel, files: Sequence[TableFile]
) -> tuple[int, list[TableFile]]:
    by_bucket: dict[int, list[TableFile]] = {}
    for file in files:
        by_bucket.setdefault(file.bucket, []).append(file)
    specs = [
        ApplySpec(
            context.place, version.number + 1, level, group,
            tuple(BucketFiles(one.bucket, tuple(by_bucket.get(one.bucket, ()))) for one in group),
        )
        for group in in_tasks(buckets_of(context.cycle, version, CRAWLDB),
                              tasks=context.engine.workers)
    ]  # fmt: skip
    results = context.engine.map(apply_task, specs)
    return sum(one for one, _ in results), [file for _, found in results for file in found]


class RankedNode(NamedTuple):
    """A node with its rank, and the numbers of nodes that link to it, and that it links to."""

    node: str
    rank: float
    num_in: int
    num_out: int


def best_nodes(view: TableView, level: RankLevel, number: int) -> list[RankedNode]:
    """The nodes with the greatest ranks, best first; equals by name; none where there are no links.

    Args:
        view: The tables.
        level: The level.
        number: How many.

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
