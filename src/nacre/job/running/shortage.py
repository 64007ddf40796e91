"""What is done when file handles run out: fewer fetches at a time for a while, and a word."""

import sys
from collections.abc import Callable

from nacre.core.clock import Clock
from nacre.job.running.engine import Engine

CALM = 60.0
"""Seconds without a shortage after which all may fetch again; one word is said in that time."""

_STEP = 5.0
"""Seconds between two cuts: what was begun before the last one is no sign that it was too small."""


class Shortage:
    """Cuts the number of parallel fetches in half whenever handles run out.

    Args:
        engine: What fetches.
        clock: The time.
        tell: Called with a text for the operator.
    """

    def __init__(self, engine: Engine, clock: Clock, tell: Callable[[str], None]) -> None:
        self._engine = engine
        self._clock = clock
        self._tell = tell
        self._next_word = 0.0
        self._next_cut = 0.0
        self._calm_at = 0.0

    def note(self) -> None:
        """A visit found none."""
        mono, engine = self._clock.monotonic(), self._engine
        self._calm_at = mono + CALM
        if mono >= self._next_cut:
            self._next_cut = mono + _STEP
            engine.ceiling = max(min(engine.busy, engine.ceiling) // 2, 1)
        if mono >= self._next_word:
            self._next_word = mono + CALM
            self._tell(
                f"no file handle was left to connect with: at most {engine.ceiling} fetches at a "
                "time for a while; raise the limit (`ulimit -n`), or lower engine.parallel"
            )

    def look(self) -> None:
        """To be called now and then: ends the cut when there was no shortage for long."""
        if self._calm_at and self._clock.monotonic() >= self._calm_at:
            self._calm_at = 0.0
            self._engine.ceiling = sys.maxsize
            self._engine.wake()
