"""Policies that learn nothing: all at every step, or each in turn."""

from nacre_simweb.baselines.book import Book
from nacre_simweb.policy import EmbedMode, VisitOutcome


class Full(Book):
    """B0: everything again at every step, stored again: what the paper's crawler replaces."""

    name = "full"
    dedup = False
    embeds: EmbedMode = "all"

    def __init__(self) -> None:
        super().__init__()
        self._step = -1.0
        self._todo: list[str] = []

    def due(self, now: float, room: int) -> list[str]:
        """Return all known URLs, once a step, those longest not visited first."""
        if now != self._step:
            self._step = now
            self._todo = sorted(
                (url for url, last in self.last.items() if last < now),
                key=lambda url: self.last[url],
                reverse=True,
            )
        return [self._todo.pop() for _ in range(min(room, len(self._todo)))]


class Digest(Full):
    """B7: everything again; what has the digest of before is stored as a revisit (Heritrix 3)."""

    name = "digest"
    dedup = True


class Uniform(Full):
    """B1: the same for every page: those longest not visited, as many as the budget allows."""

    name = "uniform"
    dedup = True
    embeds: EmbedMode = "new"

    def visited(self, outcome: VisitOutcome, elapsed: float, *, changed: bool, first: bool) -> None:
        """Nothing is learned."""
