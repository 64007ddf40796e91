"""The change rate of each page, estimated by empirical Bayes on a grid of rates (pure).

Each page keeps the logarithm of the likelihood of its visits at 28 rates, evenly spaced in their
logarithm. A class of pages (template, layout, site, all) shares a prior over them, which is fitted
by EM: a class that has been revisited often has its own prior, a small one leans on the wider one.
The posterior is usable after one visit and sharp after thirty. Sources: Cho and Garcia-Molina,
"Estimating frequency of change", 2003, on why a naive estimate fails; empirical Bayes with a prior
estimated by EM.
"""

import math
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import mul, sub

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.discovery.index_pages import INDEX
from nacre.planner.slices import Slices, at_once
from nacre.planner.tuning import guess
from nacre.uri.parse import authority

GRID = 28
"""Rates of the grid: neighbours differ by half. Part of the format of the rows."""
LOWEST = 1.0 / 3000.0
"""The lowest rate, changes a day: slower ones cannot be distinguished from it within years."""
HIGHEST = 24.0
"""The highest rate, changes a day: one an hour, which no schedule outpaces."""
STEP = math.log(HIGHEST / LOWEST) / (GRID - 1)
"""Difference of the logarithms of two neighbours."""
RATES = tuple(LOWEST * math.exp(STEP * index) for index in range(GRID))
"""Changes a day."""
_LOG_RATES = tuple(map(math.log, RATES))

PER_NAT = 256
"""Evidence is kept in 1/256 nat: 128 nats fit into two bytes. Part of the format of the rows."""
_SCALED = tuple(PER_NAT * rate for rate in RATES)
_FLOOR = -32_000
"""The least evidence: what two bytes hold."""
_PACK = struct.Struct(f"<{GRID}h")
NO_EVIDENCE = _PACK.pack(*[0] * GRID)
"""The evidence of a page that was visited once: its first visit says nothing of changes."""

BACK_OFF = guess(
    "rates.back_off",
    30.0,
    "Number of revisited pages of a class that weigh as much as the prior of its parent class.",
)
_EM_STEPS = guess(
    "rates.em_steps",
    8,
    "Number of EM steps that update a prior in each step of the planner.",
)
_FIRST_STEPS = guess(
    "rates.first_steps", 25, "Number of EM steps for a prior that is estimated for the first time."
)

Distribution = tuple[float, ...]
"""Probabilities over `RATES`; they sum to 1."""

FLAT: Distribution = (1.0 / GRID,) * GRID
"""All rates alike."""

EVIDENCE_BYTES, RECENT_BYTES = _PACK.size, 8
"""Lengths of evidence, and of what earlier versions kept of the latest visits."""


def _lognormal(median: float, spread: float) -> Distribution:
    weights = [math.exp(-0.5 * ((log - math.log(median)) / spread) ** 2) for log in _LOG_RATES]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


_SPREAD = guess(
    "rates.spread",
    2.2,
    "Standard deviation of the logarithm of change rates, of pages and of new links of lists.",
)
PAGES: Distribution = _lognormal(1.0 / 365.0, _SPREAD)
"""Of pages of which nothing is known: half are still the same after some months to a year
(Cho and Garcia-Molina 2000, Ntoulas et al. 2004), and a few change daily."""
FILES: Distribution = _lognormal(
    guess(
        "rates.files",
        1.0 / 5000.0,
        "Change rate of attached files, per day: most are never replaced.",
    ),
    1.5,
)
"""The same of attached files."""
CODE: Distribution = _lognormal(
    guess(
        "rates.code",
        1.0 / 150.0,
        "Change rate of style sheets and scripts, per day: they change with releases "
        "and redesigns.",
    ),
    1.5,
)
"""The same of style sheets and scripts."""
MEDIA: Distribution = _lognormal(
    guess(
        "rates.media",
        1.0 / 20000.0,
        "Change rate of images, sound and fonts, per day: new ones usually have new names.",
    ),
    0.9,
)
"""The same of images, sound and fonts; as slow as the grid allows."""
LINKS: Distribution = _lognormal(
    guess("rates.links", 1.0 / 400.0, "Rate of new links of a page that is no list, per day."),
    _SPREAD,
)
"""Of the new links of a page that is no list."""
LISTS: Distribution = _lognormal(
    guess("rates.lists", 0.1, "Rate of new links of an unknown list, per day."), _SPREAD
)
"""Of the new links of a list of which nothing is known: from one in months to several a day."""


