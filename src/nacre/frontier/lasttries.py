"""The end of a crawl: when nothing but retries is left, they are hurried."""

from nacre.frontier.rotation import Rotation
from nacre.frontier.shelf import Shelf
from nacre.frontier.totals import Totals


class LastTries:
    """Watches for the moment when nothing but retries is left."""

    def __init__(self, totals: Totals, rotation: Rotation, shelf: Shelf) -> None:
        self._totals = totals
        self._rotation = rotation
        self._shelf = shelf
        self._next_hurry = rotation.mono

    @property
    def only(self) -> bool:
        """All that is left failed before, or waits behind a prerequisite that did.

        Never so while visits are planned: then the crawl does not end, and there is no hurry.
        """
        totals = self._totals
        return 0 < totals.queued == totals.stuck and not totals.planned

    def watch(self) -> None:
        """When nothing but retries is left, they do not wait any longer."""
        if not self.only:
            self._totals.last_since = None
            return
        if self._totals.last_since is None:
            self._totals.last_since = self._rotation.time
            self._hurry()
        self._shelf.pull_some()

    def _hurry(self) -> None:
        """Bring the retries forward, but not more often than the last tries are apart."""
        terms, mono = self._rotation.terms, self._rotation.mono
        if mono >= self._next_hurry:
            self._next_hurry = mono + terms.last_tries_within / terms.whole.last_tries
            self._shelf.pull()
            self._rotation.rouse_all()
