"""What an expression compares, and how. A comparison with what is not known is false."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from nacre.scope.expressions import noted, usable
from nacre.scope.language.attributes import NUMBER, TEXT, TRUTH, Getter
from nacre.scope.rule import Need
from nacre.scope.state import ScopeState


class Operand(NamedTuple):
    """A part of an expression.

    Attributes:
        kind: `text`, `number`, `yes or no`, or `list of …s`.
        needs: What must be known where it is asked.
        make: Its value for a URI, given the state of the scope.
        position: Where it begins.
        constant: Its value where it is always the same; else None.
    """

    kind: str
    needs: Need
    make: Callable[[ScopeState], Getter]
    position: int
    constant: Any = None


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MANY = f"list of {TEXT}s"


def compare(sign: str, left: Operand, right: Operand) -> Operand:
    """`left sign right`.

    Raises:
        ValueError: They cannot be compared so.
    """
    if left.kind != right.kind:
        raise ValueError(f"a {left.kind} cannot be compared with a {right.kind}")
    if left.kind not in (TEXT, NUMBER) and sign not in ("==", "!="):
        raise ValueError(f"`{sign}` compares texts or numbers, not a {left.kind}")
    return _joined(left, right, _COMPARISONS[sign])


def word(name: str, left: Operand, right: Operand) -> Operand:
    """`left in right`, `left matches right` and so on.

    Raises:
        ValueError: What is on one of the sides does not suit the word.
    """
    return WORDS[name](name, left, right)


def _joined(left: Operand, right: Operand, test: Callable[[Any, Any], bool]) -> Operand:
    def make(state: ScopeState) -> Getter:
        first, second = left.make(state), right.make(state)

        def holds(subject: Any) -> bool:  # noqa: ANN401 - a Subject
            one, other = first(subject), second(subject)
            return one is not None and other is not None and test(one, other)

        return holds

    return Operand(TRUTH, left.needs | right.needs, make, left.position)


def _require(name: str, operand: Operand, *kinds: str) -> None:
    if operand.kind not in kinds:
        raise ValueError(f"`{name}` takes a {' or a '.join(kinds)}, not a {operand.kind}")


def _in(name: str, left: Operand, right: Operand) -> Operand:
    _require(name, left, TEXT, NUMBER)
    _require(name, right, f"list of {left.kind}s")
    return _joined(left, right, lambda one, many: one in many)


def _contains(name: str, left: Operand, right: Operand) -> Operand:
    _require(name, left, TEXT)
    _require(name, right, TEXT, _MANY)
    if right.kind == TEXT:
        return _joined(left, right, operator.contains)
    return _joined(left, right, lambda one, many: any(part in one for part in many))


def _ends(name: str, left: Operand, right: Operand) -> Operand:
    _require(name, left, TEXT)
    _require(name, right, TEXT, _MANY)
    method = str.startswith if name == "startswith" else str.endswith
    if right.constant is None:
        return _joined(left, right, method)
    wanted = right.constant
    ends = (wanted,) if isinstance(wanted, str) else tuple(sorted(wanted))
    return _joined(left, right, lambda one, _: method(one, ends))


def _matches(name: str, left: Operand, right: Operand) -> Operand:
    _require(name, left, TEXT)
    _require(name, right, TEXT, _MANY)
    if right.constant is None:
        raise ValueError(f"`{name}` takes a text in quotes, or a list of them")
    wanted = right.constant
    patterns = [wanted] if isinstance(wanted, str) else sorted(wanted)
    for pattern in patterns:
        usable(pattern)

    def make(state: ScopeState) -> Getter:
        value = left.make(state)
        match = noted(patterns, state, search=name == "finds").matches

        def holds(subject: Any) -> bool:  # noqa: ANN401 - a Subject
            text = value(subject)
            return text is not None and match(text)

        return holds

    return Operand(TRUTH, left.needs, make, left.position)


WORDS: dict[str, Callable[[str, Operand, Operand], Operand]] = {
    "in": _in,
    "contains": _contains,
    "startswith": _ends,
    "endswith": _ends,
    "matches": _matches,
    "finds": _matches,
}
"""Operators that are words. `matches` means the whole text, `finds` anywhere in it."""
