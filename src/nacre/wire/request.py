"""Requests to bytes. No value can smuggle a second header line or a second request."""

from collections.abc import Iterable
from functools import lru_cache

_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_TARGET_BREAKS = frozenset(map(chr, range(33))) | {"\x7f"}


def header_lines(fields: Iterable[tuple[str, str]]) -> bytes:
    """Serialise header fields, each with its CRLF.

    Text outside ASCII goes out in UTF-8.

    Raises:
        ValueError: A name is no token, or a value holds CR, LF or NUL (RFC 9110 clause 5.5).
    """
    parts: list[str] = []
    for name, value in fields:
        if not _is_token(name):
            raise ValueError(f"not a header name: {name!r}")
        if "\r" in value or "\n" in value or "\0" in value:
            raise ValueError(f"CR, LF or NUL in the value of {name}")
        parts.append(f"{name}: {value}\r\n")
    return "".join(parts).encode("utf-8", "surrogateescape")


def request_head(method: str, target: str, lines: bytes) -> bytes:
    """Serialise a request head.

    Args:
        method: Method.
        target: Request target, in any form of RFC 9112 clause 3.2.
        lines: Header lines made by `header_lines`.

    Raises:
        ValueError: The method is no token, or the target is empty or holds blanks or controls.
    """
    if not _is_token(method):
        raise ValueError(f"not a method: {method!r}")
    if not _is_target(target):
        raise ValueError(f"not a request target: {target!r}")
    start = f"{method} {target} HTTP/1.1\r\n".encode("utf-8", "surrogateescape")
    return b"%b%b\r\n" % (start, lines)


@lru_cache(maxsize=256)
def _is_token(text: str) -> bool:
    return bool(text) and _TOKEN.issuperset(text)


def _is_target(text: str) -> bool:
    if text.isascii():
        return bool(text) and text.isprintable() and " " not in text
    return _TARGET_BREAKS.isdisjoint(text)
