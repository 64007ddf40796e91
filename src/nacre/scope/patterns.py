"""Operators' regular expressions: linear time on RE2, a time limit where RE2 refuses one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import re2

if TYPE_CHECKING:
    import regex

TIME_LIMIT = 0.05
"""Seconds for one match of a pattern that RE2 refuses; longer counts as no match."""


class PatternNote(NamedTuple):
    """What `nacre check` says of a pattern: an error when `usable` is False, else a warning."""

    pattern: str
    usable: bool
    message: str


def examine(pattern: str) -> PatternNote | None:
    """Say how a pattern will run; None when RE2 takes it as it is."""
    if "&&" not in pattern and _re2(pattern) is not None:
        return None
    from regex import error as malformed  # noqa: PLC0415 - slow to load and rarely needed

    try:
        _backtracking(pattern)
    except malformed as error:
        return PatternNote(pattern, usable=False, message=f"not a regular expression: {error}")
    return PatternNote(
        pattern,
        usable=True,
        message="needs backtracking (look-around, back-reference or class intersection): "
        f"each match is limited to {TIME_LIMIT * 1000:.0f} ms, and a time-out is no match",
    )


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


def _re2(pattern: str) -> object | None:
    try:
        return re2.compile(pattern, _options())  # type: ignore[no-any-return]
    except re2.error:
        return None


def _backtracking(pattern: str) -> "regex.Pattern[str]":
    import regex  # noqa: PLC0415 - slow to load and rarely needed

    # V1 knows Java's nested sets and intersections; atomic and possessive forms are shared.
    return regex.compile(pattern, regex.VERSION1)


class PatternList:
    """Matches a text against a list of patterns.

    Args:
        patterns: Regular expressions; each must be usable (`examine`).
        search: Find anywhere; False means that the whole text must match, as in Java.
        every: All must match; False means that one is enough. An empty list never matches.

    Attributes:
        timeouts: Matches that were given up.
    """

    def __init__(
        self, patterns: Sequence[str], *, search: bool = False, every: bool = False
    ) -> None:
        self.patterns = tuple(patterns)
        self.timeouts = 0
        self._search = search
        self._every = every
        fast = {p: None for p in patterns if "&&" not in p and _re2(p) is not None}
        self._slow = [_backtracking(p) for p in patterns if p not in fast]
        self._fast_count = len(fast)
        self._set: re2.Set | None = None
        if fast:
            make = re2.Set.SearchSet if search else re2.Set.FullMatchSet
            self._set = make(_options())
            for pattern in fast:
                self._set.Add(pattern)
            self._set.Compile()

    def __bool__(self) -> bool:
        """False for an empty list, which never matches."""
        return bool(self.patterns)

    def matches(self, text: str) -> bool:
        """True when one pattern matches, or all where `every` was asked for."""
        if not self.patterns:
            return False
        hits = len(self._set.Match(text) or ()) if self._set is not None else 0
        if not self._every:
            return hits > 0 or any(self._one(pattern, text) for pattern in self._slow)
        return hits == self._fast_count and all(self._one(p, text) for p in self._slow)

    def _one(self, pattern: "regex.Pattern[str]", text: str) -> bool:
        match = pattern.search if self._search else pattern.fullmatch
        try:
            return match(text, timeout=TIME_LIMIT) is not None
        except TimeoutError:
            self.timeouts += 1
            return False
