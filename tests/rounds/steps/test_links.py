"""The step `links`: facts of segments become rows by target, each segment once."""

import pytest

from nacre.cli.cycle.steps import links_text
from nacre.errors import JobError
from nacre.rounds.steps.links import LINKS, TAKEN, LinksResult, bucket_ranges, links
from nacre.rounds.steps.parse import _unmark_links
from nacre.rounds.steps.rank import RankOptions, rank
from nacre.rounds.tables.tables import buckets_of, local_bucket, table_kind
from tests.rounds.made import found
from tests.rounds.steps.fetched import FetchedCycle

A, B, C = "http://a.example/", "http://b.example/", "http://国.example/x"


@pytest.fixture
def cycle(tmp_path):
    made = FetchedCycle(tmp_path)
    made.add(found(A, score=5), found(B, score=9))
    return made


def rows(cycle):
    kept = []
    with cycle.place.open() as work:
        for bucket in buckets_of(cycle.cycle, cycle.newest, LINKS):
            merge = table_kind(LINKS).merge(local_bucket(cycle.storage, bucket, work.scratch))
            kept += work.kernel.arrow(merge).to_pylist()
    return {(one["dst"], one["src"]): one for one in kept}


def link(dst, src, time=7, **more):
    return {"dst": dst, "src": src, "time": time, "hop": "L", **more}


def taken(cycle, **settings) -> LinksResult:
    with cycle.context(**settings) as context:
        return links(context)


def test_links_are_taken_once_with_the_scores_of_their_pages(cycle):
    visits = [{"key": A, "status": 200}, {"key": B, "status": 200}]
    inner = link("http://a.example/inner", A)
    cycle.visit("s1", *visits, links=[link(C, A, anchor="国"), link(C, B), inner])
    result = taken(cycle)
    assert (result.segments, result.facts, result.rows) == (("s1",), 3, 2)
    assert result.size == cycle.newest.tables["links"].size > 0
    kept = rows(cycle)
    assert set(kept) == {(C, A), (C, B)}
    assert (kept[C, A]["score"], kept[C, B]["score"]) == (5, 9)
    assert kept[C, A]["anchor"] == "国"
    assert taken(cycle) == LinksResult(), "nothing is new"


def test_a_link_that_went_stays_with_its_last_time(cycle):
    cycle.visit("s1", {"key": A, "status": 200}, links=[link(C, A, 10), link(B, A, 10)])
    taken(cycle)
    cycle.visit("s2", {"key": A, "status": 200}, links=[link(C, A, 20)])
    assert taken(cycle).segments == ("s2",)
    kept = rows(cycle)
    assert (kept[C, A]["first"], kept[C, A]["last"]) == (10, 20)
    assert (kept[B, A]["first"], kept[B, A]["last"]) == (10, 10)


def test_internal_links_of_a_domain_are_left_out(cycle):
    inner = [link("http://www.a.example/", A), link(C, A)]
    cycle.visit("s1", {"key": A, "status": 200}, links=inner)
    result = taken(cycle, links__ignore_internal="domain")
    assert (result.within, result.internal, result.external) == ("domain", 1, 0)
    assert links_text(result) == (
        "2 links of 1 segment, 1 row written; 1 within a domain left out "
        "(cycle.links.ignore_internal)"
    )
    assert set(rows(cycle)) == {(C, A)}


def test_a_segment_with_internal_links_alone_is_taken_though_it_has_no_rows(cycle):
    inner = link("http://a.example/inner", A)
    cycle.visit("s1", {"key": A, "status": 200}, links=[inner])
    result = taken(cycle)
    assert (result.facts, result.rows, result.internal) == (1, 0, 1)
    assert links_text(result).endswith("; 1 within a host left out (cycle.links.ignore_internal)")
    assert result.version is not None
    assert taken(cycle) == LinksResult()


