"""Prerequisites of requests of pages: `dns:` and robots.txt, fetched at once."""

import asyncio
from collections.abc import Awaitable, Callable

from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.core.status import FetchStatus

_MOST = 12
"""Prerequisites of one request at most: a name, robots.txt, its redirects, and their names."""

MakePrerequisite = Callable[[Visit, str], CrawlURI]
"""Makes the CrawlURI of a prerequisite from the visit that needs it, and the URL."""


class InlinePrerequisites:
    """Fetches prerequisites without their queue. Requests that need the same wait for one fetch.

    Args:
        run: Passes a visit along the fetch chain.
        end: Stores what a prerequisite taught; False if it failed and may succeed later.
        make: Makes its CrawlURI.
        release: Takes back what a visit reserved of its quotas.
        overlay_of: Determines which combination of sheets applies to a URI.
        clock: The time.
    """

    def __init__(
        self,
        run: Callable[[Visit], Awaitable[None]],
        end: Callable[[Visit], Awaitable[bool]],
        make: MakePrerequisite,
        *,
        release: Callable[[Visit], None],
        overlay_of: Callable[[CrawlURI], int],
        clock: Clock,
    ) -> None:
        self._run = run
        self._end = end
        self._make = make
        self._release = release
        self._overlay_of = overlay_of
        self._clock = clock
        self._running: dict[str, asyncio.Future[str]] = {}

    async def run_chain(self, visit: Visit) -> None:
        """Pass a visit along the chain, again after each prerequisite.

        A visit whose prerequisite failed has the status of a failed prerequisite. One that waits
        for no prerequisite stays deferred.
        """
        for _ in range(_MOST):
            await self._run(visit)
            if visit.status != FetchStatus.DEFERRED or not visit.prerequisite:
                return
            url = visit.prerequisite
            self._release(visit)
            error = await self._fetch(visit, url)
            if error:
                is_name = url.startswith("dns:")
                failed = FetchStatus.PREREQUISITE_DNS_FAILED if is_name else _ROBOTS_FAILED
                visit.refuse(failed, f"{url}: {error}")
                return
            visit.proceed()
        visit.refuse(FetchStatus.PREREQUISITE_FAILED, f"more than {_MOST} prerequisites")

    def close(self) -> None:
        """End the fetches for pages that have ended."""
        for running in self._running.values():
            running.cancel()

    async def _fetch(self, visit: Visit, url: str) -> str:
        """Fetch a prerequisite, or wait for its fetch; return why it failed, or ""."""
        running = self._running.get(url)
        if running is None:
            running = asyncio.ensure_future(self._fetch_once(visit, url))
            self._running[url] = running
            running.add_done_callback(lambda _: self._running.pop(url, None))
        # A page that ends does not cancel what another page waits for.
        return await asyncio.shield(running)

    async def _fetch_once(self, visit: Visit, url: str) -> str:
        uri = self._make(visit, url)
        first = Visit(
            uri,
            toe=visit.toe,
            started=self._clock.monotonic(),
            overlay=self._overlay_of(uri),
            queued=False,
        )
        await self.run_chain(first)
        if await self._end(first):
            return ""
        return first.error or f"status {first.status}"


_ROBOTS_FAILED = FetchStatus.PREREQUISITE_ROBOTS_FAILED
