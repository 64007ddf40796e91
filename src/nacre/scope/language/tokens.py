"""The words of an expression."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_LENGTH = 20_000
"""Characters that an expression may have."""


class ExpressionError(ValueError):
    """An expression that cannot be understood, with the place.

    Args:
        message: What is wrong.
        text: The expression.
        position: Where, from 0.
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        shown = text[position : position + 20].split("\n", maxsplit=1)[0]
        where = f"at character {position + 1}, before {shown!r}" if shown else "at its end"
        super().__init__(f"{message} ({where})")
        self.position = position


class Token(NamedTuple):
    """One word.

    Attributes:
        kind: `name`, `text`, `number`, `mark` or `end`.
        text: As written; of a text what it means.
        position: Where it begins, from 0.
    """

    kind: str
    text: str
    position: int


_TOKEN = re.compile(
    r"""\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>-?[0-9][0-9_]*)(?![A-Za-z0-9_.])
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<mark>==|!=|<=|>=|[<>()\[\],]))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\([\\'\"])")


def tokens(text: str) -> Iterator[Token]:
    r"""The words of an expression, with one of kind `end` behind them.

    In a text `\'`, `\"` and `\\` stand for the character; any other backslash is itself, so that
    regular expressions can be written as they are.

    Raises:
        ExpressionError: It is too long, or holds what is no word.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"it is longer than {MAX_LENGTH} characters", text, MAX_LENGTH)
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            position = at + len(text[at:]) - len(text[at:].lstrip())
            raise ExpressionError(_complaint(text[position]), text, position)
        kind = match.lastgroup or "mark"
        word, start = match[kind], match.start(kind)
        yield Token(kind, _ESCAPED.sub(r"\1", word[1:-1]) if kind == "text" else word, start)
        at = match.end()
    yield Token("end", "", len(text))


def _complaint(character: str) -> str:
    if character in "'\"":
        return "a text without its closing quote"
    if character == "=":
        return "`=` is no comparison; write `==`"
    if character in "&|!":
        return "write `and`, `or`, `not`"
    return "this is no word of the language"
