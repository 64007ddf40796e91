import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.rules.expression import ExpressionError, parse_expression
from nacre.scope.state import ScopeState
from nacre.scope.subject import Facts, Subject

PAGE = Subject(
    "https://www.a.co.uk:8443/x/y.html?q=1&r=2",
    "LLE",
    "http://b.test/from",
    "img/@src",
    source="s",
    facts=Facts(status=404, content_type="Text/HTML; charset=x", header_length=10),
)


def holds(text: str, subject: Subject = PAGE) -> bool:
    return parse_expression(text).build(ScopeState())(subject)


@pytest.mark.parametrize(
    "text",
    [
        "scheme == 'https' and host == 'www.a.co.uk' and domain == \"a.co.uk\" and port == 8443",
        "path == '/x/y.html' and query contains 'r=2' and path_depth == 2 and url_length > 20",
        "hops == 'LLE' and hop_count == 3 and link_hops == 2 and last_hop in ['E', 'I']",
        "via startswith ['http:', 'https:'] and via_host endswith '.test' and via_domain != domain",
        r"url matches '.*\.html\?.*' and not url matches 'html' and url finds 'html'",
        "status in [404, 410] and media_type == 'text/html' and header_length <= 10",
        "not is_seed and (source == 't' or source == 's')",
        "host not in ['x', 'y',] and path not startswith '/z'",
        "surt startswith 'http://(uk,co,a,' and queue == 'uk,co,a,www,#8443'",
        "true and not false and is_seed == false",
        r"query matches ['q=1&.*', 'x'] and context finds '^img\/'",
        r"'it\'s' == \"it's\"".replace(r"\"", '"'),
        "length == 0 or length != 0 or ip == '' or not length > 3",
    ],
)
def test_what_is_true_of_a_page(text: str):
    assert holds(text)


@pytest.mark.parametrize("text", ["length > 3", "length <= 3", "ip != 'x'", "seed == ''"])
def test_what_is_not_known_compares_with_nothing(text: str):
    assert not holds(text)


@pytest.mark.parametrize(
    ("text", "words", "position"),
    [
        ("", "no expression", 0),
        ("host", "a comparison is missing", 0),
        ("hots == 'a'", "did you mean `host`", 0),
        ("host = 'a'", "write `==`", 5),
        ("host == 'a", "closing quote", 8),
        ("host == 3", "text cannot be compared with a number", 8),
        ("status in ['a']", "list of numbers", 10),
        ("host matches path", "in quotes", 13),
        ("host matches '('", "not a regular expression", 13),
        ("host == 'a' host", "not expected", 12),
        ("(host == 'a'", r"`\)` is missing", 12),
        ("host in ['a' 'b']", "`,` or `]`", 13),
        ("host in ['a', 3]", "texts or numbers", 8),
        ("host in ['a', path]", "not attributes", 8),
        ("is_seed < true", "compares texts or numbers", 10),
        ("host == 'a' && true", "write `and`", 12),
        ("not 'a'", "a comparison is missing", 4),
        ("host not == 'a'", "behind `not`", 9),
        ("and", "is missing", 0),
        ("(" * 60 + "true" + ")" * 60, "brackets within", 51),
        ("not " * 60 + "true", "brackets within", 204),
        ("__import__('os')", "no attribute", 0),
    ],
)
def test_errors_name_the_place(text: str, words: str, position: int):
    with pytest.raises(ExpressionError, match=words) as caught:
        parse_expression(text)
    assert caught.value.position == position


@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused(text: str):
    try:
        test = parse_expression(text).build(ScopeState())
    except ExpressionError:
        return
    assert test(PAGE) in (True, False)
