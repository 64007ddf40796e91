"""The lists of the interface for programs: their items, the next page, and the moment."""

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class ItemList(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list.

    Attributes:
        items: The items.
        next: The `after` of the next page; null if there is none.
        as_of: The moment of these data, RFC 3339.
    """

    items: tuple[T, ...]
    next: str | None
    as_of: str
