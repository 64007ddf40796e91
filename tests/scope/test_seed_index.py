"""Seeds that an index keeps imply the same as those that a scope has in memory."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.kept_seeds import OwnSeeds, SeedPrefixes
from nacre.scope.seed_index import Coercion, coerce_prefix, prefix_host, widen
from nacre.scope.seed_scope import PrefixLookup, ScopeKind, SeedOwnPlaces, SeedOwnScope
from nacre.scope.subject import Subject
from nacre.uri.domain import registered_domain
from nacre.uri.parse import parse
from nacre.uri.surt import SurtPrefixSet, implied_prefix, scope_surt


class ListIndex:
    """An index in memory, divided by registered domain as those of tables are."""

    def __init__(self, seeds: Sequence[str], own: Sequence[tuple[str, str, str, int]] = ()) -> None:
        self._own = own
        self._by_domain: dict[str, list[str]] = {}
        for prefix in sorted(map(implied_prefix, seeds)):
            self._by_domain.setdefault(registered_domain(prefix_host(prefix)), []).append(prefix)

    def _of(self, near: str) -> list[str]:
        return self._by_domain.get(registered_domain(near), [])

    def floor(self, near: str, text: str) -> str | None:
        known = self._of(near)
        at = bisect_right(known, text)
        return known[at - 1] if at else None

    def ceiling(self, near: str, text: str) -> str | None:
        known = self._of(near)
        at = bisect_left(known, text)
        return known[at] if at < len(known) else None

    def prefixes(self) -> Iterator[str]:
        return (one for known in self._by_domain.values() for one in known)

    def is_empty(self) -> bool:
        return not self._by_domain

    def own_places(self, owner: str) -> list[tuple[str, str, int]]:
        return [(text, scope, depth) for name, text, scope, depth in self._own if name == owner]

    def has_own(self) -> bool:
        return bool(self._own)


HOSTS = (
    "example.com", "www.example.com", "a.example.com", "www.a.example.com", "example.co.uk",
    "co.uk", "www.co.uk", "com", "www.com", "github.io", "x.github.io", "y.x.github.io",
    "10.0.0.1", "10.0.0.12", "[::1]", "localhost", "xn--fiqs8s.cn", "例子.中国",
)  # fmt: skip
PATHS = ("", "/", "/a", "/a/", "/a/b", "/a/b/c.html", "/B/?q=/x/", "/%E4%B9%A6/", "/ab/")
seeds = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(("", "http://", "https://")),
    st.sampled_from(HOSTS),
    st.sampled_from(("", ":8080", ":81")),
    st.sampled_from(PATHS),
)
urls = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(("http://", "https://", "ftp://")),
    st.sampled_from(HOSTS),
    st.sampled_from(("", ":8080")),
    st.sampled_from(PATHS),
)


@given(st.lists(seeds, max_size=6), st.lists(urls, min_size=1, max_size=8))
def test_kept_seeds_hold_what_those_in_memory_hold(listed, asked):
    index = ListIndex(listed)
    for coercion in Coercion:
        in_memory = SurtPrefixSet(coerce_prefix(seed, coercion) for seed in listed)
        kept = SeedPrefixes(coercion, (), [index])
        assert bool(kept) == bool(in_memory)
        assert set(SurtPrefixSet(kept)) == set(in_memory)
        one, other = PrefixLookup([in_memory]), PrefixLookup([kept])
        for url in map(parse, asked):
            surt = scope_surt(url)
            assert (kept.match(surt) is not None) == (in_memory.match(surt) is not None), url
            assert other.hold(url) == one.hold(url), (coercion, url)


@pytest.mark.parametrize(
    ("prefix", "host"),
    [
        ("http://(com,example,www,)/a/", "www.example.com"),
        ("http://(com,example,", "example.com"),
        ("http://(com,example,:8080@me)/", "example.com"),
        ("http://(10.0.0.1:81)/", "10.0.0.1"),
        ("http://([::1],:81)/", "[::1]"),
        ("dns:example.com", "example.com"),
    ],
)
def test_a_prefix_names_its_host(prefix, host):
    assert prefix_host(prefix) == host


def test_a_prefix_is_widened_as_its_seed_is():
    for seed in ("http://www.example.com/a/b", "example.com", "http://10.0.0.1:81/"):
        for coercion in Coercion:
            assert widen(implied_prefix(seed), coercion) == coerce_prefix(seed, coercion)


def test_many_public_suffixes_below_a_site_do_not_hide_it():
    listed = [f"http://s{n}.github.io/" for n in range(50)] + ["http://github.io/"]
    kept = SeedPrefixes(Coercion.SITE, (), [ListIndex(listed)])
    assert kept.match(scope_surt("http://other.github.io/")) == "http://(io,github,"
    kept = SeedPrefixes(Coercion.SITE, (), [ListIndex(listed[:50])])
    assert kept.match(scope_surt("http://other.github.io/")) is None
    assert kept.match(scope_surt("http://a.s7.github.io/"))


def test_a_seed_of_an_index_has_its_own_scope_with_where_it_moved():
    text = "http://a.test/"
    own = OwnSeeds()
    assert not own
    own.add_index(ListIndex((), [(text, text, "host", 2), (text, "http://b.test/", "host", 2)]))
    assert own
    assert text in own
    assert "http://b.test/" not in own
    places = own.get(text)
    assert places is not None
    assert places.own == SeedOwnScope(ScopeKind.HOST, 2)
    for url, held in (("http://b.test/x", True), ("http://c.test/", False)):
        assert places.hold(Subject(url, "L"), ScopeKind.PREFIX) is held
    grown = own.setdefault(text, SeedOwnPlaces(SeedOwnScope()))
    grown.add("http://c.test/")
    assert own.get(text) is grown
    assert grown.hold(Subject("http://c.test/", "L"), ScopeKind.PREFIX)
