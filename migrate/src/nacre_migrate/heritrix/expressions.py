"""Expressions of Spring (SpEL) of the simple kinds, and placeholders with variables.

Of `#{systemEnvironment['NAME'] ?: 'text'}` known are texts, numbers, `true`, `false` and `null`;
`systemEnvironment` and `systemProperties`; `a ?: b`, `a ? b : c`, `a == b`, `a != b`, `!a`, `a + b`
and brackets. Nothing is run: any other expression is refused, and reported. Variables
are `${name:default}`, and what tools for templates leave in a text.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from nacre_migrate.files import TO_FILL_IN

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*'|\"[^\"]*\")|(?P<number>-?[0-9]+(?:\.[0-9]+)?)[lLfFdD]?"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>\?:|==|!=|[?:!+()\[\].]))"
)
_WORDS: dict[str, str | None] = {"true": "true", "false": "false", "null": None}
_MAPS = ("systemEnvironment", "systemProperties")
_MAX_CHARS = 10_000
_MAX_DEPTH = 50


class Translated(NamedTuple):
    """A text with its expressions worked out.

    Attributes:
        text: The text.
        notes: What its values depended on, for the report.
        problem: Why it could not be worked out; then the text is as it was. "" for nothing.
    """

    text: str
    notes: tuple[str, ...] = ()
    problem: str = ""


class _Refused(Exception):  # noqa: N818 - never leaves this module
    """An expression of another kind; the message has the part."""


def translated(text: str, environ: Mapping[str, str], *, later: bool = False) -> Translated:
    """Work out all `#{…}` in a text.

    Args:
        text: Any text.
        environ: The environment.
        later: The text goes where `${env:NAME}` is understood: a variable that is not set and has
            no other value is left to the start of the crawl.
    """
    parts: list[str] = []
    notes: list[str] = []
    place = 0
    try:
        while (start := text.find("#{", place)) >= 0:
            parser = _Parser(text, start + 2, environ, later=later)
            value, end = parser.read()
            parts += (text[place:start], "" if value is None else value)
            notes += parser.notes
            place = end
    except _Refused as error:
        return Translated(text, (), str(error))
    return Translated("".join((*parts, text[place:])), tuple(dict.fromkeys(notes)))


class _Parser:
    """Reads one expression up to its `}` and works it out on the way."""

    def __init__(self, text: str, place: int, environ: Mapping[str, str], *, later: bool) -> None:
        if len(text) > _MAX_CHARS:
            raise _Refused("an expression in a very long text")
        self._text = text
        self._place = place
        self._environ = environ
        self._later = later
        self._depth = 0
        self.notes: list[str] = []

    def read(self) -> tuple[str | None, int]:
        """The value, and the place behind the closing brace."""
        value = self._choice()
        end = re.compile(r"\s*\}").match(self._text, self._place)
        if end is None:
            raise _Refused(self._unknown())
        if isinstance(value, _Unset):
            value = self._without_default(value)
        return value, end.end()

    def _without_default(self, unset: "_Unset") -> str:
        if self._later and unset.map == _MAPS[0]:
            self.notes.append(f"{unset.name} of the environment is read when the crawl starts")
            return f"${{env:{unset.name}}}"
        raise _Refused(f"{unset.note}, and the file has no other value for it")

    def _choice(self) -> "str | _Unset | None":
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Refused("an expression with very many brackets")
        value = self._sum()
        sign = self._peek("sign")
        if sign in {"==", "!="}:
            self._take()
            same = _plain(value) == _plain(self._sum())
            value = "true" if same is (sign == "==") else "false"
            sign = self._peek("sign")
        if sign == "?:":
            value = self._or_else(value)
        elif sign == "?":
            self._take()
            yes = self._choice()
            self._expect(":")
            no = self._choice()
            value = yes if _plain(value) == "true" else no
        self._depth -= 1
        return value

    def _or_else(self, value: "str | _Unset | None") -> "str | _Unset | None":
        self._take()
        before, notes = self._place, len(self.notes)
        if _plain(value):
            try:
                self._choice()
            except _Refused:
                # Never worked out by Spring either: the text does not matter.
                end = self._text.find("}", before)
                self._place = end if end >= 0 else len(self._text)
            del self.notes[notes:]
            return value
        default = self._choice()
        if isinstance(value, _Unset):
            self.notes.append(f"{value.note}: {_plain(default) or 'empty'} holds")
        return default

    def _sum(self) -> "str | _Unset | None":
        value = self._operand()
        while self._peek("sign") == "+":
            self._take()
            right = self._operand()
            if isinstance(value, _Number) and isinstance(right, _Number):
                raise _Refused("a sum is more than an expression of the simple kinds")
            value = self._joined(value) + self._joined(right)
        return value

    def _joined(self, value: "str | _Unset | None") -> str:
        if isinstance(value, _Unset):
            raise _Refused(f"{value.note}, and the file has no other value for it")
        return value or "null"

    def _operand(self) -> "str | _Unset | None":
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Refused("an expression with very many brackets")
        value = self._value()
        self._depth -= 1
        return value

    def _value(self) -> "str | _Unset | None":
        kind, symbol = self._take()
        if kind == "text":
            quote = symbol[0]
            return symbol[1:-1].replace(quote * 2, quote)
        if kind == "number":
            return _Number(symbol)
        if symbol == "!":
            return "false" if _plain(self._operand()) == "true" else "true"
        if symbol == "(":
            value = self._choice()
            self._expect(")")
            return value
        if symbol in _MAPS:
            return self._looked_up(symbol)
        if symbol in _WORDS:
            return _WORDS[symbol]
        raise _Refused(f"`{symbol}` is more than an expression of the simple kinds")

    def _looked_up(self, name: str) -> "str | _Unset":
        _, sign = self._take()
        if sign not in {"[", "."}:
            raise _Refused(self._unknown())
        kind, key = self._take()
        key = key[1:-1] if kind == "text" else key
        if sign == "[":
            self._expect("]")
        if kind not in {"text", "name"}:
            raise _Refused(self._unknown())
        if name == _MAPS[0] and self._environ.get(key):
            self.notes.append(f"{key} of the environment, as it is now")
            return self._environ[key]
        return _Unset(name, key)

    def _peek(self, kind: str) -> str:
        match = _TOKEN.match(self._text, self._place)
        return match[kind] or "" if match is not None else ""

    def _take(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._place)
        if match is None or match.lastgroup is None:
            raise _Refused(self._unknown())
        self._place = match.end()
        return match.lastgroup, match[match.lastgroup]

    def _expect(self, sign: str) -> None:
        if self._take()[1] != sign:
            raise _Refused(self._unknown())

    def _unknown(self) -> str:
        rest = self._text[self._place : self._place + 30].split("}")[0].strip()
        return f"`{rest}` is more than an expression of the simple kinds"


class _Number(str):
    """A number, which `+` adds."""

    __slots__ = ()


class _Unset(NamedTuple):
    """A variable or property without a value."""

    map: str
    name: str

    @property
    def note(self) -> str:
        """The sentence about it in a report."""
        if self.map == _MAPS[0]:
            return f"the environment has no {self.name}"
        return f"there is no Java property {self.name} here"


def _plain(value: str | _Unset | None) -> str:
    return value if isinstance(value, str) else ""


_VARIABLE = re.compile(r"\$\{([^${}:]+)(?::([^${}]*))?\}")
_OF_HERITRIX = frozenset(("launchId", "prefix", "timestamp17", "timestamp14", "serialno"))
_OPEN = (
    (re.compile(r"#\{"), "an expression of Spring"),
    (re.compile(r"\$\{(?P<name>[^}]*)\}?"), "a placeholder, which only Spring fills in"),
    (TO_FILL_IN, "a placeholder of a template"),
)
_GROUP = re.compile(r"env:|[0-9]+\Z")
_WRITE = "write the value"
_ROUNDS = 10
_MAX_FILLED_CHARS = 1_000_000


def open_doubt(text: str) -> str:
    """The reason why a text is not used unchanged; "" where it is."""
    reason = still_open(text)
    return f"{reason}: {_WRITE}" if reason else ""


def still_open(text: str) -> str:
    """The part of a text that was to be filled in; "" for none. Heritrix fills in its own names."""
    for expression, meaning in _OPEN:
        for match in expression.finditer(text):
            name = match.groupdict().get("name")
            if name is None or not (_is_heritrix(name) or _GROUP.match(name)):
                return meaning
    return ""


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its `${name}` and `${name:default}` filled in, as far as they are known."""

    def value(match: re.Match[str]) -> str:
        name = match[1].strip()
        if _is_heritrix(name):
            return match[0]
        return values.get(name, match[0] if match[2] is None else match[2])

    for _ in range(_ROUNDS):
        before, text = text, _VARIABLE.sub(value, text)
        if text == before or len(text) > _MAX_FILLED_CHARS:
            break
    return text


def _is_heritrix(name: str) -> bool:
    return name in _OF_HERITRIX or name.startswith("heritrix.")
