"""The state in which a page is: its DOM with open shadow roots, and its text.

The script leaves out parts that are too long: a page may be of any size.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.browser.network_log import MAX_URL, clean_text
from nacre.browser.open_page import OpenPage, PageScriptError, read_texts

MAX_DOM = 10_000_000
"""Bytes of the largest DOM that is taken; of a larger one nothing is."""

MAX_TEXT = 10_000_000
"""Characters of the text that is taken; the end of a longer one is left out."""

MAX_ELEMENTS = 500_000
"""Elements of the largest document that is serialised."""

_SECONDS = 15.0


class Snapshot(NamedTuple):
    """The state of a document.

    Attributes:
        url: Its URL, with its fragment.
        title: Its title.
        dom: Its serialised DOM, UTF-8; b"" if it is too large.
        text: Its text as it is laid out; "" if it was not asked for.
        errors: Messages of its uncaught exceptions.
    """

    url: str = ""
    title: str = ""
    dom: bytes = b""
    text: str = ""
    errors: Sequence[str] = ()


async def take_dom(page: OpenPage, limit: int = MAX_DOM, *, wants_text: bool = False) -> Snapshot:
    """Return the state of a page.

    Args:
        page: The page.
        limit: Bytes of the largest DOM that is taken.
        wants_text: Whether its text is taken too.

    Raises:
        PageHangError, BrowserGoneError: See `OpenPage.evaluate`.
    """
    limits = {
        "maxElements": MAX_ELEMENTS,
        "maxDom": limit,
        "maxText": MAX_TEXT if wants_text else 0,
    }
    try:
        state = await page.read("measure", limits, seconds=_SECONDS)
    except PageScriptError:
        return Snapshot()
    return Snapshot(
        clean_text(str(state.get("url", "")), MAX_URL),
        clean_text(str(state.get("title", "")), 1000),
        str(state.get("dom", "")).encode("utf-8", "replace")[:limit],
        clean_text(str(state.get("text", "")), MAX_TEXT),
        read_texts(state.get("errors"), 50, 600),
    )
