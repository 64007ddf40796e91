"""Streams: what a viewer is sent while they look, from the first state to the end."""

import re
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing
from typing import Final

from starlette.responses import StreamingResponse
from starlette.types import Send

from nacre.console.call import StreamCall
from nacre.ops.operation import Role
from nacre.web.gate import identify

BEAT: Final = 15.0
"""Seconds of silence after which a viewer is sent a sign of life."""

MakeEvents = Callable[[frozenset[str]], Iterable[bytes]]
"""Makes the events of topics that changed."""


async def follow(
    call: StreamCall,
    topics: Collection[str],
    looks: Sequence[AbstractContextManager[None]],
    make: MakeEvents,
    beat: bytes,
) -> AsyncGenerator[bytes, None]:
    """Events for a viewer: of all topics at first, then of those that change.

    The stream ends when the console stops, and when the viewer loses access.

    Args:
        call: The request of the viewer.
        topics: The topics that the viewer follows.
        looks: Context managers that are entered while the stream is open, so that the job and the
            log are read each second.
        make: Makes events.
        beat: The event that shows that the stream is alive.
    """
    clock = call.clock
    with ExitStack() as stack:
        for look in looks:
            stack.enter_context(look)
        viewer = stack.enter_context(call.hub.viewing(topics))
        for event in make(frozenset(topics)):
            yield event
        checked = clock.monotonic()
        while (changed := await viewer.changes(BEAT)) is not None:
            if clock.monotonic() - checked >= BEAT:
                checked = clock.monotonic()
                if not may_look(call):
                    return
            for event in make(changed) if changed else (beat,):
                yield event


def may_look(call: StreamCall) -> bool:
    """Whether who asked may still look: a session ends, a key is taken back."""
    visitor = identify(call.request, call.parts.access.keys, call.parts.access.sessions)
    place = call.job().place if "job" in call.request.path_params else None
    identity = visitor.identity
    return identity.role >= Role.VIEWER and (place is None or identity.sees(place))


COMMENT = b": \n\n"
"""A comment, which shows that the stream is alive and is not an event."""
_BREAK = re.compile(r"\r\n|\r|\n")


def event(data: str, name: str = "", position: str = "") -> bytes:
    """Format an event of a stream.

    Args:
        data: Its data; each line becomes a field.
        name: Its name; "" for an event of the default type, `message`.
        position: Its id, which a client sends back as Last-Event-ID; "" for none.
    """
    lines = [f"event: {name}"] if name else []
    if position:
        lines.append(f"id: {position}")
    lines += [f"data: {line}" for line in _BREAK.split(data)]
    return ("\n".join(lines) + "\n\n").encode("utf-8", "backslashreplace")


class EventStream(StreamingResponse):
    """A response of events; the generator of events is closed when the client disconnects.

    Args:
        events: The formatted events.
    """

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        # Without this field, a proxy such as nginx buffers events.
        fields = {"x-accel-buffering": "no"}
        super().__init__(events, headers=fields, media_type="text/event-stream")
        self._events = events

    async def stream_response(self, send: Send) -> None:
        """See its base."""
        async with aclosing(self._events):
            await super().stream_response(send)
