"""Recall: of versions, of their time, of new pages, of deletions, of each epoch's changes."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from nacre_simweb.calendar import DAY
from nacre_simweb.holdings import Holdings, first_of
from nacre_simweb.truth import GONE, Track

Measures = dict[str, float | None]
"""Values by name; None if nothing was there to be measured."""


class CountedWindow(NamedTuple):
    """The time in which changes are counted.

    Attributes:
        steps: Times of the steps, seconds; the first is the full crawl, later versions count.
    """

    steps: Sequence[float]

    @property
    def start(self) -> float:
        """Begin, exclusive."""
        return self.steps[0]

    @property
    def end(self) -> float:
        """End, inclusive."""
        return self.steps[-1]


def share(part: float, whole: float) -> float | None:
    """Return a share; None of nothing."""
    return round(part / whole, 6) if whole else None


def version_recall(tracks: Sequence[Track], holdings: Holdings, window: CountedWindow) -> Measures:
    """VR in all and by kind of change, and LVR, its share of time."""
    there: dict[str, int] = defaultdict(int)
    counts: dict[str, int] = defaultdict(int)
    lasted = caught = 0.0
    for track in tracks:
        for span in track.spans:
            if not window.start < span.start <= window.end or span.change == "back":
                continue
            length = min(span.end, window.end) - span.start
            there[span.change] += 1
            lasted += length
            if holdings.first(track.url, span.number) is not None:
                counts[span.change] += 1
                caught += length
    result: Measures = {
        "versions": float(sum(there.values())),
        "recall": share(sum(counts.values()), sum(there.values())),
        "recall_of_time": share(caught, lasted),
    }
    for change in sorted(there):
        result[f"recall_{change}"] = share(counts[change], there[change])
    return result


def discovery(tracks: Sequence[Track], holdings: Holdings, window: CountedWindow) -> Measures:
    """NPR, NPR@24h, and the delay of discovery."""
    born = [
        track
        for track in tracks
        if track.spans[0].change == "new" and window.start < track.born <= window.end
    ]
    delays = []
    for track in born:
        first = first_of(holdings, track)
        if first is not None:
            delays.append(first - track.born)
    delays.sort()
    return {
        "born": float(len(born)),
        "recall": share(len(delays), len(born)),
        "recall_24h": share(sum(delay <= DAY for delay in delays), len(born)),
        "delay_median_h": round(median(delays) / 3600, 4) if delays else None,
        "delay_p95_h": round(quantile(delays, 0.95) / 3600, 4) if delays else None,
    }


def quantile(values: Sequence[float], part: float) -> float:
    """Return the value that so great a part does not exceed; the values are sorted."""
    return values[max(math.ceil(part * len(values)) - 1, 0)]


def deletion(
    tracks: Sequence[Track],
    holdings: Holdings,
    window: CountedWindow,
    register: dict[str, float] | None,
) -> Measures:
    """DR, its delay, and false deletions of a register (URL to time, seconds)."""
    died = [(track, time) for track in tracks for time in track.deaths(window.start, window.end)]
    delays = []
    for track, time in died:
        evidence = holdings.evidence(track.url, time)
        if evidence is not None:
            delays.append(evidence - time)
    delays.sort()
    false = None
    if register is not None:
        by_url = {track.url: track for track in tracks}
        register_tracks = [(by_url[url], time) for url, time in register.items() if url in by_url]
        false = share(
            sum(track.at(time) != GONE for track, time in register_tracks), len(register_tracks)
        )
    return {
        "died": float(len(died)),
        "recall": share(len(delays), len(died)),
        "delay_median_h": round(median(delays) / 3600, 4) if delays else None,
        "false": false,
    }


def epoch_recall(tracks: Sequence[Track], holdings: Holdings, window: CountedWindow) -> Measures:
    """ECR: of the URLs that differ from the step before, those held as they are now."""
    counts: dict[str, int] = defaultdict(int)
    held_counts: dict[str, int] = defaultdict(int)
    steps = window.steps
    for track in tracks:
        states = [track.at(time) for time in steps]
        for number in range(1, len(steps)):
            before, now = states[number - 1], states[number]
            if before == now:
                continue
            kind = "new" if before == GONE else "gone" if now == GONE else "changed"
            until = steps[number + 1] if number + 1 < len(steps) else math.inf
            counts[kind] += 1
            held_counts[kind] += _is_held(track, holdings, now, (steps[number - 1], until))
    result: Measures = {
        "differing": float(sum(counts.values())),
        "recall": share(sum(held_counts.values()), sum(counts.values())),
    }
    for kind in ("new", "changed", "gone"):
        result[f"recall_{kind}"] = share(held_counts[kind], counts[kind])
    return result


def _is_held(track: Track, holdings: Holdings, now: int, period: tuple[float, float]) -> bool:
    since, until = period
    if now == GONE:
        ends = [span.end for span in track.spans if span.end > since]
        evidence = holdings.evidence(track.url, min(ends, default=since))
    else:
        evidence = holdings.first(track.url, now)
    return evidence is not None and evidence < until
