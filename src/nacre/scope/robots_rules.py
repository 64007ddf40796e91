"""The rules of robots.txt that hold for one crawler, and what they say of a path.

Of the rules that match, the longest pattern wins, Allow on a tie; no match allows. A pattern
matches from the start of the path; `*` is any run of bytes, a final `$` the end. Sources: RFC 9309
2.2.2 and 2.2.3; Google's matcher for what they leave open.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

_ESCAPES = rb"%([0-9A-Fa-f]{2})"
# Everything but unreserved and reserved characters (RFC 3986 2.2, 2.3) and `%`.
_STRANGE = rb"[^A-Za-z0-9._~:/?#\[\]@!&'()+,;=*$%-]"
_IN_PATTERN = re.compile(_ESCAPES + rb"|(" + _STRANGE + rb")")
_IN_PATH = re.compile(_ESCAPES + rb"|([*$]|" + _STRANGE + rb")")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class RobotsRule(NamedTuple):
    """An Allow or Disallow line.

    Attributes:
        allow: Allow, not Disallow.
        pattern: Its value, as written.
        line: The whole line.
    """

    allow: bool
    pattern: bytes
    line: bytes


class RobotsVerdict(NamedTuple):
    """May it be fetched, and the line that says so; "" when none speaks of it."""

    allowed: bool
    line: str


_SILENCE = RobotsVerdict(allowed=True, line="")


class _Ranked(NamedTuple):
    """What a matching pattern is worth: compared by length, then Allow before Disallow."""

    size: int
    allow: bool
    line: bytes


class _Wild(NamedTuple):
    """A pattern with `*` within it, taken apart.

    Attributes:
        ranked: What it is worth.
        head: What the path begins with.
        pieces: What follows, in this order.
        tail: What the path ends with; None when the pattern is not anchored.
    """

    ranked: _Ranked
    head: bytes
    pieces: tuple[bytes, ...]
    tail: bytes | None


class AgentRules:
    """The rules that hold for one crawler.

    Patterns without `*` are looked up, by each length that occurs; only the others are tried, so
    that a file of thousands of lines costs some microseconds.

    Args:
        rules: In the order of the file.
        crawl_delay: Seconds; None when there is none.

    Attributes:
        crawl_delay: As given.
    """

    __slots__ = ("_exact", "_lengths", "_prefixes", "_wild", "crawl_delay")

    def __init__(self, rules: Iterable[RobotsRule], crawl_delay: float | None = None) -> None:
        self.crawl_delay = crawl_delay
        self._prefixes: dict[bytes, _Ranked] = {}
        self._exact: dict[bytes, _Ranked] = {}
        wild: dict[bytes, _Wild] = {}
        for rule in rules:
            self._take(rule, normal_pattern(rule.pattern), wild)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})
        self._wild = sorted(wild.values(), key=lambda one: one.ranked[:2], reverse=True)

    def _take(self, rule: RobotsRule, pattern: bytes, wild: dict[bytes, _Wild]) -> None:
        ranked = _Ranked(len(pattern), rule.allow, rule.line)
        anchored = pattern.endswith(b"$")
        body = pattern[:-1] if anchored else pattern.rstrip(b"*")
        if b"*" in body:
            known = wild.get(pattern)
            if known is None or ranked[:2] > known.ranked[:2]:
                wild[pattern] = _taken_apart(ranked, body, anchored=anchored)
            return
        table = self._exact if anchored else self._prefixes
        if body not in table or ranked[:2] > table[body][:2]:
            table[body] = ranked

    def verdict(self, target: str) -> RobotsVerdict:
        """Judge a request target: path and query. robots.txt itself is always allowed."""
        path = normal_path(target)
        if path == b"/robots.txt":
            return _SILENCE
        best = self._best_wild(path, self._best_literal(path))
        if best is None:
            return _SILENCE
        return RobotsVerdict(best.allow, best.line.decode("utf-8", "replace"))

    def _best_literal(self, path: bytes) -> _Ranked | None:
        best, size, prefixes = self._exact.get(path), len(path), self._prefixes
        for length in self._lengths:
            if length > size:
                break
            found = prefixes.get(path[:length])
            if found is not None and (best is None or found[:2] > best[:2]):
                best = found
        return best

    def _best_wild(self, path: bytes, best: _Ranked | None) -> _Ranked | None:
        for wild in self._wild:
            if best is not None and wild.ranked[:2] <= best[:2]:
                break
            if path.startswith(wild.head) and _follows(path, wild):
                return wild.ranked
        return best


def _taken_apart(ranked: _Ranked, body: bytes, *, anchored: bool) -> _Wild:
    head, *rest = body.split(b"*")
    tail = rest.pop() if anchored else None
    return _Wild(ranked, head, tuple(filter(None, rest)), tail)


def _follows(path: bytes, wild: _Wild) -> bool:
    """The rest of a pattern whose head matches: each piece as early as possible, so linear."""
    position = len(wild.head)
    for piece in wild.pieces:
        found = path.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    tail = wild.tail
    return tail is None or (len(path) - len(tail) >= position and path.endswith(tail))


def normal_path(target: str) -> bytes:
    """A request target as it is compared.

    Escapes of unreserved characters are decoded, others in capitals, what no URL may hold is
    escaped; so are `*` and `$`, which stand for themselves here.
    """
    path = target.encode("utf-8", "surrogatepass").partition(b"#")[0]
    return _IN_PATH.sub(_normal, path) or b"/"


def normal_pattern(value: bytes) -> bytes:
    """The value of a rule as it is compared: like a path, but `*` and a final `$` are signs."""
    body, end = (value[:-1], b"$") if value.endswith(b"$") else (value, b"")
    return _IN_PATTERN.sub(_normal, body).replace(b"$", b"%24") + end


def _normal(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    if escape is None:
        return b"%%%02X" % match[2][0]
    octet = int(escape, 16)
    return bytes((octet,)) if octet in _UNRESERVED else b"%" + escape.upper()
