"""Chooses the waves of a step: what tells of others first, then pages by their worth (pure)."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.hints import Signal
from nacre.history.finding.hubs import overflows
from nacre.history.finding.paging import is_later
from nacre.history.recrawl.choice import THETA, TRUSTED, Choice, choices, lot
from nacre.history.recrawl.clock import Clocked
from nacre.history.recrawl.companions import KINDS, Companions
from nacre.history.recrawl.lists import LIST
from nacre.history.recrawl.ranking import DAY, Bid, Ranking, Terms, Wanted, choosing
from nacre.history.recrawl.sites import TRIED, ShownRow
from nacre.history.recrawl.step import Knowledge, Step
from nacre.history.recrawl.survey import Survey, of
from nacre.history.recrawl.tellers import Tellers
from nacre.history.recrawl.together import Together
from nacre.history.schedule.timetable import Timetable
from nacre.history.slices import ROWS, Slices
from nacre.history.verdict.deletion import Life
from nacre.history.worth.classes import Classes
from nacre.history.worth.rates import LISTS, PAGES, silence
from nacre.uri.parse import authority

_LIKELY_NEW = 0.1
"""From this chance of new links on, a list of a site that published much is read."""
_LIST_LOTS = 0.1
"""Share of the lists left out for a sitemap that are read all the same."""
_RIGHT = 0.5
"""A source that was right more often than not is believed to that degree."""
_LOTS = 0.03
"""Largest share of a tight budget for pages drawn by lot."""

_PAIRED = 0.03
"""Share of a tight budget that is kept for second fetches."""
_LEAST_PAIRS = 2

Wave = Callable[[int], Slices[list[Choice]]]
"""Chooses visits, at most as many as it is given."""


class Waves:
    """Chooses each wave of a step.

    Args:
        known: What the planner knows and wants.
        step: The current step.
        timetable: Pages under a schedule, which are visited when they are due; None for no such.

    Attributes:
        starts: Start pages.
        left: Waves of the step that did not begin.
        classes: Priors of the rates of change.
        companions: Chooses embeds, and files on a sign.
        expected: Changes expected at the beginning of the step, and of the pages chosen.
        least: Worth of the last visit that was chosen for its worth; 0 when none was.
        tight: There was no room for all that was worth a visit.
    """

    def __init__(self, known: Knowledge, step: Step, timetable: Timetable | None = None) -> None:
        self._rows, self._sites, self._judge, self._settings = known
        self._step = step
        self.companions = Companions(known, step)
        self._clocked = Clocked(timetable, -1.0)
        self._arrivals = Classes(lambda row: row.arrivals, LISTS)
        self._survey = Survey(-1.0)
        self._tellers = Tellers(known, step)
        self._together = Together(known, step)
        self._sampled: list[str] = []
        self._price = 0.0
        self.least = 0.0
        self.tight = self._shut = False
        self.starts: tuple[str, ...] = ()
        self.left: list[Wave] = []
        self.classes = Classes(lambda row: row.evidence, PAGES)
        self.expected = (0.0, 0.0)
        self._ranking = self._make_ranking()

    def begin(self) -> Slices[None]:
        """Begin a step: look at all rows once."""
        self._sites.begin_step()
        step, survey = self._step, Survey(self._step.time, self._sites.traps)
        clocked = self._clocked = self._clocked.at(step.time)
        self.classes.forget()
        self._arrivals.forget()
        self.companions.begin()
        self._together.begin()
        for number, row in enumerate(self._rows.scan()):
            if not number % ROWS:
                yield
            if not clocked.take(row):
                survey.take(row)
                self.companions.take(row)
                self._together.take(row)
            self.classes.note(row, self._quiet)
            self._arrivals.note(row)
        yield from self.classes.refit()
        yield from self._arrivals.refit()
        self._survey = survey
        self._tellers.begin(survey.tellers)
        step.new = {url: depth for url, depth in survey.unvisited.items() if url not in step.done}
        self._ranking = self._make_ranking()
        self.tight = self._shut = False
        tellers = self._tellers
        self.left = [
            *(tellers.indexes, self._starting, tellers.doubted, self._scheduled, self._telling),
            *(self._together.sentinels, self._trying, self._told),
            *(self._sampling, self._sampling_on, self._pairing),
            *(self._worthy, self._pairing, self._accompanying),
        ]

    @property
    def known(self) -> int:
        """Pages that had been visited when the step began."""
        return self._survey.size - len(self._survey.unvisited)

    def reopen(self) -> bool:
        """Let the wave of all others come once more, where there was no room for all of them."""
        if not self.tight:
            return False
        self.tight = False
        self.left.append(self._worthy)
        return True

    def shut_traps(self) -> None:
        """Give what traps took of the room to other pages: their share is used up."""
        self._shut = True
        if self.tight:
            self.tight = False
            self.left.insert(0, self._worthy)

    def _is_shut(self, row: PageRow) -> bool:
        return self._shut and self._sites.traps.is_endless(row.template)

    def _make_ranking(self) -> Ranking:
        settings = self._settings
        terms = Terms(
            THETA[settings.aim],
            settings.floor,
            versions=settings.aim != "fresh",
            price=self._price,
            every=self._step.every,
        )
        return Ranking(self.classes, self._arrivals, terms)

    def _starting(self, room: int) -> Slices[list[Choice]]:
        """Start pages, sitemaps and feeds: few, and they tell of all others."""
        yield
        rests = self._clocked.rests
        chosen = [
            Choice(url, 1.0, "start") for url in self.starts if not rests(self._rows.get(url))
        ]
        # Tellers first, so that it shows what lists tell beside them.
        return (self._tellers.chosen() + chosen)[:room]

    def _scheduled(self, room: int) -> Slices[list[Choice]]:
        """What is due by its schedule, in order of its time."""
        due = sorted(self._clocked.due)[:room]
        bids = yield from self._bids(self._known(url for _, url in due))
        chances = {bid.url: bid.chance for bid in bids}
        return [Choice(url, chances.get(url, 0.0), "due") for _, url in due]

    def _telling(self, room: int) -> Slices[list[Choice]]:
        """Index pages that may show something new, as far as they are worth it among all pages."""
        wanted = Wanted(self._settings.recall, self._settings.least)
        lists = dict.fromkeys(self._survey.lists)
        tight = room < self._survey.size
        if tight:
            bids = yield from self._bids(self._clocked.others(self._rows.scan()))
        else:
            bids = yield from self._bids(self._known(lists))
            wanted = wanted._replace(already=self._step.found + len(self._all_told))
        own = best = [bid for bid in bids if bid.url in lists]
        if room < len(bids):
            best = yield from choosing(bids, room, wanted)
            best = [bid for bid in best if bid.url in lists]
        chosen = yield from choosing(best, room, wanted)
        chosen = list(dict.fromkeys([*chosen, *self._flooded(own, tight=tight)]))
        return (choices(chosen) + self._list_lots(own, chosen))[:room]

    def _flooded(self, lists: Sequence[Bid], *, tight: bool) -> list[Bid]:
        """Lists of sites where a list without further pages did not show all that was published.

        Under a tight budget not those that hardly ever show anything new.
        """
        sites = self._step.flooded
        return [
            bid
            for bid in lists
            if authority(bid.url) in sites
            and not is_later(bid.url)
            and (bid.chance >= _LIKELY_NEW or not tight)
        ]

    def _list_lots(self, lists: Sequence[Bid], chosen: Sequence[Bid]) -> list[Choice]:
        """A few of the lists left out because a sitemap tells the same: whether it does."""
        now, taken = self._step.time, {bid.url for bid in chosen}
        return [
            Choice(bid.url, bid.chance, "index", _LIST_LOTS)
            for bid in lists
            if bid.url not in taken
            and self._sites.is_mapped(bid.url, now)
            and lot(bid.url, now) < _LIST_LOTS
        ]

    @property
    def _all_told(self) -> dict[str, None]:
        """Pages of which somebody told, in this step or before."""
        return {**self._survey.told, **self._step.told}

    def _trying(self, room: int) -> Slices[list[Choice]]:
        """A few of many pages of which a source told whose word was not tried yet."""
        yield from self._together.tell()
        bids = yield from self._bids(self._clocked.others(self._known(self._all_told)))
        untried: dict[tuple[str, tuple[str, ...]], list[Bid]] = {}
        for bid in bids:
            row = self._rows.get(bid.url)
            if row is not None and row.told and not self._sites.is_tried(row):
                untried.setdefault((authority(bid.url), row.told), []).append(bid)
        chosen: list[Bid] = []
        for group in untried.values():
            group.sort(key=lambda bid: lot(bid.url, self._step.time))
            chosen += group[:TRIED]
        return choices(chosen[:room])

    def _told(self, room: int) -> Slices[list[Choice]]:
        """Pages of which a trusted source told; how right it was counts for all others."""
        bids = yield from self._bids(self._clocked.others(self._known(self._all_told)))
        bids = [bid for bid in bids if bid.chance >= TRUSTED]
        bids.sort(key=lambda bid: (-bid.worth, bid.url))
        return choices(bids[:room])

    def _sampling(self, room: int) -> Slices[list[Choice]]:
        """A few pages of each class of which too little is known: what they show holds for all."""
        yield
        drawn = self._samples(room)
        self._sampled = [one.url for one in drawn]
        return drawn

    def _sampling_on(self, room: int) -> Slices[list[Choice]]:
        """More of the classes of which one proved changed."""
        yield
        rows = self._known(self._sampled)
        again = {of(row) for row in rows if row.last_change == self._step.time}
        return self._samples(room, again) if again else []

    def _samples(self, room: int, again: Container[str] = ()) -> list[Choice]:
        step = self._step
        drawn = self._survey.samples(step.done, step.compared, self._sites, again)
        return [one for one in drawn if self._is_sample(one.url)][: room // 10]

    def _pairing(self, room: int) -> Slices[list[Choice]]:
        """Pages that looked changed, once more: what differs within seconds is noise."""
        yield
        chosen: list[Choice] = []
        sites: Counter[str] = Counter()
        suspects = self._step.doubts.pages(max(_LEAST_PAIRS, round(_PAIRED * room)))
        for url in dict.fromkeys([*suspects, *self._step.looked_changed]):
            site = authority(url)
            if self._step.is_paired(url) or self._clocked.governs(url):
                continue
            if url in suspects or sites[site] < self._judge.pairs_wanted(url):
                sites[site] += 1
                chosen.append(Choice(url, 0.0, "pair"))
        chosen = chosen[:room]
        pairs = {one.url for one in chosen}
        self._step.pairs |= pairs
        self._step.done -= pairs
        return chosen

    def _kept_for_pairs(self, room: int) -> int:
        """Visits of a budget that are kept back while the noise of a site is not known."""
        sites = {authority(url): url for url in self.starts}.values()
        wanted = sum(self._judge.pairs_wanted(url) for url in sites)
        return min(wanted, round(_PAIRED * room))

    def _worthy(self, room: int) -> Slices[list[Choice]]:
        """All others, by what they are worth, and the lots."""
        yield from self._learn_again()
        bids: list[Bid] = []
        lots: list[Choice] = []
        share = min(self._settings.lots, _LOTS * room / max(1, self._survey.size))
        for number, row in enumerate(self._clocked.others(self._rows.scan())):
            if not number % ROWS:
                yield
            if row.url in self._step.done or not row.visits or self._is_shut(row):
                continue
            if row.kind is PageKind.EMBED or (row.kind is PageKind.FILE and not row.evidence):
                self._claim(row)
                continue
            bid = self._bid(self._withdrawn(row))
            if bid is not None and not self._rests(row, bid):
                bids.append(bid)
            if share and lot(row.url, self._step.time) < share:
                lots.append(Choice(row.url, bid.chance if bid else 0.0, "lot", share))
        reserve = 0
        if room < len(bids) + len(lots):
            reserve = self.companions.reserve(room) + self._kept_for_pairs(room)
        most = max(0, room - len(lots) - reserve)
        found = self._step.found
        wanted = Wanted(self._settings.recall, self._settings.least, found, TRUSTED)
        chosen = yield from choosing(bids, most, wanted)
        self.tight = len(chosen) == most < len(bids)
        self.least = min((bid.worth for bid in chosen if not bid.due), default=0.0)
        self._price = self.least if self.tight else 0.0
        self.expected = (
            found + sum(bid.chance for bid in bids),
            found + sum(bid.chance for bid in chosen),
        )
        taken = {bid.url for bid in chosen}
        return choices(chosen) + [one for one in lots if one.url not in taken]

    def _withdrawn(self, row: PageRow) -> PageRow:
        """The row, told of what the sitemap names no more."""
        known = row.life in {Life.GONE, Life.MOVED}
        if known or not self._sites.look_for_withdrawal(row, self._step.time):
            return row
        # Between two slices the page may have been visited.
        row = self._rows.get(row.url) or row
        self._sites.look_for_withdrawal(row, self._step.time)
        self._rows.put(row)
        return row

    def _accompanying(self, room: int) -> Slices[list[Choice]]:
        """Embeds, and files on a sign; again as long as they prove changed."""
        yield
        chosen = self.companions.batch(room)
        if not chosen and self.companions.take_news():
            yield from self._learn_again()
            yield from self._claim_again()
            chosen = self.companions.batch(room)
        if chosen:
            self.left.insert(0, self._accompanying)
        return chosen

    def _claim_again(self) -> Slices[None]:
        """What changed in this step speaks for all of its class."""
        for number, row in enumerate(self._clocked.others(self._rows.scan())):
            if not number % ROWS:
                yield
            if row.kind in KINDS and row.visits and row.url not in self._step.done:
                self._claim(row)

    def _claim(self, row: PageRow) -> None:
        if not self.companions.is_idle(row):
            self.companions.claim(row, self._bid(row))

    def _learn_again(self) -> Slices[None]:
        """Fit the priors once more, with what the step has shown so far."""
        for number, url in enumerate(tuple(self._step.touched)):
            if not number % ROWS:
                yield
            row = self._rows.get(url)
            if row is not None:
                self.classes.note(row, self._quiet)
        yield from self.classes.refit()

    def _known(self, urls: Iterable[str]) -> Iterator[PageRow]:
        return (row for url in urls if (row := self._rows.get(url)) is not None)

    def _bids(self, rows: Iterable[PageRow]) -> Slices[list[Bid]]:
        """Bids for those that were visited."""
        bids: list[Bid] = []
        for number, row in enumerate(rows):
            if not number % ROWS:
                yield
            bid = self._bid(row) if row.visits and not self._is_shut(row) else None
            if bid is not None:
                bids.append(bid)
        return bids

    def _is_sample(self, url: str) -> bool:
        """It speaks for others: no file that will not change, nor what its sitemap withdrew."""
        row = self._rows.get(url)
        if row is None or self._withdrawn(row).told:
            return False
        bid = self._bid(row) if row.kind is PageKind.FILE else None
        return row.kind is not PageKind.FILE or not (bid is None or self._is_idle_file(row, bid))

    def _rests(self, row: PageRow, bid: Bid) -> bool:
        """A file that hardly changes, or a list or page of which a sitemap tells all: they wait."""
        if row.index >= LIST and not bid.due:
            return self._sites.is_mapped(row.url, self._step.time)
        return self._is_idle_file(row, bid) or self._is_silent(row, bid)

    def _is_silent(self, row: PageRow, bid: Bid) -> bool:
        """A page of which a sitemap that is right says nothing, unless it is likely all the same.

        Where few pages changed, the wanted recall would have all others visited to be sure.
        """
        if bid.due or bid.chance >= self._settings.least_silent:
            return False
        return self._sites.is_silent(row, self._step.time)

    def _is_idle_file(self, row: PageRow, bid: Bid) -> bool:
        idle = bid.chance < self._settings.least_file and not bid.due
        return idle and row.kind is PageKind.FILE

    def _quiet(self, row: PageRow) -> bytes:
        """See `quiet`."""
        if not row.visits or row.told or not self._settings.hints:
            return b""
        return quiet(row, self._sites.signals(row), self._step.time)

    def _bid(self, row: PageRow) -> Bid | None:
        time = self._sites.time(row.url)
        signals = self._sites.signals(row) if self._settings.hints else ()
        shown = self._sites.list_row(row.url) if row.index >= LIST else None
        repeats = shown is not None and shown.repeats and is_later(row.url)
        mapped = row.index >= LIST and self._sites.is_mapped(row.url, self._step.time)
        if mapped:
            time = self._sites.beside_map(row.url)
        bid = self._ranking.bid(row, self._step.time, time, signals, repeats=repeats)
        if row.told and bid is not None and signals and row.index < LIST:
            return self._proved(bid, row)
        if shown is None or bid is None or repeats or mapped or not self._overflows(row, shown):
            return bid
        return bid._replace(due=True, reason="window")

    def _proved(self, bid: Bid, row: PageRow) -> Bid:
        """Of a page told of, counting how right who told it proved.

        Whatever its class makes of a long wait: false hints of a quarter would explain any.
        """
        right = self._sites.proved(row)
        if right < _RIGHT:
            return bid
        return bid._replace(worth=max(bid.worth, right * row.weight), chance=max(bid.chance, right))

    def _overflows(self, row: PageRow, shown: ShownRow) -> bool:
        """New links would slip through the list if it had to wait for the next step."""
        wait = (self._step.time - row.last_visit) / DAY + self._step.every
        return overflows(shown.window, self._ranking.arrivals_a_day(row), wait)


def quiet(row: PageRow, signals: Sequence[tuple[str, Signal]], now: float) -> bytes:
    """The evidence of silence: sources that would have told of a change have not.

    Args:
        row: A page that was visited, and of which nobody told since.
        signals: Sources that would have told of a change of it, with their trust.
        now: Seconds since the epoch.
    """
    shares = [signal.recall for _, signal in signals]
    days = int((now - row.last_visit) / DAY)
    return silence(days, round(max(shares), 1)) if shares and days > 0 else b""
