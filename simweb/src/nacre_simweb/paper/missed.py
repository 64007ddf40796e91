"""The captures that a crawl missed, each with the reason that the server's log gives."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre_simweb.holdings import Holdings
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.servelog import Row
from nacre_simweb.truth import GONE, Track


class Missed(NamedTuple):
    """A URL whose state at the later time is not in the archive.

    Attributes:
        kind: `article`, `list`, `file` or `embed`.
        change: `new`, `changed` or `gone`.
        why: `never asked for`; `told to be unchanged` (a 304); `asked for, and not kept`.
        url: The URL.
    """

    kind: str
    change: str
    why: str
    url: str


def missed(tracks: Sequence[Track], archive: KeptCaptures, after: float) -> list[Missed]:
    """Return the missing part of what differs from time 0.

    Args:
        tracks: The truth.
        archive: Of both visits.
        after: Time of the second, seconds.
    """
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in archive.rows:
        if row.time == after:
            rows[row.url].append(row)
    return list(_missed(tracks, Holdings(archive), rows, after))


def _missed(
    tracks: Sequence[Track], holdings: Holdings, rows: dict[str, list[Row]], after: float
) -> Iterator[Missed]:
    for track in tracks:
        before, now = track.at(0.0), track.at(after)
        if before == now:
            continue
        if now == GONE:
            evidence = holdings.evidence(track.url, after)
        else:
            evidence = holdings.first(track.url, now)
        if evidence is None:
            change = "new" if before == GONE else "gone" if now == GONE else "changed"
            yield Missed(track.kind, change, _reason(rows[track.url]), track.url)


def _reason(rows: Sequence[Row]) -> str:
    if not rows:
        return "never asked for"
    if any(row.status == 304 for row in rows):
        return "told to be unchanged"
    return "asked for, and not kept"


def counted(missed_urls: Sequence[Missed]) -> list[tuple[str, str, str, int]]:
    """Kind, change and reason with their number; the most first."""
    counts = Counter((url.kind, url.change, url.why) for url in missed_urls)
    return [(*key, number) for key, number in counts.most_common()]
