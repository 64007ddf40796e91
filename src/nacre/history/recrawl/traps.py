"""What a run spends on traps: a share of its visits; what is over waits for the next (pure)."""

from collections.abc import Sequence

from nacre.history.recrawl.choice import PAGING, Choice
from nacre.history.recrawl.step import Knowledge

_LEAST = 10
_FREE = frozenset(("start", "due", "pair", "sitemap", "feed"))
"""Reasons of visits that the operator or the plan wants, whatever they lead to."""
_LEADING = frozenset(("new", "late", "index", "window", PAGING))
"""Reasons of visits that lead deeper."""


class TrapBudget:
    """Lets few visits of traps through.

    Args:
        known: What the planner knows and wants.

    Attributes:
        held: Visits of the step that wait.
    """

    def __init__(self, known: Knowledge) -> None:
        self._rows, self._sites, _, self._settings = known
        self._taken = 0
        self._room = 0
        self.held = 0

    def begin(self, chosen: Sequence[Choice]) -> None:
        """Begin a step, in which another process had chosen these already."""
        self._taken = self._room = self.held = 0
        if self._sites.traps.any:
            self._taken = sum(self._is_trap(one) for one in chosen)

    def admitted(self, wave: list[Choice], room: int, known: int) -> list[Choice]:
        """Of what was chosen, what may be visited.

        Args:
            wave: What was chosen.
            room: Visits left in the step.
            known: Pages that were visited before or chosen in this step.
        """
        self._room = max(self._room, room)
        if not self._sites.traps.any:
            return wave
        share = self._settings.trap_share
        if share >= 1.0:
            return wave
        most = max(share * min(self._room, known - self._taken), _LEAST if share else 0)
        admitted = []
        for one in wave:
            if self._is_trap(one):
                if self._taken >= most:
                    self.held += 1
                    continue
                self._taken += 1
            admitted.append(one)
        return admitted

    def _is_trap(self, choice: Choice) -> bool:
        row = None if choice.reason in _FREE else self._rows.get(choice.url)
        if row is None:
            return False
        traps = self._sites.traps
        leads = choice.reason in _LEADING and traps.reason(row.template) != ""
        return leads or traps.is_endless(row.template)
