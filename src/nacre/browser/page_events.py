"""The events of an open page, and those that are answered at once.

Dialogs are answered, downloads and new windows refused, and the main frame stays where it is: a
navigation becomes a link, for the frontier to decide about.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any

from nacre.browser.cdp import Command
from nacre.browser.network_log import MAX_URL, NetworkLog, clean_text
from nacre.browser.process import PageContext
from nacre.browser.settle import Settling
from nacre.core.rendered import RenderedLink
from nacre.errors import NacreError

MAX_LINKS = 1000
MAX_TARGETS = 200
"""Frames of other sites, and workers, that are followed; more of them run unobserved."""
MAX_PENDING = 1000
"""Answers to the browser that are on their way; beyond it a page floods, and gets none."""

Commands = tuple[Command, ...]


class PageEvents:
    """Listens to the session of a page and those of its frames and workers.

    Args:
        context: Where the page is.
        frame: ID of its main frame.
        settling: Receives what decides when the page has ended.

    Attributes:
        settling: The same.
        network: Its requests.
        is_committed: Whether its document has begun to load.
        is_ready: Whether its document was parsed.
        has_moved: Whether a script changed the path of its URL; the caller resets it.
    """

    def __init__(self, context: PageContext, frame: str, settling: Settling) -> None:
        """See the class."""
        self.settling = settling
        self.network = NetworkLog(settling, frame)
        self._waiting: asyncio.Future[None] | None = None
        self._crashed = asyncio.Event()
        self.is_committed = False
        self.is_ready = False
        self.has_moved = False
        self._context = context
        self._frame = frame
        self._url = self._home = ""
        self._is_opened = False
        self._links: dict[RenderedLink, None] = {}
        self._answers: set[asyncio.Task[None]] = set()
        self._children: set[str] = set()
        self._for_frames: Commands = ()
        self._for_workers: Commands = ()
        self._handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "Fetch.requestPaused": self._pause,
            "Page.frameNavigated": self._commit,
            "Page.navigatedWithinDocument": self._move,
            "Page.domContentEventFired": self._parse,
            "Page.loadEventFired": self._load,
            "Page.javascriptDialogOpening": self._close_dialog,
            "Page.windowOpen": self._open_window,
            "Inspector.targetCrashed": self._crash,
            "Target.attachedToTarget": self._attach,
            "Target.detachedFromTarget": self._detach,
        }
        context.cdp.listen(context.session, self._receive)
        context.cdp.listen("", self._receive_browser)

    @property
    def links(self) -> tuple[RenderedLink, ...]:
        """URLs that the page led to, each once, in order."""
        return tuple(self._links)

    def prepare_targets(self, frames: Commands, workers: Commands) -> None:
        """Set the commands that new frames of other sites, and workers, get before they run."""
        self._for_frames = frames
        self._for_workers = workers

    def expect(self, url: str) -> None:
        """Let the next navigation of the main frame pass, if it goes to this URL."""
        self._url = self._home = url.partition("#")[0]
        self._is_opened = False

    def add_link(self, url: str, origin: str) -> None:
        """Add a URL that the page led to; others than http and https are no links."""
        is_link = url.startswith(("http://", "https://")) and len(url) <= MAX_URL
        if is_link and len(self._links) < MAX_LINKS:
            self._links[RenderedLink(clean_text(url, MAX_URL), origin)] = None

    async def wait_for_change(self, seconds: float) -> None:
        """Wait for an event that may end the caller's wait, or for a time; one caller at once."""
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        timer = loop.call_later(seconds, self._wake)
        try:
            await self._waiting
        finally:
            timer.cancel()
            self._waiting = None

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def wait_for_crash(self) -> str:
        """Wait until the renderer of the page ends; return `crash`."""
        await self._crashed.wait()
        return "crash"

    async def close(self) -> None:
        """Listen to nothing any more."""
        self._context.cdp.unlisten("", self._receive_browser)
        for session in (self._context.session, *self._children):
            self._context.cdp.unlisten(session)
        if answers := tuple(self._answers):
            for answer in answers:
                answer.cancel()
            await asyncio.wait(answers)

    def _receive(self, method: str, params: dict[str, Any]) -> None:
        if method.startswith("Network."):
            self._note_network(method, params)
        elif (handle := self._handlers.get(method)) is not None:
            handle(params)

    def _note_network(self, method: str, params: dict[str, Any]) -> None:
        """Take an event of the network; those that cannot end a wait wake no task."""
        self.network.receive(method, params, time.monotonic())
        if not self.settling.is_loading():
            self._wake()

    def _receive_browser(self, method: str, params: dict[str, Any]) -> None:
        """Take an event of the browser: shared workers belong to no page, but to a context."""
        context = params.get("targetInfo", {}).get("browserContextId")
        if method == "Target.attachedToTarget" and context == self._context.context_id:
            self._attach(params)
        elif method == "Target.detachedFromTarget":
            self._detach(params)

    def _answer(self, method: str, params: Mapping[str, object], session: str = "") -> None:
        """Send a command without waiting for its reply."""
        self._answer_all(((method, params),), session)

    def _answer_all(self, commands: Commands, session: str) -> None:
        if len(self._answers) >= MAX_PENDING:
            return
        task = asyncio.get_running_loop().create_task(
            self._call(commands, session or self._context.session)
        )
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _call(self, commands: Commands, session: str) -> None:
        with contextlib.suppress(NacreError):  # the target may be gone by now
            await self._context.cdp.call_all(commands, session=session)

    def _pause(self, params: dict[str, Any]) -> None:
        """Decide about the request for a document."""
        request = params.get("request", {})
        url = str(request.get("url", ""))
        command: dict[str, object] = {"requestId": params.get("requestId", "")}
        if params.get("frameId") == self._frame:
            is_first = not self._is_opened and url.partition("#")[0] == self._url
            self._is_opened = True
            if not is_first or params.get("redirectedRequestId"):
                if request.get("method") == "GET":
                    self.add_link(url, "navigation")
                self._answer("Fetch.failRequest", {**command, "errorReason": "Aborted"})
                return
        self._answer("Fetch.continueRequest", command)

    def _commit(self, params: dict[str, Any]) -> None:
        frame = params.get("frame", {})
        if frame.get("id") == self._frame and "parentId" not in frame:
            self.is_committed = True
            self._url = str(frame.get("url", "")).partition("#")[0]

    def _move(self, params: dict[str, Any]) -> None:
        """Note a location that a script of the main frame has set."""
        url = str(params.get("url", ""))
        if params.get("frameId") == self._frame and url.partition("#")[0] != self._url:
            self._url = url.partition("#")[0]
            self.has_moved = True
            if self._url != self._home:
                self.add_link(url, "navigation")

    def _parse(self, params: dict[str, Any]) -> None:
        """Note that the document of the main frame was parsed; frames have no such event."""
        del params
        self.is_ready = self.is_ready or self.is_committed

    def _load(self, params: dict[str, Any]) -> None:
        del params
        if self.is_committed:
            self.settling.load(time.monotonic())
            self._wake()

    def _close_dialog(self, params: dict[str, Any]) -> None:
        self._answer(
            "Page.handleJavaScriptDialog", {"accept": params.get("type") == "beforeunload"}
        )

    def _open_window(self, params: dict[str, Any]) -> None:
        self.add_link(str(params.get("url", "")), "navigation")

    def _crash(self, params: dict[str, Any]) -> None:
        del params
        self._crashed.set()

    def _attach(self, params: dict[str, Any]) -> None:
        """Let a frame of another site or a worker run, with its requests observed."""
        session = str(params.get("sessionId", ""))
        target = params.get("targetInfo", {})
        kind = target.get("type")
        if kind not in ("iframe", "worker", "shared_worker", "service_worker"):
            self._answer("Target.closeTarget", {"targetId": target.get("targetId", "")})
            return
        if len(self._children) >= MAX_TARGETS:
            self._answer("Target.detachFromTarget", {"sessionId": session})
            return
        self._children.add(session)
        self._context.cdp.listen(session, self._receive_child(session))
        commands = self._for_frames if kind == "iframe" else self._for_workers
        self._answer_all((*commands, ("Runtime.runIfWaitingForDebugger", {})), session)

    def _receive_child(self, session: str) -> Callable[[str, dict[str, Any]], None]:
        def receive(method: str, params: dict[str, Any]) -> None:
            if method.startswith("Network."):
                self._note_network(method, params)
            elif method == "Target.attachedToTarget":
                self._attach(params)
            elif method == "Target.detachedFromTarget":
                self._detach(params)
            elif method == "Page.javascriptDialogOpening":
                self._answer("Page.handleJavaScriptDialog", {"accept": False}, session)

        return receive

    def _detach(self, params: dict[str, Any]) -> None:
        session = str(params.get("sessionId", ""))
        if session in self._children:
            self._children.discard(session)
            self._context.cdp.unlisten(session)
