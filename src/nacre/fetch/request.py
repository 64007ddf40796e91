"""The request to the fetcher and its result, and the bytes of the request that go out."""

import errno
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

import msgspec

from nacre.core.capture import Capture
from nacre.core.rendered import ReplyWriter
from nacre.fetch.identity import RequestSigner
from nacre.fetch.settings import FetchSettings
from nacre.messages import message
from nacre.wire.head import header_lines, request_head

Check = Callable[[int, Sequence[tuple[bytes, bytes]]], bool]
"""Called with status and headers before the body; False abandons the body."""


class Guard(Protocol):
    """Determines which addresses may be connected to; see `fetch.guard`."""

    def refusal(self, address: str) -> str:
        """The reason why an IP address is refused, for the operator; "" when it is allowed."""
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
        fresh: On a separate connection, which carries no other request.
        tap: Gets the reply while it is received; None: no tap. A reply of which a byte was
            passed on is never requested again.
        only_headers: Send the header lines of `headers` alone, in their order, behind Host.
        upgrade: Protocol to switch to, `websocket`; "" for none. After a 101 `tap` gets the
            connection.
        signer: Signs the request each time that it is sent; None: it is not signed.
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
    tap: ReplyWriter | None = None
    only_headers: bool = False
    upgrade: str = ""
    signer: RequestSigner | None = None


class FetchResult(msgspec.Struct, frozen=True):
    """The result of a fetch. Web failures are values.

    Attributes:
        status: HTTP status, or a negative `FetchStatus`.
        capture: The exchange; None when there was no usable reply. Close its body when done.
        annotations: What was odd, in order; the capture's own list when there is one.
        error: Text of a failure, for the operator; "" for none.
        starved: Whether the crawler had no file handle left; no request was sent.
    """

    status: int
    capture: Capture | None = None
    annotations: list[str] = []
    error: str = ""
    starved: bool = False


_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """The target of a URL.

    Attributes:
        scheme: `http` or `https`.
        host: Name or address, IPv6 without brackets.
        port: Port.
        authority: As the Host header wants it: without userinfo and default port.
        is_address: The host is an IP address.
        lines: The Host header line.
    """

    scheme: str
    host: str
    port: int
    authority: str
    is_address: bool
    lines: bytes

    @property
    def sni(self) -> str:
        """Server name to send in TLS: none for addresses, no trailing dot."""
        return "" if self.is_address else self.host.rstrip(".")


def split_url(url: str) -> tuple[Origin, str]:
    """Split a URL into its origin and the request target.

    Raises:
        ValueError: It is not an http or https URL with a host and a valid port.
    """
    begin = url.find("://") + 3
    end = url.find("/", begin)
    if end < 0 or "?" in url[begin:end] or "#" in url:
        parts = urlsplit(url)
        query = f"?{parts.query}" if parts.query or "?" in url.partition("#")[0] else ""
        return origin_of(f"{parts.scheme}://{parts.netloc}"), (parts.path or "/") + query
    return origin_of(url[:end]), url[end:]


@lru_cache(maxsize=8192)
def origin_of(prefix: str) -> Origin:
    """Return the origin of `scheme://authority`; see `split_url`."""
    parts = urlsplit(prefix)
    host, scheme = parts.hostname or "", parts.scheme
    if scheme not in _PORTS or not host:
        raise ValueError(
            message(
                "fetch.not-http-or-https-url", "not an http or https URL: {prefix!r}", prefix=prefix
            )
        )
    port = parts.port or (_PORTS[scheme] if parts.port is None else 0)
    if not port:
        raise ValueError(f"port 0: {prefix!r}")
    name = f"[{host}]" if ":" in host else host
    authority = name if port == _PORTS[scheme] else f"{name}:{port}"
    return Origin(
        scheme, host, port, authority, _is_address(host), header_lines([("Host", authority)])
    )


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def request_bytes(
    request: FetchRequest, settings: FetchSettings, origin: Origin, target: str, extra: bytes = b""
) -> bytes:
    """Serialise a request.

    Args:
        request: What to fetch.
        settings: Effective settings.
        origin: Origin of its URL.
        target: Request target.
        extra: Header lines of the connection's own, such as Proxy-Authorization.

    Raises:
        ValueError: A value cannot be sent: it holds CR, LF or NUL, or a name is not a token.
    """
    if request.only_headers:
        lines = _only_headers(request, origin)
    elif request.headers or request.body is not None:
        lines = _merge_headers(request, settings, origin)
    elif request.cookie or request.etag or request.last_modified or settings.send_range:
        lines = origin.lines + settings.lines + header_lines(_own(request, settings))
    else:
        lines = origin.lines + settings.lines
        if _refers(request, settings):
            lines += _referer_line(request.referer)
    if request.upgrade:
        lines += extra + header_lines([("Connection", "Upgrade"), ("Upgrade", request.upgrade)])
    else:
        lines += extra + b"Connection: keep-alive\r\n"
    head = request_head(request.method, target, lines)
    return head + request.body if request.body else head


