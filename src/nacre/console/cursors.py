"""Cursors: where the next page of a list begins, as a text that a program hands back (pure)."""

import base64
import binascii
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from nacre.console.problems import RefusedRequestError
from nacre.messages import message

T = TypeVar("T")
_MOST: Final = 100
"""Pages of a way that are remembered."""
_LONGEST: Final = 7_000
"""Characters of their cursors together: a field of a query has 8,000 at most."""


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
            400,
            "bad-cursor",
            message("console.cursor", "`after` is not a cursor: take `next` of the page before"),
        ) from None


class PageWay(NamedTuple):
    """The ways from a page of a list that goes forward only, as fields of its query.

    Attributes:
        previous: The page from which one came; None on the first one.
        next: The page behind; None on the last one.
    """

    previous: dict[str, str] | None
    next: dict[str, str] | None


def page_way(after: str, back: str, following: str | None) -> PageWay:
    """The ways from a page: its query remembers the cursors of the pages before it.

    Args:
        after: The cursor of this page; "" for the first.
        back: Those of the pages between the first one and this one, with dots between; hostile.
        following: The cursor of the next page; None for none.
    """
    passed = [one for one in back.split(".") if one]
    previous = None
    if after:
        *rest, last = passed or [""]
        previous = {"after": last, "back": ".".join(rest)}
    ahead = None
    if following is not None:
        ahead = {"after": following, "back": _remembered([*passed, *filter(None, [after])])}
    return PageWay(previous, ahead)


def _remembered(cursors: list[str]) -> str:
    """The last of some cursors, with dots between."""
    text = ".".join(cursors[-_MOST:])
    return text if len(text) <= _LONGEST else text[-_LONGEST:].partition(".")[2]


class ItemList(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list.

    Attributes:
        items: The items.
        next: The `after` of the next page; null if there is none.
        as_of: The moment of these data, RFC 3339.
    """

    items: tuple[T, ...]
    next: str | None
    as_of: str
