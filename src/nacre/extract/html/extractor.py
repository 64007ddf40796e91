"""The extractor of HTML: a page is read, its elements and their attributes give links."""

import re

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.html.elements import HANDLERS
from nacre.extract.html.page import HtmlPage, Node, TokenPage, read_page, with_end_tags
from nacre.extract.html.table import LAZY_SETS, LAZY_URLS, ODD, references
from nacre.extract.html.walk import Walk
from nacre.extract.links import LinkCollector
from nacre.wire.charset import decode

# The pattern begins with a literal, which makes the search fast.
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


def sweep(walk: Walk, page: HtmlPage, names: set[str] | None) -> None:
    """Add references of attributes that are not in the table of elements.

    Args:
        walk: The walk over the page.
        page: The page.
        names: Names of the `on...` and `data-...` attributes to read; None for all.
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
                text = node.attr(name)
                if text:
                    _attribute(walk, node, name, text)


def names_to_sweep(body: bytes) -> set[str] | None:
    """Return names of `on...` and `data-...` attributes that may contain links, by a fast scan.

    Returns:
        The names, lower case, perhaps too many; None if every attribute must be read.
    """
    if len(body) < _SMALL or _OLD_STYLE.search(body, 0, _OLD_STYLE_HEAD):
        return None
    names = set(_EVENT.findall(body))
    if b"data-" in body:
        names.update(_DATA.findall(body))
    if len(names) > _MANY:
        return None
    return {name.decode("ascii").lower() for name in names}


def odd(walk: Walk, node: Node) -> None:
    """Add references of elements that are not in the table, and backgrounds."""
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


_CONDITIONAL = "<!--[if"
_FRAMES_WITHIN = 4096
_MANY_BRACKETS = 64


def extract_html(document: Document, links: LinkCollector) -> None:
    """Add the links of a page and the directives of its meta robots; never raises.

    Args:
        document: The page, with its `charset`.
        links: Takes them.
    """
    body, encoding = document.body, document.charset
    if encoding.startswith("utf-16"):
        body, encoding = decode(body, encoding).encode("utf-8", "replace"), "utf-8"
    if "xml" in document.mime:
        body = with_end_tags(body)
    walk = _walk_all(body, encoding, links)
    links.robots.update(walk.robots)
    links.metas += walk.metas


def extract_fragment(markup: str, links: LinkCollector) -> None:
    """Add the links of HTML within another document, such as a feed; never raises.

    It has no directives for robots, and afterwards links resolve against another base if it names
    one.
    """
    body = with_end_tags(markup.encode("utf-8", "replace"))
    _walk_all(body, "utf-8", links)


def _walk_all(body: bytes, encoding: str, links: LinkCollector) -> Walk:
    """Walk over a page and the documents within it."""
    page = read_page(body, encoding)
    walk = Walk(page, links, HANDLERS, text_budget=2 * len(body))
    walk.run()
    sweep(walk, page, names_to_sweep(body))
    _soup(walk, body, encoding)
    _conditional_comments(walk, body, encoding)
    _inner(walk)
    return walk


def _inner(walk: Walk) -> None:
    """Walk over the documents within the page, and those within them."""
    for markup, depth in walk.inner:
        page = TokenPage(markup)
        walk.run_inside(page, depth)
        sweep(walk, page, None)


def _soup(walk: Walk, body: bytes, encoding: str) -> None:
    """Take frames outside a frameset and forms within forms, which a tree builder drops."""
    if isinstance(walk.page, TokenPage):
        return
    more_frames = not walk.met["frame"] and b"<frame" in body[:_FRAMES_WITHIN].lower()
    if more_frames or _has_nested_form(body, walk.met["form"]):
        walk.run_again(TokenPage(decode(body, encoding)), frozenset(("form", "frame")))


def _has_nested_form(body: bytes, forms: int) -> bool:
    """Return whether one of the first forms does not end before the next begins."""
    end = 0
    for _ in range(forms):
        start = body.find(b"<form", end)
        if start < 0:
            return b"<FORM" in body
        end = body.find(b"</form", start)
        if end < 0:
            return body.find(b"<form", start + 1) >= 0
        if body.find(b"<form", start + 1, end) >= 0:
            return True
    return False


def _conditional_comments(walk: Walk, body: bytes, encoding: str) -> None:
    """Walk over what old versions of Internet Explorer saw: `<!--[if lt IE 9]>…<![endif]-->`."""
    if not _has_conditional_comment(body):
        return
    text = decode(body, encoding)
    start = text.find(_CONDITIONAL)
    while start >= 0:
        end = text.find("-->", start)
        if end < 0:
            return
        walk.nested(text[start + len(_CONDITIONAL) : end])
        start = text.find(_CONDITIONAL, end)


def _has_conditional_comment(body: bytes) -> bool:
    """The same as `b"<!--[if" in body`, but faster: a single byte that is rare is found at once."""
    at = body.find(b"[")
    for _ in range(_MANY_BRACKETS):
        if at < 0:
            return False
        if body.startswith(_CONDITIONAL.encode(), max(at - 4, 0)):
            return True
        at = body.find(b"[", at + 1)
    return body.find(_CONDITIONAL.encode(), max(at - 4, 0)) >= 0
