"""What a signature covers: the components of RFC 9421, with the RFC's own examples."""

import pytest

from nacre.wire.signature_base import HttpMessage, SignatureError, signature_base
from nacre.wire.structured_fields import InnerList, parse_list

REQUEST = HttpMessage(
    [
        ("Date", "Tue, 20 Apr 2021 02:07:56 GMT"),
        ("X-OWS-Header", "  Leading and trailing whitespace.  "),
        ("X-Obs-Fold-Header", "Obsolete\r\n    line folding."),
        ("Cache-Control", "max-age=60"),
        ("Cache-Control", "   must-revalidate"),
        ("Example-Dict", "  a=1,    b=2;x=1;y=2,   c=(a   b   c), d"),
        ("Example-Header", "value, with, lots"),
        ("Example-Header", "of, commas"),
    ],
    "POST",
    "https",
    "WWW.Example.com:443",
    "/path?param=value&foo=bar&baz=batman&qux=&a%20b=%E4%B8%AD",
)


@pytest.mark.parametrize(
    ("component", "value"),
    [
        ('"@method"', "POST"),
        ('"@target-uri"', f"https://www.example.com{REQUEST.target}"),
        ('"@authority"', "www.example.com"),
        ('"@scheme"', "https"),
        ('"@request-target"', REQUEST.target),
        ('"@path"', "/path"),
        ('"@query"', "?" + REQUEST.target.partition("?")[2]),
        ('"@query-param";name="baz"', "batman"),
        ('"@query-param";name="qux"', ""),
        ('"@query-param";name="a%20b"', "%E4%B8%AD"),
        ('"date"', "Tue, 20 Apr 2021 02:07:56 GMT"),
        ('"x-ows-header"', "Leading and trailing whitespace."),
        ('"x-obs-fold-header"', "Obsolete line folding."),
        ('"cache-control"', "max-age=60, must-revalidate"),
        ('"example-dict"', "a=1,    b=2;x=1;y=2,   c=(a   b   c), d"),
        ('"example-dict";sf', "a=1, b=2;x=1;y=2, c=(a b c), d"),
        ('"example-dict";key="a"', "1"),
        ('"example-dict";key="d"', "?1"),
        ('"example-dict";key="b"', "2;x=1;y=2"),
        ('"example-dict";key="c"', "(a b c)"),
        ('"example-header";bs', ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:"),
    ],
)
def test_a_component(component: str, value: str):
    (covered,) = parse_list(f"({component});created=1")
    assert isinstance(covered, InnerList)
    lines = [f"{component}: {value}", f'"@signature-params": ({component});created=1']
    assert signature_base(covered, REQUEST) == "\n".join(lines)


@pytest.mark.parametrize(("target", "path", "query"), [("/", "/", "?"), ("/a?", "/a", "?")])
def test_empty_paths_and_queries(target: str, path: str, query: str):
    (covered,) = parse_list('("@path" "@query")')
    assert isinstance(covered, InnerList)
    request = HttpMessage([], "GET", "http", "h.test:8080", target)
    assert signature_base(covered, request).split("\n")[:2] == [
        f'"@path": {path}',
        f'"@query": {query}',
    ]


@pytest.mark.parametrize(
    "components",
    [
        *('"missing"', '"@unknown"', '"@status"', '"Date"', '"date" "date"', '"date";tr'),
        *('"date";req', '"example-dict";key="z"', '"date";key="a"', '"x-ows-header";sf'),
        *('"@query-param";name="none"', "date;key=1 1", "?1"),
    ],
)
def test_what_cannot_be_covered(components: str):
    (covered,) = parse_list(f"({components})")
    assert isinstance(covered, InnerList)
    with pytest.raises(SignatureError):
        signature_base(covered, REQUEST)


def test_a_response_covers_its_request():
    (covered,) = parse_list('("@status" "@authority";req)')
    assert isinstance(covered, InnerList)
    response = HttpMessage([], status=200)
    lines = signature_base(covered, response, REQUEST).split("\n")
    assert lines[:2] == ['"@status": 200', '"@authority";req: www.example.com']
    (other,) = parse_list('("@authority")')
    assert isinstance(other, InnerList)
    with pytest.raises(SignatureError, match="no @authority"):
        signature_base(other, response, REQUEST)


def test_a_value_cannot_add_a_line():
    (covered,) = parse_list('("@path")')
    assert isinstance(covered, InnerList)
    with pytest.raises(SignatureError, match="line end"):
        signature_base(covered, REQUEST._replace(target='/\n"@method": GET'))
