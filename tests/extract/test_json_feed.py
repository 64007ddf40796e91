import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.feed import FeedLink
from nacre.extract.json_feed import is_json_feed, json_feed_parts
from nacre.extract.settings import ExtractSettings

FEED = "http://a.test/blog/feed.json"
VERSION = {"version": "https://jsonfeed.org/version/1.1"}


def links(feed: Any, mime: str = "application/feed+json") -> set[tuple[str, str]]:
    body = feed if isinstance(feed, bytes) else json.dumps(feed).encode()
    document = Document(FEED, mime=mime, body=body, path="L")
    found = extract(document, ExtractSettings(infer_favicon=False)).outlinks
    return {(link.url.removeprefix("http://a.test"), link.hop.value) for link in found}


def test_the_links_of_its_members():
    feed = {
        "home_page_url": "/", "feed_url": FEED, "next_url": "/2", "icon": "/i.png",
        "favicon": "/f.ico", "authors": [{"url": "/me", "avatar": "/me.png"}],
        "items": [{
            "url": "/1", "external_url": "http://b.test/x", "image": "/1.png", "id": "n",
            "banner_image": "/1b.png", "author": {"url": "/you"},
            "attachments": [{"url": "/1.mp3", "mime_type": "audio/mpeg"}],
        }],
    }  # fmt: skip
    assert links(feed) == {
        ("/", "L"), ("/blog/feed.json", "L"), ("/2", "L"), ("/i.png", "E"), ("/f.ico", "E"),
        ("/me", "L"), ("/me.png", "E"), ("/1", "L"), ("http://b.test/x", "L"), ("/1.png", "E"),
        ("/1b.png", "E"), ("/you", "L"), ("/1.mp3", "E"),
    }  # fmt: skip


def test_the_links_of_the_html_in_it():
    html = "<a href='/a'>x</a><img src=/i.png srcset='/i2.png 2x'><video poster=p.png>"
    feed = {"items": [{"url": "/p/1", "content_html": html, "content_text": "<a href=/no.html>"}]}
    assert links(feed) >= {("/a", "L"), ("/i.png", "E"), ("/i2.png", "E"), ("/p/1", "L")}
    assert links(feed) >= {("/p/p.png", "E"), ("/blog/p.png", "E")}


@pytest.mark.parametrize("version", [VERSION, {"version": "1.1"}, {}])
def test_it_is_known_by_its_type_its_version_or_its_html(version: dict[str, str]):
    feed = version | {"items": [{"content_html": "<a href='/a'>x</a>"}]}
    for mime in ("application/feed+json", "application/json", "text/json"):
        assert ("/a", "L") in links(feed, mime)
    assert is_json_feed('{"version": "https:\\/\\/jsonfeed.org\\/version\\/1"}', "application/json")
    assert not is_json_feed('{"version": "1", "items": []}', "application/json")


def test_dates_of_items():
    item = {"url": "/1", "date_published": "2024-01-01", "date_modified": "2024-02-02"}
    parts = list(json_feed_parts(json.dumps({"items": [item, {"url": "/2"}]})))
    assert [(p.href, p.updated, p.is_item) for p in parts if isinstance(p, FeedLink)] == [
        ("/1", "2024-02-02", True), ("/2", "", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [b'{"items": [{"url": "http://a.test/cut.html"', b"[" * 100_000, b'["http://a.test/cut.html"]',
     b'{"items": 1, "icon": 2, "authors": [3], "x": "http://a.test/cut.html"}'],
)  # fmt: skip
def test_what_is_no_object_has_guesses_alone(body: bytes):
    assert list(json_feed_parts(body.decode())) == []
    assert links(body) == ({("/cut.html", "X")} if b"cut" in body else set())


_VALUES = st.recursive(
    st.none() | st.integers() | st.text("<a href='x'>", max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["items", "url", "content_html", "authors", "attachments", "icon"]),
            inner,
        )
    ),
    max_leaves=8,
)


@given(_VALUES)
def test_nonsense_is_no_guess_and_without_an_object_no_link(value: Any):
    hops = {hop for _, hop in links(value)}
    assert hops <= ({"E", "L"} if isinstance(value, dict) else set())


@pytest.mark.parametrize("mime", ["", "unknown/unknown", "*/*"])
def test_a_feed_without_a_media_type_is_one(mime: str):
    body = b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "/a"}]}'
    document = Document("http://a.test/feed", mime=mime, body=body, path="L")
    urls = {link.url for link in extract(document, ExtractSettings()).outlinks}
    assert "http://a.test/a" in urls
