"""Neighbouring lists of expressions become one set, asked once for all of them."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from nacre.scope.patterns import PatternList
from nacre.scope.subject import Subject
from nacre.scope.urlmatch import UrlMatch

Steps = list[tuple[Any, Any]]


class AnyOf:
    """True where one of several lists may match: only then are they asked one by one."""

    __slots__ = ("_matches",)

    def __init__(self, tests: Sequence[UrlMatch], *, search: bool) -> None:
        together = [pattern for test in tests for pattern in test.patterns.patterns]
        self._matches = PatternList(list(dict.fromkeys(together)), search=search).matches

    def __call__(self, subject: Subject) -> bool:
        """See the class."""
        return self._matches(subject.url)


def merged(steps: Steps) -> tuple[tuple[Any, Any], ...]:
    """Steps of a scope, in the order they are tried, with neighbouring lists as one step.

    Each keeps its own answer, and the first that is true gives it, so that names stay right.
    """
    result: Steps = []
    for kind, run in groupby(steps, key=_kind):
        together = list(run)
        if kind is None or len(together) == 1:
            result += together
        else:
            tests = [test for test, _ in together]
            result.append((AnyOf(tests, search=kind), tuple(together)))
    return tuple(result)


def _kind(step: tuple[Any, Any]) -> bool | None:
    """Whether the lists of a run search or match whole; None for what is no such list."""
    test = step[0]
    if isinstance(test, UrlMatch) and test.is_mergeable:
        return test.patterns.search
    return None
