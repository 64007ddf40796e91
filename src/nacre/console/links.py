"""Links between pages: to the pages of a job, and between the pages of a list (pure)."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from nacre.console.cursors import page_way
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
