"""Decides when a page has ended: events and the time in, a verdict out. No clock, no browser.

A page has ended when its load event was fired, no request was in flight for `QUIET` seconds, its
main thread is idle, and two counts of its elements, `AGAIN` seconds apart, are equal. The last two
are needed: an application works for half a second after its last byte before it draws anything.
"""

from enum import Enum
from typing import NamedTuple

QUIET = 0.5
"""Seconds without a request in flight."""

LONG = 5.0
"""Seconds after which a request of an endless kind no longer counts as in flight."""

AGAIN = 0.1
"""Least seconds between two counts of elements."""

CHANGING = 5.0
"""Seconds without a request after which elements that still come and go are no longer awaited."""

MAX_REQUESTS = 10_000
"""Requests in flight that are followed; more are ignored."""

_ENDLESS = frozenset(("fetch", "media", "websocket", "beacon", "other"))
"""Kinds of requests that may last as long as their page: polls, event streams, sockets."""


class SettleStep(Enum):
    """The next action of the caller."""

    WAIT = "wait"
    PROBE = "probe"
    SETTLED = "settled"
    TIMEOUT = "timeout"


class SettleVerdict(NamedTuple):
    """The next action of the caller, and how long it may take.

    Attributes:
        step: `WAIT`: wait for an event, or `seconds`. `PROBE`: wait until the main thread is idle,
            count the elements twice, and report them. `SETTLED`, `TIMEOUT`: the end.
        seconds: Longest time to wait; 0 unless the step is `WAIT`.
    """

    step: SettleStep
    seconds: float = 0.0


class Settling:
    """The state of one page on its way to its end.

    Args:
        now: Monotonic time, seconds, as in all methods.
        limit: Seconds until `TIMEOUT`.
        quiet: Seconds without a request that are required.
    """

    def __init__(self, now: float, limit: float, quiet: float = QUIET) -> None:
        """See the class."""
        self.is_loaded = False
        self._in_flight: dict[str, tuple[str, float]] = {}
        self._deadline = now + limit
        self._quiet = quiet
        self._active = now
        self._elements: int | None = None
        self._counted = 0.0
        self.requests = 0

    def restart(self, now: float, limit: float, quiet: float = QUIET) -> None:
        """Begin again on the same page, with the requests that are in flight."""
        self._deadline = now + limit
        self._quiet = quiet
        self._active = now
        self._elements = None

    def load(self, now: float) -> None:
        """Note the load event."""
        self.is_loaded = True
        self._active = max(self._active, now - self._quiet)

    def start_request(self, request: str, resource: str, now: float) -> None:
        """Note that a request has begun.

        Args:
            request: Its ID; that of a redirect is the same, and replaces it.
            resource: As in `BrowserRequest.resource`.
            now: Monotonic time.
        """
        self.requests += 1
        if len(self._in_flight) < MAX_REQUESTS:
            self._in_flight[request] = (resource, now)
        self._note_activity(now)

    def end_request(self, request: str, now: float) -> None:
        """Note that a request has ended, whole or not; unknown IDs are ignored."""
        entry = self._in_flight.pop(request, None)
        if entry is not None and not _is_endless(*entry, now):
            self._note_activity(now)

    def is_loading(self) -> bool:
        """Whether a request is in flight that counts until its end."""
        return any(resource not in _ENDLESS for resource, _ in self._in_flight.values())

    def count(self, elements: int, now: float) -> bool:
        """Note the number of elements, counted when the main thread was idle.

        Returns:
            Whether it equals the count before, with no request in between.
        """
        is_equal = self._elements == elements
        self._elements = elements
        self._counted = now
        return is_equal

    def _note_activity(self, now: float) -> None:
        self._active = now
        self._elements = None

    def _busy_until(self, now: float) -> float:
        """Return when the last request that counts will no longer do so; 0 if none counts."""
        until = 0.0
        for resource, start in self._in_flight.values():
            if not _is_endless(resource, start, now):
                until = max(until, start + LONG if resource in _ENDLESS else self._deadline)
        return until

    def is_quiet(self, now: float) -> bool:
        """Whether no request was in flight for the required time."""
        return not self._busy_until(now) and now - self._quiet_since(now) >= self._quiet

    def _quiet_since(self, now: float) -> float:
        """Return the time of the last activity; a request that stopped counting is one."""
        ends = [
            start + LONG
            for resource, start in self._in_flight.values()
            if _is_endless(resource, start, now)
        ]
        return max((self._active, *(end for end in ends if end <= now)))

    def verdict(self, now: float) -> SettleVerdict:
        """Return what to do next."""
        remaining = self._deadline - now
        if remaining <= 0:
            return SettleVerdict(SettleStep.TIMEOUT)
        wait = remaining if not self.is_loaded else self._wait_time(now)
        return (
            SettleVerdict(SettleStep.WAIT, min(remaining, max(0.01, wait)))
            if wait > 0
            else SettleVerdict(SettleStep.PROBE)
        )

    def _wait_time(self, now: float) -> float:
        """Return the seconds until elements may be counted, if nothing else happens."""
        if busy := self._busy_until(now):
            return busy - now
        quiet = now - self._quiet_since(now)
        if quiet < self._quiet:
            return self._quiet - quiet
        return 0.0 if self._elements is None else AGAIN - (now - self._counted)

    def is_settled(self, elements: int, now: float) -> bool:
        """Note a count of elements and return whether the page has ended with it."""
        is_equal = self.count(elements, now)
        return is_equal or now - self._quiet_since(now) >= self._quiet + CHANGING

    def is_settled_by(self, counts: tuple[int, int], began: float, now: float) -> bool:
        """Note two counts of elements, `AGAIN` seconds apart, and return whether the page ended.

        Args:
            counts: Numbers of elements.
            began: Monotonic time before the first; if a request came since, they do not count.
            now: Monotonic time after the second.
        """
        if self._active > began:
            return False
        return self.is_settled(counts[0], began) or self.is_settled(counts[1], now)


def _is_endless(resource: str, start: float, now: float) -> bool:
    """Whether a request has been in flight for too long to be waited for."""
    return resource in _ENDLESS and now >= start + LONG
