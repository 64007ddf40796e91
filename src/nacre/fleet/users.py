"""Users: their names, password hashes, roles and places; and keys of Heritrix's interface.

For a Digest key, the hash that Digest needs is stored; it must be kept as secret as the key.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import msgspec

from nacre.core.clock import Clock
from nacre.errors import ConfigError, JobError
from nacre.fleet.database import ConsoleDatabase, ConsoleTable
from nacre.fleet.keys import joined_places, new_secret
from nacre.fleet.requester import NOBODY, Requester
from nacre.messages import message
from nacre.ops.operation import Role, role_named

_NAME: Final = re.compile(r"[\w][\w.@+-]{0,63}")


class ConsoleUser(msgspec.Struct, frozen=True):
    """A user, without their password.

    Attributes:
        name: Their name, lower case.
        role: `viewer`, `operator` or `admin`.
        places: Labels of the places that they may see; empty for all.
        made: Time at which they were added, seconds since the epoch.
        changed: Time of the last change of the password, seconds since the epoch.
    """

    name: str
    role: str
    places: tuple[str, ...] = ()
    made: float = 0.0
    changed: float = 0.0


def user_name(value: str) -> str:
    """Return a name in its stored form: composed Unicode, in lower case.

    Raises:
        ConfigError: The name is invalid.
    """
    name = unicodedata.normalize("NFC", value.strip()).casefold()
    if not _NAME.fullmatch(name):
        raise ConfigError(
            message(
                "console.user-name",
                "{value!r} is no user name: it has 1 to 64 letters, digits, or the signs . @ + - _",
                value=value,
            )
        )
    return name


class UserBook:
    """The users, in the console's database. A change of a user ends their sessions.

    Args:
        database: Keeps them.
        clock: The time.
    """

    def __init__(self, database: ConsoleDatabase, clock: Clock) -> None:
        self._database = database
        self._table = ConsoleTable(database, "users", ConsoleUser)
        self._clock = clock

    @property
    def is_empty(self) -> bool:
        """Whether there are no users."""
        return self._database.row("SELECT 1 FROM users") is None

    def all(self) -> list[ConsoleUser]:
        """Return all users, by name."""
        return self._table.all()

    def find(self, name: str) -> ConsoleUser | None:
        """Return the user of a name as it was typed; None if there is none."""
        return self._table.find(typed_name(name))

    def hash_of(self, name: str) -> str:
        """Return the hash of a user's password; "" for an unknown user."""
        row = self._database.row("SELECT hash FROM users WHERE name = ?", typed_name(name))
        return str(row[0]) if row is not None else ""

    def add(self, name: str, hashed: str, role: Role, places: Sequence[str] = ()) -> ConsoleUser:
        """Add a user.

        Args:
            name: Their name.
            hashed: Hash of their password.
            role: What they may do.
            places: Labels of the places that they see; empty for all.

        Raises:
            ConfigError: The name is invalid or in use, or the role does not allow places.
            JobError: The first user is not an admin.
        """
        stored, now = user_name(name), self._clock.now()
        if self.find(stored) is not None:
            raise ConfigError(
                message(
                    "console.user-exists",
                    "there is a user {value} already; `nacre console user set` changes it",
                    value=stored,
                )
            )
        self.require_first(role)
        self._database.rows(
            "INSERT INTO users (name, hash, role, places, made, changed)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            stored, hashed, role.title, kept_places(role, places), now, now,
        )  # fmt: skip
        return ConsoleUser(stored, role.title, tuple(places), now, now)

    def require_first(self, role: Role) -> None:
        """Refuse a first user with another role than admin.

        Raises:
            JobError: There are no users, and the role is not admin.
        """
        if self.is_empty and role is not Role.ADMIN:
            raise JobError(
                message(
                    "console.first-user-is-admin",
                    "the first user has to be an admin, else no user could add others",
                )
            )

    def change(self, name: str, role: Role, places: Sequence[str]) -> ConsoleUser:
        """Change the role and places of a user, and end their sessions.

        Raises:
            JobError: There is none of that name, or they are the last admin.
            ConfigError: The places do not fit the role.
        """
        user = self.require(name)
        if role is not Role.ADMIN:
            self._keep_an_admin(user)
        self._database.rows(
            "UPDATE users SET role = ?, places = ? WHERE name = ?",
            role.title, kept_places(role, places), user.name,
        )  # fmt: skip
        self._end_sessions(user.name)
        return msgspec.structs.replace(user, role=role.title, places=tuple(places))

    def set_hash(self, name: str, hashed: str) -> None:
        """Set the hash of a user's password, and end their sessions.

        Raises:
            JobError: There is none of that name.
        """
        user = self.require(name)
        self._database.rows(
            "UPDATE users SET hash = ?, changed = ? WHERE name = ?",
            hashed, self._clock.now(), user.name,
        )  # fmt: skip
        self._end_sessions(user.name)

    def renew_hash(self, name: str, hashed: str) -> None:
        """Store a hash of the same password that has the present parameters."""
        self._database.rows("UPDATE users SET hash = ? WHERE name = ?", hashed, typed_name(name))

    def remove(self, name: str) -> ConsoleUser:
        """Remove a user, end their sessions, and return the removed user.

        Raises:
            JobError: There is none of that name, or they are the last admin of several users.
        """
        user = self.require(name)
        if len(self.all()) > 1:
            self._keep_an_admin(user)
        self._table.drop(user.name)
        self._end_sessions(user.name)
        return user

    def require(self, name: str) -> ConsoleUser:
        """Return the user of a name as it was typed.

        Raises:
            JobError: There is no such user.
        """
        user = self.find(name)
        if user is None:
            raise JobError(
                message(
                    "console.no-user",
                    "there is no user {name!r}; `nacre console user list` lists them",
                    name=name,
                )
            )
        return user

    def _keep_an_admin(self, user: ConsoleUser) -> None:
        remaining = [other_user for other_user in self.all() if other_user.name != user.name]
        if user.role == Role.ADMIN.title and all(
            other_user.role != user.role for other_user in remaining
        ):
            raise JobError(
                message(
                    "console.last-admin",
                    "{name} is the last admin; make another user one first",
                    name=user.name,
                )
            )

    def _end_sessions(self, name: str) -> None:
        self._database.rows("DELETE FROM sessions WHERE name = ? AND how = 'password'", name)


