import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.uri.canonical import (
    DEFAULT,
    HERITRIX,
    RULES,
    Canonicalizer,
    Regex,
    SortQuery,
    StripExtraSlashes,
    host_hash,
    rule,
    seen_key,
)

ID = "0123456789abcdefghijklemopqrstuv"
ASP = "ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX"


@pytest.mark.parametrize(
    ("name", "url", "after"),
    [
        ("StripUserinfo", "http://u:p@a.b/c@d", "http://a.b/c@d"),
        ("StripUserinfo", "ftp://u@v@a.b/", "ftp://a.b/"),
        ("StripUserinfo", "whois://u@a.b/", "whois://u@a.b/"),
        ("StripUserinfo", "http://a.b/?u@c", "http://a.b/?u@c"),
        ("StripSessionIDs", f"http://a/x?jsessionid={ID}", "http://a/x?"),
        ("StripSessionIDs", f"http://a/x;jsessionid={ID}", "http://a/x;"),
        ("StripSessionIDs", f"http://a/x;jsessionid={ID}?y", f"http://a/x;jsessionid={ID}?y"),
        ("StripSessionIDs", f"http://a/x?PHPSESSID={ID}&y=1", "http://a/x?y=1"),
        ("StripSessionIDs", f"http://a/x?y&sid={ID}&z", "http://a/x?y&z"),
        ("StripSessionIDs", f"http://a/x?sid={ID}0", f"http://a/x?sid={ID}0"),
        ("StripSessionIDs", f"http://a/x?{ASP}&y", "http://a/x?y"),
        ("StripSessionIDs", "http://a/x?sid=1", "http://a/x?sid=1"),
        ("StripSessionCFIDs", "http://a/x?CFID=1&CFTOKEN=2&y", "http://a/x?y"),
        ("StripSessionCFIDs", "http://a/x?y&cfid=1&cftoken=2", "http://a/x?y&"),
        ("StripSessionCFIDs", "http://a/x?cfid=&cftoken=2", "http://a/x?cfid=&cftoken=2"),
        ("StripSessionCFIDs", "http://a/x?cfid=1&y&cftoken=2", "http://a/x?cfid=1&y&cftoken=2"),
        ("StripSessionCFIDs", "http://a/x?cfid=1&cftoken=", "http://a/x?cfid=1&cftoken="),
        ("FixupQueryString", "http://a/x?", "http://a/x"),
        ("FixupQueryString", "http://a/x?&", "http://a/x"),
        ("FixupQueryString", "http://a/x?&y&", "http://a/x?y"),
        ("FixupQueryString", "http://a/x??&?", "http://a/x"),
        ("FixupQueryString", "http://a/x?y&&z", "http://a/x?y&&z"),
        ("Lowercase", "http://a/X?Y", "http://a/x?y"),
        ("StripWWWN", "https://www12.a.b/c", "https://a.b/c"),
        ("StripWWWN", "http://www.a.b/", "http://www.a.b/"),
        ("StripWWWN", "http://www.www2.a.b/c", "http://www2.a.b/c"),
        ("StripWWWN", "ftp://www.a.b/c", "ftp://www.a.b/c"),
        ("StripWWW", "http://www.a.b/?c", "http://a.b/?c"),
        ("StripWWW", "http://www2.a.b/c", "http://www2.a.b/c"),
        ("StripExtraSlashes", "http://a//b///c?d=//e", "http://a/b/c?d=/e"),
        ("StripExtraSlashes", "https://a/b", "https://a/b"),
        ("StripExtraSlashes", "ftp://a//b", "ftp://a//b"),
        ("SortQuery", "http://a/x?b=2&a&b=1", "http://a/x?a&b=1&b=2"),
        ("SortQuery", "http://a/b&a", "http://a/b&a"),
    ],
)
def test_rules(name, url, after):
    assert rule(name).apply(url) == after


NAMES = sorted(set(RULES) - {"Regex"})
URLS = st.lists(
    st.sampled_from(
        [
            *("http://", "https://www.", "www1.", "u@", "a.b", "/", "//", "?", "&", "X=", "=", ";"),
            *(f"sid={ID}", f"jsessionid={ID}", ASP, "cfid=1", "cftoken=2", "\n"),
        ]
    ),
    max_size=14,
).map("".join)


@given(st.sampled_from(NAMES), URLS)
def test_a_rule_only_acts_where_its_marks_are(name, url):
    one = rule(name)
    if one.marks and one.marks not in url:
        assert one.apply(url) == url


@given(URLS)
def test_rules_that_are_fixed_points_by_themselves(url):
    for name in (
        "StripUserinfo",
        "FixupQueryString",
        "Lowercase",
        "StripExtraSlashes",
        "SortQuery",
    ):
        once = rule(name).apply(url)
        assert rule(name).apply(once) == once, name


@pytest.mark.parametrize(
    ("expression", "template", "url", "after"),
    [
        ("(.*)", "$1", "http://a/", "http://a/"),
        (r"(http://)m\.(.*)", "${1}www.$2", "http://m.a.b/c", "http://www.a.b/c"),
        (r"http://a/(x)?(y)?", "$1-$2", "http://a/y", "-y"),
        (r"http://a/(x)", r"\$1\\", "http://a/x", "$1\\"),
        (r"http://a/", "z", "http://a/b", "http://a/b"),
        (r"(.*)\?(.)\2", "$1", "http://a/?xx", "http://a/"),
        (r"(.*)(?=/)/", "$1", "http://a/", "http://a"),
    ],
)
def test_rewriting(expression, template, url, after):
    assert Regex(expression, template).apply(url) == after


@pytest.mark.parametrize(
    ("expression", "template"), [("(", ""), ("a", "$1"), ("(a)", "$2"), (r"(a)\1", "${2}")]
)
def test_what_cannot_work_is_refused_at_once(expression, template):
    with pytest.raises(ConfigError):
        Regex(expression, template)


def test_an_expression_that_never_ends_counts_as_no_match():
    url = "http://a/" + "x" * 60 + "!"
    assert Regex(r"http://a/((x|x)+)+\2y", "$1").apply(url) == url


def test_equal_settings_are_equal_rules():
    assert Regex("(.*)a", "$1") == Regex("(.*)a", "$1")
    assert Regex("(.*)a", "$1") != Regex("(.*)b", "$1")
    assert hash(Regex("(.*)a", "$1")) == hash(Regex("(.*)a", "$1"))


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