def observe(
    evidence: bytes, interval: float, *, changed: bool, noise: float = 0.0, keep: float = 1.0
) -> bytes:
    """Evidence after a visit that shows only whether the page changed since the last one.

    Args:
        evidence: Before; 56 bytes.
        interval: Days since the last visit that gave an observation; none for 0 or less.
        changed: A change was seen.
        noise: Probability that an unchanged page looks changed anyway.
        keep: Share of the old evidence that still counts (drift), see `remaining_share`.
    """
    if interval <= 0.0:
        return evidence
    same = 1.0 - noise
    if changed:
        terms = [math.log(max(1.0 - same * math.exp(-rate * interval), 1e-12)) for rate in RATES]
    elif same == 1.0 and keep == 1.0:  # the usual case, quicker, to the same bit
        return _packed(list(map(sub, _PACK.unpack(evidence), [r * interval for r in _SCALED])))
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
    return _packed([keep * was + PER_NAT * term for was, term in zip(old, terms, strict=True)])


def _packed(values: Sequence[float]) -> bytes:
    """Evidence of logarithms in units of `PER_NAT`; the greatest becomes 0."""
    top = max(values)
    if min(values) - top > _FLOOR:
        return _PACK.pack(*[round(value - top) for value in values])
    return _PACK.pack(*[max(_FLOOR, round(value - top)) for value in values])


@lru_cache(maxsize=4096)
def silence(days: int, share: float) -> bytes:
    """Evidence of whole days without a hint from a source that announces that share of changes."""
    return observe(NO_EVIDENCE, days * share, changed=False)


def remaining_share(interval: float, half_life: float) -> float:
    """Share of old evidence that still counts after `interval` days; half-life in days, 0: all."""
    return math.exp2(-interval / half_life) if half_life > 0.0 else 1.0


def likelihood(evidence: bytes) -> list[float]:
    """Likelihoods at `RATES`, the largest 1."""
    return [math.exp(value / PER_NAT) for value in _PACK.unpack(evidence)]


def posterior(evidence: bytes, prior: Distribution) -> Distribution:
    """The rate by a page's visits and by its class together."""
    weights = list(map(mul, likelihood(evidence), prior))
    total = sum(weights)
    if total <= 0.0:
        return prior
    return tuple(weight / total for weight in weights)


def mean_rate(distribution: Distribution) -> float:
    """Expected changes a day."""
    return float(sum(map(mul, distribution, RATES)))


def log_mean_rate(distribution: Distribution) -> float:
    """The geometric mean of the rate: exp of the mean logarithm."""
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
    likelihoods = [(likelihood(likely), count) for likely, count in Counter(evidences).items()]
    for _ in range(_EM_STEPS if start else _FIRST_STEPS):
        totals = [BACK_OFF * weight for weight in parent]
        for likely, count in likelihoods:
            weights = list(map(mul, likely, prior))
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


_KEPT = guess("rates.kept", 300, "Number of pages of each class that its prior is estimated from.")
_CODE = "code"
_ROOTS: dict[str, Distribution] = {PageKind.FILE: FILES, PageKind.EMBED: MEDIA, _CODE: CODE}


