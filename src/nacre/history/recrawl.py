"""Which known pages to visit again, and when: the planner of incremental crawling (pure).

A step goes in waves. First what tells of others: start pages, sitemaps, feeds, index pages. Then
what they showed: new links, and pages of which they told. Then pages by what a visit is worth, as
far as the budget goes or until the wanted recall is expected, and a few drawn by lot, which keep
the estimates honest. Source: reference/incremental.md 2.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.classes import Classes
from nacre.history.deletion import Answer, Existence, Life, after
from nacre.history.hints import Source
from nacre.history.listing import News, Shown, compare_lists, shown
from nacre.history.ranking import DAY, Bid, Ranking, Terms, Wanted, choose
from nacre.history.rates import (
    LISTS,
    NO_EVIDENCE,
    PAGES,
    chance_of_change,
    kept,
    mean_rate,
    observe,
    observe_count,
    silence,
)
from nacre.history.recrawl_settings import RecrawlSettings
from nacre.history.sites import Sites
from nacre.history.urlshape import shaped
from nacre.history.value import Signal
from nacre.history.visited import Finding, Judge, Rows, SeenLink, Visited
from nacre.uri.parse import authority

THETA = {"fresh": 0.0, "balanced": 0.5, "versions": 1.0}
"""What each aim means to `history.value`."""
_EMBEDDED = (
    *("image/", "audio/", "video/", "font/", "text/css", "text/javascript"),
    *("application/javascript", "application/x-javascript", "application/font"),
)
TRUSTED = 0.2
"""Pages that were told of are visited first where a change is at least so likely."""
_SAMPLE = 200
"""Pages that are visited again, all classes together, before others are judged by them."""
_LEAST_SAMPLE = 4
_MOST_ERRORS = 5
"""A page that never answered is tried in so many steps."""
_LOTS = 0.03
"""Of a tight budget, lots take no more than this."""
_FINE = 3 * 3600.0
"""New links tell the hours of a site only where its lists are visited so often, s."""


class Choice(NamedTuple):
    """A visit that the planner wants.

    Attributes:
        url: Of what.
        chance: Its forecast that there is something to keep.
        reason: Why: `start`, `new`, `index`, `sitemap`, `feed`, `told`, `rate`, `gone?`, `floor`,
            `sample` (of a class of which too little is known), `lot` (of the pages that are left
            out: only these measure the recall), `pair`.
        propensity: Probability with which it was chosen: 1 but for lots.
    """

    url: str
    chance: float
    reason: str
    propensity: float = 1.0


class Planner:
    """Plans steps and learns from visits.

    Args:
        rows: All that is known of the pages.
        sites: What is known of their sites: hints, lists, seasons.
        judge: Compares versions.
        settings: What the operator wants.

    Attributes:
        expected: Changes expected at the beginning of the step, and of the pages chosen.
    """

    def __init__(self, rows: Rows, sites: Sites, judge: Judge, settings: RecrawlSettings) -> None:
        self._rows = rows
        self._sites = sites
        sites.hints = settings.hints
        self._judge = judge
        self._settings = settings
        self._classes = Classes(lambda row: row.evidence, PAGES)
        self._arrivals = Classes(lambda row: row.arrivals, LISTS)
        self._starts: tuple[str, ...] = ()
        self._step = -1.0
        self._size = 0
        self._price = 0.0
        self._every = 1.0
        self._waves: list[Callable[[int], list[Choice]]] = []
        self._new: dict[str, int] = {}
        self._done: set[str] = set()
        self._chosen: dict[str, Choice] = {}
        self._looked_changed: list[str] = []
        self._flooded: set[str] = set()
        self._pairs: set[str] = set()
        self._found = 0.0
        self.expected = (0.0, 0.0)
        self._ranking = self._make_ranking()

    def begin(self, starts: Sequence[str]) -> None:
        """Name the start pages: seeds, and sitemaps that robots.txt names."""
        self._starts = tuple(starts)

    def recall(self, now: float, chosen: Sequence[Choice] = (), left: int = -1) -> None:
        """Begin a step, or take up one that another process began.

        Pages that were heard of and never visited are new ones still.

        Args:
            now: Time of the step.
            chosen: What was chosen in it so far; of the pairs, those that were not made.
            left: Waves that were left (`waves_left`); -1 for all of them.
        """
        self._begin_step(now)
        if left >= 0:
            self._waves = self._waves[len(self._waves) - left :]
        for one in chosen:
            self._chosen[one.url] = one
            if one.reason == "pair":
                self._pairs.add(one.url)
        self._done = set(self._chosen)
        self._new = {
            row.url: row.depth
            for row in self._rows.scan()
            if not row.visits and row.errors < _MOST_ERRORS and row.url not in self._done
        }

    @property
    def waves_left(self) -> int:
        """Waves of the current step that did not begin."""
        return len(self._waves)

    def choose(self, now: float, room: int) -> list[Choice]:
        """What to visit next; empty once the step is done.

        Args:
            now: Time of the step, seconds since the epoch: the same for all waves of a step.
            room: Visits left in this step.
        """
        if now != self._step:
            self._begin_step(now)
        while room > 0:
            wave = self._new_ones(room)
            while not wave and self._waves:
                wave = self._waves.pop(0)(room)
            wave = [one for one in wave if one.url not in self._done][:room]
            if wave:
                self._done.update(one.url for one in wave)
                self._chosen.update((one.url, one) for one in wave)
                return wave
            if not self._waves and not self._new:
                break
        return []

    def learn(self, visit: Visited) -> Finding:
        """Take in what a visit showed."""
        row = self._rows.get(visit.url) or self._unknown(visit.url, visit.time, 0)
        if not row.visits and visit.status == 200:
            row.kind = _kind_of(visit.mime)
        if visit.url in self._pairs:
            self._pairs.discard(visit.url)
            self._judge.pair(row, visit)
            return Finding(Answer.SILENT, reason="pair")
        finding = self._judge.judge(row, visit)
        choice = self._chosen.get(visit.url)
        if finding.answer is Answer.SILENT:
            row.errors += 1
        else:
            self._observe(row, visit, finding, choice.propensity if choice else 1.0)
        self._rows.put(row)
        if finding.answer is not Answer.SILENT:
            self._follow(row, visit)
        if finding.kind.is_change and row.kind is PageKind.PAGE and row.index < 0.5:
            self._looked_changed.append(row.url)
        return finding

    def rates(self) -> dict[str, float]:
        """Expected changes a day of every page that was visited twice."""
        return {
            row.url: mean_rate(self._classes.posterior(row))
            for row in self._rows.scan()
            if row.evidence
        }

    def _begin_step(self, now: float) -> None:
        if self._step > 0.0:
            self._every = (now - self._step) / DAY
        self._step = now
        self._done, self._chosen, self._new = set(), {}, {}
        self._looked_changed, self._pairs, self._flooded = [], set(), set()
        self._found = 0.0
        self._size = sum(1 for _ in self._rows.scan())
        self._classes.fit(self._rows.scan(), self._quiet)
        self._arrivals.fit(self._rows.scan())
        self._sites.begin_step()
        self._ranking = self._make_ranking()
        self._waves = [
            *(self._starting, self._telling, self._told, self._sampling),
            *(self._pairing, self._worthy),
        ]

    def _make_ranking(self) -> Ranking:
        settings = self._settings
        terms = Terms(
            THETA[settings.aim],
            settings.floor,
            versions=settings.aim != "fresh",
            price=self._price,
            every=self._every,
        )
        return Ranking(self._classes, self._arrivals, terms)

    def _starting(self, room: int) -> list[Choice]:
        """Start pages, sitemaps and feeds: few, and they tell of all others."""
        chosen = [Choice(url, 1.0, "start") for url in self._starts]
        if self._settings.hints:
            tellers = {PageKind.SITEMAP, PageKind.FEED}
            chosen += [
                Choice(row.url, 1.0, str(row.kind))
                for row in self._rows.scan()
                if row.kind in tellers
            ]
        return chosen[:room]

    def _telling(self, room: int) -> list[Choice]:
        """Index pages that may show something new, as far as they are worth it among all pages."""
        wanted = Wanted(self._settings.recall, self._settings.least)
        lists = {row.url for row in self._rows.scan() if row.index >= 0.5}
        bids = [bid for row in self._rows.scan() if row.visits and (bid := self._bid(row))]
        flooded = [bid for bid in bids if bid.url in lists and authority(bid.url) in self._flooded]
        if room < len(bids):
            bids = choose(bids, room, wanted)
        chosen = choose((bid for bid in bids if bid.url in lists), room, wanted)
        return _choices(list(dict.fromkeys([*chosen, *flooded]))[:room])

    def _told(self, room: int) -> list[Choice]:
        """Pages of which a trusted source told; how right it was counts for all others."""
        bids = [
            bid
            for row in self._rows.scan()
            if row.told and row.visits and (bid := self._bid(row)) and bid.chance >= TRUSTED
        ]
        bids.sort(key=lambda bid: (-bid.worth, bid.url))
        return _choices(bids[:room])

    def _sampling(self, room: int) -> list[Choice]:
        """A few pages of each class of which too little is known: what they show holds for all."""
        known: Counter[str] = Counter()
        unknown: dict[str, list[tuple[float, str]]] = {}
        for row in self._rows.scan():
            if row.evidence:
                known[row.template] += 1
            elif row.visits and row.kind is PageKind.PAGE and row.url not in self._done:
                drawn = lot(row.url, self._step)
                unknown.setdefault(row.template, []).append((drawn, row.url))
        chosen: list[Choice] = []
        wanted = max(_LEAST_SAMPLE, _SAMPLE // max(1, len(unknown)))
        for template, lots in unknown.items():
            size = wanted - known[template]
            if size > 0:
                share = min(1.0, size / len(lots))
                chosen += [Choice(url, 0.0, "sample", share) for _, url in sorted(lots)[:size]]
        return chosen[: room // 10]

    def _pairing(self, room: int) -> list[Choice]:
        """Pages that looked changed, once more: what differs within seconds is noise."""
        chosen: list[Choice] = []
        sites: Counter[str] = Counter()
        for url in self._looked_changed:
            site = authority(url)
            if sites[site] < self._judge.pairs_wanted(url):
                sites[site] += 1
                chosen.append(Choice(url, 0.0, "pair"))
        self._pairs = {one.url for one in chosen[:room]}
        self._done -= self._pairs
        return chosen[:room]

    def _worthy(self, room: int) -> list[Choice]:
        """All others, by what they are worth, and the lots."""
        self._classes.fit(self._rows.scan(), self._quiet)
        bids: list[Bid] = []
        lots: list[Choice] = []
        share = min(self._settings.lots, _LOTS * room / max(1, self._size))
        for row in self._rows.scan():
            if row.url in self._done or row.kind is PageKind.EMBED or not row.visits:
                continue
            if self._sites.look_for_withdrawal(row, self._step):
                self._rows.put(row)
            bid = self._bid(row)
            if bid is not None and not self._is_idle_file(row, bid):
                bids.append(bid)
            if share and lot(row.url, self._step) < share:
                lots.append(Choice(row.url, bid.chance if bid else 0.0, "lot", share))
        found = self._found
        wanted = Wanted(self._settings.recall, self._settings.least, found)
        chosen = choose(bids, max(0, room - len(lots)), wanted)
        tight = len(chosen) == max(0, room - len(lots)) < len(bids)
        self._price = (
            min((bid.worth for bid in chosen if not bid.due), default=0.0) if tight else 0.0
        )
        self.expected = (
            found + sum(bid.chance for bid in bids),
            found + sum(bid.chance for bid in chosen),
        )
        taken = {bid.url for bid in chosen}
        return _choices(chosen) + [one for one in lots if one.url not in taken]

    def _is_idle_file(self, row: PageRow, bid: Bid) -> bool:
        idle = bid.chance < self._settings.least_file and not bid.due
        return idle and row.kind is PageKind.FILE

    def _quiet(self, row: PageRow) -> bytes:
        """See `quiet`."""
        if not row.visits or row.told or not self._settings.hints:
            return b""
        return quiet(row, self._sites.signals(row), self._step)

    def _bid(self, row: PageRow) -> Bid | None:
        time = self._sites.time(row.url)
        signals = self._sites.signals(row) if self._settings.hints else ()
        return self._ranking.bid(row, self._step, time, signals)

    def _new_ones(self, room: int) -> list[Choice]:
        urls = list(self._new)[:room]
        for url in urls:
            del self._new[url]
        return [Choice(url, 1.0, "new") for url in urls]

    def _unknown(self, url: str, now: float, depth: int) -> PageRow:
        return PageRow(url, template=shaped(url).name, first_seen=now, evidence=b"", depth=depth)

    def _observe(self, row: PageRow, visit: Visited, finding: Finding, propensity: float) -> None:
        """Learn of the page itself."""
        changed = finding.kind.is_change or (row.life == Life.LIVE and _is_missing(finding.answer))
        if row.visits and row.life == Life.LIVE:
            self._learn_rate(row, visit.time, finding, changed=changed)
        if row.visits and row.life == Life.LIVE and row.kind is PageKind.PAGE:
            self._sites.learn_hints(row, visit.time, changed=changed, propensity=propensity)
        answer = finding.answer
        if answer in {Answer.MISSING, Answer.SOFT} and row.told:
            # Its site says so too: no second look is needed.
            answer = Answer.GONE
        state = Existence(Life(row.life), row.life_since, row.looks, row.target)
        state = after(state, answer, visit.time, _target(visit))
        row.life, row.life_since = str(state.life), state.since
        row.looks, row.target = state.looks, state.target
        row.visits += 1
        row.changes += changed
        self._found += changed or row.visits == 1
        row.noise += bool(row.digest) and not changed and visit.digest not in {"", row.digest}
        row.last_change = visit.time if changed else row.last_change
        row.last_visit = visit.time
        row.told = ()
        if finding.answer is Answer.THERE:
            row.digest = visit.digest or row.digest
            row.bytes = visit.length or row.bytes
            row.index = row.index if finding.listing is None else finding.listing

    def _learn_rate(self, row: PageRow, now: float, finding: Finding, *, changed: bool) -> None:
        time = self._sites.time(row.url)
        days = time.days(row.last_visit, now)
        plain = (now - row.last_visit) / DAY
        own = chance_of_change(self._classes.posterior(row), days)
        # A change that youth explains says little of the page's own rate: like noise.
        calm = (1.0 - finding.noise) * math.exp(-time.young(row, row.last_visit, now))
        row.evidence = observe(
            row.evidence or NO_EVIDENCE,
            days,
            changed=changed,
            noise=1.0 - calm,
            keep=kept(plain, self._settings.half_life / DAY),
        )
        self._sites.learn_age(row, now, own, changed=changed)

    def _follow(self, row: PageRow, visit: Visited) -> None:
        """Learn of others from the page's links."""
        if row.kind is PageKind.EMBED:
            return
        told = [link for link in visit.links if link.lastmod]
        if row.kind is PageKind.PAGE and _is_sitemap(visit):
            row.kind = (
                PageKind.FEED if "rss" in visit.mime or "atom" in visit.mime else (PageKind.SITEMAP)
            )
        if row.kind in {PageKind.SITEMAP, PageKind.FEED}:
            self._read_hints(row, visit, told)
        unknown = self._meet(row, visit)
        if row.kind is PageKind.PAGE and visit.status == 200:
            self._read_list(row, visit, unknown)

    def _meet(self, row: PageRow, visit: Visited) -> set[str]:
        """Links never heard of: they are the new pages."""
        met: set[str] = set()
        for link in visit.links:
            if link.hop not in "LRM" or self._rows.get(link.url) is not None:
                continue
            one = self._unknown(link.url, visit.time, row.depth + (link.hop == "L"))
            one.lastmod = link.lastmod
            one.listed = visit.time if row.kind is PageKind.SITEMAP else 0.0
            one.born = self._born(row, visit.time)
            if link.hop == "M" and not link.lastmod:
                one.kind = PageKind.SITEMAP
            self._rows.put(one)
            self._new[link.url] = one.depth
            met.add(link.url)
        if 0.0 < self._sites.since_shown(row.url, visit.time) <= _FINE:
            self._sites.learn_births(row.url, visit.time, len(met))
        return met

    def _born(self, row: PageRow, now: float) -> float:
        """When a link appeared: between two visits of the page; 0 when it had none before."""
        return now - self._sites.since_shown(row.url, now) / 2.0 if row.visits > 1 else 0.0

    def _read_hints(self, teller: PageRow, visit: Visited, told: Sequence[SeenLink]) -> None:
        """What a sitemap or feed says of pages that are known."""
        source = Source.FEED if teller.kind is PageKind.FEED else Source.SITEMAP
        known = [(link, row) for link in visit.links if (row := self._rows.get(link.url))]
        moved = [(link, row) for link, row in known if link.lastmod and link.lastmod != row.lastmod]
        dates = [link.lastmod for link in told]
        again = sum(row.lastmod != "" for _, row in moved)
        believed = self._sites.read_dates(teller.url, dates, again, visit.time)
        for link, row in moved:
            is_news = row.lastmod != "" or self._sites.is_later(link.lastmod, row.last_visit)
            row.lastmod = link.lastmod
            if is_news and believed:
                self._tell(row, source)
        for _, row in known:
            row.listed = visit.time if source is Source.SITEMAP else row.listed
            self._rows.put(row)

    def _read_list(self, row: PageRow, visit: Visited, unknown: set[str]) -> None:
        """What an index page shows: its own pace, and news of the pages it lists."""
        links = [link for link in visit.links if link.hop == "L"]
        now_shown = shown(links)
        old: Shown | None = self._sites.shown(row.url)
        if old is not None:
            news = compare_lists(old, now_shown)
            self._learn_arrivals(row, visit.time, unknown, news)
            if news.overflow and unknown:
                self._flooded.add(authority(row.url))
            if row.index >= 0.5 and self._settings.hints:
                self._tell_listed(news)
        if row.index >= 0.3:
            self._sites.keep_shown(row.url, now_shown, visit.time)
        self._rows.put(row)

    def _learn_arrivals(self, row: PageRow, now: float, unknown: set[str], news: News) -> None:
        days = self._sites.since_shown(row.url, now) / DAY
        found = sum(url in unknown for url in news.new)
        row.fertile += found >= 1
        if days > 0.0:
            keep = kept(days, self._settings.index_half_life / DAY)
            row.arrivals = observe_count(row.arrivals or NO_EVIDENCE, found, days, keep=keep)

    def _tell_listed(self, news: News) -> None:
        for url in (*news.changed, *news.withdrawn):
            known = self._rows.get(url)
            if known is not None and url not in self._done:
                self._tell(known, Source.LISTING)
                self._rows.put(known)

    def _tell(self, row: PageRow, source: Source) -> None:
        if source not in row.told:
            row.told = (*row.told, str(source))


