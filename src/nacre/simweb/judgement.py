"""What a crawler took for changed: false unchanged (FU) and false changed (FC), by noise."""

from collections import Counter
from typing import NamedTuple

from nacre.simweb.kept import Archive
from nacre.simweb.parameters import NoiseKind
from nacre.simweb.recall import Measures, share
from nacre.simweb.servelog import Row
from nacre.simweb.world import World


class _Stored(NamedTuple):
    """What is stored of a page."""

    version: int
    digest: str


def judgements(world: World, archive: Archive) -> Measures:
    """FU and FC of articles, from what was stored at each visit.

    A visit finds a *real change* when the version differs from that stored last, and *noise only*
    when the version is the same and the bytes differ.
    """
    kept = {id(capture.row): capture for capture in archive.kept}
    stored: dict[str, _Stored] = {}
    real = missed = noise = wrong = 0
    seen: Counter[NoiseKind] = Counter()
    taken: Counter[NoiseKind] = Counter()
    for row in archive.rows:
        if row.kind != "article" or row.status not in {200, 304}:
            continue
        last, capture = stored.get(row.url), kept.get(id(row))
        holds = capture is not None and row.status == 200
        if last is not None and last.version != row.version:
            real += 1
            missed += not holds
        elif last is not None and last.digest != row.digest and row.status == 200:
            full = capture is not None and capture.full
            kinds = _noise_of(world, row)
            noise, wrong = noise + 1, wrong + full
            seen.update(kinds)
            taken.update(kinds if full else ())
        if holds:
            stored[row.url] = _Stored(row.version, row.digest)
    result: Measures = {
        "real_changes": float(real),
        "false_unchanged": share(missed, real),
        "noise_only": float(noise),
        "false_changed": share(wrong, noise),
    }
    for kind in sorted(seen):
        result[f"false_changed_{kind}"] = share(taken[kind], seen[kind])
    return result


def _noise_of(world: World, row: Row) -> tuple[NoiseKind, ...]:
    path = row.url.partition("//")[2].partition("/")
    host = world.site.host_number(path[0])
    target = world.resources.names.read(f"/{path[2]}")
    article = world.site.article(host, target.serial)
    return world.resources.noises.of_article(article) if article else ()
