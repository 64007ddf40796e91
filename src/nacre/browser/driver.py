"""Opens one page in a browser, acts on it, and returns the state in which it ended.

Whatever a page does ends here as a value of `RenderedPage.ended`; it never raises an exception.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Coroutine
from typing import Any

from nacre import __version__
from nacre.browser.behaviours import BehaviourRun
from nacre.browser.cdp import BrowserGoneError, CdpError, CdpTimeoutError
from nacre.browser.context_cookies import read_cookies, set_cookies
from nacre.browser.emulation import override_metrics, override_user_agent
from nacre.browser.network_log import clean_text
from nacre.browser.open_page import (
    WORLD,
    OpenPage,
    PageHangError,
    PageScriptError,
    bound_number,
    call_source,
    load_script,
)
from nacre.browser.page_events import Commands, PageEvents
from nacre.browser.pictures import take_picture
from nacre.browser.process import PageContext
from nacre.browser.settle import Settling
from nacre.browser.snapshot import Snapshot, take_dom
from nacre.core.rendered import BrowserCookie, PageTask, RenderedPage

PRODUCT = f"nacre/{__version__}"

COLLECT_TIME = 30.0
"""Longest time in which the final state is taken, seconds, beside that of the page."""

SETTLE_AGAIN = 10.0
"""Longest time that is waited for the page to come to rest after the behaviours, seconds."""

_PATIENCE = 15.0
"""Seconds for a question about the layout of a page at rest; that of a large page takes long."""

_LOST = frozenset(("crash", "hang", "memory", "browserGone", "notLoaded"))
"""Ends after which the page has no state that could be taken."""


async def open_page(context: PageContext, task: PageTask) -> RenderedPage:
    """Open a page and return the state in which it ended.

    Args:
        context: An empty page in a separate context; `context.stop` ends the page.
        task: The URL to open, and the options.
    """
    visit = _PageVisit(context, task)
    try:
        return await visit.run()
    finally:
        await visit.close()


class _PageVisit:
    """One page from its navigation to its end."""

    def __init__(self, context: PageContext, task: PageTask) -> None:
        self._context = context
        self._task = task
        self._started = time.monotonic()
        settling = Settling(self._started, task.load_time)
        self._events = PageEvents(context, context.target_id, settling)
        self._page = OpenPage(context, task, self._events, context.target_id)
        self._behaviours = BehaviourRun(self._page)
        self._snapshot = Snapshot()
        self._pictures: dict[str, bytes] = {}
        self._errors: list[str] = []
        self._cookies: tuple[BrowserCookie, ...] = ()
        self._covered = 0.0

    async def run(self) -> RenderedPage:
        """Open the page, act on it, and take its state."""
        ended = await self._race(self._drive(), self._task.time)
        if ended not in _LOST:
            failure = await self._race(self._collect(), COLLECT_TIME)
            is_whole = self._snapshot.dom and failure in ("crash", "hang")
            if failure in _LOST and not is_whole:
                ended = failure
        if ended not in ("browserGone", "notLoaded"):
            with contextlib.suppress(CdpError, BrowserGoneError):
                self._cookies = await read_cookies(self._context)
        return self._report(ended)

    async def close(self) -> None:
        """Listen to the page no more."""
        await self._events.close()

    async def _race(self, work: Coroutine[Any, Any, str], seconds: float) -> str:
        """Return how some work ended: by itself, its time, the end of the page, or from outside."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(_contain(work))
        stop = loop.create_task(self._context.stop.wait())
        gone = loop.create_task(self._wait_for_process())
        crash = loop.create_task(self._events.wait_for_crash())
        ends = (stop, gone, crash, task)
        try:
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return next((end.result() for end in ends if end.done()), "pageTime")
        finally:
            for end in ends:
                end.cancel()
            await asyncio.wait(ends)

    async def _wait_for_process(self) -> str:
        await self._context.cdp.closed.wait()
        return "browserGone"

    async def _drive(self) -> str:
        await self._prepare()
        self._started = time.monotonic()
        if not await self._navigate():
            return "notLoaded"
        remaining = self._task.load_time - (time.monotonic() - self._started)
        is_settled = await self._page.settle(max(0.0, remaining))
        if self._events.is_ready:
            await self._behaviours.run()
            if self._behaviours.notes:
                await self._page.settle(SETTLE_AGAIN if is_settled else 1.0)
        return "settled" if is_settled else "loadTime"

    async def _prepare(self) -> None:
        """Set up the page before it asks for anything."""
        task = self._task
        agent = override_user_agent(PRODUCT, self._context.process.user_agent, task)
        seed = call_source(load_script("seed"), task.seed) if task.seed else ""
        observed: Commands = (
            ("Network.enable", _NETWORK),
            ("Network.setBypassServiceWorker", {"bypass": True}),
            ("Target.setAutoAttach", _ATTACH),
        )
        scripts = (("Page.addScriptToEvaluateOnNewDocument", {"source": seed}),) if seed else ()
        self._events.prepare_targets(
            (*observed, ("Page.enable", {}), ("Emulation.setUserAgentOverride", agent), *scripts),
            (*observed, ("Network.setUserAgentOverride", agent)),
        )
        name = f"nacre-{secrets.token_hex(8)}"
        watch = call_source(load_script("watch"), name)
        commands: Commands = (
            *observed,
            ("Page.enable", {}),
            ("Inspector.enable", {}),
            ("Fetch.enable", {"patterns": [{"urlPattern": "*", "resourceType": "Document"}]}),
            ("Emulation.setUserAgentOverride", agent),
            ("Emulation.setDeviceMetricsOverride", override_metrics(task)),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Emulation.setEmulatedMedia", _MEDIA),
            *scripts,
            (
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": call_source(load_script("errors"), name)},
            ),
            (
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": f"{{{load_script('prelude')}\n{watch}}}", "worldName": WORLD},
            ),
        )
        await self._page.call_all(commands)
        await self._protect_context()

    async def _protect_context(self) -> None:
        """Refuse downloads and permissions, observe shared workers, and set the cookies."""
        of_context = {"browserContextId": self._context.context_id}
        await self._context.cdp.call_all(
            (
                ("Browser.setDownloadBehavior", {"behavior": "deny", **of_context}),
                ("Target.setAutoAttach", {**_ATTACH, "filter": _SHARED_WORKERS}),
                ("Browser.grantPermissions", {"permissions": [], **of_context}),
            )
        )
        await set_cookies(self._context, self._task.cookies)

    async def _navigate(self) -> bool:
        """Go to the URL of the task and return whether its document came."""
        url = self._task.url
        if not url.startswith(("http://", "https://")):
            self._errors.append("not an http or https URL")
            return False
        self._events.expect(url)
        try:
            reply = await self._page.call(
                "Page.navigate", {"url": url}, seconds=self._task.load_time
            )
        except CdpError as error:  # no reply in time, or a URL that the browser cannot parse
            self._errors.append(clean_text(error.message, 200))
            return False
        if failure := str(reply.get("errorText", "")):
            self._errors.append(clean_text(failure, 200))
        return not failure and not reply.get("isDownload")

    async def _collect(self) -> str:
        """Take the state of the page, the most important first."""
        page = self._page
        await page.call("Emulation.setDeviceMetricsOverride", override_metrics(self._task))
        state: dict[str, object] = {}
        if "fullPage" in self._task.pictures:
            with contextlib.suppress(PageScriptError):
                state = await page.read("state", seconds=_PATIENCE)
        self._snapshot = await take_dom(page, wants_text=True)
        with contextlib.suppress(PageScriptError):
            covered = await page.run("covered", seconds=_PATIENCE)
            self._covered = bound_number(covered, 1000) / 1000
        height = bound_number(state.get("height"), 10**7)
        for kind in self._task.pictures:
            if picture := await take_picture(page, kind, height):
                self._pictures[kind] = picture
        return "settled"

    def _report(self, ended: str) -> RenderedPage:
        events = self._events.network.events
        failed = [
            f"{event.url[:300]}: {event.error}"
            for event in events
            if event.error not in ("", "net::ERR_ABORTED")
        ]
        snapshot = self._snapshot
        return RenderedPage(
            ended=ended,
            url=snapshot.url,
            title=snapshot.title,
            dom=snapshot.dom if self._task.wants_dom else b"",
            text=snapshot.text,
            pictures=self._pictures,
            links=self._events.links,
            routes=tuple(self._behaviours.routes),
            events=events,
            console_errors=[*self._errors, *snapshot.errors, *failed][:50],
            behaviours=self._behaviours.notes,
            cookies=self._cookies,
            covered=self._covered,
            seconds=time.monotonic() - self._started,
            browser=self._context.process.version,
        )


_NETWORK = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 1}
"""The browser keeps no bodies and reports none: the proxy has them. 0 bytes of a POST mean all."""
_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
_SHARED_WORKERS = [{"type": "shared_worker", "exclude": False}, {"exclude": True}]
_MEDIA = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}


async def _contain(work: Coroutine[Any, Any, str]) -> str:
    """Await some work on a page; how a page fails becomes how it ended."""
    try:
        return await work
    except (PageHangError, CdpTimeoutError):
        return "hang"
    except BrowserGoneError:
        return "browserGone"
    except (CdpError, PageScriptError):
        return "crash"
