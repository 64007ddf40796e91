import re

import pytest

from nacre.errors import URIError
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.scope.seeds import (
    BadSeed,
    Seed,
    SeedDirective,
    parse_seed,
    read_seeds,
    seed_as_line,
)


def test_a_list_with_comments_directives_and_a_bad_line():
    text = (
        "# seeds\nhttp://a.test/x # why\n\n+http://(test,b,\n-http://a.test/private/\nhttp://[::1\n"
    )
    seed, plus, minus, bad = read_seeds(text.splitlines())
    assert seed == Seed("http://a.test/x", "http://a.test/x")
    assert (plus, minus) == (
        SeedDirective("+http://(test,b,"),
        SeedDirective("-http://a.test/private/"),
    )
    assert isinstance(bad, BadSeed)
    assert bad[:2] == (6, "http://[::1")


@pytest.mark.parametrize(
    ("text", "url", "fallback"),
    [
        ("example.test", "https://example.test/", "http://example.test/"),
        ("127.0.0.1:8080/a", "https://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"),
        ("例え。test", "https://xn--r8jz45g.test/", "http://xn--r8jz45g.test/"),
        ("HTTP://Example.test", "http://example.test/", ""),
        (
            "example.test/?u=http://b.test/",
            "https://example.test/?u=http://b.test/",
            "http://example.test/?u=http://b.test/",
        ),
    ],
)
def test_a_seed_without_scheme_tries_https_first(text: str, url: str, fallback: str):
    seed = parse_seed(text)
    assert (seed.text, seed.url, seed.fallback) == (text, url, fallback)


@pytest.mark.parametrize(
    "text", ["http//a.test/", "HTTP:/a.test/", "http:\\\\a.test/", "http/a.test/"]
)
def test_a_scheme_that_lacks_a_character_is_no_host(text: str):
    with pytest.raises(URIError, match=re.escape("did you mean 'http://a.test/'?")):
        parse_seed(text)


@pytest.mark.parametrize(
    "text",
    ["http://", "htp:/a.test", "mailto:a@b.test", "file:///etc/hosts", "看去年的表", "旧/a.b"],
)
def test_what_is_no_seed(text: str):
    with pytest.raises(URIError):
        parse_seed(text)


def test_a_mark_at_the_start_of_a_file_is_no_part_of_a_seed():
    assert list(read_seeds(["\ufeffhttp://a.test/"])) == [Seed("http://a.test/", "http://a.test/")]


@pytest.mark.parametrize(
    "line",
    [
        "http://a.example/p\tnutch.score=2",
        "http://a.example/p\t图书馆 2026",
        "http://a.example/p \tnutch.fetchInterval=60\tscope=host",
        "http://a.example/p\tscope=host\tlang=zh",
        "http://a.example/p\tlang=zh",
    ],
)
def test_what_stands_behind_a_tab_is_no_part_of_the_url(line):
    [seed] = read_seeds([line])
    assert isinstance(seed, Seed)
    assert (seed.url, seed.text) == ("http://a.example/p", "http://a.example/p")
    assert (seed.own is not None) == ("scope" in line)


def test_a_seed_that_shares_the_scope_of_another_is_read_as_it_is_written():
    own = SeedOwnScope(ScopeKind.PREFIX, 3)
    for of in ("http://a.example/书 馆#%20x", "a.example", "http://h.example/?a=b&c=%E4%B9%A6"):
        moved = Seed("http://b.example/", "http://b.example/", own=own, of=of)
        assert parse_seed(seed_as_line(moved)) == moved
        assert list(read_seeds([seed_as_line(moved)])) == [moved]
        assert moved.owner == of
    assert parse_seed("http://b.example/ scope=host").owner == "http://b.example/"
    assert parse_seed("http://b.example/").owner == ""


@pytest.mark.parametrize(
    "line",
    [
        "mailto:editor@example.org",
        "MAILTO:editor@example.org?subject=x scope=host",
        "mailto:editor",
        "tel:+431234",
        "sip:a@example.org",
        "javascript:open('http://example.org/')",
        "file:///etc/passwd",
        "urn:isbn:1",
    ],
)
def test_addresses_that_are_no_pages_are_refused_by_name(line):
    (found,) = read_seeds([line])
    assert isinstance(found, BadSeed)
    assert found.text == line
    assert f"`{line.partition(':')[0].lower()}:`" in found.reason


def test_a_line_whose_login_was_removed_is_no_seed():
    (found,) = read_seeds(["***@example.org"])
    assert isinstance(found, BadSeed)
