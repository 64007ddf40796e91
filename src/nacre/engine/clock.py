"""The one real clock."""

import asyncio
import time


class SystemClock:
    """The machine's clocks; see `core.clock.Clock`."""

    __slots__ = ()

    # The functions themselves: a visit asks them eighteen times.
    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less only yields."""
        await asyncio.sleep(max(seconds, 0))
