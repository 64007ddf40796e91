"""Links and directives of the response headers, and of meta elements that repeat them.

Links are in Location, Refresh, Content-Location and Link; directives for robots in X-Robots-Tag and
`<meta name="robots">`. What a `rel` says holds in HTML and in the `Link` header.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.links import LinkCollector
from nacre.uri.parse import escape_octets
from nacre.wire.robots_tag import directives, tag_value

_REFRESH = re.compile(r"\s*([0-9]+[0-9.]*|\.[0-9.]*)?\s*(?:[;,]\s*|\s+|\Z)")
_URL = re.compile(r"url\s*=\s*", re.IGNORECASE)


def refresh_target(value: str) -> str | None:
    """The URL that a refresh leads to, as written; None when it names none or reloads the page."""
    place = refresh_place(value)
    return value[slice(*place)].strip() or None if place else None


def refresh_place(value: str) -> tuple[int, int] | None:
    """Start and end of the URL in a refresh; None when it names none or reloads the page.

    Source: HTML Standard, "shared declarative refresh steps"; a missing delay is tolerated
    before `url=`.
    """
    match = _REFRESH.match(value)
    start = match.end() if match else 0
    named = _URL.match(value, start)
    if named:
        start = named.end()
    elif not match or match[1] is None:
        return None
    quote = value[start : start + 1]
    if quote in {"'", '"'}:
        end = value.find(quote, start + 1)
        return start + 1, end if end >= 0 else len(value)
    return start, len(value)


EMBEDDED_RELS = (
    *("stylesheet", "icon", "modulepreload", "prefetch", "prerender", "preload"),
    *("manifest", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"),
    *("fluid-icon", "apple-touch-startup-image", "image_src"),
    *("compression-dictionary",),
)
"""`rel` of a link whose target belongs to the page; the first that fits gives the context."""

_LOADED_RELS = ("stylesheet", "modulepreload", "manifest")
_PRELOADED = frozenset(("script", "style"))

HINT_RELS = frozenset(("pingback", "dns-prefetch", "preconnect"))
"""`rel` of a link that names nothing to fetch."""


@lru_cache(maxsize=512)
def link_hop(rel: str, destination: str = "") -> tuple[Hop, str] | None:
    """Hop and link context of a `link` element by its `rel`; None when it names no resource.

    Embeds beat links beat hints: `stylesheet` among the words makes an embed.

    Args:
        rel: The attribute `rel`.
        destination: The attribute `as`, the type of the preloaded resource; "" if there is none.
    """
    words = rel.lower().split()
    destination = destination.strip().lower()
    for word in EMBEDDED_RELS:
        if word in words:
            if word == "preload" and destination in _PRELOADED:
                return Hop.EMBED, f"link[rel='preload'][as='{destination}']/@href"
            return Hop.EMBED, f"link[rel='{word}']/@href"
    if all(word in HINT_RELS for word in words):
        return None
    return Hop.LINK, "link/@href"


# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_LINK_VALUE = re.compile(r'<([^>]*+)>((?:[^,"<]++|"[^"]*+"?|(?!))*+)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_AS = re.compile(r';\s*as\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_MAX_LINKS = 1000


def extract_headers(document: Document, links: LinkCollector) -> None:
    """Add the links of the headers, whatever the status.

    `Location` and `Refresh` are redirects (R), `Content-Location` is inferred (I), `Link` is read
    as a `link` element is, and has its context if it loads a script, a style sheet or a manifest.
    Of several fields of a name the first that is not empty counts, as in
    browsers (Chromium, `HttpResponseHeaders::IsRedirect`); of `Link` all do.
    """
    used: set[bytes] = set()
    for raw_name, raw in document.headers:
        if len(raw_name) not in _SIZES:
            continue
        name = raw_name.lower()
        if name == b"link":
            _link(escape_octets(raw), links)
        elif name in _SINGLE and name not in used and (value := escape_octets(raw)):
            used.add(name)
            _SINGLE[name](value, links)


def redirect_location(headers: Sequence[tuple[bytes, bytes]]) -> str:
    """Return the first `Location` that is not empty, its bytes escaped; "" if there is none."""
    values = (escape_octets(raw) for name, raw in headers if name.lower() == b"location")
    return next(filter(None, values), "")


def header_text(raw: bytes) -> str:
    """Return a header value as text: UTF-8 where it is that, else Latin-1."""
    try:
        return raw.decode("utf-8").strip()
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip()


def _location(value: str, links: LinkCollector) -> None:
    # A sitemap that moved is one at its new place.
    links.add(value, Hop.REDIRECT, "Location:", sitemap=links.document.is_sitemap)


def _refresh(value: str, links: LinkCollector) -> None:
    target = refresh_target(value)
    if target is not None:
        links.add(target, Hop.REDIRECT, "Refresh:")


def _content_location(value: str, links: LinkCollector) -> None:
    links.add(value, Hop.INFERRED, "Content-Location:")


_SINGLE = {
    b"location": _location,
    b"refresh": _refresh,
    b"content-location": _content_location,
}
_SIZES = frozenset(map(len, (b"link", *_SINGLE)))
"""Lengths of the names: most headers need no closer look."""


def _link(value: str, links: LinkCollector) -> None:
    """Each target of a `Link` header by its `rel` (RFC 8288); one without `rel` is not a link."""
    for number, match in enumerate(_LINK_VALUE.finditer(value)):
        rel = _parameter(_REL, match[2])
        kind = link_hop(rel[:200], _parameter(_AS, match[2])[:20]) if rel else None
        if kind:
            context = kind[1] if _is_loaded(kind[1]) else "Link:"
            links.add(match[1].strip(), kind[0], context, rel=rel.lower())
        if number >= _MAX_LINKS:
            return


def _parameter(pattern: re.Pattern[str], parameters: str) -> str:
    match = pattern.search(parameters)
    return (match[1] or match[2] or "") if match else ""


def _is_loaded(context: str) -> bool:
    """Return whether a link context contains how the target is loaded."""
    return "[as=" in context or any(f"'{rel}'" in context for rel in _LOADED_RELS)


NOFOLLOW = frozenset(("nofollow", "none"))
"""Directives that forbid to follow links."""

_TAG = b"x-robots-tag"
_SIZE = len(_TAG)


def header_directives(headers: Sequence[tuple[bytes, bytes]], agent: str) -> set[str]:
    """Directives of all `X-Robots-Tag` headers that concern everyone or `agent` (product token)."""
    words: set[str] = set()
    for name, raw in headers:
        if len(name) == _SIZE and name.lower() == _TAG:
            value = tag_value(raw.decode("latin-1"), agent)
            words |= directives(value) if value is not None else set()
    return words
