"""The end of a crawl: when nothing but retries is left, they are hurried, and given up in time.

Pages of the scope may use the whole time for the last tries. What only serves them, or was guessed
(`policy.is_extra`), gets one more try and a short time: a crawl does not wait ten minutes for the
example address in a manual. Neither does it wait for a seed that no run could connect to lately
(`crawluri.DEAD`), nor for other URIs of its server.
"""

from collections.abc import Iterator

from nacre.core.crawluri import DEAD, CrawlURI, Directive
from nacre.core.status import FetchStatus
from nacre.frontier.pending import PendingUri, pending
from nacre.frontier.policy import is_extra
from nacre.frontier.queue_states import QueueStates
from nacre.frontier.queue_store import STEPS, QueueStore, RemovedUri
from nacre.frontier.queues import ENDLESS_LEFT, Queue, QueueState, Totals
from nacre.frontier.rows import RowStore
from nacre.uri.parse import origin


class LastTries:
    """Detects when only retries are left, and determines how long each URI waits then."""

    def __init__(
        self, rows: RowStore, totals: Totals, states: QueueStates, store: QueueStore
    ) -> None:
        self._rows = rows
        self._totals = totals
        self._states = states
        self._time = states.time
        self._store = store
        self._next_hurry = states.time.mono
        self._hurry_wanted = False
        self._pages: dict[str, set[str]] = {}  # the origins of the pages in each queue
        self._dead: set[str] = set()  # origins
        self._unsorted: Iterator[PendingUri] | None = None
        self._swept = False
        self._before = (0.0, (-1, -1))

    @property
    def only(self) -> bool:
        """Return whether all remaining URIs failed before, or wait for a prerequisite that did.

        Never so while visits are planned: then the crawl does not end, and there is no hurry.
        """
        totals = self._totals
        return 0 < totals.queued == totals.stuck and not totals.planned

    @property
    def working(self) -> bool:
        """Retries are still being scanned or moved forward: call again at once."""
        return self._store.pulling or self._unsorted is not None

    @property
    def due(self) -> bool:
        """Whether something may have to be given up now (`gives_up`)."""
        since, settings = self._totals.last_since, self._states.settings
        if since is None or not self.only:
            return False
        waited = self._time.now - since
        if waited >= settings.last_tries_within:
            return True
        sorted_out = self._unsorted is None and not self._swept
        return sorted_out and waited >= settings.last_extras_within

    @property
    def until(self) -> float | None:
        """Frontier time when the last of them is given up; None while others wait."""
        since, settings = self._totals.last_since, self._states.settings
        if since is None:
            return None
        all_extra = self._unsorted is None and not self._pages
        return since + (settings.last_extras_within if all_extra else settings.last_tries_within)

    def watch(self) -> None:
        """Shorten the waits of retries when nothing else is left."""
        if not self.only:
            self._totals.end_last_tries()
            self._unsorted = None
            return
        if self._totals.last_since is None:
            self._begin()
        self._sort_some()
        self._hurry()
        self._store.pull_some()

    def once(self, uri: CrawlURI) -> bool:
        """Return whether a URI has one more try only, once nothing but retries is left."""
        if self._totals.last_since is None or self._unsorted is not None:
            return False
        if DEAD in uri.heritable or origin(uri.url) in self._dead:
            return True
        if uri.is_prerequisite:
            return uri.queue not in self._pages
        # What was never tried waits for a robots.txt, which pages may need as well.
        return is_extra(uri.path) and (uri.attempts > 0 or uri.queue not in self._pages)

    def gives_up(self, uri: CrawlURI) -> bool:
        """Return whether the time of a URI is over."""
        since, settings = self._totals.last_since, self._states.settings
        if since is None:
            return False
        waited = self._time.now - since
        if waited >= settings.last_tries_within:
            return True
        return waited >= settings.last_extras_within and self.once(uri)

    def abandon(self) -> Iterator[RemovedUri]:
        """Once nothing but retries is left, give up those whose time is over.

        Their status is that of their last attempt; -61 if they only waited for a robots.txt. A URI
        has left when it is yielded: the caller may do other work between two steps.
        """
        if not self.due:
            return
        for entry in pending(self._rows):
            if not self.only:
                return
            if not self.gives_up(entry.uri):
                continue
            queue = self._states.find(entry.uri.queue)
            planned = entry.family == "future" and not entry.uri.attempts
            is_held = queue.row.held
            if _is_kept(queue, entry.uri) or planned or self._store.remove(entry) is None:
                continue
            if is_held:  # URIs that wait for a prerequisite are abandoned with it
                queue.row.hold()
            self._totals.recount(queue.row)
            status = entry.uri.last_status or int(FetchStatus.PREREQUISITE_ROBOTS_FAILED)
            self._totals.finish(status, guess=entry.uri.is_own_guess)
            queue.row.errors += 1
            yield RemovedUri(entry.uri, status)
        self._swept = True

    def _begin(self) -> None:
        """Start or continue the time of last tries, when nothing else is left and none worked."""
        mark = (self._totals.ordinal, self._totals.succeeded)
        since, before = self._before
        goes_on = mark == before
        self._before = (since if goes_on else self._time.now, mark)
        self._totals.begin_last_tries(self._before[0])
        self._pages = {}
        self._dead = set()
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
                pages = ((queue, places - self._dead) for queue, places in self._pages.items())
                self._pages = {queue: places for queue, places in pages if places}
                return
            uri = entry.uri
            if DEAD in uri.heritable:
                self._dead.add(origin(uri.url))
            elif not uri.is_prerequisite and not is_extra(uri.path):
                self._add_page(uri)

    def _add_page(self, uri: CrawlURI) -> None:
        places = self._pages.get(uri.queue)
        if places is not None:
            places.add(origin(uri.url))
        elif self._states.find(uri.queue).row.state is not QueueState.RETIRED:
            self._pages[uri.queue] = {origin(uri.url)}

    def _hurry(self) -> None:
        """Bring the retries forward, but not more often than the last tries are apart."""
        settings, mono = self._states.settings, self._time.mono
        if self._hurry_wanted and mono >= self._next_hurry:
            self._hurry_wanted = False
            apart = settings.last_tries_within / settings.whole.last_tries
            self._next_hurry = mono + min(apart, settings.last_extras_within)
            self._store.pull()
            self._states.end_snoozes()


def _is_kept(queue: Queue, uri: CrawlURI) -> bool:
    """Return whether a URI is of a retired queue, or of an endless place that was not begun."""
    if queue.row.state is not QueueState.RETIRED:
        return uri.directive == Directive.ENDLESS and not uri.attempts
    return queue.row.why != ENDLESS_LEFT or not uri.attempts
