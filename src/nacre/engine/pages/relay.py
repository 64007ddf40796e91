"""Passes replies on to a page: a reply is counted, and may be cut or withheld."""

import asyncio
from collections.abc import Callable

from nacre.core.rendered import ReplyWriter, ServerEnd


class MeteredReply:
    """The reply to a request of a page, whose bytes count for the budget of the page.

    Past the budget the reply is cut, and its server is read no further.

    Args:
        reply: Where it goes.
        charge: Counts bytes; returns whether they are within the budget.
        ended: Set when the page has ended.
        withholds_304: The page did not ask whether its copy is current: a 304 is not passed on.

    Attributes:
        is_withheld: A 304 came that the page must not see.
        is_closed: The browser no longer waits for it.
    """

    def __init__(
        self,
        reply: ReplyWriter,
        charge: Callable[[int], bool],
        ended: asyncio.Event,
        *,
        withholds_304: bool = False,
    ) -> None:
        self._reply = reply
        self._charge = charge
        self._ended = ended
        self._withholds_304 = withholds_304
        self._is_cut = False
        self._listener: Callable[[], None] | None = None
        self.is_withheld = False
        self.is_closed = False
        reply.when_closed(self._close)

    @property
    def has_begun(self) -> bool:
        """See `ReplyWriter`."""
        return self.is_withheld or self._reply.has_begun

    @property
    def is_full(self) -> bool:
        """See `ReplyWriter`."""
        return self._is_cut or self._reply.is_full

    def begin(self, status: int, head: bytes, framing: str) -> None:
        """See `ReplyWriter`."""
        if status == 304 and self._withholds_304:
            self.is_withheld = True
        else:
            self._reply.begin(status, head, framing)
            self._count(len(head))

    def write(self, data: bytes) -> None:
        """See `ReplyWriter`."""
        if self.is_withheld or self._is_cut:
            return
        self._reply.write(data)
        self._count(len(data))

    async def drain(self) -> None:
        """See `ReplyWriter`. A reply that is cut is not drained before its page ends."""
        if self._is_cut:
            await self._ended.wait()
        else:
            await self._reply.drain()

    def end(self) -> None:
        """See `ReplyWriter`."""
        if not self.is_withheld:
            self._reply.end()

    def refuse(self) -> None:
        """See `ReplyWriter`."""
        if not self.is_withheld:
            self._reply.refuse()

    def when_closed(self, listener: Callable[[], None]) -> None:
        """See `ReplyWriter`."""
        self._listener = listener
        if self.is_closed:
            listener()

    def switch(self, server: ServerEnd) -> None:
        """See `ReplyWriter`."""
        self._reply.switch(server)

    def _count(self, size: int) -> None:
        if not self._charge(size) and not self._is_cut:
            self._is_cut = True
            self._reply.refuse()
            self._close()

    def _close(self) -> None:
        self.is_closed = True
        if self._listener is not None:
            self._listener()
