import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.json_feed import extract_json
from nacre.extract.links import LinkCollector
from nacre.extract.script import (
    extract_script,
    json_urls,
    script_imports,
    script_urls,
    unescape_js,
)
from nacre.extract.settings import ExtractSettings


@pytest.mark.parametrize(
    ("source", "urls"),
    [
        ("var a = '/a.html', b = \"/b.html\", c = `/c.html`;", ["/a.html", "/b.html", "/c.html"]),
        (r'"https:\/\/example.com\/a"', ["https://example.com/a"]),
        (r'"\x2fa\u002fb.html" "\u{2f}c"', ["/a/b.html", "/c"]),
        (r"\u0027x.html?a=1\u0027 \u0022y.html\u0022", ["x.html?a=1", "y.html"]),
        (r"x=\"/a.html\", y=\\\'/b.html\\\'", ["/a.html", "/b.html"]),
        ('\'<a href="/a.html"><img src="pic.png">\'', ["/a.html", "pic.png"]),
        (r"""'{"u":"http:\\/\\/example.com\\/a"}'""", ["http://example.com/a"]),
        ("'www.example.com'", ["www.example.com"]),
        ("// don't stop\n'/a.html'", ["/a.html"]),
        ("/* it's '/no.html' */ '/a.html'", ["/a.html"]),
        ("<!-- don't\n'/a.html'", ["/a.html"]),
        ("x=/['\"]/g;y='/a.html'", ["/a.html"]),
        ("return/'/.test(x)?'/a.html':1", ["/a.html"]),
        (r"x.replace(/\/[/'\]]/,'/a.html')", ["/a.html"]),
        ("a=b/c;d='/a.html'/2;e=(f)/g;h='/b.html'", ["/a.html", "/b.html"]),
        ("it's broken\nx='/a.html'", ["/a.html"]),
        ('it\'s broken x="/a.html"', ["/a.html"]),
        ("`/a/${b}`,'/c.html'", ["/c.html"]),
        ("`x${ {a:'/in.html'}[`k${1}`] }y`,'/c.html'", ["/in.html", "/c.html"]),
        ("`$x/a.html`", []),
        ("`\n/a.html\n`", ["/a.html"]),
        ("'a\\\nb/c.html'", ["ab/c.html"]),
        ("'/a.html''/a.html'", ["/a.html"]),
        ("'" + "a/" * 1500 + "'", []),
        ("var x = 'hello', y = 1 / 2;", []),
        ("", []),
        ("\\", []),
        ("`", []),
        ("`${", []),
        ("'", []),
    ],
)
def test_script_urls(source, urls):
    assert script_urls(source) == urls


def test_unescape_joins_surrogates_and_drops_lone_ones():
    assert unescape_js(r"\ud83d\ude00\n\q\u{110000}") == "\U0001f600\nq\ufffd"
    assert unescape_js(r"a\ud800b") == "a\ufffdb"
    assert unescape_js("a\\") == "a"


def test_imports():
    source = (
        "import a from './a.js';import\"/b.js\";export*from'../c.js';import('https://x.test/d');"
    )
    assert script_imports(source) == ["./a.js", "/b.js", "../c.js", "https://x.test/d"]
    assert script_imports("import React from 'react'") == []


def test_strings_resolve_against_the_page_and_imports_against_the_script():
    body = b"import './m.js'; load('page2.html'); load('www.example.com')"
    document = Document("http://a.test/js/x.js", body=body, via="https://b.test/dir/page.html")
    links = LinkCollector(document, ExtractSettings())
    extract_script(document, links)
    assert [(o.url, o.hop, o.context) for o in links.outlinks] == [
        ("http://a.test/js/m.js", Hop.EMBED, "=JS_IMPORT"),
        ("https://b.test/dir/page2.html", Hop.SPECULATIVE, "=JS_MISC"),
        ("http://www.example.com/", Hop.SPECULATIVE, "=JS_MISC"),
    ]
    assert links.base == "http://a.test/js/x.js"


_PIECES = [
    *("'", '"', "`", "${", "{", "}", "\\", "/", "//", "/*", "*/", "[", "]", "\n", "(", "a.b", "="),
    *("<!--", "\\u0027", "\\'", "=/["),
]
_LONGER = [
    *("\\\\'a.b", "'\\\"", '"\\', "\\u0022a.", "=/[/", "`${", "`${`", "'a.b\"", "</"),
    "\\'\\\\'",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=60).map("".join))
def test_no_nonsense_raises(source):
    assert all(isinstance(url, str) for url in script_urls(source))
    assert script_urls("'/first.html'\n" + source)[:1] == ["/first.html"]


@pytest.mark.parametrize("piece", [*_PIECES, *_LONGER])
def test_large_hostile_scripts_are_read_in_linear_time(piece):
    source = "'/first.html';\n" + piece * (400_000 // len(piece))
    assert script_urls(source)[0] == "/first.html"


def test_a_large_string_of_quoted_strings_is_read_in_linear_time():
    assert script_urls("'" + '"a/b' * 250_000 + "'") == ["a/b"]
    assert script_urls("'" + '"' * 1_000_000 + "/'") == []


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ('["/a.html", {"x": ["https://b.test/c"]}]', ["/a.html", "https://b.test/c"]),
        (r'{"a": "http:\/\/a.test\/x", "a": "\u002fb.html"}', ["http://a.test/x", "/b.html"]),
        ('{"http://key.test/": 1, "/k" : "/v"}', ["/v"]),
        ('callback({"a": "/a.html"});', ["/a.html"]),
        ('{"a": "/a.html", "b": [', ["/a.html"]),
        ('{"a": "/a.html', ["/a.html"]),
        ('{"a": "see http://a.test/x, or /y"}', ["http://a.test/x"]),
        (r'{"html": "<a href=\"/a.html\">x</a>"}', ["/a.html"]),
        ('{"imports": {"x": "./x.js", "y/": "/y/"}}', ["./x.js", "/y/"]),
        ('{"type": "text/html", "v": "1.2", "n": 1.5, "d": "2024-01-02"}', []),
        ("not json", []),
        ("", []),
        ('"', []),
    ],
)
def test_json_urls(text, urls):
    assert json_urls(text) == urls


def test_a_document_gives_guesses():
    body = b'{"a": ["www.example.com", "x/y.html"]}'
    links = LinkCollector(Document("http://a.test/d/x.json", body=body), ExtractSettings())
    extract_json(links.document, links)
    assert [(o.url, o.hop, o.context) for o in links.outlinks] == [
        ("http://www.example.com/", Hop.SPECULATIVE, "=JSON_MISC"),
        ("http://a.test/d/x/y.html", Hop.SPECULATIVE, "=JSON_MISC"),
    ]


_values = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=20), st.just("http://a.test/x")),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner)),
)


@given(_values, st.booleans())
def test_a_url_is_found_at_any_depth(value, ascii_only):
    text = json.dumps([value, "https://deep.test/y"], ensure_ascii=ascii_only)
    assert json_urls(text)[-1] == "https://deep.test/y"


@pytest.mark.parametrize("piece", ['[{"a":', '"', '\\"', '"\\', '"/a.html', '"http://', "[", '":'])
def test_large_hostile_documents_are_read_in_linear_time(piece):
    assert json_urls('["/first.html"]' + piece * (400_000 // len(piece)))[0] == "/first.html"
