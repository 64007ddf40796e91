"""When a crawl will be done, said only when that is honest: while its queue shrinks steadily."""

from collections import deque
from itertools import pairwise

WINDOW = 60.0
"""Seconds that are looked back on."""

_ENOUGH = 20.0
_STEPS = 8


class Eta:
    """Looks at the number of waiting URIs from time to time."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, elapsed: float, queued: int) -> None:
        """Take a sample.

        Args:
            elapsed: Seconds that the crawl ran; it does not go on in a pause.
            queued: URIs that wait.
        """
        if self._seen and elapsed - self._seen[-1][0] < WINDOW / (_STEPS * 4):
            return
        self._seen.append((elapsed, queued))
        while elapsed - self._seen[0][0] > WINDOW:
            self._seen.popleft()

    def seconds(self, slowest: float = 0.0) -> float | None:
        """Seconds to go; None while nobody can know.

        Args:
            slowest: Seconds that the slowest queue needs at its delay: it cannot be sooner.
        """
        if len(self._seen) < _STEPS or self._seen[-1][0] - self._seen[0][0] < _ENOUGH:
            return None
        steps = [self._seen[round(i * (len(self._seen) - 1) / _STEPS)] for i in range(_STEPS + 1)]
        falls = [a[1] - b[1] for a, b in pairwise(steps)]
        if min(falls) <= 0:
            return None
        rate = sum(falls) / (steps[-1][0] - steps[0][0])
        return max(steps[-1][1] / rate, slowest)
