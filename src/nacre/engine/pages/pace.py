"""The pace of the requests of one page: towards each host, and in all."""

import asyncio
from collections.abc import Callable

from nacre.browser.settings import BrowserSettings
from nacre.core.processor import Visit
from nacre.frontier.policy import THROTTLED

LEFT = "the page has ended"


class _Host:
    """The requests to a host.

    Attributes:
        refusal: Why it gets no more requests; "" while it gets some.
        free: Places for requests at once.
        next_start: Time of the loop before which no request starts.
    """

    __slots__ = ("free", "next_start", "refusal")

    def __init__(self, places: int) -> None:
        self.refusal = ""
        self.free = asyncio.Semaphore(places)
        self.next_start = 0.0

    def plan_start(self, now: float, gap: float) -> float:
        """Return how long the next request has to wait, seconds."""
        start = max(now, self.next_start)
        self.next_start = start + gap
        return start - now

    def refuse(self, reason: str) -> None:
        """Let it get no more requests of the page."""
        self.refusal = reason


class PagePace:
    """Lets the requests of a page start: few at once to a host, with a gap between their starts.

    A host that replies 429, or requests a wait, gets no more requests of the page.

    Args:
        settings: `browser.per_host` and `browser.gap`.

    Attributes:
        ended: Set when the page has ended.
    """

    def __init__(self, settings: BrowserSettings) -> None:
        self._places = settings.per_host
        self._gap = settings.gap
        self._hosts: dict[str, _Host] = {}
        self.ended = asyncio.Event()
        self._pauses: set[asyncio.Future[None]] = set()
        self._time: Callable[[], float] = asyncio.get_running_loop().time

    async def start(self, host: str) -> str:
        """Wait until a request may start; `finish` must follow.

        Returns:
            "", or why it may not be sent: no `finish` follows then.
        """
        entry = self._hosts.get(host)
        if entry is None:
            entry = self._hosts[host] = _Host(self._places)
        await entry.free.acquire()
        wait = entry.plan_start(self._time(), self._gap)
        if wait > 0 and not entry.refusal:
            await self._pause(wait)
        refusal = LEFT if self.ended.is_set() else entry.refusal
        if refusal:
            entry.free.release()
        return refusal

    async def _pause(self, seconds: float) -> None:
        """Wait for a time, or until the page has ended."""
        loop = asyncio.get_running_loop()
        pause = loop.create_future()
        self._pauses.add(pause)
        timer = loop.call_later(seconds, _end_pause, pause)
        try:
            await pause
        finally:
            timer.cancel()
            self._pauses.discard(pause)

    def finish(self, host: str, visit: Visit) -> None:
        """Note the end of a request that `start` let through."""
        entry = self._hosts[host]
        entry.free.release()
        wait = visit.retry_after
        if visit.status == 429 or (visit.status in THROTTLED and wait is not None):
            entry.refuse(f"{host} replied {visit.status}")

    def end(self) -> None:
        """Let no request start any more: the page has ended."""
        self.ended.set()
        for pause in self._pauses:
            _end_pause(pause)


def _end_pause(pause: asyncio.Future[None]) -> None:
    if not pause.done():
        pause.set_result(None)


class PageBudget:
    """Limits of a page towards all servers together: requests, bytes, and their time.

    Args:
        settings: The limits.

    Attributes:
        exceeded: The setting of the limit that was met first; "" for none.
    """

    def __init__(self, settings: BrowserSettings) -> None:
        self._settings = settings
        self._requests = 0
        self._bytes = 0
        self._seconds = 0.0
        self.exceeded = ""

    def charge_request(self) -> str:
        """Count a request; return the setting that forbids it, or ""."""
        settings = self._settings
        limits = (
            ("max_requests", self._requests, settings.max_requests),
            ("max_bytes", self._bytes, settings.max_bytes),
            ("server_time", self._seconds, settings.server_time),
        )
        for name, value, limit in limits:
            if value >= limit:
                self.exceeded = self.exceeded or name
                return name
        self._requests += 1
        return ""

    def charge_bytes(self, size: int) -> bool:
        """Count received bytes; return whether they are within the limit."""
        self._bytes += size
        if self._bytes > self._settings.max_bytes:
            self.exceeded = self.exceeded or "max_bytes"
        return self._bytes <= self._settings.max_bytes

    def charge_time(self, seconds: float) -> None:
        """Count the time that a server spent on a request."""
        self._seconds += seconds
