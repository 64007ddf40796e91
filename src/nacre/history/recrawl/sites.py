"""What is known of each site beside its pages: hints, lists, age and hours of changes (pure)."""

from collections.abc import MutableMapping, Sequence

import msgspec

from nacre.core.pagerow import PageRow
from nacre.history.finding.hints import HintTrust, Signal, Source, dates_are_generated
from nacre.history.finding.linkwatch import LinkWatch, RuleRow
from nacre.history.finding.listing import Shown
from nacre.history.finding.sitemaps import MapRow, Sitemaps
from nacre.history.finding.traps import TrapRow, Traps
from nacre.history.recrawl.cochange import Looks, Word, change_together, note, word
from nacre.history.recrawl.ranking import DAY, Time
from nacre.history.worth.season import (
    AGES,
    HOURS,
    Hazard,
    Season,
    fit_hazard,
    hour_of_week,
    inside,
    learned,
)
from nacre.uri.parse import authority
from nacre.wire.date import parse_w3c_date

_MOST_WEIGHT = 50.0
TRIED = 20
"""Visits of pages of which a source told that show how right it is."""
_BUCKETS = len(AGES) + 1
_SOME = 0.01
_LIST_ITSELF = 0.003
_TELLS = 1.0
"""Pages that a list is believed to tell of at each visit before any visit showed it."""
_OPEN = 0.25
"""New links told, and as many untold, that count as seen before any was."""
_LOOKS = 1_000.0
_EARNS = 0.02
_GROUPS = 300
_MISSES = 0.05
"""Largest share of changes that a sitemap may miss and still count as right."""


class SiteRow(msgspec.Struct, array_like=True):
    """One site; kept in the store.

    Attributes:
        trust: By source of hints.
        hours: New links by hour of the week.
        events: Changes by age bucket, beyond those that the pages' own rates explain.
        exposure: Days observed by age bucket.
        listed: Time of the last sitemap, and of the one before.
        doubted: When a sitemap last showed dates of its own making.
        paging: Pages of lists that are still to be read, because more was published than the
            pages before them show.
        together: Of the templates with the most pages visited again: when they changed together.
        looks: Visits of lists that were visited before.
        tells: Pages whose change or end they told of.
        watched: Visits of pages of which a sitemap would have told and did not.
        news: New links seen on lists that a sitemap had told in the same step, and others.
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
    together: dict[str, Looks] = {}
    watched: int = 0
    news: tuple[float, float] = (0.0, 0.0)


class ShownRow(msgspec.Struct, frozen=True, array_like=True):
    """What an index page showed, and when.

    Attributes:
        shown: Its links.
        time: When.
        top: Visits in a row at which its first entries stood there: what stays is pinned.
        window: Entries that it shows at a time; 0: not known yet.
        floods: Visits at which it showed nothing that was known.
        depth: Further pages of it that a visit had to read, on average; late visits count more.
        settled: Visits after which it was known which links it had shown first.
        earned: Links credited to it at a visit, on average as `depth`.
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
        """Whether it was looked at again and showed nothing that others had not shown."""
        return self.settled > 0 and self.earned < _EARNS


