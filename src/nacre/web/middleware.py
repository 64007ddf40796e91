"""Encodings that a request takes, by its Accept-Encoding field.

Starlette's middleware looks for the word `gzip` alone, and would send it to who says `gzip;q=0`.
"""

import ipaddress
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nacre.errors import NacreError
from nacre.fleet.reach import is_loopback
from nacre.messages import error_text
from nacre.report.escape import printable
from nacre.web.gate import HEADERS, HSTS, LOOPBACK, is_our_host

_FIELD = "accept-encoding"
_LOG: Final = logging.getLogger(__name__)


def takes_gzip(field: str) -> bool:
    """Whether gzip is taken (pure). Source: RFC 9110, 12.5.3.

    Args:
        field: The Accept-Encoding field; "" for none, which takes none here.
    """
    weights = {}
    for part in field.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weights[name] = next(
            (_weight(parameter[2:]) for parameter in parameters if parameter.startswith("q=")), 1.0
        )
    named = [weights[name] for name in ("gzip", "x-gzip", "*") if name in weights]
    return bool(named) and named[0] > 0.0


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


class GzipWish:
    """Middleware that leaves the field with `gzip` where that is taken, and without it elsewhere.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            scope = {**scope, "headers": list(scope["headers"])}
            encoding = "gzip" if takes_gzip(_accepted_codings(scope)) else "identity"
            MutableHeaders(scope=scope)[_FIELD] = encoding
        await self._app(scope, receive, send)


def _accepted_codings(scope: Scope) -> str:
    return ",".join(Headers(scope=scope).getlist(_FIELD))


_FORWARDED: Final = ("x-forwarded-for", "x-forwarded-proto", "forwarded", "x-real-ip")


class PeerGuard:
    """Only the proxy and this machine may connect; the proxy must have been asked over HTTPS.

    The address and scheme of a request are those that the proxy names. Fields of others that say so
    are refused or have no effect.

    Args:
        app: The application.
        proxy: Address of the proxy.
    """

    def __init__(self, app: ASGIApp, proxy: str) -> None:
        self._app = app
        self._proxy = proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peer = scope["client"][0] if scope.get("client") else ""
        headers = Headers(scope=scope)
        is_forwarded = any(name in headers for name in _FORWARDED)
        if peer != self._proxy or not is_forwarded:
            # A request of this machine itself, beside the proxy.
            if is_loopback(peer) and peer and not is_forwarded:
                await self._app(scope, receive, send)
                return
            text = "only the proxy of this console may connect, with X-Forwarded-For and -Proto\n"
        elif headers.get("x-forwarded-proto", "").strip().lower() != "https":
            text = "the proxy has to be asked over HTTPS, and to send X-Forwarded-Proto: https\n"
        else:
            client = forwarded_for(headers.get("x-forwarded-for", ""), peer)
            await self._app({**scope, "scheme": "https", "client": (client, 0)}, receive, send)
            return
        await Response(text, 403, media_type="text/plain")(scope, receive, send)


def forwarded_for(field: str, peer: str) -> str:
    """The address that a proxy speaks for: the last one, which it added itself.

    Args:
        field: The X-Forwarded-For field; "" for none.
        peer: Address of the proxy, which is the answer where the field has none.
    """
    last = field.rpartition(",")[2].strip()
    try:
        return str(ipaddress.ip_address(last))
    except ValueError:
        return peer


LARGEST_BODY: Final = 64 << 20
"""Bytes of a request's body."""


class RequestGuard:
    """The check of the Host and of the size of a request, and the fields of every answer.

    Args:
        app: The application.
        hosts: Names under which the console answers, lower case.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        # Not for the loopback: other programs there speak plain HTTP under the same name.
        lasting = scope["scheme"] == "https" and not is_our_host(host, frozenset(LOOPBACK))

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    fields.setdefault(name, value)
                if lasting:
                    fields.setdefault(*HSTS)
            await send(message)

        if len(headers.getlist("host")) > 1 or not is_our_host(host, self._hosts):
            text = "this console does not answer under that name; --host adds one\n"
            await Response(text, 421, media_type="text/plain")(scope, receive, guarded)
            return
        size = headers.get("content-length", "0")
        if not (size.isascii() and size.isdigit() and len(size) < 16) or int(size) > LARGEST_BODY:
            text = f"a request is longer than {LARGEST_BODY:,} bytes\n"
            await Response(text, 413, media_type="text/plain")(scope, receive, guarded)
            return
        await self._app(scope, _limited(receive), guarded)


def _limited(receive: Receive) -> Callable[[], Awaitable[Message]]:
    """The same, but a body without a length ends at the limit as if the sender were gone."""
    remaining = LARGEST_BODY

    async def limited() -> Message:
        nonlocal remaining
        message = await receive()
        remaining -= len(message.get("body", b""))
        return message if remaining >= 0 else {"type": "http.disconnect"}

    return limited


class StreamGuard:
    """Middleware that ends the connection of an answer whose stream fails, with a line in the log.

    The file that is sent may be damaged or removed. The client sees that the answer is not whole.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        has_begun = False

        async def note(event: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(event)

        try:
            await self._app(scope, receive, note)
        except NacreError as error:
            if not has_begun:
                raise
            _LOG.error("an answer is not whole: %s", printable(error_text(error)))
