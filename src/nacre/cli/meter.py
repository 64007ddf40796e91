"""Rates of a running crawl: now (the last few seconds) and on average."""

from collections import deque
from typing import NamedTuple

from nacre.job.operator.overview import Overview

_WINDOW = 5.0


class Rates(NamedTuple):
    """URIs and KB a second: now, and since the start of this process.

    Attributes:
        uris: URIs finished, now.
        kilobytes: KB received, now.
        uris_average: URIs finished, on average.
        kilobytes_average: KB received, on average.
    """

    uris: float = 0.0
    kilobytes: float = 0.0
    uris_average: float = 0.0
    kilobytes_average: float = 0.0


class Meter:
    """Takes samples and tells rates."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int]] = deque()
        self._first: tuple[float, int, int] | None = None

    def rates(self, overview: Overview) -> Rates:
        """Rates at this sample.

        Args:
            overview: The numbers of now.
        """
        sample = (overview.elapsed, overview.finished, overview.bytes)
        self._first = self._first or sample
        self._samples.append(sample)
        while len(self._samples) > 2 and sample[0] - self._samples[0][0] > _WINDOW:
            self._samples.popleft()
        return Rates(*_rate(self._samples[0], sample), *_rate(self._first, sample))


def _rate(old: tuple[float, int, int], new: tuple[float, int, int]) -> tuple[float, float]:
    spent = new[0] - old[0]
    if spent <= 0:
        return 0.0, 0.0
    return (new[1] - old[1]) / spent, (new[2] - old[2]) / spent / 1000
