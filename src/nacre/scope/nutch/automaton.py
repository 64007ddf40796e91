"""Expressions in the syntax of dk.brics.automaton, all options on.

`~x` is everything but x, `x&y` both, `@` anything, `#` nothing, `"..."` text as it stands, `<n-m>`
a number in a range. RE2 runs those that it can express; a complement, an intersection and very
large counts run on derivatives (`scope.nutch.derivative`), in linear time as well.
"""

import re

from nacre.scope.nutch.derivative import (
    ANY,
    EMPTY,
    NOTHING,
    Chars,
    Expression,
    Matcher,
    both,
    complement,
    concat,
    either,
    repeat,
    text_of,
)
from nacre.scope.nutch.interval import interval
from nacre.scope.patterns import for_re2

MAX_DEPTH = 100
"""Brackets inside each other."""

_COUNT = re.compile(r"\{(\d{1,6})(,)?(\d{1,6})?\}")
_NAMED = re.compile(r"<(?:(\d{1,18})-(\d{1,18})|([^>]*))>?")


class Automaton:
    """One expression, ready to match.

    Attributes:
        regex: The same for RE2, to be matched as a whole; None where RE2 cannot.
        matches: The test for a whole text.
    """

    def __init__(self, expression: Expression) -> None:
        self.regex = _for_re2(expression)
        self.matches = Matcher(expression).matches


def _for_re2(expression: Expression) -> str | None:
    regex = text_of(expression)
    return for_re2(regex) if regex is not None else None


def parse_automaton(text: str) -> Automaton:
    """Read an expression.

    Raises:
        ValueError: It is none; the message says where.
    """
    parser = _Parser(text)
    found = parser.union(0) if text else EMPTY
    if not parser.at_end:
        raise ValueError(f"unexpected {text[parser.at]!r} at {parser.at}")
    return Automaton(found)


class _Parser:
    """Recursive descent over one expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    @property
    def at_end(self) -> bool:
        return self.at >= len(self._text)

    def union(self, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} brackets inside each other")
        found = self._intersection(depth)
        while self._take("|"):
            found = either(found, self._intersection(depth))
        return found

    def _intersection(self, depth: int) -> Expression:
        found = self._sequence(depth)
        while self._take("&"):
            found = both(found, self._sequence(depth))
        return found

    def _sequence(self, depth: int) -> Expression:
        parts = [self._repeated(depth)]
        while not self.at_end and self._text[self.at] not in ")&|":
            parts.append(self._repeated(depth))
        return concat(*parts)

    def _repeated(self, depth: int) -> Expression:
        found = self._complemented(depth)
        while not self.at_end and self._text[self.at] in "?*+{":
            if self._take("?"):
                found = repeat(found, 0, 1)
            elif self._take("*"):
                found = repeat(found, 0, None)
            elif self._take("+"):
                found = repeat(found, 1, None)
            else:
                found = self._counted(found)
        return found

    def _counted(self, found: Expression) -> Expression:
        count = _COUNT.match(self._text, self.at)
        if count is None:
            raise ValueError(f"no count at {self.at}")
        self.at = count.end()
        least = int(count[1])
        if not count[2]:
            return repeat(found, least, least)
        most = int(count[3]) if count[3] else None
        return NOTHING if most is not None and most < least else repeat(found, least, most)

    def _complemented(self, depth: int) -> Expression:
        negations = 0
        while self._take("~"):
            negations += 1
        found = self._simple(depth)
        return complement(found) if negations % 2 else found

    def _simple(self, depth: int) -> Expression:
        if self.at_end:
            raise ValueError("something is missing at the end")
        start = self.at
        char = self._text[start]
        self.at += 1
        if char == "[":
            return self._set()
        if char == "(":
            return self._group(depth)
        if char == '"':
            return self._quoted(start)
        if char == "<":
            return self._interval(start)
        known = {".": Chars(frozenset(), negated=True), "#": NOTHING, "@": ANY}.get(char)
        return known or self._char(start)

    def _group(self, depth: int) -> Expression:
        found = EMPTY if self._text.startswith(")", self.at) else self.union(depth + 1)
        if not self._take(")"):
            raise ValueError(f"no ) for the ( before {self.at}")
        return found

    def _quoted(self, start: int) -> Expression:
        end = self._text.find('"', self.at)
        if end < 0:
            raise ValueError(f"no end of the text that begins at {start}")
        found = [Chars(frozenset(((char, char),))) for char in self._text[self.at : end]]
        self.at = end + 1
        return concat(*found)

    def _interval(self, start: int) -> Expression:
        found = _NAMED.match(self._text, start)
        if found is None or not found[0].endswith(">"):
            raise ValueError(f"no end of the interval that begins at {start}")
        if found[3] is not None:
            raise ValueError(f"{found[0]} names an automaton, and there are none")
        self.at = found.end()
        return interval(found[1], found[2])

    def _set(self) -> Expression:
        negated = self._take("^")
        ranges: set[tuple[str, str]] = set()
        while True:
            low = self._literal()
            dash = self._take("-")
            if dash and self._text.startswith("]", self.at):
                ranges |= {(low, low), ("-", "-")}
            else:
                ranges.add((low, self._literal() if dash else low))
            if self._take("]"):
                return Chars(frozenset(ranges), negated=negated)

    def _char(self, start: int) -> Expression:
        self.at = start
        char = self._literal()
        return Chars(frozenset(((char, char),)))

    def _literal(self) -> str:
        self._take("\\")
        if self.at_end:
            raise ValueError("something is missing at the end")
        char = self._text[self.at]
        self.at += 1
        return char

    def _take(self, char: str) -> bool:
        if self._text.startswith(char, self.at):
            self.at += 1
            return True
        return False
