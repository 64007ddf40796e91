"""Sessions of browsers: a random id in a cookie; only its hash is stored."""

from typing import Final, NamedTuple

from nacre.core.clock import Clock
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import TOUCH, hash_of, new_secret, split_places
from nacre.fleet.requester import Requester
from nacre.ops.operation import Role, role_named

COOKIE: Final = "__Host-nacre"
"""Name of the cookie. Browsers take one of such a name only with `Secure` and `Path=/`, and never
from a neighbour; on the loopback they take it over HTTP as well."""
IDLE: Final = 8 * 3600.0
"""Seconds without a request after which a session expires."""
LIFE: Final = 7 * 86400.0
"""Seconds after which a session expires in any case."""
SHORT: Final = 16
"""Number of characters of the short id in a list."""
_LONGEST_AGENT = 200


class BrowserSession(NamedTuple):
    """A session.

    Attributes:
        identity: Identity of its owner.
        token: Token that its pages send with every request that changes something.
        language: The language that its user chose, or that was chosen in one of a link; "" for
            that of the browser.
    """

    identity: Requester
    token: str
    language: str


class ListedSession(NamedTuple):
    """A session in a list.

    Attributes:
        id: The first characters of its hash, which open nothing.
        name: Name of its owner.
        role: The owner's present role.
        how: `link` or `password`.
        made: Time of its begin, seconds since the epoch.
        used: Time of its last use, seconds since the epoch, to the minute.
        address: Address at which it began.
        agent: User agent of the browser.
    """

    id: str
    name: str
    role: str
    how: str
    made: float
    used: float
    address: str
    agent: str


class SessionBook:
    """The sessions, in the console's database.

    Args:
        database: The console's database.
        clock: The time.
    """

    def __init__(self, database: ConsoleDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begin(
        self, name: str, role: Role, how: str = "link", address: str = "", agent: str = ""
    ) -> str:
        """Begin a session, and return its id for the cookie.

        Args:
            name: Name of its owner.
            role: Role of the owner; for users, the role at the time of each request applies.
            how: `link`, or `password` for a user.
            address: Address of the client.
            agent: User agent of the browser.
        """
        now, secret = self._clock.now(), new_secret()
        self._database.rows(
            "DELETE FROM sessions WHERE used < ? OR made < ?", now - IDLE, now - LIFE
        )
        self._database.rows(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, ?)",
            hash_of(secret), name, role.title, new_secret(), now, now, how, address,
            agent[:_LONGEST_AGENT],
        )  # fmt: skip
        return secret

    def find(self, secret: str) -> BrowserSession | None:
        """Return the session of an id; None if it has expired or never existed."""
        return self.of_hash(hash_of(secret))

    def of_hash(self, hashed: str) -> BrowserSession | None:
        """Return the session whose id has a hash, as `Requester.session` has it; see `find`."""
        now = self._clock.now()
        row = self._database.row(
            "SELECT name, role, token, used, language, places FROM open_sessions"
            " WHERE hash = ? AND used >= ? AND made >= ?",
            hashed, now - IDLE, now - LIFE,
        )  # fmt: skip
        if row is None:
            return None
        name, role, token, used, language, places = map(str, row)
        if now - float(used) > TOUCH:
            self._database.jot("UPDATE sessions SET used = ? WHERE hash = ?", now, hashed)
        session = role_named(role) or Role.NOBODY
        identity = Requester(name, session, "session", hashed, split_places(places))
        return BrowserSession(identity, token, language)

    def speak(self, identity: Requester, language: str) -> None:
        """Set the language for all sessions of a user, or for this session of a link.

        Args:
            identity: The caller.
            language: Name of the language; "" for the browser's.
        """
        of_user = self._database.rows(
            "UPDATE users SET language = ? WHERE name ="
            " (SELECT name FROM sessions WHERE hash = ? AND how = 'password') RETURNING 1",
            language, identity.session,
        )  # fmt: skip
        if not of_user:
            self._database.rows(
                "UPDATE sessions SET language = ? WHERE hash = ?", language, identity.session
            )

    def all(self, name: str = "") -> list[ListedSession]:
        """Return the open sessions, the last used first.

        Args:
            name: Name of the user whose sessions to return; "" for all.
        """
        now = self._clock.now()
        rows = self._database.rows(
            "SELECT hash, name, role, how, made, used, address, agent FROM open_sessions"
            " WHERE used >= ? AND made >= ? AND (? = '' OR (name = ? AND how = 'password'))"
            " ORDER BY used DESC, hash",
            now - IDLE, now - LIFE, name, name,
        )  # fmt: skip
        return [
            ListedSession(
                str(row[0])[:SHORT], str(row[1]), str(row[2]), str(row[3]), float(str(row[4])),
                float(str(row[5])), str(row[6]), str(row[7]),
            )
            for row in rows
        ]  # fmt: skip

    def revoke(self, short: str, name: str = "") -> bool:
        """End the session of a short id; return False if there is none.

        Args:
            short: The short id from `all`.
            name: Name of the user who must own it; "" for any owner.
        """
        rows = self._database.rows(
            "DELETE FROM sessions WHERE substr(hash, 1, ?) = ? AND"
            " (? = '' OR (name = ? AND how = 'password')) RETURNING 1",
            SHORT, short, name, name,
        )  # fmt: skip
        return bool(rows)

    def end(self, identity: Requester) -> None:
        """End the session of a caller."""
        self._database.rows("DELETE FROM sessions WHERE hash = ?", identity.session)


def cookie_field(secret: str) -> str:
    """Return the Set-Cookie field of a session; for "", the field that deletes the cookie."""
    lasting = "" if secret else "; Max-Age=0"
    return f"{COOKIE}={secret}; Path=/; Secure; HttpOnly; SameSite=Strict{lasting}"
