"""The DecideRule with an expression, in place of Heritrix's scripts, and its parser.

Expressions: `host == 'a.test' and not path startswith '/private/'`.

    either     := both ("or" both)*
    both       := turned ("and" turned)*
    turned     := "not" turned | comparison
    comparison := value [operator value | ["not"] ("in" | "matches" | …) value]
    value      := attribute | text | number | "true" | "false" | "[" value, … "]" | "(" either ")"

An expression is checked for its types at once and compiled to closures; nothing of it is executed.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import field_validator

from nacre.config.component import setting
from nacre.config.registry import did_you_mean
from nacre.messages import error_text, message
from nacre.scope.rules.expression_terms import (
    ATTRIBUTES,
    NUMBER,
    OF_ORIGIN,
    TEXT,
    TRUTH,
    WORDS,
    Getter,
    Operand,
    compare,
    word,
)
from nacre.scope.rules.rule import Predicated
from nacre.scope.scope import Predicate
from nacre.scope.state import ScopeState
from nacre.scope.subject import Need

MAX_LENGTH = 20_000
"""Characters that an expression may have."""

MAX_DEPTH = 50
"""Brackets and `not` within each other."""

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_LITERALS = {"true": True, "false": False}
_RESERVED = frozenset(("and", "or", "not", *WORDS))


class ExpressionRule(Predicated):
    """The expression is true of the URI. Its language, in scope.md, cannot run code."""

    heritrix = "ExpressionDecideRule"
    rule: Literal["expression"] = "expression"
    expression: str = setting(
        ..., "Such as `host endswith '.example.org' and not path startswith '/old/'`."
    )

    @field_validator("expression")
    @classmethod
    def _understood(cls, value: str) -> str:
        parse_expression(value)
        return value

    @property
    def needs(self) -> Need:
        """See `Rule.needs`."""
        return parse_expression(self.expression).needs

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return parse_expression(self.expression).asks_origin

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return parse_expression(self.expression).build(state)


class ExpressionError(ValueError):
    """An expression that cannot be understood, with the place.

    Args:
        reason: What is wrong.
        text: The expression.
        position: Where, from 0.
    """

    def __init__(self, reason: str, text: str, position: int) -> None:
        excerpt = text[position : position + 20].split("\n", maxsplit=1)[0]
        where = (
            message(
                "scope.at-character",
                "at character {position}, before {shown!r}",
                position=position + 1,
                shown=excerpt,
            )
            if excerpt
            else message("scope.at-end", "at its end")
        )
        super().__init__(
            message("scope.wrong-expression", "{reason} ({where})", reason=reason, where=where)
        )
        self.position = position


class ExpressionToken(NamedTuple):
    """One word.

    Attributes:
        kind: `name`, `text`, `number`, `mark` or `end`.
        text: As written; for a quoted text, its value.
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


