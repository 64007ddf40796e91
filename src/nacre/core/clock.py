"""Time, as a protocol. The real clock is in `job`; tests inject their own."""

from typing import Protocol


class Clock(Protocol):
    """Where the shells get the time; pure code takes `now` instead."""

    def now(self) -> float:
        """Seconds since the epoch, UTC; may jump."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean anything."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less only yields."""
        ...
