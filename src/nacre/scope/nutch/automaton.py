"""Expressions in the syntax of dk.brics.automaton, as RE2 takes them.

`@` is any text, `#` none, `"..."` literal text, `<n-m>` a number in a range. A complement
(`~x`), an intersection (`x&y`) and counts too large for RE2 are refused with a message.
"""

import re

from nacre.messages import message
from nacre.scope.patterns.matching import for_re2

MAX_DEPTH = 100
"""Brackets inside each other."""

_COUNT = re.compile(r"\{(\d{1,6})(,)?(\d{1,6})?\}")
_NAMED = re.compile(r"<(?:(\d{1,18})-(\d{1,18})|([^>]*))>?")

_ANY_CHAR = r"(?s:.)"
_NOTHING = r"[^\x00-\x{10FFFF}]"
_SIMPLE = {".": _ANY_CHAR, "#": _NOTHING, "@": f"{_ANY_CHAR}*"}


def automaton_regex(text: str) -> str:
    """Return the expression for RE2, to be matched with a whole text.

    Raises:
        ValueError: The expression is invalid, or RE2 cannot express it; the message has the place.
    """
    parser = _AutomatonParser(text)
    translated = parser.union(0) if text else ""
    if not parser.at_end:
        raise ValueError(
            message(
                "scope.unexpected-at",
                "unexpected {text!r} at {at}",
                text=text[parser.at],
                at=parser.at,
            )
        )
    accepted = for_re2(translated)
    if accepted is None:
        raise ValueError(
            message(
                "scope.repetitions-limit",
                "its counts are too large: at most 1,000 repetitions in all",
            )
        )
    return accepted


