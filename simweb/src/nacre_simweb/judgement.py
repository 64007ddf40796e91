"""The judgement of changes: false unchanged (FU) and false changed (FC), by noise."""

from collections import Counter
from typing import NamedTuple

from nacre_simweb.kept import KeptCaptures
from nacre_simweb.parameters import PageNoise
from nacre_simweb.recall import Measures, share
from nacre_simweb.servelog import Row
from nacre_simweb.site import Article
from nacre_simweb.world import World


class _Stored(NamedTuple):
    """What is stored of a page."""

    version: int
    digest: str


class _Counts:
    """Visits that found a change, and those that found noise alone; right and wrong."""

    def __init__(self) -> None:
        self.real = self.missed = self.noise = self.wrong = 0
        self.hidden: set[tuple[str, int]] = set()
        self.seen: Counter[PageNoise] = Counter()
        self.taken: Counter[PageNoise] = Counter()

    def changed(self, row: Row, *, holds: bool) -> None:
        self.real += 1
        self.missed += not holds
        if row.status == 304:
            self.hidden.add((row.url, row.version))

    def noisy(self, kinds: tuple[PageNoise, ...], *, full: bool) -> None:
        self.noise += 1
        self.wrong += full
        self.seen.update(kinds)
        self.taken.update(kinds if full else ())


def judgements(world: World, archive: KeptCaptures) -> Measures:
    """FU and FC of articles, from the stored captures of each visit.

    A visit finds a *real change* when the content differs from the version stored last, and *noise
    only* when only the bytes differ. `hidden_by_304`: share of all versions since the first step
    that a visit met behind a false 304.
    """
    captures = {id(capture.row): capture for capture in archive.kept}
    stored: dict[str, _Stored] = {}
    counts = _Counts()
    for row in archive.rows:
        if row.kind != "article" or row.status not in {200, 304}:
            continue
        last, capture = stored.get(row.url), captures.get(id(row))
        holds = capture is not None and row.status == 200
        if last is not None and differs(world, row, last.version):
            counts.changed(row, holds=holds)
        elif last is not None and last.digest != row.digest and row.status == 200:
            counts.noisy(noise_of(world, row), full=capture is not None and capture.full)
        if holds:
            stored[row.url] = _Stored(row.version, row.digest)
    result: Measures = {
        "real_changes": float(counts.real),
        "false_unchanged": share(counts.missed, counts.real),
        "hidden_by_304": share(len(counts.hidden), _versions(world, archive)),
        "noise_only": float(counts.noise),
        "false_changed": share(counts.wrong, counts.noise),
    }
    for kind in sorted(counts.seen):
        result[f"false_changed_{kind}"] = share(counts.taken[kind], counts.seen[kind])
    return result


def _versions(world: World, archive: KeptCaptures) -> int:
    """Real versions of articles that began between the first reply and the last."""
    first, last = archive.rows[0].time, archive.rows[-1].time
    return sum(
        first < version.start <= last
        for articles in world.site.articles
        for article in articles
        for version in world.lives.of(article).versions
    )


def differs(world: World, row: Row, version: int) -> bool:
    """An article says something else than in another version; an edit may have been taken back."""
    if row.version == version:
        return False
    article = _article(world, row)
    content_of = world.resources.said
    return article is None or content_of(article, row.version) != content_of(article, version)


def noise_of(world: World, row: Row) -> tuple[PageNoise, ...]:
    """Kinds of noise of the article that a reply is of."""
    article = _article(world, row)
    return world.resources.noises.of_article(article) if article else ()


def _article(world: World, row: Row) -> Article | None:
    path = row.url.partition("//")[2].partition("/")
    host = world.site.host_number(path[0])
    target = world.resources.names.read(f"/{path[2]}")
    return world.site.article(host, target.serial)
