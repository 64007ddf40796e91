"""The canonicalisation rule that an operator writes: a regular expression and a format."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import re2

from nacre.errors import ConfigError

TIME_LIMIT = 0.05
"""Seconds for one match of an expression that RE2 refuses; longer counts as no match."""

_REFERENCE = re.compile(r"\$(?:(\d)|\{(\d+)\})|\\(.)", re.DOTALL)


class Match(Protocol):
    """What both engines answer."""

    def group(self, number: int, /) -> str | None:
        """The text of a group; None where it took no part."""
        ...


@dataclass(frozen=True, slots=True)
class Regex:
    """Rewrite a URL that matches as a whole; one that does not match stays.

    Attributes:
        regex: Regular expression for the whole URL. RE2 runs it; one with look-around or
            back-references runs with a limit of 50 ms.
        format: The new URL; `$1` or `${1}` stands for a group, empty where it took no part, and a
            backslash makes the next character plain.

    Raises:
        ConfigError: The expression is none, or the format names a group that it does not have.
    """

    marks: ClassVar[str] = ""

    regex: str = "(.*)"
    format: str = "$1"
    _match: Callable[[str], Match | None] = field(init=False, repr=False, compare=False)
    _parts: tuple[str | int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile."""
        match, groups = _compile(self.regex)
        parts = _parse_format(self.format)
        if any(isinstance(part, int) and part > groups for part in parts):
            raise ConfigError(f"{self.format!r} names a group that {self.regex!r} does not have")
        object.__setattr__(self, "_match", match)
        object.__setattr__(self, "_parts", parts)

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        found = self._match(url)
        if found is None:
            return url
        return "".join(
            [part if isinstance(part, str) else found.group(part) or "" for part in self._parts]
        )


def _compile(expression: str) -> tuple[Callable[[str], Match | None], int]:
    """A whole match by RE2, or by the slower module within a time limit; and the group count."""
    options = re2.Options()
    options.log_errors = False
    try:
        fast = re2.compile(expression, options)
    except re2.error:
        return _compile_slow(expression)
    return fast.fullmatch, fast.groups


def _compile_slow(expression: str) -> tuple[Callable[[str], Match | None], int]:
    import regex as backtracking  # noqa: PLC0415 - slow to load and rarely needed

    try:
        slow = backtracking.compile(expression, backtracking.VERSION1)
    except backtracking.error as error:
        raise ConfigError(f"{expression!r} is no regular expression: {error}") from error

    def match(text: str) -> Match | None:
        try:
            found: Match | None = slow.fullmatch(text, timeout=TIME_LIMIT)
        except TimeoutError:
            return None
        return found

    return match, slow.groups


def _parse_format(text: str) -> tuple[str | int, ...]:
    parts: list[str | int] = []
    end = 0
    for found in _REFERENCE.finditer(text):
        parts.append(text[end : found.start()])
        number = found[1] or found[2]
        parts.append(int(number) if number else found[3])
        end = found.end()
    parts.append(text[end:])
    return tuple(part for part in parts if part != "")
