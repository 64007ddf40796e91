"""What the operator wants ignored for now, by `JOB/control/ignores`: links, and what waits."""

from collections.abc import Callable, Sequence

from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.scope.patterns import PatternList

IGNORES = "control/ignores"
"""Stands for a rule where URLs that were refused are explained."""


class Ignored:
    """The expressions, and the step of the chain that lets go what was queued before them."""

    name = "ignores"

    def __init__(self) -> None:
        self.matches: Callable[[str], bool] | None = None

    def use(self, patterns: Sequence[str]) -> None:
        """From now on these expressions, each found anywhere in a URL; none for nothing ignored."""
        self.matches = PatternList(patterns, search=True).matches if patterns else None

    def accepts(self, visit: Visit) -> bool:
        """Whatever was found on a page, while something is to be ignored."""
        return self.matches is not None and not (visit.uri.is_seed or visit.uri.is_prerequisite)

    async def process(self, visit: Visit) -> Result:
        """Disregard it (-5000) when an expression matches."""
        if self.matches is None or not self.matches(visit.uri.url):
            return Result.PROCEED
        visit.status = FetchStatus.OUT_OF_SCOPE
        visit.annotate("ignored")
        visit.error = f"an expression of {IGNORES} matches"
        return Result.FINISH
