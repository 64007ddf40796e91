"""The phase of sentinels: a few pages of each section show whether it had an event (pure).

Wider sections come first: a page drawn for a section counts for the sections inside it too. Pages
in a trusted sitemap are no sentinels, as the sitemap reports their changes.
"""

import heapq
from collections.abc import Collection

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.deletion import Life
from nacre.planner.change_rate.events import sections_of
from nacre.planner.discovery.index_pages import INDEX
from nacre.planner.phases.phase import Pages, PhaseResult
from nacre.planner.phases.valuation import Valuation
from nacre.planner.ranking import choices
from nacre.planner.sites import Sites
from nacre.planner.slices import Slices
from nacre.planner.step import SENTINEL, Step, random_sample
from nacre.planner.tuning import guess
from nacre.uri.parse import authority

_SITE = guess("sentinels.site", 8, "Number of pages of a site that show whether it had an event.")
_SECTION = guess("sentinels.section", 3, "The same of a section of a site.")
_LARGE = guess(
    "sentinels.large", 16, "Number of pages of a section from which it has its own sentinels."
)
_SHARE = guess(
    "sentinels.share", 0.02, "Share of the pages of a site that are sentinels, at most.", most=1.0
)
_ROOM = guess("sentinels.room", 0.02, "Share of a tight budget that they may take.", most=1.0)
_SECTIONS = 20_000
"""A bound of memory: sections of all sites that have sentinels."""


class _Section:
    """The pages of a section with the smallest random numbers."""

    def __init__(self) -> None:
        self.count = 0
        self.drawn: list[tuple[float, str, bool]] = []

    def take(self, drawn: float, row: PageRow) -> None:
        self.count += 1
        item = -drawn, row.url, row.listed > 0.0
        if len(self.drawn) < 2 * _SITE:
            heapq.heappush(self.drawn, item)
        else:
            heapq.heappushpop(self.drawn, item)


class SectionDraws:
    """Pages of each section, drawn at random; collected row by row.

    Args:
        time: Of the step, seconds since the epoch.
    """

    def __init__(self, time: float) -> None:
        self._time = time
        self._sections: dict[tuple[str, str], _Section] = {}

    def take(self, row: PageRow) -> None:
        """Look at a row."""
        page = row.kind is PageKind.PAGE and row.index < INDEX
        if not page or not row.visits or row.life != Life.LIVE:
            return
        site, drawn = authority(row.url), random_sample(row.url, self._time)
        for name in sections_of(row):
            section = self._sections.get((site, name))
            if section is None:
                if len(self._sections) >= _SECTIONS:
                    continue
                section = self._sections[site, name] = _Section()
            section.take(drawn, row)

    def urls(self, sites: Sites, now: float, done: Collection[str]) -> list[str]:
        """Return the sentinels of all sites, those of the widest sections first."""
        candidates: dict[str, None] = {}
        remaining: dict[str, int] = {}
        for (site, name), section in sorted(self._sections.items(), key=_by_width):
            mapped = sites.is_mapped(section.drawn[0][1], now)
            pages = sorted(section.drawn, reverse=True)
            drawn = [url for _, url, listed in pages if not (listed and mapped)]
            most = remaining.setdefault(site, max(_SITE, round(_SHARE * section.count)))
            enough = _SECTION if name else _SITE
            if name and section.count < _LARGE:
                continue
            size = enough - sum(url in candidates for url in drawn)
            fresh = [url for url in drawn if url not in candidates and url not in done]
            selected = fresh[: max(0, min(size, most))]
            candidates.update(dict.fromkeys(selected))
            remaining[site] -= len(selected)
        return list(candidates)


def _by_width(item: tuple[tuple[str, str], _Section]) -> tuple[int, int, str, str]:
    (site, name), section = item
    return name.count("/"), -section.count, site, name


class Sentinels:
    """Chooses the sentinels.

    Args:
        draws: The drawn pages.
        pages: The rows.
        valuation: Forecasts the results of their visits.
        sites: Knows the sites with a trusted sitemap.
        step: The current step.
    """

    def __init__(
        self, draws: SectionDraws, pages: Pages, valuation: Valuation, sites: Sites, step: Step
    ) -> None:
        self._draws = draws
        self._pages = pages
        self._valuation = valuation
        self._sites = sites
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        step = self._step
        urls = self._draws.urls(self._sites, step.time, step.done)[: int(_ROOM * room)]
        values = yield from self._valuation.of_all(self._pages.planned(urls))
        chosen = [choice for choice in choices(values) if not self._valuation.repeats(choice.url)]
        return PhaseResult([choice._replace(reason=SENTINEL) for choice in chosen])
