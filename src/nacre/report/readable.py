"""URLs as people read them: percent-escapes as the letters that they stand for (pure).

Only what is not ASCII is shown decoded, so that no delimiter appears that was none. A host of
A-labels is shown as it is typed.
"""

import re
from unicodedata import category
from urllib.parse import unquote_to_bytes

from nacre.errors import URIError
from nacre.uri.idn import host_to_unicode

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_HOST = re.compile(r"(?<=://)(?:[^/?#@]*@)?[^/?#:]*xn--[^/?#:]*")
_CHARSETS = ("utf-8", "gb18030")


def readable(url: str, charset: str = "") -> str:
    """A URL for people.

    Args:
        url: It.
        charset: What its page is written in, tried behind UTF-8; "" when it is not known.
    """
    if "xn--" in url:
        url = _HOST.sub(lambda found: _host(found[0]), url)
    if "%" not in url:
        return url
    return _ESCAPES.sub(lambda found: _run(found[0], charset), url)


def _host(name: str) -> str:
    try:
        return host_to_unicode(name)
    except URIError:
        return name


def _run(escapes: str, charset: str) -> str:
    """A run of escapes: what is not ASCII in it as letters, if they are all letters."""
    data = unquote_to_bytes(escapes)
    if data.isascii():
        return escapes
    for name in (_CHARSETS[0], charset, _CHARSETS[1]):
        try:
            text = data.decode(name) if name else ""
        except (UnicodeDecodeError, LookupError):
            continue
        if text and _is_text(text):
            return "".join(_kept(char) for char in text)
    return escapes


def _is_text(text: str) -> bool:
    """Letters, digits and signs. Marks without a letter come of bytes of another charset."""
    kinds = [category(char)[0] for char in text if not char.isascii()]
    return kinds[0] != "M" and not set(kinds) & {"C", "Z"}


def _kept(char: str) -> str:
    """An ASCII character stays escaped: it may mean something else as itself."""
    return f"%{ord(char):02X}" if char.isascii() else char
