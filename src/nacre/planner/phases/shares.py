"""The shares of a budget that new pages and known pages may take (pure)."""

from collections.abc import Iterable

from nacre.planner.step import Choice
from nacre.planner.tuning import guess

_FOUND = guess(
    "shares.found", 0.95, "Largest share of a tight budget for pages found in the step.", most=1.0
)
_WAITING = guess(
    "shares.waiting", 0.5, "Largest share of a tight budget for pages found before.", most=1.0
)
_EMBEDS = guess(
    "shares.embeds",
    0.05,
    "Largest share of a tight budget for embeds that new pages show; the others wait as new pages "
    "do.",
    most=1.0,
)
NEW = frozenset(("new", "late"))
"""Reasons of visits of new pages."""


class Shares:
    """The shares of a budget that new pages and their embeds may take.

    New pages of the step may take all but a small share. Pages that earlier steps left waiting may
    take half: else a large find would keep all other pages waiting for many runs. New pages also
    take the rest when no known page is worth a visit.

    Attributes:
        total: Visits of the step, -1 before the first.
    """

    def __init__(self) -> None:
        self.total = -1
        self._taken = 0
        self._waiting = 0
        self._embeds = 0

    def begin(self, room: int, chosen: Iterable[Choice]) -> None:
        """Begin the choice of visits, of which another process may have made some."""
        if self.total >= 0:
            return
        visited = list(chosen)
        self.total = room + len(visited)
        self._taken = sum(choice.reason in NEW for choice in visited)

    def room_for_new(self, room: int) -> int:
        """Visits that are left for pages found in the step."""
        return max(0, min(room, int(_FOUND * self.total) - self._taken))

    def room_for_waiting(self, room: int) -> int:
        """Visits that are left for pages found in earlier steps."""
        return max(0, min(self.room_for_new(room), int(_WAITING * self.total) - self._waiting))

    def is_full_of_embeds(self, pages: int) -> bool:
        """Count an embed of a new page; True if embeds have used up their share of a tight budget.

        Args:
            pages: Pages that are known: fewer visits than these are tight.
        """
        if not 0 <= self.total < pages:
            return False
        self._embeds += 1
        return self._embeds > max(1, int(_EMBEDS * self.total))

    def take(self, new: int, waiting: int) -> None:
        """Count new pages that were chosen: of this step, and of earlier ones."""
        self._taken += new + waiting
        self._waiting += waiting
