"""The captures in an archive, by URL, in the order of time."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import NamedTuple

from nacre_simweb.kept import KeptCaptures
from nacre_simweb.truth import Track

_CONTENT = frozenset({"article", "list", "home", "embed", "file"})


class Held(NamedTuple):
    """Captures of one URL.

    Attributes:
        times: When, seconds.
        versions: The real version that each holds.
    """

    times: list[float]
    versions: list[int]

    def at(self, time: float) -> int | None:
        """Return the version held last at a time; None before the first."""
        place = bisect_right(self.times, time)
        return self.versions[place - 1] if place else None

    def since(self, time: float) -> float | None:
        """Time of the last capture before or at a time; None before the first."""
        place = bisect_right(self.times, time)
        return self.times[place - 1] if place else None


_EMPTY = Held([], [])


class Holdings:
    """An archive, read for scoring. Whatever bytes of a version were stored hold that version.

    Args:
        archive: The archive.
    """

    def __init__(self, archive: KeptCaptures) -> None:
        self._held: dict[str, Held] = {}
        self._gone: dict[str, list[float]] = defaultdict(list)
        self._firsts: dict[tuple[str, int], float] = {}
        for row, _, _ in archive.kept:
            if row.status == 200 and row.kind in _CONTENT:
                holding = self._held.setdefault(row.url, Held([], []))
                holding.times.append(row.time)
                holding.versions.append(row.version)
                self._firsts.setdefault((row.url, row.version), row.time)
            elif row.kind in {"error", "redirect"}:
                self._gone[row.url].append(row.time)

    def of(self, url: str) -> Held:
        """Captures of a URL."""
        return self._held.get(url, _EMPTY)

    def first(self, url: str, version: int) -> float | None:
        """Return the time of the first capture of a version, seconds; None for never."""
        return self._firsts.get((url, version))

    def evidence(self, url: str, since: float) -> float | None:
        """First capture after a time that shows that the URL is not there; None for none."""
        times = self._gone.get(url, [])
        place = bisect_left(times, since)
        return times[place] if place < len(times) else None


def first_of(holdings: Holdings, track: Track) -> float | None:
    """Return the time of the first capture of any version of a URL, seconds; None for never."""
    holding = holdings.of(track.url)
    return holding.times[0] if holding.times else None
