"""What tells of all others, at the beginning of a step: sitemaps and feeds (pure).

Indexes of sitemaps are read first: what they date no later than our last reading rests
(`history.finding.sitemaps`).
"""

from collections.abc import Sequence

from nacre.history.finding.sitemaps import SPARED_LOTS
from nacre.history.recrawl.choice import Choice, lot
from nacre.history.recrawl.step import Knowledge, Step
from nacre.history.slices import Slices


class Tellers:
    """Chooses sitemaps and feeds.

    Args:
        known: What the planner knows and wants.
        step: The current step.
    """

    def __init__(self, known: Knowledge, step: Step) -> None:
        self._sites, self._hints = known.sites, known.settings.hints
        self._step = step
        self._tellers: list[Choice] = []

    def begin(self, tellers: Sequence[tuple[str, str]]) -> None:
        """Begin a step with what is known, each with its kind."""
        self._tellers = [Choice(url, 1.0, kind) for url, kind in tellers if self._hints]

    def indexes(self, room: int) -> Slices[list[Choice]]:
        """Indexes of sitemaps: they say which of these need not be read."""
        yield
        return [one for one in self._tellers if self._sites.maps.is_index(one.url)][:room]

    def chosen(self) -> list[Choice]:
        """Sitemaps and feeds, but for those of which their index says that nothing is new."""
        return [found for one in self._tellers if (found := self._asked(one)) is not None]

    def _asked(self, choice: Choice) -> Choice | None:
        maps, now = self._sites.maps, self._step.time
        if choice.url in self._step.done or not maps.rests(choice.url, now):
            return choice
        if lot(choice.url, now) < SPARED_LOTS:
            return choice._replace(propensity=SPARED_LOTS)
        maps.spare(choice.url, now)
        self._step.done.add(choice.url)
        return None

    def doubted(self, room: int) -> Slices[list[Choice]]:
        """Sitemaps that were left out on the word of an index that has proved wrong since."""
        yield
        maps, now = self._sites.maps, self._step.time
        found = [one for one in self._tellers if maps.is_doubted(one.url, now)][:room]
        self._step.done -= {one.url for one in found}
        return found
