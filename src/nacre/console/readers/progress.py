"""Progress of a task of a reader process: told to the console about once a second."""

import time
from collections.abc import Callable
from typing import Final

_EACH: Final = 0.5


class ProgressTeller:
    """Tells how far a task is, but not too often.

    Attributes:
        send: Takes steps done and steps in all; None: nobody listens.
    """

    def __init__(self) -> None:
        self.send: Callable[[int, int], None] | None = None
        self._last = 0.0

    def begin(self, send: Callable[[int, int], None] | None) -> None:
        """A task begins, of which somebody wants to hear; None: nobody does."""
        self.send = send
        self._last = time.monotonic()

    def tell(self, steps: int, total: int = 0) -> None:
        """Say how far it is.

        Args:
            steps: Steps done.
            total: Steps in all; 0 where that is not known.
        """
        now = time.monotonic()
        if self.send is not None and now - self._last >= _EACH:
            self._last = now
            self.send(steps, total)


PROGRESS: Final = ProgressTeller()
"""That of this process, which does one task at a time."""
