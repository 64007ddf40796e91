"""Roles of users and keys (pure)."""

from enum import IntEnum


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


def role_named(name: str) -> Role | None:
    """The role of a name such as `operator`; None for a name that is none."""
    return next((role for role in Role if role and role.title == name), None)
