"""The truth about a world in a window of time: what there was to be found, for the scorer."""

from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from nacre_simweb.life import NEVER, ArticleLife
from nacre_simweb.site import Article
from nacre_simweb.world import World

GONE = -1
"""The state of a URL that is not there."""


class TrueVersion(NamedTuple):
    """One real version of a URL.

    Attributes:
        number: Its number.
        change: What made it: `new`, `moved`, `back`, or the kind of edit.
        start: When it began, seconds.
        end: When it ended, by an edit or because the URL went away; `NEVER` for never.
    """

    number: int
    change: str
    start: float
    end: float


class Track(NamedTuple):
    """A URL through time.

    Attributes:
        url: The URL.
        kind: `article`, `list`, `embed` or `file`.
        spans: Its versions, in order; gaps are times at which it was not there.
        page: URL of the page that embeds or lists it; "" if that means nothing.
    """

    url: str
    kind: str
    spans: tuple[TrueVersion, ...]
    page: str = ""

    def at(self, time: float) -> int:
        """Number of its version at a time; `GONE` while it is not there."""
        place = bisect_right(self.spans, time, key=lambda span: span.start) - 1
        return self.spans[place].number if place >= 0 and time < self.spans[place].end else GONE

    @property
    def born(self) -> float:
        """The time when it was first there."""
        return self.spans[0].start

    def deaths(self, start: float, end: float) -> list[float]:
        """Times in a window at which it went away for good."""
        last = self.spans[-1].end
        return [last] if start <= last < end else []

    def rests(self, end: float) -> bool:
        """Return whether it is there at the end."""
        return self.at(end) != GONE


class Truth:
    """All that happens in a world.

    Args:
        world: The world.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    @cached_property
    def tracks(self) -> dict[str, Track]:
        """Every URL that is there at some time, by URL."""
        by_url: dict[str, Track] = {}
        for host in range(len(self._world.site.hosts)):
            for track in (*self._articles(host), *self._lists(host)):
                by_url[track.url] = track
        return by_url

    def _articles(self, host: int) -> list[Track]:
        world, names = self._world, self._world.resources.names
        origin = f"http://{world.site.hosts[host]}"
        tracks: list[Track] = []
        for article in world.site.articles[host]:
            life = world.lives.of(article)
            first = origin + names.article(article)
            tracks.append(Track(first, "article", _spans(life, article.born, life.moved)))
            if life.moved < world.end:
                second = origin + names.article(article, 1)
                spans = _spans(life, life.moved, NEVER, "moved")
                tracks.append(Track(second, "article", spans, first))
            tracks += self._files(origin, article, life, first)
        return [track for track in tracks if track.spans]

    def _files(self, origin: str, article: Article, life: ArticleLife, page: str) -> list[Track]:
        world, names = self._world, self._world.resources.names
        tracks = []
        for number in range(world.parameters.shape.own_embeds):
            url = origin + names.image(article, number)
            changes = life.images if number == 0 else ()
            tracks.append(Track(url, "embed", _replaced(article.born, changes, "image"), page))
        if world.resources.renderer.has_file(article):
            spans = _replaced(article.born, life.documents, "document")
            tracks.append(Track(origin + names.file(article), "file", spans, page))
        return tracks

    def _lists(self, host: int) -> list[Track]:
        world, names = self._world, self._world.resources.names
        origin = f"http://{world.site.hosts[host]}"
        tracks = []
        *sections, home = world.listings[host]
        for section, listing in enumerate(sections):
            for part in range(listing.count(world.end)):
                changes = tuple(listing.changes[part])
                url = origin + names.list_page(section, part)
                tracks.append(Track(url, "list", _replaced(-1.0, changes, "list")))
        changes = tuple(home.changes[0])
        tracks.append(Track(f"{origin}/", "list", _replaced(-1.0, changes, "list")))
        for number in range(world.parameters.shape.shared_embeds):
            times = world.templates[host] if number == 0 else ()
            url = origin + names.shared(number)
            tracks.append(Track(url, "embed", _replaced(-1.0, times, "template"), f"{origin}/"))
        return tracks


def _spans(
    life: ArticleLife, start: float, end: float, first: str = "new"
) -> tuple[TrueVersion, ...]:
    """Versions of an article under one URL, from `start` to `end`, without its time away."""
    versions: list[TrueVersion] = []
    for number, version in enumerate(life.versions):
        after = life.versions[number + 1].start if number + 1 < len(life.versions) else NEVER
        begun, ended = max(version.start, start), min(after, end)
        change = version.change if version.start > start else first
        if begun >= ended:
            continue
        if life.died <= begun and ended <= life.back:
            continue
        if begun >= life.back:
            versions.append(TrueVersion(number, change, begun, ended))
        elif life.died <= begun:
            versions.append(TrueVersion(number, "back", life.back, ended))
        elif life.died < ended:
            versions.append(TrueVersion(number, change, begun, life.died))
            if life.back < ended:
                versions.append(TrueVersion(number, "back", life.back, ended))
        else:
            versions.append(TrueVersion(number, change, begun, ended))
    return tuple(versions)


def _replaced(born: float, changes: tuple[float, ...], change: str) -> tuple[TrueVersion, ...]:
    """Versions of what never goes away."""
    times = [born, *changes]
    kinds = ["new"] + [change] * len(changes)
    ends = [*changes, NEVER]
    return tuple(
        TrueVersion(number, kind, start, end)
        for number, (kind, start, end) in enumerate(zip(kinds, times, ends, strict=True))
    )
