"""`readlinks`: who links to a page and with which words, what a page links to, and what went."""

import pytest

from nacre.crawldb.settings import LinkDbSettings
from nacre.errors import JobError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.link_rows import in_links, out_links
from nacre.rounds.segments.compaction import compact
from nacre.rounds.steps.links import links
from nacre.rounds.tables.readers import TableView, sql
from tests.rounds.made import INTERVAL, NOW, found
from tests.rounds.steps.fetched import FetchedCycle

A, B, C = "http://a.example/", "http://b.example/", "http://国.example/x"
INNER = "http://a.example/inner"
PLAIN = LinkDbSettings()


@pytest.fixture
def made(tmp_path):
    cycle = FetchedCycle(tmp_path)
    cycle.add(found(A, score=5), found(B, score=9))
    return cycle


def view(made):
    return TableView(made.cycle, made.newest, LocalEngine(1), made.place, INTERVAL)


def take(made):
    with made.context() as context:
        links(context)


def visit(made, name, time, key, *targets, status=200):
    """A reply at a time in ms, with links to targets, each with its text."""
    rows = [
        {"dst": dst, "src": key, "time": time, "hop": "L", "anchor": text, "rank": rank}
        for rank, (dst, text) in enumerate(targets)
    ]
    made.visit(name, {"key": key, "status": status, "time": time * 1000 + 7}, links=rows)


def test_links_to_a_page_with_their_words_and_those_that_went(made):
    visit(made, "s1", 10, A, (C, "国家"), (B, "b"))
    visit(made, "s2", 20, B, (C, "图书馆"))
    take(made)
    visit(made, "s3", 30, A, (B, "b"))
    before = in_links(view(made), C, PLAIN)
    assert [(one.src, one.anchor, one.gone) for one in before] == [
        (B, "图书馆", False),
        (A, "国家", False),
    ], "the links of s3 are not in the table yet"
    take(made)
    visit(made, "s4", 40, B, status=304)
    take(made)
    known = in_links(view(made), C, PLAIN)
    assert [(one.src, one.gone, one.last) for one in known] == [(B, False, 20), (A, True, 10)]
    compact(made.cycle, LocalEngine(1), made.place, NOW, keep=3, buckets=16)
    assert in_links(view(made), C, PLAIN) == known
    assert [one.src for one in in_links(view(made), C, LinkDbSettings(max=1))] == [B]
    assert in_links(view(made), "http://none.example/", PLAIN) == []


def test_links_on_a_page_are_those_of_its_newest_parse(made):
    visit(made, "s1", 10, A, (C, "国"), (INNER, "in"))
    take(made)
    visit(made, "s2", 20, A, (INNER, "in"), (B, "b"), (INNER, "again"))
    found_ = out_links(view(made), A)
    assert [(one.dst, one.anchor, one.gone) for one in found_] == [
        (INNER, "in", False),
        (B, "b", False),
        (C, "国", True),
    ]
    take(made)
    visit(made, "s3", 30, A, (B, "b"))
    (there, went) = out_links(view(made), A)
    assert (there.dst, there.first, there.last, there.score) == (B, 20, 30, 5)
    assert (went.dst, went.last, went.gone) == (C, 10, True)
    visit(made, "s4", 40, A, status=404)
    assert all(one.gone for one in out_links(view(made), A))
    with pytest.raises(JobError, match="no segment has a visit of http://国"):
        out_links(view(made), C)


def test_the_table_is_asked_in_sql_and_wanted_first(made):
    with pytest.raises(JobError, match="cycle DIR links"):
        in_links(view(made), C, PLAIN)
    visit(made, "s1", 10, A, (C, "国"))
    take(made)
    with sql(view(made), "select dst, anchor from links") as (names, batches):
        assert names == ["dst", "anchor"]
        assert [row for batch in batches for row in batch.to_pylist()] == [
            {"dst": C, "anchor": "国"}
        ]
