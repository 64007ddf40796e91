"""Atom and JSON Feed: what RFC 4287 and jsonfeed.org require, in two languages."""

import json
import re
from datetime import datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from nacre.inspect.changes.atom import FeedAddresses, atom_feed, json_feed
from nacre.inspect.changes.feed import ChangeFeed
from nacre.inspect.changes.markup import ENGLISH, FeedLanguage
from nacre.inspect.changes.pages import index_page
from nacre.ops.changes import feed_language
from tests.inspect.changes.given import FEED, HOSTILE, NOW, entry, feed, text

ATOM = "{http://www.w3.org/2005/Atom}"
BASE = "https://library.example/changes/"
PLACES = FeedAddresses(BASE, f"{BASE}feed.atom", f"{BASE}feed.json")
CHINESE = feed_language("zh")


def parsed(language: FeedLanguage = ENGLISH) -> ElementTree.Element:
    return ElementTree.fromstring(atom_feed(FEED, language, PLACES))


def one(element: ElementTree.Element, name: str) -> str:
    (found,) = element.findall(f"{ATOM}{name}")
    return found.text or ""


def test_a_feed_has_what_atom_requires():
    root = parsed()
    assert root.tag == f"{ATOM}feed"
    assert (one(root, "id"), one(root, "updated")) == ("urn:uuid:0", NOW)
    assert one(root, "title") == "Changes of demo"
    assert root.findtext(f"{ATOM}author/{ATOM}name") == "demo"
    links = {link.get("rel"): link.get("href") for link in root.findall(f"{ATOM}link")}
    assert links == {"self": PLACES.atom, "alternate": BASE}


def test_each_entry_has_what_atom_requires():
    entries = parsed().findall(f"{ATOM}entry")
    assert len(entries) == len(FEED.entries)
    for element, shown in zip(entries, FEED.entries, strict=True):
        assert one(element, "id") == shown.id
        assert one(element, "updated") == NOW
        (link,) = element.findall(f"{ATOM}link")
        assert (link.get("rel"), link.get("href")) == ("alternate", shown.url)
        (category,) = element.findall(f"{ATOM}category")
        assert category.get("term") == shown.kind


@pytest.mark.parametrize(
    ("language", "title", "words"),
    [
        (ENGLISH, f"changed: {HOSTILE}", "menu link"),
        (CHINESE, f"有变化：{HOSTILE}", "菜单链接"),  # noqa: RUF001
    ],
    ids=["en", "zh"],
)
def test_texts_of_the_web_are_no_markup(language: FeedLanguage, title: str, words: str):
    element = parsed(language).findall(f"{ATOM}entry")[1]
    assert one(element, "title") == title
    content = one(element, "content")
    assert "<script" not in content
    assert "<del>五</del><ins>&lt;script&gt;alert(1)" in content
    assert f"<small>{words}</small>" in content


def test_a_feed_without_an_address_has_no_links():
    root = ElementTree.fromstring(atom_feed(feed(), ENGLISH, FeedAddresses()))
    assert root.findall(f"{ATOM}link") == []


FEED_FIELDS: dict[str, tuple[type, ...]] = {
    "version": (str,), "title": (str,), "home_page_url": (str,), "feed_url": (str,),
    "description": (str,), "user_comment": (str,), "next_url": (str,), "icon": (str,),
    "favicon": (str,), "authors": (list,), "language": (str,), "expired": (bool,),
    "hubs": (list,), "items": (list,),
}  # fmt: skip
"""The fields of a feed by the text of JSON Feed 1.1, with their types."""
ITEM_FIELDS: dict[str, tuple[type, ...]] = {
    "id": (str,), "url": (str,), "external_url": (str,), "title": (str,), "content_html": (str,),
    "content_text": (str,), "summary": (str,), "image": (str,), "banner_image": (str,),
    "date_published": (str,), "date_modified": (str,), "authors": (list,), "tags": (list,),
    "language": (str,), "attachments": (list,),
}  # fmt: skip


