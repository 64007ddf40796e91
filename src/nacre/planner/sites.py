"""The data of each site beside its pages: hints, lists, age (pure)."""

from collections.abc import MutableMapping, Sequence
from typing import Any

import msgspec

from nacre.core.pagerow import PageRow
from nacre.planner.change_rate.calibration import CalibrationRow
from nacre.planner.change_rate.events import SectionEvents, SectionRow
from nacre.planner.change_rate.value import (
    AGES,
    BACK,
    DAY,
    Hazard,
    SiteTime,
    fit_hazard,
    inside,
)
from nacre.planner.discovery.hints import (
    HintSource,
    HintTrust,
    MapRow,
    Signal,
    Sitemaps,
    dates_are_generated,
)
from nacre.planner.discovery.index_pages import Shown
from nacre.planner.discovery.link_rules import LinkWatch, RuleRow
from nacre.planner.discovery.traps import TrapRow, Traps
from nacre.planner.tuning import guess
from nacre.uri.parse import authority
from nacre.wire.date import parse_w3c_date

_MOST_WEIGHT = guess(
    "sites.most_weight",
    50.0,
    "Largest number of visits that a randomly drawn one counts as when hints are evaluated.",
)
TRIED = guess(
    "sites.tried",
    20,
    "Number of visits to pages with hints from a source that are needed to evaluate it.",
)
_BUCKETS = len(AGES) + 1
"""Buckets of age: part of the format of the rows."""
_SOME = guess(
    "sites.some",
    0.01,
    "Change rate that is added to the hazard of each age, per day, so that none is zero.",
)
_LIST_ITSELF = guess(
    "sites.list_itself",
    0.003,
    "Value of a change of a list in addition to its new links, where a sitemap tells of them, or "
    "no source does.",
)
_LIST_PAGE = guess(
    "sites.list_page", 0.3, "The same elsewhere: a list is a page of its site too.", most=1.0
)
_TELLS = guess(
    "sites.tells",
    1.0,
    "Number of pages that a list reports at each visit, assumed before the first observation.",
)
_OPEN = guess(
    "sites.open",
    0.25,
    "Number of reported new links, and of unreported ones, added before the first observation.",
)
_LOOKS = guess(
    "sites.looks", 1_000.0, "Number of visits to lists after which their counts are halved."
)
_EARNS = guess(
    "sites.earns",
    0.02,
    "Number of links credited to a list per visit below which it only repeats others.",
)
_RETURNS = guess(
    "sites.returns",
    20.0,
    "Number of checks of gone pages that weigh as much as the assumed share.",
)
_MISSES = guess(
    "sites.misses",
    0.05,
    "Largest share of changes that a sitemap may miss and still count as complete.",
    most=1.0,
)


class SiteRow(msgspec.Struct, array_like=True):
    """One site; kept in the store.

    Attributes:
        trust: Trust by source of hints.
        hours: Field of earlier versions; not used.
        events: Changes by age bucket, beyond those that the pages' own rates explain.
        exposure: Days observed by age bucket.
        listed: Times of the last two sitemaps, the newest first.
        doubted: Last time at which a sitemap had generated dates, which do not reflect changes.
        paging: Further pages of lists that are still to be read, because more was published than
            the earlier pages show.
        together: Field of earlier versions; not used.
        looks: Visits of lists that were visited before.
        tells: Pages whose change or deletion they announced.
        watched: Visits of pages that a sitemap would have announced and did not.
        news: New links on lists that a sitemap had contained in the same step, and others.
        sections: Events, by section.
        forecasts: Forecasts and their outcomes.
        returns: Checks of gone pages and dead links, and those that found a page.
    """

    trust: dict[str, HintTrust] = {}
    hours: list[float] = []
    events: list[float] = []
    exposure: list[float] = []
    listed: tuple[float, float] = (0.0, 0.0)
    doubted: float = 0.0
    paging: list[str] = []
    looks: float = 0.0
    tells: float = 0.0
    together: dict[str, Any] = {}
    watched: int = 0
    news: tuple[float, float] = (0.0, 0.0)
    sections: dict[str, SectionRow] = {}
    forecasts: CalibrationRow = msgspec.field(default_factory=CalibrationRow)
    returns: tuple[float, float] = (0.0, 0.0)

    def count_return(self, *, back: bool) -> None:
        """Count a check of a gone page or a dead link."""
        self.returns = (self.returns[0] + 1.0, self.returns[1] + back)

    def count_news(self, mapped: int, unmapped: int) -> None:
        """Count new links of a list: those that a sitemap had in the same step, and others."""
        self.news = (self.news[0] + mapped, self.news[1] + unmapped)

    def note_map(self, now: float) -> None:
        """Note that a sitemap was read in the step of this time."""
        if now > self.listed[0]:
            self.listed = (now, self.listed[0])

    def doubt(self, now: float) -> None:
        """Note that a sitemap had generated dates."""
        self.doubted = now


