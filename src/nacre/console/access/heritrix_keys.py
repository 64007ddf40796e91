"""Keys of Heritrix's interface: of each the hash that Digest needs, which is as good as the key."""

import hashlib
from collections.abc import Sequence
from typing import Final

from nacre.console.access.database import ConsoleDatabase
from nacre.console.access.keys import new_secret, split_places
from nacre.console.access.roles import NOBODY, Requester
from nacre.console.access.users import kept_places
from nacre.errors import ConfigError
from nacre.messages import message
from nacre.ops.roles import Role, role_named

REALM: Final = "Authentication Required"
"""Heritrix's realm."""


def ha1(username: str, secret: str, realm: str = REALM) -> str:
    """The hash that is kept of a secret (RFC 7616, 3.4.2)."""
    text = f"{username}:{realm}:{secret}"
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class HeritrixKeyBook:
    """The keys, in the console's database, which only its owner may read.

    Args:
        database: Keeps them.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._database = database

    def set(self, name: str, role: Role, places: Sequence[str] = ()) -> str:
        """Make the key of a name, in place of one that it has; it is shown once.

        Args:
            name: The name.
            role: What it may do.
            places: Labels of the places that it sees; empty for all.

        Raises:
            ConfigError: The name is none that Digest can carry, or the places do not fit the role.
        """
        if not name or any(mark in name for mark in ':"\\') or not name.isprintable():
            raise ConfigError(
                message(
                    "console.heritrix-user-name",
                    "{name!r} is no user name: it has no colon, quote or backslash",
                    name=name,
                )
            )
        kept, secret = kept_places(role, places), new_secret()
        self._database.rows(
            "INSERT OR REPLACE INTO heritrix_keys (name, hash, role, places) VALUES (?, ?, ?, ?)",
            name, ha1(name, secret), role.title, kept,
        )  # fmt: skip
        return secret

    def remove(self, name: str) -> bool:
        """Remove the key of a name; False where there is none."""
        found = self._database.row("DELETE FROM heritrix_keys WHERE name = ? RETURNING 1", name)
        return found is not None

    def find(self, name: str) -> tuple[Requester, str]:
        """The owner of a name, and the hash of their key; `NOBODY` and "" for one without."""
        row = self._database.row(
            "SELECT hash, role, places FROM heritrix_keys WHERE name = ?", name
        )
        if row is None:
            return NOBODY, ""
        role = role_named(str(row[1])) or Role.NOBODY
        places = split_places(str(row[2]))
        return Requester(name, role, "heritrix", places=places), str(row[0])
