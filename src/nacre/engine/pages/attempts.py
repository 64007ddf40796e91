"""Replies of earlier attempts to open a page: the next attempt gets them without a request."""

from collections import deque

from nacre.core.capture import Capture
from nacre.core.rendered import BrowserRequest

_Key = tuple[str, str, bytes | None]


class EarlierReplies:
    """The replies to the requests of a page, by attempt.

    Each reply of an earlier attempt answers one request, in their order: what a page asks for
    again and again is requested from the server in the end.
    """

    def __init__(self) -> None:
        self._current: list[tuple[_Key, Capture]] = []
        self._earlier: dict[_Key, deque[Capture]] = {}
        self._has_begun = False

    def begin(self) -> bool:
        """Note that the document is requested; return whether it was before: another attempt."""
        is_another, self._has_begun = self._has_begun, True
        for key, capture in self._current:
            self._earlier.setdefault(key, deque()).append(capture)
        self._current.clear()
        return is_another

    def add(self, request: BrowserRequest, url: str, capture: Capture) -> None:
        """Keep the reply to a request; one that is cut answers nothing, nor does a handshake."""
        if not capture.truncated and request.resource != "websocket":
            self._current.append((_key(request, url), capture))

    def take(self, request: BrowserRequest, url: str) -> Capture | None:
        """Return the reply that an earlier attempt got to this request; None if it got none.

        Args:
            request: The request.
            url: Its normalised URL.
        """
        key = _key(request, url)
        replies = self._earlier.get(key)
        if not replies:
            return None
        capture = replies.popleft()
        self._current.append((key, capture))
        return capture


def _key(request: BrowserRequest, url: str) -> _Key:
    return request.method, url, request.body
