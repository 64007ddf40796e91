"""The table of links: folded in any order, links that went stay, internal ones are left out."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.crawldb.hosts import load_domains
from nacre.crawldb.links import LINK_TABLE, inlinks, link_adds, link_schema, merge_links
from nacre.crawldb.settings import LinkDbSettings
from tests.crawldb.made import kernel_at, read

FACTS = pa.schema(
    [
        *(("dst", pa.string()), ("src", pa.string()), ("anchor", pa.string())),
        *(("rel", pa.string()), ("hop", pa.string()), ("context", pa.string())),
        *(("score", pa.int64()), ("time", pa.int64())),
    ]
)
LINK = {"dst": "http://a.test/", "src": "http://b.test/", "anchor": "国", "hop": "L", "time": 5}


@pytest.fixture
def kernel(tmp_path):
    with kernel_at(tmp_path) as made:
        yield made


def added(kernel, *links, **settings):
    kernel.load("facts", pa.Table.from_pylist([{**LINK, **one} for one in links], FACTS))
    said = LinkDbSettings(**settings)
    if said.ignore_internal == "domain":
        load_domains(kernel, "domains", ["a.test", "www.a.test", "b.test"])
    return read(kernel, link_adds("facts", said, "domains"))


def test_the_columns_are_those_of_the_table(kernel):
    kernel.load("facts", pa.Table.from_pylist([LINK], FACTS))
    assert kernel.columns(link_adds("facts", LinkDbSettings())) == link_schema().names
    assert len(LINK_TABLE) == len(link_schema())


def test_a_pair_of_pages_has_one_row_with_the_words_of_the_last_time(kernel):
    (one,) = added(kernel, {"time": 9, "anchor": "new"}, {}, {"time": 9, "anchor": "other"})
    assert (one["anchor"], one["first"], one["last"]) == ("new", 5, 9)


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({}, {"http://www.a.test/", "http://b.test/"}),
        ({"ignore_internal": "domain"}, {"http://b.test/"}),
        (
            {"ignore_internal": "none"},
            {"http://www.a.test/", "http://b.test/", "http://a.test:8080/x"},
        ),
        ({"ignore_internal": "none", "ignore_external": True}, {"http://a.test:8080/x"}),
    ],
)
def test_internal_and_external_links_are_left_out_as_said(kernel, settings, kept):
    pages = ("http://www.a.test/", "http://b.test/", "http://a.test:8080/x", "http://a.test/")
    found = added(kernel, *({"src": page} for page in pages), **settings)
    assert {one["src"] for one in found} == kept


def test_anchors_are_cut(kernel):
    assert added(kernel, {"anchor": "国" * 9}, max_anchor=3)[0]["anchor"] == "国" * 3
    assert "anchor" not in added(kernel, {}, max_anchor=0)[0]


def test_links_are_folded_in_any_order_and_compacted_at_any_time(kernel, tmp_path):
    dice = random.Random(3)
    files = []
    for number in range(6):
        rows = {
            (dst, src): {
                "dst": dst,
                "src": src,
                "anchor": dice.choice(["", "x", None, "y"]),
                "score": dice.randrange(3),
                "first": (time := dice.randrange(4)),
                "last": time + dice.randrange(3),
            }
            for dst, src in ((dice.choice("ab"), dice.choice("cd")) for _ in range(3))
        }
        path = str(tmp_path / f"{number}.parquet")
        pq.write_table(pa.Table.from_pylist(list(rows.values()), link_schema()), path)
        files.append(path)
    expected = read(kernel, merge_links([], files))
    for seed in range(4):
        random.Random(seed).shuffle(files)
        base = str(tmp_path / f"base{seed}.parquet")
        kernel.write(merge_links([], files[:seed]) if seed else merge_links([], files[:1]), base)
        assert read(kernel, merge_links([base], files[max(seed, 1) :])) == expected
    with pytest.raises(ValueError, match="needs a file"):
        merge_links([], [])


def test_a_link_that_went_keeps_when_it_was_seen_last(kernel, tmp_path):
    path = str(tmp_path / "base.parquet")
    added(kernel, {})
    kernel.write(link_adds("facts", LinkDbSettings()), path)
    again = str(tmp_path / "add.parquet")
    added(kernel, {"src": "http://c.test/", "time": 50})
    kernel.write(link_adds("facts", LinkDbSettings()), again)
    rows = read(kernel, merge_links([path], [again]))
    assert [(one["src"], one["last"]) for one in rows] == [
        ("http://b.test/", 5),
        ("http://c.test/", 50),
    ]
    assert read(kernel, merge_links([path], [])) == rows[:1]


def test_the_best_links_are_shown(kernel):
    links = [{"src": f"http://b.test/{number}", "score": number % 5} for number in range(9)]
    kernel.load("shown", kernel.arrow("select 1 as one"))
    added(kernel, *links)
    kernel.execute(f"create or replace table rows as {link_adds('facts', LinkDbSettings())}")
    shown = read(kernel, inlinks("rows", LinkDbSettings(max=3)))
    assert [(one["src"][-1], one["score"]) for one in shown] == [("4", 4), ("3", 3), ("8", 3)]
