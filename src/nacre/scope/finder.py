"""Operators' expressions that are asked for what they match, not only whether they do."""

from collections.abc import Callable, Iterator
from typing import Protocol

import re2

from nacre.scope.patterns import TIME_LIMIT, backtracking, for_re2, re2_options

Groups = tuple[str, ...]
"""The whole match, then its groups; "" for a group that took no part."""


class _Match(Protocol):
    def group(self, number: int, /) -> str | None: ...
    def start(self) -> int: ...
    def end(self) -> int: ...


class Finder:
    """One expression, in Java's syntax or Python's, that is usable (`patterns.examine`).

    On RE2 it is linear. Where RE2 refuses it, a search ends after a time, with what was found.

    Args:
        pattern: The expression.
        timeout: That time, seconds.
    """

    def __init__(self, pattern: str, timeout: float = TIME_LIMIT) -> None:
        taken = for_re2(pattern)
        self._find: Callable[[str], Iterator[_Match]]
        self._whole: Callable[[str], _Match | None]
        if taken is not None:
            fast = re2.compile(taken, re2_options())
            self._find, self._whole, self.groups = fast.finditer, fast.fullmatch, int(fast.groups)
        else:
            slow = backtracking(pattern)
            self._find = lambda text: slow.finditer(text, timeout=timeout)
            self._whole = lambda text: slow.fullmatch(text, timeout=timeout)
            self.groups = slow.groups

    def find(self, text: str) -> Iterator[Groups]:
        """All matches in a text, in order."""
        return (self._groups(match) for match in self._matches(text))

    def whole(self, text: str) -> Groups | None:
        """The match of a whole text; None for none."""
        try:
            match = self._whole(text)
        except TimeoutError:
            return None
        return None if match is None else self._groups(match)

    def without(self, text: str) -> str:
        """The text without what matches."""
        kept: list[str] = []
        end = 0
        for match in self._matches(text):
            kept.append(text[end : match.start()])
            end = match.end()
        return "".join((*kept, text[end:])) if kept else text

    def _matches(self, text: str) -> Iterator[_Match]:
        found = self._find(text)
        while True:
            try:
                yield next(found)
            except (StopIteration, TimeoutError):
                return

    def _groups(self, match: _Match) -> Groups:
        return tuple(match.group(number) or "" for number in range(self.groups + 1))
