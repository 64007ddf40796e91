"""Regular expressions with complement and intersection, matched by derivatives.

The derivative of an expression by a character is the expression for what may follow it. Each is
made once and kept, which gives a deterministic automaton that grows as texts need it. Source: J. A.
Brzozowski, "Derivatives of Regular Expressions", 1964.
"""

import re
from dataclasses import dataclass
from functools import cached_property

_STATES = 10_000
"""States that one expression keeps; more start anew."""


class Expression:
    """A regular expression; equal ones are the same language written the same way."""

    @cached_property
    def nullable(self) -> bool:
        """The empty text is in its language."""
        raise NotImplementedError

    def after(self, char: str) -> "Expression":
        """The derivative: what may follow a character."""
        raise NotImplementedError


@dataclass(frozen=True)
class Chars(Expression):
    """One character of a set of ranges; the empty set is no text at all."""

    ranges: frozenset[tuple[str, str]]
    negated: bool = False

    @cached_property
    def nullable(self) -> bool:
        """See `Expression.nullable`."""
        return False

    def after(self, char: str) -> Expression:
        """See `Expression.after`."""
        inside = any(low <= char <= high for low, high in self.ranges)
        return EMPTY if inside is not self.negated else NOTHING


@dataclass(frozen=True)
class _Empty(Expression):
    @cached_property
    def nullable(self) -> bool:
        return True

    def after(self, char: str) -> Expression:
        return NOTHING


@dataclass(frozen=True)
class _Concat(Expression):
    parts: tuple[Expression, ...]

    @cached_property
    def nullable(self) -> bool:
        return all(part.nullable for part in self.parts)

    def after(self, char: str) -> Expression:
        found: Expression = NOTHING
        for place, part in enumerate(self.parts):
            found = either(found, concat(part.after(char), *self.parts[place + 1 :]))
            if not part.nullable:
                break
        return found


@dataclass(frozen=True)
class _Either(Expression):
    members: frozenset[Expression]

    @cached_property
    def nullable(self) -> bool:
        return any(member.nullable for member in self.members)

    def after(self, char: str) -> Expression:
        found: Expression = NOTHING
        for member in self.members:
            found = either(found, member.after(char))
        return found


@dataclass(frozen=True)
class _Both(Expression):
    members: frozenset[Expression]

    @cached_property
    def nullable(self) -> bool:
        return all(member.nullable for member in self.members)

    def after(self, char: str) -> Expression:
        found: Expression = ANY
        for member in self.members:
            found = both(found, member.after(char))
        return found


@dataclass(frozen=True)
class _Not(Expression):
    inner: Expression

    @cached_property
    def nullable(self) -> bool:
        return not self.inner.nullable

    def after(self, char: str) -> Expression:
        return complement(self.inner.after(char))


@dataclass(frozen=True)
class _Repeat(Expression):
    inner: Expression
    least: int
    most: int | None

    @cached_property
    def nullable(self) -> bool:
        return self.least == 0 or self.inner.nullable

    def after(self, char: str) -> Expression:
        most = None if self.most is None else self.most - 1
        return concat(self.inner.after(char), repeat(self.inner, max(self.least - 1, 0), most))


NOTHING: Expression = Chars(frozenset())
EMPTY: Expression = _Empty()
_ANY_CHAR = Chars(frozenset(), negated=True)
ANY: Expression = _Repeat(_ANY_CHAR, 0, None)


def concat(*parts: Expression) -> Expression:
    """One after the other."""
    if NOTHING in parts:
        return NOTHING
    flat: list[Expression] = []
    for part in parts:
        flat += part.parts if isinstance(part, _Concat) else (part,)
    kept = tuple(part for part in flat if part is not EMPTY)
    if len(kept) > 1:
        return _Concat(kept)
    return kept[0] if kept else EMPTY


def either(left: Expression, right: Expression) -> Expression:
    """One or the other."""
    members = _members(left, _Either) | _members(right, _Either)
    if ANY in members:
        return ANY
    members -= {NOTHING}
    return _one_or(members, _Either, NOTHING)


def both(left: Expression, right: Expression) -> Expression:
    """What is in both."""
    members = _members(left, _Both) | _members(right, _Both)
    if NOTHING in members:
        return NOTHING
    members -= {ANY}
    return _one_or(members, _Both, ANY)


def complement(inner: Expression) -> Expression:
    """Everything else."""
    if isinstance(inner, _Not):
        return inner.inner
    return {NOTHING: ANY, ANY: NOTHING}.get(inner) or _Not(inner)


def repeat(inner: Expression, least: int, most: int | None) -> Expression:
    """So many times, None for any number."""
    if most == 0 or inner is EMPTY:
        return EMPTY
    if inner == NOTHING:
        return EMPTY if least == 0 else NOTHING
    return inner if least == most == 1 else _Repeat(inner, least, most)


def _members(one: Expression, kind: type[_Either] | type[_Both]) -> frozenset[Expression]:
    return one.members if isinstance(one, kind) else frozenset((one,))


def _one_or(
    members: frozenset[Expression], kind: type[_Either] | type[_Both], none: Expression
) -> Expression:
    if len(members) > 1:
        return kind(members)
    return next(iter(members), none)


class Matcher:
    """A test for whole texts: an automaton that grows by the states that texts need."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression
        self._start_anew()

    def _start_anew(self) -> None:
        self._states = [self._expression]
        self._numbers = {self._expression: 0}
        self._steps: list[dict[str, int]] = [{}]

    def matches(self, text: str) -> bool:
        """The whole text is in the language."""
        if len(self._states) > _STATES:
            self._start_anew()
        state = 0
        for char in text:
            following = self._steps[state].get(char)
            state = self._step(state, char) if following is None else following
        return self._states[state].nullable

    def _step(self, state: int, char: str) -> int:
        found = self._states[state].after(char)
        number = self._numbers.get(found)
        if number is None:
            number = self._numbers[found] = len(self._states)
            self._states.append(found)
            self._steps.append({})
        self._steps[state][char] = number
        return number


def text_of(expression: Expression) -> str | None:
    """The expression for RE2; None where it has what RE2 cannot do."""
    match expression:
        case Chars(ranges, negated):
            return _set_text(ranges, negated=negated)
        case _Empty():
            return "(?:)"
        case _Concat(parts):
            texts = [text_of(part) for part in parts]
            return None if None in texts else "".join(map(str, texts))
        case _Either(members):
            texts = [text_of(member) for member in members]
            return None if None in texts else f"(?:{'|'.join(sorted(map(str, texts)))})"
        case _Repeat(inner, least, most):
            text = text_of(inner)
            upper = "" if most is None else most
            return None if text is None else f"(?:{text}){{{least},{upper}}}"
        case _:
            return None


def _set_text(ranges: frozenset[tuple[str, str]], *, negated: bool) -> str:
    texts = [_range_text(low, high) for low, high in sorted(ranges) if low <= high]
    if not texts:
        return r"(?s:.)" if negated else r"[^\x00-\x{10FFFF}]"
    return f"[{'^' * negated}{''.join(texts)}]"


def _range_text(low: str, high: str) -> str:
    return _escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}"


def _escaped(char: str) -> str:
    return re.escape(char) if ord(char) < 128 else char
