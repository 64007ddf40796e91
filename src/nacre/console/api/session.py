"""Sessions: a link's key becomes one, its language is chosen, it ends."""

import getpass
from urllib.parse import parse_qs

import msgspec
from starlette.responses import RedirectResponse, Response

from nacre.console.access.roles import Role
from nacre.console.access.sessions import cookie_field
from nacre.console.call import Call
from nacre.console.catalogue import LANGUAGES
from nacre.console.problems import RefusedRequestError


class SessionFacts(msgspec.Struct, frozen=True):
    """The identity of the one who asks.

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
    """The language of a session.

    Attributes:
        language: A name such as `zh_CN`; "" for that of the browser.
    """

    language: str


async def log_in(call: Call) -> Response:
    """Exchange the key of a link for the cookie of a session; a form, `key=…`."""
    try:
        fields = parse_qs((await call.request.body()).decode())
    except UnicodeDecodeError:
        fields = {}
    secret = next(iter(fields.get("key", ())), "").strip()
    services = call.services
    if not secret or not services.keys.use_link(secret):
        raise RefusedRequestError(
            401,
            "used-link",
            "this link was used already or is too old: `nacre console link` prints another",
        )
    call.note.who, call.note.how = getpass.getuser(), "link"
    cookie = services.sessions.begin(call.note.who, Role.ADMIN)
    answer = RedirectResponse("/", status_code=303)
    answer.headers["set-cookie"] = cookie_field(cookie)
    return answer


async def who_am_i(call: Call) -> SessionFacts:
    """The identity of the one who asks, as the console knows them."""
    identity = call.identity
    return SessionFacts(identity.name, identity.role.title, identity.how, call.language.name)


async def choose_language(call: Call) -> SessionFacts:
    """Choose the language of this session."""
    chosen: ChosenLanguage = call.body
    if chosen.language not in {"", *LANGUAGES}:
        known = ", ".join(LANGUAGES)
        raise RefusedRequestError(422, "language", f"there is no such language; there are {known}")
    if call.session is None:
        raise RefusedRequestError(409, "no-session", "a key has no language: send Accept-Language")
    call.services.sessions.speak(call.identity, chosen.language)
    facts = await who_am_i(call)
    return msgspec.structs.replace(facts, language=chosen.language or call.language.name)


async def log_out(call: Call) -> Response:
    """End this session."""
    call.services.sessions.end(call.identity)
    return Response(status_code=204, headers={"set-cookie": cookie_field("")})
