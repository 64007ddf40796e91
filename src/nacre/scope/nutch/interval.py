"""Decimal numbers in a range, as an expression: `<n-m>` of dk.brics.automaton."""

from nacre.scope.nutch.derivative import EMPTY, NOTHING, Chars, Expression, concat, either, repeat


def interval(low: str, high: str) -> Expression:
    """The numbers from `low` to `high`, in either order.

    Two bounds of the same length ask for that many digits; others allow leading zeros.
    """
    first, last = sorted((int(low), int(high)))
    width = max(len(low), len(high))
    found = _between(f"{first:0{width}}", f"{last:0{width}}")
    if len(low) == len(high):
        return found
    shorter = [
        _between(str(max(first, 10 ** (size - 1) if size > 1 else 0)), "9" * size)
        for size in range(len(str(first)), len(str(last)))
    ]
    longest = str(last)
    bottom = str(max(first, 10 ** (len(longest) - 1) if len(longest) > 1 else 0))
    bare = _between(bottom, longest)
    for one in shorter:
        bare = either(one, bare)
    return concat(repeat(_digit("0", "0"), 0, None), bare)


def _digit(low: str, high: str) -> Expression:
    return Chars(frozenset(((low, high),))) if low <= high else NOTHING


def _between(low: str, high: str) -> Expression:
    """Texts of digits of one length, from one to the other."""
    if not low:
        return EMPTY
    if low[0] == high[0]:
        return concat(_digit(low[0], low[0]), _between(low[1:], high[1:]))
    rest = len(low) - 1
    middle = concat(
        _digit(chr(ord(low[0]) + 1), chr(ord(high[0]) - 1)), repeat(_digit("0", "9"), rest, rest)
    )
    return either(
        either(
            concat(_digit(low[0], low[0]), _between(low[1:], "9" * rest)),
            concat(_digit(high[0], high[0]), _between("0" * rest, high[1:])),
        ),
        middle,
    )
