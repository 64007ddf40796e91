"""JSON: the links of a JSON Feed by kind, its HTML, and all other strings that are likely URIs.

Source: JSON Feed 1.1 (jsonfeed.org). Read leniently: members of another type are passed over.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.feed import FeedLink, FeedText, add_feed
from nacre.extract.likely import speculative_fixup
from nacre.extract.links import LinkCollector
from nacre.extract.script import JSON_CONTEXT, json_urls
from nacre.extract.text import read_text
from nacre.extract.xml_scan import date_text

MEDIA_TYPE = "application/feed+json"

_MARK = re.compile(r"""jsonfeed\.org\\?/version|"content_html"\s*:""")
_HEAD = 100_000
_OF_FEED = {
    "home_page_url": Hop.LINK,
    "feed_url": Hop.LINK,
    "next_url": Hop.LINK,
    "icon": Hop.EMBED,
    "favicon": Hop.EMBED,
}
_OF_ITEM = {
    "url": Hop.LINK,
    "external_url": Hop.LINK,
    "image": Hop.EMBED,
    "banner_image": Hop.EMBED,
}
_OF_AUTHOR = {"url": Hop.LINK, "avatar": Hop.EMBED}
_OF_ATTACHMENT = {"url": Hop.EMBED}
_HTML_MEMBERS = ("content_html", "summary", "title")
_MOST_TEXTS = 10_000
"""HTML texts of a feed that are read."""


def is_json_feed(source: str, mime: str) -> bool:
    """Return whether a JSON document is a feed, by its media type, version or items."""
    return mime == MEDIA_TYPE or _MARK.search(source, 0, _HEAD) is not None


def json_feed_parts(source: str) -> Iterator[FeedLink | FeedText]:
    """Yield links and HTML texts of a feed, item by item; none if it is no JSON object."""
    try:
        feed = msgspec.json.decode(source.removeprefix("\ufeff"))
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return
    if not isinstance(feed, dict):
        return
    yield from _links(feed, _OF_FEED, "")
    yield from _authors(feed, "")
    home = _text(feed, "home_page_url")
    texts = 0
    for item in _objects(feed, "items"):
        yield from _item_links(item)
        bases = tuple(filter(None, (home, _text(item, "url"))))
        for name in _HTML_MEMBERS:
            markup = _text(item, name)
            if "<" in markup and texts < _MOST_TEXTS:
                texts += 1
                yield FeedText(markup, bases, is_unsure=True)


def _item_links(item: Mapping[str, Any]) -> Iterator[FeedLink]:
    updated = date_text(_text(item, "date_modified") or _text(item, "date_published"))
    for link in _links(item, _OF_ITEM, "item/"):
        is_item = link.context == "item/url"
        yield link._replace(is_item=is_item, updated=updated if is_item else "")
    for attachment in _objects(item, "attachments"):
        yield from _links(attachment, _OF_ATTACHMENT, "item/attachments/")
    yield from _authors(item, "item/")


def _authors(holder: Mapping[str, Any], context: str) -> Iterator[FeedLink]:
    """Links of `authors`, and of the `author` of version 1."""
    for name in ("author", "authors"):
        for author in _objects(holder, name):
            yield from _links(author, _OF_AUTHOR, f"{context}{name}/")


def _links(holder: Mapping[str, Any], hops: Mapping[str, Hop], context: str) -> Iterator[FeedLink]:
    for name, hop in hops.items():
        href = _text(holder, name)
        if href:
            yield FeedLink(href, hop, context + name)


def _objects(holder: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Return the objects of an array, or a single object in its place."""
    value = holder.get(name)
    values = value if isinstance(value, list) else [value]
    return (member for member in values if isinstance(member, dict))


def _text(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name)
    return value.strip() if isinstance(value, str) else ""


def extract_json(document: Document, links: LinkCollector) -> None:
    """Add the links of a JSON document.

    Of JSON Feed those of its members (hops L and E) and of the HTML in it, as those of a page. All
    other likely URIs are speculative (X), with the context `=JSON_MISC`.
    """
    text = read_text(document)
    feed_urls: set[str | None] = set()
    if is_json_feed(text, document.mime):
        add_feed(json_feed_parts(text), links)
        feed_urls |= {link.url for link in links.outlinks}
    for url in json_urls(text):
        href = speculative_fixup(url, links.base)
        if not (feed_urls and links.resolve(href) in feed_urls):
            links.add(href, Hop.SPECULATIVE, JSON_CONTEXT)
