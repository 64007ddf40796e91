"""Sessions of browsers: a random id in a cookie, of which the hash is kept."""

from typing import Final, NamedTuple

from nacre.console.access.database import ConsoleDatabase
from nacre.console.access.keys import hash_of, new_secret
from nacre.console.access.roles import Requester, Role, role_named
from nacre.core.clock import Clock

COOKIE: Final = "__Host-nacre"
"""Name of the cookie. Browsers take one of such a name only with `Secure` and `Path=/`, and never
from a neighbour; on the loopback they take it over HTTP as well."""
IDLE: Final = 8 * 3600.0
"""Seconds without a request after which a session is over."""
LIFE: Final = 7 * 86400.0
"""Seconds after which it is over in any case."""
_TOUCH = 60.0
"""Its last use is written at most so often, seconds."""


class BrowserSession(NamedTuple):
    """A session.

    Attributes:
        identity: Whose it is.
        token: Its pages send it with every request that changes something.
        language: The language that was chosen in it; "" for that of the browser.
    """

    identity: Requester
    token: str
    language: str


class SessionBook:
    """The sessions, in the console's database.

    Args:
        database: Keeps them.
        clock: The time.
    """

    def __init__(self, database: ConsoleDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begin(self, name: str, role: Role) -> str:
        """Begin a session; its id, for the cookie."""
        now, secret = self._clock.now(), new_secret()
        self._database.rows(
            "DELETE FROM sessions WHERE used < ? OR made < ?", now - IDLE, now - LIFE
        )
        self._database.rows(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, '')",
            hash_of(secret), name, role.title, new_secret(), now, now,
        )  # fmt: skip
        return secret

    def find(self, secret: str) -> BrowserSession | None:
        """The session of an id; None for one that is over or never was."""
        now, hashed = self._clock.now(), hash_of(secret)
        row = self._database.row(
            "SELECT name, role, token, used, language FROM sessions"
            " WHERE hash = ? AND used >= ? AND made >= ?",
            hashed, now - IDLE, now - LIFE,
        )  # fmt: skip
        if row is None:
            return None
        name, role, token, used, language = map(str, row)
        if now - float(used) > _TOUCH:
            self._database.rows("UPDATE sessions SET used = ? WHERE hash = ?", now, hashed)
        identity = Requester(name, role_named(role) or Role.NOBODY, "session", hashed)
        return BrowserSession(identity, token, language)

    def speak(self, identity: Requester, language: str) -> None:
        """Choose the language of a session; "" for that of the browser."""
        self._database.rows(
            "UPDATE sessions SET language = ? WHERE hash = ?", language, identity.session
        )

    def end(self, identity: Requester) -> None:
        """End the session of somebody."""
        self._database.rows("DELETE FROM sessions WHERE hash = ?", identity.session)


def cookie_field(secret: str) -> str:
    """The Set-Cookie field of a session; one that ends it for ""."""
    lasting = "" if secret else "; Max-Age=0"
    return f"{COOKIE}={secret}; Path=/; Secure; HttpOnly; SameSite=Strict{lasting}"
