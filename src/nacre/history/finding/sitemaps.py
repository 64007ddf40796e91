"""Sitemaps and their indexes: which need not be read, and what those say that were not (pure).

A sitemap that its index dates no later than our last reading rests, once ten such words were held
against a reading and none was wrong; a tenth of those that rest is read all the same. What it named
stands, as it does where a sitemap answers 304. Source: sitemaps.org protocol 0.9 (`lastmod` of an
index).
"""

import re
from collections.abc import MutableMapping
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from nacre.core.pagerow import PageRow
from nacre.history.finding.hints import Audit
from nacre.wire.date import parse_w3c_date

SPARED_LOTS = 0.1
"""Share of the resting sitemaps that is read all the same, as an audit."""
TRIED = 10
"""Words of an index that have to be found true before it is believed."""
_DAY = 86_400.0
_LONGEST = 30 * _DAY
_DATE_ALONE = re.compile(r"\s*\d{4}-\d\d-\d\d\s*")
_DAY_ENDS = 1.5 * _DAY
"""A date without a time may mean any moment of that day, anywhere in the world."""


class MapRow(msgspec.Struct, frozen=True, array_like=True):
    """A sitemap; kept in the store. Times are seconds since the epoch.

    Attributes:
        url: It.
        index: The index that named it last; "" for none.
        newest: What that says of its last change, as written.
        noted: When.
        lastmod: What it had said when the sitemap was last looked at.
        read: Last reading.
        before: The one before.
        stood: When it last stood as it was: it answered 304, or was not read on its index's word.
        looked: When it was last read, or said itself (304) that it is as it was.
        links: URLs that it named.
        children: Sitemaps with a date that it named: it is an index.
        audit: Of an index: whether it was right where it told of no change.
        spared: Of an index: readings that its word has spared.
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
    audit: Audit = msgspec.field(default_factory=Audit)
    spared: int = 0


class Sitemaps:
    """All sitemaps.

    Args:
        rows: By `map_key`; None for a dictionary. Rows do not change in place.
    """

    def __init__(self, rows: MutableMapping[str, MapRow] | None = None) -> None:
        self._rows = {} if rows is None else rows

    def get(self, url: str) -> MapRow | None:
        """What is known of a sitemap; None when it was never read."""
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
            url: It.
            now: When.
            links: URLs that it named.
            children: Sitemaps with a date among them.
            news: It named something that was not known, or another date.
        """
        row = self.get(url) or MapRow(url)
        if self._is_silent(row, now):
            self._audit(row.index, now, lied=news or links != row.links)
        before = row.read if now > row.read else row.before
        self._look(replace(row, read=now, before=before, links=links, children=children), now)

    def stands(self, url: str, now: float) -> None:
        """Note that a sitemap said itself that it is as it was (304)."""
        row = self.get(url)
        if row is not None:
            if self._is_silent(row, now):
                self._audit(row.index, now, lied=False)
            self._look(replace(row, stood=now), now)

    def _look(self, row: MapRow, now: float) -> None:
        index = self.get(row.index) if row.index else None
        if index is not None and now in {row.noted, index.looked}:
            told = row.newest
        else:
            told = row.lastmod if row.stood == now else ""
        self._put(replace(row, looked=now, lastmod=told))

    def spare(self, url: str, now: float) -> None:
        """Note that a sitemap is not read, on its index's word."""
        row = self.get(url)
        index = self.get(row.index) if row is not None else None
        if row is not None and index is not None:
            self._put(replace(row, stood=now))
            self._put(replace(index, spared=index.spared + 1))

    def is_index(self, url: str) -> bool:
        """Whether it named sitemaps with their dates when it was read."""
        row = self.get(url)
        return row is not None and row.children > 0

    def rests(self, url: str, now: float) -> bool:
        """Whether it need not be read: its index says so, and was right so far."""
        row = self.get(url)
        if row is None or not self._is_silent(row, now) or now - row.looked > _LONGEST:
            return False
        index = self.get(row.index)
        return index is not None and believes(index.audit, now)

    def is_doubted(self, url: str, now: float) -> bool:
        """Whether it was spared in this step, and its index has told a lie since."""
        row = self.get(url)
        if row is None or row.stood != now or row.looked == now:
            return False
        index = self.get(row.index)
        return index is not None and not believes(index.audit, now)

    def names(self, page: PageRow, last: float) -> bool:
        """Whether the sitemap of a page stands, though it was not read at the `last` reading."""
        row = self._of(page)
        return row is not None and row.read == page.listed and row.stood >= last

    def dropped(self, page: PageRow, before: float, now: float) -> bool:
        """Whether the sitemap that named a page was read now and does not name it any more.

        Args:
            page: The page.
            before: When sitemaps of its site were read before: counts where nothing is known.
            now: Time of the step.
        """
        row = self._of(page)
        if row is None:
            return not page.map and page.listed == before
        return row.read == now and page.listed == row.before

    def _is_silent(self, row: MapRow, now: float) -> bool:
        """Its index was looked at in this step, and tells of no change since it was itself."""
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


def believes(audit: Audit, now: float) -> bool:
    """Whether an index with this record is believed: ten true words, none wrong for 90 days."""
    return audit.clean >= TRIED and audit.trusted(now)


def map_name(url: str) -> int:
    """What stands for a sitemap in the rows of pages; never 0."""
    digest = blake2b(url.encode("utf-8", "replace"), digest_size=6).digest()
    return int.from_bytes(digest, "big") or 1


def map_key(url: str) -> str:
    """The name of the row of a sitemap."""
    return _key(map_name(url))


def _key(name: int) -> str:
    return f"{name:012x}"


def _end_of(lastmod: str) -> float:
    """The latest moment that a date as written may mean; infinite when it cannot be read."""
    moment = parse_w3c_date(lastmod)
    if moment is None:
        return float("inf")
    return moment + (_DAY_ENDS if _DATE_ALONE.fullmatch(lastmod) else 0.0)
