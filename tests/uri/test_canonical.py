import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.uri.canonical import DEFAULT, HERITRIX, RULES, Canonicalizer, host_hash, rule, seen_key
from nacre.uri.rewrite import Regex
from nacre.uri.rules import SortQuery, StripExtraSlashes
from tests.uri.test_rules import ID, URLS

ALL = (*HERITRIX, StripExtraSlashes(), SortQuery())


def test_the_default_merges_only_what_identifies_a_visitor():
    canonical = Canonicalizer().canonical
    assert canonical(f"http://u@Www.a/X?&sid={ID}&") == "http://Www.a/X"
    assert canonical("http://www.a/x") != canonical("http://a/x")
    assert canonical("http://a/X") != canonical("http://a/x")


def test_the_stock_list_of_heritrix():
    canonical = Canonicalizer(HERITRIX).canonical
    assert canonical(f"https://u@WWW2.a.B/X?jsessionid={ID}") == "https://a.b/x"
    assert canonical("http://www.a.b/") == "http://www.a.b/"
    assert canonical("http://www.www2.a.b/c") == "http://a.b/c"


def test_a_url_without_marks_is_not_touched():
    url = "http://www.example.com/a/b.html"
    assert Canonicalizer().canonical(url) is url


@given(st.sampled_from([DEFAULT, HERITRIX, ALL]), URLS)
@example(DEFAULT, f"http://a/?sid={ID}&sid={ID}&?&&")
@example(DEFAULT, "http://a/?cfid=1&cfid=1&cftoken=2&cftoken=2")
def test_a_canonical_form_is_a_fixed_point(rules, url):
    canonical = Canonicalizer(rules).canonical
    once = canonical(url)
    assert canonical(once) == once


def test_a_rule_that_never_rests_ends():
    endless = Canonicalizer([Regex("(.*)", "$1x")])
    assert endless.canonical("a") == "a" + "x" * 64


def test_rules_by_name():
    assert rule("LowercaseRule") == rule("Lowercase")
    assert rule("RegexRule", regex="(.)a", format="$1").apply("ba") == "b"
    assert {type(rule(name)).__name__ for name in RULES} == set(RULES)
    with pytest.raises(ConfigError, match="no canonicalisation rule 'Nope'"):
        rule("Nope")
    with pytest.raises(ConfigError, match="does not take regex"):
        rule("Lowercase", regex="x")


def test_seen_keys():
    key = seen_key("http://example.com:8080/a")
    assert len(key) == 16
    assert key[:4] == host_hash("example.com:8080")
    assert seen_key("https://example.com:8080/a")[:4] == key[:4]
    assert seen_key("http://u@example.com:8080/a")[:4] == key[:4]
    assert seen_key("dns:example.com")[:4] == host_hash("example.com")
    urls = ("http://a/", "https://a/", "http://a/x", "http://A/", "dns:a", "", "\ud800")
    assert len({seen_key(url)[4:] for url in urls}) == len(urls)


def test_keys_never_change_between_versions():
    assert seen_key("http://example.com/").hex() == "4264a51bfc5a582c3a6c692e40c955f4"
