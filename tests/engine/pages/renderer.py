"""A renderer without a browser: it "opens" a page by sending the requests of a script."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from nacre.core.rendered import (
    BrowserCookie,
    BrowserRequest,
    PageTask,
    RenderedLink,
    RenderedPage,
    RenderedRoute,
    RequestHandler,
    ServerEnd,
)


class CollectedReply:
    """A reply as a browser would get it.

    Attributes:
        head: Its head.
        body: The bytes behind it.
        ended: `end`, `refused`, or "" while it is open.
    """

    def __init__(self) -> None:
        self.status = 0
        self.head = b""
        self.body = b""
        self.framing = ""
        self.ended = ""
        self.listener: Callable[[], None] | None = None

    @property
    def has_begun(self) -> bool:
        return self.status > 0

    @property
    def is_full(self) -> bool:
        return False

    def begin(self, status: int, head: bytes, framing: str) -> None:
        assert not self.has_begun
        self.status, self.head, self.framing = status, head, framing

    def write(self, data: bytes) -> None:
        assert self.has_begun
        assert not self.ended
        self.body += data

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def end(self) -> None:
        self.ended = "end"

    def refuse(self) -> None:
        self.ended = "refused"

    def when_closed(self, listener: Callable[[], None]) -> None:
        self.listener = listener

    def switch(self, server: ServerEnd) -> None:
        raise AssertionError(f"no WebSocket is expected: {server}")

    def leave(self) -> None:
        """What the proxy does when the browser closes the connection."""
        if self.listener is not None:
            self.listener()


async def ask(
    handler: RequestHandler, url: str, resource: str = "fetch", **parts: object
) -> CollectedReply:
    """Send a request as the proxy passes it on; return its reply."""
    reply = CollectedReply()
    fields: dict[str, object] = {"method": "GET", "headers": ((b"Accept", b"*/*"),)} | parts
    await handler.handle(BrowserRequest(url=url, resource=resource, **fields), reply)  # type: ignore[arg-type]
    return reply


Script = Callable[[RequestHandler, PageTask], Awaitable[None]]


@dataclass
class ScriptedRenderer:
    """Opens every page by running a script with its handler.

    Attributes:
        script: Sends the requests of the page.
        dom: The final DOM.
        links: URLs that the page led to.
        routes: States of its hash routes.
        url: Its URL at the end; "" for that of the task.
        tasks: The pages that were opened.
        document: Replies to the requests for documents.
    """

    script: Script
    dom: bytes = b""
    links: Sequence[RenderedLink] = ()
    tasks: list[PageTask] = field(default_factory=list)
    documents: list[CollectedReply] = field(default_factory=list)
    cookies: Sequence[BrowserCookie] = ()
    text: str = ""
    routes: Sequence[RenderedRoute] = ()
    url: str = ""
    slots: int = 2

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        self.tasks.append(task)
        self.documents.append(await ask(handler, task.url, "document"))
        await self.script(handler, task)
        return RenderedPage(
            "settled",
            self.url or task.url,
            dom=self.dom,
            routes=self.routes,
            links=self.links,
            browser="Scripted/1",
            cookies=self.cookies,
            text=self.text,
        )

    async def close(self) -> None:
        """There is no browser."""
