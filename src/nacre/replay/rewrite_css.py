"""Style sheets in replay: the URLs of `url()`, `src()`, `@import` and `image-set()` (pure).

No other byte changes. A sheet in an encoding of several bytes is read so that no second byte counts
as a backslash.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from nacre.extract.css import css_references, css_url, plain_names
from nacre.replay.page_urls import PageAddress, Rewrite, UrlRewriter
from nacre.wire.charset import decode
from nacre.wire.guess import codec_of

_NAMESPACE: Final = re.compile(r"@namespace\s[^;{}]{0,60}\Z", re.IGNORECASE)
_BEFORE: Final = 80
"""Characters before a URL that are searched for `@namespace`, whose URL is only a name."""
_MEANINGFUL: Final = re.compile(r"[\s\\\"'()]")
_MAY_HOLD_BACKSLASH: Final = ("gbk", "gb18030", "big5hkscs", "cp932", "cp949")
_PAIR_WITH_BACKSLASH: Final = re.compile(r"[\x81-\xfe]\\")
_PAIR: Final = re.compile(r"[\x81-\xfe][\x40-\xfe]")
_UTF16: Final = ("utf-16-le", "utf-16-be")


class TextEdit(NamedTuple):
    """A change of a text: what replaces the characters from `start` to `end`."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """Return a text with its changes, which are in order and do not overlap."""
    pieces: list[str] = []
    position = 0
    for start, end, new in edits:
        pieces += (text[position:start], new)
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def rewrite_css(body: bytes, charset: str, page: PageAddress) -> bytes:
    """Return a style sheet whose URLs lead into the archive.

    Args:
        body: The sheet, without content coding.
        charset: Its codec or label, as `wire.charset.detect` gives it.
        page: Its own address: its URLs are relative to it.
    """
    codec = codec_of(charset) or charset
    rewrite = UrlRewriter(page, codec).rewrite
    if codec in _UTF16:
        even = len(body) & ~1
        text = rewrite_style(body[:even].decode(codec, "surrogatepass"), rewrite)
        return text.encode(codec, "surrogatepass") + body[even:]
    text = plain_names(body.decode("latin-1"))
    edits = css_edits(
        hide_backslashes(text, codec),
        rewrite,
        lambda start, end: decode(text[start:end].encode("latin-1"), codec),
    )
    return apply_edits(text, edits).encode("latin-1") if edits else body


def rewrite_style(text: str, rewrite: Rewrite) -> str:
    """Return CSS text, such as that of a `style` attribute, with its URLs rewritten."""
    plain = plain_names(text)
    edits = css_edits(plain, rewrite)
    return apply_edits(plain, edits) if edits else text


def css_edits(
    text: str, rewrite: Rewrite, read: Callable[[int, int], str] | None = None
) -> list[TextEdit]:
    """Return the changes of a style sheet, in order.

    Args:
        text: The sheet, with plain names of functions.
        rewrite: Gives the new URL of a URL.
        read: Gives the text between two places, if `text` has a character for each byte.
    """
    edits = []
    for start, end in css_references(text):
        raw = text[start:end]
        if raw[:1] == "#":
            continue
        new = rewrite(css_url(raw if read is None or raw.isascii() else read(start, end)))
        if new is not None and not _NAMESPACE.search(text, max(start - _BEFORE, 0), start):
            edits.append(TextEdit(start, end, _MEANINGFUL.sub(_escape, new)))
    return edits


def _escape(match: re.Match[str]) -> str:
    return "\\" + match[0]


def hide_backslashes(text: str, codec: str) -> str:
    r"""Return text with a character for each byte, in which every backslash is one.

    The second byte of a character may be 5C in GBK, Big5, Shift_JIS and their kin. It gets its
    highest bit, so that it is no escape; the length stays.
    """
    if codec not in _MAY_HOLD_BACKSLASH or not _PAIR_WITH_BACKSLASH.search(text):
        return text
    return _PAIR.sub(_hide, text)


def _hide(match: re.Match[str]) -> str:
    return match[0] if match[0][1] != "\\" else match[0][0] + "\xdc"