def typed_name(name: str) -> str:
    """Return the stored form of a name that was typed."""
    return unicodedata.normalize("NFC", name.strip()).casefold()


def kept_places(role: Role, places: Sequence[str]) -> str:
    """Return the places of a user in the form that the database stores.

    Raises:
        ConfigError: The role does not allow places.
    """
    if places and role is Role.ADMIN:
        raise ConfigError(
            message(
                "console.admin-sees-all-places",
                "an admin sees all places; take another role, or leave out the places",
            )
        )
    return joined_places(places)


REALM: Final = "Authentication Required"
"""Heritrix's realm."""


def ha1(username: str, secret: str, realm: str = REALM) -> str:
    """Return the stored hash of a secret (RFC 7616, 3.4.2)."""
    text = f"{username}:{realm}:{secret}"
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class HeritrixKeyRow(msgspec.Struct, frozen=True):
    """A key: the name of its owner, its hash, their role, and the labels of their places."""

    name: str
    hash: str
    role: str
    places: tuple[str, ...] = ()


class HeritrixKeyBook:
    """The keys, in the console's database, which only its owner may read.

    Args:
        database: Keeps them.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._table = ConsoleTable(database, "heritrix_keys", HeritrixKeyRow)

    def set(self, name: str, role: Role, places: Sequence[str] = ()) -> str:
        """Create or replace the key of a name, and return it; it is shown only once.

        Args:
            name: The name.
            role: What it may do.
            places: Labels of the places that it sees; empty for all.

        Raises:
            ConfigError: Digest cannot carry the name, or the role does not allow places.
        """
        if not name or any(mark in name for mark in ':"\\') or not name.isprintable():
            raise ConfigError(
                message(
                    "console.heritrix-user-name",
                    "{name!r} is no user name: it has no colon, quote or backslash",
                    name=name,
                )
            )
        kept_places(role, places)
        secret, labels = new_secret(), tuple(sorted(set(places)))
        self._table.put(HeritrixKeyRow(name, ha1(name, secret), role.title, labels))
        return secret

    def remove(self, name: str) -> bool:
        """Remove the key of a name; return False if there is none."""
        return self._table.drop(name)

    def find(self, name: str) -> tuple[Requester, str]:
        """Return the owner of a name and the hash of their key; `NOBODY` and "" without a key."""
        row = self._table.find(name)
        if row is None:
            return NOBODY, ""
        role = role_named(row.role) or Role.NOBODY
        return Requester(name, role, "heritrix", places=row.places), row.hash