class Sites:
    """All sites.

    Args:
        sites: Rows by site; None for a dictionary.
        shown: What index pages showed, by URL; None for a dictionary.
        rules: Link rules; None for a dictionary.
        traps: What pages that lead to more of their kind have said; None for a dictionary.
        maps: Sitemaps; None for a dictionary.

    Attributes:
        hints: Lists are read for what they tell of pages.
        links: Tells new links by their looks.
        traps: Tells kinds of URLs without end.
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
        self._times: dict[str, Time] = {}
        self._now = -1.0

    def begin_step(self) -> None:
        """Begin a step: fit seasons, hazards and link rules."""
        self.links.begin_step()
        self.traps.begin_step()
        self._times.clear()

    def time(self, url: str) -> Time:
        """How time passes on the site of a URL."""
        name = authority(url)
        found = self._times.get(name)
        if found is None:
            site = self._site(url)
            season = learned(site.hours, Season()) if site.hours else Season()
            hazard = fit_hazard(site.events, site.exposure) if site.events else Hazard()
            found = self._times[name] = Time(season, hazard, self._list_worth(site))
        return found

    def signals(self, row: PageRow) -> list[tuple[str, Signal]]:
        """Sources that would have told of a change of this page, with their trust."""
        site = self._site(row.url)
        found: list[tuple[str, Signal]] = []
        if row.lastmod and site.listed[0] > site.doubted and self._is_named(row, site.listed[0]):
            found.append((Source.SITEMAP, self._trust(site, Source.SITEMAP).signal()))
        found += [
            (source, self._trust(site, Source(source)).signal())
            for source in row.told
            if source != Source.SITEMAP or not found
        ]
        if row.told == () and self.word_of(row, self._now) is Word.QUIET:
            found.append((Source.CO_CHANGE, self._trust(site, Source.CO_CHANGE).signal()))
        return found

    def _is_named(self, row: PageRow, last: float) -> bool:
        """Sitemaps named it when they were read last, or what named it stands."""
        return bool(row.listed) and (row.listed >= last or self.maps.names(row, last))

    def forget_words(self) -> None:
        """Begin a step: none of its visits was made, so that sentinels say nothing yet."""
        self._now = -1.0

    def changes_together(self, row: PageRow) -> bool:
        """Whether the pages of a page's template change together, so that a few speak for all."""
        site = self._sites.get(authority(row.url))
        return site is not None and change_together(site.together.get(row.template, ()))

    def word_of(self, row: PageRow, now: float) -> Word:
        """What the visits of this step say of a page that changes with those visited."""
        looks = self._site(row.url).together.get(row.template)
        if not looks or looks[-1][0] != now or not change_together(looks):
            return Word.NOTHING
        return word(looks, now)

    def note_together(self, row: PageRow, now: float, *, changed: bool) -> None:
        """Count a visit of a page for its template; a bounded number of templates is watched."""
        self._now = now
        site = self._site(row.url)
        looks = site.together.get(row.template)
        if looks is None:
            if len(site.together) >= _GROUPS:
                return
            looks = site.together[row.template] = []
        note(looks, now, changed=changed)

    def is_mapped(self, url: str, now: float) -> bool:
        """Whether a sitemap of the site was read in the step of this time, and is believed."""
        site = self._site(url)
        return self.hints and site.listed[0] == now > site.doubted

    def learn_news(self, url: str, told: int, untold: int) -> None:
        """Count new links of a list: those that a sitemap had told in the same step, and others."""
        site = self._site(url)
        site.news = (site.news[0] + told, site.news[1] + untold)

    def beside_map(self, url: str) -> Time:
        """How time passes for the lists of a site of which a sitemap was read before them.

        They are worth only what it misses, of changes and of new links.
        """
        site, time = self._site(url), self.time(url)
        missed = 1.0 - self._trust(site, Source.SITEMAP).signal().recall
        told, untold = site.news
        return time._replace(
            lists=max(_LIST_ITSELF, min(time.lists, missed)),
            untold=(untold + _OPEN) / (told + untold + 2.0 * _OPEN),
        )

    def is_tried(self, row: PageRow) -> bool:
        """Whether enough visits have shown how right one of the sources is that told of a page."""
        site = self._site(row.url)
        trusts = [self._trust(site, Source(source)) for source in row.told]
        return any(trust.told + trust.false >= TRIED for trust in trusts)

    def proved(self, row: PageRow) -> float:
        """Share of the words of those that told of a page that were right; 0 before any trial."""
        site = self._site(row.url)
        trusts = [self._trust(site, Source(source)) for source in row.told]
        return max((one.precision for one in trusts if one.told + one.false >= TRIED), default=0.0)

    def is_silent(self, row: PageRow, now: float) -> bool:
        """Whether a sitemap covers this page, had nothing to say of it, and was right so far."""
        site = self._site(row.url)
        if not row.lastmod or row.told or not self.is_mapped(row.url, now):
            return False
        if not self._is_named(row, now):
            return False
        trust = self._trust(site, Source.SITEMAP)
        return site.watched > 0 and trust.untold <= _MISSES * trust.told

    def watched(self, url: str) -> int:
        """Visits of pages of its site of which a sitemap would have told and did not."""
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
        site.watched += Source.SITEMAP in sources and Source.SITEMAP not in row.told
        weight = min(1.0 / max(propensity, 1e-6), _MOST_WEIGHT)
        for source in sources:
            hinted = source in row.told
            trust = self._trust(site, Source(source))
            trust.observe(
                hinted=hinted,
                changed=changed,
                days=max(0.0, now - row.last_visit) / DAY,
                weight=1.0 if hinted else weight,
            )

    def learn_date(self, row: PageRow, now: float, dated: int, *, changed: bool) -> None:
        """Learn from a visit how far what pages say of their own last change can be trusted.

        Args:
            row: As before the visit.
            now: Time of the visit.
            dated: What the page says now; 0 where nobody looked, because its bytes are the same.
            changed: The page had changed.
        """
        trust = self._trust(self._site(row.url), Source.PAGE_DATE)
        days = max(0.0, now - row.last_visit) / DAY
        trust.observe(hinted=dated not in {0, row.dated}, changed=changed, days=days)

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

    def learn_births(self, url: str, now: float, count: int) -> None:
        """Count new links in the hour of the week at which they were found."""
        if not count:
            return
        site = self._site(url)
        site.hours = site.hours or [0.0] * HOURS
        site.hours[hour_of_week(now)] += count

    def read_dates(self, sitemap: str, dates: Sequence[str], moved: int, now: float) -> bool:
        """Note a sitemap's visit; False when its dates, of which so many moved, tell nothing."""
        site = self._site(sitemap)
        if now > site.listed[0]:
            site.listed = (now, site.listed[0])
        known = [date for text in dates if (date := parse_w3c_date(text)) is not None]
        believed = not dates_are_generated(known, now, moved)
        if not believed:
            site.doubted = now
        return believed

    def is_later(self, lastmod: str, visit: float) -> bool:
        """Whether a date as written lies after a visit."""
        date = parse_w3c_date(lastmod)
        return date is not None and date > visit

    def look_for_withdrawal(self, row: PageRow, now: float) -> bool:
        """A page that the sitemap named last time and names no more is likely gone: tell it so."""
        site = self._site(row.url)
        last, before = site.listed
        if not row.listed or last != now or Source.SITEMAP in row.told:
            return False
        if not self.maps.dropped(row, before, now):
            return False
        row.told = (*row.told, str(Source.SITEMAP))
        return True

    def list_row(self, url: str) -> ShownRow | None:
        """What an index page showed last time; None when it never was one."""
        return self._shown.get(url)

    def shown_at(self, url: str) -> float:
        """When an index page was visited before, seconds since the epoch; 0 for never."""
        found = self._shown.get(url)
        return 0.0 if found is None else found.time

    def since_shown(self, url: str, now: float) -> float:
        """Seconds since then; 0 when it never was."""
        found = self._shown.get(url)
        return 0.0 if found is None else now - found.time

    def keep_list(self, url: str, row: ShownRow) -> None:
        """Remember what an index page shows."""
        self._shown[url] = row

    def learn_tells(self, url: str, count: int) -> None:
        """Count the pages that a list told of when visited again; the last 1,000 visits count."""
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
        """Note that a page was read: it need not be read as one of a list any more."""
        site = self._sites.get(authority(url))
        if site is not None and url in site.paging:
            site.paging.remove(url)

    def paging(self) -> list[str]:
        """Pages of lists that are still to be read, of all sites."""
        return [url for name in list(self._sites) for url in self._sites[name].paging]

    def _site(self, url: str) -> SiteRow:
        name = authority(url)
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = SiteRow()
        return site

    def _list_worth(self, site: SiteRow) -> float:
        """A list is worth what it tells of changes, as far as it is right; else next to nothing."""
        if not self.hints:
            return _LIST_ITSELF
        each = (site.tells + _TELLS) / (site.looks + 1.0)
        return max(_LIST_ITSELF, self._trust(site, Source.LISTING).precision * min(each, 1.0))

    def _trust(self, site: SiteRow, source: Source) -> HintTrust:
        trust = site.trust.get(source)
        if trust is None:
            trust = site.trust[str(source)] = HintTrust()
        return trust
