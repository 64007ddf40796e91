"""The error of estimated rates, on bare pages that differ in their rate alone.

The set-up: ln λ normal about one change in 20 days with a spread of 1.5, visits at irregular
intervals of 10 days on average.
"""

import math
from statistics import fmean

from nacre.core.pagerow import PageRow
from nacre.planner.change_rate.rates import (
    NO_EVIDENCE,
    PAGES,
    Classes,
    log_mean_rate,
    observe,
)
from nacre_simweb.draw import Draw
from nacre_simweb.recall import Measures

BARE = "bare"
"""Name of this set-up where worlds are named."""
_PAGES = 1000
_MIDDLE, _SPREAD = math.log(1 / 20), 1.5
_INTERVAL = 10.0
_VISITS = (3, 30)


def estimates(seed: int) -> Measures:
    """Root mean square error of ln λ after some visits of each page."""
    draw = Draw(seed).at("estimates")
    rates = [math.exp(_MIDDLE + _SPREAD * draw.normal(number)) for number in range(_PAGES)]
    rows = [PageRow(f"http://a.test/{number}", template="a") for number in range(_PAGES)]
    measures: Measures = {}
    for visit in range(1, max(_VISITS) + 1):
        for row, rate, number in zip(rows, rates, range(_PAGES), strict=True):
            here = draw.at(number, visit)
            days = _INTERVAL * here.exponential()
            changed = here.uniform(1) < -math.expm1(-rate * days)
            row.visits = visit
            row.evidence = observe(row.evidence or NO_EVIDENCE, days, changed=changed)
        if visit in _VISITS:
            measures[f"rmse_ln_{visit}"] = _error(rows, rates)
    return measures


def _error(rows: list[PageRow], rates: list[float]) -> float:
    classes = Classes(lambda row: row.evidence, PAGES)
    classes.fit(rows)
    pairs = zip(rows, rates, strict=True)
    return round(
        math.sqrt(fmean(math.log(_rate(classes, row) / true) ** 2 for row, true in pairs)), 6
    )


def _rate(classes: Classes, row: PageRow) -> float:
    return log_mean_rate(classes.posterior(row))
