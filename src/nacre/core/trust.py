"""Whether a reply is the answer to its request, for as long as that can turn out otherwise."""

from collections.abc import Callable


class Trust:
    """What is thought of one reply.

    A server may send a reply that nobody asked for, such as a late one. It cannot be told from the
    true one until that comes as a surplus: then this reply, and all others since the connection was
    last quiet, may belong to other requests.

    Attributes:
        first: The first reply on its connection, before which nothing was asked for: only another
            whole reply behind it makes it suspect.
        suspect: A surplus came.
        told: Called when it does; None while nobody listens.
    """

    __slots__ = ("first", "suspect", "told")

    def __init__(self, *, first: bool = False) -> None:
        self.first = first
        self.suspect = False
        self.told: Callable[[], None] | None = None

    def accuse(self) -> None:
        """A surplus came; tells of it once."""
        if not self.suspect:
            self.suspect = True
            if self.told is not None:
                self.told()
