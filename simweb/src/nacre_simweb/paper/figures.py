"""The figures of each crawl: from the WARCs and the server's log alone."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre_simweb.cost import costs, true_size
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.recall import CountedWindow, share
from nacre_simweb.score import Score, score
from nacre_simweb.truth import GONE, Track
from nacre_simweb.world import World

_HTML = frozenset({"article", "list", "home"})
_HELD = frozenset({200, 304})


class CrawlFigures(NamedTuple):
    """The figures of one crawl.

    Attributes:
        name: Its name.
        stored: Bytes of payload stored in full, sizes of embeds and files multiplied back.
        received: Bytes of payload received, likewise.
        hours: Requests times politeness delay.
        html: HTML pages that answered.
        requests: Requests but for embeds; robots.txt left out.
        embeds: Requests of embeds.
        scores: Every measure; None for a crawl that nothing is to be found by.
    """

    name: str
    stored: float
    received: float
    hours: float
    html: float
    requests: float
    embeds: float
    scores: Score | None = None

    def recall(self, group: str, name: str = "recall") -> float | None:
        """Return a measure of the score; None: there is none."""
        return None if self.scores is None else self.scores[group].get(name)


class Necessary(NamedTuple):
    """The least crawl that finds all: lists, and new, changed and removed URLs.

    Attributes:
        html: Existing HTML pages.
        requests: Requests without embeds; removed URLs must be requested too.
        embeds: New or changed embeds.
        stored: Bytes of new and changed resources, by full 2.
    """

    html: float
    requests: float
    embeds: float
    stored: float


def figures(
    name: str, world: World, archive: KeptCaptures, window: CountedWindow, *, scored: bool = True
) -> CrawlFigures:
    """Return the figures of what an archive got after the first step of a window."""
    cost = costs(world, archive, window)
    return CrawlFigures(
        name,
        cost["bytes_stored"] or 0.0,
        cost["bytes_received"] or 0.0,
        cost["politeness_hours"] or 0.0,
        float(
            sum(
                row.kind in _HTML and row.status in _HELD and row.time > window.start
                for row in archive.rows
            )
        ),
        cost["requests"] or 0.0,
        cost["requests_embeds"] or 0.0,
        score(world, archive, window) if scored else None,
    )


def necessary(
    world: World, tracks: Sequence[Track], truth: KeptCaptures, after: float
) -> Necessary:
    """Return the requests and bytes that were necessary.

    Args:
        world: The world.
        tracks: Its truth.
        truth: What full 2 saw.
        after: Its time, seconds.
    """
    sizes = _sizes(world, truth, after)
    differing = [track for track in tracks if track.at(0.0) != track.at(after)]
    lists = {track.url for track in tracks if track.kind == "list"}
    tracks_needed = [track for track in differing if track.kind in {"article", "file"}]
    read = sum(url in sizes for url in lists)
    there = [track for track in differing if track.at(after) != GONE]
    return Necessary(
        html=float(read + sum(track.kind == "article" for track in there)),
        requests=float(read + len(tracks_needed)),
        embeds=float(sum(track.kind == "embed" for track in there)),
        stored=sum(sizes.get(track.url, 0.0) for track in there),
    )


def _sizes(world: World, truth: KeptCaptures, after: float) -> Mapping[str, float]:
    """Of everything that was there."""
    return {
        row.url: true_size(world, row, row.length)
        for row in truth.rows
        if row.time == after and row.status == 200
    }


class Saving(NamedTuple):
    """The saving of a crawl against another; None of nothing."""

    time: float | None
    storage: float | None
    html: float | None
    requests: float | None
    embeds: float | None


def saving(crawl: CrawlFigures, base: CrawlFigures) -> Saving:
    """Return the saving of one crawl against another."""
    pairs = (
        (crawl.hours, base.hours), (crawl.stored, base.stored), (crawl.html, base.html),
        (crawl.requests, base.requests), (crawl.embeds, base.embeds),
    )  # fmt: skip
    return Saving(*(_less(spent, whole) for spent, whole in pairs))


def _less(spent: float, whole: float) -> float | None:
    part = share(spent, whole)
    return None if part is None else round(1.0 - part, 6)


def relative(crawl: CrawlFigures, full: CrawlFigures, least: Necessary) -> dict[str, float | None]:
    """S_rel, the share saved of what can be: of pages, of embeds, and of both, which is time."""
    pages = full.requests - crawl.requests, full.requests - least.requests
    embeds = full.embeds - crawl.embeds, full.embeds - least.embeds
    return {
        "requests": share(*pages),
        "embeds": share(*embeds),
        "time": share(pages[0] + embeds[0], pages[1] + embeds[1]),
    }