def _own(request: FetchRequest, settings: FetchSettings) -> Iterator[tuple[str, str]]:
    """Header fields that depend on the request."""
    if _refers(request, settings):
        yield "Referer", _bare(request.referer)
    if request.cookie:
        yield "Cookie", request.cookie
    if settings.send_range and settings.max_length:
        yield "Range", f"bytes=0-{settings.max_length - 1}"
    if request.etag:
        yield "If-None-Match", request.etag.decode("utf-8", "surrogateescape")
    if request.last_modified:
        yield "If-Modified-Since", request.last_modified.decode("utf-8", "surrogateescape")


def _refers(request: FetchRequest, settings: FetchSettings) -> bool:
    """The page that led there is named, but never one of https to http."""
    if not (request.referer and settings.send_referer):
        return False
    return not (request.referer.startswith("https:") and request.url.startswith("http:"))


@lru_cache(maxsize=1024)
def _referer_line(referer: str) -> bytes:
    """Many pages of a crawl in turn were found on one page."""
    return header_lines([("Referer", _bare(referer))])


def _bare(url: str) -> str:
    """Return a URL without userinfo and fragment."""
    if "@" not in url and "#" not in url:
        return url
    url = url.partition("#")[0]
    scheme, colon, after = url.partition("://")
    authority, slash, path = after.partition("/")
    return f"{scheme}{colon}{authority.rpartition('@')[2]}{slash}{path}"


def _merge_headers(request: FetchRequest, settings: FetchSettings, origin: Origin) -> bytes:
    """Return all header lines, where the request's own replace others of the same name."""
    fields = [("Host", origin.authority), *settings.fields, *_own(request, settings)]
    if request.body is not None:
        fields.append(("Content-Length", str(len(request.body))))
    names = {name.lower() for name, _ in request.headers} - {"content-length", "connection"}
    defaults = [field for field in fields if field[0].lower() not in names]
    own = [field for field in request.headers if field[0].lower() in names]
    host = next((field for field in own if field[0].lower() == "host"), None)
    if host:
        own.remove(host)
        defaults.insert(0, host)
    return header_lines(defaults + own)


_OF_CONNECTION = frozenset(("host", "connection", "content-length", "upgrade"))


def _only_headers(request: FetchRequest, origin: Origin) -> bytes:
    """Return the header lines of the request alone, Host first, with the length of the body."""
    hosts = [field for field in request.headers if field[0].lower() == "host"]
    fields = hosts[:1] or [("Host", origin.authority)]
    body = request.body
    for field in request.headers:
        name = field[0].lower()
        if name == "content-length" and body is not None:
            fields.append((field[0], str(len(body))))
            body = None
        elif name not in _OF_CONNECTION:
            fields.append(field)
    if body is not None:
        fields.append(("Content-Length", str(len(body))))
    return header_lines(fields)


_NO_HANDLES = frozenset((errno.EMFILE, errno.ENFILE))


def is_starvation(error: BaseException) -> bool:
    """The process (EMFILE) or its machine (ENFILE) has no file handle left."""
    return isinstance(error, OSError) and error.errno in _NO_HANDLES
