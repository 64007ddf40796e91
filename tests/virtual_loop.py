"""An event loop with a virtual clock: it jumps to the next timer as soon as no task can run."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any

_END = 300.0
"""More seconds than any test needs: what runs longer does not come to an end."""


class _JumpingSelector(selectors.SelectSelector):
    """Never waits: the time of its loop jumps instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.jumps = 0

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "the loop stands still: no timer is set, and no task can run"
        self.now += max(timeout, 0.0)
        self.jumps += timeout > 0
        assert self.now < _END, f"the loop still runs after {_END:.0f} seconds"
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to its next timer."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return its virtual time, seconds."""
        return self._jumping.now

    @property
    def jumps(self) -> int:
        """Number of times that its clock jumped: that a real loop would have slept."""
        return self._jumping.jumps

    def block(self, seconds: float) -> None:
        """Let time pass, as a callback does that keeps the loop busy."""
        self._jumping.now += seconds


class LoopClock:
    """A clock with the time of the running loop."""

    def now(self) -> float:
        return self.monotonic()

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run_virtually(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in a virtual loop."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main)
