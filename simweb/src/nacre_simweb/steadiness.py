"""The freshness of an archive through time, and the coherence of its parts."""

from collections.abc import Sequence
from typing import NamedTuple

from nacre_simweb.calendar import DAY
from nacre_simweb.draw import Draw
from nacre_simweb.holdings import Held, Holdings
from nacre_simweb.recall import CountedWindow, Measures, share
from nacre_simweb.truth import GONE, Track, TrueVersion

_SAMPLES = 2000


class _Sum(NamedTuple):
    """Integrals over the time that a page was there."""

    there: float = 0.0
    fresh: float = 0.0
    age: float = 0.0


def freshness(tracks: Sequence[Track], holdings: Holdings, window: CountedWindow) -> Measures:
    """Average share of pages whose copy is current, and their mean age in days."""
    total = _Sum()
    for track in tracks:
        holding = holdings.of(track.url)
        for span in track.spans:
            total = _added(total, _of_span(track, span, holding, window))
    return {
        "freshness": share(total.fresh, total.there),
        "age_days": share(total.age / DAY, total.there),
    }


def _added(first: _Sum, second: _Sum) -> _Sum:
    return _Sum(first.there + second.there, first.fresh + second.fresh, first.age + second.age)


def _of_span(track: Track, span: TrueVersion, holding: Held, window: CountedWindow) -> _Sum:
    """While one version is current, the copy is it from its first capture on."""
    start, end = max(span.start, window.start), min(span.end, window.end)
    if start >= end:
        return _Sum()
    caught = end
    for time, version in zip(holding.times, holding.versions, strict=True):
        if version == span.number and time < end:
            caught = max(time, start)
            break
    stale_since = _stale_since(track, span, holding)
    early, late = start - stale_since, caught - stale_since
    return _Sum(end - start, end - caught, (late * late - early * early) / 2)


def _stale_since(track: Track, span: TrueVersion, holding: Held) -> float:
    """Time of the oldest change that the copy lacks when a version begins."""
    last = holding.at(span.start)
    since = span.start
    for earlier in reversed([before for before in track.spans if before.start < span.start]):
        if last == earlier.number:
            break
        since = earlier.start
    return since


def coherence(
    pairs: Sequence[tuple[Track, Track]], holdings: Holdings, window: CountedWindow, draw: Draw
) -> float | None:
    """Return the share of pairs, of a page and its embed or listed page, with matching copies.

    Args:
        pairs: Two URLs each.
        holdings: The archive.
        window: When.
        draw: For the sample of pairs and times.
    """
    fits = count = 0
    for number in range(_SAMPLES if pairs else 0):
        first_track, second_track = draw.at("pair").pick(pairs, number)
        time = window.start + draw.uniform(number) * (window.end - window.start)
        first, second = _copy(first_track, holdings, time), _copy(second_track, holdings, time)
        if first is not None and second is not None:
            count += 1
            fits += first.start < second.end and second.start < first.end
    return share(fits, count)


def _copy(track: Track, holdings: Holdings, time: float) -> TrueVersion | None:
    """When the copy held at a time was the page."""
    version = holdings.of(track.url).at(time)
    return next((span for span in track.spans if span.number == version), None)


def blur(
    tracks: Sequence[Track], holdings: Holdings, window: CountedWindow, draw: Draw
) -> float | None:
    """Expected changes of a page between a moment and the capture that stands for it."""
    changes = count = 0
    for number in range(_SAMPLES if tracks else 0):
        track = draw.at("page").pick(tracks, number)
        time = window.start + draw.uniform(number) * (window.end - window.start)
        captured = holdings.of(track.url).since(time)
        if captured is not None and track.at(time) != GONE:
            count += 1
            changes += sum(captured < span.start <= time for span in track.spans)
    return share(changes, count)
