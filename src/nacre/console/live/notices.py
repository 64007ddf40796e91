"""Notices: what came of a form that was sent, for the page that is loaded after it."""

from collections import defaultdict
from typing import Final, Literal, NamedTuple

MOST: Final = 50
"""Notices that are kept for one session."""

NoticeKind = Literal["done", "error"]


class Notice(NamedTuple):
    """A notice.

    Attributes:
        kind: `done` or `error`, as classes of the style have it.
        text: It, in the language of the session.
    """

    kind: NoticeKind
    text: str


class NoticeBoard:
    """The notices that sessions have not seen yet; in memory, as they are of the moment."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Notice]] = defaultdict(list)

    def add(self, session: str, notice: Notice) -> None:
        """Keep a notice for the next page of a session, by the hash of that."""
        waiting = self._waiting[session]
        waiting.append(notice)
        del waiting[:-MOST]

    def take(self, session: str) -> list[Notice]:
        """The notices of a session, which are taken away."""
        return self._waiting.pop(session, [])
