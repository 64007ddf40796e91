"""Hints, and how far each source of them can be trusted (pure).

`HintTrust` learns recall and false hints of a source, per site, from the results of visits;
`ReplyAudit` counts checks of a server's claims (304 replies, sitemap indexes). Source: Busa-Fekete
et al., arXiv 2502.02430.

`Sitemaps` keeps sitemaps and their indexes. A sitemap whose date in the index is not later than our
last reading need not be read, once readings have checked ten such dates and none was wrong; a tenth
of these sitemaps is read anyway. Its URLs count as listed, as if the sitemap had answered 304.
Source: sitemaps.org protocol 0.9 (`lastmod` of an index).
"""

import re
from collections.abc import MutableMapping
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from nacre.core.pagerow import PageRow
from nacre.planner.tuning import guess
from nacre.wire.date import parse_w3c_date

_PRIOR_RECALL = guess(
    "hints.prior_recall",
    0.7,
    "Share of the changes that a source reports, assumed before the first observation.",
    most=1.0,
)
_PRIOR_WEIGHT = guess(
    "hints.prior_weight", 1.0, "Number of changes that this assumption weighs as much as."
)
_PRIOR_FALSE = guess(
    "hints.prior_false",
    0.02,
    "False hints per day of a source, assumed before the first observation.",
)
_FALSE_DAYS = guess(
    "hints.false_days", 30.0, "Number of days that this assumption weighs as much as."
)
_BANNED_DAYS = guess(
    "hints.banned_days",
    90.0,
    "Days for which the 304 replies of a server are not trusted after an incorrect one.",
)
_SAME_DATES = guess(
    "hints.same_dates",
    0.9,
    "Share of equal or current dates in a sitemap above which its dates are ignored.",
    most=1.0,
)
_MOST_MOVED = guess(
    "hints.most_moved",
    0.5,
    "Share of the dates of a sitemap that must have changed since the last reading for this check.",
    most=1.0,
)
_ENOUGH_DATES = guess(
    "hints.enough_dates", 20, "Number of dates below which a sitemap is not checked in this way."
)


class HintSource(StrEnum):
    """The source of a hint."""

    LISTING = "listing"
    FEED = "feed"
    SITEMAP = "sitemap"
    VALIDATOR = "validator"
    CO_CHANGE = "co-change"
    DROPPED = "dropped"


class Signal(NamedTuple):
    """The trust in a source of hints for a class of pages.

    Attributes:
        recall: Share of real changes that it announces.
        false_rate: False hints a day.
    """

    recall: float
    false_rate: float


class HintTrust(msgspec.Struct, array_like=True):
    """The results of visits for one source; kept in the store.

    Attributes:
        told: Changes that it had announced.
        untold: Changes that it had not announced.
        false: Visits that found no change although it had announced a change.
        quiet: Days without a change under watch.
    """

    told: float = 0.0
    untold: float = 0.0
    false: float = 0.0
    quiet: float = 0.0

    def observe(self, *, hinted: bool, changed: bool, days: float, weight: float = 1.0) -> None:
        """Learn from a visit, ideally from a visit that did not depend on the hint.

        Args:
            hinted: Whether the source had announced a change since the last visit.
            changed: Whether the page had changed.
            days: Days since the last visit.
            weight: Number of visits that it represents, if it was drawn at random.
        """
        if changed:
            self.told += weight * hinted
            self.untold += weight * (not hinted)
        else:
            self.false += weight * hinted
            self.quiet += weight * days

    def signal(self) -> Signal:
        """Return the trust in the source, which starts from the values assumed without visits."""
        observed = self.told + self.untold
        recall = (self.told + _PRIOR_WEIGHT * _PRIOR_RECALL) / (observed + _PRIOR_WEIGHT)
        false = (self.false + _PRIOR_FALSE * _FALSE_DAYS) / (self.quiet + _FALSE_DAYS)
        return Signal(recall, false)

    @property
    def precision(self) -> float:
        """Share of its hints that were right, with a weak prior of one half."""
        return (self.told + 1.0) / (self.told + self.false + 2.0)


