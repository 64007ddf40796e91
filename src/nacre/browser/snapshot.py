"""The state in which a page is: its DOM with open shadow roots, and its text.

How long they are is asked before they are taken: a page may be of any size.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.browser.network_log import MAX_URL, clean_text
from nacre.browser.open_page import OpenPage, PageScriptError, bound_number, read_texts

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
    try:
        sizes = await page.read(
            "measure", {"maxElements": MAX_ELEMENTS, "wantsText": wants_text}, seconds=_SECONDS
        )
        dom: object = ""
        text: object = ""
        if 0 < bound_number(sizes.get("dom"), 10**10) <= limit:
            dom = await page.run("take", {"name": "dom", "limit": limit}, seconds=_SECONDS)
        if bound_number(sizes.get("text"), 10**10):
            text = await page.run("take", {"name": "text", "limit": MAX_TEXT}, seconds=_SECONDS)
    except PageScriptError:
        return Snapshot()
    return Snapshot(
        clean_text(str(sizes.get("url", "")), MAX_URL),
        clean_text(str(sizes.get("title", "")), 1000),
        str(dom).encode("utf-8", "replace"),
        clean_text(str(text), MAX_TEXT),
        read_texts(sizes.get("errors"), 50, 600),
    )
