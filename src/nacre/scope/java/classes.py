"""Java's character classes: unions, nested classes and intersections (`[a-z&&[^aeiou]]`)."""

import re

from nacre.scope.java.charset import (
    CharSet,
    both_cases,
    characters,
    intersection,
    negation,
    plain,
    union,
)
from nacre.scope.java.error import JavaRegexError
from nacre.scope.java.properties import POSIX
from nacre.scope.java.reader import Reader

_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_DEEPEST = 50


def read_class(reader: Reader, *, any_case: bool, spaced: bool, depth: int = 0) -> CharSet:
    """A class; the reader stands behind its bracket, and afterwards behind the closing one.

    Args:
        reader: The expression.
        any_case: Case does not matter here.
        spaced: Blanks mean nothing here (`(?x)`).
        depth: In how many other classes it stands.

    Raises:
        JavaRegexError: It is none.
    """
    if depth > _DEEPEST:
        raise JavaRegexError(f"more than {_DEEPEST} classes within each other")
    negated = reader.takes("^")
    result: CharSet | None = None
    while True:
        part = _operand(reader, any_case, spaced, depth, is_first=result is None)
        if part is not None:
            result = part if result is None else intersection(result, part)
        if reader.takes("]"):
            break
        if not reader.takes("&&"):
            raise JavaRegexError("a class without its closing `]`")
    result = result or CharSet()
    return negation(result) if negated else result


def _operand(
    reader: Reader,
    any_case: bool,  # noqa: FBT001 - as in `read_class`
    spaced: bool,  # noqa: FBT001 - likewise
    depth: int,
    *,
    is_first: bool,
) -> CharSet | None:
    """What stands up to the next `&&` or the end; None for nothing."""
    found: CharSet | None = None
    while reader.more and not reader.sees("&&"):
        if reader.sees("]") and not (is_first and found is None):
            break
        if spaced and reader.text[reader.at].isspace():
            reader.at += 1
            continue
        item = _item(reader, any_case, spaced, depth)
        item = both_cases(item) if any_case else item
        found = item if found is None else union(found, item)
    return found


def _item(reader: Reader, any_case: bool, spaced: bool, depth: int) -> CharSet:  # noqa: FBT001 - too
    posix = reader.take(_POSIX)
    if posix is not None:
        return _posix(posix)
    if reader.takes("["):
        return read_class(reader, any_case=any_case, spaced=spaced, depth=depth + 1)
    quoted = reader.quoted()
    if quoted is not None:
        return characters(quoted)
    first = _one(reader)
    if isinstance(first, CharSet) or not _is_range(reader):
        return characters(first) if isinstance(first, str) else first
    reader.at += 1
    last = _one(reader)
    if isinstance(last, CharSet) or last < first:
        raise JavaRegexError("a range that ends before it begins, or in a class")
    return plain([(ord(first), ord(last))])


def _is_range(reader: Reader) -> bool:
    rest = reader.text[reader.at : reader.at + 3]
    return rest[:1] == "-" and rest[1:2] not in ("", "]", "[") and rest[1:] != "&&"


def _one(reader: Reader) -> str | CharSet:
    return reader.escape() if reader.takes("\\") else reader.character()


def _posix(match: re.Match[str]) -> CharSet:
    known = POSIX.get(match[2])
    if known is None:
        raise JavaRegexError(f"`{match[0]}` is no class")
    return negation(known) if match[1] else known
