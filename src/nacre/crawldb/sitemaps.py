"""Sitemap entries as rows of the CrawlDb: priority, changefreq and lastmod (pure).

Source: Nutch, `SitemapProcessor` (reference N 1.16). Values of entries are untrusted hints from the
web: each is read within bounds, and an invalid value is ignored.
"""

from decimal import Decimal, InvalidOperation

from nacre.crawldb.row import ONE
from nacre.wire.date import parse_w3c_date

_DAY = 86_400
_FREQUENCIES = {
    "always": 1,
    "hourly": 3_600,
    "daily": _DAY,
    "weekly": 7 * _DAY,
    "monthly": 30 * _DAY,
    "yearly": 365 * _DAY,
    "never": 2**31 - 1,
}
"""Seconds between two fetches, by the words of sitemaps.org."""
_LONGEST = 32


def priority_score(text: str) -> int:
    """Return the score of a priority, in 2^-32: from 0 to 1; 0.5 for none, 0 or no number."""
    try:
        value = Decimal(text.strip()) if len(text) <= _LONGEST else Decimal(0)
    except InvalidOperation:
        return ONE // 2
    if not value.is_finite() or value <= 0:
        return ONE // 2
    return int(min(value, Decimal(1)) * ONE)


def changefreq_interval(text: str, least: int, most: int) -> int | None:
    """Return the interval of a changefreq, s; None for an unknown value.

    Args:
        text: As written.
        least: Least interval of the schedule, s.
        most: Greatest interval of the schedule, s.
    """
    seconds = _FREQUENCIES.get(text.strip().lower())
    return None if seconds is None else max(least, min(seconds, most))


def lastmod_time(text: str, now: int) -> int:
    """Return the time of a lastmod, ms since the epoch; 0 for none, or for a future time.

    Args:
        text: As written.
        now: The clock of the step, ms since the epoch.
    """
    seconds = parse_w3c_date(text) if text else None
    if seconds is None or seconds <= 0:
        return 0
    moment = round(seconds * 1000)
    return moment if moment <= now else 0
