"""Pages that change together: visit a few, then the group when they changed (pure).

What counts as together: joint lift above 5 with a support of at least 5.
"""

from collections.abc import Sequence
from enum import Enum

LIFT = 5.0
"""Two pages of a group changed together so much more often than by chance."""
SUPPORT = 5
"""Pairs of pages that changed together, at least."""
SENTINELS = 3
"""Pages of a group that are visited first."""
_TOGETHER = 0.5
_STEPS = 40

Looks = list[tuple[float, int, int]]
"""Of each step: its time, pages of the group that were visited again, and those that changed."""


class Word(Enum):
    """What the visits of a group in a step say of its other pages."""

    CHANGED = "changed"
    QUIET = "quiet"
    NOTHING = "nothing"


def note(looks: Looks, time: float, *, changed: bool) -> None:
    """Count a visit of a page of the group; the last 40 steps are kept."""
    if looks and looks[-1][0] == time:
        _, visited, found = looks.pop()
    else:
        visited = found = 0
    looks.append((time, visited + 1, found + changed))
    del looks[:-_STEPS]


def lift(looks: Sequence[tuple[float, int, int]]) -> float:
    """How much more often two pages change in one step than if each changed by itself; 0: never."""
    visits = sum(visited for _, visited, _ in looks)
    changes = sum(changed for _, _, changed in looks)
    pairs = sum(visited * (visited - 1) for _, visited, _ in looks)
    if not changes or not pairs:
        return 0.0
    joint = support(looks) * 2 / pairs
    return joint / (changes / visits) ** 2


def support(looks: Sequence[tuple[float, int, int]]) -> int:
    """Pairs of pages that changed in one step."""
    return sum(changed * (changed - 1) // 2 for _, _, changed in looks)


def change_together(looks: Sequence[tuple[float, int, int]]) -> bool:
    """The pages of a group are worth sentinels."""
    return support(looks) >= SUPPORT and lift(looks) > LIFT


def word(looks: Sequence[tuple[float, int, int]], time: float) -> Word:
    """What the step at `time` says of the pages of the group that were not visited in it."""
    if not looks or looks[-1][0] != time or looks[-1][1] < 2:
        return Word.NOTHING
    _, visited, changed = looks[-1]
    if changed >= 2 and changed >= _TOGETHER * visited:
        return Word.CHANGED
    return Word.QUIET if not changed and visited >= SENTINELS else Word.NOTHING
