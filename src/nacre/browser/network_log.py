"""The requests of a page as the browser reports them: events of its Network domain to records.

The browser is not trusted: its reports of a page are bounded in number and size.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.browser.settle import Settling
from nacre.core.rendered import NetworkEvent

MAX_EVENTS = 2000
MAX_URL = 65_536

_RESOURCES = {
    "Stylesheet": "style",
    "Image": "image",
    "Media": "media",
    "TextTrack": "media",
    "Font": "font",
    "Script": "script",
    "XHR": "fetch",
    "Fetch": "fetch",
    "EventSource": "fetch",
    "Preflight": "fetch",
    "WebSocket": "websocket",
    "Ping": "beacon",
    "CSPViolationReport": "beacon",
}


class NetworkLog:
    """Collects the requests of a page, and reports them to what decides when the page has ended.

    Args:
        settling: Receives each beginning and end.
        frame: ID of the main frame; documents of others have the resource `frame`.
    """

    def __init__(self, settling: Settling, frame: str) -> None:
        """See the class."""
        self._settling = settling
        self._frame = frame
        self._events: list[NetworkEvent] = []
        self._places: dict[str, int] = {}
        self._workers: set[str] = set()

    @property
    def events(self) -> tuple[NetworkEvent, ...]:
        """The requests in the order in which they began; of a redirect each hop."""
        return tuple(self._events)

    def receive(self, method: str, params: Mapping[str, Any], now: float) -> None:
        """Take an event of the Network domain; others are ignored.

        IDs of requests hold for all sessions: a page asks for the script of a worker, and its end
        is an event of the worker.

        Args:
            method: Name of the event, such as `Network.loadingFinished`.
            params: Its parameters.
            now: Monotonic time, seconds.
        """
        request = str(params.get("requestId", ""))
        match method:
            case "Network.requestWillBeSent":
                self._begin(request, params, now)
            case "Network.responseReceived":
                self._respond(request, params.get("response"))
            case "Network.requestServedFromCache":
                self._change(request, from_cache=True)
            case "Network.loadingFinished" | "Network.webSocketClosed":
                self._settling.end_request(request, now)
            case "Network.loadingFailed":
                self._change(request, error=_text(params, "errorText", 100))
                self._settling.end_request(request, now)
            case "Network.webSocketCreated":
                self._add(request, _text(params, "url", MAX_URL + 1), "websocket", now)
            case "Network.webSocketHandshakeResponseReceived":
                self._respond(request, params.get("response"))
            case _:
                pass

    def _begin(self, request: str, params: Mapping[str, Any], now: float) -> None:
        if redirect := params.get("redirectResponse"):
            self._respond(request, redirect)
        sent = params.get("request")
        url = _text(sent, "url", MAX_URL + 1) if isinstance(sent, dict) else ""
        kind = _text(params, "type", 40)
        if kind == "Document":
            resource = "document" if params.get("frameId") == self._frame else "frame"
        else:
            resource = _RESOURCES.get(kind, "other")
        self._add(request, url, resource, now)

    def _add(self, request: str, url: str, resource: str, now: float) -> None:
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return
        self._settling.start_request(request, resource, now)
        if len(url) <= MAX_URL and len(self._events) < MAX_EVENTS:
            self._places[request] = len(self._events)
            self._events.append(NetworkEvent(url.partition("#")[0], resource))

    def _respond(self, request: str, response: object) -> None:
        if not isinstance(response, dict):
            return
        status = response.get("status")
        self._change(
            request,
            status=status if isinstance(status, int) and 0 <= status <= 999 else 0,
            mime=_text(response, "mimeType", 200),
        )
        if response.get("fromDiskCache") or response.get("fromPrefetchCache"):
            self._change(request, from_cache=True)

    def _change(self, request: str, **fields: str | int | bool) -> None:
        place = self._places.get(request)
        if place is not None:
            self._events[place] = msgspec.structs.replace(self._events[place], **fields)


def _text(params: Mapping[str, Any], name: str, limit: int) -> str:
    """Return a text of an event, bounded, without what UTF-8 cannot express."""
    value = params.get(name)
    return clean_text(value, limit) if isinstance(value, str) else ""


def clean_text(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, lone surrogates replaced."""
    return text[:limit].encode("utf-8", "replace").decode()
