"""Hints of a link and its page at the encoding of the target; they travel with the URI.

Pages in UTF-8 and ASCII, which most are, leave no trace.
"""

from collections.abc import Mapping

from msgspec import structs

from nacre.core.crawluri import CrawlURI, Hop
from nacre.core.processor import Visit
from nacre.wire.guess import NO_HINTS, Hints, codec_of

LINK = "_charsetOfLink"
"""Key in a URI's heritable data: the label that the element has which links to it."""
VIA = "_charsetOfVia"
"""The same: the codec of the page that links to it."""
BEFORE = "_charsetBefore"
"""The same: the codec that it was read in last time."""

COMMON = ("", "utf-8", "cp1252")
"""Charsets assumed for texts without a declaration: no hint for other texts."""


def hints_of(uri: CrawlURI, host: str = "") -> Hints:
    """Hints at the encoding of a URI: its own, and the charset of `host`'s other pages."""
    heritable = uri.heritable
    if not heritable and not host:
        return NO_HINTS
    link = codec_of(heritable.get(LINK, "")) or ""
    return Hints(link, heritable.get(BEFORE, ""), heritable.get(VIA, ""), host)


def with_charset(visit: Visit, uris: list[CrawlURI]) -> list[CrawlURI]:
    """Return the links of a page, each with the charset of the page.

    The facts about a redirect are valid for its target too.
    """
    passed_on = visit.uri.heritable if 300 <= visit.status < 400 else {}
    if visit.charset in COMMON and not passed_on:
        return uris
    facts: dict[str, str] = {} if visit.charset in COMMON else {VIA: visit.charset}
    passed = facts | {key: passed_on[key] for key in (LINK, VIA, BEFORE) if key in passed_on}
    return [_with_facts(uri, passed if uri.path.endswith(Hop.REDIRECT) else facts) for uri in uris]


def _with_facts(uri: CrawlURI, facts: Mapping[str, str]) -> CrawlURI:
    return structs.replace(uri, heritable={**facts, **uri.heritable}) if facts else uri


def read_before_in(uri: CrawlURI, codec: str) -> CrawlURI:
    """Return a URI that is visited again, with the codec of its last version."""
    return uri if codec in COMMON else _with_facts(uri, {BEFORE: codec})


def linked_from(uri: CrawlURI, codec: str) -> CrawlURI:
    """A URI with the codec of the page that it was found on, as that is known from its rows."""
    return uri if codec in COMMON else _with_facts(uri, {VIA: codec})
