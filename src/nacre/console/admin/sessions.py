"""Sessions: a link or a password becomes one, its language is chosen, it ends, others too."""

import getpass
from typing import Final
from urllib.parse import parse_qs

import msgspec
from starlette.responses import RedirectResponse, Response

from nacre.console.call import AdminCall, PageAnswer
from nacre.console.links import ItemList
from nacre.core.clock import iso
from nacre.fleet.passwords import require_good
from nacre.fleet.reach import takes_links
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.fleet.sessions import SHORT, ListedSession, cookie_field
from nacre.messages import message
from nacre.ops.fields import Secret, ShortText
from nacre.ops.operation import Role
from nacre.web.languages import LANGUAGES

_LARGEST_FORM: Final = 16_384


class SessionFacts(msgspec.Struct, frozen=True):
    """The identity of the caller.

    Attributes:
        name: Their name.
        role: `viewer`, `operator` or `admin`.
        how: `session` or `key`.
        language: The language of answers.
    """

    name: str
    role: str
    how: str
    language: str


class ChosenLanguage(msgspec.Struct, frozen=True):
    """The language of a user, or of the session of a link.

    Attributes:
        language: A name such as `zh_CN`; "" for that of the browser.
    """

    language: ShortText


class ChangedPassword(msgspec.Struct, frozen=True):
    """A new password of one's own.

    Attributes:
        old: The password until now.
        password: The new one, 12 to 128 characters.
    """

    old: Secret
    password: Secret


class SessionItem(msgspec.Struct, frozen=True):
    """A session of a browser.

    Attributes:
        id: Its id in URLs, which opens nothing.
        name: Whose it is.
        role: Their role.
        how: `link` or `password`.
        made: When it began, RFC 3339.
        used: When it was used last, RFC 3339, exact to a minute.
        address: Where it was begun.
        agent: The browser, as it calls itself.
        own: It is the one that asks.
    """

    id: str
    name: str
    role: str
    how: str
    made: str
    used: str
    address: str
    agent: str
    own: bool


class SessionList(ItemList[SessionItem], frozen=True):
    """Sessions that are not over."""


async def log_in(call: AdminCall) -> Response:
    """Begin a session by a form: `key=…` of a link, or `name=…&password=…`, and `next=PATH`."""
    fields = await _form(call)
    by_link = bool(fields.get("key", "").strip()) or "password" not in fields
    secret = await (_by_link(call, fields) if by_link else _by_password(call, fields))
    if call.session is not None:
        call.parts.sessions.end(call.identity)
    answer = RedirectResponse(inner_path(fields.get("next", "")), status_code=303)
    answer.headers["set-cookie"] = cookie_field(secret)
    return answer


async def _form(call: AdminCall) -> dict[str, str]:
    """The fields of the form; one that is larger than any login has none."""
    data = bytearray()
    async for part in call.request.stream():
        data += part
        if len(data) > _LARGEST_FORM:
            raise RefusedRequestError(
                413,
                "large",
                message(
                    "console.login-size",
                    "a login has at most {largest_form:,} bytes",
                    largest_form=_LARGEST_FORM,
                ),
            )
    try:
        fields = parse_qs(data.decode(), keep_blank_values=True, max_num_fields=10)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


async def _by_link(call: AdminCall, fields: dict[str, str]) -> str:
    """The id of a session that a link opens; there the user of this machine is admin."""
    if not takes_links(has_users=not call.parts.users.is_empty, local_link=call.reach.local_link):
        raise RefusedRequestError(
            403,
            "no-links",
            message(
                "console.links-disabled",
                "this console has users: log in by name and password; `nacre console --local-link` "
                "takes links too",
            ),
        )
    secret = fields.get("key", "").strip()
    if not secret or not call.parts.keys.use_link(secret):
        raise RefusedRequestError(
            401,
            "used-link",
            message(
                "console.link-expired",
                "this link was used already or is too old: `nacre console link` prints another",
            ),
        )
    call.note.who, call.note.how = getpass.getuser(), "link"
    agent = call.request.headers.get("user-agent", "")
    return call.parts.sessions.begin(call.note.who, Role.ADMIN, "link", call.address, agent)


