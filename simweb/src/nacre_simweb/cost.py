"""The cost of a crawl, against a full crawl at each step and against the necessary cost."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

from nacre_simweb.kept import KeptCaptures
from nacre_simweb.recall import CountedWindow, Measures, share
from nacre_simweb.servelog import Row
from nacre_simweb.truth import GONE, Track
from nacre_simweb.world import World

_SHRUNK = frozenset({"embed", "file"})
_DELAY = 3.0
"""Politeness delay that the time of a crawl is reckoned with, seconds."""


def true_size(world: World, row: Row, size: int) -> float:
    """Bytes as they would be without `bytes_scale`."""
    return size / world.parameters.bytes_scale if row.kind in _SHRUNK else float(size)


def costs(world: World, archive: KeptCaptures, window: CountedWindow) -> Measures:
    """Requests, bytes and politeness time after the first step; robots.txt left out."""
    rows = [row for row in archive.rows if row.time > window.start and row.kind != "robots"]
    captures = [
        capture
        for capture in archive.kept
        if capture.row.time > window.start and capture.row.kind != "robots"
    ]
    pages = [row for row in rows if row.kind != "embed"]
    delay = max(world.parameters.crawl_delay, _DELAY)
    hosts = Counter(urlsplit(row.url).netloc for row in rows)
    return {
        "requests": float(len(pages)),
        "requests_embeds": float(sum(row.kind == "embed" for row in rows)),
        "requests_hints": float(sum(row.kind == "hint" for row in rows)),
        "not_modified": float(sum(row.status == 304 for row in rows)),
        "bytes_received": round(sum(true_size(world, row, row.length) for row in rows), 1),
        "bytes_stored": round(
            sum(true_size(world, capture.row, capture.size) for capture in captures), 1
        ),
        "politeness_hours": round(sum(hosts.values()) * delay / 3600, 4),
        "politeness_hours_longest": round(max(hosts.values(), default=0) * delay / 3600, 4),
    }


def savings(
    world: World, archive: KeptCaptures, tracks: Sequence[Track], window: CountedWindow
) -> Measures:
    """Savings against full crawls at the same instants, and against the least possible.

    `necessary`: the lists, and each page that is new, changed or gone since the step before.
    """
    full = necessary = embeds = 0
    for number in range(1, len(window.steps)):
        before, now = window.steps[number - 1], window.steps[number]
        for track in tracks:
            old, new = track.at(before), track.at(now)
            if track.kind == "embed":
                embeds += new != GONE
                continue
            full += new != GONE
            necessary += track.kind == "list" if new == old else 1
    incremental = costs(world, archive, window)
    spent = incremental["requests"] or 0.0
    stored, received = _full_bytes(world, archive, full, embeds)
    return {
        "full_requests": float(full),
        "necessary_requests": float(necessary),
        "saved_requests": _saved(spent, full),
        "saved_politeness": _saved(spent + (incremental["requests_embeds"] or 0.0), full + embeds),
        "saved_bytes": _saved(incremental["bytes_received"] or 0.0, received),
        "saved_storage": _saved(incremental["bytes_stored"] or 0.0, stored),
        "possible_saving": _saved(necessary, full),
        "relative_saving": share(full - spent, full - necessary),
        "overhead": share(spent, necessary),
    }


def _saved(spent: float, full: float) -> float | None:
    part = share(spent, full)
    return None if part is None else round(1 - part, 6)


def _full_bytes(
    world: World, archive: KeptCaptures, pages: int, embeds: int
) -> tuple[float, float]:
    """Bytes that full crawls would have stored and received, from the mean sizes seen."""
    sums: Counter[bool] = Counter()
    counts: Counter[bool] = Counter()
    for row in archive.rows:
        if row.status == 200 and row.kind != "robots":
            embed = row.kind == "embed"
            sums[embed] += round(true_size(world, row, row.length))
            counts[embed] += 1
    whole = sum(
        number * sums[embed] / max(counts[embed], 1)
        for embed, number in ((False, pages), (True, embeds))
    )
    return whole, whole
