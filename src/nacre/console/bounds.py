"""Bounds of what a request carries: types of the fields of queries and bodies.

A field of one of these types says its bounds in the description of the interface, and the decoder
refuses what lies outside. A test requires bounds for each number and a length for each text.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from nacre.job.commands import MOST_PARALLEL

LARGEST: Final = 2**53 - 1
"""The last whole number that all programs read exactly: 9 PB, 285 million years in seconds."""
DEEPEST: Final = 64
"""Values within values in a body."""

Whole = Annotated[int, Meta(ge=0, le=LARGEST)]
"""A count, a number of bytes, or a place in a text."""
Order = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A place in an order."""
Moment = Annotated[float, Meta(ge=0, le=253402300799)]
"""Seconds since the epoch, up to the year 9999."""
Rows = Annotated[int, Meta(ge=1, le=500)]
"""Rows of a page of a list."""
Lines = Annotated[int, Meta(ge=1, le=1000)]
"""Lines of a page of a log."""
Fetches = Annotated[int, Meta(ge=1, le=MOST_PARALLEL)]
"""Fetches at a time."""
Rounds = Annotated[int, Meta(ge=0, le=999_999_999)]
"""Rounds of a batch crawl."""
Flag = Annotated[int, Meta(ge=0, le=1)]
"""1 for yes, 0 for no."""


def is_deeper(value: object, most: int = DEEPEST) -> bool:
    """Whether a decoded value has more than so many values within values.

    Args:
        value: It: dictionaries, lists, structs and what is in them.
        most: Allowed depth.
    """
    level: list[object] = [value]
    for _ in range(most + 1):
        level = [inner for one in level for inner in _within(one)]
        if not level:
            return False
    return True


def _within(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, msgspec.Struct):
        return (getattr(value, name) for name in value.__struct_fields__)
    return value if isinstance(value, list | tuple) else ()
