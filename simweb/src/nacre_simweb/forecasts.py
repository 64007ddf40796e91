"""The quality of a policy's model of change: rates, and forecasts of each visit."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from nacre.core.urlshape import shaped
from nacre_simweb.calendar import DAY
from nacre_simweb.driver import Forecast
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.oracle import Oracle
from nacre_simweb.recall import Measures
from nacre_simweb.world import World


def rate_error(world: World, rates: Mapping[str, float] | None, end: float) -> float | None:
    """Root mean square error of the logarithm of the rates of pages that do change."""
    if not rates:
        return None
    oracle, errors = Oracle(world), []
    for url, rate in rates.items():
        true = oracle.rate(url, world.epoch(end))
        if true > 1e-6 and rate > 0 and not oracle.is_list(url):
            errors.append(math.log(rate / true) ** 2)
    return round(math.sqrt(fmean(errors)), 6) if errors else None


def forecast_quality(archive: KeptCaptures, forecasts: Sequence[Forecast]) -> Measures:
    """Brier score, its skill over base rates, and the slope of reliability.

    `brier_skill_class` is that over the base rate of each class, in hindsight: pages that share
    a URL template.
    """
    judged = _judged(archive, forecasts)
    if len(judged) < 2:
        names = ("brier", "brier_skill", "brier_skill_class", "reliability_slope")
        return dict.fromkeys(names)
    chances, events = (
        [forecast.chance for forecast in judged],
        [float(forecast.event) for forecast in judged],
    )
    base, middle = fmean(events), fmean(chances)
    brier = fmean((chance - event) ** 2 for chance, event in zip(chances, events, strict=True))
    spread = fmean((chance - middle) ** 2 for chance in chances)
    joint = fmean(
        (chance - middle) * (event - base) for chance, event in zip(chances, events, strict=True)
    )
    reference = base * (1 - base)
    return {
        "brier": round(brier, 6),
        "brier_skill": round(1 - brier / reference, 6) if reference else None,
        "brier_skill_class": _class_skill(judged, brier),
        "reliability_slope": round(joint / spread, 6) if spread else None,
    }


class _Judged(NamedTuple):
    """A forecast, the class of its page, and whether it changed."""

    chance: float
    name: str
    event: bool


def _class_skill(judged: Sequence[_Judged], brier: float) -> float | None:
    classes: dict[str, list[float]] = {}
    for forecast in judged:
        classes.setdefault(forecast.name, []).append(float(forecast.event))
    reference = sum(
        len(events) * fmean(events) * (1 - fmean(events)) for events in classes.values()
    )
    return round(1 - brier * len(judged) / reference, 6) if reference else None


def _judged(archive: KeptCaptures, forecasts: Sequence[Forecast]) -> list[_Judged]:
    """Return each forecast with its outcome: another version than at the visit before."""
    visits: dict[str, list[tuple[float, int]]] = {}
    for row in archive.rows:
        if row.kind == "article":
            visits.setdefault(row.url, []).append((row.time, row.version))
    judged_forecasts = []
    for forecast in forecasts:
        times = visits.get(forecast.url, [])
        # The first visit in time: a pair made of it later in the step is another one.
        place = bisect_left(times, (forecast.time, -math.inf))
        if 0 < place < len(times) and times[place][0] <= forecast.time + DAY:
            event = times[place][1] != times[place - 1][1]
            judged_forecasts.append(_Judged(forecast.chance, shaped(forecast.url).name, event))
    return judged_forecasts
