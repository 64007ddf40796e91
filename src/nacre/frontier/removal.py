"""URIs that leave the frontier without another fetch: deleted, or given up at the end."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.status import FetchStatus
from nacre.frontier.lasttries import LastTries
from nacre.frontier.listing import Entry, Matcher, any_text, pending
from nacre.frontier.queues import ENDLESS_LEFT, Queue, State
from nacre.frontier.rotation import Rotation
from nacre.frontier.rows import Rows
from nacre.frontier.shelf import Shelf
from nacre.frontier.totals import Totals


class Removed(NamedTuple):
    """A URI that left, for crawl.log.

    Attributes:
        uri: As it was queued.
        status: Its final status.
    """

    uri: CrawlURI
    status: int


class Removal:
    """Takes rows away, on a running frontier too; what is in process stays.

    Both operations are generators that read a chunk at a time: the caller may do other work between
    two steps. A URI has left when it is yielded.
    """

    def __init__(
        self,
        rows: Rows,
        totals: Totals,
        rotation: Rotation,
        shelf: Shelf,
        last_tries: LastTries,
    ) -> None:
        self._rows = rows
        self._totals = totals
        self._rotation = rotation
        self._shelf = shelf
        self._last_tries = last_tries

    def delete(self, urls: Matcher = any_text, queues: Matcher = any_text) -> Iterator[Removed]:
        """Delete what matches both; it counts as disregarded (-6000)."""
        for entry in pending(self._rows, urls, queues):
            queue = self._remove(entry)
            if queue is not None:
                status = int(FetchStatus.DELETED)
                self._totals.finish(status, guess=entry.uri.is_own_guess)
                yield Removed(entry.uri, status)

    def abandon(self) -> Iterator[Removed]:
        """Once nothing but retries is left, give up those whose time is over.

        Their status is that of their last attempt; -61 where they only waited behind a robots.txt.
        """
        last = self._last_tries
        if not last.due:
            return
        for entry in pending(self._rows):
            if not last.only:
                return
            if not last.gives_up(entry.uri):
                continue
            queue = self._rotation.find(entry.uri.queue)
            planned = entry.family == "future" and not entry.uri.attempts
            held = queue.row.held
            if self._rests(queue, entry) or planned or self._remove(entry) is None:
                continue
            queue.row.held = held  # what waits behind a prerequisite goes with it
            self._totals.recount(queue.row)
            status = entry.uri.last_status or int(FetchStatus.PREREQUISITE_ROBOTS_FAILED)
            self._totals.finish(status, guess=entry.uri.is_own_guess)
            queue.row.errors += 1
            yield Removed(entry.uri, status)
        last.swept()

    def _rests(self, queue: Queue, entry: Entry) -> bool:
        """Whether a URI is of a retired queue, or of an endless place that was not begun."""
        if queue.row.state is not State.RETIRED:
            return entry.uri.directive == Directive.ENDLESS and not entry.uri.attempts
        return queue.row.why != ENDLESS_LEFT or not entry.uri.attempts

    def withdraw(self, wanted: Callable[[CrawlURI], bool]) -> Iterator[CrawlURI]:
        """Take out URIs whose result is known already; the caller counts it (`Totals.finish`)."""
        for entry in pending(self._rows):
            if wanted(entry.uri) and self._remove(entry) is not None:
                yield entry.uri

    def _remove(self, entry: Entry) -> Queue | None:
        """Take a row away; None when its URI is in process, or gone already."""
        uri = entry.uri
        queue = self._rotation.find(uri.queue)
        if entry.key in queue.taken or self._rows.get(entry.family, entry.key) is None:
            return None
        row = queue.row
        if entry.family == "queue":
            self._shelf.drop(queue, entry.key)
            queue.read_again()
        else:
            self._shelf.unplan(entry.key, uri)
            self._shelf.read_again()
        if uri.attempts:
            row.retrying -= 1
        if uri.is_prerequisite:
            row.held = False
            queue.prerequisites -= {uri.key}
        self._totals.recount(row)
        self._rotation.roster.touch(queue)
        if queue.window is None and not row.size:
            self._rotation.settle(queue)
        return queue
