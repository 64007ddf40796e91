"""A page in a browser: its requests, who answers them, and the state in which the page ended.

The browser (`browser`) knows no fetcher, and what fetches (`engine`) knows no browser: both know
these records and protocols. Another proxy, such as one that answers from an archive alone, fulfils
`RequestHandler` too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec


class BrowserRequest(msgspec.Struct, frozen=True):
    """A request of a browser, as it came to the proxy.

    Attributes:
        method: HTTP method, as sent.
        url: Absolute URL; `http`, `https`, for a WebSocket `ws` or `wss`.
        headers: Header lines in the order and case of the browser, without those of the connection
            (`Proxy-*`, `Connection`, `Keep-Alive`, `TE`, `Transfer-Encoding`, `Upgrade`).
        body: The body; None for none.
        resource: What the page wants it for: `document`, `script`, `style`, `image`, `font`,
            `media`, `fetch`, `frame`, `worker`, `beacon`, `websocket`, `other`; by Sec-Fetch-Dest.
    """

    method: str
    url: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes | None = None
    resource: str = "other"

    def header(self, name: bytes) -> bytes:
        """Return the first value of a header field, by its name in lower case; b"" for none."""
        size = len(name)
        for key, value in self.headers:
            if len(key) == size and key.lower() == name:
                return value
        return b""


class ServerEnd(Protocol):
    """The connection to a server, once it speaks another protocol: a WebSocket."""

    def send(self, data: bytes) -> None:
        """Send bytes of the browser."""
        ...

    def close(self) -> None:
        """Close the connection; may be called twice."""
        ...


class ReplyWriter(Protocol):
    """Takes the reply to one request of a browser, piece by piece.

    A writer that has neither begun nor ended when its handler returns is refused.
    """

    @property
    def has_begun(self) -> bool:
        """Whether a byte of a reply went to the browser."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether the browser takes the bytes more slowly than they come: await `drain`."""
        ...

    def begin(self, status: int, head: bytes, framing: str) -> None:
        """Send the head.

        Args:
            status: HTTP status.
            head: From the status line to the blank line, as the server sent it.
            framing: How the body is delimited; see `core.capture.Capture.framing`.
        """
        ...

    def write(self, data: bytes) -> None:
        """Send a part of the body, as the server sent it: the transfer coding is not removed."""
        ...

    async def drain(self) -> None:
        """Wait until the browser has taken most of the written bytes."""
        ...

    def end(self) -> None:
        """End a complete reply."""
        ...

    def refuse(self) -> None:
        """Close the connection without a byte, or in the middle of a reply that has begun.

        A page must not see a reply that its server did not send.
        """
        ...

    def when_closed(self, listener: Callable[[], None]) -> None:
        """Call a listener once when the browser no longer waits for the reply.

        It left, or its page ended. If that has happened, the listener is called at once. There is
        one listener at most.
        """
        ...

    def switch(self, server: ServerEnd) -> None:
        """After a status of 101: from now on send all bytes of the browser to the server.

        Bytes of the server go to `write`, and its end to `end`.
        """
        ...


class RequestHandler(Protocol):
    """Answers the requests of one page, or of one person's browser."""

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        """Answer a request; what goes wrong on the web is a refusal, never an exception."""
        ...


class BrowserCookie(msgspec.Struct, frozen=True):
    """A cookie for, or from, the context of a page.

    Attributes:
        name, value, domain, path: As in RFC 6265; a domain without a leading dot is a host alone.
        expires: Seconds since the epoch; None: at the end of the session.
        secure, http_only: As in RFC 6265.
        same_site: `Strict`, `Lax`, `None`; "" if it is not set.
    """

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float | None = None
    secure: bool = False
    http_only: bool = False
    same_site: str = ""


