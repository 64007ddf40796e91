"""The step `rank`: LinkRank of the hosts, domains or pages of the table of links.

Each stage, and each iteration, is noted when all its tasks are done, so that a step that was killed
goes on behind the last one; the graph is named after the links and options that it is made of. The
ranks come into a table of their own, and with `apply` they are the scores of URLs.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from nacre.crawldb.rank import Damping, RankLevel, parts_of, rank_table
from nacre.crawldb.row import ONE
from nacre.crawldb.scoring import NutchOpic, Opic
from nacre.cycle.readers import TableView, sql
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.links import has_links
from nacre.cycle.steps.rank_tasks import (
    LINKS,
    ApplySpec,
    EdgesSpec,
    GraphSpec,
    PartCounts,
    PartSpec,
    PublishSpec,
    apply_task,
    edges_task,
    iterate_task,
    nodes_task,
    publish_task,
    sources_task,
    targets_task,
)
from nacre.cycle.storage import MissingFileError
from nacre.cycle.tables import CRAWLDB, BucketFiles, buckets_of, in_tasks
from nacre.cycle.versions import CycleChanges, CycleVersion, TableFile
from nacre.errors import ConfigError, JobError

_ROWS = 4_000_000
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
        JobError: There are no links yet.
        ConfigError: Scores belong to a kind of score that sums them up.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    if not has_links(version):
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
        folder = f"exchange/rank-{hashlib.sha256(said.encode()).hexdigest()[:16]}"
        self._buckets = buckets_of(context.cycle, version, LINKS)
        self._spec = GraphSpec(context.place, folder, options.level, parts, options.per_domain)
        self._last = options.iterations

    def run(self) -> RankResult:
        graph, parts = self._spec, range(self._spec.parts)
        specs = [
            EdgesSpec(graph, number, group)
            for number, group in enumerate(in_tasks(self._buckets, rows=_ROWS))
        ]
        self._stage("edges", edges_task, specs)
        edges = tuple(graph.name("edges", one.number) for one in specs)
        names = tuple(graph.name("names", one.number) for one in specs)
        self._stage("nodes", nodes_task, [PartSpec(graph, part, names) for part in parts])
        self._stage("sources", sources_task, [PartSpec(graph, part, edges) for part in parts])
        counts = self._stage("targets", targets_task, [PartSpec(graph, part) for part in parts])
        nodes, number = (sum(one[at] for one in counts) for at in (0, 1))
        damping = Damping.of(self._options.damping, nodes)
        residuals = []
        for iteration in range(1, self._last + 1):
            specs_of = [PartSpec(graph, part, (), iteration, damping) for part in parts]
            found = self._stage(f"rank{iteration}", iterate_task, specs_of)
            residuals.append(sum(one[2] for one in found) / ONE / max(nodes, 1))
            self._context.told("iteration", {"number": iteration, "residual": residuals[-1]})
            self._forget(iteration - 2)
        return RankResult(self._options.level, nodes, number, tuple(residuals))

    def _stage(self, name: str, task: Callable[[Spec], Result], specs: Sequence[Spec]) -> list[Any]:
        """The results of a stage; of one that is done already as they were noted."""
        mark = f"{self._spec.folder}/done-{name}.json"
        try:
            return list(msgspec.json.decode(self._storage.read(mark)))
        except MissingFileError:
            results = self._context.engine.map(task, specs)
            self._storage.put(mark, msgspec.json.encode(results))
            return [list(one) if isinstance(one, PartCounts) else one for one in results]

    def _forget(self, iteration: int) -> None:
        """Remove the ranks of an iteration that none needs any more."""
        for part in range(self._spec.parts if iteration >= 0 else 0):
            self._storage.delete(self._spec.name(f"rank{iteration}", part))

    def published(self, version: CycleVersion) -> list[TableFile]:
        """The files of the table."""
        buckets = version.tables[LINKS].buckets
        specs = [
            PublishSpec(self._spec, part, self._last, buckets, version.number + 1)
            for part in range(self._spec.parts)
        ]
        return [file for files in self._context.engine.map(publish_task, specs) for file in files]

    def remove(self) -> None:
        """Remove all files of the graph."""
        for file in self._storage.walk(self._spec.folder):
            self._storage.delete(file.name)


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
        f"select node, rank, num_in, num_out from {table} order by rank desc, node limit {number:d}"
    )
    with sql(view, query) as (_, batches):
        rows = [row for batch in batches for row in batch.to_pylist()]
    return [
        RankedNode(row["node"], row["rank"] / ONE, row["num_in"], row["num_out"]) for row in rows
    ]
