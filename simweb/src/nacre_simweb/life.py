"""The life of an article: its versions, its end, its moves. All of it follows from the seed."""

import math
from bisect import bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple

from nacre_simweb.calendar import DAY, operational, real
from nacre_simweb.draw import Draw
from nacre_simweb.parameters import WorldParameters
from nacre_simweb.process import Kind, early_edits, events
from nacre_simweb.site import Article

NEVER = math.inf
Change = Literal["new", "major", "minor", "date", "table", "revert", "document", "image"]
End = Literal["missing", "gone", "soft", "home"]
_YEAR = 365 * DAY


class Version(NamedTuple):
    """One version of what an article says.

    Attributes:
        start: When it began, seconds.
        change: What made it differ from the one before.
    """

    start: float
    change: Change


class ArticleLife(NamedTuple):
    """The events in the life of an article.

    Attributes:
        versions: Versions of its text, the first at its birth.
        images: Times at which its first image is replaced.
        documents: Times at which its attachment is replaced.
        died: When it goes away; `NEVER` for never.
        back: When it comes back; `NEVER` for never.
        end: How its URL answers while it is away.
        moved: When it gets its second URL; `NEVER` for never.
        redirects: Its first URL then redirects.
        rate: Edits a second on the long run: what a rate oracle knows.
    """

    versions: tuple[Version, ...]
    images: tuple[float, ...]
    documents: tuple[float, ...]
    died: float
    back: float
    end: End
    moved: float
    redirects: bool
    rate: float

    def version(self, time: float) -> int:
        """Number of the version at a time; -1 before the birth."""
        return bisect_right(self.versions, time, key=lambda version: version.start) - 1

    def lives(self, time: float) -> bool:
        """Return whether it is there, under either URL."""
        return self.versions[0].start <= time and not self.died <= time < self.back


class Lives:
    """Makes the lives of a world's articles; keeps those that were asked for."""

    def __init__(self, parameters: WorldParameters, draw: Draw) -> None:
        self._parameters = parameters
        self._draw = draw.at("life")
        self._end = parameters.days * DAY
        self._known: dict[tuple[int, int, int], ArticleLife] = {}
        self._releases = [
            (number, day * DAY) for number, day in enumerate(parameters.births.releases)
        ]

    def of(self, article: Article) -> ArticleLife:
        """Return the life of an article."""
        life = self._known.get(article.key)
        if life is None:
            life = self._known[article.key] = self._make(article)
        return life

    def rate(self, article: Article, time: float) -> float:
        """Edits a second to be expected at a time, the corrections of fresh pages included."""
        edits = self._parameters.edits
        age = max(time - article.born, 0.0)
        early = edits.early_per_day / DAY * math.exp(-age / (edits.early_days * DAY))
        return self.of(article).rate + early

    def _make(self, article: Article) -> ArticleLife:
        draw = self._draw.at(*article.key)
        rate = self._rate(draw.at("rate")) / DAY
        kind = draw.at("process").weighted(self._parameters.edits.processes)
        born = article.born
        changes = [
            Version(time, self._change(draw.at("change", number)))
            for number, time in enumerate(self._edits(draw, kind, rate, born))
        ]
        texts = [
            version_change
            for version_change in changes
            if version_change.change not in {"image", "document"}
        ]
        died, back, end = self._death(draw.at("death"), born)
        moved, redirects = self._move(draw.at("move"), born)
        return ArticleLife(
            versions=(Version(born, "new"), *texts),
            images=tuple(
                version_change.start
                for version_change in changes
                if version_change.change == "image"
            ),
            documents=tuple(
                version_change.start
                for version_change in changes
                if version_change.change == "document"
            ),
            died=died,
            back=back,
            end=end,
            moved=moved if moved < died else NEVER,
            redirects=redirects,
            rate=rate,
        )

    def _rate(self, draw: Draw) -> float:
        """Edits a day on the long run."""
        edits = self._parameters.edits
        kind = draw.uniform()
        if kind < edits.hot:
            return edits.hot_per_day * math.exp(0.5 * draw.normal(1))
        if kind < edits.hot + edits.untouched:
            return 0.0
        return math.exp(edits.sigma * draw.normal(1)) / edits.every

    def _edits(self, draw: Draw, kind: Kind, rate: float, born: float) -> list[float]:
        """Times of all edits from time 0 or birth on."""
        edits = self._parameters.edits
        start = max(born, 0.0)
        flat = kind in {"periodic", "calendar"}
        rhythm = "flat" if flat else edits.rhythm
        begun, ended = operational(rhythm, start), operational(rhythm, self._end)
        late = (real(rhythm, time) for time in events(kind, draw.at("edits"), rate, begun, ended))
        early = early_edits(
            draw.at("early"), edits.early_per_day, edits.early_days, born, self._end
        )
        times = [*late, *(time for time in early if time >= 0), *self._released(draw, born)]
        return sorted(set(times))

    def _released(self, draw: Draw, born: float) -> Iterator[float]:
        for number, time in self._releases:
            if born < time and draw.uniform(number) < 0.5:
                yield time

    def _change(self, draw: Draw) -> Change:
        edits = self._parameters.edits
        shares: tuple[tuple[Change, float], ...] = (
            ("minor", edits.minor),
            ("date", edits.dates),
            ("document", edits.documents),
            ("image", edits.images),
            ("table", edits.tables),
            ("revert", edits.reverts),
        )
        major_share = max(1 - math.fsum(share for _, share in shares), 0.0)
        return draw.weighted((*shares, ("major", major_share)))

    def _death(self, draw: Draw, born: float) -> tuple[float, float, End]:
        deaths = self._parameters.deaths
        kinds: tuple[tuple[End, float], ...] = (
            ("missing", deaths.missing),
            ("gone", deaths.gone),
            ("soft", deaths.soft),
            ("home", deaths.home),
        )
        if not deaths.per_year:
            return NEVER, NEVER, "missing"
        died = max(born, 0.0) + draw.exponential() / deaths.per_year * _YEAR
        returns = draw.uniform(1) < deaths.back
        back = died + (7 + 30 * draw.uniform(2)) * DAY if returns else NEVER
        return died, back, draw.at("how").weighted(kinds)

    def _move(self, draw: Draw, born: float) -> tuple[float, bool]:
        """When it moves, and whether the old URL says so."""
        moves = self._parameters.moves
        rate = moves.redirected_per_year + moves.silent_per_year
        moved, redirects = NEVER, True
        if rate:
            moved = max(born, 0.0) + draw.exponential() / rate * _YEAR
            redirects = draw.uniform(1) < moves.redirected_per_year / rate
        redesign = moves.redesign * DAY
        if redesign and born < redesign < moved:
            return redesign, draw.uniform(2) < 0.8
        return moved, redirects
