"""The phases that keep estimates honest, and the phase of all other pages (pure).

A few pages of each class with too few observations are visited: their results hold for the whole
class. Pages that looked changed are fetched again: differences within seconds are noise. All other
pages are chosen by the value of a visit, with a random sample that measures the recall.
"""

import math
from collections import Counter
from collections.abc import Collection, Container, Sequence
from typing import NamedTuple

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.deletion import Life
from nacre.planner.change_rate.events import section_of
from nacre.planner.discovery.index_pages import INDEX
from nacre.planner.phases.embeds import EmbedSigns
from nacre.planner.phases.phase import Pages, PhaseResult, ScheduledPages, ValueOutcome
from nacre.planner.phases.valuation import Valuation
from nacre.planner.ranking import VisitValue, Wanted, choices, choosing
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.slices import ROWS, Slices
from nacre.planner.step import TRUSTED, Choice, Step, random_sample
from nacre.planner.tuning import guess
from nacre.planner.visited import Judge
from nacre.uri.parse import authority

_SAMPLE = guess(
    "samples.sample",
    200,
    "Number of pages of all classes that are revisited before the change rates of"
    " others are estimated from them.",
)
_LEAST_SAMPLE = guess(
    "samples.least_sample", 4, "Smallest number of revisited pages of each class."
)
_FILES = "files "
_FILE_SAMPLE = guess(
    "samples.file_sample",
    20,
    "Number of attached files of a site that are revisited before the change "
    "rates of others are estimated from them.",
)
_WATCHED = guess(
    "samples.watched",
    40,
    "Number of pages without hints that are visited on a site with a trusted "
    "sitemap before its silence is trusted.",
)
_AT_ONCE = guess(
    "samples.at_once",
    20,
    "Largest number of these pages in a step, unless one of them has changed.",
)
_FILES_AT_ONCE = guess(
    "samples.files_at_once",
    10,
    "Largest number of sampled attached files in a step, unless one of them has changed.",
)
_SHARE = guess(
    "samples.share",
    0.1,
    "Largest share of the pages of a site that is sampled: a small site would be "
    "sampled completely.",
    most=1.0,
)
_PAIRED = guess(
    "samples.paired", 0.03, "Share of a tight budget that is reserved for second fetches.", most=1.0
)
_LEAST_PAIRS = guess(
    "samples.least_pairs",
    2,
    "Smallest number of second fetches of changes that may be noise, however small that share is.",
)


class _Drawn(NamedTuple):
    number: float
    url: str


