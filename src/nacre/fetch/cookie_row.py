"""Cookies as they are kept in the store."""

from collections.abc import Iterable, Iterator

import msgspec

from nacre.fetch.set_cookie import Cookie


class _Row(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A cookie in the store; text as bytes, since it need not be valid UTF-8."""

    domain: str
    name: bytes
    value: bytes
    path: bytes
    host_only: bool
    secure: bool
    http_only: bool
    expires: float
    created: int
    accessed: float


_ROWS = msgspec.msgpack.Decoder(list[_Row])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def encode_cookies(cookies: Iterable[Cookie]) -> bytes:
    """The cookies of a domain as one row."""
    return msgspec.msgpack.encode(
        [
            _Row(
                cookie.domain,
                _bytes(cookie.name),
                _bytes(cookie.value),
                _bytes(cookie.path),
                cookie.host_only,
                cookie.secure,
                cookie.http_only,
                cookie.expires,
                cookie.created,
                cookie.accessed,
            )
            for cookie in cookies
        ]
    )


def decode_cookies(row: bytes) -> Iterator[Cookie]:
    """The cookies of a row."""
    for kept in _ROWS.decode(row):
        name, value, path = (
            text.decode("utf-8", "surrogateescape") for text in (kept.name, kept.value, kept.path)
        )
        yield Cookie(
            name,
            value,
            kept.domain,
            path,
            kept.host_only,
            kept.secure,
            kept.http_only,
            kept.expires,
            kept.created,
            kept.accessed,
        )
