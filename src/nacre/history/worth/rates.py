"""How often does a page change? Empirical Bayes on a grid of rates (pure).

Each page keeps the logarithm of the likelihood of its visits at 28 rates, evenly spaced in their
logarithm; a class of pages shares a prior over them. Together they give a posterior that is sane
after one visit and sharp after thirty. Source: empirical Bayes with a prior estimated by EM.

Times are operational days (`history.worth.season`): plain days where nothing is known of the
season.
"""

import math
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import mul

GRID = 28
LOWEST = 1.0 / 3000.0
HIGHEST = 24.0
STEP = math.log(HIGHEST / LOWEST) / (GRID - 1)
RATES = tuple(LOWEST * math.exp(STEP * index) for index in range(GRID))
"""Changes a day."""
_LOG_RATES = tuple(map(math.log, RATES))

PER_NAT = 256
"""Evidence is kept in 1/256 nat."""
_FLOOR = -32_000
_PACK = struct.Struct(f"<{GRID}h")
_RECENT = struct.Struct("<2f")
RECENT = 6.0
"""The latest visits are those that fade so many times as fast as all."""
NO_EVIDENCE = _PACK.pack(*[0] * GRID)
"""The evidence of a page that was visited once: its first visit says nothing of changes."""

BACK_OFF = 30.0
"""As many revisited pages of a class weigh as much as its parent's prior."""
_EM_STEPS = 8
_FIRST_STEPS = 25

Distribution = tuple[float, ...]
"""Probabilities over `RATES`; they sum to 1."""

FLAT: Distribution = (1.0 / GRID,) * GRID

EVIDENCE_BYTES, RECENT_BYTES = _PACK.size, _RECENT.size
"""Lengths of evidence and of the latest visits, where there are any."""


def _lognormal(median: float, spread: float) -> Distribution:
    weights = [math.exp(-0.5 * ((log - math.log(median)) / spread) ** 2) for log in _LOG_RATES]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


PAGES: Distribution = _lognormal(1.0 / 365.0, 2.2)
"""Of pages of which nothing is known: half are still the same after some months to a year
(Cho and Garcia-Molina 2000, Ntoulas et al. 2004), and a few change daily."""
FILES: Distribution = _lognormal(1.0 / 5000.0, 1.5)
"""The same of attached files: most are never replaced; of a hundred edits two put another file
under the same URL."""
CODE: Distribution = _lognormal(1.0 / 150.0, 1.5)
"""The same of style sheets and scripts: they change with releases and redesigns."""
MEDIA: Distribution = _lognormal(1.0 / 20000.0, 0.9)
"""The same of images, sound and fonts: what is new has another name. As slow as the grid allows."""
LISTS: Distribution = _lognormal(0.1, 2.2)
"""Of the new links of a list of which nothing is known: from one in months to several a day."""


def observe(
    evidence: bytes, interval: float, *, changed: bool, noise: float = 0.0, keep: float = 1.0
) -> bytes:
    """Evidence after a visit that tells only whether the page changed since the last one.

    Args:
        evidence: Before; 56 bytes.
        interval: Days since the last visit that gave an observation; none for 0 or less.
        changed: A change was seen.
        noise: Probability that an unchanged page looks changed all the same.
        keep: Share of the old evidence that still counts (drift), see `kept`.
    """
    if interval <= 0.0:
        return evidence
    same = 1.0 - noise
    if changed:
        terms = [math.log(max(1.0 - same * math.exp(-rate * interval), 1e-12)) for rate in RATES]
    else:
        base = math.log(same) if same > 0.0 else -40.0
        terms = [base - rate * interval for rate in RATES]
    return _added(evidence, terms, keep)


def observe_count(evidence: bytes, count: float, interval: float, *, keep: float = 1.0) -> bytes:
    """Evidence where every change in a time was seen (a feed, the links of an index page)."""
    terms = [count * log - rate * interval for rate, log in zip(RATES, _LOG_RATES, strict=True)]
    return _added(evidence, terms, keep)


def _added(evidence: bytes, terms: Iterable[float], keep: float) -> bytes:
    old = _PACK.unpack(evidence)
    new = [keep * was + PER_NAT * term for was, term in zip(old, terms, strict=True)]
    top = max(new)
    return _PACK.pack(*[max(_FLOOR, round(value - top)) for value in new])


@lru_cache(maxsize=4096)
def silence(days: int, share: float) -> bytes:
    """Evidence of whole days without a word from a source that tells that share of changes."""
    return observe(NO_EVIDENCE, days * share, changed=False)


def kept(interval: float, half_life: float) -> float:
    """Share of old evidence that still counts after `interval` days; half-life in days, 0: all."""
    return math.exp2(-interval / half_life) if half_life > 0.0 else 1.0


