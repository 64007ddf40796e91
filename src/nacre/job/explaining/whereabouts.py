"""Where a URL stands in a job, and how it came there: what `explain` begins with."""

from collections.abc import Callable
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI
from nacre.core.status import FetchStatus
from nacre.job.admission.identity import Identity
from nacre.job.admission.outside import Outside, Refusal
from nacre.job.explaining.explanation import PrerequisiteAnswer, Standing, Step
from nacre.job.explaining.waiting import Waiting, find_waiting
from nacre.job.offline import View
from nacre.job.visit.outcomes import Outcome, Outcomes
from nacre.uri.parse import host, origin

_MOST_STEPS = 60


class Found(NamedTuple):
    """How a URL was found; `known` is False where that is assumed."""

    url: str
    path: str
    via: str
    context: str = ""
    source: str = ""
    known: bool = True


class Place(NamedTuple):
    """What a job has of a URL.

    Attributes:
        key: Its seen key.
        found: How it was found.
        busy: It, when a worker has it.
        waiting: It, when it waits.
        outcome: What became of it when it left the frontier last.
        refusal: Why the scope refused it; None when anything else is known.
    """

    key: bytes
    found: Found
    busy: CrawlURI | None = None
    waiting: Waiting | None = None
    outcome: Outcome | None = None
    refusal: Refusal | None = None

    @property
    def pending(self) -> CrawlURI | None:
        """The URI, when it is in the frontier."""
        return self.waiting.uri if self.waiting else self.busy


class Whereabouts:
    """Looks URLs up in a job.

    Args:
        view: The job.
        identity: Gives keys.
        queue_of: Gives the queue of a URL that is in none.
        first_seed: The URL that is assumed to link to what nobody has found; "" for none.
    """

    def __init__(
        self,
        view: View,
        identity: Identity,
        queue_of: Callable[[str], str],
        first_seed: Callable[[], str],
    ) -> None:
        self._view = view
        self._identity = identity
        self._queue_of = queue_of
        self._first_seed = first_seed
        self._outcomes = Outcomes(view.store)
        self._outside = Outside(view.store)

    def outcome(self, url: str) -> Outcome | None:
        """What became of a URL, or of one with the same canonical form."""
        return self._outcomes.get(self._identity.key(url))

    def find(self, url: str) -> Place:
        """All that the job has of a URL."""
        key = self._identity.key(url)
        outcome = self._outcomes.get(key)
        busy = self._in_process(key)
        # What was deleted may have been imported again.
        final = outcome is not None and outcome.status != FetchStatus.DELETED
        waiting = None if busy or final else self._waiting(url, key)
        refusal = None if outcome or busy or waiting else self._outside.get(key)
        pending = waiting.uri if waiting else busy
        return Place(
            key, self._found(url, pending, outcome or refusal), busy, waiting, outcome, refusal
        )

    def standing(self, place: Place) -> Standing:
        """Where it stands, in a word."""
        if place.busy is not None:
            return Standing.IN_PROCESS
        if place.waiting is not None:
            return Standing.QUEUED
        if place.outcome is not None:
            return Standing.FINISHED
        if place.refusal is not None:
            return Standing.REFUSED
        return Standing.SEEN if self._is_seen(place.key) else Standing.UNKNOWN

    def behind(self, waiting: Waiting | None) -> PrerequisiteAnswer | None:
        """What the URI waits for: its host's addresses or its robots.txt, when these wait too."""
        if waiting is None or not waiting.uri.url.startswith(("http:", "https:")):
            return None
        uri = waiting.uri
        for url in (f"dns:{host(uri.url)}", f"{origin(uri.url)}/robots.txt"):
            key = self._identity.key(url)
            busy = self._in_process(key)
            if busy:
                return PrerequisiteAnswer(url, busy.attempts, busy.last_status)
            found = find_waiting(self._view.store, uri.queue, key)
            if found:
                left = None if found.due is None else found.due - self._view.clock.now()
                return PrerequisiteAnswer(url, found.uri.attempts, found.uri.last_status, left)
        return None

    def way(self, via: str) -> list[Step]:
        """Pages from the seed on, found backwards; bounded, and safe against circles."""
        steps: list[Step] = []
        passed: set[str] = set()
        while via and via not in passed and len(steps) < _MOST_STEPS:
            passed.add(via)
            outcome = self.outcome(via)
            path = outcome.path if outcome else ""
            steps.append(Step(via, path[-1:], outcome.status if outcome else None))
            via = outcome.via if outcome else ""
        return steps[::-1]

    def _in_process(self, key: bytes) -> CrawlURI | None:
        session = self._view.session
        if session is None:
            return None
        visits = list(session.parts.engine.current.values())
        return next((visit.uri for visit in visits if visit.uri.key == key), None)

    def _waiting(self, url: str, key: bytes) -> Waiting | None:
        """The URI in its queue, or among those that wait for their time."""
        return (
            find_waiting(self._view.store, self._queue_of(url), key) if self._is_seen(key) else None
        )

    def _is_seen(self, key: bytes) -> bool:
        return self._view.store.get("seen", key) is not None

    def _found(self, url: str, pending: CrawlURI | None, row: Outcome | Refusal | None) -> Found:
        if pending is not None:
            return Found(pending.url, pending.path, pending.via, pending.context, pending.source)
        if row is not None:
            return Found(row.url, row.path, row.via, row.context)
        return Found(url, "L", self._first_seed(), known=False)
