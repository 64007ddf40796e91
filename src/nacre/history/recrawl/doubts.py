"""Changes that may be noise: what they teach waits until a second visit has told (pure).

Noise is learned by paired fetches: see docs/recrawl.md.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from nacre.uri.parse import authority

_PAGES = 2
"""Pages that are visited twice in a step for one place."""
_PLACES = 10
"""Places of a site that are looked at so in a step."""

Learn = Callable[[], None]


@dataclass
class _Doubt:
    """One place of a site.

    Attributes:
        pages: Some that looked changed there.
        waiting: What is to be learned if their changes are real.
        noisy: What a second visit said; None before any.
    """

    pages: list[str] = field(default_factory=list)
    waiting: list[Learn] = field(default_factory=list)
    noisy: bool | None = None


class Doubts:
    """The places of a step that may be noise."""

    def __init__(self) -> None:
        self._doubts: dict[tuple[str, int], _Doubt] = {}

    def note(self, url: str, place: int, learn: Learn) -> None:
        """A page looked changed at a place that may be noise.

        Args:
            url: The page.
            place: See `Finding.suspect`.
            learn: What is to be done if the change is real.
        """
        doubt = self._doubts.setdefault((authority(url), place), _Doubt())
        if doubt.noisy is None:
            doubt.waiting.append(learn)
            if len(doubt.pages) < _PAGES:
                doubt.pages.append(url)
        elif not doubt.noisy:
            learn()

    def pages(self, most: int) -> list[str]:
        """So many of the pages that a second visit should tell of; of each site a few."""
        sites: Counter[str] = Counter()
        found: dict[str, None] = {}
        for (site, _), doubt in self._doubts.items():
            sites[site] += 1
            if sites[site] <= _PLACES:
                found.update(dict.fromkeys(doubt.pages))
        return list(found)[:most]

    def was_paired(self, url: str, differing: Collection[int]) -> None:
        """A second visit was made; `differing` are the places that changed by themselves."""
        for (_, place), doubt in self._doubts.items():
            if url in doubt.pages:
                doubt.noisy = place in differing or bool(doubt.noisy)
                if not doubt.noisy:
                    _learn_all(doubt)
                doubt.waiting.clear()

    def settle(self) -> None:
        """The step is over: what nobody looked at again counts as it looked."""
        for doubt in self._doubts.values():
            _learn_all(doubt)
        self._doubts.clear()


def _learn_all(doubt: _Doubt) -> None:
    for learn in doubt.waiting:
        learn()
