"""Keys: one-time login links, and keys of programs. Only their hashes are stored."""

import hashlib
import secrets
from collections.abc import Sequence
from typing import Final

import msgspec

from nacre.core.clock import Clock
from nacre.core.message_data import to_json
from nacre.errors import ConfigError
from nacre.fleet.database import ConsoleDatabase, ConsoleTable
from nacre.fleet.requester import NOBODY, Requester
from nacre.messages import message
from nacre.ops.operation import Role, role_named

LINK_LIFE: Final = 300.0
"""Lifetime of a link, seconds."""
TOUCH: Final = 60.0
"""Minimum seconds between two updates of the last use of a key or session."""
_BYTES = 32


def new_secret() -> str:
    """Return a random text of 256 bits."""
    return secrets.token_urlsafe(_BYTES)


def hash_of(secret: str) -> str:
    """Return the stored hash of a secret; the secret is random, so the hash needs no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()


class ProgramKey(msgspec.Struct, frozen=True):
    """A key of a program, without its secret.

    Attributes:
        name: Its name.
        role: Its role.
        made: Time of its creation, seconds since the epoch.
        used: Time of its last use, seconds since the epoch, to the minute; 0 for never.
        places: Labels of the places that it may see; empty for all.
    """

    name: str
    role: str
    made: float
    used: float
    places: tuple[str, ...] = ()


class KeyBook:
    """The keys, in the console's database.

    Args:
        database: The console's database.
        clock: The time.
    """

    def __init__(self, database: ConsoleDatabase, clock: Clock) -> None:
        self._database = database
        self._table = ConsoleTable(database, "keys", ProgramKey)
        self._clock = clock

    def new_link(self) -> str:
        """Create the key of a link, which can be used once, within `LINK_LIFE`."""
        now, secret = self._clock.now(), new_secret()
        self._database.rows("DELETE FROM links WHERE expires < ?", now)
        self._database.rows("INSERT INTO links VALUES (?, ?)", hash_of(secret), now + LINK_LIFE)
        return secret

    def use_link(self, secret: str) -> bool:
        """Use up the key of a link; return whether it was valid."""
        row = self._database.row(
            "DELETE FROM links WHERE hash = ? RETURNING expires", hash_of(secret)
        )
        return row is not None and self._clock.now() < float(str(row[0]))

    def add(self, name: str, role: Role, places: Sequence[str] = ()) -> str:
        """Create a key of a program, and return its secret, which is shown only once.

        Args:
            name: Name of the key.
            role: Role of the key.
            places: Labels of the places that it may see; empty for all.

        Raises:
            ConfigError: The name is empty or already in use.
        """
        if not name.strip():
            raise ConfigError(
                message(
                    "console.key-without-name", "a key needs a name, which the audit log will show"
                )
            )
        if self._table.find(name) is not None:
            raise ConfigError(
                message(
                    "console.key-exists",
                    "there is a key {name!r} already: `nacre console key remove {name}` removes it",
                    name=name,
                )
            )
        secret, now = new_secret(), self._clock.now()
        self._database.rows(
            "INSERT INTO keys VALUES (?, ?, ?, ?, 0, ?)",
            name, hash_of(secret), role.title, now, joined_places(places),
        )  # fmt: skip
        return secret

    def remove(self, name: str) -> bool:
        """Remove a key; return False if there is no key of that name."""
        return self._table.drop(name)

    def all(self) -> list[ProgramKey]:
        """Return all keys of programs, by name."""
        return self._table.all()

    def identify(self, secret: str) -> Requester:
        """Return the owner of a key; `NOBODY` for an invalid key."""
        now, hashed = self._clock.now(), hash_of(secret)
        row = self._database.row("SELECT name, role, places, used FROM keys WHERE hash = ?", hashed)
        if row is None:
            return NOBODY
        if not 0.0 <= now - float(str(row[3])) < TOUCH:
            self._database.jot("UPDATE keys SET used = ? WHERE hash = ?", now, hashed)
        role = role_named(str(row[1])) or Role.NOBODY
        return Requester(str(row[0]), role, "key", places=split_places(str(row[2])))

    def of_name(self, name: str) -> Requester:
        """Return the owner of a key by its name; `NOBODY` if there is none."""
        row = self._table.find(name)
        if row is None:
            return NOBODY
        return Requester(name, role_named(row.role) or Role.NOBODY, "key", places=row.places)


def joined_places(places: Sequence[str]) -> str:
    """Join labels of places for a column of the database."""
    return to_json(sorted(set(places))).decode() if places else ""


def split_places(text: str) -> tuple[str, ...]:
    """Split the labels of places from such a column."""
    return tuple(msgspec.json.decode(text, type=list[str])) if text else ()
