"""How far can a site's own word be trusted? Learned from what visits found (pure).

Recall and false hints of each source, per site and template, with the wider prior behind them; and
the audits of 304 replies. Source: Busa-Fekete et al., arXiv 2502.02430.
"""

from enum import StrEnum
from typing import NamedTuple

import msgspec

_PRIOR_RECALL = 0.7
_PRIOR_WEIGHT = 1.0
_PRIOR_FALSE = 0.02
_FALSE_DAYS = 30.0
_BANNED_DAYS = 90.0
_SAME_DATES = 0.9
_MOST_MOVED = 0.5
_ENOUGH_DATES = 20


class Source(StrEnum):
    """Who gave a hint."""

    LISTING = "listing"
    FEED = "feed"
    SITEMAP = "sitemap"
    VALIDATOR = "validator"
    PAGE_DATE = "page-date"
    CO_CHANGE = "co-change"


class Signal(NamedTuple):
    """How far a source of hints can be trusted on a class of pages.

    Attributes:
        recall: Share of real changes that it tells.
        false_rate: False hints a day.
    """

    recall: float
    false_rate: float


class HintTrust(msgspec.Struct, array_like=True):
    """What visits said of one source; kept in the store.

    Attributes:
        told: Changes that it had told.
        untold: Changes that it had not.
        false: Visits that found no change although it had told one.
        quiet: Days without a change under watch.
    """

    told: float = 0.0
    untold: float = 0.0
    false: float = 0.0
    quiet: float = 0.0

    def observe(self, *, hinted: bool, changed: bool, days: float, weight: float = 1.0) -> None:
        """Learn from a visit; best from one that would have been made without the hint too.

        Args:
            hinted: It had told a change since the last visit.
            changed: There was one.
            days: Days since the last visit.
            weight: How many visits it stands for, where it was drawn by lot.
        """
        if changed:
            self.told += weight * hinted
            self.untold += weight * (not hinted)
        else:
            self.false += weight * hinted
            self.quiet += weight * days

    def signal(self, wider: Signal | None = None) -> Signal:
        """What may be expected of it, leaning on a wider prior."""
        prior = wider or Signal(_PRIOR_RECALL, _PRIOR_FALSE)
        seen = self.told + self.untold
        recall = (self.told + _PRIOR_WEIGHT * prior.recall) / (seen + _PRIOR_WEIGHT)
        false = (self.false + prior.false_rate * _FALSE_DAYS) / (self.quiet + _FALSE_DAYS)
        return Signal(recall, false)

    @property
    def precision(self) -> float:
        """Share of its hints that were right, with a weak prior of one half."""
        return (self.told + 1.0) / (self.told + self.false + 2.0)


class Audit(msgspec.Struct, array_like=True):
    """Do 304 replies of a host and template tell the truth? Kept in the store.

    Attributes:
        clean: Audits that found the page unchanged indeed.
        lies: Those that did not.
        banned_until: Conditional requests are not sent before this, seconds since the epoch.
    """

    clean: int = 0
    lies: int = 0
    banned_until: float = 0.0

    def observe(self, now: float, *, lied: bool) -> None:
        """Count an audit: an unconditional request where a 304 was due."""
        if lied:
            self.lies += 1
            self.clean = 0
            self.banned_until = now + _BANNED_DAYS * 86_400.0
        else:
            self.clean += 1

    def trusted(self, now: float) -> bool:
        """Whether conditional requests may be sent."""
        return now >= self.banned_until

    @property
    def lie_bound(self) -> float:
        """Upper bound of the share of lies, 95 %: the rule of three; 1 before any audit."""
        return min(1.0, 3.0 / self.clean) if self.clean else 1.0


def dates_are_generated(dates: list[float], fetched: float, moved: int) -> bool:
    """Whether lastmod dates are those of the sitemap's making, so that they tell nothing.

    Args:
        dates: All of one sitemap, seconds since the epoch.
        fetched: When it was fetched.
        moved: How many of them are others than last time.
    """
    if len(dates) < _ENOUGH_DATES:
        return False
    if moved <= _MOST_MOVED * len(dates):
        return False
    commonest = max(map(dates.count, set(dates)), default=0) if len(set(dates)) < 50 else 0
    now = sum(abs(fetched - date) < 3600.0 for date in dates)
    return max(commonest, now) >= _SAME_DATES * len(dates)
