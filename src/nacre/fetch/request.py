"""What the fetcher is asked, and what it answers."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from nacre.core.capture import Capture

Check = Callable[[int, Sequence[tuple[bytes, bytes]]], bool]
"""Called with status and headers before the body; False abandons the body."""


class Guard(Protocol):
    """Says which addresses may be connected to; see `fetch.guard`."""

    def refusal(self, address: str) -> str:
        """Why an IP address is refused, for the operator; "" when it is allowed."""
        ...


class FetchRequest(msgspec.Struct, frozen=True):
    """One request, with all that was decided about it.

    Attributes:
        url: Absolute, normalised http or https URL; userinfo and fragment are not sent.
        addresses: IP addresses of its host, best first, families interleaved; tried 250 ms apart.
            May be empty only through a proxy, which then resolves the name.
        method: HTTP method.
        body: Request body; None for none.
        headers: Extra header fields in order; they replace those of the same name.
        referer: URL of the page that it was found on; "" sends none.
        cookie: Value of the Cookie header; "" sends none.
        etag: ETag of the capture known, for If-None-Match; b"" sends none.
        last_modified: Its Last-Modified, for If-Modified-Since; b"" sends none.
        check: Mid-fetch rule; None fetches every body.
        host_rate: Most bytes a second of all fetches from this host; 0 for no limit.
        fresh: On a connection of its own, which carries nothing before or after.
    """

    url: str
    addresses: tuple[str, ...] = ()
    method: str = "GET"
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    referer: str = ""
    cookie: str = ""
    etag: bytes = b""
    last_modified: bytes = b""
    check: Check | None = None
    host_rate: int = 0
    fresh: bool = False


class FetchResult(msgspec.Struct, frozen=True):
    """What came of it. Web failures are values.

    Attributes:
        status: HTTP status, or a negative `FetchStatus`.
        capture: The exchange; None when there was no usable reply. Close its body when done.
        annotations: What was odd, in order; the capture's own list when there is one.
        error: Text of a failure, for the operator; "" for none.
        starved: The crawler itself had no file handle left; the site was not asked.
    """

    status: int
    capture: Capture | None = None
    annotations: list[str] = []
    error: str = ""
    starved: bool = False
