import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.scope.rules.stock import SurtPrefixed
from nacre.scope.scope import Decision
from nacre.scope.seed_index import Coercion
from nacre.scope.seed_scope import PrefixLookup
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.uri.surt import SurtPrefixSet, scope_surt


def speaks(rule, url, *, seeds=(), directives=(), via=""):
    state = ScopeState()
    for seed in seeds:
        state.add_seed(seed)
    state.add_directives(directives)
    return rule.build(state)(Subject(url, "L", via))


@pytest.mark.parametrize(
    ("url", "held"),
    [
        ("http://www.example.com/foo/bar", True),
        ("https://www.example.com/foo/bar", True),
        ("http://www.example.com/FOO/bar", True),
        ("http://www.example.com/foo", False),
        ("http://www.example.com/foobar", False),
        ("http://www.example.com:8080/foo/bar", False),
        ("http://example.com/foo/bar", False),
        ("ftp://www.example.com/foo/bar", False),
        ("dns:www.example.com", False),
        ("mailto:a@www.example.com", False),
        ("", False),
    ],
)
def test_seeds_imply_prefixes(url, held):
    assert speaks(SurtPrefixed(), url, seeds=["http://www.example.com/foo/index.html"]) is held


def test_a_bare_host_means_its_subdomains_too():
    bare, slash = ["http://example.com"], ["http://example.com/"]
    assert speaks(SurtPrefixed(), "http://a.example.com/", seeds=bare)
    assert not speaks(SurtPrefixed(), "http://a.example.com/", seeds=slash)
    assert not speaks(SurtPrefixed(), "http://anexample.com/", seeds=bare)


def test_mixed_lists():
    rule = SurtPrefixed(
        seeds_as_prefixes=False,
        prefixes=("http://a.test/x/", "+http://(test,b,", "(test,c,)/y", "+http://d.test/"),
    )
    held = ["http://a.test/x/1", "http://w.b.test/", "https://c.test/yes", "http://d.test/1"]
    others = ["http://a.test/y", "http://bb.test/", "http://c.test/no", "http://e.test/"]
    assert [url for url in held + others if speaks(rule, url)] == held


def test_a_prefix_that_is_none_is_refused():
    with pytest.raises(ValidationError, match="'http://' is neither a SURT prefix nor a URL"):
        SurtPrefixed(prefixes=("http://",))


def test_directives_go_to_the_rule_of_their_sign():
    lines = ["+http://in.test/", "-http://out.test/"]
    accept = SurtPrefixed(seeds_as_prefixes=False)
    reject = SurtPrefixed(decision=Decision.REJECT, seeds_as_prefixes=False)
    for url, into, out in (("http://in.test/", True, False), ("http://out.test/", False, True)):
        assert speaks(accept, url, directives=lines) is into
        assert speaks(reject, url, directives=lines) is out


def test_coercion():
    seeds = ["http://www.news.example.co.uk/a/b"]
    urls = [
        "https://www.news.example.co.uk/",
        "http://x.news.example.co.uk/",
        "http://example.co.uk/",
    ]
    held = {
        coercion: [speaks(SurtPrefixed(coerce=coercion), url, seeds=seeds) for url in urls]
        for coercion in Coercion
    }
    assert held == {
        Coercion.PREFIX: [False, False, False],
        Coercion.HOST: [True, False, False],
        Coercion.DOMAIN: [True, True, False],
        Coercion.SITE: [True, True, True],
    }


def test_via():
    rule = SurtPrefixed(also_check_via=True)
    seeds = ["http://a.test/"]
    assert speaks(rule, "http://b.test/", seeds=seeds, via="https://a.test/1")
    assert speaks(rule, "http://a.test/", seeds=seeds)
    assert not speaks(rule, "http://b.test/", seeds=seeds, via="http://c.test/")
    assert not speaks(rule, "http://b.test/", seeds=seeds)
    assert not speaks(SurtPrefixed(), "http://b.test/", seeds=seeds, via="https://a.test/1")


def test_what_comes_later_counts():
    state = ScopeState()
    test = SurtPrefixed().build(state)
    page, other = Subject("http://a.test/x/1"), Subject("http://b.test/")
    assert not test(page)
    state.add_seed("http://a.test/x/")
    assert test(page)
    assert not test(other)
    state.add_directives(["+http://b.test/"])
    assert test(other)


PATHS = st.sampled_from(["", "/", "/a", "/a/", "/a/b", "/A/b"])
NAMES = st.sampled_from(["http://x.test", "https://x.test", "http://y.x.test", "http://x.test:81"])
PREFIXES = st.sampled_from(
    [
        *("http://(test,x,", "http://(test,x,)", "http://(test,x,)/a", "http://(test,x,y,)/"),
        *("http://(", "http://(test,x,:81)/a/", "dns:x", "ftp://"),
    ]
)
URLS = st.one_of(
    st.tuples(NAMES, PATHS).map(lambda parts: parts[0] + (parts[1] or "/")),
    st.sampled_from(["dns:x.test", "ftp://x.test/a/b/c/d", "mailto:x", "", "http:"]),
)


@given(st.lists(PREFIXES, max_size=3), st.lists(PREFIXES, max_size=2), st.lists(URLS, max_size=6))
def test_remembered_answers_are_those_of_the_sets(first, second, urls):
    sets = [SurtPrefixSet(first), SurtPrefixSet(second)]
    places = PrefixLookup(sets)
    assert places.empty is not any(sets)
    for url in urls * 2:
        found = any(prefixes.match(scope_surt(url)) is not None for prefixes in sets)
        assert places.hold(url) is found
