"""LinkRank: the numbers of a small graph, any parts, killed between stages, applied to scores."""

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb import rank as rank_sql
from nacre.crawldb.row import ONE
from nacre.errors import ConfigError, JobError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.steps import rank as step
from nacre.rounds.steps.rank import RankOptions, RankResult, best_nodes, rank
from nacre.rounds.steps.rank_tasks import GraphSpec, iterate_task
from nacre.rounds.storage.local import LocalStorage
from nacre.rounds.tables.hashing import table_hash
from nacre.rounds.tables.readers import TableView
from nacre.rounds.tables.tables import buckets_of, in_tasks
from tests.examples import examples
from tests.rounds.made import INTERVAL, fill, found
from tests.rounds.steps.fetched import FetchedCycle

A, B, C = "http://a.example/", "http://www.b.example/书", "http://国.example/x"
LINKS = [(A, B), (A, C), (B, C), (C, A), ("http://a.example/2", C)]


def links(crawl: FetchedCycle, pairs: list[tuple[str, str]] = LINKS) -> None:
    rows = [{"dst": d, "src": s, "first": 1, "last": 1} for s, d in sorted(set(pairs))]
    fill(crawl, "links", rows, "add")


@pytest.fixture
def crawl(tmp_path: Path) -> FetchedCycle:
    return FetchedCycle(tmp_path)


def ranked(crawl: FetchedCycle, scoring: str = "[opic]", **options: Any) -> RankResult:
    with crawl.context(scoring=scoring) as context:
        return rank(context, RankOptions(**options))


def view(crawl: FetchedCycle) -> TableView:
    return TableView(crawl.cycle, crawl.newest, LocalEngine(1), crawl.place, INTERVAL)


def by_hand(edges: set[tuple[str, str]], iterations: int, damping: float) -> dict[str, int]:
    """The same by the definition, with whole numbers."""
    nodes = {node for edge in edges for node in edge}
    numbers = dict.fromkeys(nodes, ONE)
    factor = round(damping * ONE)
    out = {node: sum(1 for s, _ in edges if s == node) for node in nodes}
    for _ in range(iterations):
        given = dict.fromkeys(nodes, 0)
        for s, d in edges:
            given[d] += numbers[s] // out[s]
        base = ONE - factor + factor // len(nodes)
        numbers = {node: base + given[node] * factor // ONE for node in nodes}
    return numbers


def test_ranks_of_hosts_are_those_of_nutch(crawl: FetchedCycle):
    links(crawl)
    result = ranked(crawl)
    best = best_nodes(view(crawl), "host", 9)
    assert (result.nodes, result.edges, len(result.residuals)) == (3, 4, 10)
    assert best[0].node == "国.example"
    edges = {("a", "b"), ("a", "c"), ("b", "c"), ("c", "a")}
    by_definition = by_hand(edges, 10, 0.85)
    assert sorted(round(one.rank * ONE) for one in best) == sorted(by_definition.values())
    exact = {node: Fraction(1) for node in "abc"}
    for _ in range(10):
        given = dict.fromkeys("abc", Fraction(0))
        for s, d in edges:
            given[d] += exact[s] / sum(1 for one, _ in edges if one == s)
        exact = {
            node: Fraction(15, 100) + Fraction(85, 100) * (Fraction(1, 3) + given[node])
            for node in "abc"
        }
    assert max(one.rank for one in best) == pytest.approx(float(max(exact.values())), rel=1e-8)


def link_rank_of_nutch(outlinks: dict[str, list[str]]) -> dict[str, float]:
    """LinkRank in floats of 32 bits, as Nutch's jobs compute it: Initializer, Inverter, Analyzer.

    Args:
        outlinks: Of each page what it links to, with links to itself and repeated ones.
    """
    kept: dict[str, list[str]] = {}
    for page, targets in outlinks.items():
        domains: set[str] = set()
        kept[page] = []
        for target in sorted(set(targets) - {page}):
            domain = target.split("/")[2].removeprefix("www.")
            if domain not in domains:  # link.ignore.limit.domain
                domains.add(domain)
                kept[page].append(target)
    nodes = {page for page, targets in kept.items() for page in (page, *targets) if targets}
    damping, one = np.float32(0.85), np.float32(1)
    rank_one = one / np.float32(len(nodes))
    scores = dict.fromkeys(nodes, one)
    for _ in range(10):
        total = dict.fromkeys(nodes, rank_one)
        for page, targets in kept.items():
            for target in targets:
                total[target] += scores[page] / np.float32(len(targets))
        scores = {node: (one - damping) + damping * total[node] for node in nodes}
    return {node: float(score) for node, score in scores.items()}


def test_ranks_are_those_of_nutchs_jobs_with_loops_and_one_link_to_a_domain(crawl: FetchedCycle):
    shared = "http://b.example/"
    outlinks = {
        A: [B, A, shared, C, C],  # itself, two of a domain, one twice
        B: [A, C],
        C: [A],
        shared: [B, C, "http://leaf.example/"],
        "http://lonely.example/": [A],  # nothing links to it
    }
    links(crawl, [(page, one) for page, targets in outlinks.items() for one in targets])
    ranked(crawl, level="page", per_domain=True)
    found = {one.node: one.rank for one in best_nodes(view(crawl), "page", 99)}
    assert found == pytest.approx(link_rank_of_nutch(outlinks), rel=1e-6)


EDGES = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40)