class Classes:
    """Priors, fitted from the rows at the start of a step.

    Args:
        of: Which evidence of a row is meant: of its changes, or of its arrivals.
        root: Prior of a class of which nothing is known.
    """

    def __init__(self, of: Callable[[PageRow], bytes], root: Distribution = FLAT) -> None:
        self._of = of
        self._root = root
        self._priors: dict[str, Distribution] = {}
        self._samples: dict[str, _Sample] = {}

    def fit(self, rows: Iterable[PageRow], quiet: Callable[[PageRow], bytes] | None = None) -> None:
        """Fit all priors again from a bounded sample of the rows of each class.

        Args:
            rows: All rows.
            quiet: Gives the evidence of rows without any; b"" for none.
        """
        self.forget()
        for row in rows:
            self.note(row, quiet)
        at_once(self.refit())

    def forget(self) -> None:
        """Drop the samples; the priors stay until the next fit."""
        self._samples = {}

    def note(self, row: PageRow, quiet: Callable[[PageRow], bytes] | None = None) -> None:
        """Add a row to the samples of its classes, or update its evidence there."""
        evidence = self._of(row) or (quiet(row) if quiet else b"")
        lot, wider = _lot(row.url), ""
        for name in _chain(row):
            sample = self._samples.get(name)
            if sample is None:
                if not evidence:
                    return
                sample = self._samples[name] = _Sample(wider, _KEPT)
            sample.note(lot, evidence)
            wider = name

    def refit(self) -> Slices[None]:
        """Fit all priors from the samples."""
        # Wider classes come first: each name was met behind the one that it leans on.
        for name, sample in list(self._samples.items()):
            yield
            parent = self._priors.get(sample.wider) or self._root_of(name)
            self._priors[name] = fit_prior(sample.evidences, parent, start=self._priors.get(name))

    def posterior(self, row: PageRow) -> Distribution:
        """The rate by a row's evidence and by its class together."""
        prior, evidence = self.prior(row), self._of(row)
        return posterior(evidence, prior) if evidence else prior

    def prior(self, row: PageRow) -> Distribution:
        """The prior of its rate, from its class."""
        priors, names = self._priors, _chain(row)
        nearest = next((priors[name] for name in reversed(names) if name in priors), None)
        return nearest or self._root_of(names[0])

    def _root_of(self, name: str) -> Distribution:
        kind = name.partition(" ")[0]
        if self._root is LISTS:
            return LISTS if kind == PageKind.INDEX else LINKS
        return _ROOTS.get(kind, self._root)


def _sort(row: PageRow) -> str:
    """What it is; style sheets and scripts are apart from other embeds, which change less."""
    code = row.kind is PageKind.EMBED and row.template.partition("/?")[0].endswith((".css", ".js"))
    return _CODE if code else str(row.kind)


def _chain(row: PageRow) -> tuple[str, ...]:
    """The classes of a row, widest first: all index pages or all others, site, layout, template."""
    kind = "index" if row.index >= INDEX else _sort(row)
    site = f"{kind} {authority(row.url)}"
    return kind, site, f"{site} {layout(row.template)}", row.template


@lru_cache(maxsize=50_000)
def layout(template: str) -> str:
    """A URL template without its plain words: the same in all sections of a site."""
    parts = template.split("/")[3:]
    return "/".join(part if "{" in part or part.startswith("?") else "*" for part in parts)


class _Sample:
    """The evidences with the smallest random numbers, whatever the order of the rows."""

    def __init__(self, wider: str, size: int) -> None:
        self.wider = wider
        self._size = size
        self._kept: dict[int, bytes] = {}

    def note(self, lot: int, evidence: bytes) -> None:
        evidences = self._kept
        if not evidence:
            evidences.pop(lot, None)
            return
        evidences[lot] = evidence
        if len(evidences) >= 2 * self._size:
            self._kept = {number: evidences[number] for number in sorted(evidences)[: self._size]}

    @property
    def evidences(self) -> list[bytes]:
        return [self._kept[number] for number in sorted(self._kept)[: self._size]]


def _lot(url: str) -> int:
    return int.from_bytes(blake2b(url.encode("utf-8", "replace"), digest_size=8).digest(), "big")
