"""What the operator wants ignored for now, by `JOB/control/ignores`: links, and what waits."""

from collections.abc import Callable, Sequence

from nacre.core.processor import Visit
from nacre.core.status import FetchStatus
from nacre.scope.patterns import PatternList

IGNORES = "control/ignores"
"""Stands for a rule where URLs that were refused are explained."""


class Ignored:
    """The expressions.

    Attributes:
        matches: Says of a URL whether one matches; None while there are none.
    """

    def __init__(self) -> None:
        self.matches: Callable[[str], bool] | None = None

    def use(self, patterns: Sequence[str]) -> None:
        """From now on these expressions, each found anywhere in a URL; none for nothing ignored."""
        self.matches = PatternList(patterns, search=True).matches if patterns else None

    def refuses(self, visit: Visit) -> bool:
        """Disregard (-5000) what was queued before an expression that matches; seeds are spared."""
        if self.matches is None or visit.uri.is_seed or visit.uri.is_prerequisite:
            return False
        if not self.matches(visit.uri.url):
            return False
        visit.status = FetchStatus.OUT_OF_SCOPE
        visit.annotate("ignored")
        visit.error = f"an expression of {IGNORES} matches"
        return True
