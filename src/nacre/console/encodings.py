"""Encodings that a request takes, by its Accept-Encoding field.

Starlette's middleware looks for the word `gzip` alone, and would send it to who says `gzip;q=0`.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

_FIELD = "accept-encoding"


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
            wish = "gzip" if takes_gzip(_wish(scope)) else "identity"
            MutableHeaders(scope=scope)[_FIELD] = wish
        await self._app(scope, receive, send)


def _wish(scope: Scope) -> str:
    return ",".join(Headers(scope=scope).getlist(_FIELD))
