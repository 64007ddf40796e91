"""Chooses the waves of a step: what tells of others first, then pages by their worth (pure).

Source: reference/incremental.md 2.4, 2.9.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.classes import Classes
from nacre.history.ranking import DAY, Bid, Ranking, Terms, Wanted, choose
from nacre.history.rates import LISTS, PAGES, silence
from nacre.history.recrawl_choice import THETA, TRUSTED, Choice, choices, lot
from nacre.history.recrawl_step import Knowledge, Step
from nacre.history.value import Signal
from nacre.uri.parse import authority

_SAMPLE = 200
"""Pages that are visited again, all classes together, before others are judged by them."""
_LEAST_SAMPLE = 4
_LOTS = 0.03
"""Of a tight budget, lots take no more than this."""

Wave = Callable[[int], list[Choice]]


class Waves:
    """Chooses each wave of a step.

    Args:
        known: What the planner knows and wants.
        step: The current step.

    Attributes:
        starts: Start pages.
        left: Waves of the step that did not begin.
        classes: Priors of the rates of change.
        expected: Changes expected at the beginning of the step, and of the pages chosen.
    """

    def __init__(self, known: Knowledge, step: Step) -> None:
        self._rows, self._sites, self._judge, self._settings = known
        self._step = step
        self._arrivals = Classes(lambda row: row.arrivals, LISTS)
        self._size = 0
        self._price = 0.0
        self.starts: tuple[str, ...] = ()
        self.left: list[Wave] = []
        self.classes = Classes(lambda row: row.evidence, PAGES)
        self.expected = (0.0, 0.0)
        self._ranking = self._make_ranking()

    def begin(self) -> None:
        """A step begins."""
        self._size = sum(1 for _ in self._rows.scan())
        self.classes.fit(self._rows.scan(), self._quiet)
        self._arrivals.fit(self._rows.scan())
        self._sites.begin_step()
        self._ranking = self._make_ranking()
        self.left = [
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
            every=self._step.every,
        )
        return Ranking(self.classes, self._arrivals, terms)

    def _starting(self, room: int) -> list[Choice]:
        """Start pages, sitemaps and feeds: few, and they tell of all others."""
        chosen = [Choice(url, 1.0, "start") for url in self.starts]
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
        flooded = [
            bid for bid in bids if bid.url in lists and authority(bid.url) in self._step.flooded
        ]
        if room < len(bids):
            bids = choose(bids, room, wanted)
        chosen = choose((bid for bid in bids if bid.url in lists), room, wanted)
        return choices(list(dict.fromkeys([*chosen, *flooded]))[:room])

    def _told(self, room: int) -> list[Choice]:
        """Pages of which a trusted source told; how right it was counts for all others."""
        bids = [
            bid
            for row in self._rows.scan()
            if row.told and row.visits and (bid := self._bid(row)) and bid.chance >= TRUSTED
        ]
        bids.sort(key=lambda bid: (-bid.worth, bid.url))
        return choices(bids[:room])

    def _sampling(self, room: int) -> list[Choice]:
        """A few pages of each class of which too little is known: what they show holds for all."""
        known: Counter[str] = Counter()
        unknown: dict[str, list[tuple[float, str]]] = {}
        for row in self._rows.scan():
            if row.evidence:
                known[row.template] += 1
            elif row.visits and row.kind is PageKind.PAGE and row.url not in self._step.done:
                drawn = lot(row.url, self._step.time)
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
        for url in self._step.looked_changed:
            site = authority(url)
            if sites[site] < self._judge.pairs_wanted(url):
                sites[site] += 1
                chosen.append(Choice(url, 0.0, "pair"))
        self._step.pairs = {one.url for one in chosen[:room]}
        self._step.done -= self._step.pairs
        return chosen[:room]

    def _worthy(self, room: int) -> list[Choice]:
        """All others, by what they are worth, and the lots."""
        self.classes.fit(self._rows.scan(), self._quiet)
        bids: list[Bid] = []
        lots: list[Choice] = []
        share = min(self._settings.lots, _LOTS * room / max(1, self._size))
        for row in self._rows.scan():
            if row.url in self._step.done or row.kind is PageKind.EMBED or not row.visits:
                continue
            if self._sites.look_for_withdrawal(row, self._step.time):
                self._rows.put(row)
            bid = self._bid(row)
            if bid is not None and not self._is_idle_file(row, bid):
                bids.append(bid)
            if share and lot(row.url, self._step.time) < share:
                lots.append(Choice(row.url, bid.chance if bid else 0.0, "lot", share))
        found = self._step.found
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
        return choices(chosen) + [one for one in lots if one.url not in taken]

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
        return self._ranking.bid(row, self._step.time, time, signals)


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
