"""A page that is open: commands to it, our scripts in it, and waiting until it comes to rest.

Scripts run in a separate world: a page that replaces `Math`, `document` or `toString` does not
reach it. What they return comes from a page nevertheless: it is data, bounded in number and size.
"""

import json
import math
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from nacre.browser.cdp import CdpError, CdpTimeoutError, Command
from nacre.browser.network_log import clean_text
from nacre.browser.page_events import PageEvents
from nacre.browser.process import PageContext
from nacre.browser.settle import AGAIN, QUIET, SettleStep
from nacre.core.rendered import PageTask

HANG = 5.0
"""Seconds without an answer after which a page hangs."""

SILENCE = 1.0
"""Seconds of waiting after which a page is asked whether it still answers."""

WORLD = "nacre"

_SCRIPTS = Path(__file__).with_name("scripts")


class PageHangError(Exception):
    """The main thread of a page does not answer; a page can be made so."""


class PageScriptError(Exception):
    """A script of ours, or of a site, failed in a page; the message is the browser's."""


@cache
def load_script(name: str) -> str:
    """Return the source of a script of ours: one function expression."""
    return (_SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


def wrap_script(source: str) -> str:
    """Return a function declaration with what all scripts of ours have at hand."""
    return f"function (...values) {{\n{load_script('prelude')}\nreturn ({source})(...values);\n}}"


@cache
def _install_scripts() -> str:
    """Return a function declaration that gives a world the scripts that `OpenPage.run` runs."""
    scripts = ",\n".join(f"{name}: {load_script(name)}" for name in _RUN)
    return f"function () {{\n{load_script('prelude')}\nstate.scripts = {{\n{scripts}\n}};\n}}"


_RUN = (
    "consent",
    "covered",
    "idle",
    "lazy",
    "measure",
    "media",
    "more",
    "routes",
    "scroll",
    "site_report",
    "state",
)
_RUN_INSTALLED = (
    "function (name, ...values) {"
    ' return globalThis[Symbol.for("nacre")].scripts[name](...values); }'
)


class OpenPage:
    """A page in a separate context.

    Attributes:
        context: Where it is.
        task: What was asked for.
        events: What has happened to it.
        frame: ID of its main frame.
    """

    def __init__(
        self, context: PageContext, task: PageTask, events: PageEvents, frame: str
    ) -> None:
        """See the class."""
        self.context = context
        self.task = task
        self.events = events
        self.frame = frame
        self._world = 0
        self._answered = time.monotonic()

    async def call(
        self, method: str, params: Mapping[str, object] | None = None, *, seconds: float = 10.0
    ) -> dict[str, Any]:
        """Call a command of the page.

        Raises:
            CdpError, BrowserGoneError: As `CdpClient.call`.
        """
        return await self.context.cdp.call(
            method, params, session=self.context.session, timeout=seconds
        )

    async def call_all(self, commands: Sequence[Command]) -> None:
        """Send commands of the page at once, and wait for all of them.

        Raises:
            CdpError, BrowserGoneError: As `CdpClient.call_all`.
        """
        await self.context.cdp.call_all(commands, session=self.context.session)

    async def run(self, name: str, *values: object, seconds: float = HANG) -> object:
        """Run a script of ours in the page and return its result; see `evaluate`.

        Args:
            name: Name of the script, without `.js`.
            values: Its arguments.
            seconds: Longest time until its end.
        """
        return await self.evaluate(_RUN_INSTALLED, name, *values, seconds=seconds)

    async def read(self, name: str, *values: object, seconds: float = HANG) -> dict[str, object]:
        """Run a script that returns an object; return {} for anything else. See `run`."""
        result = await self.run(name, *values, seconds=seconds)
        return result if isinstance(result, dict) else {}

    async def evaluate(self, function: str, *values: object, seconds: float = HANG) -> object:
        """Call a function in the world of our scripts and return its result.

        Args:
            function: A function declaration.
            values: Its arguments.
            seconds: Longest time until its end.

        Raises:
            PageHangError: The page did not answer in time.
            PageScriptError: The function threw an exception, or its document went away.
            BrowserGoneError: The browser has ended.
        """
        try:
            reply = await self._call_function(function, values, seconds)
        except CdpTimeoutError:
            raise PageHangError from None
        except CdpError as error:
            raise PageScriptError(error.message) from None
        self._answered = time.monotonic()
        if failure := reply.get("exceptionDetails"):
            exception = failure.get("exception", {})
            text = exception.get("description") or failure.get("text") or "an exception"
            raise PageScriptError(str(text)[:500])
        value: object = reply.get("result", {}).get("value")
        return value

    async def _call_function(
        self, function: str, values: tuple[object, ...], seconds: float
    ) -> dict[str, Any]:
        for is_last in (False, True):
            try:
                if not self._world:
                    self._world = await self._open_world()
                return await self._call_in(self._world, function, values, seconds)
            except CdpTimeoutError:
                raise
            except CdpError:  # its document was replaced, and the world with it
                self._world = 0
                if is_last:
                    raise
        raise AssertionError("unreachable")

    async def _open_world(self) -> int:
        """Return the id of the world of our scripts in the present document, with them in it."""
        world = await self.call(
            "Page.createIsolatedWorld", {"frameId": self.frame, "worldName": WORLD}, seconds=HANG
        )
        number = int(world["executionContextId"])
        await self._call_in(number, _install_scripts(), (), HANG)
        return number

    async def _call_in(
        self, world: int, function: str, values: tuple[object, ...], seconds: float
    ) -> dict[str, Any]:
        return await self.call(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "executionContextId": world,
                "arguments": [{"value": value} for value in values],
                "awaitPromise": True,
                "returnByValue": True,
            },
            seconds=seconds,
        )

    async def settle(self, limit: float, quiet: float = QUIET) -> bool:
        """Wait until the page has come to rest; see `settle.Settling`.

        Args:
            limit: Longest time, seconds.
            quiet: Seconds without a request in flight.

        Returns:
            Whether it did within the limit.
        """
        settling = self.events.settling
        settling.restart(time.monotonic(), limit, quiet)
        while True:
            verdict = settling.verdict(time.monotonic())
            if verdict.step is SettleStep.TIMEOUT:
                return False
            if verdict.step is SettleStep.PROBE:
                began = time.monotonic()
                counts = await self.count_elements()
                if counts is None:
                    settling.count(0, time.monotonic())
                elif settling.is_settled_by(counts, began, time.monotonic()):
                    return True
            else:
                await self._wait(verdict.seconds)

    async def count_elements(self) -> tuple[int, int] | None:
        """Return the number of elements once the main thread is idle, and a moment later again.

        None if the document went.
        """
        try:
            times = round(1000 * HANG), round(1000 * AGAIN)
            # Each count has as much time again for the task that keeps the main thread busy.
            counts = await self.run("idle", *times, seconds=4 * HANG + AGAIN)
        except PageScriptError:
            return None
        first, second = counts if isinstance(counts, list) and len(counts) == 2 else (0, 0)
        return bound_number(first, 10**9), bound_number(second, 10**9)

    async def _wait(self, seconds: float) -> None:
        """Wait for an event; a page that has been silent for long is asked whether it lives."""
        await self.events.wait_for_change(min(seconds, SILENCE))
        if self.events.is_committed and time.monotonic() - self._answered >= SILENCE:
            try:
                await self.run("state")
            except PageScriptError:
                self._answered = time.monotonic()

    async def press(self, x: float, y: float) -> None:
        """Press a place of the viewport as a mouse does: some scripts trust nothing else."""
        place = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", {"type": kind, **place}, seconds=HANG)


def bound_number(value: object, highest: int) -> int:
    """Return a number that a page gave, from 0 to `highest`; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return 0
    return int(min(max(value, 0), highest))


def read_texts(value: object, count: int, limit: int) -> list[str]:
    """Return the texts of a list that a page gave, at most `count`, each cut to `limit`."""
    texts = value[:count] if isinstance(value, list) else []
    return [clean_text(text, limit) for text in texts if isinstance(text, str)]


def call_source(source: str, *values: object) -> str:
    """Return a script that calls a function with constants; for new documents."""
    return f"({source})({', '.join(json.dumps(value) for value in values)});"
