"""The text of a page as a browser showed it, for its document; and replies that are parts of pages.

A page that was run in a browser has its text in `urn:text:`; what its server sent is often empty.
A text that its scripts requested is found with the page that shows it, and not once more.
"""

from contextlib import suppress
from typing import NamedTuple

import msgspec

from nacre.archive.page_records import resource_type
from nacre.extract.fulltext.job import HTML
from nacre.indexing.page_states import ChangedPage
from nacre.inspect.archived_replies import ArchivedReplies

PART = "part"
"""The reason of replies that a page shows, and that are no separate documents."""
_FETCHED = resource_type("fetch")


class RenderedText(NamedTuple):
    """Title and text of a page as a browser showed them; the default if none ran it.

    Attributes:
        title: Its title; "" for none.
        text: Its text.
    """

    title: str = ""
    text: str = ""


class _PageInfo(msgspec.Struct):
    """The part of a `urn:pageinfo:` that a document needs."""

    title: str = ""


def shown_text(archive: ArchivedReplies, page: ChangedPage) -> RenderedText | str | None:
    """Return what a browser showed of a page; None: none ran it.

    Args:
        archive: Has its records.
        page: The page.

    Returns:
        `PART` for a reply that belongs to another page.
    """
    if page.text is not None:
        text = archive.read_resource(page.text).decode("utf-8", "replace")
        info = _PageInfo()
        if page.info is not None:
            with suppress(msgspec.DecodeError):
                info = msgspec.json.decode(archive.read_resource(page.info), type=_PageInfo)
        return RenderedText(info.title, text)
    # HTML may be a separate page, to which other pages link.
    if page.may_be_part and page.reply.mime not in HTML:
        return PART if archive.read_resource_type(page.reply) == _FETCHED else None
    return None
