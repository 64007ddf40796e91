"""The one real clock."""

import asyncio
import time


class SystemClock:
    """The machine's clocks; see `core.clock.Clock`."""

    __slots__ = ()

    def now(self) -> float:
        """Seconds since the epoch, UTC; may jump."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less only yields."""
        await asyncio.sleep(max(seconds, 0))
