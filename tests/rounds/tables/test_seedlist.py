"""Seed lines with Nutch's metadata, and what is wrong with a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.rounds.tables.seedlist import (
    ONE,
    PORTION,
    BadMetadata,
    InjectedSeed,
    entry_size,
    portions,
    read_seed_list,
    score_of,
)
from nacre.scope.seeds import BadSeed, SeedDirective


def one(line: str):
    found = list(read_seed_list([line], "seeds.txt"))
    assert len(found) == 1
    return found[0]


def test_a_plain_line_is_a_seed_without_metadata():
    found = one("http://example.org/a")
    assert isinstance(found, InjectedSeed)
    assert (found.seed.url, found.score, found.interval) == ("http://example.org/a", None, None)
    assert found.metadata == {}


def test_reserved_keys_are_read_and_others_stay():
    line = "http://example.org/\tnutch.score=2.5\tnutch.fetchInterval=3600\tlang=zh\t主题=图书馆"
    found = one(line)
    assert found.score == int(2.5 * ONE)
    assert (found.interval, found.fixed) == (3600, None)
    assert found.metadata == {"lang": "zh", "主题": "图书馆"}


def test_a_fixed_interval_is_the_interval_too():
    found = one("http://example.org/\tnutch.fetchInterval.fixed=86400")
    assert (found.interval, found.fixed) == (86400, 86400.0)


@pytest.mark.parametrize("line", ["", "   ", "# a comment", "\t", "#\tnutch.score=1"])
def test_comments_and_empty_lines_are_nothing(line):
    assert list(read_seed_list([line])) == []


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("nutch.score=nan", "number from 0"),
        ("nutch.score=inf", "number from 0"),
        ("nutch.score=-1", "number from 0"),
        ("nutch.score=1e40", "number from 0"),
        ("nutch.score=much", "not a number"),
        ("nutch.fetchInterval=0", "seconds"),
        ("nutch.fetchInterval=-5", "seconds"),
        ("nutch.fetchInterval=99999999999", "seconds"),
        ("nutch.fetchInterval.fixed=1.5", "seconds"),
        ("words without a sign", "key=value"),
        ("=value", "key=value"),
    ],
)
def test_wrong_metadata_are_left_out_and_named(rest, why):
    lines = ["http://a.example/", f"http://b.example/\t{rest}\t主题=书"]
    good, bad, kept = read_seed_list(lines, "list.txt")
    assert isinstance(good, InjectedSeed)
    assert isinstance(bad, BadMetadata)
    assert isinstance(kept, InjectedSeed)
    assert (kept.seed.url, kept.score, kept.interval) == ("http://b.example/", None, None)
    assert kept.metadata == {"主题": "书"}
    assert str(bad).startswith("list.txt:2: 'http://b.example/' is taken without")
    assert (bad.file, bad.line) == ("list.txt", 2)
    assert why in bad.reason


def test_a_bad_url_has_its_line_number():
    found = list(
        read_seed_list(["# list", "", "http//nowhere.example/", "http://a.example/"], "l.txt")
    )
    assert isinstance(found[0], BadSeed)
    assert found[0].line == 3
    assert isinstance(found[1], InjectedSeed)


def test_directives_of_the_scope_pass():
    assert one("-http://example.org/private/") == SeedDirective("-http://example.org/private/")


def test_a_scope_of_its_own_is_read_on_both_sides_of_the_tab():
    one_tab = one("http://example.org/\tscope=host\tlang=zh")
    assert one_tab.seed.own is not None
    assert one_tab.metadata == {"lang": "zh"}
    found = one("http://example.org/ scope=host depth=2\tnutch.score=3")
    assert found.seed.own is not None
    assert found.seed.own.depth == 2
    assert found.score == 3 * ONE


def test_long_metadata_are_refused():
    assert isinstance(one("http://a.example/\tk=" + "x" * 70_000), BadSeed)


@given(st.text())
def test_no_line_raises(text):
    for entry in read_seed_list(text.split("\n")):
        assert isinstance(entry, InjectedSeed | SeedDirective | BadSeed | BadMetadata)


def test_a_url_of_a_million_bytes_is_refused_in_a_short_line():
    long = "http://a.example/" + "书" * 333_333
    entries = list(
        read_seed_list([long, f"http://b.example/\t{'k' * 10**6}=v", "http://c.example/"])
    )
    bad = [entry for entry in entries if isinstance(entry, BadSeed)]
    assert [one.line for one in bad] == [1, 2]
    assert "longer than" in bad[0].reason
    assert all(len(str(one)) < 1_000 for one in bad)
    assert isinstance(entries[2], InjectedSeed)


@given(st.decimals(min_value=0, max_value=10**9, places=4))
def test_scores_are_exact_to_the_step(value):
    assert abs(score_of(str(value)) - value * ONE) < 1


def test_a_portion_has_many_short_lines_and_few_long_ones():
    short = [len(part) for part in portions(iter(["x"] * (2 * PORTION + 1)), len)]
    assert short == [PORTION, PORTION, 1]
    long = [len(part) for part in portions(iter(["x" * 60_000] * 1_200), len)]
    assert long == [500, 500, 200]
    assert list(portions(iter([]), len)) == []


def test_the_size_of_an_entry_has_its_metadata():
    seed = one(f"http://b.example/\tkey={'v' * 1_000}")
    assert isinstance(seed, InjectedSeed)
    assert entry_size(seed) == len("http://b.example/") + 3 + 1_000
    assert entry_size(one("+http://(org,f,")) == len("+http://(org,f,")
