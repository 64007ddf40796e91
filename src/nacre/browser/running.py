"""A running browser with its pages: opens them, and watches its memory and its answers."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from socket import socket
from typing import Final, NamedTuple, Protocol

import msgspec

from nacre.browser.cdp import BrowserGoneError, CdpError, CdpTimeoutError
from nacre.browser.process import (
    BrowserLaunch,
    BrowserProcess,
    PageContext,
    close_context,
    open_context,
)
from nacre.browser.process_tree import ProcessUsage
from nacre.core.rendered import PageTask, RenderedPage, RequestHandler

OpenPage = Callable[[PageContext, PageTask], Awaitable[RenderedPage]]
"""Opens a page in an empty context and returns its final state; `driver.open_page`."""

_GRACE: Final = 30.0
"""Time beyond the limit of a page after which it counts as hanging, seconds."""
_HANDLER_TIME: Final = 10.0
"""Longest time in which the requests of a page that has ended return, seconds."""
_STOP_TIME: Final = 5.0
"""Longest time in which a page ends that was stopped, seconds; then the browser is killed."""
_JUST_NOW: Final = 0.25
"""Seconds after a page has ended in which the next one does not measure the browser again."""
_HEAP_TIME: Final = 1.0
"""Longest time in which a page reports its memory, seconds; a page that does not is the largest."""


class PoolLimits(NamedTuple):
    """Limits at which a browser is replaced or killed.

    Attributes:
        pages: Pages after which it is replaced.
        age: Seconds after which it is replaced.
        memory: Memory of all its processes at which the largest page is ended, bytes.
        interval: Seconds between two looks at its memory while pages are open.
        answer: Seconds in which it has to answer; else it is killed.
        pause: Seconds after a start that failed in which none is tried.
        idle: Seconds after its last page when it ends; the next page starts another.
    """

    pages: int = 500
    age: float = 3600.0
    memory: int = 1_500_000_000
    interval: float = 1.0
    answer: float = 10.0
    pause: float = 60.0
    idle: float = 300.0


class PageListener(Protocol):
    """Serves what comes to one listening socket; `proxy.ProxyListener`."""

    def assign(self, handler: RequestHandler | None) -> None:
        """Serve another page; None refuses all. Connections that are open end at once."""
        ...

    async def wait_for_handlers(self, seconds: float) -> None:
        """Wait until the handlers of all requests have returned; cancel them after a time."""
        ...

    def close(self) -> None:
        """Accept nothing more, and end all connections."""
        ...


class PageProxy(Protocol):
    """The only way out of a browser; `proxy.RecordingProxy`."""

    async def serve(self, sock: socket, handler: RequestHandler | None) -> PageListener:
        """Serve on a listening socket, which belongs to the listener from now on."""
        ...


class PageParts(NamedTuple):
    """The proxy of a browser and the driver of its pages.

    Attributes:
        proxy: The only way out of the browser.
        open_page: Drives a page.
        authority: `CertificateAuthority.spki_hash` of the proxy; "" if https is not to work.
    """

    proxy: PageProxy
    open_page: OpenPage
    authority: str = ""


class _RunningPage:
    """A page that is open.

    Attributes:
        context: Where it is open.
        cpu: Its share of the browser's CPU time, seconds.
        is_alone: Whether no other page was open in the browser meanwhile.
    """

    def __init__(self, context: PageContext, *, is_alone: bool) -> None:
        self.context = context
        self.cpu = 0.0
        self.is_alone = is_alone


class PageOutcome(NamedTuple):
    """The final state of a page, and whether it was alone.

    Attributes:
        page: Its final state.
        is_alone: Whether no other page was open in the browser meanwhile.
    """

    page: RenderedPage
    is_alone: bool


class RunningBrowser:
    """A browser, the listeners of its slots, and the pages that are open in it.

    Attributes:
        process: The browser.
        users: Number of pages that are about to be opened, or are open.
        is_retired: Whether it gets no new page.
    """

    def __init__(self, process: BrowserProcess, limits: PoolLimits) -> None:
        """Prepare a browser; see `start`."""
        self.process = process
        self.users = 0
        self.is_retired = False
        self._limits = limits
        self._listeners: list[PageListener] = []
        self._ports: list[int] = []
        self._pages: dict[int, _RunningPage] = {}
        self._opened = 0
        self._usage = ProcessUsage(0, 0.0, 0)
        self._measured = self._started = 0.0
        self._stopped = math.inf
        """When a page was stopped for its memory that has not ended yet; infinite if none was."""

    async def start(self, proxy: PageProxy) -> None:
        """Start the browser; every page that it opens has a listener of the proxy.

        Raises:
            BrowserError: It did not start.
        """
        await self.process.start()
        self._started = asyncio.get_running_loop().time()
        self._ports = [listener.getsockname()[1] for listener in self.process.sockets]
        for listener in self.process.sockets:
            self._listeners.append(await proxy.serve(listener, None))

    @classmethod
    async def launch(
        cls, plan: BrowserLaunch, proxy: PageProxy, limits: PoolLimits
    ) -> "RunningBrowser":
        """Start a browser by its plan; see `start`."""
        browser = cls(BrowserProcess(plan), limits)
        try:
            await browser.start(proxy)
        except BaseException:
            await browser.stop()
            raise
        return browser

    @property
    def is_worn(self) -> bool:
        """Whether it is to be replaced before the next page."""
        age = asyncio.get_running_loop().time() - self._started
        return (
            self.is_retired
            or self.process.cdp.closed.is_set()
            or self._opened >= self._limits.pages
            or age > self._limits.age
        )

    async def run(
        self, task: PageTask, handler: RequestHandler, slot: int, open_page: OpenPage
    ) -> PageOutcome:
        """Open a page and return how it ended.

        Args:
            task: The page.
            handler: Answers its requests.
            slot: Number of its slot.
            open_page: Drives the page.

        Raises:
            BrowserGoneError: The browser had ended before the page was opened.
        """
        self._opened += 1
        listener, port = self._listeners[slot + 1], self._ports[slot + 1]
        try:
            context = await open_context(self.process, port)
        except CdpError as error:
            self.kill("browserGone")
            raise BrowserGoneError(str(error)) from error
        if self._pages or asyncio.get_running_loop().time() - self._measured > _JUST_NOW:
            self._account()
        page = self._pages[slot] = _RunningPage(context, is_alone=not self._pages)
        for other in self._pages.values():
            other.is_alone = other.is_alone and len(self._pages) == 1
        listener.assign(handler)
        try:
            state = await self._watch(page, task, open_page)
        finally:
            listener.assign(None)
            await self._close(slot, page)
            await listener.wait_for_handlers(_HANDLER_TIME)
        state = msgspec.structs.replace(state, cpu=page.cpu, browser=self.process.version)
        return PageOutcome(state, page.is_alone)

    def kill(self, reason: str) -> None:
        """Kill the browser at once; pages that are open end with a reason."""
        self.is_retired = True
        self.process.kill()
        for page in self._pages.values():
            page.context.stop.set(reason)

    async def stop(self) -> None:
        """End the browser with all its pages."""
        self.kill("browserGone")
        for listener in self._listeners:
            listener.close()
        await self.process.stop()

    async def _watch(self, page: _RunningPage, task: PageTask, open_page: OpenPage) -> RenderedPage:
        """Run a page while the browser is watched."""
        async with asyncio.TaskGroup() as group:
            watchers = [
                group.create_task(self._watch_memory()),
                group.create_task(self._watch_answers()),
            ]
            try:
                async with asyncio.timeout(task.time + _GRACE):
                    return await open_page(page.context, task)
            except BrowserGoneError:
                return RenderedPage(ended=page.context.stop.reason or "browserGone")
            except (CdpError, TimeoutError):
                return RenderedPage(ended=page.context.stop.reason or "hang")
            finally:
                for watcher in watchers:
                    watcher.cancel()

    async def _close(self, slot: int, page: _RunningPage) -> None:
        if not await close_context(page.context):
            self.kill("browserGone")
        if self._account().memory > self._limits.memory:
            self.is_retired = True
        if page.context.stop.reason == "memory":
            self._stopped = math.inf
        del self._pages[slot]

    def _account(self) -> ProcessUsage:
        """Measure the browser; the pages that are open share its CPU time since the last time."""
        usage = self.process.usage()
        share = max(0.0, usage.cpu - self._usage.cpu) / max(1, len(self._pages))
        for page in self._pages.values():
            page.cpu += share
        self._usage = usage
        self._measured = asyncio.get_running_loop().time()
        return usage

    async def _watch_answers(self) -> None:
        """Kill the browser when it does not answer, such as after SIGSTOP.

        It is asked only if it has sent nothing for a time.
        """
        cdp, interval = self.process.cdp, self._limits.interval
        while not cdp.closed.is_set():
            await asyncio.sleep(interval)
            if time.monotonic() - cdp.heard < interval:
                continue
            try:
                await cdp.call("Browser.getVersion", timeout=self._limits.answer)
            except (CdpTimeoutError, BrowserGoneError):
                break
        self.kill("browserGone")

    async def _watch_memory(self) -> None:
        """End the largest page when the browser takes too much memory."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._limits.interval)
            if loop.time() - self._measured < self._limits.interval / 2:
                continue  # the watcher of another page was here
            self._measured = loop.time()
            memory = self.process.memory()
            if memory > self._limits.memory:
                await self._relieve(memory)

    async def _relieve(self, memory: int) -> None:
        """End the largest page; kill the browser if that takes too long or if memory explodes."""
        self.is_retired = True
        loop = asyncio.get_running_loop()
        if self._stopped == math.inf and self._pages:
            self._stopped = loop.time()
            pages = list(self._pages.values())
            sizes = [await _heap_size(page.context) if len(pages) > 1 else 0.0 for page in pages]
            pages[sizes.index(max(sizes))].context.stop.set("memory")
        if memory > 2 * self._limits.memory or loop.time() - self._stopped > _STOP_TIME:
            self.kill("browserGone")  # the others are tried once more


async def _heap_size(context: PageContext) -> float:
    """Return the memory that a page's scripts take, bytes; infinite if it does not answer."""
    try:
        usage = await context.cdp.call(
            "Runtime.getHeapUsage", session=context.session, timeout=_HEAP_TIME
        )
    except (CdpError, BrowserGoneError):
        return math.inf
    return float(sum(value for value in usage.values() if isinstance(value, int | float)))
