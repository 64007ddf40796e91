"""The tap: a reply goes to a browser while it is received, byte for byte.

A reply that may have to be requested again is held back until the last request: of all replies to
one request of a browser exactly one is passed on.
"""

import asyncio

from nacre.annotations import EXCESS_DATA, MID_FETCH_ABORT, UNASKED_101
from nacre.core.capture import Capture
from nacre.core.rendered import ReplyWriter
from nacre.wire.http1 import ReplyReader

_PIECE = 65_536
_CHALLENGES = frozenset((401, 407))


class Tap:
    """Passes on the reply of one exchange.

    Args:
        reply: Takes it.
        holds_challenges: Whether a 401 is answered with credentials, so that it is held back.
        used: Whether the connection carried another request before: a body without a head is
            held back, since it may belong to that.
        upgrade: Whether a 101 hands the connection over.
    """

    __slots__ = ("_holds_challenges", "_upgrade", "_used", "is_switched", "reply")

    def __init__(
        self, reply: ReplyWriter, *, holds_challenges: bool, used: bool, upgrade: bool
    ) -> None:
        self.reply = reply
        self.is_switched = False
        self._holds_challenges = holds_challenges
        self._used = used
        self._upgrade = upgrade

    def take(self, reader: ReplyReader, body: bytes) -> None:
        """Pass on the received bytes: the head as soon as it is whole, and a part of the body."""
        reply = self.reply
        if not reply.has_begun:
            if not reader.status or self._is_held(reader):
                return
            reply.begin(reader.status, reader.head, reader.framing)
        if body:
            reply.write(body)

    def _is_held(self, reader: ReplyReader) -> bool:
        if reader.status in _CHALLENGES and self._holds_challenges:
            return True
        return self._used and reader.protocol == "http/0.9"

    def switch(self, reader: ReplyReader, data: bytes, transport: asyncio.Transport) -> bool:
        """Hand the connection over if the reply is the 101 that was requested.

        Args:
            reader: The reply.
            data: The bytes received last; those behind the head belong to the other protocol.
            transport: The connection.
        """
        if reader.status != 101 or not self._upgrade or not self.reply.has_begun:
            return False
        behind = data[len(data) - reader.excess :] if reader.excess else b""
        reader.excess = 0
        for word in (UNASKED_101, EXCESS_DATA):
            if word in reader.annotations:
                reader.annotations.remove(word)
        self.is_switched = True
        self.reply.switch(_TransportEnd(transport))
        if behind:
            self.reply.write(behind)
        return True

    def finish(self, reader: ReplyReader) -> None:
        """End a reply that was passed on; one that is cut is cut for the browser too."""
        if not self.reply.has_begun or self.is_switched:
            return
        if reader.truncated or not reader.complete:
            self.reply.refuse()
        else:
            self.reply.end()


class _TransportEnd:
    """A connection that was handed over; see `core.rendered.ServerEnd`."""

    __slots__ = ("_transport",)

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def send(self, data: bytes) -> None:
        """See `ServerEnd`."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """See `ServerEnd`."""
        self._transport.abort()


async def deliver(capture: Capture, reply: ReplyWriter) -> None:
    """Pass on a capture that was received before, head and body as its server sent them.

    A body that a rule of the crawl dropped is not passed on: the reply does not begin.

    Raises:
        StorageError: The body cannot be read back.
    """
    if MID_FETCH_ABORT in capture.annotations:
        return
    reply.begin(capture.status, capture.head, capture.framing)
    body = capture.body
    for offset in range(0, body.length, _PIECE):
        reply.write(body.read(offset, _PIECE))
        if reply.is_full:
            await reply.drain()
    if capture.truncated:
        reply.refuse()
    else:
        reply.end()
