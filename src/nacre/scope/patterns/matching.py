"""Operators' regular expressions: linear time on RE2, a time limit where RE2 refuses one.

They may be written as in Java (`scope.patterns.java`). `PatternList` tests whether any of many
patterns matches, `FirstMatch` returns the first that does, and `PatternFinder` the matched text.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import re2

from nacre.errors import ConfigError
from nacre.scope.patterns.java import from_java

if TYPE_CHECKING:
    import regex

TIME_LIMIT = 0.05
"""Seconds for one match of a pattern that RE2 refuses; longer counts as no match."""


class PatternNote(NamedTuple):
    """A note of `nacre check` on a pattern: an error when `usable` is False, else a warning."""

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
        f"each match is limited to {TIME_LIMIT * 1000:.0f} ms, and a time-out is not a match",
    )


def re2_options() -> re2.Options:
    """Return the options of RE2: silent, and with memory for large lists."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


def for_re2(pattern: str) -> str | None:
    """Return the pattern as RE2 takes it; None if it does not.

    Raises:
        ValueError: No engine supports the expression.
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
    """Compile a pattern for the module with look-around and back-references."""
    import regex  # noqa: PLC0415 - slow to load and rarely needed

    # V1 has nested sets and intersections; atomic and possessive forms are as in Java.
    return regex.compile(from_java(pattern).pattern, regex.VERSION1)


def within_time(
    search: "Callable[..., regex.Match[str] | None]", text: str, timeout: float = TIME_LIMIT
) -> bool | None:
    """Return whether a search or a match of that module succeeds; None when it takes too long."""
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
        linear = {pattern: for_re2(pattern) for pattern in patterns}
        fast = list(dict.fromkeys(text for text in linear.values() if text is not None))
        self._slow = [backtracking(pattern) for pattern, text in linear.items() if text is None]
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
        """Return whether one pattern matches; with `every`, whether all patterns match."""
        if not self.patterns:
            return False
        hits = len(self._set.Match(text) or ()) if self._set is not None else 0
        if not self._every:
            return hits > 0 or any(self._is_match(pattern, text) for pattern in self._slow)
        return hits == self._fast_count and all(self._is_match(p, text) for p in self._slow)

    def _is_match(self, pattern: "regex.Pattern[str]", text: str) -> bool:
        find = pattern.search if self.search else pattern.fullmatch
        result = within_time(find, text, self._timeout)
        self.timeouts += result is None
        return bool(result)


MatchGroups = tuple[str, ...]
"""The whole match, then its groups; "" for a group that took no part."""


class _Match(Protocol):
    def group(self, number: int, /) -> str | None: ...
    def start(self) -> int: ...
    def end(self) -> int: ...


class PatternFinder:
    """One expression, in Java's syntax or Python's, that is usable (`patterns.examine`).

    RE2 searches in linear time. If RE2 refuses the pattern, a search stops at a time limit and
    returns the matches so far.

    Args:
        pattern: The expression.
        timeout: That time, seconds.
    """

    def __init__(self, pattern: str, timeout: float = TIME_LIMIT) -> None:
        linear = for_re2(pattern)
        self._find: Callable[[str], Iterator[_Match]]
        self._whole: Callable[[str], _Match | None]
        if linear is not None:
            fast = re2.compile(linear, re2_options())
            self._find, self._whole, self.groups = fast.finditer, fast.fullmatch, int(fast.groups)
        else:
            slow = backtracking(pattern)
            self._find = lambda text: slow.finditer(text, timeout=timeout)
            self._whole = lambda text: slow.fullmatch(text, timeout=timeout)
            self.groups = slow.groups

    def find(self, text: str) -> Iterator[MatchGroups]:
        """Return all matches in a text, in order."""
        return (self._groups(match) for match in self._matches(text))

    def whole(self, text: str) -> MatchGroups | None:
        """Return the match of a whole text; None for none."""
        try:
            match = self._whole(text)
        except TimeoutError:
            return None
        return None if match is None else self._groups(match)

    def without(self, text: str) -> str:
        """Return the text without the matches."""
        pieces: list[str] = []
        end = 0
        for match in self._matches(text):
            pieces.append(text[end : match.start()])
            end = match.end()
        return "".join((*pieces, text[end:])) if pieces else text

    def _matches(self, text: str) -> Iterator[_Match]:
        matches = self._find(text)
        while True:
            try:
                yield next(matches)
            except (StopIteration, TimeoutError):
                return

    def _groups(self, match: _Match) -> MatchGroups:
        return tuple(match.group(number) or "" for number in range(self.groups + 1))


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
            linear = for_re2(pattern)
            if linear is None:
                self._slow.append((place, backtracking(pattern)))
            else:
                fast.Add(linear)
                self._places.append(place)
        if self._places:
            fast.Compile()
        self._fast = fast

    def places(self, text: str) -> Iterator[int]:
        """Yield the indexes of the patterns that match, lowest first, one search per step."""
        hits: list[int] = []
        if self._places:
            hits = sorted(self._places[hit] for hit in self._fast.Match(text) or ())
        for place, pattern in self._slow:
            while hits and hits[0] < place:
                yield hits.pop(0)
            match = within_time(pattern.fullmatch if self._whole else pattern.search, text)
            self.timeouts += match is None
            if match:
                yield place
        yield from hits


Matcher = Callable[[str], bool]
"""Whether a text, such as a URL or the key of a queue, is chosen."""


def any_text(_text: str) -> bool:
    """Return True: the matcher that chooses all texts."""
    return True


def matcher(pattern: str) -> Matcher:
    """Return the test whether an expression is found anywhere in a text.

    Args:
        pattern: The expression; "" chooses all texts.

    Raises:
        ConfigError: It is not a regular expression.
    """
    if not pattern:
        return any_text
    note = examine(pattern)
    if note is not None and not note.usable:
        raise ConfigError(f"{pattern!r} is {note.message}")
    return PatternList([pattern], search=True).matches
