"""The user or key that sends a request (pure)."""

import msgspec

from nacre.ops.operation import Role
from nacre.report.escape import flat


class Requester(msgspec.Struct, frozen=True):
    """A caller.

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

    @property
    def log_name(self) -> str:
        """The name in job.log, without line ends."""
        return f"{flat(self.name)} via console"

    def sees(self, place: str) -> bool:
        """Whether they see the jobs of a place.

        Args:
            place: Its label.
        """
        return not self.places or place in self.places


NOBODY = Requester()
