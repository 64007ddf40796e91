"""Long work in slices: the caller may do other things in between (pure)."""

from collections.abc import Generator
from typing import TypeVar, cast

T = TypeVar("T")
Slices = Generator[None, None, T]
"""Work that stops now and then; its result is known at its end."""

ROWS = 256
"""Rows of a slice: some 20 ms of work, at 0.1 ms a row (docs/recrawl-planning.md, "Limits")."""


def at_once(work: Slices[T]) -> T:
    """Do all of it without a stop."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return cast("T", end.value)
