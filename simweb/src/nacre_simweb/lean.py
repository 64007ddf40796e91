"""The size of a run's archive against one copy of each real version: strict and `--keep lean`.

Lean leaves out what is proven to be noise or markup, but for a sample a month.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nacre.recrawl.planner.visited import VisitFinding
from nacre_simweb.calendar import DAY
from nacre_simweb.cost import true_size
from nacre_simweb.kept import KeptCapture, KeptCaptures
from nacre_simweb.recall import CountedWindow, Measures, share
from nacre_simweb.servelog import Row
from nacre_simweb.world import World

_SAMPLE = 30 * DAY
_HOLDS = frozenset(("article", "list", "home", "embed", "file"))

_Key = tuple[str, int]
"""URL and number of a version."""

Findings = Mapping[str, Sequence[VisitFinding]]


class _Layers(NamedTuple):
    """Captures: all, those that lean keeps, and of these those that are not samples."""

    strict: list[KeptCapture]
    lean: list[KeptCapture]
    news: list[KeptCapture]


def lean(
    world: World, archive: KeptCaptures, findings: Findings, window: CountedWindow
) -> Measures:
    """Recall of versions of the lean layer, and bytes over those of one copy of each version.

    A version that shows what one shows that is held, such as a list after an entry came and went,
    is held with it.

    `new_` counts what came after the first step alone, versions held before it left out.

    Args:
        world: The world.
        archive: What the strict layer keeps.
        findings: What was held of each visit, by URL in their order.
        window: The steps.
    """
    layers = _layers(archive, findings)
    fetched = _versions(world, archive.rows)
    held = {(each.row.url, each.row.version) for each in layers.lean if each.row.status == 200}
    lost = _lost(world, archive.rows, held, set(fetched) - held)
    found: Measures = {"recall": share(len(fetched) - lost, len(fetched))}
    old = _versions(world, [row for row in archive.rows if row.time <= window.start])
    for prefix, since, known in (("", -1.0, {}), ("new_", window.start, old)):
        whole = sum(size for key, size in fetched.items() if key not in known)
        for name, kept in layers._asdict().items():
            found[f"{prefix}{name}"] = share(_stored(world, kept, since), whole)
    return found


def _layers(archive: KeptCaptures, findings: Findings) -> _Layers:
    held = _by_row(archive.rows, findings)
    sampled: dict[str, float] = {}
    layers = _Layers([each for each in archive.kept if each.row.kind in _HOLDS], [], [])
    for each in layers.strict:
        finding, row = held.get(id(each.row)), each.row
        idle = finding is not None and finding.proven and row.status == 200
        if idle and row.time - sampled.get(row.url, row.time) < _SAMPLE and row.url in sampled:
            continue
        layers.lean.append(each)
        if not idle:
            layers.news.append(each)
        if row.status == 200:
            sampled[row.url] = row.time
    return layers


def _by_row(rows: Iterable[Row], findings: Findings) -> dict[int, VisitFinding]:
    """The finding of each visit: those of a URL come in the order of its rows."""
    left: dict[str, Iterator[VisitFinding]] = {url: iter(held) for url, held in findings.items()}
    found = {}
    for row in rows:
        finding = next(left[row.url], None) if row.url in left else None
        if finding is not None:
            found[id(row)] = finding
    return found


def _lost(world: World, rows: Iterable[Row], held: set[_Key], missing: set[_Key]) -> int:
    """How many of the missing versions show something that no version that is held shows."""
    urls = {url for url, _ in missing}
    shown: dict[_Key, bytes] = {}
    for row in rows:
        key = row.url, row.version
        if row.url in urls and row.status == 200 and key not in shown:
            shown[key] = world.respond(row.url, row.time).text
    there = {(url, text) for (url, version), text in shown.items() if (url, version) in held}
    return sum((key[0], shown[key]) not in there for key in missing)


def _versions(world: World, rows: Iterable[Row]) -> dict[tuple[str, int], float]:
    """Bytes of each real version that was fetched."""
    return {
        (row.url, row.version): true_size(world, row, row.length)
        for row in rows
        if row.status == 200 and row.kind in _HOLDS
    }


def _stored(world: World, kept: Iterable[KeptCapture], since: float) -> float:
    return sum(true_size(world, each.row, each.size) for each in kept if each.row.time > since)
