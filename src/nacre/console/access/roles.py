"""Roles: what somebody may do (pure)."""

from enum import IntEnum

import msgspec


class Role(IntEnum):
    """A role; each may do what those before it may."""

    NOBODY = 0
    VIEWER = 1
    OPERATOR = 2
    ADMIN = 3

    @property
    def title(self) -> str:
        """Its name in lower case, as it is typed."""
        return self.name.lower()


class Requester(msgspec.Struct, frozen=True):
    """Somebody who asks.

    Attributes:
        name: Of the user or the key; "" for nobody.
        role: Their role.
        how: How they showed it: `session`, `key`, or "" for nobody.
        session: Hash of their session; "" without one.
        places: Labels of the places that they see; empty for all.
    """

    name: str = ""
    role: Role = Role.NOBODY
    how: str = ""
    session: str = ""
    places: tuple[str, ...] = ()

    def sees(self, place: str) -> bool:
        """Whether they see the jobs of a place.

        Args:
            place: Its label.
        """
        return not self.places or place in self.places


NOBODY = Requester()


def role_named(name: str) -> Role | None:
    """The role of a name such as `operator`; None for a name that is none."""
    return next((role for role in Role if role and role.title == name), None)
