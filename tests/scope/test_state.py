import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import URIError
from nacre.scope.state import Coercion, ScopeState, coerced
from nacre.uri.surt import scope_surt

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
    assert tuple(coerced(seed, coercion) for coercion in Coercion) == prefixes


HOSTS = st.sampled_from(
    ["example.com", "www.example.com", "a.b.example.co.uk", "10.1.2.3", "[::1]", "localhost"]
)


@given(HOSTS, st.sampled_from(["", ":8080"]), st.sampled_from(["", "/", "/a", "/a/b?c/d"]))
def test_a_seed_is_in_its_own_scope_and_each_coercion_is_wider(name, port, rest):
    seed = f"http://{name}{port}{rest}"
    own = scope_surt(f"http://{name}{port}{rest or '/'}")
    prefixes = [coerced(seed, coercion) for coercion in (HOST, DOMAIN, SITE)]
    assert all(own.startswith(prefix) for prefix in (coerced(seed, PREFIX), *prefixes))
    assert prefixes[1].startswith(prefixes[2])
    assert not scope_surt(f"http://{name}x/").startswith(prefixes[0])


def test_an_address_has_no_neighbours():
    for coercion in Coercion:
        assert not scope_surt("http://10.0.0.12/").startswith(coerced("http://10.0.0.1", coercion))


def test_what_is_no_seed():
    with pytest.raises(URIError):
        coerced("http://", PREFIX)


def test_sets_are_live():
    state = ScopeState()
    told = []
    state.add_seed("http://a.test/")
    seeds = state.seed_prefixes(HOST)
    state.watch(lambda: told.append(len(seeds)))
    state.add_seed("http://b.test/")
    assert told == [2]
    assert seeds is state.seed_prefixes(HOST)
    assert state.seeds == ("http://a.test/", "http://b.test/")


def test_directives():
    state = ScopeState()
    state.add_directives(["+http://a.test/x", "-http://(test,b,)/", "", "+", "# -c", "a.test"])
    assert list(state.directives(accept=True)) == ["http://(test,a,)/"]
    assert list(state.directives(accept=False)) == ["http://(test,b,)/"]
    with pytest.raises(URIError):
        state.add_directives(["+http://"])


def test_time_outs_are_added_up():
    state = ScopeState()
    state.counts += [lambda: 2, lambda: 3]
    assert state.timeouts() == 5
