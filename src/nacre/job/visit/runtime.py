"""A limit of running time, looked at for each URI. As Heritrix's RuntimeLimitEnforcer."""

from collections.abc import Callable

from nacre.config.effective import Effective
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.job.configuration.settings import RuntimeSettings

RUNTIME = "runtime limit"
"""The reason of a pause that this asks for; `nacre resume` ends it."""

OPERATOR = "operator"
"""The reason of a pause that `nacre pause` asked for, or `engine.pause_at_start`."""


class LimitRuntime:
    """The step of the chain (Heritrix's RuntimeLimitEnforcer).

    Pausing and ending leave the URI at hand alone: it is fetched.

    Attributes:
        elapsed: Seconds that the crawl has run, pauses left out.
        pause: Asks for a pause.
        terminate: Asks for the end.
    """

    def __init__(self, settings: Effective[RuntimeSettings]) -> None:
        self._settings = settings
        self.elapsed: Callable[[], float] = float
        self.pause: Callable[[], None] = _nobody
        self.terminate: Callable[[], None] = _nobody

    def accepts(self, visit: Visit) -> bool:
        """Where there is a limit, and it has passed."""
        after = self._settings[visit.overlay].after
        return after > 0.0 and self.elapsed() >= after

    async def process(self, visit: Visit) -> Result:
        """Do what the settings say."""
        settings = self._settings[visit.overlay]
        if settings.action == "pause":
            self.pause()
            return Result.PROCEED
        if settings.action == "terminate":
            self.terminate()
            return Result.PROCEED
        visit.status = FetchStatus.BLOCKED_BY_RUNTIME
        visit.error = f"the crawl has run for {settings.after:g} s (limits.runtime.after)"
        visit.annotate(f"Runtime exceeded {settings.after * 1000:.0f}ms")
        return Result.FINISH


def _nobody() -> None:
    """Nobody listens."""