class PageTask(msgspec.Struct, frozen=True):
    """A page to open in a browser.

    Attributes:
        url: http or https URL.
        user_agent: User agent of its requests; "" for the browser's own and `operator`.
        operator: What the browser's own user agent is marked with, such as
            `nacre/0.1.0 +https://example.org/`; "" for the product and its version alone.
        language: Accept-Language; "" for the browser's own.
        seed: First seed of `Math.random` in the page, as replayers seed it; 0 leaves it alone.
        cookies: Cookies to set before.
        viewport: Width and height, CSS pixels.
        device: Name of a device of `browser.device`; "" for none.
        behaviours: Names of the behaviours to run, in their order.
        consent: What `consent` presses in dialogs that ask for it: `reject` or `accept`.
        scripts: Site scripts: name and source.
        pictures: Pictures to take: `view`, `fullPage`, `thumbnail`.
        load_time: Longest time until it is loaded, seconds.
        behaviour_time: Longest time of all behaviours together, seconds.
        time: Longest time of the page in all, seconds.
        wants_dom: Whether the serialised DOM is to be returned.
    """

    url: str
    user_agent: str = ""
    operator: str = ""
    language: str = ""
    seed: int = 0
    cookies: tuple[BrowserCookie, ...] = ()
    viewport: tuple[int, int] = (1440, 900)
    device: str = ""
    behaviours: tuple[str, ...] = ()
    consent: str = "reject"
    scripts: tuple[tuple[str, str], ...] = ()
    pictures: tuple[str, ...] = ()
    load_time: float = 30.0
    behaviour_time: float = 45.0
    time: float = 90.0
    wants_dom: bool = True


class RenderedLink(msgspec.Struct, frozen=True):
    """A URL that a page led to while it was open.

    Attributes:
        url: Absolute URL.
        origin: `navigation` (the page wanted to go there), or the name of the behaviour.
    """

    url: str
    origin: str


class NetworkEvent(msgspec.Struct, frozen=True):
    """A request of a page, as the browser reports it.

    Attributes:
        url: Absolute URL, without a fragment.
        resource: As in `BrowserRequest`.
        status: HTTP status; 0 if there was no reply.
        mime: Media type; "" if there was no reply.
        error: The browser's name of a failure; "" for none.
        from_cache: Whether the browser answered it by itself.
    """

    url: str
    resource: str
    status: int = 0
    mime: str = ""
    error: str = ""
    from_cache: bool = False


class RenderedRoute(msgspec.Struct, frozen=True):
    """A state of a document that one of its hash routes (`#/…`) leads to.

    Attributes:
        url: Absolute URL with its fragment.
        dom: The serialised DOM of that state, as in `RenderedPage`.
        title: Its title; "" for none.
    """

    url: str
    dom: bytes
    title: str = ""


class RenderedPage(msgspec.Struct, frozen=True):
    """The state in which a page ended, and what happened until then.

    Attributes:
        ended: `settled` (whole), `loadTime`, `pageTime`, `requestLimit`, `byteLimit`, `crash`,
            `hang`, `memory`, `browserGone`, `notLoaded`.
        url: URL of its document at the end, with its fragment; "" if it never loaded.
        title: Its title; "" for none.
        dom: The serialised final DOM with open shadow roots, UTF-8; b"" if it could not be taken.
        text: Visible text as the browser lays it out, for the signs of walls; "" for none.
        pictures: Kind to PNG or JPEG.
        links: URLs that it led to, in order.
        routes: States that its hash routes lead to, in order; their links count as the page's.
        events: Requests that the browser reports, in order.
        console_errors: Messages of uncaught exceptions and failed loads, at most 50.
        behaviours: Name of a behaviour to its result, such as `{"scroll": "12 steps"}`.
        cookies: Cookies of the context at the end.
        covered: Share of the viewport that dialogs cover, 0 to 1.
        seconds: Time from the navigation to the end.
        cpu: CPU time of the browser meanwhile, seconds; all pages that were open share it.
        browser: Name and version of the browser.
    """

    ended: str
    url: str = ""
    title: str = ""
    dom: bytes = b""
    text: str = ""
    pictures: Mapping[str, bytes] = {}
    links: Sequence[RenderedLink] = ()
    routes: Sequence[RenderedRoute] = ()
    events: Sequence[NetworkEvent] = ()
    console_errors: Sequence[str] = ()
    behaviours: Mapping[str, str] = {}
    cookies: Sequence[BrowserCookie] = ()
    covered: float = 0.0
    seconds: float = 0.0
    cpu: float = 0.0
    browser: str = ""


class PageRenderer(Protocol):
    """Opens pages in a browser; `browser.pool.BrowserPool` is one."""

    @property
    def slots(self) -> int:
        """Number of pages that may be open at once."""
        ...

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        """Open a page; every request of it goes to `handler`. If it is cancelled, the page ends.

        Raises:
            BrowserError: No browser can be started; the message has the remedy.
        """
        ...

    async def close(self) -> None:
        """End the browser, if there is one."""
        ...
