"""The check of who connects to a console behind a proxy, and whom the proxy speaks for."""

import ipaddress
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from nacre.console.access.reach import is_loopback

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
