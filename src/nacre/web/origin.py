"""The checks of where a request comes from, and the fields of every answer (pure).

A page of another site can make a browser send requests here, and can give its own name the address
of this machine. The Host field shows the second, the fields of the browser the first.
"""

from collections.abc import Mapping
from typing import Final

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""Names under which the console answers in any case."""

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""The fields of every answer; an answer that sets a field itself keeps it."""

HSTS: Final = ("strict-transport-security", "max-age=31536000; includeSubDomains")
"""The field of answers over HTTPS under another name than those of the loopback."""

SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))
"""Verbs that change nothing."""


def is_our_host(field: str, names: frozenset[str]) -> bool:
    """Whether a Host field names this console.

    Args:
        field: Its value; "" if there is none.
        names: Names under which the console answers, lower case.
    """
    name, _, port = field.rpartition(":")
    if not name or port.endswith("]") or (port and not port.isdigit()):
        name = field
    return name.lower() in names


def is_same_origin(fields: Mapping[str, str], origin: str) -> bool:
    """Whether a browser sent a request from one of our own pages.

    Args:
        fields: Fields of the request, names in lower case.
        origin: Our own origin, such as `http://localhost:8410`.
    """
    site = fields.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    return fields.get("origin") == origin