@examples(5)
@given(EDGES, st.integers(1, 4), st.sampled_from([1, 3]), st.sampled_from([2, 1000]))
def test_ranks_of_pages_in_any_number_of_parts(
    tmp_path_factory: pytest.TempPathFactory,
    edges: set[tuple[int, int]],
    iterations: int,
    parts: int,
    size: int,
):
    crawl = FetchedCycle(tmp_path_factory.mktemp("rank"))
    pairs = {(f"http://h{s % 3}.example/{s}", f"http://h{d % 3}.example/{d}") for s, d in edges}
    links(crawl, sorted(pairs))
    real = {(s, d) for s, d in pairs if s != d}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step, "parts_of", lambda _: parts)
        patch.setattr(step, "GraphSpec", partial(GraphSpec, slice=size, block=size + 1))
        patch.setattr(step, "in_tasks", lambda buckets, **_: in_tasks(buckets, rows=size))
        patch.setattr(step, "EDGES_AT_ONCE", {"page": size})
        result = ranked(crawl, level="page", iterations=iterations)
    assert result.edges == len(real)
    if real:
        best = {one.node: round(one.rank * ONE) for one in best_nodes(view(crawl), "page", 99)}
        assert best == by_hand(real, iterations, 0.85)
        for bucket in buckets_of(crawl.cycle, crawl.newest, "rank_page"):
            for file in bucket.all:
                rows = pq.read_table(crawl.folder / "cycle" / file.path).column("node").to_pylist()
                assert rows == sorted(rows, key=str.encode)
                found = {rank_sql.rank_bucket(node, crawl.buckets) for node in rows}
                assert found == {bucket.bucket}


def test_a_rank_that_was_killed_goes_on(crawl: FetchedCycle, monkeypatch: pytest.MonkeyPatch):
    links(crawl)
    done: list[str] = []
    task = iterate_task

    def killed(spec: Any) -> Any:
        if spec.iteration == 4 and "killed" not in done:
            done.append("killed")
            raise KeyboardInterrupt
        done.append(str(spec.iteration))
        return task(spec)

    monkeypatch.setattr(step, "iterate_task", killed)
    monkeypatch.setattr("tests.rounds.steps.fetched.LocalEngine", Here)
    with pytest.raises(KeyboardInterrupt):
        ranked(crawl)
    assert crawl.newest.step != "rank"
    result = ranked(crawl)
    assert done == ["1", "2", "3", "killed", *(str(number) for number in range(4, 11))]
    assert len(result.residuals) == 10
    once = table_hash(view(crawl), "rank_host")
    ranked(crawl)
    assert table_hash(view(crawl), "rank_host") == once
    assert not list((crawl.folder / "cycle/exchange").iterdir())


class Here(LocalEngine):
    """Runs tasks in this process, where a test can reach them."""

    def map(self, function: Any, specs: Any, on_result: Any = None) -> Any:
        return [function(spec) for spec in specs]


def kill_at(patch: pytest.MonkeyPatch, last: int) -> None:
    """Raise at the deletion behind so many."""
    delete, done = LocalStorage.delete, 0

    def killed(self: LocalStorage, name: str) -> None:
        nonlocal done
        if done == last:
            raise KeyboardInterrupt
        done += 1
        delete(self, name)

    patch.setattr(LocalStorage, "delete", killed)


