"""Whether a job has seen enough to say how often its pages change (pure).

Before that, what the planner believes comes from the web at large; it is good enough to choose
visits by, but no fact about a site.
"""

import msgspec

from nacre.job.studies.known import Known
from nacre.report.units import span

ENOUGH_RUNS = 2
"""Runs after the first one: the first of them shows what is noise, and the second what changes."""
_DAY = 86_400.0
_TOO_LITTLE = "too little data yet"
ONE_VISIT = f"{_TOO_LITTLE}: the page was visited once at most"
"""Why nothing is known of a page."""


class Maturity(msgspec.Struct, frozen=True):
    """What a job has seen.

    Attributes:
        again: Runs after the first one.
        watched: Days from the beginning of the first run to that of the last.
    """

    again: int
    watched: float

    @property
    def doubt(self) -> str:
        """Why nothing can be said of intervals yet; "" when it can."""
        if self.again >= ENOUGH_RUNS:
            return ""
        runs = {0: "no run", 1: "one run"}[self.again]
        return f"{_TOO_LITTLE}: {runs} after the first one, and it takes {ENOUGH_RUNS}"

    def doubt_of(self, days: float) -> str:
        """Why an interval, in days, is no more than a guess; "" when it is one that was watched."""
        if self.doubt or days <= self.watched:
            return self.doubt
        watched = span(self.watched)
        return f"{_TOO_LITTLE}: it is longer than {watched}, for which the job was watched"


def maturity(known: Known) -> Maturity:
    """What a job has seen."""
    runs = known.runs()
    days = (runs[-1].started - runs[0].started) / _DAY if runs else 0.0
    return Maturity(max(0, len(runs) - 1), days)