class ShownRow(msgspec.Struct, frozen=True, array_like=True):
    """The entries of an index page, and when it showed them.

    Attributes:
        shown: Its links.
        time: Time of the visit, seconds since the epoch.
        top: Consecutive visits that showed its first entries: entries that stay are pinned.
        window: Entries that it shows at a time; 0: not known yet.
        floods: Visits at which it showed no known link.
        depth: Mean number of its further pages that a visit read; late visits count more.
        settled: Visits for which the new links are credited.
        earned: Mean number of links credited to it per visit, weighted as `depth`.
    """

    shown: Shown
    time: float
    top: dict[str, int] = {}
    window: int = 0
    floods: int = 0
    depth: float = 0.0
    settled: int = 0
    earned: float = 0.0

    @property
    def repeats(self) -> bool:
        """Whether later visits showed nothing that other lists had not shown."""
        return self.settled > 0 and self.earned < _EARNS


class Sites:
    """All sites.

    Args:
        sites: Rows by site; None for a dictionary.
        shown: Entries of index pages, by URL; None for a dictionary.
        rules: Link rules; None for a dictionary.
        traps: Rows of traps, by kind of URL; None for a dictionary.
        maps: Sitemaps; None for a dictionary.

    Attributes:
        hints: Whether lists are used as hints about pages.
        links: Recognizes new links by their URLs.
        traps: Recognizes endless kinds of URLs.
        maps: Sitemaps and their indexes.
    """

    def __init__(
        self,
        sites: MutableMapping[str, SiteRow] | None = None,
        shown: MutableMapping[str, ShownRow] | None = None,
        rules: MutableMapping[str, RuleRow] | None = None,
        traps: MutableMapping[str, TrapRow] | None = None,
        maps: MutableMapping[str, MapRow] | None = None,
    ) -> None:
        self.maps = Sitemaps(maps)
        self.links = LinkWatch(rules)
        self.traps = Traps(traps)
        self.hints = True
        self._sites = {} if sites is None else sites
        self._shown = {} if shown is None else shown
        self._times: dict[str, SiteTime] = {}
        self._events: dict[str, SectionEvents] = {}
        self._step = (0.0, 1.0)

    def use_hints(self, *, enabled: bool) -> None:
        """Set whether lists are used as hints about pages; by default they are."""
        self.hints = enabled

    def begin_step(self, now: float, every: float) -> None:
        """Begin a step: fit hazards and link rules.

        Args:
            now: Its time, seconds since the epoch.
            every: Days since the previous step.
        """
        self.links.begin_step()
        self.traps.begin_step()
        self._times.clear()
        self._events.clear()
        self._step = now, every

    def forecasting(self, row: PageRow, time: SiteTime) -> SiteTime:
        """The change times for a page, with the events of its sections."""
        event, fresh = self.events(row.url).shares(row)
        return time._replace(
            event=event,
            fresh=fresh,
            forecasts=self._site(row.url).forecasts,
            every=self._step[1],
        )

    def forecasts(self, url: str) -> CalibrationRow:
        """The forecasts of the site of a URL, and their outcomes."""
        return self._site(url).forecasts

    def take_event_news(self) -> bool:
        """Whether visits showed an event, or that there is none, since the last call."""
        news = [events.take_news() for events in self._events.values()]
        return any(news)

    def events(self, url: str) -> SectionEvents:
        """The events of the site of a URL."""
        name = authority(url)
        site_events = self._events.get(name)
        if site_events is None:
            site_events = self._events[name] = SectionEvents(self._site(url).sections, *self._step)
        return site_events

    def time(self, url: str) -> SiteTime:
        """The change times of the site of a URL."""
        name = authority(url)
        site_time = self._times.get(name)
        if site_time is None:
            site = self._site(url)
            hazard = fit_hazard(site.events, site.exposure) if site.events else Hazard()
            worth = max(_LIST_PAGE, self._list_worth(site)) if self.hints else _LIST_ITSELF
            looks, back = site.returns
            share = (back + BACK * _RETURNS) / (looks + _RETURNS)
            site_time = self._times[name] = SiteTime(hazard, worth, back=share)
        return site_time

    def learn_return(self, url: str, *, back: bool) -> None:
        """Learn from a check of a gone page or a dead link."""
        self._site(url).count_return(back=back)

    def signals(self, row: PageRow) -> list[tuple[str, Signal]]:
        """Sources that would have announced a change of this page, with their trust."""
        site = self._site(row.url)
        trusted: list[tuple[str, Signal]] = []
        if row.lastmod and site.listed[0] > site.doubted and self._is_named(row, site.listed[0]):
            trusted.append((HintSource.SITEMAP, self._trust(site, HintSource.SITEMAP).signal()))
        trusted += [
            (source, self._trust(site, HintSource(source)).signal())
            for source in row.told
            if source != HintSource.SITEMAP or not trusted
        ]
        return trusted

    def _is_named(self, row: PageRow, last: float) -> bool:
        """Whether the last sitemaps contained the page, or its sitemap is unchanged."""
        return bool(row.listed) and (row.listed >= last or self.maps.names(row, last))

    def is_mapped(self, url: str, now: float) -> bool:
        """Whether a trusted sitemap of the site was read in the step of this time."""
        site = self._site(url)
        return self.hints and site.listed[0] == now > site.doubted

    def covers(self, row: PageRow, now: float) -> bool:
        """Whether a trusted sitemap with the page was read in the step of this time."""
        return self.is_mapped(row.url, now) and self._is_named(row, now)

    def learn_news(self, url: str, mapped: int, unmapped: int) -> None:
        """Count new links of a list: those that a sitemap had in the same step, and others."""
        self._site(url).count_news(mapped, unmapped)

    def beside_map(self, url: str) -> SiteTime:
        """Return the change times for the lists of a site whose sitemap was read first.

        Such lists are worth only the changes and new links that the sitemap misses.
        """
        site, time = self._site(url), self.time(url)
        missed = 1.0 - self._trust(site, HintSource.SITEMAP).signal().recall
        mapped, unmapped = site.news
        return time._replace(
            lists=max(_LIST_ITSELF, min(self._list_worth(site), missed)),
            untold=(unmapped + _OPEN) / (mapped + unmapped + 2.0 * _OPEN),
            is_mapped=True,
        )

    def is_tried(self, row: PageRow) -> bool:
        """Whether the accuracy of one of the sources that announced a page is known."""
        site = self._site(row.url)
        trusts = [self._trust(site, HintSource(source)) for source in row.told]
        return any(trust.told + trust.false >= TRIED for trust in trusts)

    def proved(self, row: PageRow) -> float:
        """Accuracy of the sources that announced a page; 0 before any test."""
        site = self._site(row.url)
        trusts = [self._trust(site, HintSource(source)) for source in row.told]
        return max(
            (trust.precision for trust in trusts if trust.told + trust.false >= TRIED), default=0.0
        )

    def is_silent(self, row: PageRow, now: float) -> bool:
        """Whether a sitemap covers this page, reports no change, and was right so far."""
        site = self._site(row.url)
        if not row.lastmod or row.told or not self.covers(row, now):
            return False
        trust = self._trust(site, HintSource.SITEMAP)
        return site.watched > 0 and trust.untold <= _MISSES * trust.told

    def watched(self, url: str) -> int:
        """Visits of pages of its site that a sitemap would have announced and did not."""
        return self._site(url).watched

    def learn_hints(self, row: PageRow, now: float, *, changed: bool, propensity: float) -> None:
        """Learn from a visit how far each source can be trusted.

        Args:
            row: As before the visit.
            now: Time of the visit.
            changed: The page had changed.
            propensity: Probability with which the page was chosen: rare ones count for many.
        """
        site = self._site(row.url)
        sources = {source for source, _ in self.signals(row)} | set(row.told)
        site.watched += HintSource.SITEMAP in sources and HintSource.SITEMAP not in row.told
        weight = min(1.0 / max(propensity, 1e-6), _MOST_WEIGHT)
        for source in sources:
            hinted = source in row.told
            trust = self._trust(site, HintSource(source))
            trust.observe(
                hinted=hinted,
                changed=changed,
                days=max(0.0, now - row.last_visit) / DAY,
                weight=1.0 if hinted else weight,
            )

    def learn_age(self, row: PageRow, now: float, expected: float, *, changed: bool) -> None:
        """Count a visit of a page whose age is known in the buckets of its interval.

        Args:
            row: As before the visit.
            now: Time of the visit.
            expected: Chance of a change by the page's own rate.
            changed: There was one.
        """
        if not row.born:
            return
        site = self._site(row.url)
        if not site.events:
            site.events, site.exposure = [0.0] * _BUCKETS, [0.0] * _BUCKETS
        hazard = fit_hazard(site.events, site.exposure)
        spent = inside((row.last_visit - row.born) / DAY, (now - row.born) / DAY)
        shares = [days * (rate + _SOME) for days, rate in zip(spent, hazard.rates, strict=True)]
        total = sum(shares) or 1.0
        for bucket, (days, part) in enumerate(zip(spent, shares, strict=True)):
            site.events[bucket] += (changed - expected) * part / total
            site.exposure[bucket] += days

    def read_dates(self, sitemap: str, dates: Sequence[str], moved: int, now: float) -> bool:
        """Note the dates of a source; False if so many of them changed that they are useless."""
        site = self._site(sitemap)
        moments = [date for text in dates if (date := parse_w3c_date(text)) is not None]
        believed = not dates_are_generated(moments, now, moved)
        if not believed:
            site.doubt(now)
        return believed

    def read_map(self, sitemap: str, now: float) -> None:
        """Note that a sitemap of the site was read."""
        self._site(sitemap).note_map(now)

    def is_later(self, lastmod: str, visit: float) -> bool:
        """Whether a date as written is later than a visit."""
        date = parse_w3c_date(lastmod)
        return date is not None and date > visit

    def look_for_withdrawal(self, row: PageRow, now: float) -> bool:
        """Note a hint if the sitemap no longer lists a page; True if noted."""
        site = self._site(row.url)
        last, before = site.listed
        if not row.listed or last != now or HintSource.SITEMAP in row.told:
            return False
        if not self.maps.dropped(row, before, now):
            return False
        row.tell(HintSource.SITEMAP)
        return True

    def list_row(self, url: str) -> ShownRow | None:
        """The entries of an index page at its last visit; None when it never was one."""
        return self._shown.get(url)

    def shown_at(self, url: str) -> float:
        """Return the time of the last visit to an index page, epoch seconds; 0 for never."""
        row = self._shown.get(url)
        return 0.0 if row is None else row.time

    def since_shown(self, url: str, now: float) -> float:
        """Return the seconds since the last visit to an index page; 0 if there was none."""
        row = self._shown.get(url)
        return 0.0 if row is None else now - row.time

    def keep_list(self, url: str, row: ShownRow) -> None:
        """Store the entries of an index page."""
        self._shown[url] = row

    def learn_tells(self, url: str, count: int) -> None:
        """Count a visit of a list, and the pages that it announced; the last 1,000 visits count."""
        site = self._site(url)
        if site.looks >= _LOOKS:
            site.looks, site.tells = site.looks / 2.0, site.tells / 2.0
        site.looks += 1.0
        site.tells += count

    def read_on(self, url: str) -> None:
        """Note that a further page of a list is to be read."""
        site = self._site(url)
        if url not in site.paging:
            site.paging.append(url)

    def was_read(self, url: str) -> None:
        """Note that a page was read: it need not be read as a further page of a list."""
        site = self._sites.get(authority(url))
        if site is not None and url in site.paging:
            site.paging.remove(url)

    def paging(self) -> list[str]:
        """Return the further pages of lists that are still to be read, of all sites."""
        return [url for name in list(self._sites) for url in self._sites[name].paging]

    def _site(self, url: str) -> SiteRow:
        name = authority(url)
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = SiteRow()
        return site

    def _list_worth(self, site: SiteRow) -> float:
        """The value of the changes that a list announces, by its accuracy."""
        per_look = (site.tells + _TELLS) / (site.looks + 1.0)
        return self._trust(site, HintSource.LISTING).precision * min(per_look, 1.0)

    def _trust(self, site: SiteRow, source: HintSource) -> HintTrust:
        trust = site.trust.get(source)
        if trust is None:
            trust = site.trust[str(source)] = HintTrust()
        return trust
