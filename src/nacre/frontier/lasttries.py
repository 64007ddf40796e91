"""The end of a crawl: when nothing but retries is left, they are hurried, and given up in time.

Pages of the scope may use the whole time for the last tries. What only serves them, or was guessed
(`policy.is_extra`), gets one more try and a short time: a crawl does not wait ten minutes for the
example address in a manual.
"""

from collections.abc import Iterator

from nacre.core.crawluri import CrawlURI
from nacre.frontier.listing import Entry, pending
from nacre.frontier.policy import is_extra
from nacre.frontier.queues import State
from nacre.frontier.rotation import Rotation
from nacre.frontier.rows import Rows
from nacre.frontier.shelf import STEPS, Shelf
from nacre.frontier.totals import Totals


class LastTries:
    """Watches for the moment when nothing but retries is left, and says who waits how long."""

    def __init__(self, rows: Rows, totals: Totals, rotation: Rotation, shelf: Shelf) -> None:
        self._rows = rows
        self._totals = totals
        self._rotation = rotation
        self._shelf = shelf
        self._next_hurry = rotation.mono
        self._hurry_wanted = False
        self._pages: set[str] = set()
        self._unsorted: Iterator[Entry] | None = None
        self._swept = False
        self._before = (0.0, (-1, -1))

    @property
    def only(self) -> bool:
        """All that is left failed before, or waits behind a prerequisite that did.

        Never so while visits are planned: then the crawl does not end, and there is no hurry.
        """
        totals = self._totals
        return 0 < totals.queued == totals.stuck and not totals.planned

    @property
    def working(self) -> bool:
        """Retries are still being looked through, or moved forward: ask again at once."""
        return self._shelf.pulling or self._unsorted is not None

    @property
    def due(self) -> bool:
        """Whether something may have to be given up now (`gives_up`)."""
        since, terms = self._totals.last_since, self._rotation.terms
        if since is None or not self.only:
            return False
        waited = self._rotation.time - since
        if waited >= terms.last_tries_within:
            return True
        sorted_out = self._unsorted is None and not self._swept
        return sorted_out and waited >= terms.last_extras_within

    @property
    def until(self) -> float | None:
        """Frontier time when the last of them is given up; None while others wait."""
        since, terms = self._totals.last_since, self._rotation.terms
        if since is None:
            return None
        all_extra = self._unsorted is None and not self._pages
        return since + (terms.last_extras_within if all_extra else terms.last_tries_within)

    def watch(self) -> None:
        """When nothing but retries is left, they do not wait any longer."""
        if not self.only:
            self._totals.last_since = None
            self._unsorted = None
            return
        if self._totals.last_since is None:
            self._begin()
        self._sort_some()
        self._hurry()
        self._shelf.pull_some()

    def once(self, uri: CrawlURI) -> bool:
        """Whether a URI has one more try only, once nothing but retries is left."""
        if self._totals.last_since is None or self._unsorted is not None:
            return False
        if uri.is_prerequisite:
            return uri.queue not in self._pages
        # What was never tried waits for a robots.txt, which pages may need as well.
        return is_extra(uri.path) and (uri.attempts > 0 or uri.queue not in self._pages)

    def gives_up(self, uri: CrawlURI) -> bool:
        """Whether the time of a URI is over."""
        since, terms = self._totals.last_since, self._rotation.terms
        if since is None:
            return False
        waited = self._rotation.time - since
        if waited >= terms.last_tries_within:
            return True
        return waited >= terms.last_extras_within and self.once(uri)

    def swept(self) -> None:
        """All that `gives_up` was asked about once in this phase."""
        self._swept = True

    def _begin(self) -> None:
        """Nothing else is left, or again: then time goes on, unless something came of it."""
        mark = (self._totals.ordinal, self._totals.succeeded)
        since, before = self._before
        goes_on = mark == before
        self._totals.last_since = since if goes_on else self._rotation.time
        self._before = (self._totals.last_since, mark)
        self._pages = set()
        self._unsorted = pending(self._rows)
        self._swept = False
        self._hurry_wanted = not goes_on

    def _sort_some(self) -> None:
        """Find the queues in which pages wait, some URIs at a time."""
        if self._unsorted is None:
            return
        for _ in range(STEPS):
            entry = next(self._unsorted, None)
            if entry is None:
                self._unsorted = None
                return
            uri = entry.uri
            if uri.queue in self._pages or uri.is_prerequisite or is_extra(uri.path):
                continue
            if self._rotation.find(uri.queue).row.state is not State.RETIRED:
                self._pages.add(uri.queue)

    def _hurry(self) -> None:
        """Bring the retries forward, but not more often than the last tries are apart."""
        terms, mono = self._rotation.terms, self._rotation.mono
        if self._hurry_wanted and mono >= self._next_hurry:
            self._hurry_wanted = False
            apart = terms.last_tries_within / terms.whole.last_tries
            self._next_hurry = mono + min(apart, terms.last_extras_within)
            self._shelf.pull()
            self._rotation.rouse_all()
