"""Links of the response headers: Location, Refresh, Content-Location, Link."""

import re

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.links import LinkCollector
from nacre.extract.refresh import refresh_target
from nacre.extract.rel import link_hop

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_LINK_VALUE = re.compile(r'<([^>]*+)>((?:[^,"<]++|"[^"]*+"?|(?!))*+)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_MAX_LINKS = 1000


def extract_headers(document: Document, links: LinkCollector) -> None:
    """Add the links of the headers, whatever the status.

    `Location` and `Refresh` are redirects (R), `Content-Location` is inferred (I), `Link` is read
    as a `link` element is.
    """
    taken: set[bytes] = set()
    for raw_name, raw in document.headers:
        if len(raw_name) not in _SIZES:
            continue
        name = raw_name.lower()
        if name == b"link":
            _link(header_text(raw), links)
        elif name in _SINGLE and name not in taken:
            taken.add(name)
            _SINGLE[name](header_text(raw), links)


def header_text(raw: bytes) -> str:
    """A header value as text: UTF-8 where it is that, else Latin-1."""
    try:
        return raw.decode("utf-8").strip()
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip()


def _location(value: str, links: LinkCollector) -> None:
    if value:
        links.add(value, Hop.REDIRECT, "Location:")


def _refresh(value: str, links: LinkCollector) -> None:
    target = refresh_target(value)
    if target is not None:
        links.add(target, Hop.REDIRECT, "Refresh:")


def _content_location(value: str, links: LinkCollector) -> None:
    if value:
        links.add(value, Hop.INFERRED, "Content-Location:")


_SINGLE = {
    b"location": _location,
    b"refresh": _refresh,
    b"content-location": _content_location,
}
_SIZES = frozenset(map(len, (b"link", *_SINGLE)))
"""Lengths of the names: most headers need no closer look."""


def _link(value: str, links: LinkCollector) -> None:
    """Each target of a `Link` header by its `rel` (RFC 8288); one without `rel` is no link."""
    for number, match in enumerate(_LINK_VALUE.finditer(value)):
        rel = _REL.search(match[2])
        kind = link_hop((rel[1] or rel[2] or "")[:200]) if rel else None
        if kind and rel:
            links.add(match[1].strip(), kind[0], "Link:", rel=(rel[1] or rel[2] or "").lower())
        if number >= _MAX_LINKS:
            return
