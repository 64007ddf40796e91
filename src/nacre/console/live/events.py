"""Server-sent events: their text, and the answer that sends them (HTML standard, 9.2)."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Send

COMMENT = b": \n\n"
"""A comment: it says that the stream is alive, and is no event."""
_BREAK = re.compile(r"\r\n|\r|\n")


def event(data: str, name: str = "", position: str = "") -> bytes:
    """The text of an event.

    Args:
        data: Its data; of several lines each becomes a field.
        name: Its name; "" for none: a message.
        position: Its id, which a client sends back as Last-Event-ID; "" for none.
    """
    lines = [f"event: {name}"] if name else []
    if position:
        lines.append(f"id: {position}")
    lines += [f"data: {line}" for line in _BREAK.split(data)]
    return ("\n".join(lines) + "\n\n").encode("utf-8", "backslashreplace")


class EventStream(StreamingResponse):
    """An answer of events; they are closed as soon as nobody reads them.

    Args:
        events: Texts of events.
    """

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        # A proxy such as nginx would collect events before it passes them on.
        fields = {"x-accel-buffering": "no"}
        super().__init__(events, headers=fields, media_type="text/event-stream")
        self._events = events

    async def stream_response(self, send: Send) -> None:
        """See its base."""
        async with aclosing(self._events):
            await super().stream_response(send)
