"""Regular expressions as settings of rules."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator

from nacre.scope.patterns import TIME_LIMIT, PatternList, examine
from nacre.scope.state import ScopeState


def usable(pattern: str) -> str:
    """The expression itself.

    Raises:
        ValueError: It is none, with the reason.
    """
    note = examine(pattern)
    if note is not None and not note.usable:
        raise ValueError(f"{pattern!r} is {note.message}")
    return pattern


Expression = Annotated[str, AfterValidator(usable)]
"""A regular expression, in Java's syntax or Python's."""


def noted(
    patterns: Sequence[str],
    state: ScopeState,
    *,
    search: bool = False,
    every: bool = False,
    timeout: float = 0.0,
) -> PatternList:
    """A list of expressions whose time-outs are counted with the scope's.

    Args:
        patterns: The expressions.
        state: Of the scope.
        search: Find anywhere; False: the whole text must match, as in Heritrix.
        every: All must match; False: one is enough.
        timeout: Longest match, seconds; 0 for the usual limit.
    """
    made = PatternList(patterns, search=search, every=every, timeout=timeout or TIME_LIMIT)
    if made.is_timed:
        state.counts.append(lambda: made.timeouts)
    return made
