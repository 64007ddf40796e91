import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import URIError
from nacre.scope.normalize.basic import Basic


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
    assert Basic().normalize(url, "default") == normal


def test_host_names_in_ascii_or_unicode():
    assert Basic(idn="ascii").normalize("http://straße.de./", "") == "http://strasse.de./"
    new = Basic(idn="ascii", idna2008=True, trim_trailing_dot=True)
    assert new.normalize("http://straße.de./", "") == "http://xn--strae-oqa.de/"
    assert Basic(idn="unicode").normalize("http://XN--bcher-KVA.de/", "") == "http://bücher.de/"


def test_a_scheme_for_those_that_have_none():
    basic = Basic(default_scheme="http")
    assert basic.normalize("ex.org/a", "") == "http://ex.org/a"
    assert basic.normalize("ex.org:81/a", "") == "http://ex.org:81/a"
    assert basic.normalize("https://ex.org", "") == "https://ex.org/"


@pytest.mark.parametrize(
    "url", ["not a url", "http://a%2Xb/", "http://%FF/", "http://a%2fb/", "news://x/"]
)
def test_what_has_no_form(url):
    with pytest.raises(URIError):
        Basic().normalize(url, "default")


@given(st.from_regex(r"https?://[a-z]{1,5}(:80)?(/[a-z%A-F0-9./é \[?&=#-]{0,20})?", fullmatch=True))
def test_a_second_go_changes_nothing(url):
    once = Basic().normalize(url, "default")
    assert Basic().normalize(once, "default") == once
