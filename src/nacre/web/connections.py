"""Connections that limit the length of header fields and the time of a request.

The parser buffers incomplete fields, and uvicorn limits neither their length nor the time of
bodies. Without these limits, any client could fill the memory or hold connections open for ever.
"""

import asyncio
from http import HTTPStatus
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from nacre.core.message_data import to_json
from nacre.web.problems import PROBLEM_TYPE, ProblemDetails

LARGEST_FIELDS: Final = 65_536
"""Maximum bytes of the request line and the fields; a single packet may exceed it."""
LONGEST_WAIT: Final = 30.0
"""Seconds in which the fields must arrive; also the interval of the checks of bodies."""
SLOWEST: Final = 16_384
"""Minimum bytes per second of a body, while the console reads it."""
LONGEST_BODY: Final = 600.0
"""Seconds in which a body must arrive completely, whatever its rate."""


class BoundedConnection(HttpToolsProtocol):
    """A connection of uvicorn with these limits."""

    _waits_for_fields = True
    _waits_for_body = False
    _received = 0
    _gives_up = 0.0
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
        if self.transport.is_closing():
            return
        self._received += len(data)
        if self._waits_for_fields and self._received > LARGEST_FIELDS:
            self._refuse(431, "the header fields are longer than 64 KB")

    def send_400_response(self, msg: str) -> None:
        """See `HttpToolsProtocol`: the data is not a valid request, or its URL is too long."""
        if len(getattr(self, "url", b"")) >= LARGEST_FIELDS:
            self._refuse(414, "the URL is longer than 64 KB")
        else:
            self._refuse(400, msg)

    def _refuse(self, status: int, detail: str) -> None:
        """Answer with problem details, as the interface does, and close the connection."""
        title = HTTPStatus(status).phrase
        body = to_json(ProblemDetails(title, status, "no-request", detail))
        head = (
            f"HTTP/1.1 {status} {title}\r\ncontent-type: {PROBLEM_TYPE}\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def on_message_begin(self) -> None:
        """See `HttpToolsProtocol`: a request begins."""
        super().on_message_begin()
        if not self._waits_for_fields:
            self._begin()

    def on_headers_complete(self) -> None:
        """See `HttpToolsProtocol`: the fields of a request are complete; a body may follow."""
        self._end()
        self._waits_for_body, self._received = True, 0
        self._gives_up = self.loop.time() + LONGEST_BODY
        self._limit = self.loop.call_later(LONGEST_WAIT, self._check_body)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """See `HttpToolsProtocol`: the request is complete."""
        self._end()
        super().on_message_complete()

    def _check_body(self) -> None:
        """Close the connection if the client, and not the console, is too slow with the body."""
        if not self._waits_for_body or self.transport.is_closing():
            return
        is_slow = self._received <= SLOWEST * LONGEST_WAIT and not self.flow.read_paused
        if is_slow or self.loop.time() >= self._gives_up:
            self.transport.close()
            return
        self._received = 0
        self._limit = self.loop.call_later(LONGEST_WAIT, self._check_body)

    def _begin(self) -> None:
        self._waits_for_fields, self._waits_for_body, self._received = True, False, 0
        self._limit = self.loop.call_later(LONGEST_WAIT, self._give_up)

    def _end(self) -> None:
        self._waits_for_fields = self._waits_for_body = False
        if self._limit is not None:
            self._limit.cancel()

    def _give_up(self) -> None:
        self.transport.close()
