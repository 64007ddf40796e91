"""The user or key that sends a request (pure)."""

import msgspec

from nacre.ops.operation import Role
from nacre.report.escape import flat


class Requester(msgspec.Struct, frozen=True):
    """A caller.

    Attributes:
        name: Name of the user or the key; "" for an anonymous caller.
        role: The caller's role.
        how: How the caller authenticated: `session` or `key`; "" for an anonymous caller.
        session: Hash of the caller's session; "" for none.
        places: Labels of the places that the caller may see; empty for all.
    """

    name: str = ""
    role: Role = Role.NOBODY
    how: str = ""
    session: str = ""
    places: tuple[str, ...] = ()

    @property
    def log_name(self) -> str:
        """The name in job.log, without line ends."""
        return f"{flat(self.name)} via console"

    def sees(self, place: str) -> bool:
        """Whether the caller may see the jobs of a place.

        Args:
            place: Label of the place.
        """
        return not self.places or place in self.places


NOBODY = Requester()
