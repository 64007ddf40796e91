"""Notices that the time of day was set, so that odd dates in an archive are explained."""

from nacre.core.clock import Clock
from nacre.report.units import span

_JUMP = 60.0
"""Less than this is what a network time service does, seconds."""
_DAY = 86_400.0


class ClockWatch:
    """Compares the time of day with the monotonic clock.

    Args:
        clock: Both.
        behind: What the time of day was behind the latest time of the job when it was opened,
            seconds; 0 or less when it was not.
    """

    def __init__(self, clock: Clock, behind: float) -> None:
        self._clock = clock
        self._ahead = self._difference() + max(behind, 0.0)

    def look(self) -> str:
        """What happened since the last look, for the operator; "" where nothing did.

        The monotonic clock stands still while a machine sleeps, and cannot be set.
        """
        ahead = self._difference()
        jump, self._ahead = ahead - self._ahead, ahead
        if abs(jump) < _JUMP:
            return ""
        how = "was set forward, or the machine slept," if jump > 0 else "was set back"
        return (
            f"the clock {how} by {span(abs(jump) / _DAY)}: "
            "dates in the archive and the logs follow it, delays and retries do not"
        )

    def _difference(self) -> float:
        return self._clock.now() - self._clock.monotonic()
