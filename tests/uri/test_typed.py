"""What people type at a command, as URLs."""

import pytest

from nacre.errors import URIError
from nacre.uri.typed import AmbiguousUrlError, is_host_text, typed_url

ONE = ("http://www.a.org/",)
TWO = ("http://www.a.org/", "https://b.org/docs/index.html")


def typed(text: str, seeds: tuple[str, ...] = ONE, *known: str) -> str:
    return typed_url(text, lambda: seeds, frozenset(known).__contains__)


@pytest.mark.parametrize(
    ("text", "is_host"),
    [
        ("example.org", True),
        ("example.org/TLS_README.html", True),
        ("例子.中国", True),
        ("a.test", True),
        ("localhost", True),
        ("intranet:8080/x", True),
        ("127.0.0.1/x", True),
        ("[::1]/x", True),
        ("TLS_README.html", False),
        ("docs/index.html", False),
        ("/robots.txt", False),
        ("?page=2", False),
        ("README", False),
        ("a b", False),
    ],
)
def test_hosts_are_told_from_paths(text, is_host):
    assert is_host_text(text) is is_host


@pytest.mark.parametrize(
    ("text", "known", "url"),
    [
        ("http://x.test/y", (), "http://x.test/y"),
        ("example.org", (), "https://example.org/"),
        ("example.org", ("http://example.org/",), "http://example.org/"),
        ("TLS_README.html", (), "http://www.a.org/TLS_README.html"),
        ("TLS_README.html", ("http://www.a.org/TLS_README.html",), None),
        ("README.md", ("http://www.a.org/README.md",), None),
        ("README.md", (), "https://readme.md/"),
        ("/x?y=1", (), "http://www.a.org/x?y=1"),
        ("?y=1", (), "http://www.a.org/?y=1"),
        ("docs/关于.html", (), "http://www.a.org/docs/%E5%85%B3%E4%BA%8E.html"),
        ("www.a.org/x", (), "https://www.a.org/x"),
    ],
)
def test_on_one_site(text, known, url):
    assert typed(text, ONE, *known) == (url or known[0])


def test_what_is_known_of_one_of_several_sites_is_meant():
    assert typed("x.html", TWO, "https://b.org/x.html") == "https://b.org/x.html"
    assert typed("x.html", TWO, "https://b.org/docs/x.html") == "https://b.org/docs/x.html"


def test_what_may_be_on_several_sites_is_listed():
    both = ("http://www.a.org/x.html", "https://b.org/x.html")
    for known in (both, ()):
        with pytest.raises(AmbiguousUrlError) as error:
            typed("x.html", TWO, *known)
        assert error.value.urls == both
        assert all(url in str(error.value) for url in both)


def test_the_schemes_of_a_host_are_no_difference():
    seeds = ("http://a.org/", "https://a.org/")
    assert typed("x.html", seeds) == "https://a.org/x.html"
    assert typed("x.html", seeds, "http://a.org/x.html") == "http://a.org/x.html"


def test_a_host_of_a_seed_stays_a_host():
    assert typed("intranet/x", ("http://intranet/",)) == "https://intranet/x"
    assert typed("README", ()) == "https://readme/"


def test_what_is_no_url():
    with pytest.raises(URIError):
        typed("http://", ONE)
    with pytest.raises(URIError):
        typed("/x", ())


def test_many_sites_are_cut():
    with pytest.raises(AmbiguousUrlError, match="and 80 more"):
        typed("x.html", tuple(f"http://h{number}.org/" for number in range(100)))
