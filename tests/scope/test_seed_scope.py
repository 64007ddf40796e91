"""What seeds imply for a scope, and the scope of a seed of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import URIError
from nacre.scope.seed_index import Coercion, coerce_prefix
from nacre.scope.seed_scope import PrefixLookup, ScopeKind, SeedOwnPlaces, SeedOwnScope
from nacre.scope.subject import Subject
from nacre.uri.surt import SurtPrefixSet, scope_surt

PREFIX, HOST, DOMAIN, SITE = Coercion


@pytest.mark.parametrize(
    ("seed", "prefixes"),
    [
        (
            "https://www.example.co.uk/a/b",
            (
                "http://(uk,co,example,www,)/a/",
                "http://(uk,co,example,www,)",
                "http://(uk,co,example,",
                "http://(uk,co,example,",
            ),
        ),
        (
            "http://news.example.com",
            (
                "http://(com,example,news,",
                "http://(com,example,news,)",
                "http://(com,example,news,",
                "http://(com,example,",
            ),
        ),
        (
            "www.example.com:8080",
            (
                "http://(com,example,www,:8080)",
                "http://(com,example,www,:8080)",
                "http://(com,example,",
                "http://(com,example,",
            ),
        ),
        (
            "http://me:pw@www.example.com/",
            (
                "http://(com,example,www,@me:pw)/",
                "http://(com,example,www,)",
                "http://(com,example,",
                "http://(com,example,",
            ),
        ),
        (
            "http://bücher.example/",
            (
                "http://(example,xn--bcher-kva,)/",
                "http://(example,xn--bcher-kva,)",
                "http://(example,xn--bcher-kva,",
                "http://(example,xn--bcher-kva,",
            ),
        ),
        ("http://10.0.0.1/a/", ("http://(10.0.0.1)/a/", *["http://(10.0.0.1)"] * 3)),
        ("http://10.0.0.1:81/", ("http://(10.0.0.1:81)/", *["http://(10.0.0.1:81)"] * 3)),
        ("http://[::1]:81/", ("http://([::1],:81)/", *["http://([::1],:81)"] * 3)),
        ("http://[::1]/", ("http://([::1],)/", *["http://([::1],)"] * 3)),
        (
            "http://localhost/",
            (
                "http://(localhost,)/",
                "http://(localhost,)",
                "http://(localhost,",
                "http://(localhost,",
            ),
        ),
        (
            "http://www.com/",
            (
                "http://(com,www,)/",
                "http://(com,www,)",
                "http://(com,www,",
                "http://(com,www,",
            ),
        ),
    ],
)
def test_what_a_seed_implies(seed, prefixes):
    assert tuple(coerce_prefix(seed, coercion) for coercion in Coercion) == prefixes


HOSTS = st.sampled_from(
    ["example.com", "www.example.com", "a.b.example.co.uk", "10.1.2.3", "[::1]", "localhost"]
)


@given(HOSTS, st.sampled_from(["", ":8080"]), st.sampled_from(["", "/", "/a", "/a/b?c/d"]))
def test_a_seed_is_in_its_own_scope_and_each_coercion_is_wider(name, port, rest):
    seed = f"http://{name}{port}{rest}"
    own = scope_surt(f"http://{name}{port}{rest or '/'}")
    prefixes = [coerce_prefix(seed, coercion) for coercion in (HOST, DOMAIN, SITE)]
    assert all(own.startswith(prefix) for prefix in (coerce_prefix(seed, PREFIX), *prefixes))
    assert prefixes[1].startswith(prefixes[2])
    assert not scope_surt(f"http://{name}x/").startswith(prefixes[0])


def test_an_address_has_no_neighbours():
    for coercion in Coercion:
        assert not scope_surt("http://10.0.0.12/").startswith(
            coerce_prefix("http://10.0.0.1", coercion)
        )


def test_what_is_no_seed():
    with pytest.raises(URIError):
        coerce_prefix("http://", PREFIX)


@pytest.mark.parametrize(
    ("seed", "domain"),
    [
        ("http://www.com/", "http://(com,www,"),  # not all of `com`
        ("http://www.example.com/", "http://(com,example,"),
        ("http://user@www.example.com/", "http://(com,example,"),
        ("http://[::1]/a", "http://([::1]"),
    ],
)
def test_a_domain_is_never_a_public_suffix(seed, domain):
    assert coerce_prefix(seed, DOMAIN).startswith(domain)


# ---- lookups


def test_a_lookup_remembers_hosts_until_a_set_changes():
    prefixes = SurtPrefixSet(["http://(test,a,)/x"])
    lookup = PrefixLookup([prefixes])
    assert lookup.hold("http://a.test/xy")
    assert lookup.hold("https://a.test/x")
    assert not lookup.hold("http://a.test/y")
    assert not lookup.hold("http://b.test/")
    prefixes.add("http://(test,b,")
    lookup.forget()
    assert lookup.hold("http://b.test/")
    assert lookup.hold("http://www.b.test/any")


def test_a_lookup_of_nothing_is_empty():
    prefixes = SurtPrefixSet(())
    lookup = PrefixLookup([prefixes])
    assert lookup.empty
    assert not lookup.hold("http://a.test/")
    prefixes.add("http://(test,")
    lookup.forget()
    assert not lookup.empty


def test_urls_without_a_host_are_looked_up_too():
    lookup = PrefixLookup([SurtPrefixSet(["urn:isbn:", "ftp://(test,a,)/"])])
    assert lookup.hold("urn:isbn:12")
    assert lookup.hold("ftp://a.test/x")
    assert not lookup.hold("urn:issn:12")


def test_many_hosts_are_forgotten_and_answered_again(monkeypatch):
    monkeypatch.setattr("nacre.scope.seed_scope._HOSTS", 3)
    lookup = PrefixLookup([SurtPrefixSet(["http://(test,h1,"])])
    for _ in range(2):
        found = [n for n in range(10) if lookup.hold(f"http://h{n}.test/")]
        assert found == [1]


# ---- a seed with a scope of its own


def places(scope, depth=None):
    made = SeedOwnPlaces(SeedOwnScope(scope, depth))
    made.add("http://www.a.test/x/y.html")
    return made


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        (ScopeKind.PREFIX, "http://www.a.test/x/z", "http://www.a.test/z"),
        (ScopeKind.HOST, "http://www.a.test/z", "http://b.a.test/"),
        (ScopeKind.DOMAIN, "http://b.a.test/", "http://b.test/"),
        (ScopeKind.SITE, "http://b.a.test/", "http://b.test/"),
        (None, "http://www.a.test/z", "http://b.a.test/"),  # what the job says: its host
    ],
)
def test_descendants_of_a_seed_stay_within_its_own_scope(scope, inside, outside):
    own = places(scope)
    assert own.hold(Subject(inside, "L"), ScopeKind.HOST)
    assert not own.hold(Subject(outside, "L"), ScopeKind.HOST)


def test_a_seed_may_let_in_anything_or_only_itself():
    assert places(ScopeKind.ANY).hold(Subject("http://else.test/", "L"), ScopeKind.HOST)
    page = places(ScopeKind.PAGE)
    assert not page.hold(Subject("http://www.a.test/x/y.html", "L"), ScopeKind.HOST)
    assert page.hold(Subject("http://www.a.test/x/y.html", is_seed=True), ScopeKind.HOST)


def test_a_seed_may_say_its_depth_alone():
    own = places(None, depth=1)
    assert own.hold(Subject("http://www.a.test/z", "LE"), ScopeKind.HOST)
    assert not own.hold(Subject("http://www.a.test/z", "LL"), ScopeKind.HOST)
    assert not places(ScopeKind.ANY, depth=0).hold(Subject("http://b.test/", "L"), ScopeKind.ANY)


def test_a_seed_that_redirects_widens_what_it_let_in_before():
    own = places(ScopeKind.HOST)
    there = Subject("http://www.b.test/z", "L")
    before = own.hold(there, ScopeKind.HOST)
    own.add("http://www.b.test/")
    assert (before, own.hold(there, ScopeKind.HOST)) == (False, True)