class ReplyAudit(msgspec.Struct, array_like=True):
    """Evidence whether 304 replies of a host and template are correct; a row of the store.

    Attributes:
        clean: Number of audits that found the page unchanged.
        lies: Number of audits that found a false 304.
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
        """Upper bound (95 %) of the share of false replies: rule of three; 1 before any audit."""
        return min(1.0, 3.0 / self.clean) if self.clean else 1.0


def dates_are_generated(dates: list[float], fetched: float, moved: int) -> bool:
    """Whether lastmod dates are the time when the sitemap was generated, so that they are useless.

    Args:
        dates: All dates of a sitemap, seconds since the epoch.
        fetched: Time when it was fetched.
        moved: Number of dates that changed since the last reading.
    """
    if len(dates) < _ENOUGH_DATES:
        return False
    if moved <= _MOST_MOVED * len(dates):
        return False
    commonest = max(map(dates.count, set(dates)), default=0) if len(set(dates)) < 50 else 0
    now = sum(abs(fetched - date) < 3600.0 for date in dates)
    return max(commonest, now) >= _SAME_DATES * len(dates)


SPARED_LOTS = guess(
    "hints.spared_sample",
    0.1,
    "Share of the sitemaps without news in their index that are read nevertheless, as an audit.",
    most=1.0,
)
TRIED = guess(
    "hints.tried",
    10,
    "Number of dates of a sitemap index that must prove correct before it is trusted.",
)
_DAY = 86_400.0
"""Seconds of a day."""
_LONGEST = guess(
    "hints.longest",
    30 * _DAY,
    "Longest time without a reading of a sitemap that is unchanged in its index, in seconds.",
)
_DATE_ALONE = re.compile(r"\s*\d{4}-\d\d-\d\d\s*")
_DAY_ENDS = 1.5 * _DAY
"""A date without a time may mean any moment of that day, anywhere in the world: ISO 8601, and 12
h for zones west of Greenwich."""


class MapRow(msgspec.Struct, frozen=True, array_like=True):
    """A sitemap; kept in the store. Times are seconds since the epoch.

    Attributes:
        url: URL of the sitemap.
        index: The index that listed it last; "" for none.
        newest: Its last change according to the index, as written.
        noted: Time when the index was read.
        lastmod: The date in the index when the sitemap was last checked.
        read: Last reading.
        before: The reading before the last.
        stood: When it was last unchanged: it answered 304, or was not read because of its index.
        looked: When it was last read, or answered 304 itself.
        links: Number of its URLs.
        children: Number of sitemaps with a date among them; not 0: it is an index.
        audit: Of an index: whether it was right about sitemaps without a change.
        spared: Of an index: number of sitemap requests that it has saved.
    """

    url: str
    index: str = ""
    newest: str = ""
    noted: float = 0.0
    lastmod: str = ""
    read: float = 0.0
    before: float = 0.0
    stood: float = 0.0
    looked: float = 0.0
    links: int = 0
    children: int = 0
    audit: ReplyAudit = msgspec.field(default_factory=ReplyAudit)
    spared: int = 0


class Sitemaps:
    """All sitemaps.

    Args:
        rows: By `map_key`; None for a dictionary. Rows do not change in place.
    """

    def __init__(self, rows: MutableMapping[str, MapRow] | None = None) -> None:
        self._rows = {} if rows is None else rows

    def get(self, url: str) -> MapRow | None:
        """Return the row of a sitemap; None if it was never read."""
        return self._rows.get(map_key(url))

    def _of(self, page: PageRow) -> MapRow | None:
        return self._rows.get(_key(page.map)) if page.map else None

    def _put(self, row: MapRow) -> None:
        self._rows[map_key(row.url)] = row

    def note(self, index: str, url: str, lastmod: str, now: float) -> None:
        """Note the date that an index gives a known sitemap."""
        row = self.get(url) or MapRow(url)
        self._put(replace(row, index=index, newest=lastmod, noted=now))

    def was_read(self, url: str, now: float, *, links: int, children: int, news: bool) -> None:
        """Note that a sitemap was read.

        Args:
            url: URL of the sitemap.
            now: Time of the reading.
            links: Number of its URLs.
            children: Number of sitemaps with a date among them.
            news: It contains an unknown URL, or a new date.
        """
        row = self.get(url) or MapRow(url)
        if self._is_silent(row, now):
            self._audit(row.index, now, lied=news or links != row.links)
        before = row.read if now > row.read else row.before
        self._look(replace(row, read=now, before=before, links=links, children=children), now)

    def unchanged(self, url: str, now: float) -> None:
        """Note that a sitemap answered 304."""
        row = self.get(url)
        if row is not None:
            if self._is_silent(row, now):
                self._audit(row.index, now, lied=False)
            self._look(replace(row, stood=now), now)

    def _look(self, row: MapRow, now: float) -> None:
        index = self.get(row.index) if row.index else None
        if index is not None and now in {row.noted, index.looked}:
            lastmod = row.newest
        else:
            lastmod = row.lastmod if row.stood == now else ""
        self._put(replace(row, looked=now, lastmod=lastmod))

    def spare(self, url: str, now: float) -> None:
        """Note that a sitemap is skipped because of its index."""
        row = self.get(url)
        index = self.get(row.index) if row is not None else None
        if row is not None and index is not None:
            self._put(replace(row, stood=now))
            self._put(replace(index, spared=index.spared + 1))

    def is_index(self, url: str) -> bool:
        """Whether a sitemap is an index: its last reading had sitemaps with dates."""
        row = self.get(url)
        return row is not None and row.children > 0

    def rests(self, url: str, now: float) -> bool:
        """Whether a sitemap can be skipped: its index shows no change, and was right so far."""
        row = self.get(url)
        if row is None or not self._is_silent(row, now) or now - row.looked > _LONGEST:
            return False
        index = self.get(row.index)
        return index is not None and believes(index.audit, now)

    def is_doubted(self, url: str, now: float) -> bool:
        """Whether a sitemap was skipped in this step, and its index has proved wrong since."""
        row = self.get(url)
        if row is None or row.stood != now or row.looked == now:
            return False
        index = self.get(row.index)
        return index is not None and not believes(index.audit, now)

    def names(self, page: PageRow, last: float) -> bool:
        """Whether the sitemap of a page is unchanged, though not read at the `last` reading."""
        row = self._of(page)
        return row is not None and row.read == page.listed and row.stood >= last

    def dropped(self, page: PageRow, before: float, now: float) -> bool:
        """Whether the sitemap of a page was read in this step and no longer lists the page.

        Args:
            page: The page.
            before: Previous reading of the sitemaps of its site, used if the sitemap is unknown.
            now: Time of the step.
        """
        row = self._of(page)
        if row is None:
            return not page.map and page.listed == before
        return row.read == now and page.listed == row.before

    def _is_silent(self, row: MapRow, now: float) -> bool:
        """Whether its index was read in this step, and gives no change since it was read itself."""
        index = self.get(row.index) if row.index else None
        if index is None or not row.looked or row.newest != row.lastmod or row.noted < index.read:
            return False
        return now == index.looked and _end_of(row.newest) <= row.looked

    def _audit(self, index: str, now: float, *, lied: bool) -> None:
        row = self.get(index)
        if row is not None:
            audit = replace(row.audit)
            audit.observe(now, lied=lied)
            self._put(replace(row, audit=audit))


def believes(audit: ReplyAudit, now: float) -> bool:
    """Whether an index with these audits is trusted: ten correct dates, none wrong in 90 days."""
    return audit.clean >= TRIED and audit.trusted(now)


def map_name(url: str) -> int:
    """The number that represents a sitemap in the rows of pages; never 0."""
    digest = blake2b(url.encode("utf-8", "replace"), digest_size=6).digest()
    return int.from_bytes(digest, "big") or 1


def map_key(url: str) -> str:
    """The name of the row of a sitemap."""
    return _key(map_name(url))


def _key(name: int) -> str:
    return f"{name:012x}"


def _end_of(lastmod: str) -> float:
    """Return the latest time that a date as written may mean; infinite if it is not valid."""
    moment = parse_w3c_date(lastmod)
    if moment is None:
        return float("inf")
    return moment + (_DAY_ENDS if _DATE_ALONE.fullmatch(lastmod) else 0.0)