def tokens(text: str) -> Iterator[ExpressionToken]:
    r"""Yield the words of an expression, then a word of kind `end`.

    In a text `\'`, `\"` and `\\` stand for the character; any other backslash is itself, so that
    regular expressions can be written as they are.

    Raises:
        ExpressionError: The expression is too long, or has a character that begins no token.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            message(
                "scope.pattern-length",
                "it is longer than {max_length} characters",
                max_length=MAX_LENGTH,
            ),
            text,
            MAX_LENGTH,
        )
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            position = at + len(text[at:]) - len(text[at:].lstrip())
            raise ExpressionError(_complaint(text[position]), text, position)
        kind = match.lastgroup or "mark"
        word, start = match[kind], match.start(kind)
        yield ExpressionToken(
            kind, _ESCAPED.sub(r"\1", word[1:-1]) if kind == "text" else word, start
        )
        at = match.end()
    yield ExpressionToken("end", "", len(text))


def _complaint(character: str) -> str:
    if character in "'\"":
        return message("scope.open-quote", "a text without its closing quote")
    if character == "=":
        return message("scope.is-not-comparison", "`=` is not a comparison; write `==`")
    if character in "&|!":
        return message("scope.write-and", "write `and`, `or`, `not`")
    return message("scope.unknown-token", "this is not part of the language")


class ParsedExpression(NamedTuple):
    """An expression that was understood.

    Attributes:
        needs: Facts that its place must have.
        build: Its test, for a scope.
        asks_origin: Whether it uses the page where the URI was found.
    """

    needs: Need
    build: Callable[[ScopeState], Predicate]
    asks_origin: bool


def parse_expression(text: str) -> ParsedExpression:
    """Understand an expression.

    Raises:
        ExpressionError: It is none, with the place and the reason.
    """
    return _Parser(text).expression()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(tokens(text))
        self._at = 0
        self._depth = 0
        self._asks_origin = False

    def expression(self) -> ParsedExpression:
        if self._next.kind == "end":
            raise self._error(message("scope.no-expression", "there is no expression"))
        result = self._either()
        if self._next.kind != "end":
            raise self._error(message("scope.unexpected-token", "this was not expected here"))
        self._truth(result)
        return ParsedExpression(result.needs, result.make, self._asks_origin)

    # ---- words

    @property
    def _next(self) -> ExpressionToken:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> bool:
        token = self._next
        is_next = token.kind in ("name", "mark") and token.text in texts
        self._at += is_next
        return is_next

    def _error(self, reason: str, position: int | None = None) -> ExpressionError:
        where = self._next.position if position is None else position
        return ExpressionError(reason, self._text, where)

    # ---- grammar

    def _either(self) -> Operand:
        return self._chain(self._conjunction, "or", _any)

    def _conjunction(self) -> Operand:
        return self._chain(self._negation, "and", _all)

    def _chain(
        self,
        below: Callable[[], Operand],
        joint: str,
        join: Callable[[Sequence[Getter]], Getter],
    ) -> Operand:
        parts = [below()]
        while self._take(joint):
            parts.append(below())
        if len(parts) == 1:
            return parts[0]
        for part in parts:
            self._truth(part)
        needs = parts[0].needs
        for part in parts:
            needs |= part.needs
        makes = [part.make for part in parts]
        return Operand(
            TRUTH, needs, lambda state: join([make(state) for make in makes]), parts[0].position
        )

    def _negation(self) -> Operand:
        position = self._next.position
        if not self._take("not"):
            return self._comparison()
        with self._deeper():
            inner = self._negation()
        self._truth(inner)
        return Operand(TRUTH, inner.needs, lambda state: _negate(inner.make(state)), position)

    def _comparison(self) -> Operand:
        left = self._value()
        token = self._next
        if token.kind == "mark" and token.text in _COMPARISONS:
            self._at += 1
            return self._check_operands(compare, token.text, left, self._value())
        negated = self._take("not")
        token = self._next
        if token.kind == "name" and token.text in WORDS:
            self._at += 1
            compared = self._check_operands(word, token.text, left, self._value())
            make = compared.make
            return (
                compared._replace(make=lambda state: _negate(make(state))) if negated else compared
            )
        if negated:
            raise self._error(
                message(
                    "scope.behind-not-comes",
                    "behind `not` comes one of: {words}",
                    words=", ".join(sorted(WORDS)),
                )
            )
        return left

    def _check_operands(
        self,
        make: Callable[[str, Operand, Operand], Operand],
        operator: str,
        left: Operand,
        right: Operand,
    ) -> Operand:
        try:
            return make(operator, left, right)
        except ValueError as error:
            raise self._error(error_text(error), right.position) from None

    def _value(self) -> Operand:
        token = self._next
        self._at += token.kind != "end"
        match token.kind, token.text:
            case "text", text:
                return _constant(TEXT, text, token.position)
            case "number", text:
                return _constant(NUMBER, int(text.replace("_", "")), token.position)
            case "name", name:
                return self._name(name, token)
            case "mark", "(":
                return self._bracket()
            case "mark", "[":
                return self._list(token)
            case _:
                raise self._error(
                    message(
                        "scope.attribute-or-value-is-missing", "an attribute or a value is missing"
                    ),
                    token.position,
                )

    def _bracket(self) -> Operand:
        with self._deeper():
            inner = self._either()
        if not self._take(")"):
            raise self._error(message("scope.is-missing", "`)` is missing"))
        return inner

    def _list(self, start: ExpressionToken) -> Operand:
        items: list[Operand] = []
        while not self._take("]"):
            if items and not self._take(","):
                raise self._error(message("scope.or-is-missing", "`,` or `]` is missing"))
            if items and self._take("]"):
                break
            with self._deeper():
                items.append(self._value())
        kinds = {item.kind for item in items}
        if len(kinds) > 1 or not kinds <= {TEXT, NUMBER}:
            raise self._error(
                message("scope.list-holds-texts-or-numbers", "a list holds texts or numbers"),
                start.position,
            )
        if any(item.constant is None for item in items):
            raise self._error(
                message("scope.list-holds-values", "a list holds values, not attributes"),
                start.position,
            )
        values = frozenset(item.constant for item in items)
        kind = message("scope.list-of-s", "list of {kind}s", kind=kinds.pop() if kinds else TEXT)
        return _constant(kind, values, start.position)

    def _name(self, name: str, token: ExpressionToken) -> Operand:
        if name in _LITERALS:
            return _constant(TRUTH, _LITERALS[name], token.position)
        attribute = ATTRIBUTES.get(name)
        if attribute is None:
            self._at -= 1
            raise self._error(_unknown(name))
        self._asks_origin = self._asks_origin or name in OF_ORIGIN
        return Operand(attribute.kind, attribute.needs, attribute.get, token.position)

    # ---- checks

    def _truth(self, operand: Operand) -> None:
        if operand.kind != TRUTH:
            raise self._error(
                message(
                    "scope.comparison-is-missing",
                    "a comparison is missing: this is a {kind}",
                    kind=operand.kind,
                ),
                operand.position,
            )

    def _deeper(self) -> "_Parser":
        if self._depth >= MAX_DEPTH:
            raise self._error(
                message(
                    "scope.pattern-depth",
                    "more than {max_depth} brackets within each other",
                    max_depth=MAX_DEPTH,
                )
            )
        return self

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1


def _unknown(name: str) -> str:
    if name in _RESERVED:
        return message("scope.attribute-or-value-is-missing", "an attribute or a value is missing")
    near = difflib.get_close_matches(name, ATTRIBUTES, n=1)
    quoted = message("scope.texts-must-be-quoted", "texts must be quoted")
    hint = did_you_mean(near[0]) if near else quoted
    return message(
        "scope.no-attribute",
        "there is no attribute `{name}`; {hint}",
        name=name,
        hint=hint,
    )


def _constant(kind: str, value: Any, position: int) -> Operand:  # noqa: ANN401 - text or number
    return Operand(kind, Need.NOTHING, lambda _: lambda subject: value, position, value)


def _negate(test: Getter) -> Getter:
    return lambda subject: not test(subject)


def _any(tests: Sequence[Getter]) -> Getter:
    return lambda subject: any(test(subject) for test in tests)


def _all(tests: Sequence[Getter]) -> Getter:
    return lambda subject: all(test(subject) for test in tests)
