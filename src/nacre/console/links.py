"""Links between pages: to the pages of a job, and between the pages of a list (pure)."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import message
from nacre.uri.surt import beginning_with

_PLACES: Final = frozenset(("after", "before", "key", "limit"))
"""Fields of a query that say which page of a list is meant, or how long it is."""


def job_path(job: str) -> str:
    """Return the beginning of the paths of a job's pages.

    Args:
        job: Id of the job.
    """
    return f"/j/{quote(job, safe='')}"


def exact(queue: str) -> str:
    """Return the expression that matches only one queue key."""
    return f"^{re.escape(queue)}$"


def exclude_link(job: str, prefix: str) -> str:
    """Return the link to the page that excludes URLs with a common beginning.

    Args:
        job: Id of the job.
        prefix: The beginning of the URLs.
    """
    options = urlencode({"action": "exclude", "urls": beginning_with(prefix), "kind": "regex"})
    return f"{job_path(job)}/frontier/change?{options}"


def page_link(filters: Mapping[str, str], place: Mapping[str, str] | None) -> str:
    """Return the link to another page of a list; "" for none.

    Args:
        filters: The fields of the query that stay; empty fields are left out.
        place: The fields that name the page; None if there is no such page.
    """
    if place is None:
        return ""
    return "?" + urlencode({name: value for name, value in {**filters, **place}.items() if value})


def filters_of(query: msgspec.Struct, kind: type[msgspec.Struct] | None = None) -> dict[str, str]:
    """Return the filters of a list: the texts of its query that do not name a page.

    Args:
        query: The query.
        kind: Struct of which only the fields count; None for that of the query.
    """
    names = [field.encode_name for field in msgspec.structs.fields(kind or query)]
    texts = {name: getattr(query, name) for name in names if name not in _PLACES}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


def page_links(
    filters: Mapping[str, str], after: str, back: str, following: str | None
) -> tuple[str, str, str]:
    """Return the links to the first, the previous and the next page of a list that goes forward.

    Args:
        filters: The fields of the query that stay.
        after: The cursor of this page; "" for the first.
        back: The cursors of the pages between the first page and this page; hostile.
        following: The cursor of the next page; None for none.
    """
    way = page_way(after, back, following)
    first = page_link(filters, {} if after else None)
    return first, page_link(filters, way.previous), page_link(filters, way.next)


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
    """Return the links from a page; its query contains the cursors of the previous pages.

    Args:
        after: The cursor of this page; "" for the first.
        back: The cursors of the pages between the first page and this page, separated by dots;
            hostile.
        following: The cursor of the next page; None for none.
    """
    passed = [cursor for cursor in back.split(".") if cursor]
    previous = None
    if after:
        *earlier, last = passed or [""]
        previous = {"after": last, "back": ".".join(earlier)}
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
