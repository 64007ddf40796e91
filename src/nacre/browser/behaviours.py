"""Behaviours: actions on a loaded page, as many pages show more to a visitor who acts.

Each behaviour is driven from here, step by step, by small scripts in the page, with limits of its
own. Together they end at `PageTask.behaviour_time`, when a script changes the path of the page's
URL, and each of them when nothing new came for `NOTHING_NEW` seconds.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from nacre.browser.cdp import CdpError
from nacre.browser.emulation import MAX_SIDE, override_metrics, viewport_of
from nacre.browser.network_log import clean_text
from nacre.browser.open_page import (
    OpenPage,
    PageScriptError,
    bound_number,
    load_script,
    read_texts,
    wrap_script,
)
from nacre.browser.site_scripts import ScriptFormError, make_function
from nacre.browser.snapshot import take_dom
from nacre.browser.words import ACCEPT_WORDS, CONSENT_DIALOGS, MORE_WORDS, REJECT_WORDS
from nacre.core.rendered import RenderedRoute

NOTHING_NEW = 3.0
"""Seconds without a new request, element or height after which a behaviour ends."""

CALM = 3.0
"""Longest time that is waited for what a step has set off, seconds."""

SCROLL_STEPS = 200
SCROLL_TIME = 15.0
SCROLL_AT_ONCE = 10
SCROLL_SLICE = 1000
"""Longest time of the steps that the page does by itself, milliseconds."""
LAZY_URLS = 200
CLICKS = 50
MEDIA_ELEMENTS = 3
MEDIA_TIME = 5.0
ROUTES = 20
BARREN_ROUTES = 4
"""Hash routes in a row without a request or another DOM after which no more are visited."""
SITE_CLICKS = 200

Note = Callable[[str], None]


class BehaviourRun:
    """The behaviours of one page.

    Args:
        page: The page, loaded.

    Attributes:
        notes: Name of a behaviour to its actions; complete also when it was cut off.
        routes: States of the document that `routes` has visited.
    """

    def __init__(self, page: OpenPage) -> None:
        """See the class."""
        self.notes: dict[str, str] = {}
        self.routes: list[RenderedRoute] = []
        self._page = page
        self._deadline = 0.0

    async def run(self) -> None:
        """Run the behaviours that the task names, then the scripts of the site.

        Raises:
            PageHangError, BrowserGoneError: See `OpenPage.evaluate`.
        """
        task = self._page.task
        self._deadline = time.monotonic() + task.behaviour_time
        self._page.events.has_moved = False
        for name in task.behaviours:
            if behaviour := BEHAVIOURS.get(name):
                await self._run_within(name, partial(behaviour, self))
        for name, source in task.scripts:
            await self._run_within(name, partial(self._run_site_script, name, source))
        if self._page.events.has_moved:
            await self._return()

    async def _run_within(self, name: str, behaviour: Callable[[Note], Awaitable[None]]) -> None:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0 or self._page.events.has_moved:
            return

        def note(text: str) -> None:
            self.notes[name] = text

        try:
            async with asyncio.timeout(remaining):
                await behaviour(note)
        except TimeoutError:
            note(f"{self.notes.get(name, '')} (cut off)".strip())
        except (PageScriptError, CdpError, ScriptFormError) as error:
            reason = str(error).splitlines()[0][:200] if str(error) else "?"
            note(f"{self.notes.get(name, '')} (failed: {reason})".strip())

    async def _return(self) -> None:
        """Go back to the URL that the page had, if its scripts have changed it."""
        try:
            await self._page.evaluate("function () { history.back(); }")
            await self._page.settle(CALM, quiet=0.2)
        except PageScriptError:
            return

    @property
    def has_moved(self) -> bool:
        """Whether a script has changed the path of the page's URL."""
        return self._page.events.has_moved

    async def _calm(self, limit: float = CALM, quiet: float = 0.2) -> None:
        await self._page.settle(limit, quiet)

    @property
    def _requests(self) -> int:
        return self._page.events.settling.requests

    async def make_tall(self, note: Note) -> None:
        """Make the viewport as high as the page: all of it becomes visible at once."""
        page = self._page
        _, view, _, _ = viewport_of(page.task)
        height = view
        try:
            for _ in range(2):
                state = await page.read("state")
                content = bound_number(state.get("height"), MAX_SIDE)
                if content <= height:
                    break
                height = content
                metrics = override_metrics(page.task, height)
                await page.call("Emulation.setDeviceMetricsOverride", metrics)
                await self._calm()
        finally:
            if height > view:
                metrics = override_metrics(page.task)
                await page.call("Emulation.setDeviceMetricsOverride", metrics)
        note(f"{height} px")

    async def scroll(self, note: Note) -> None:
        """Scroll down step by step, and the largest element that scrolls within the page."""
        end = time.monotonic() + SCROLL_TIME
        steps = 0
        for largest in (False, True):
            growth = _Growth(self._requests)
            arguments = {"largest": largest, "most": SCROLL_AT_ONCE, "milliseconds": SCROLL_SLICE}
            before, at_bottom = steps, 0
            while at_bottom < 2 and steps < SCROLL_STEPS and time.monotonic() < end:
                state = await self._page.read("scroll", arguments)
                moved = bound_number(state.get("steps"), SCROLL_AT_ONCE)
                steps += moved
                note(f"{steps} steps")
                if steps == before:
                    break  # all of it is visible
                is_bottom = state.get("bottom") is True
                if is_bottom and not at_bottom:
                    await self._calm(1.0)
                has_grown = growth.note(state, self._requests, time.monotonic())
                at_bottom = at_bottom + 1 if is_bottom and not has_grown else 0
                if growth.is_over(time.monotonic()) or self.has_moved:
                    break
            if steps > before:
                await self._page.run("scroll", {"largest": largest, "home": True})

    async def load_lazy(self, note: Note) -> None:
        """Ask for pictures that the page would ask for later, or on another screen."""
        urls = await self._page.run("lazy", {"limit": LAZY_URLS})
        note(f"{bound_number(urls, LAZY_URLS)} URLs")
        if bound_number(urls, LAZY_URLS):
            await self._calm()

    async def press_more(self, note: Note) -> None:
        """Press what shows more of the same page, as long as more appears."""
        clicks = opened = 0
        note("0 clicks")
        again = False
        last = time.monotonic()
        while clicks < CLICKS and not self.has_moved:
            requests = self._requests
            control = await self._page.read("more", {"words": MORE_WORDS, "again": again})
            if not control:
                break
            if "opened" in control:
                opened += bound_number(control["opened"], 10**6)
            else:
                clicks += 1
                await self._press(control)
            note(f"{clicks} clicks, {opened} details")
            await self._calm(quiet=0.1)
            after = await self._page.read("state")
            again = self._requests > requests or after.get("elements") != control.get("elements")
            if again:
                last = time.monotonic()
            elif time.monotonic() - last > 2 * NOTHING_NEW:
                break

    async def _press(self, control: dict[str, object]) -> None:
        if "x" in control and "y" in control:
            x, y = (bound_number(control[key], MAX_SIDE) for key in ("x", "y"))
            await self._page.press(x, y)

    async def play_media(self, note: Note) -> None:
        """Play video and sound without sound, for the manifest and the first segments."""
        arguments = {"limit": MEDIA_ELEMENTS, "stop": False}
        elements = bound_number(await self._page.run("media", arguments), MEDIA_ELEMENTS)
        note(f"{elements} elements")
        if elements:
            await asyncio.sleep(MEDIA_TIME)
            await self._page.run("media", {**arguments, "stop": True})

    async def answer_consent(self, note: Note) -> None:
        """Answer the dialog that asks for consent."""
        accept = self._page.task.consent == "accept"
        words = ACCEPT_WORDS if accept else REJECT_WORDS
        arguments = {"dialogs": CONSENT_DIALOGS, "words": words, "accept": accept}
        control = await self._page.read("consent", arguments)
        if not control:
            note("no dialog")
            return
        await self._press(control)
        name = clean_text(str(control.get("name", "")), 60)
        label = clean_text(str(control.get("label", "")), 60)
        note(f"{name}: {'accepted' if accept else 'rejected'} ({label})")
        await self._calm()

    async def visit_routes(self, note: Note) -> None:
        """Visit the hash routes of the document in turn, and return to where it was."""
        note("0 routes")
        queue = await self._list_routes()
        if not queue:
            return
        state = await self._page.read("state")
        start = "#".join(("", *str(state.get("url", "")).partition("#")[2:])).rstrip("#")
        visited = {start}
        doms = {hash((await take_dom(self._page, MAX_ROUTE)).dom)}
        barren = 0
        while len(visited) <= ROUTES and barren < BARREN_ROUTES and not self.has_moved:
            fresh = [route for route in queue if route not in visited]
            route = min(fresh, key=lambda route: "?" in route, default=None)
            if route is None:
                break
            visited.add(route)
            requests = self._requests
            await self._page.run("routes", {"go": route})
            await self._calm()
            snapshot = await take_dom(self._page, MAX_ROUTE)
            is_new = bool(snapshot.dom) and hash(snapshot.dom) not in doms
            if is_new:
                doms.add(hash(snapshot.dom))
                self.routes.append(RenderedRoute(snapshot.url, snapshot.dom, snapshot.title))
            barren = 0 if is_new or self._requests > requests else barren + 1
            note(f"{len(visited) - 1} routes")
            queue += await self._list_routes()
        if len(visited) > 1 and not self.has_moved:
            await self._page.run("routes", {"go": start})
            await self._calm()

    async def _list_routes(self) -> list[str]:
        routes = await self._page.run("routes", {"limit": 10 * ROUTES})
        return read_texts(routes, 10 * ROUTES, 2000)

    async def _run_site_script(self, name: str, source: str, note: Note) -> None:
        """Run a script of the site, and take its reports, also if it was cut off."""
        remaining = max(0.1, self._deadline - time.monotonic())
        runner = load_script("site")
        call = f"(limits) => ({runner})({make_function(source)}, limits)"
        limits = {"seconds": max(0.1, remaining - 1), "clicks": SITE_CLICKS}
        try:
            await self._page.evaluate(wrap_script(call), limits, seconds=remaining + 1)
            note("done")
        finally:
            report = await self._page.read("site_report")
            for link in read_texts(report.get("links"), 1000, 4096):
                self._page.events.add_link(link, name)
            log = "; ".join(read_texts(report.get("log"), 100, 500))
            note(f"{self.notes.get(name, '')} {log}".strip()[:10_000])
        await self._calm()


