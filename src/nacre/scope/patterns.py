"""Operators' regular expressions: linear time on RE2, a time limit where RE2 refuses one.

They may be written as in Java (`scope.java`).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import re2

from nacre.scope.java.translate import from_java

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
    """Say how a pattern will run; None when RE2 takes it."""
    try:
        if for_re2(pattern) is not None:
            return None
    except ValueError as error:
        return PatternNote(pattern, usable=False, message=f"not a regular expression: {error}")
    from regex import error as malformed  # noqa: PLC0415 - slow to load and rarely needed

    try:
        backtracking(pattern)
    except malformed as error:
        return PatternNote(pattern, usable=False, message=f"not a regular expression: {error}")
    return PatternNote(
        pattern,
        usable=True,
        message="needs backtracking (look-around, back-reference, possessive or atomic form): "
        f"each match is limited to {TIME_LIMIT * 1000:.0f} ms, and a time-out is no match",
    )


def re2_options() -> re2.Options:
    """How RE2 is asked: silent, and with memory for large lists."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


def for_re2(pattern: str) -> str | None:
    """The pattern as RE2 takes it; None where it does not.

    Raises:
        ValueError: It holds what no engine here knows.
    """
    java = from_java(pattern)
    if java.nested:
        return None
    try:
        re2.compile(java.pattern, re2_options())
    except re2.error:
        return None
    return java.pattern


def backtracking(pattern: str) -> "regex.Pattern[str]":
    """The pattern for the module that knows look-around and back-references."""
    import regex  # noqa: PLC0415 - slow to load and rarely needed

    # V1 knows nested sets and intersections; atomic and possessive forms are Java's.
    return regex.compile(from_java(pattern).pattern, regex.VERSION1)


def within_time(
    search: "Callable[..., regex.Match[str] | None]", text: str, timeout: float = TIME_LIMIT
) -> bool | None:
    """Whether a search or a match of that module succeeds; None when it takes too long."""
    try:
        return search(text, timeout=timeout) is not None
    except TimeoutError:
        return None


class PatternList:
    """Matches a text against a list of patterns, in Java's syntax or Python's.

    Args:
        patterns: Regular expressions; each must be usable (`examine`).
        search: Find anywhere; False means that the whole text must match, as in Java.
        every: All must match; False means that one is enough. An empty list never matches.
        timeout: Longest match of a pattern that RE2 refuses, seconds.

    Attributes:
        patterns: The patterns as given.
        search: As given.
        timeouts: Matches that were given up.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        *,
        search: bool = False,
        every: bool = False,
        timeout: float = TIME_LIMIT,
    ) -> None:
        self.patterns = tuple(patterns)
        self.search = search
        self.timeouts = 0
        self._every = every
        self._timeout = timeout
        known = {pattern: for_re2(pattern) for pattern in patterns}
        fast = list(dict.fromkeys(text for text in known.values() if text is not None))
        self._slow = [backtracking(pattern) for pattern, text in known.items() if text is None]
        self._fast_count = len(fast)
        self._set: re2.Set | None = None
        if fast:
            make = re2.Set.SearchSet if search else re2.Set.FullMatchSet
            self._set = make(re2_options())
            for text in fast:
                self._set.Add(text)
            self._set.Compile()

    @property
    def is_timed(self) -> bool:
        """Whether one of the patterns may take too long."""
        return bool(self._slow)

    def __bool__(self) -> bool:
        """False for an empty list, which never matches."""
        return bool(self.patterns)

    @property
    def is_any_linear(self) -> bool:
        """Whether one pattern is enough, and all of them run in linear time."""
        return not self._every and not self._slow

    def matches(self, text: str) -> bool:
        """True when one pattern matches, or all where `every` was asked for."""
        if not self.patterns:
            return False
        hits = len(self._set.Match(text) or ()) if self._set is not None else 0
        if not self._every:
            return hits > 0 or any(self._one(pattern, text) for pattern in self._slow)
        return hits == self._fast_count and all(self._one(p, text) for p in self._slow)

    def _one(self, pattern: "regex.Pattern[str]", text: str) -> bool:
        find = pattern.search if self.search else pattern.fullmatch
        found = within_time(find, text, self._timeout)
        self.timeouts += found is None
        return bool(found)
