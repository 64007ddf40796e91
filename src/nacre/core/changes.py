"""The rows of the change feed: what a visit found new, changed or gone, with its words."""

from typing import Final

import msgspec

SAME, GONE, NEW = "=", "-", "+"
"""Kinds of a `TextRun`: words of both versions, of the older one alone, of the newer one alone."""
ELLIPSIS: Final = "…"
"""Stands for words that are left out."""

NEW_PAGE, CHANGED_PAGE, GONE_PAGE = "new", "changed", "gone"
MOVED_PAGE, BACK_PAGE = "moved", "back"
CHANGE_KINDS: Final = (NEW_PAGE, CHANGED_PAGE, GONE_PAGE, MOVED_PAGE, BACK_PAGE)
"""Kinds of changes of pages, in the order of reports."""
RIGHTS_CHANGE: Final = "rights"
"""Changed preferences of a site or page; they are in the ledger, and have no `ChangeRow`."""
FEED_KINDS: Final = (*CHANGE_KINDS, RIGHTS_CHANGE)
"""Kinds of entries of the change feed, in the order of reports."""


class TextRun(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Words that follow each other, of both versions of a text or of one.

    Attributes:
        kind: `=`, `-` or `+`.
        text: The words, without characters that control a terminal or are no XML.
    """

    kind: str
    text: str


class ChangedText(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A text, a link or a picture that differs between two versions of a page.

    Attributes:
        kind: Kind of the piece, see `core.pagerow.Piece`.
        runs: Its words in order. Long ones that did not change are shortened.
    """

    kind: str
    runs: tuple[TextRun, ...]


class ChangeRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A change that a visit found; noise has no row.

    Attributes:
        url: The page.
        time: Time of the visit, seconds since the epoch, as in its `FetchRow`.
        run: Number of the run.
        kind: One of `CHANGE_KINDS`.
        noted: When the row was written, seconds since the epoch: a full run is read later.
        status: HTTP status of the visit.
        title: Title of the page; "" if it has none, or is unknown.
        lead: Beginning of the text of a new page.
        reason: Code of what decided, as in the `FetchRow`.
        score: Share of the page that differs, 0 to 1.
        texts: What differs, in document order.
        more: Number of further differences.
        target: URL that a moved page redirects to.
    """

    url: str
    time: float
    run: int
    kind: str
    noted: float = 0.0
    status: int = 0
    title: str = ""
    lead: str = ""
    reason: str = ""
    score: float = 0.0
    texts: tuple[ChangedText, ...] = ()
    more: int = 0
    target: str = ""