def likelihood(evidence: bytes) -> list[float]:
    """Likelihoods at `RATES`, the largest 1."""
    return [math.exp(value / PER_NAT) for value in _PACK.unpack(evidence)]


def posterior(evidence: bytes, prior: Distribution) -> Distribution:
    """What a page's visits and its class say together."""
    weights = list(map(mul, likelihood(evidence), prior))
    total = sum(weights)
    if total <= 0.0:
        return prior
    return tuple(weight / total for weight in weights)


def mean_rate(distribution: Distribution) -> float:
    """Expected changes a day."""
    return float(sum(map(mul, distribution, RATES)))


def log_mean_rate(distribution: Distribution) -> float:
    """The rate in the middle, on the scale on which errors count: exp of the mean logarithm."""
    return math.exp(sum(map(mul, distribution, _LOG_RATES)))


def interval_of(distribution: Distribution, coverage: float = 0.9) -> tuple[float, float]:
    """The credible interval of the rate, changes a day: its lower and its upper end."""
    tail = (1.0 - coverage) / 2.0
    return _quantile(distribution, tail), _quantile(distribution, 1.0 - tail)


def _quantile(distribution: Distribution, share: float) -> float:
    below = 0.0
    for rate, weight in zip(RATES, distribution, strict=True):
        below += weight
        if below >= share:
            return rate
    return RATES[-1]


def chance_of_change(distribution: Distribution, interval: float) -> float:
    """Probability of at least one change in `interval` days."""
    return 1.0 - sum(
        weight * math.exp(-rate * interval)
        for weight, rate in zip(distribution, RATES, strict=True)
    )


def with_recent(
    recent: bytes, rate: float, interval: float, *, changes: float, keep: float
) -> bytes:
    """What the latest visits saw: changes, and days looked at, both fading.

    Args:
        recent: Before; b"" for nothing.
        rate: Changes a day that are believed in: behind a change that was seen may lie several.
        interval: Days since the last visit; none for 0 or less.
        changes: 1 for a change that was seen, less where it may be noise, 0 for none.
        keep: Share of what was seen before that still counts, see `kept`.
    """
    if interval <= 0.0:
        return recent
    count, days = _RECENT.unpack(recent) if recent else (0.0, 0.0)
    expected = max(rate * interval, 1e-9)
    behind = changes * expected / -math.expm1(-expected)
    return _RECENT.pack(keep * count + behind, keep * days + interval)


def recent_evidence(recent: bytes) -> bytes:
    """The same as evidence, as if nothing had been seen before."""
    count, days = _RECENT.unpack(recent) if recent else (0.0, 0.0)
    return observe_count(NO_EVIDENCE, count, days)


def has_drifted(
    believed: Distribution, recent: bytes, prior: Distribution, nats: float = 4.0
) -> bool:
    """The latest visits speak so clearly against the older ones that these should be forgotten.

    Compares the likelihood of what was seen of late at the rates that it speaks for by itself with
    that at the rates believed in.

    Args:
        believed: What is believed of the page's rate.
        recent: Of `with_recent`.
        prior: Of its class.
        nats: Logarithm of the ratio beyond which they speak clearly.
    """
    evidence = recent_evidence(recent)
    told = likelihood(evidence)
    fast, slow = (sum(map(mul, told, rates)) for rates in (posterior(evidence, prior), believed))
    return bool(fast > slow * math.exp(nats))


def fit_prior(
    evidences: Sequence[bytes], parent: Distribution = FLAT, *, start: Distribution | None = None
) -> Distribution:
    """The prior of a class: some steps of smoothed EM over its pages, leaning on the parent's.

    Args:
        evidences: Of its pages that were visited at least twice.
        parent: Prior of the wider class.
        start: The prior so far; None starts at the parent's, and takes more steps.
    """
    prior = start or parent
    if not evidences:
        return parent
    # Most pages of a class were visited together and never changed: they are counted once.
    told = [(likelihood(one), count) for one, count in Counter(evidences).items()]
    for _ in range(_EM_STEPS if start else _FIRST_STEPS):
        totals = [BACK_OFF * weight for weight in parent]
        for one, count in told:
            weights = list(map(mul, one, prior))
            scale = sum(weights)
            if scale > 0.0:
                part = count / scale
                totals = [
                    total + part * weight for total, weight in zip(totals, weights, strict=True)
                ]
        prior = _smooth(totals)
    return prior


def _smooth(totals: Sequence[float]) -> Distribution:
    """Each rate shares with its neighbours: pure maximum likelihood would pile up in spikes."""
    padded = [totals[0], *totals, totals[-1]]
    spread = [
        left + 6.0 * middle + right
        for left, middle, right in zip(padded, padded[1:], padded[2:], strict=False)
    ]
    scale = sum(spread)
    return tuple(weight / scale for weight in spread)