MAX_ROUTE = 1_000_000
"""Bytes of the largest DOM of a hash route that is returned."""


class _Growth:
    """Whether something new comes: height, elements, requests."""

    def __init__(self, requests: int) -> None:
        self._last: tuple[int, int, int] | None = None
        self._requests = requests
        self._time = time.monotonic()

    def note(self, state: dict[str, object], requests: int, now: float) -> bool:
        """Take a state of the page and return whether it has grown."""
        height = bound_number(state.get("height"), 10**9)
        elements = bound_number(state.get("elements"), 10**9)
        last = self._last or (height, elements, self._requests)
        self._last = (height, elements, requests)
        has_grown = any(new > old for new, old in zip(self._last, last, strict=True))
        if has_grown:
            self._time = now
        return has_grown

    def is_over(self, now: float) -> bool:
        return now - self._time >= NOTHING_NEW


BEHAVIOURS: dict[str, Callable[[BehaviourRun, Note], Awaitable[None]]] = {
    "tall": BehaviourRun.make_tall,
    "scroll": BehaviourRun.scroll,
    "lazy": BehaviourRun.load_lazy,
    "more": BehaviourRun.press_more,
    "media": BehaviourRun.play_media,
    "consent": BehaviourRun.answer_consent,
    "routes": BehaviourRun.visit_routes,
}
"""The behaviours that `browser.behaviours` may name."""