class _AutomatonParser:
    """Recursive-descent parser of one expression; the result is an expression for RE2."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    @property
    def at_end(self) -> bool:
        return self.at >= len(self._text)

    def union(self, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise ValueError(
                message(
                    "scope.expression-depth",
                    "more than {max_depth} brackets inside each other",
                    max_depth=MAX_DEPTH,
                )
            )
        members = [self._sequence(depth)]
        while self._take("|"):
            members.append(self._sequence(depth))
        return members[0] if len(members) == 1 else _either(*members)

    def _sequence(self, depth: int) -> str:
        parts = [self._repetition(depth)]
        while not self.at_end and self._text[self.at] not in ")|":
            parts.append(self._repetition(depth))
        return "".join(parts)

    def _repetition(self, depth: int) -> str:
        expression = self._simple(depth)
        while not self.at_end and self._text[self.at] in "?*+{":
            expression = f"(?:{expression}){self._count()}"
        return expression

    def _count(self) -> str:
        sign = self._text[self.at]
        if sign != "{":
            self.at += 1
            return sign
        count = _COUNT.match(self._text, self.at)
        if count is None:
            raise ValueError(message("scope.no-count", "no count at {at}", at=self.at))
        self.at = count.end()
        least = int(count[1])
        if not count[2]:
            return f"{{{least}}}"
        if not count[3]:
            return f"{{{least},}}"
        # More than at most: no text at all.
        return f"{{{least},{int(count[3])}}}" if least <= int(count[3]) else f"{{0}}{_NOTHING}"

    def _simple(self, depth: int) -> str:
        if self.at_end:
            raise ValueError(
                message("scope.something-is-missing-at-end", "something is missing at the end")
            )
        start = self.at
        char = self._text[start]
        self.at += 1
        if char in "~&":
            operation = "a complement" if char == "~" else "an intersection"
            raise ValueError(
                message(
                    "scope.at-is-not-supported",
                    "{what} ({char}) at {start} is not supported: write the rules that reject "
                    "before "
                    "those that accept, or \\{char} for the character",
                    what=operation,
                    char=char,
                    start=start,
                )
            )
        if char == "[":
            return self._set()
        if char == "(":
            return self._group(depth)
        if char == '"':
            return self._quotation(start)
        if char == "<":
            return self._interval(start)
        return _SIMPLE.get(char) or self._char(start)

    def _group(self, depth: int) -> str:
        expression = "" if self._text.startswith(")", self.at) else self.union(depth + 1)
        if not self._take(")"):
            raise ValueError(message("scope.no-for", "no ) for the ( before {at}", at=self.at))
        return f"(?:{expression})"

    def _quotation(self, start: int) -> str:
        end = self._text.find('"', self.at)
        if end < 0:
            raise ValueError(
                message(
                    "scope.open-text",
                    "no end of the text that begins at {start}",
                    start=start,
                )
            )
        literal = "".join(map(_escape, self._text[self.at : end]))
        self.at = end + 1
        return f"(?:{literal})"

    def _interval(self, start: int) -> str:
        match = _NAMED.match(self._text, start)
        if match is None or not match[0].endswith(">"):
            raise ValueError(
                message(
                    "scope.open-interval",
                    "no end of the interval that begins at {start}",
                    start=start,
                )
            )
        if match[3] is not None:
            raise ValueError(
                message(
                    "scope.names-automaton",
                    "{name} refers to an automaton, which is not supported",
                    name=match[0],
                )
            )
        self.at = match.end()
        return interval(match[1], match[2])

    def _set(self) -> str:
        negated = self._take("^")
        ranges: list[tuple[str, str]] = []
        while True:
            low = self._literal()
            dash = self._take("-")
            if dash and self._text.startswith("]", self.at):
                ranges += [(low, low), ("-", "-")]
            else:
                ranges.append((low, self._literal() if dash else low))
            if self._take("]"):
                return _set_text(ranges, negated=negated)

    def _char(self, start: int) -> str:
        self.at = start
        return _escape(self._literal())

    def _literal(self) -> str:
        self._take("\\")
        if self.at_end:
            raise ValueError(
                message("scope.something-is-missing-at-end", "something is missing at the end")
            )
        char = self._text[self.at]
        self.at += 1
        return char

    def _take(self, char: str) -> bool:
        if self._text.startswith(char, self.at):
            self.at += 1
            return True
        return False


def interval(low: str, high: str) -> str:
    """Return an expression for the decimal numbers from one bound to the other, in either order.

    Two bounds of the same length match exactly that many digits; others allow leading zeros.
    """
    first, last = sorted((int(low), int(high)))
    if len(low) == len(high):
        return _between(f"{first:0{len(low)}}", f"{last:0{len(low)}}")
    sizes = range(len(str(first)), len(str(last)) + 1)
    bare = [
        _between(str(max(first, 10 ** (size - 1) if size > 1 else 0)), str(min(last, 10**size - 1)))
        for size in sizes
    ]
    return f"0*{_either(*bare)}"


def _between(low: str, high: str) -> str:
    """Return an expression for the texts of digits of one length from one to the other."""
    if not low:
        return ""
    if low[0] == high[0]:
        return low[0] + _between(low[1:], high[1:])
    digits = len(low) - 1
    members = [
        low[0] + _between(low[1:], "9" * digits),
        high[0] + _between("0" * digits, high[1:]),
    ]
    if ord(high[0]) - ord(low[0]) > 1:
        middle = f"[{chr(ord(low[0]) + 1)}-{chr(ord(high[0]) - 1)}]"
        members.append(f"{middle}[0-9]{{{digits}}}")
    return _either(*members)


def _either(*members: str) -> str:
    return f"(?:{'|'.join(members)})"


def _set_text(ranges: list[tuple[str, str]], *, negated: bool) -> str:
    texts = [
        _escape(low) if low == high else f"{_escape(low)}-{_escape(high)}"
        for low, high in ranges
        if low <= high
    ]
    if not texts:
        return _ANY_CHAR if negated else _NOTHING
    return f"[{'^' * negated}{''.join(texts)}]"


def _escape(char: str) -> str:
    return re.escape(char) if ord(char) < 128 else char
