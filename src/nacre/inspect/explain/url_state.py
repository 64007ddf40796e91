"""The state of a URL in a job and how it was found, which `explain` begins with.

URIs that wait, found in the store: in their queue, or until their time comes.
"""

from collections.abc import Callable
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI
from nacre.core.status import FetchStatus
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.rejected_uris import RejectedUri, RejectedUris
from nacre.engine.outcomes import Outcome, Outcomes
from nacre.frontier.rows import LAST_SUFFIX, queue_id, time_of, unpack, unpack_future
from nacre.inspect.explain.answers import PathStep, PrerequisiteAnswer, Standing
from nacre.inspect.view import View
from nacre.store.store import Store
from nacre.uri.parse import host, origin

_MOST_ROWS = 100_000


class WaitingUri(NamedTuple):
    """A queued URI.

    Attributes:
        where: The family: `queue`, or `future` until the URI is due.
        uri: The URI.
        ahead: Number of URIs ahead in its queue; None in `future`.
        due: When its time comes, seconds since the epoch; None in `queue`.
    """

    where: str
    uri: CrawlURI
    ahead: int | None = None
    due: float | None = None


def find_waiting(store: Store, queue: str, key: bytes) -> WaitingUri | None:
    """The URI with a seen key; None when it does not wait, or too far behind.

    Args:
        store: The store.
        queue: Key of its queue.
        key: Its seen key.
    """
    identity = queue_id(queue)
    rows = store.scan("queue", identity, identity + LAST_SUFFIX, _MOST_ROWS)
    for ahead, (row_key, value) in enumerate(rows):
        uri = unpack(row_key, value, queue)
        if uri.key == key:
            return WaitingUri("queue", uri, ahead)
    for row_key, value in store.scan("future", b"", None, _MOST_ROWS):
        uri = unpack_future(row_key, value)[0]
        if uri.key == key:
            return WaitingUri("future", uri, due=time_of(row_key))
    return None


_MOST_STEPS = 60


class FoundVia(NamedTuple):
    """The way in which a URL was found; `is_known` is False if that is assumed."""

    url: str
    path: str
    via: str
    context: str = ""
    source: str = ""
    is_known: bool = True


class UrlState(NamedTuple):
    """The data that a job has on a URL.

    Attributes:
        key: Its seen key.
        discovery: How it was found.
        busy: It, when a worker has it.
        waiting: It, when it waits.
        outcome: Its outcome when it left the frontier last.
        refusal: Why the scope refused it; None when anything else is known.
    """

    key: bytes
    discovery: FoundVia
    busy: CrawlURI | None = None
    waiting: WaitingUri | None = None
    outcome: Outcome | None = None
    refusal: RejectedUri | None = None

    @property
    def pending(self) -> CrawlURI | None:
        """The URI, when it is in the frontier."""
        return self.waiting.uri if self.waiting else self.busy


class UrlLookup:
    """Looks URLs up in a job.

    Args:
        view: The job.
        identity: Gives keys.
        queue_of: Gives the queue of a URL that is in none.
        first_seed: The URL that is assumed to link to a URL that was never found; "" for none.
    """

    def __init__(
        self,
        view: View,
        identity: Identity,
        queue_of: Callable[[str], str],
        first_seed: Callable[[], str],
    ) -> None:
        self._view = view
        self._clock = view.clock
        self._store = view.store
        self._identity = identity
        self._queue_of = queue_of
        self._first_seed = first_seed
        self._outcomes = Outcomes(view.store)
        self._outside = RejectedUris(view.store)

    def outcome(self, url: str) -> Outcome | None:
        """The outcome of a URL, or of one with the same canonical form."""
        return self._outcomes.get(self._identity.key(url))

    def find(self, url: str) -> UrlState:
        """All that the job has of a URL."""
        key = self._identity.key(url)
        outcome = self._outcomes.get(key)
        busy = self._in_process(key)
        # What was deleted may have been imported again.
        final = outcome is not None and outcome.status != FetchStatus.DELETED
        waiting = None if busy or final else self._waiting(url, key)
        refusal = None if outcome or busy or waiting else self._outside.get(key)
        pending = waiting.uri if waiting else busy
        return UrlState(
            key, self._discovery(url, pending, outcome or refusal), busy, waiting, outcome, refusal
        )

    def standing(self, place: UrlState) -> Standing:
        """The state in a word."""
        if place.busy is not None:
            return Standing.IN_PROCESS
        if place.waiting is not None:
            return Standing.QUEUED
        if place.outcome is not None:
            return Standing.FINISHED
        if place.refusal is not None:
            return Standing.REFUSED
        return Standing.SEEN if self._is_seen(place.key) else Standing.UNKNOWN

    def behind(self, waiting: WaitingUri | None) -> PrerequisiteAnswer | None:
        """The prerequisite that the URI waits for, if that waits too: addresses or robots.txt."""
        uri = waiting.uri if waiting is not None else None
        if uri is None or not uri.url.startswith(("http:", "https:")):
            return None
        for url in (f"dns:{host(uri.url)}", f"{origin(uri.url)}/robots.txt"):
            key = self._identity.key(url)
            busy = self._in_process(key)
            if busy:
                return PrerequisiteAnswer(url, busy.attempts, busy.last_status)
            result = find_waiting(self._view.store, uri.queue, key)
            if result:
                seconds_left = None if result.due is None else result.due - self._clock.now()
                return PrerequisiteAnswer(
                    url, result.uri.attempts, result.uri.last_status, seconds_left
                )
        return None

    def way(self, via: str) -> list[PathStep]:
        """Pages from the seed on, found backwards; bounded, and safe against circles."""
        steps: list[PathStep] = []
        passed: set[str] = set()
        while via and via not in passed and len(steps) < _MOST_STEPS:
            passed.add(via)
            outcome = self.outcome(via)
            path = outcome.path if outcome else ""
            steps.append(PathStep(via, path[-1:], outcome.status if outcome else None))
            via = outcome.via if outcome else ""
        return steps[::-1]

    def _in_process(self, key: bytes) -> CrawlURI | None:
        live = self._view.live
        if live is None:
            return None
        return next((visit.uri for visit in live.in_process() if visit.uri.key == key), None)

    def _waiting(self, url: str, key: bytes) -> WaitingUri | None:
        """The URI in its queue, or among those that wait for their time."""
        return (
            find_waiting(self._view.store, self._queue_of(url), key) if self._is_seen(key) else None
        )

    def _is_seen(self, key: bytes) -> bool:
        return self._store.get("seen", key) is not None

    def _discovery(
        self, url: str, pending: CrawlURI | None, row: Outcome | RejectedUri | None
    ) -> FoundVia:
        if pending is not None:
            return FoundVia(pending.url, pending.path, pending.via, pending.context, pending.source)
        if row is not None:
            return FoundVia(row.url, row.path, row.via, row.context)
        return FoundVia(url, "L", self._first_seed(), is_known=False)
