"""Cursors: where the next page of a list begins, as a text that a program hands back (pure)."""

import base64
import binascii
from typing import Any, TypeVar

import msgspec

from nacre.console.problems import RefusedRequestError

T = TypeVar("T")


def cursor_of(place: Any) -> str:  # noqa: ANN401 - what msgpack takes
    """The cursor of a place."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).decode().rstrip("=")


def place_of(cursor: str, kind: type[T]) -> T | None:
    """The place of a cursor; None for "", the first page.

    Args:
        cursor: It; hostile.
        kind: Type of the place.

    Raises:
        RefusedRequestError: It is none (400).
    """
    if not cursor:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        raw = base64.b64decode(padded.encode("ascii"), b"-_", validate=True)
        return msgspec.msgpack.decode(raw, type=kind)
    except (binascii.Error, msgspec.MsgspecError, ValueError):
        raise RefusedRequestError(
            400, "bad-cursor", "`after` is not a cursor: take `next` of the page before"
        ) from None