def interrupt(
    crawl: FetchedCycle, monkeypatch: pytest.MonkeyPatch, stage: str, iterations: int
) -> None:
    """Begin a rank that ends in a stage."""

    def killed(_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(step, stage, killed)
        with pytest.raises(KeyboardInterrupt):
            ranked(crawl, iterations=iterations)


@pytest.mark.slow
def test_a_rank_that_was_killed_while_it_tidied_can_be_made_again(
    crawl: FetchedCycle, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tests.rounds.steps.fetched.LocalEngine", Here)
    links(crawl)
    ranked(crawl, iterations=3)
    once = table_hash(view(crawl), "rank_host")
    for last in range(100):
        with monkeypatch.context() as patch:
            kill_at(patch, last)
            try:
                ranked(crawl, iterations=3)
                break
            except KeyboardInterrupt:
                pass
        ranked(crawl, iterations=3)
        assert table_hash(view(crawl), "rank_host") == once, last
        assert not crawl.storage.walk("exchange"), last
    assert 10 < last < 99


@pytest.mark.parametrize("iterations", [0, 2, 5, 8])
@pytest.mark.slow
def test_another_rank_goes_on_only_with_what_is_there(
    crawl: FetchedCycle, monkeypatch: pytest.MonkeyPatch, iterations: int
):
    monkeypatch.setattr("tests.rounds.steps.fetched.LocalEngine", Here)
    links(crawl)
    ranked(crawl, iterations=iterations)
    once = table_hash(view(crawl), "rank_host")
    interrupt(crawl, monkeypatch, "publish_task", 5)
    ranked(crawl, iterations=iterations)
    assert table_hash(view(crawl), "rank_host") == once


def test_a_mark_without_its_files_stands_for_nothing(
    crawl: FetchedCycle, monkeypatch: pytest.MonkeyPatch
):
    """Files of a step that was killed are removed after a day, the oldest first."""
    monkeypatch.setattr("tests.rounds.steps.fetched.LocalEngine", Here)
    links(crawl)
    ranked(crawl, iterations=3)
    once = table_hash(view(crawl), "rank_host")
    for stage in ("names_task", "number_task", "iterate_task", "publish_task"):
        interrupt(crawl, monkeypatch, stage, 3)
        for file in crawl.storage.walk("exchange"):
            if "/done-" not in file.name:
                crawl.storage.delete(file.name)
        ranked(crawl, iterations=3)
        assert table_hash(view(crawl), "rank_host") == once, stage


@pytest.mark.parametrize("level", rank_sql.LEVELS)
def test_ranks_become_scores(crawl: FetchedCycle, level: str):
    crawl.add(
        *(found(key, via="http://v.example/", score=7, cash=0) for key in (A, B, C)),
        found("http://other.example/", score=3),
    )
    links(crawl)
    result = ranked(crawl, "[rank]", level=level, apply=True)
    assert result.applied == 4
    rows = {one["key"]: one for one in crawl.rows()}
    assert rows["http://other.example/"]["score"] == 0
    assert rows[A]["via"] == "http://v.example/"
    best = {one.node: round(one.rank * ONE) for one in best_nodes(view(crawl), level, 9)}  # type: ignore[arg-type]
    assert {rows[key]["score"] for key in (A, B, C)} <= set(best.values())
    assert ranked(crawl, "[rank]", level=level, apply=True).applied == 0


def test_one_link_of_a_page_to_each_domain(crawl: FetchedCycle):
    pairs = [(A, "http://b.example/1"), (A, "http://www.b.example/2"), (A, C)]
    links(crawl, pairs)
    assert ranked(crawl, level="page").edges == 3
    assert ranked(crawl, level="page", per_domain=True).edges == 2


def test_what_cannot_be_ranked(crawl: FetchedCycle):
    with pytest.raises(JobError, match="no table of links yet"):
        ranked(crawl)
    links(crawl)
    with pytest.raises(ConfigError, match=r"cycle\.scoring has `opic`"):
        ranked(crawl, apply=True)
    with pytest.raises(JobError, match="rank --level page"):
        best_nodes(view(crawl), "page", 3)


def test_links_that_join_no_two_hosts_give_no_ranks(crawl: FetchedCycle):
    links(crawl, [("http://a.example/1", "http://a.example/2")])
    found = ranked(crawl)
    assert (found.nodes, found.edges) == (0, 0)


def test_a_graph_has_no_more_nodes_than_ids(crawl: FetchedCycle, monkeypatch: pytest.MonkeyPatch):
    links(crawl)
    monkeypatch.setattr(step, "MOST_NODES", 3)
    with pytest.raises(JobError, match=r"over 3 pages, .*: take --level host"):
        ranked(crawl, level="page")
