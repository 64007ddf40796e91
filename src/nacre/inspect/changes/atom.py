"""The change feed as Atom (RFC 4287) and as JSON Feed 1.1 (jsonfeed.org/version/1.1) (pure)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from nacre.core.message_data import to_json
from nacre.inspect.changes.feed import ChangeEntry, ChangeFeed
from nacre.inspect.changes.markup import FeedLanguage, entry_markup
from nacre.inspect.changes.wording import KIND_WORDS, entry_title, feed_title
from nacre.report.escape import element, text

ATOM_TYPE: Final = "application/atom+xml"
JSON_FEED_TYPE: Final = "application/feed+json"
_OWN: Final = "_nacre"
_NAMESPACE: Final = "http://www.w3.org/2005/Atom"
ATOM_GENERATOR: Final = element("generator", "Nacre")
JSON_MARK: Final = f'"{_OWN}":'
"""Begins the data of Nacre in a JSON Feed, of the feed and of each entry."""
_JSON_VERSION: Final = "https://jsonfeed.org/version/1.1"


class FeedAddresses(NamedTuple):
    """The URLs at which a feed can be read; "" if unknown.

    Attributes:
        home: Of its page.
        atom: Of the Atom feed.
        json: Of the JSON Feed.
    """

    home: str = ""
    atom: str = ""
    json: str = ""


def atom_feed(feed: ChangeFeed, language: FeedLanguage, at: FeedAddresses) -> bytes:
    """Return the feed as an Atom document."""
    parts = [
        element("id", text(feed.id)),
        element("title", text(language.say(feed_title(feed)))),
        element("updated", text(feed.updated)),
        element("author", element("name", text(feed.job))),
        ATOM_GENERATOR,
        *_links(at),
        *(_atom_entry(entry, language) for entry in feed.entries),
    ]
    root = f'<feed xmlns="{_NAMESPACE}" xml:lang="{language.tag}">'
    lines = "\n".join(parts)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{root}\n{lines}\n</feed>\n'.encode()


def _links(at: FeedAddresses) -> Iterator[str]:
    if at.atom:
        yield element("link", rel="self", type=ATOM_TYPE, href=at.atom)
    if at.home:
        yield element("link", rel="alternate", type="text/html", href=at.home)


def _atom_entry(entry: ChangeEntry, language: FeedLanguage) -> str:
    kind = language.say(KIND_WORDS[entry.kind])
    parts = (
        element("id", text(entry.id)),
        element("title", text(language.say(entry_title(entry)))),
        element("link", rel="alternate", href=entry.url),
        element("link", rel="via", href=entry.record_id) if entry.record_id else "",
        element("published", text(entry.time)),
        element("updated", text(entry.time)),
        element("category", term=entry.kind, label=kind),
        element("content", text(entry_markup(entry, language)), type="html"),
    )
    return element("entry", "".join(parts))


def json_feed(feed: ChangeFeed, language: FeedLanguage, at: FeedAddresses) -> bytes:
    """Return the feed as a JSON Feed; `_nacre` has the data of Nacre for programs."""
    addresses = {"home_page_url": at.home, "feed_url": at.json}
    return to_json(
        {
            "version": _JSON_VERSION,
            _OWN: {"id": feed.id},
            "title": language.say(feed_title(feed)),
            **{name: url for name, url in addresses.items() if url},
            "language": language.tag,
            "authors": [{"name": feed.job}],
            "items": [_json_item(entry, language) for entry in feed.entries],
        }
    )


def _json_item(entry: ChangeEntry, language: FeedLanguage) -> dict[str, object]:
    return {
        "id": entry.id,
        "url": entry.url,
        "title": language.say(entry_title(entry)),
        "content_html": entry_markup(entry, language),
        "date_published": entry.time,
        "date_modified": entry.time,
        "tags": [entry.kind],
        _OWN: entry,
    }
