"""The links of a feed become outlinks: those of its elements, and those of the HTML in it."""

import re
from collections.abc import Iterable

from nacre.extract.feed import FeedLink, FeedText, resolve_based
from nacre.extract.html.extractor import extract_fragment
from nacre.extract.links import LinkCollector
from nacre.extract.xml_base import resolve_bases

_NEAR_REFERENCE = re.compile(
    r"""\b(?:href|src|srcset|poster|data|background)\s*=\s*["']?\s*(?![a-z][a-z0-9+.-]*:|[/#\s"'])""",
    re.IGNORECASE,
)
"""A reference that another folder makes another URL."""


def add_feed(parts: Iterable[FeedLink | FeedText], links: LinkCollector) -> set[str]:
    """Add the links of a feed, and of the HTML in it as those of a page.

    Returns:
        The references of its elements, as written.
    """
    hrefs: set[str] = set()
    for part in parts:
        if isinstance(part, FeedText):
            add_text(part, links)
            continue
        hrefs.add(part.href)
        href = resolve_based(part, links.base)
        if href:
            links.add(href, part.hop, part.context, rel=part.rel, lastmod=part.updated)
    return hrefs


def add_text(text: FeedText, links: LinkCollector) -> None:
    """Add the links of HTML in a feed: hops and contexts are those of a page.

    If no base is declared, relative references that do not begin with `/` are resolved against the
    page of the item and against the feed: feed readers do either.
    """
    if not links.settings.extract_html:
        return
    home = links.base
    base = resolve_bases(text.bases, home)
    bases = [base]
    if text.is_unsure and base != home and _NEAR_REFERENCE.search(text.markup):
        bases.append(home)
    for url in bases:
        if url != links.base:
            links.rebase(url)
        extract_fragment(text.markup, links)
    if links.base != home:
        links.rebase(home)
