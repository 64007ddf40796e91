"""Opens pages in browsers: starts, shares, replaces and ends them, and tries a page once more."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from nacre.browser.cdp import BrowserGoneError
from nacre.browser.finding import find_browser
from nacre.browser.memory import free_memory
from nacre.browser.process import BrowserLaunch
from nacre.browser.running import PageOutcome, PageParts, PoolLimits, RunningBrowser
from nacre.browser.scratch import remove_old_directories
from nacre.browser.settings import BrowserSettings
from nacre.browser.slots import PageSlots, count_cores, count_slots
from nacre.core.rendered import PageTask, RenderedPage, RequestHandler
from nacre.errors import BrowserError
from nacre.messages import message

_STARTS: Final = 3
"""Browsers that are started for a page, at most; an idle browser may have been killed."""
_RETRIED: Final = frozenset(("crash", "hang", "browserGone"))
"""Ends of a page after which it is tried once more, alone in a fresh browser."""


class BrowserPool:
    """Opens pages in a browser, which it starts with the first page.

    The number of pages that are open at once is that of the machine: all jobs of a user share it.
    """

    def __init__(
        self,
        settings: BrowserSettings,
        scratch: Path,
        slots_directory: Path,
        parts: PageParts,
        limits: PoolLimits | None = None,
    ) -> None:
        """Prepare a pool; no process is started.

        Args:
            settings: Of the job.
            scratch: Directory of this run alone, for the files of browsers.
            slots_directory: Directory that all jobs of a user share, for the locks of the slots.
            parts: The proxy and the driver of pages.
            limits: When a browser is replaced; None: the stock limits, with the job's memory.
        """
        self._settings = settings
        self._scratch = scratch
        count = count_slots(settings.pages, count_cores(), free_memory())
        self._slots = PageSlots(slots_directory, count)
        self._parts = parts
        self._limits = limits or PoolLimits(memory=settings.memory)
        self._browser: RunningBrowser | None = None
        self._browsers: set[RunningBrowser] = set()
        self._changing = asyncio.Lock()
        self._gate = _Gate()
        self._idle: asyncio.TimerHandle | None = None
        """Ends the browser when no page came for a time."""
        self._failure: tuple[str, float] | None = None
        """Message and time of a start that failed."""
        self._is_closed = False
        self._fatal: set[str] = set()
        """URLs that killed a browser."""

    @property
    def slots(self) -> int:
        """Number of pages that may be open at once."""
        return self._slots.count

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        """Open a page; every request of it goes to `handler`.

        A page that crashes or hangs is tried once more, alone in a fresh browser, and `handler`
        gets its requests again.

        Raises:
            BrowserError: No browser can be started; the message has the remedy.
        """
        if task.url in self._fatal:
            return RenderedPage(ended="browserGone")
        slot = await self._slots.acquire()
        try:
            async with self._gate.shared():
                outcome = await self._attempt(task, handler, slot.number)
            is_fatal = outcome.page.ended == "browserGone" and outcome.is_alone
            if outcome.page.ended in _RETRIED and not is_fatal and not self._is_closed:
                async with self._gate.exclusive():
                    await self._retire()
                    outcome = await self._attempt(task, handler, slot.number)
                is_fatal = outcome.page.ended == "browserGone"
            if is_fatal:
                self._fatal.add(task.url)
            return outcome.page
        finally:
            slot.release()

    async def close(self) -> None:
        """End the browser, if there is one."""
        self._is_closed = True
        async with self._changing:
            self._browser = None
            self._cancel_idle()
            while self._browsers:
                await self._browsers.pop().stop()

    async def _attempt(self, task: PageTask, handler: RequestHandler, slot: int) -> PageOutcome:
        for _ in range(_STARTS):
            browser = await self._take()
            try:
                return await browser.run(task, handler, slot, self._parts.open_page)
            except BrowserGoneError:
                continue
            finally:
                browser.users -= 1
                await self._end_unused()
        text = message(
            "browser.ended-at-once",
            "the browser ended {count} times before {url} was opened in it. Find the reason "
            "with: `nacre check --browser`",
            count=_STARTS, url=task.url,
        )  # fmt: skip
        self._failure = (text, asyncio.get_running_loop().time())
        raise BrowserError(text)

    async def _take(self) -> RunningBrowser:
        """Return the browser for a new page; its `users` counts the page already."""
        async with self._changing:
            if self._is_closed:
                raise BrowserError(message("browser.closed", "the run has ended"))
            self._cancel_idle()
            if self._browser is None or self._browser.is_worn:
                self._browser = None
                self._browser = await self._launch()
                self._browsers.add(self._browser)
            self._browser.users += 1
            return self._browser

    async def _launch(self) -> RunningBrowser:
        """Start a browser; soon after a start that failed, fail at once with its message."""
        loop = asyncio.get_running_loop()
        if self._failure is not None and loop.time() - self._failure[1] < self._limits.pause:
            raise BrowserError(self._failure[0])
        try:
            return await self._start()
        except BrowserError as error:
            self._failure = (error.message, loop.time())
            raise

    async def _start(self) -> RunningBrowser:
        if not self._browsers:
            await asyncio.to_thread(remove_old_directories, self._scratch)
        plan = BrowserLaunch(
            find_browser(self._settings.command),
            self._scratch,
            slots=self._slots.count,
            isolated=self._settings.isolation == "namespace",
            authority=self._parts.authority,
        )
        return await RunningBrowser.launch(plan, self._parts.proxy, self._limits)

    async def _retire(self) -> None:
        """Have the next page opened in a fresh browser."""
        async with self._changing:
            self._browser = None
        await self._end_unused()

    def _cancel_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    async def _end_unused(self) -> None:
        """End browsers that get no new page and have none."""
        async with self._changing:
            for browser in tuple(self._browsers):
                if not browser.users and (browser.is_worn or browser is not self._browser):
                    self._browsers.discard(browser)
                    await browser.stop()
            self._cancel_idle()
            if self._browser is not None and not self._browser.users:
                loop = asyncio.get_running_loop()
                self._idle = loop.call_later(self._limits.idle, self._browser.kill, "browserGone")


class _Gate:
    """Lets many pages in at once, or one alone."""

    def __init__(self) -> None:
        self._free = asyncio.Condition()
        self._inside = 0
        self._waiting = 0
        """Pages that wait to be alone: they go before those that do not mind others."""

    @contextlib.asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Be inside with others."""
        async with self._free:
            await self._free.wait_for(lambda: self._inside >= 0 and not self._waiting)
            self._inside += 1
        try:
            yield
        finally:
            async with self._free:
                self._inside -= 1
                self._free.notify_all()

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Be inside alone."""
        async with self._free:
            self._waiting += 1
            try:
                await self._free.wait_for(lambda: self._inside == 0)
            finally:
                self._waiting -= 1
                self._free.notify_all()
            self._inside = -1
        try:
            yield
        finally:
            async with self._free:
                self._inside = 0
                self._free.notify_all()
