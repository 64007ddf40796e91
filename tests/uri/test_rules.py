import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.uri.canonical import RULES, rule

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
