"""The size of a run's archive against one copy of each real version: strict and `--keep lean`.

Lean leaves out proven noise and markup, except for a sample per month.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nacre.planner.visited import VisitFinding
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

    A version with the same text as a held version, such as a list after an entry came and went,
    counts as held too.

    `new_` counts only versions after the first step, without versions held since the first step.

    Args:
        world: The world.
        archive: What the strict layer keeps.
        findings: The verdict of each visit, by URL in their order.
        window: The steps.
    """
    layers = _layers(archive, findings)
    fetched = _versions(world, archive.rows)
    held_keys = {
        (capture.row.url, capture.row.version)
        for capture in layers.lean
        if capture.row.status == 200
    }
    lost = _lost(world, archive.rows, held_keys, set(fetched) - held_keys)
    measures: Measures = {"recall": share(len(fetched) - lost, len(fetched))}
    old = _versions(world, [row for row in archive.rows if row.time <= window.start])
    for prefix, since, excluded in (("", -1.0, {}), ("new_", window.start, old)):
        whole = sum(size for key, size in fetched.items() if key not in excluded)
        for name, captures in layers._asdict().items():
            measures[f"{prefix}{name}"] = share(_stored(world, captures, since), whole)
    return measures


def _layers(archive: KeptCaptures, findings: Findings) -> _Layers:
    by_row = _by_row(archive.rows, findings)
    sampled: dict[str, float] = {}
    layers = _Layers([capture for capture in archive.kept if capture.row.kind in _HOLDS], [], [])
    for capture in layers.strict:
        finding, row = by_row.get(id(capture.row)), capture.row
        idle = finding is not None and finding.proven and row.status == 200
        if idle and row.time - sampled.get(row.url, row.time) < _SAMPLE and row.url in sampled:
            continue
        layers.lean.append(capture)
        if not idle:
            layers.news.append(capture)
        if row.status == 200:
            sampled[row.url] = row.time
    return layers


def _by_row(rows: Iterable[Row], findings: Findings) -> dict[int, VisitFinding]:
    """Return the finding of each visit: those of a URL come in the order of its rows."""
    pending: dict[str, Iterator[VisitFinding]] = {
        url: iter(findings_of_url) for url, findings_of_url in findings.items()
    }
    by_row = {}
    for row in rows:
        finding = next(pending[row.url], None) if row.url in pending else None
        if finding is not None:
            by_row[id(row)] = finding
    return by_row


def _lost(world: World, rows: Iterable[Row], held_keys: set[_Key], missing: set[_Key]) -> int:
    """Return how many of the missing versions have a text that no held version has."""
    urls = {url for url, _ in missing}
    texts: dict[_Key, bytes] = {}
    for row in rows:
        key = row.url, row.version
        if row.url in urls and row.status == 200 and key not in texts:
            texts[key] = world.respond(row.url, row.time).text
    there = {(url, text) for (url, version), text in texts.items() if (url, version) in held_keys}
    return sum((key[0], texts[key]) not in there for key in missing)


def _versions(world: World, rows: Iterable[Row]) -> dict[tuple[str, int], float]:
    """Bytes of each real version that was fetched."""
    return {
        (row.url, row.version): true_size(world, row, row.length)
        for row in rows
        if row.status == 200 and row.kind in _HOLDS
    }


def _stored(world: World, captures: Iterable[KeptCapture], since: float) -> float:
    return sum(
        true_size(world, capture.row, capture.size)
        for capture in captures
        if capture.row.time > since
    )
