"""Passes pictures on to a page in groups, so that the page is painted once for each group.

The pace of a page lets its requests start one after the other. Its pictures come one by one by
that, and the browser would lay out and paint the page for each. So a picture is held while others
of the page wait for their turn, for a limited time. No request starts later because of that: once
no picture waits, all are passed on, and the browser sends its next requests.
"""

import asyncio
from collections.abc import Callable

from nacre.core.rendered import ReplyWriter, ServerEnd

LONGEST_HOLD = 0.3
"""Longest time that a picture is held, seconds."""
LARGEST = 65_536
"""Bytes of a body that are held; a longer body is passed on as it comes."""
_CONNECTIONS = 6
"""Connections of a browser to a host: so many pictures can be held of each."""


class PictureGroups:
    """The pictures of one page that are held, and the number of those that wait for their turn.

    Args:
        gap: `browser.gap`; 0: no picture is held.
    """

    def __init__(self, gap: float) -> None:
        self._hold = min(LONGEST_HOLD, _CONNECTIONS * gap)
        self._waiting = 0
        self._held: list[GroupedPicture] = []
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_holding(self) -> bool:
        """Whether a picture that comes now is held."""
        return self._waiting > 0 and self._hold > 0

    def begin_wait(self) -> None:
        """Note that the request of a picture waits for its turn; `end_wait` must follow."""
        self._waiting += 1

    def end_wait(self) -> None:
        """Note that the request of a picture starts, or is refused."""
        self._waiting -= 1
        if not self._waiting:
            self.pass_on()

    def add(self, picture: "GroupedPicture") -> None:
        """Hold a picture."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._hold, self.pass_on)
        self._held.append(picture)

    def pass_on(self) -> None:
        """Pass on all pictures that are held."""
        held, self._held = self._held, []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for picture in held:
            picture.pass_on()


class GroupedPicture:
    """The reply to the request of a picture, which may be held until others have come.

    Args:
        reply: Where it goes.
        groups: The pictures of the page.
    """

    def __init__(self, reply: ReplyWriter, groups: PictureGroups) -> None:
        self._reply = reply
        self._groups = groups
        self._head: tuple[int, bytes, str] | None = None
        """Arguments of `begin` while it is held."""
        self._parts: list[bytes] = []
        self._size = 0
        self._whole: asyncio.Future[None] | None = None
        """A held reply has ended; done when it is passed on."""

    @property
    def has_begun(self) -> bool:
        """See `ReplyWriter`; a reply that is held has begun."""
        return self._head is not None or self._reply.has_begun

    @property
    def is_full(self) -> bool:
        """See `ReplyWriter`."""
        return self._head is None and self._reply.is_full

    def begin(self, status: int, head: bytes, framing: str) -> None:
        """See `ReplyWriter`."""
        if self._groups.is_holding:
            self._head = (status, head, framing)
            self._groups.add(self)
        else:
            self._reply.begin(status, head, framing)

    def write(self, data: bytes) -> None:
        """See `ReplyWriter`."""
        if self._head is None:
            self._reply.write(data)
            return
        self._parts.append(data)
        self._size += len(data)
        if self._size > LARGEST:
            self.pass_on()

    async def drain(self) -> None:
        """See `ReplyWriter`."""
        await self._reply.drain()

    def end(self) -> None:
        """See `ReplyWriter`."""
        if self._head is None:
            self._reply.end()
        else:
            self._whole = asyncio.get_running_loop().create_future()

    def refuse(self) -> None:
        """See `ReplyWriter`."""
        self.pass_on()
        self._reply.refuse()

    def when_closed(self, listener: Callable[[], None]) -> None:
        """See `ReplyWriter`."""
        self._reply.when_closed(listener)

    def switch(self, server: ServerEnd) -> None:
        """See `ReplyWriter`."""
        self.pass_on()
        self._reply.switch(server)

    def pass_on(self) -> None:
        """Pass on what has come, if it is held; the rest is passed on as it comes."""
        head, self._head = self._head, None
        if head is None:
            return
        self._reply.begin(*head)
        for part in self._parts:
            self._reply.write(part)
        self._parts.clear()
        if self._whole is not None:
            self._reply.end()
            if not self._whole.done():
                self._whole.set_result(None)

    async def wait(self) -> None:
        """Wait until it is no longer held."""
        if self._whole is not None:
            await self._whole
