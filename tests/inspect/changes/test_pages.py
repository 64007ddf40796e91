"""The pages of a published feed: no script, no markup of the web, and links that lead on."""

from html.parser import HTMLParser

from nacre.inspect.changes.markup import ENGLISH
from nacre.inspect.changes.pages import index_page, run_page
from tests.inspect.changes.given import FEED, feed


class _Page(HTMLParser):
    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.tags = list[str]()
        self.links = list[str]()
        self.feed(content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]


def test_the_index_leads_to_feeds_pages_and_runs():
    page = _Page(index_page(FEED, FEED.runs, ENGLISH))
    assert {"feed.atom", "feed.json", "run-2.html"} <= set(page.links)
    assert {entry.url for entry in FEED.entries} <= set(page.links)
    assert page.tags.count("section") == len(FEED.entries)
    assert "script" not in page.tags


def test_the_page_of_a_run_leads_back():
    content = run_page(FEED, FEED.runs[0], ENGLISH)
    assert "index.html" in _Page(content).links
    assert b"1 new, 2 changed" in content
    assert b"script-src" not in content
    assert b"default-src &#x27;none&#x27;" in content


def test_a_feed_without_entries_has_a_page():
    page = index_page(feed(unread=["run-2"]), [], ENGLISH).decode()
    assert "Run run-2 was a full crawl" in page
