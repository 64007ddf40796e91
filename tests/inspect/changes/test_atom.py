"""Atom and JSON Feed: what RFC 4287 and jsonfeed.org require, in two languages."""

import json
from xml.etree import ElementTree

import pytest

from nacre.inspect.changes.atom import FeedAddresses, atom_feed, json_feed
from nacre.inspect.changes.markup import ENGLISH, FeedLanguage
from nacre.ops.changes import feed_language
from tests.inspect.changes.given import FEED, HOSTILE, NOW, feed

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
    for element, entry in zip(entries, FEED.entries, strict=True):
        assert one(element, "id") == entry.id
        assert one(element, "updated") == NOW
        (link,) = element.findall(f"{ATOM}link")
        assert (link.get("rel"), link.get("href")) == ("alternate", entry.url)
        (category,) = element.findall(f"{ATOM}category")
        assert category.get("term") == entry.kind


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
