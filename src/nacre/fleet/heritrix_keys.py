"""Keys of Heritrix's interface: of each the hash that Digest needs, which is as good as the key."""

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec

from nacre.errors import ConfigError
from nacre.fleet.database import ConsoleDatabase, ConsoleTable
from nacre.fleet.keys import new_secret
from nacre.fleet.requester import NOBODY, Requester
from nacre.fleet.users import kept_places
from nacre.messages import message
from nacre.ops.roles import Role, role_named

REALM: Final = "Authentication Required"
"""Heritrix's realm."""


def ha1(username: str, secret: str, realm: str = REALM) -> str:
    """The hash that is kept of a secret (RFC 7616, 3.4.2)."""
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
        kept_places(role, places)
        secret, labels = new_secret(), tuple(sorted(set(places)))
        self._table.put(HeritrixKeyRow(name, ha1(name, secret), role.title, labels))
        return secret

    def remove(self, name: str) -> bool:
        """Remove the key of a name; False if there is none."""
        return self._table.drop(name)

    def find(self, name: str) -> tuple[Requester, str]:
        """Return the owner of a name, and the hash of their key; `NOBODY` and "" without a key."""
        row = self._table.find(name)
        if row is None:
            return NOBODY, ""
        role = role_named(row.role) or Role.NOBODY
        return Requester(name, role, "heritrix", places=row.places), row.hash
