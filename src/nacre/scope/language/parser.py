"""Expressions: `host == 'a.test' and not path startswith '/private/'`.

    either     := both ("or" both)*
    both       := turned ("and" turned)*
    turned     := "not" turned | comparison
    comparison := value [operator value | ["not"] ("in" | "matches" | …) value]
    value      := attribute | text | number | "true" | "false" | "[" value, … "]" | "(" either ")"

What is read is checked for its types at once and compiled to closures; nothing of it is executed.
"""

import difflib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nacre.scope.language.attributes import ATTRIBUTES, NUMBER, OF_ORIGIN, TEXT, TRUTH, Getter
from nacre.scope.language.operators import WORDS, Operand, compare, word
from nacre.scope.language.tokens import ExpressionError, Token, tokens
from nacre.scope.rule import Need, Predicate
from nacre.scope.state import ScopeState

MAX_DEPTH = 50
"""Brackets and `not` within each other."""

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_LITERALS = {"true": True, "false": False}
_RESERVED = frozenset(("and", "or", "not", *WORDS))


class Expression(NamedTuple):
    """An expression that was understood.

    Attributes:
        needs: What must be known at the place where it is asked.
        build: Its test, for a scope.
        asks_origin: It asks where the URI was found.
    """

    needs: Need
    build: Callable[[ScopeState], Predicate]
    asks_origin: bool


def parse_expression(text: str) -> Expression:
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

    def expression(self) -> Expression:
        if self._next.kind == "end":
            raise self._error("there is no expression")
        result = self._either()
        if self._next.kind != "end":
            raise self._error("this was not expected here")
        self._truth(result)
        return Expression(result.needs, result.make, self._asks_origin)

    # ---- words

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> bool:
        token = self._next
        found = token.kind in ("name", "mark") and token.text in texts
        self._at += found
        return found

    def _error(self, message: str, position: int | None = None) -> ExpressionError:
        where = self._next.position if position is None else position
        return ExpressionError(message, self._text, where)

    # ---- grammar

    def _either(self) -> Operand:
        return self._chain(self._both, "or", _any)

    def _both(self) -> Operand:
        return self._chain(self._turned, "and", _all)

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

    def _turned(self) -> Operand:
        position = self._next.position
        if not self._take("not"):
            return self._comparison()
        with self._deeper():
            inner = self._turned()
        self._truth(inner)
        return Operand(TRUTH, inner.needs, lambda state: _negated(inner.make(state)), position)

    def _comparison(self) -> Operand:
        left = self._value()
        token = self._next
        if token.kind == "mark" and token.text in _COMPARISONS:
            self._at += 1
            return self._checked(compare, token.text, left, self._value())
        negated = self._take("not")
        token = self._next
        if token.kind == "name" and token.text in WORDS:
            self._at += 1
            found = self._checked(word, token.text, left, self._value())
            make = found.make
            return found._replace(make=lambda state: _negated(make(state))) if negated else found
        if negated:
            raise self._error("behind `not` comes one of: " + ", ".join(sorted(WORDS)))
        return left

    def _checked(
        self,
        made: Callable[[str, Operand, Operand], Operand],
        operator: str,
        left: Operand,
        right: Operand,
    ) -> Operand:
        try:
            return made(operator, left, right)
        except ValueError as error:
            raise self._error(str(error), right.position) from None

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
                raise self._error("an attribute or a value is missing", token.position)

    def _bracket(self) -> Operand:
        with self._deeper():
            inner = self._either()
        if not self._take(")"):
            raise self._error("`)` is missing")
        return inner

    def _list(self, start: Token) -> Operand:
        items: list[Operand] = []
        while not self._take("]"):
            if items and not self._take(","):
                raise self._error("`,` or `]` is missing")
            if items and self._take("]"):
                break
            with self._deeper():
                items.append(self._value())
        kinds = {item.kind for item in items}
        if len(kinds) > 1 or not kinds <= {TEXT, NUMBER}:
            raise self._error("a list holds texts or numbers", start.position)
        if any(item.constant is None for item in items):
            raise self._error("a list holds values, not attributes", start.position)
        values = frozenset(item.constant for item in items)
        kind = f"list of {kinds.pop() if kinds else TEXT}s"
        return _constant(kind, values, start.position)

    def _name(self, name: str, token: Token) -> Operand:
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
                f"a comparison is missing: this is a {operand.kind}", operand.position
            )

    def _deeper(self) -> "_Parser":
        if self._depth >= MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} brackets within each other")
        return self

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1


def _unknown(name: str) -> str:
    if name in _RESERVED:
        return "an attribute or a value is missing"
    near = difflib.get_close_matches(name, ATTRIBUTES, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "texts stand in quotes"
    return f"there is no attribute `{name}`; {hint}"


def _constant(kind: str, value: Any, position: int) -> Operand:  # noqa: ANN401 - text or number
    return Operand(kind, Need.NOTHING, lambda _: lambda subject: value, position, value)


def _negated(test: Getter) -> Getter:
    return lambda subject: not test(subject)


def _any(tests: Sequence[Getter]) -> Getter:
    return lambda subject: any(test(subject) for test in tests)


def _all(tests: Sequence[Getter]) -> Getter:
    return lambda subject: all(test(subject) for test in tests)
