"""The gate: the origin of a request, the caller, and their rights.

A page of another site can make a browser send requests here, and can give its own name the address
of this machine. The Host field shows the second, the fields of the browser the first.
"""

import hmac
import secrets
from collections.abc import Mapping
from typing import Final, NamedTuple

from starlette.requests import Request

from nacre.fleet.keys import KeyBook
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import NOBODY, Requester
from nacre.fleet.sessions import COOKIE, BrowserSession, SessionBook
from nacre.messages import message
from nacre.ops.operation import Role
from nacre.web.decoding import sent_form

TOKEN = "x-nacre-token"  # noqa: S105 - the name of a field
"""Field in which pages send the token of their session with what changes something: of the request,
or of the form where a page works without scripts."""
_FORMS = frozenset(("application/x-www-form-urlencoded", "multipart/form-data"))


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
    """Whether a browser sent a request from a page of the console.

    Args:
        fields: Fields of the request, names in lower case.
        origin: The origin of the console, such as `http://localhost:8410`.
    """
    site = fields.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    return fields.get("origin") == origin


class Visitor(NamedTuple):
    """A caller.

    Attributes:
        identity: Identity of the caller.
        session: Session of the caller; None for a key or an anonymous caller.
    """

    identity: Requester
    session: BrowserSession | None = None

    @property
    def shown_session(self) -> BrowserSession | None:
        """The session for a page, with its token masked for this response."""
        if self.session is None:
            return None
        return self.session._replace(token=masked_token(self.session.token))


def identify(request: Request, keys: KeyBook, sessions: SessionBook) -> Visitor:
    """Identify the caller: a key in Authorization takes precedence over a session cookie."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return Visitor(keys.identify(secret.strip()))
    session = sessions.find(request.cookies.get(COOKIE, ""))
    return Visitor(session.identity, session) if session is not None else Visitor(NOBODY)


async def form_token(request: Request) -> str:
    """The token that a form sends; "" if there is none. The body can be read again.

    Raises:
        RefusedRequestError: The form cannot be read (400).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method in SAFE or kind not in _FORMS or TOKEN in request.headers:
        return ""
    token = (await sent_form(request)).get(TOKEN)
    return token if isinstance(token, str) else ""


def require(request: Request, visitor: Visitor, role: Role, token: str = "") -> None:
    """Refuse a request if the caller lacks the role, or if it comes from another site.

    Args:
        request: The request.
        visitor: The caller.
        role: The role that the request needs.
        token: The session token in the form of the request; "" for none.

    Raises:
        RefusedRequestError: 401 for an anonymous caller, 403 for any other caller.
    """
    if visitor.identity.role < role:
        raise _too_little(visitor.identity, role)
    if request.method in SAFE or visitor.identity.how == "key":
        return
    origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if not is_same_origin(dict(request.headers), origin):
        raise RefusedRequestError(
            403,
            "other-origin",
            message(
                "console.foreign-origin",
                "a page of another site sent this; use the console's own pages",
            ),
        )
    sent = request.headers.get(TOKEN) or token
    if visitor.session is not None and not is_token(sent, visitor.session.token):
        raise RefusedRequestError(
            403,
            "no-token",
            message(
                "console.token-missing",
                "the token of the session is missing ({token}); load the page again",
                token=TOKEN,
            ),
        )


def _too_little(identity: Requester, role: Role) -> RefusedRequestError:
    if identity.role is Role.NOBODY:
        return RefusedRequestError(
            401,
            "no-login",
            message(
                "console.login-needed",
                "log in on a page of the console (`nacre console link` prints a link), or send a "
                "key as `Authorization: Bearer KEY`",
            ),
        )
    return RefusedRequestError(
        403,
        "role",
        message(
            "console.role-missing",
            "this needs the role {role}; {name} has {own_role}",
            role=role.title,
            name=identity.name,
            own_role=identity.role.title,
        ),
    )


_BETWEEN: Final = "."


def masked_token(token: str) -> str:
    """A token as one answer shows it: a random mask, a dot, and the token under it, in hex."""
    plain = token.encode()
    mask = secrets.token_bytes(len(plain))
    return f"{mask.hex()}{_BETWEEN}{_under(mask, plain).hex()}"


def is_token(sent: str, token: str) -> bool:
    """Whether a request has a token, masked or as it is.

    Args:
        sent: What it has; "" for nothing.
        token: That of its session.
    """
    mask, dot, hidden = sent.partition(_BETWEEN)
    plain = sent.encode("utf-8", "replace")
    if dot:
        try:
            first, second = bytes.fromhex(mask), bytes.fromhex(hidden)
        except ValueError:
            return False
        plain = _under(first, second) if len(first) == len(second) else b""
    return hmac.compare_digest(plain, token.encode())


def _under(mask: bytes, text: bytes) -> bytes:
    return bytes(first ^ second for first, second in zip(mask, text, strict=True))