def quiet(row: PageRow, signals: Sequence[tuple[str, Signal]], now: float) -> bytes:
    """Silence of a source that tells of changes speaks too, or only changed pages would.

    Args:
        row: A page that was visited, and of which nobody told since.
        signals: Sources that would have told of a change of it, with their trust.
        now: Seconds since the epoch.
    """
    shares = [signal.recall for _, signal in signals]
    days = int((now - row.last_visit) / DAY)
    return silence(days, round(max(shares), 1)) if shares and days > 0 else b""


def _choices(bids: Sequence[Bid]) -> list[Choice]:
    return [Choice(bid.url, bid.chance, bid.reason) for bid in bids]


def _target(visit: Visited) -> str:
    return next((link.url for link in visit.links if link.hop == "R"), "")


def _is_missing(answer: Answer) -> bool:
    return answer in {Answer.MISSING, Answer.GONE, Answer.SOFT, Answer.MOVED}


def _kind_of(mime: str) -> PageKind:
    if mime.startswith(_EMBEDDED):
        return PageKind.EMBED
    return PageKind.PAGE if "html" in mime or "xml" in mime or not mime else PageKind.FILE


def _is_sitemap(visit: Visited) -> bool:
    return "xml" in visit.mime and "html" not in visit.mime and visit.status == 200


def lot(url: str, step: float) -> float:
    """A number from 0 to 1 for a page and a step: the same in every process."""
    key = f"{url}\x00{step:.3f}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=6).digest(), "big") / (1 << 48)