def require_fields(data: dict[str, object], known: dict[str, tuple[type, ...]]) -> None:
    """Fields that the specification does not have begin with `_` and a letter, and are objects."""
    for name, value in data.items():
        if name.startswith("_"):
            assert name[1:2].isalpha()
            assert "." not in name
            assert isinstance(value, dict)
        else:
            assert isinstance(value, known[name]), name


@pytest.mark.parametrize("language", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("at", [PLACES, FeedAddresses()], ids=["published", "without address"])
@pytest.mark.parametrize("shown", [FEED, feed()], ids=["entries", "empty"])
def test_a_json_feed_is_valid(shown: ChangeFeed, at: FeedAddresses, language: FeedLanguage):
    document = json.loads(json_feed(shown, language, at))
    require_fields(document, FEED_FIELDS)
    assert {"version", "title", "items"} <= document.keys()
    assert document["version"] == "https://jsonfeed.org/version/1.1"
    assert document["title"]
    assert document["language"] == language.tag
    for author in document["authors"]:
        assert author.keys() & {"name", "url", "avatar"}
        assert all(isinstance(value, str) and value for value in author.values())
    assert len({item["id"] for item in document["items"]}) == len(shown.entries)
    for item in document["items"]:
        require_fields(item, ITEM_FIELDS)
        assert item["id"]
        assert item.keys() & {"content_html", "content_text"}
        assert urlsplit(item["url"]).scheme in {"http", "https"}
        assert all(isinstance(tag, str) and tag for tag in item["tags"])
        for name in ("date_published", "date_modified"):
            assert datetime.fromisoformat(item[name]).tzinfo is not None


WILD = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\0\x1b\x9b\x7f\u202e\u2066\u200f\u2028\ufeff\ufffe\uffff<>&\"']"),
    ),
    max_size=30,
)
"""Texts with what ends a document, turns a line or controls a terminal."""
SAFE_TAGS = {"div", "p", "ul", "li", "small", "del", "ins"}
FORBIDDEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


@given(title=WILD, words=WILD, name=WILD)
def test_no_text_breaks_a_format(title: str, words: str, name: str):
    shown = structs.replace(
        feed(
            entry(title=title, lead=words, texts=[text(words, title)]), entry("moved", target=words)
        ),
        job=name,
    )
    atom = atom_feed(shown, ENGLISH, PLACES)
    root = ElementTree.fromstring(atom)
    (first, second) = root.findall(f"{ATOM}entry")
    content = ElementTree.fromstring(f"<div>{first.findtext(f'{ATOM}content')}</div>")
    assert {element.tag for element in content.iter()} <= SAFE_TAGS
    page = index_page(shown, shown.runs, ENGLISH)
    for document in (atom, page):
        assert not FORBIDDEN.search(document.decode().replace("\n", ""))
    items = json.loads(json_feed(shown, ENGLISH, PLACES))["items"]
    assert [item["id"] for item in items] == [one(first, "id"), one(second, "id")]


def test_a_json_feed_has_what_its_version_requires():
    found = json.loads(json_feed(FEED, ENGLISH, PLACES))
    assert found["version"] == "https://jsonfeed.org/version/1.1"
    assert (found["feed_url"], found["home_page_url"]) == (PLACES.json, BASE)
    assert [item["id"] for item in found["items"]] == [entry.id for entry in FEED.entries]
    for item in found["items"]:
        assert isinstance(item["content_html"], str)
        assert item["date_published"] == NOW
    assert found["items"][1]["_nacre"]["texts"][0]["words"][2] == {"kind": "+", "text": HOSTILE}
    assert "home_page_url" not in json.loads(json_feed(FEED, ENGLISH, FeedAddresses()))


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (2, "the page was not found (status 404)"),
        (3, "it redirects to http://a.test/elsewhere"),
        (4, "the page is there again"),
        (5, "what differs: the whole reply"),
    ],
)
def test_entries_without_a_difference_say_what_happened(at: int, words: str):
    item = json.loads(json_feed(FEED, ENGLISH, PLACES))["items"][at]
    assert item["content_html"] == f"<p>{words}</p>"
