import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.json_links import extract_json, json_urls
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings


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
