"""Which pattern of a list matches first: in the order of the list, not of the text."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import re2

from nacre.scope.patterns import backtracking, for_re2, re2_options, within_time

if TYPE_CHECKING:
    import regex


class FirstMatch:
    """Finds the patterns of a list in a text, in the order of the list.

    One pass of RE2 finds those that it takes; the others are tried only where none before them
    settled the matter.

    Args:
        patterns: Regular expressions, as in Java; each must be usable (`patterns.examine`).
        whole: The whole text must match; False finds them anywhere.

    Attributes:
        timeouts: Matches that were given up; they count as none.
    """

    def __init__(self, patterns: Sequence[str], *, whole: bool = False) -> None:
        self.timeouts = 0
        self._slow: list[tuple[int, regex.Pattern[str]]] = []
        self._places: list[int] = []
        self._whole = whole
        make = re2.Set.FullMatchSet if whole else re2.Set.SearchSet
        fast = make(re2_options())
        for place, pattern in enumerate(patterns):
            taken = for_re2(pattern)
            if taken is None:
                self._slow.append((place, backtracking(pattern)))
            else:
                fast.Add(taken)
                self._places.append(place)
        if self._places:
            fast.Compile()
        self._fast = fast

    def places(self, text: str) -> Iterator[int]:
        """Places in the list of the patterns that match, lowest first; found as they are asked."""
        hits: list[int] = []
        if self._places:
            hits = sorted(self._places[hit] for hit in self._fast.Match(text) or ())
        for place, pattern in self._slow:
            while hits and hits[0] < place:
                yield hits.pop(0)
            found = within_time(pattern.fullmatch if self._whole else pattern.search, text)
            self.timeouts += found is None
            if found:
                yield place
        yield from hits
