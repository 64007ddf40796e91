"""robots.txt, sitemaps and the feed of a world, as resources."""

import re
from collections.abc import Callable

from nacre_simweb.calendar import DAY
from nacre_simweb.ground import Ground
from nacre_simweb.hints import HintEntry, feed, sitemap, sitemap_index
from nacre_simweb.names import Names
from nacre_simweb.page import SimulatedPage
from nacre_simweb.reply import Resource
from nacre_simweb.site import Article

_PART = re.compile(r"/sitemap-(\d+)\.xml\Z")
_CLOSING_DAY = 30
XML = "application/xml"


class HintPages:
    """The pages on which a world gives hints to crawlers."""

    def __init__(self, world: Ground, names: Names) -> None:
        self._world = world
        self._names = names

    def find(self, host: int, origin: str, path: str, time: float) -> Resource | None:
        """Return the resource of a path; None: it is no page of hints."""
        hints = self._world.parameters.hints
        if path == "/robots.txt":
            page = SimulatedPage(self._robots(origin, time).encode())
            return Resource("robots", 200, -1, "", 0.0, "text/plain", lambda _: page)
        if hints.feed and path == "/feed.xml":
            return self._resource(
                host, time, lambda: feed(origin, self._newest(host, origin, time))
            )
        if hints.sitemap == "none":
            return None
        if path == "/sitemap.xml":
            return self._resource(host, time, lambda: self._index(host, origin, time))
        match = _PART.match(path)
        if match and int(match[1]) < self._world.parameters.shape.sections:
            number = int(match[1])
            return self._resource(
                host, time, lambda: sitemap(self._section(host, origin, number, time))
            )
        return None

    def _resource(self, host: int, time: float, make: Callable[[], SimulatedPage]) -> Resource:
        mark = str(int(time))
        return Resource("hint", 200, -1, mark, time, XML, lambda _: make(), stable=False)

    def _robots(self, origin: str, time: float) -> str:
        world = self._world.parameters
        lines = ["User-agent: *"]
        if world.crawl_delay:
            lines.append(f"Crawl-delay: {world.crawl_delay:g}")
        if world.failures.robots_changes and time >= _CLOSING_DAY * DAY:
            lines.append(f"Disallow: /{self._names.section(0)}/")
        lines.append("Disallow: /private/")
        if world.hints.sitemap != "none":
            lines.append(f"Sitemap: {origin}/sitemap.xml")
        return "\n".join(lines) + "\n"

    def _index(self, host: int, origin: str, time: float) -> SimulatedPage:
        """Return each section's sitemap, with its newest entry."""
        entries = []
        for number in range(self._world.parameters.shape.sections):
            section_entries = self._section(host, origin, number, time)
            newest = max((entry.changed for entry in section_entries), default=0.0)
            entries.append((f"{origin}/sitemap-{number}.xml", newest))
        return sitemap_index(entries)

    def _section(self, host: int, origin: str, number: int, time: float) -> list[HintEntry]:
        """Return the articles of a section that are there."""
        listing = self._world.listings[host][number]
        articles = self._world.site.sections[host][number]
        return [self._hint_entry(origin, articles[place], time) for place in listing.shown(time)]

    def _newest(self, host: int, origin: str, time: float) -> list[HintEntry]:
        """Return the last born articles."""
        listing = self._world.listings[host][-1]
        places = listing.shown(time)[-self._world.parameters.hints.feed :]
        articles = self._world.site.articles[host]
        return [self._hint_entry(origin, articles[place], time) for place in reversed(places)]

    def _hint_entry(self, origin: str, article: Article, time: float) -> HintEntry:
        life = self._world.lives.of(article)
        path = self._names.article(article, int(time >= life.moved))
        changed = self._world.hinter.lastmod(article, life, time)
        return HintEntry(origin + path, f"{article.serial}", changed)
