"""Attributes that refer to something on elements of any name."""

import re

from nacre.core.crawluri import Hop
from nacre.extract.html_elements import HANDLERS
from nacre.extract.html_page import Node, Page
from nacre.extract.html_table import LAZY_SETS, LAZY_URLS, ODD, references
from nacre.extract.html_walk import Walk

# Begins with what is literal: only so is the search fast.
_EVENT = re.compile(rb"on(?<=[\s\"'/]on)[A-Za-z]+(?=\s*=)")
_DATA = re.compile(
    rb"(data-(?:[a-z-]*(?:src|original|lazy|bg|url|href|link|image|img|poster|background|thumb)"
    rb"(?:-?set|-?small|-?medium|-?large)?(?=\s*=)|[a-z0-9_-]+(?=\s*=\s*[\"']?\s*(?:[{\[/]|\.\.?/|http))))"
)
_OLD_STYLE = re.compile(rb"<(?:HTML|HEAD|TITLE|BODY|A )")
_OLD_STYLE_HEAD = 2048
_SMALL = 1024
_MANY = 64
_LINK_LIKE = ("url", "href", "link")


def sweep(walk: Walk, page: Page, names: set[str] | None) -> None:
    """Take what attributes refer to, beyond the table of elements.

    Args:
        walk: The walk over the page.
        page: The page.
        names: Names of the `on...` and `data-...` attributes to look at; None for all.
    """
    styles, nodes = page.styled_and_odd()
    for style in styles:
        walk.style(style)
    for node in nodes:
        odd(walk, node)
    if names is None:
        for node, pairs in page.all():
            for name, value in pairs:
                _attribute(walk, node, name, value)
    elif names:
        for node in page.having(names):
            for name in names:
                found = node.attr(name)
                if found:
                    _attribute(walk, node, name, found)


def names_to_sweep(body: bytes) -> set[str] | None:
    """Names of `on...` and `data-...` attributes that may hold a link: a quick look at the bytes.

    Returns:
        The names, lower case, perhaps too many; None when every attribute should be looked at.
    """
    if len(body) < _SMALL or _OLD_STYLE.search(body, 0, _OLD_STYLE_HEAD):
        return None
    found = set(_EVENT.findall(body))
    if b"data-" in body:
        found.update(_DATA.findall(body))
    if len(found) > _MANY:
        return None
    return {name.decode("ascii").lower() for name in found}


def odd(walk: Walk, node: Node) -> None:
    """References of elements that the table does not know, and backgrounds."""
    tag = node.tag or ""
    if tag not in HANDLERS:
        walk.refer(node, references(tag[:64], ODD))
    elif tag != "body":
        background = node.attr("background")
        if background:
            walk.links.add(background, Hop.EMBED, f"{tag}/@background")


def _attribute(walk: Walk, node: Node, name: str, value: str) -> None:
    if name.startswith("on"):
        walk.script(value)
    elif name.startswith("data-"):
        _data_attribute(walk, f"{node.tag}/@{name[:64]}", name, value.strip())


def _data_attribute(walk: Walk, context: str, name: str, value: str) -> None:
    """Pictures that a script loads later; other values that are URLs, or JSON with URLs in."""
    if name in LAZY_URLS or name in LAZY_SETS:
        walk.refer_all(value, Hop.EMBED, context)
    elif value.startswith(("http://", "https://", "//")):
        walk.speculate(value, Hop.SPECULATIVE, context)
    elif value[:1] in {"{", "["}:
        walk.script(value)
    elif value.startswith(("/", "./", "../")) or name.endswith(_LINK_LIKE):
        walk.speculate(value, Hop.SPECULATIVE, context)
