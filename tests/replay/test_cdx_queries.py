"""Parameters of CDX servers, in both dialects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.replay.cdx_queries import (
    MOST,
    CdxKeys,
    CdxQueryError,
    read_cdx_query,
    read_xml_query,
)
from nacre.replay.cdx_rows import capture_row, json_array, json_objects, text_line
from tests.replay.test_matching import DAY1, line


def query(dialect="pywb", **parameters):
    values = {
        name.rstrip("_"): (value,) for name, value in ({"url": "h.test"} | parameters).items()
    }
    return read_cdx_query(values, dialect)


@pytest.mark.parametrize(
    ("url", "match_type", "keys"),
    [
        ("http://example.com/path/file.html", "", CdxKeys("com,example)/path/file.html")),
        ("example.com/path/*", "", CdxKeys(prefixes=("com,example)/path/",))),
        ("example.com/path*", "", CdxKeys(prefixes=("com,example)/path",))),
        ("http://example.com/path?", "prefix", CdxKeys(prefixes=("com,example)/path?",))),
        ("http://example.com/path/?", "prefix", CdxKeys(prefixes=("com,example)/path?",))),
        ("http://example.com/path/f", "host", CdxKeys(prefixes=("com,example)",))),
        ("*.example.com", "", CdxKeys(prefixes=("com,example)", "com,example,"))),
        ("www.example.com/a", "domain", CdxKeys(prefixes=("com,example)", "com,example,"))),
        ("com", "domain", CdxKeys(prefixes=("com,",))),
        ("http://example.com/a*", "exact", CdxKeys("com,example)/a*")),
        ("urn:some:id", "", CdxKeys("urn:some:id")),
    ],
)
def test_the_keys_of_a_url(url, match_type, keys):
    assert query(url=url, matchType=match_type).keys == keys


def test_the_key_of_a_form():
    parameters = {"url": "http://h.test/?a=1", "method": "POST", "requestBody": "hello=world"}
    keys = query(**parameters).keys
    assert keys.exact == "test,h)/?__wb_method=post&a=1&hello=world"


@pytest.mark.parametrize(
    ("parameters", "start", "end"),
    [
        ({"from_": "2014", "to": "2014"}, "20140101000000", "20141231235959"),
        ({"from_": "20140203"}, "20140203000000", ""),
        ({"to": "201402030405067"}, "", "20140203040506"),
        ({}, "", ""),
    ],
)
def test_times_are_padded(parameters, start, end):
    values = {name.rstrip("_"): (value,) for name, value in parameters.items()}
    result = read_cdx_query({"url": ("h.test",), **values})
    assert (result.start, result.end) == (start, end)


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"url": ""}, "url"),
        ({"matchType": "foo"}, "foo"),
        ({"matchType": "range"}, "range"),
        ({"output": "foo"}, "foo"),
        ({"output": "cdx"}, "cdx"),
        ({"limit": "-1"}, "-1"),
        ({"limit": "x"}, "x"),
        ({"limit": "٣"}, "limit"),
        ({"from": "last year"}, "last year"),
        ({"closest": "x"}, "x"),
        ({"page": "1"}, "page"),
        ({"showNumPages": "true"}, "showNumPages"),
        ({"filter": "~url:("}, "("),
        ({"filter": "~url:(?=a)"}, "(?=a)"),
        ({"filter": "~url:" + "a" * 1001}, "long"),
        ({"collapse": "timestamp:x"}, "collapse"),
        ({"resumeKey": "x"}, "resumeKey"),
    ],
)
def test_bad_parameters(parameters, word):
    with pytest.raises(CdxQueryError) as caught:
        query(**parameters)
    assert word in str(caught.value)


def test_too_many_filters():
    with pytest.raises(CdxQueryError):
        read_cdx_query({"url": ("h.test",), "filter": ["a:b"] * 21})


def test_large_limits_are_cut():
    assert query(limit="999999999999").limit == MOST
    assert query().limit == MOST


ROW = line(DAY1, "http://h.test/a.php?x=1", mime="text/html")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("mime:html", True),
        ("mime:pdf", False),
        ("!mime:pdf", True),
        ("=mime:text/html", True),
        ("=mime:text", False),
        ("!=mime:text/html", False),
        ("~mime:text/.*", True),
        ("~mime:html", False),
        ("!~mime:html", True),
        ("mimetype:html", True),
        ("statuscode:200", True),
        ("=status:200", True),
        ("=status:20", False),
        ("~urlkey:.*a\\.php", True),
        ("original:a.php", True),
        ("blah:200", False),
        ("!blah:200", True),
        ("a.php?x=1 20261101", True),
        ("", True),
    ],
)
def test_filters_of_pywb(text, holds):
    assert query(filter=text).accepts(ROW, capture_row(ROW)) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("mime:text/.*", True),
        ("mime:html", False),
        ("!mime:html", True),
        ("~mime:html", True),
        ("~!mime:html", False),
        ("statuscode:2..", True),
        ("original:.*php.*", True),
    ],
)
def test_filters_of_outbackcdx(text, holds):
    assert query("outbackcdx", filter=text).accepts(ROW, capture_row(ROW)) is holds


def test_an_expression_of_outbackcdx_needs_a_field():
    with pytest.raises(CdxQueryError):
        query("outbackcdx", filter="text/html")


def test_the_formats_of_outbackcdx():
    row = capture_row(ROW._replace(digest="sha1:A", length=0, status=0))
    assert "".join(json_array([row])) == (
        '[["urlkey", "timestamp", "url", "mime", "status", "digest", "redirecturl", "robotflags", '
        '"length", "offset", "filename"],["test,h)/a.php?x=1", 20261101000000, '
        '"http://h.test/a.php?x=1", "text/html", 0, "sha1:A", "-", "-", null, 0, "w.warc"]]'
    )
    assert "".join(json_objects([])) == "[]"
    assert "".join(json_objects([row, row], ("url", "offset"))) == (
        '[{"url": "http://h.test/a.php?x=1", "offset": 0},'
        '{"url": "http://h.test/a.php?x=1", "offset": 0}]'
    )


def test_a_line_of_text_stays_a_line():
    row = capture_row(ROW._replace(url="http://h.test/a b\nc", mime="x\u2028y"))
    assert text_line(row).count("\n") == 1
    assert len(text_line(row).split(" ")) == 11
    assert text_line(row, ("timestamp", "redirect")) == "20261101000000 -\n"


@pytest.mark.parametrize(
    ("q", "more", "limit", "offset"),
    [
        ("type:urlquery url:http%3A%2F%2Fh.test%2F", {}, 10_000, 0),
        ("type:urlquery url:http%3A%2F%2Fh.test%2F limit:2 offset:3", {}, 2, 3),
        ("url:h.test", {"count": ("3",), "start_page": ("2",)}, 3, 3),
        ("url:h.test", {"count": ("3",), "start_page": ("0",)}, 3, 0),
    ],
)
def test_queries_in_xml(q, more, limit, offset):
    result = read_xml_query({"q": (q,), **more})
    assert (result.kind, result.key, result.limit, result.offset) == (
        "urlquery", "test,h)/", limit, offset,
    )  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from(
            ["url", "matchType", "from", "to", "limit", "sort", "closest", "filter", "fl", "output",
             "collapseTime", "collapse", "resumeKey", "q", "method", "requestBody"]
        ),
        st.lists(st.text(max_size=12), max_size=3),
    ),
    st.sampled_from(["pywb", "outbackcdx"]),
)  # fmt: skip
def test_any_parameters_are_read_or_refused(parameters, dialect):
    try:
        result = read_cdx_query(parameters, dialect)
    except CdxQueryError as error:
        text = str(error)
    else:
        text = result.output
    assert text
