import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.scope.rules.stock import (
    MatchesListRegex,
    PathLoop,
    PathologicalPath,
    SchemeNotInSet,
    TooManyPathSegments,
)
from nacre.scope.rules.url import has_path_loop, path_of, pathological
from nacre.scope.scope import never
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject


def speaks(rule, url, path="L", **known):
    return rule.build(ScopeState())(Subject(url, path, **known))


@pytest.mark.parametrize(
    ("url", "trap"),
    [
        ("http://h.test/a/a/b", False),
        ("http://h.test/a/a/a/b", True),
        ("http://h.test/a/a/a", False),
        ("http://h.test/a/b/a/b/a/b/", True),
        ("http://h.test/a/b/a/b/a/b", False),
        ("http://h.test/a/x/a/x/y/a/x/", False),
        ("http://h.test////x", True),
        ("http://h.test/?u=/a/a/a/b", True),
        ("http://h.test/", False),
        ("dns:h.test", False),
    ],
)
def test_pathological_paths(url, trap):
    assert speaks(PathologicalPath(), url) is trap


def test_pathological_path_remembers_folders_not_answers():
    test = PathologicalPath(max_repetitions=1).build(ScopeState())
    urls = ["http://h.test/a/b", "http://h.test/a/a/b", "http://h.test/a/c"] * 2
    assert [test(Subject(url)) for url in urls] == [False, True, False] * 2


def test_it_can_be_switched_off():
    assert PathologicalPath(max_repetitions=0).build(ScopeState()) is never
    assert PathLoop(max_segment_repetition=0).build(ScopeState()) is never


@given(st.text("ab/", max_size=24), st.integers(1, 3))
def test_pathological_is_the_expression_of_heritrix(path, limit):
    url = "http://h.test/" + path
    expression = rf".*?/(.*?/)\1{{{limit},}}.*"
    assert pathological(url, limit) is (re.fullmatch(expression, url) is not None)


@pytest.mark.parametrize(
    ("url", "slashes", "deep"),
    [
        ("http://h.test/" + "a/" * 19, 20, False),
        ("http://h.test/" + "a/" * 20, 20, True),
        ("http://h.test/a?b=/c/d/e/f", 1, False),
        ("http://h.test/a/b?c", 1, True),
        ("mailto:a/b/c", 1, True),
    ],
)
def test_path_segments(url, slashes, deep):
    assert speaks(TooManyPathSegments(max_path_depth=slashes), url) is deep


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://h.test/a/b?c/d", "/a/b"),
        ("http://h.test", ""),
        ("dns:h.test", ""),
        ("urn:a/b", "/b"),
        ("http://h.test/?u=http://x/", "/"),
    ],
)
def test_path_of(url, path):
    assert path_of(url) == path


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        *[(url, False) for url in ("http://a/", "https://a/", "dns:a")],
        *[(url, True) for url in ("ftp://a/", "httpx:a", "mailto:a@b", "nothing", "")],
    ],
)
def test_schemes(url, refused):
    assert speaks(SchemeNotInSet(), url) is refused


def test_path_loops():
    assert speaks(PathLoop(), "http://h.test/a/b/a/c/a/d/a")
    assert speaks(PathLoop(), "http://h.test/?b=1&b=1&b=1&b=1")
    assert not speaks(PathLoop(), "http://h.test/a/b/a/c/a/d?b=1")


def test_regexes_match_the_whole_or_anywhere():
    assert speaks(MatchesListRegex(regexes=(".*gif",)), "http://h.test/a.gif")
    assert not speaks(MatchesListRegex(regexes=("gif",)), "http://h.test/a.gif")
    assert speaks(MatchesListRegex(regexes=("gif",), search=True), "http://h.test/a.gif?b")
    assert not speaks(MatchesListRegex(regexes=("png",), search=True), "http://h.test/a.gif")


def test_any_or_all_and_not():
    one, both = ("a", "x"), ("a", "h")
    url = "http://h.test/a"
    assert speaks(MatchesListRegex(regexes=one, search=True), url)
    assert not speaks(MatchesListRegex(regexes=one, search=True, all=True), url)
    assert speaks(MatchesListRegex(regexes=both, search=True, all=True), url)
    assert speaks(MatchesListRegex(regexes=("x",), search=True, negate=True), url)
    assert not speaks(MatchesListRegex(regexes=both, search=True, negate=True), url)


def test_an_empty_list_never_matches():
    assert MatchesListRegex().build(ScopeState()) is never
    assert MatchesListRegex(negate=True).build(ScopeState()) is never


def test_sparing():
    rule = MatchesListRegex(regexes=("a",), search=True, spare=True)
    url = "http://h.test/a"
    assert speaks(rule, url, "L")
    assert [speaks(rule, url, path) for path in ("E", "LER", "P")] == [False] * 3
    assert not speaks(rule, url, "", is_seed=True)


def test_a_broken_expression_is_refused_with_its_text():
    with pytest.raises(ValidationError, match=r"'\(a' is not a regular expression"):
        MatchesListRegex(regexes=("(a",))


@pytest.mark.parametrize(
    ("path", "query", "trap"),
    [
        ("", "", False),
        ("/x/x/x", "", False),
        ("/x/x/x/x", "", True),
        ("/x/a/x/b/x/c/x", "", True),
        ("/x//x//x//", "", False),
        ("/x/y/x/y/x/y/1/2/3", "", False),
        ("/x/y/x/y/x/y/1/2/3/4", "", True),
        ("/x/1/x/2/x/3/4/5/6/7/8", "", False),
        ("/a", "?b=1&b=1&b=1&b=1", True),
        ("/a", "b=1&b=2&b=3&b=4", False),
        ("/a", "u=%2Fa%3Fb%3D1&b=1&b=1&b=1", False),
        ("/a", "x&x&x&x", True),
        ("/a", "?x&x&y&x&&&", False),
    ],
)
def test_has_path_loop(path, query, trap):
    assert has_path_loop(path, query, 3, 2) is trap


def test_switched_off():
    assert not has_path_loop("/x" * 50, "", 0, 2)
    assert not has_path_loop("/x/y/x/y/x/y/1/2/3/4", "", 3, 0)


@given(st.text(max_size=100), st.text(max_size=100), st.integers(-1, 5), st.integers(-1, 5))
def test_never_raises(path, query, repetition, threshold):
    assert has_path_loop(path, query, repetition, threshold) in {True, False}


def test_a_rule_remembers_no_long_folders():
    judge = PathologicalPath().build(ScopeState())
    tracemalloc.start()
    try:
        for number in range(10_000):
            assert not judge(Subject(f"http://h.test/{number:02000}/x", "L"))
        assert tracemalloc.get_traced_memory()[0] < 2_000_000
    finally:
        tracemalloc.stop()
