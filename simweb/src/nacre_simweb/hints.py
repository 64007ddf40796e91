"""The hints of a site about its changes: robots.txt, sitemaps, a feed; true, partial or false."""

from bisect import bisect_right
from typing import NamedTuple

from nacre_simweb.calendar import DAY
from nacre_simweb.draw import Draw
from nacre_simweb.life import NEVER, ArticleLife
from nacre_simweb.page import SimulatedLink, SimulatedPage
from nacre_simweb.parameters import SimulatedHints
from nacre_simweb.process import events
from nacre_simweb.site import Article, date_of

_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


class HintEntry(NamedTuple):
    """An entry of a sitemap or feed.

    Attributes:
        url: Absolute URL.
        title: Headline.
        changed: Last change that the site tells, seconds.
    """

    url: str
    title: str
    changed: float


class Hinter:
    """Tells when articles changed, as truly as its world does.

    Args:
        settings: How true.
        draw: Random numbers of the world.
        end: End of the world, seconds.
    """

    def __init__(self, settings: SimulatedHints, draw: Draw, end: float) -> None:
        self._settings = settings
        self._draw = draw.at("hints")
        self._end = end
        self._partial: dict[tuple[int, int, int], list[float]] = {}

    def lastmod(self, article: Article, life: ArticleLife, time: float) -> float:
        """Return the change that a sitemap or feed names at a time, seconds."""
        match self._settings.sitemap:
            case "now":
                return time
            case "partial":
                reported = self._reported_times(article, life)
                place = bisect_right(reported, time)
                return reported[place - 1] if place else article.born
            case _:
                return changed(life, time)

    def _reported_times(self, article: Article, life: ArticleLife) -> list[float]:
        """Return the reported times: some of the real ones, and some false ones."""
        times = self._partial.get(article.key)
        if times is None:
            draw = self._draw.at(*article.key)
            rate = self._settings.false_per_day / DAY
            false = events("poisson", draw.at("false"), rate, max(article.born, 0.0), self._end)
            true = [
                version.start
                for number, version in enumerate(life.versions)
                if not number or draw.uniform(number) < self._settings.recall
            ]
            times = self._partial[article.key] = sorted(true + false)
        return times


def changed(life: ArticleLife, time: float) -> float:
    """Time of the last real change of an article's page."""
    start = life.versions[life.version(time)].start
    if life.back < NEVER and life.back <= time:
        return max(start, life.back)
    return start


def sitemap_index(entries: list[tuple[str, float]]) -> SimulatedPage:
    """Return an index of sitemaps, with the times of their last changes."""
    links = tuple(SimulatedLink(url, "M", "", w3c(time)) for url, time in entries)
    items = "".join(
        f"<sitemap><loc>{link.url}</loc><lastmod>{link.lastmod}</lastmod></sitemap>\n"
        for link in links
    )
    text = f'{_HEAD}<sitemapindex xmlns="{_SITEMAP}">\n{items}</sitemapindex>\n'
    return SimulatedPage(text.encode(), links)


def sitemap(entries: list[HintEntry]) -> SimulatedPage:
    """Return a sitemap."""
    links = tuple(SimulatedLink(entry.url, "M", "", w3c(entry.changed)) for entry in entries)
    items = "".join(
        f"<url><loc>{link.url}</loc><lastmod>{link.lastmod}</lastmod></url>\n" for link in links
    )
    text = f'{_HEAD}<urlset xmlns="{_SITEMAP}">\n{items}</urlset>\n'
    return SimulatedPage(text.encode(), links)


def feed(origin: str, entries: list[HintEntry]) -> SimulatedPage:
    """Return an Atom feed."""
    links = tuple(SimulatedLink(entry.url, "L", "", w3c(entry.changed)) for entry in entries)
    items = "".join(
        f'<entry><id>{entry.url}</id><title>{entry.title}</title><link href="{entry.url}"/>'
        f"<updated>{w3c(entry.changed)}</updated></entry>\n"
        for entry in entries
    )
    newest = max((entry.changed for entry in entries), default=0.0)
    text = (
        f'{_HEAD}<feed xmlns="http://www.w3.org/2005/Atom"><id>{origin}/feed.xml</id>'
        f"<title>Feed</title><updated>{w3c(newest)}</updated>\n{items}</feed>\n"
    )
    return SimulatedPage(text.encode(), links)


def w3c(time: float) -> str:
    """Return a time as sitemaps and feeds write it."""
    return f"{date_of(time):%Y-%m-%dT%H:%M:%S}+00:00"
