"""Streams: what a viewer is sent while they look, from the first state to the end."""

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final

from nacre.console.access.gate import identify
from nacre.console.call import Call
from nacre.ops.roles import Role

BEAT: Final = 15.0
"""Seconds of silence after which a viewer is sent a sign of life."""

MakeEvents = Callable[[frozenset[str]], Iterable[bytes]]
"""Makes the events of topics that changed."""


async def follow(
    call: Call,
    topics: Collection[str],
    looks: Sequence[AbstractContextManager[None]],
    make: MakeEvents,
    beat: bytes,
) -> AsyncGenerator[bytes, None]:
    """Events for a viewer: of all topics at first, then of those that change.

    It ends with the console, and when the viewer may not look any more.

    Args:
        call: Their request.
        topics: What they look at.
        looks: They are entered meanwhile, so that a job is asked, and a log read, each second.
        make: Makes events.
        beat: The sign of life.
    """
    services = call.services
    clock = services.clock
    with ExitStack() as held:
        for look in looks:
            held.enter_context(look)
        viewer = held.enter_context(services.hub.viewing(topics))
        for one in make(frozenset(topics)):
            yield one
        checked = clock.monotonic()
        while (changed := await viewer.changes(BEAT)) is not None:
            if clock.monotonic() - checked >= BEAT:
                checked = clock.monotonic()
                if not may_look(call):
                    return
            for one in make(changed) if changed else (beat,):
                yield one


def may_look(call: Call) -> bool:
    """Whether who asked may still look: a session ends, a key is taken back."""
    services = call.services
    visitor = identify(call.request, services.keys, services.sessions)
    place = call.job().place if "job" in call.request.path_params else None
    who = visitor.identity
    return who.role >= Role.VIEWER and (place is None or who.sees(place))
