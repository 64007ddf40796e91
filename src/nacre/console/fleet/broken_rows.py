"""Rows of the console's database that cannot be read: they are told, and hide no other one."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeVar

import msgspec

from nacre.messages import message

RowKind = Literal["schedule", "webhook"]
Row = tuple[object, ...]
T = TypeVar("T")


class BrokenRow(NamedTuple):
    """A row that cannot be read, say because another version of the console wrote it.

    Attributes:
        kind: What it was to be.
        number: Its number.
        why: The error.
    """

    kind: RowKind
    number: int
    why: str

    @property
    def words(self) -> str:
        """It, in English, and what removes it."""
        return message(
            "console.row-unreadable",
            "{kind} {number} cannot be read, and does nothing: {reason}; "
            "`nacre console {kind} remove {number}` removes it",
            kind=self.kind,
            number=self.number,
            reason=self.why,
        )


def sorted_rows(
    kind: RowKind, rows: Sequence[Row], read: Callable[[Row], T]
) -> tuple[list[T], dict[int, BrokenRow]]:
    """The contents of rows, and those that cannot be read, by their numbers (pure).

    Args:
        kind: What they are.
        rows: They; the first column is the number.
        read: Reads one.
    """
    found: list[T] = []
    broken: dict[int, BrokenRow] = {}
    for row in rows:
        try:
            found.append(read(row))
        except (msgspec.MsgspecError, ValueError) as error:
            number = int(str(row[0]))
            broken[number] = BrokenRow(kind, number, str(error))
    return found, broken
