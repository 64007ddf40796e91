import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import URIError
from nacre.scope.normalize.basic import (
    AjaxNormalizer,
    BasicNormalizer,
    QueryNormalizer,
    QuerystringNormalizer,
)


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        (" HTTP://User:pw@Ex.ORG:80/%7ea/./b//../%2f?a=[x y]#r ", "http://ex.org/~a/%2F?a=%5Bx%20y%5D"),
        ("ftp://u@h:21/a//b", "ftp://u@h/a/b"),
        ("http://h/a/../b\\%63", "http://h/a/../b\\c"),
        ("http://h", "http://h/"),
        ("Mailto:A@b", "mailto:A@b"),
        ("FILE:///A", "file:/A"),
        ("HTTP:///A", "http:/A"),
        ("http://h?q", "http://h/?q"),
        ("http://h/?", "http://h/?"),
        ("http://[2001:DB8::1]:80/A", "http://[2001:db8::1]/A"),
        ("http://h/50%", "http://h/50%25"),
        ("http://h/..;/x", "http://h/..;/x"),
        ("http://h/a/b/..", "http://h/a/"),
        ("http://h/ä", "http://h/%C3%A4"),
        ("http://b%C3%BCcher.de/", "http://bücher.de/"),
        ("http:", "http:/"),
        ("http:////", "http:/"),
        ("http:///x", "http:///x"),
        ("file:/a/./b//c", "file:/a/b/c"),
        ("mailto:a@b", "mailto:a@b"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_usual_form(url, normal):
    assert BasicNormalizer().normalize(url, "default") == normal


def test_host_names_in_ascii_or_unicode():
    assert BasicNormalizer(idn="ascii").normalize("http://straße.de./", "") == "http://strasse.de./"
    new = BasicNormalizer(idn="ascii", idna2008=True, trim_trailing_dot=True)
    assert new.normalize("http://straße.de./", "") == "http://xn--strae-oqa.de/"
    assert (
        BasicNormalizer(idn="unicode").normalize("http://XN--bcher-KVA.de/", "")
        == "http://bücher.de/"
    )


def test_a_scheme_for_those_that_have_none():
    basic = BasicNormalizer(default_scheme="http")
    assert basic.normalize("ex.org/a", "") == "http://ex.org/a"
    assert basic.normalize("ex.org:81/a", "") == "http://ex.org:81/a"
    assert basic.normalize("https://ex.org", "") == "https://ex.org/"


@pytest.mark.parametrize(
    "url", ["not a url", "http://a%2Xb/", "http://%FF/", "http://a%2fb/", "news://x/"]
)
def test_what_has_no_form(url):
    with pytest.raises(URIError):
        BasicNormalizer().normalize(url, "default")


@given(st.from_regex(r"https?://[a-z]{1,5}(:80)?(/[a-z%A-F0-9./é \[?&=#-]{0,20})?", fullmatch=True))
def test_a_second_go_changes_nothing(url):
    once = BasicNormalizer().normalize(url, "default")
    assert BasicNormalizer().normalize(once, "default") == once


@pytest.mark.parametrize(
    ("normalizer", "url", "scope", "normal"),
    [
        (QuerystringNormalizer(), "http://u@h:1/?c=d&a=b&a=a&#r", "default", "http://u@h:1/?a=a&a=b&c=d#r"),
        (QuerystringNormalizer(), "http://h/#x?b&a", "default", "http://h/#x?b&a"),
        (QueryNormalizer(), "http://h/?&b=&=1&a=1#r", "default", "http://h/?a=1&b#r"),
        (QueryNormalizer(), "http://h/?&", "default", "http://h/"),
        (QueryNormalizer(), "http://h/?b=1&a=2&a=1&a", "default", "http://h/?a=2&a=1&a&b=1"),
        (AjaxNormalizer(), "http://h/#!k=v&x=é y", "default", "http://h/?_escaped_fragment_=k=v%26x=%C3%A9%20y"),
        (AjaxNormalizer(), "http://h/?a#!k", "default", "http://h/?a&_escaped_fragment_=k"),
        (AjaxNormalizer(), "http://h/#r", "default", "http://h/#r"),
        (AjaxNormalizer(), "http://h/?a&_escaped_fragment_=k%26l", "indexer", "http://h/?a#!k&l"),
        (AjaxNormalizer(), "http://h/#!k", "indexer", "http://h/#!k"),
    ],
)  # fmt: skip
def test_queries(normalizer, url, scope, normal):
    assert normalizer.normalize(url, scope) == normal


@given(st.text(max_size=20))
def test_fragments_come_back(fragment):
    there = AjaxNormalizer().normalize(f"http://h/#!{fragment}", "default")
    assert there.isascii()
    assert AjaxNormalizer().normalize(there, "indexer") == f"http://h/#!{fragment}"
