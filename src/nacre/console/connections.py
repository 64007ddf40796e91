"""Connections whose requests have header fields of limited length, which come in limited time.

The parser keeps fields until they are whole, and uvicorn sets no limit to them: without this one,
anybody who can connect could fill the memory, or hold connections open for ever.
"""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_FIELDS: Final = 65_536
"""Bytes of the first line and the fields of a request; what one packet brings may be more."""
LONGEST_WAIT: Final = 30.0
"""Seconds in which they must have come."""
_REFUSED: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class BoundedConnection(HttpToolsProtocol):
    """A connection of uvicorn with these limits."""

    _waits_for_fields = True
    _received = 0
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        super().data_received(data)
        if not self._waits_for_fields or self.transport.is_closing():
            return
        self._received += len(data)
        if self._received > LARGEST_FIELDS:
            self.transport.write(_REFUSED)
            self.transport.close()

    def on_message_begin(self) -> None:
        """See `HttpToolsProtocol`: a request begins."""
        super().on_message_begin()
        if not self._waits_for_fields:
            self._begin()

    def on_headers_complete(self) -> None:
        """See `HttpToolsProtocol`: the fields of a request are whole."""
        self._end()
        super().on_headers_complete()

    def _begin(self) -> None:
        self._waits_for_fields, self._received = True, 0
        self._limit = self.loop.call_later(LONGEST_WAIT, self._give_up)

    def _end(self) -> None:
        self._waits_for_fields = False
        if self._limit is not None:
            self._limit.cancel()

    def _give_up(self) -> None:
        self.transport.close()