class SampleDraws:
    """Pages without evidence, drawn at random by class; collected row by row.

    A class is a template; the attached files of a site are one, and so are all pages of a site
    with a trusted sitemap.

    Args:
        time: Of the step, seconds since the epoch.
    """

    def __init__(self, time: float) -> None:
        self._time = time
        self._known: Counter[str] = Counter()
        self._unknown: dict[str, list[_Drawn]] = {}
        self._counts: Counter[str] = Counter()

    def take(self, row: PageRow) -> None:
        """Look at a row."""
        if not row.visits or row.life != Life.LIVE:
            return
        name = sample_class(row) if row.kind is PageKind.FILE else section_of(row)
        if row.evidence:
            self._known[name] += 1
        elif row.kind is PageKind.FILE or (row.kind is PageKind.PAGE and row.index < INDEX):
            self._draw(row, name)

    def _draw(self, row: PageRow, name: str) -> None:
        """Keep the pages with the smallest numbers in each class, as many as a step may want."""
        self._counts[name] += 1
        drawn = self._unknown.setdefault(name, [])
        drawn.append(_Drawn(random_sample(row.url, self._time), row.url))
        if len(drawn) >= 4 * _SAMPLE:
            drawn.sort()
            del drawn[2 * _SAMPLE :]

    def samples(
        self,
        done: Collection[str],
        compared: Counter[str],
        sites: Sites,
        again: Container[str] = (),
    ) -> list[Choice]:
        """Return a few pages of each class with too few observations.

        Args:
            done: Pages that were chosen in this step.
            compared: Pages that were visited again for the first time in this step, by section.
            sites: Knows the sites whose sitemap is trusted.
            again: Classes (`sample_class`) in which an earlier sampled page proved changed.
        """
        chosen: list[Choice] = []
        mapped: dict[str, list[_Drawn]] = {}
        counts: Counter[str] = Counter()
        least = max(_LEAST_SAMPLE, _SAMPLE // max(1, len(self._unknown)))
        for name, drawn in self._unknown.items():
            if name.startswith(_FILES):
                size, count = _FILE_SAMPLE - self._known[name], self._counts[name]
                size = size if name in again else min(size, _bounded(_FILES_AT_ONCE, count))
                files = _chosen(drawn, size, count, done)
                self._known[name] += len(files)
                chosen += files
            elif sites.is_mapped(drawn[0].url, self._time):
                site = authority(drawn[0].url)
                mapped.setdefault(site, []).extend(drawn)
                counts[site] += self._counts[name]
            else:
                size = least - self._known[name] - compared[name]
                chosen += _chosen(drawn, size, self._counts[name], done)
        for site, drawn in mapped.items():
            size, count = _WATCHED - sites.watched(drawn[0].url), counts[site]
            size = size if site in again else min(size, _bounded(_AT_ONCE, count))
            chosen += _chosen(drawn, size, count, done)
        return chosen


def sample_class(row: PageRow) -> str:
    """The class of a page that was drawn, where only a few are visited at a time."""
    site = authority(row.url)
    return f"{_FILES}{site}" if row.kind is PageKind.FILE else site


def _bounded(most: int, count: int) -> int:
    return max(_LEAST_SAMPLE, min(most, math.ceil(_SHARE * count)))


def _chosen(drawn: list[_Drawn], size: int, count: int, done: Collection[str]) -> list[Choice]:
    """Return a number of pages of a class of `count` pages, at random."""
    if size <= 0:
        return []
    share = min(1.0, size / count)
    remaining = [page.url for page in sorted(drawn) if page.url not in done]
    return [Choice(url, 0.0, "sample", share) for url in remaining[:size]]


class Samples:
    """Chooses a few pages of each class with too few observations.

    Args:
        draws: The drawn pages.
        pages: The rows.
        valuation: Values visits: files that will not have changed are not sampled.
        sites: Knows the sites whose sitemap is trusted.
        step: The current step.

    Attributes:
        sampled: The pages that it chose.
    """

    def __init__(
        self, draws: SampleDraws, pages: Pages, valuation: Valuation, sites: Sites, step: Step
    ) -> None:
        self._draws = draws
        self._pages = pages
        self._valuation = valuation
        self._sites = sites
        self._step = step
        self.sampled: list[str] = []

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        yield
        drawn = self.draw(room)
        self.sampled = [choice.url for choice in drawn]
        return PhaseResult(drawn)

    def draw(self, room: int, again: Container[str] = ()) -> list[Choice]:
        """Draw, for at most a tenth of the room; `again`: see `SampleDraws.samples`."""
        step = self._step
        drawn = self._draws.samples(step.done, step.compared, self._sites, again)
        return [forecast for choice in drawn if (forecast := self._forecast(choice)) is not None][
            : room // 10
        ]

    def _forecast(self, drawn: Choice) -> Choice | None:
        """Return the choice with its chance; None for a page that represents no others.

        Files that hardly change and withdrawn pages represent no others.
        """
        row = self._pages.get(drawn.url)
        if row is None or self._valuation.repeats(row.url) or self._valuation.withdrawn(row).told:
            return None
        value = self._valuation.of(row)
        if row.kind is PageKind.FILE and (
            value is None or self._valuation.is_idle_file(row, value)
        ):
            return None
        return drawn._replace(chance=value.chance if value else 0.0)


class MoreSamples:
    """Chooses more pages of the classes in which a sampled page proved changed.

    Args:
        samples: The earlier phase of samples.
        pages: The rows.
        step: The current step.
    """

    def __init__(self, samples: Samples, pages: Pages, step: Step) -> None:
        self._samples = samples
        self._pages = pages
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        yield
        rows = self._pages.rows_of(self._samples.sampled)
        again = {sample_class(row) for row in rows if row.last_change == self._step.time}
        return PhaseResult(self._samples.draw(room, again) if again else [])


class SecondFetches:
    """Chooses pages that looked changed, again: differences within seconds are noise.

    Args:
        starts: Start pages: their sites keep a part of a tight budget for it.
        size: Number of pages; a smaller budget is tight.
        scheduled: Pages under a schedule, which are not fetched twice.
        judge: Knows how many second fetches are still useful.
        step: The current step, with the pages that looked changed in it.
    """

    def __init__(
        self,
        starts: Sequence[str],
        size: int,
        scheduled: ScheduledPages,
        judge: Judge,
        step: Step,
    ) -> None:
        self._starts = starts
        self._size = size
        self._scheduled = scheduled
        self._judge = judge
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        yield
        chosen: list[Choice] = []
        sites: Counter[str] = Counter()
        step = self._step
        suspects = step.unconfirmed.pages(max(_LEAST_PAIRS, round(_PAIRED * room)))
        most = room if room >= self._size else max(len(suspects), self._drawn(room))
        for url in dict.fromkeys([*suspects, *step.looked_changed]):
            site = authority(url)
            if step.is_paired(url) or self._scheduled.governs(url):
                continue
            if url in suspects or sites[site] < self._judge.pairs_wanted(url):
                sites[site] += 1
                chosen.append(Choice(url, 0.0, "pair"))
        chosen = chosen[:most]
        return PhaseResult(chosen, again=frozenset(choice.url for choice in chosen))

    def _drawn(self, room: int) -> int:
        """Second fetches of a tight budget: of a small one there is a chance of one."""
        return int(_PAIRED * room + random_sample("", self._step.time))

    def reserve(self, room: int) -> int:
        """Visits of a tight budget that are reserved until the noise of a site is known."""
        sites = {authority(url): url for url in self._starts}.values()
        pairs = sum(self._judge.pairs_wanted(url) for url in sites)
        return min(pairs, round(_PAIRED * room))


_LOTS = guess(
    "samples.random_sample",
    0.03,
    "Largest share of a tight budget for the random sample.",
    most=1.0,
)


_PORTIONS = 4
"""Times that pages are valued in a step, as visits show events and new links: a bound of work."""
_PORTION = guess(
    "samples.portion",
    0.25,
    "Share of the room that is chosen before pages are valued again.",
    most=1.0,
)
_LEAST_PORTION = 20
"""Fewer visits show too little to value all pages again: a bound of work."""


class PagesByValue:
    """Chooses pages by the value of a visit, within the budget or up to the wanted recall.

    It chooses a portion at a time: events that its visits show count for the next portion.

    It also draws a random sample of all known pages, which alone measures the recall.

    Args:
        pages: The rows.
        valuation: Values visits.
        embeds: Collects the embeds and files that may be revisited.
        pairs: Reserves a part of a tight budget for second fetches.
        settings: The settings of the planner.
        step: The current step.
    """

    def __init__(
        self,
        pages: Pages,
        valuation: Valuation,
        embeds: EmbedSigns,
        pairs: SecondFetches,
        settings: RecrawlSettings,
        step: Step,
    ) -> None:
        self._pages = pages
        self._valuation = valuation
        self._embeds = embeds
        self._pairs = pairs
        self._settings = settings
        self._step = step
        self._portions = 0
        self._left: list[Choice] = []
        self._outcome = ValueOutcome()

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        if self._portions and not self._valuation.take_event_news():
            return self._portion(room)
        again = self._portions > 0
        yield from self._valuation.update_rates()
        share = min(self._settings.lots, _LOTS * room / max(1, self._pages.size))
        values, sample = yield from self._valued(0.0 if again else share)
        reserve = 0
        if room < len(values) + len(sample):
            reserve = self._embeds.reserve(room) + self._pairs.reserve(room)
        most = max(0, room - len(sample) - reserve)
        discoveries = self._step.found
        chosen = yield from choosing(values, most, self._limits())
        self._outcome = ValueOutcome(
            expected=(
                discoveries + sum(value.chance for value in values),
                discoveries + sum(value.chance for value in chosen),
            ),
            least=min((value.value for value in chosen if not value.due), default=0.0),
            tight=len(chosen) == most < len(values),
        )
        chosen_urls = {value.url for value in chosen}
        self._left = [choice for choice in sample if choice.url not in chosen_urls] + choices(
            chosen
        )
        self._portions = max(1, self._portions)
        return self._portion(room)

    def restart(self) -> None:
        """Value all pages again at the next choice, as there is more room than expected."""
        self._portions = 0

    def _portion(self, room: int) -> PhaseResult:
        """Return the next of the chosen pages; the remaining ones are chosen again after news."""
        self._portions += 1
        visited = self._step.done
        remaining = [choice for choice in self._left if choice.url not in visited][:room]
        last = self._portions > _PORTIONS
        size = len(remaining) if last else max(_LEAST_PORTION, math.ceil(_PORTION * len(remaining)))
        self._left = remaining[size:]
        repeat = bool(remaining) and not last
        return PhaseResult(remaining[:size], repeat=repeat, value=self._outcome)

    def counting(self) -> Slices[int]:
        """Return the number of pages that more room would allow now, in slices."""
        values: list[VisitValue] = []
        for number, row in enumerate(self._pages.scan()):
            if not number % ROWS:
                yield
            if self._is_out(row) or _comes_with_pages(row):
                continue
            value = self._valuation.of(row)
            if value is not None and not self._valuation.rests(row, value):
                values.append(value)
        return len((yield from choosing(values, len(values), self._limits())))

    def _limits(self) -> Wanted:
        return Wanted(self._settings.recall, self._settings.least, self._step.found, TRUSTED)

    def _is_out(self, row: PageRow) -> bool:
        """Whether a page was chosen already, never visited, repeats another, or is in a trap."""
        out = row.url in self._step.done or not row.visits
        return out or self._valuation.is_left_out(row)

    def _valued(self, share: float) -> Slices[tuple[list[VisitValue], list[Choice]]]:
        """Return the values of visits of pages that are not chosen yet, and the random sample."""
        values: list[VisitValue] = []
        sample: list[Choice] = []
        for number, row in enumerate(self._pages.scan()):
            if not number % ROWS:
                yield
            if self._is_out(row):
                continue
            if _comes_with_pages(row):
                self._embeds.consider(row, self._valuation)
                continue
            value = self._valuation.of(self._valuation.withdrawn(row))
            if value is not None and not self._valuation.rests(row, value):
                values.append(value)
            if share and random_sample(row.url, self._step.time) < share:
                sample.append(Choice(row.url, value.chance if value else 0.0, "lot", share))
        return values, sample


def _comes_with_pages(row: PageRow) -> bool:
    """Whether a page is an embed, or a file without any observation."""
    return row.kind is PageKind.EMBED or (row.kind is PageKind.FILE and not row.evidence)