def test_links_to_other_hosts_that_are_left_out_are_counted(cycle):
    every = [link("http://a.example/inner", A), link(A, A), link(B, A), link(C, A)]
    cycle.visit("s1", {"key": A, "status": 200}, links=every)
    settings = {"links__ignore_internal": "none", "links__ignore_external": True}
    result = taken(cycle, **settings)
    assert (result.rows, result.internal, result.external) == (1, 0, 2)
    said = "; 2 to other hosts left out (cycle.links.ignore_external)"
    assert links_text(result) == f"4 links of 1 segment, 1 row written{said}"
    cycle.visit("s2", {"key": A, "status": 200}, links=every)
    result = taken(cycle, links__ignore_external=True)
    assert (result.rows, result.internal, result.external) == (0, 2, 2)


def test_nothing_is_committed_when_it_is_dry(cycle):
    cycle.visit("s1", {"key": A, "status": 200}, links=[link(C, A)])
    before = cycle.newest.number
    with cycle.context(dry=True) as context:
        assert links(context).rows == 1
    assert cycle.newest.number == before


@pytest.mark.parametrize(("buckets", "tasks"), [(64, 1), (64, 5), (4, 9), (1, 1)])
def test_ranges_cover_all_buckets_once(buckets, tasks):
    ranges = bucket_ranges(buckets, tasks)
    assert len(ranges) == min(tasks, buckets)
    covered = [bucket for first, last in ranges for bucket in range(first, last + 1)]
    assert covered == list(range(buckets))


def remade(cycle, **settings) -> LinksResult:
    with cycle.context(**settings) as context:
        return links(context, rebuild=True)


def test_the_table_is_made_again_by_other_settings(cycle):
    inner = link("http://a.example/inner", A)
    cycle.visit("s1", {"key": A, "status": 200}, links=[link(C, A, anchor="国家"), inner])
    cycle.visit("s2", {"key": B, "status": 200}, links=[link(C, B)])
    taken(cycle)
    assert set(rows(cycle)) == {(C, A), (C, B)}
    other = {"links__ignore_internal": "none", "links__max_anchor": 1}
    assert taken(cycle, **other) == LinksResult(mixed=True), "nothing is new, but made otherwise"
    result = remade(cycle, **other)
    assert (result.segments, result.facts, result.rows, result.kept) == (("s1", "s2"), 3, 3, 0)
    assert set(rows(cycle)) == {(C, A), (C, B), (inner["dst"], A)}
    assert rows(cycle)[C, A]["anchor"] == "国"
    assert not taken(cycle, **other).mixed
    assert remade(cycle).rows == 2
    assert set(rows(cycle)) == {(C, A), (C, B)}


def test_rows_of_pages_that_no_segment_has_stay(cycle):
    cycle.visit("s1", {"key": A, "status": 200}, links=[link(C, A), link(C, "http://x.test/")])
    taken(cycle)
    result = remade(cycle, links__ignore_external="true")
    assert (result.rows, result.kept) == (0, 1)
    assert set(rows(cycle)) == {(C, "http://x.test/")}


def test_rank_refuses_links_that_are_missing_stale_or_none(cycle):
    inner = link("http://a.example/inner", A)

    def refused(said: str, **settings) -> None:
        with cycle.context(**settings) as context, pytest.raises(JobError, match=said):
            rank(context, RankOptions())

    refused("no table of links yet: `nacre cycle .* links` makes it")
    cycle.visit("s1", {"key": A, "status": 200}, links=[inner])
    taken(cycle)
    refused("is empty: cycle.links.ignore_internal=host leaves all links out.*--rebuild`")
    refused("made by other settings of cycle.links.*--rebuild`", links__max_anchor=3)
    cycle.visit("s2", {"key": B, "status": 200}, links=[link(C, B)])
    refused("is stale: it lacks the links of segment s2. `nacre cycle .* links` takes them")
    taken(cycle)
    with cycle.context() as context:
        assert rank(context, RankOptions()).edges == 1


def test_links_are_taken_again_after_parse(cycle):
    cycle.visit("s1", {"key": A, "status": 200}, links=[link(C, A)])
    taken(cycle)
    state = cycle.newest.segments["s1"]
    assert TAKEN in state.more
    assert TAKEN not in _unmark_links(state, ()).more
    assert _unmark_links(state, ("segments/s1/parts/u0001/1-001",)) is state, "a repair of a part"
