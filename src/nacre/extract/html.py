"""Links of an HTML page."""

from nacre.extract.document import Document
from nacre.extract.html_attributes import names_to_sweep, sweep
from nacre.extract.html_elements import HANDLERS
from nacre.extract.html_page import TokenPage, read_page
from nacre.extract.html_walk import Walk
from nacre.extract.links import LinkCollector
from nacre.extract.xhtml import with_end_tags
from nacre.wire.charset import decode

_CONDITIONAL = "<!--[if"
_FRAMES_WITHIN = 4096
_MANY_BRACKETS = 64


def extract_html(document: Document, links: LinkCollector, encoding: str) -> frozenset[str]:
    """Add the links of a page; never raises.

    Args:
        document: The page.
        links: Takes them.
        encoding: What the page is written in.

    Returns:
        The directives of its meta robots, lower case.
    """
    body = document.body
    if encoding.startswith("utf-16"):
        body, encoding = decode(body, encoding).encode("utf-8", "replace"), "utf-8"
    if "xml" in document.mime:
        body = with_end_tags(body)
    page = read_page(body, encoding)
    walk = Walk(page, links, HANDLERS, text_budget=2 * len(body))
    walk.run()
    sweep(walk, page, names_to_sweep(body))
    _soup(walk, body, encoding)
    _conditional_comments(walk, body, encoding)
    _inner(walk)
    return frozenset(walk.robots)


def _inner(walk: Walk) -> None:
    """Walk over the documents within the page, and those within them."""
    for markup, depth in walk.inner:
        page = TokenPage(markup)
        walk.page, walk.depth = page, depth
        walk.run()
        sweep(walk, page, None)


def _soup(walk: Walk, body: bytes, encoding: str) -> None:
    """Take frames outside a frameset and forms within forms, which a tree builder drops."""
    if isinstance(walk.page, TokenPage):
        return
    more_frames = not walk.met["frame"] and b"<frame" in body[:_FRAMES_WITHIN].lower()
    if more_frames or _has_nested_form(body, walk.met["form"]):
        walk.page = TokenPage(decode(body, encoding))
        walk.run(frozenset(("form", "frame")))


def _has_nested_form(body: bytes, forms: int) -> bool:
    """True when one of the first forms does not end before the next begins."""
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
