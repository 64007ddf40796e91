"""The texts of a page, by which it is known whether it has anything new (pure)."""

import re
from urllib.parse import unquote_to_bytes

from nacre.frontier.url_kinds import LONGEST_URL

_TEXT_READ = 100_000
"""Bytes of a page that are read."""
_TEXT = re.compile(rb">([^<>]{4,})")
_SCRIPT = re.compile(rb"<(script|style)\b")
_BARE = bytes(range(33)) + b"0123456789"
_ANCHOR = re.compile(rb"<a\b(?>[^<>]*?\bhref=)[\"']?([^\"'<> ]*+)[^<>]*+>([^<>]*+)", re.IGNORECASE)
"""A link and its text; it reads each byte once."""
_ECHO = re.compile(rb"[/?&=;]+")
_ECHOED = 4
"""Shortest part of a URL that is searched in its page, bytes."""


def texts_of(body: bytes) -> list[bytes]:
    """The texts between the tags of a page, without digits and spaces; those of few letters not."""
    page = _without_scripts(body[:_TEXT_READ])
    texts: list[bytes] = _TEXT.findall(b">" + page.translate(None, _BARE))
    return texts


def without_echoes(body: bytes, url: str) -> bytes:
    """Return a page without repetitions of URLs: its own, and those of links in their texts.

    A page of random links shows a new text for each, which is part of its URL.
    """
    own = [
        part for part in _ECHO.split(unquote_to_bytes(url[:LONGEST_URL])) if len(part) >= _ECHOED
    ]
    page = _ANCHOR.sub(_drop_echo, body[:_TEXT_READ])
    for part in set(own):
        page = page.replace(part, b"")
    return page


def _drop_echo(anchor: re.Match[bytes]) -> bytes:
    """Return a link without its text, where that is in its URL."""
    href, text = anchor[1], anchor[2].strip()
    return b"<a>" if text and text in unquote_to_bytes(href) else anchor[0]


def _without_scripts(body: bytes) -> bytes:
    """Return a page without scripts and style sheets; an unclosed element reaches to the end.

    It searches each end once: a search that tries all beginnings took seconds for a page that
    consists of them.
    """
    lower = body.lower()
    parts, place = [], 0
    while (begin := _SCRIPT.search(lower, place)) is not None:
        parts.append(body[place : begin.start()])
        place = lower.find(b"</" + begin[1], begin.end())
        if place < 0:
            return b"".join(parts)
    return b"".join((*parts, body[place:]))
