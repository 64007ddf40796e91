"""Frontier time: what the frontier stores in place of the clock's."""

from typing import NamedTuple


class Timeline(NamedTuple):
    """Seconds since the epoch that run with the monotonic clock and never go back.

    A new run begins at the clock's time or where the last run ended, whichever is later. So a
    stored time is never further ahead than the wait it was made of, whatever was done to the clock.

    Attributes:
        offset: Frontier time minus monotonic time.
        start: Monotonic time when this run began.
        restart_delay: Wait of a known queue before its first fetch in this run, at least; seconds.
    """

    offset: float
    start: float
    restart_delay: float

    def at(self, mono: float) -> float:
        """The frontier time at a monotonic time."""
        return mono + self.offset

    def first_wake(self, wake: float, delay: float, *, old: bool) -> float:
        """Monotonic time before which a queue just loaded hands nothing out.

        Args:
            wake: Its stored wake time.
            delay: Its last politeness delay, seconds.
            old: It was stored by an earlier run: its server may have been asked a moment before the
                end, so that it waits its full delay from the start of this one.
        """
        mono = wake - self.offset
        if old:
            mono = max(mono, self.start + max(delay, self.restart_delay))
        return mono