async def _by_password(call: AdminCall, fields: dict[str, str]) -> str:
    """Log a user in by password and return the id of the new session."""
    name = fields.get("name", "")
    # Do not log an unknown name: it may be a password that was typed into the wrong field.
    named_user = call.parts.users.find(name)
    call.note.after = {"name": named_user.name if named_user is not None else "(unknown)"}
    user = await call.parts.logins.check(name, fields["password"], call.address)
    call.note.who, call.note.how = user.name, "password"
    return call.parts.logins.begin(user, call.address, call.request.headers.get("user-agent", ""))


def inner_path(path: str) -> str:
    """The page that a login leads to: a path of this console, else `/`."""
    fine = path.startswith("/") and not path.startswith(("//", "/\\")) and len(path) <= 2000
    return path if fine and path.isascii() and path.isprintable() else "/"


async def log_in_page(call: AdminCall) -> PageAnswer:
    """The page with the form to log in."""
    return PageAnswer("login.html", {"next": inner_path(call.request.query_params.get("next", ""))})


async def change_password(call: AdminCall) -> Response:
    """Change one's own password; all sessions of the user end, and this one gets a new id.

    Raises:
        RefusedRequestError: The old one is wrong, or the new one is refused.
    """
    request: ChangedPassword = call.body
    name = call.identity.name
    if call.session is None or call.parts.users.find(name) is None:
        raise RefusedRequestError(
            409,
            "no-password",
            message("console.no-password", "this user has no password to change"),
        )
    user = await call.parts.logins.check(name, request.old, call.address)
    require_good(request.password, name)
    call.parts.users.set_hash(name, await call.parts.logins.checker.hash_beside(request.password))
    call.note.change(None, {"password": "changed"})
    agent = call.request.headers.get("user-agent", "")
    field = cookie_field(call.parts.logins.begin(user, call.address, agent))
    return Response(status_code=204, headers={"set-cookie": field})


async def list_sessions(call: AdminCall) -> SessionList:
    """The sessions of the caller; those of all for an admin."""
    identity = call.identity
    is_admin = identity.role >= Role.ADMIN
    # A key can have the name of a user; it has no sessions.
    sessions = call.parts.sessions.all("" if is_admin else identity.name)
    if not is_admin and call.session is None:
        sessions = []
    own = identity.session[:SHORT]
    return SessionList(tuple(_session_item(session, own) for session in sessions), None, call.now)


def _session_item(session: ListedSession, own: str) -> SessionItem:
    return SessionItem(
        session.id, session.name, session.role, session.how, iso(session.made),
        iso(session.used), session.address, session.agent, session.id == own,
    )  # fmt: skip


async def revoke_session(call: AdminCall) -> None:
    """End a session: one's own, or any user's for an admin.

    Raises:
        RefusedRequestError: There is none that the requester may end (404).
    """
    identity, short = call.identity, str(call.params["session"])
    owner = "" if identity.role >= Role.ADMIN else identity.name
    if (owner and call.session is None) or not call.parts.sessions.revoke(short, owner):
        raise not_found("session", short)
    call.note.change({"session": short}, None)


async def who_am_i(call: AdminCall) -> SessionFacts:
    """The identity of the caller, as the console knows them."""
    identity = call.identity
    return SessionFacts(identity.name, identity.role.title, identity.how, call.language.name)


async def choose_language(call: AdminCall) -> SessionFacts:
    """Choose the language of the user, or of the session of a link."""
    chosen: ChosenLanguage = call.body
    if chosen.language not in {"", *LANGUAGES}:
        text = ", ".join(LANGUAGES)
        raise RefusedRequestError(
            422,
            "language",
            message(
                "console.no-language", "there is no such language; there are {names}", names=text
            ),
        )
    if call.session is None:
        raise RefusedRequestError(
            409,
            "no-session",
            message("console.key-language", "a key has no language: send Accept-Language"),
        )
    call.parts.sessions.speak(call.identity, chosen.language)
    facts = await who_am_i(call)
    return msgspec.structs.replace(facts, language=chosen.language or call.language.name)


async def log_out(call: AdminCall) -> Response:
    """End this session."""
    call.parts.sessions.end(call.identity)
    return Response(status_code=204, headers={"set-cookie": cookie_field("")})
