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
_LINE: Final = r"^[^\x00-\x1f\x7f]*(?!\n)$"
"""Texts without control characters; `$` alone would let a line feed at the end pass."""

Whole = Annotated[int, Meta(ge=0, le=LARGEST)]
"""A count, a number of bytes, or a place in a text."""
Order = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A place in an order."""
Moment = Annotated[float, Meta(ge=0, le=253402300799)]
"""Seconds since the epoch, up to the year 9999."""
RowCount = Annotated[int, Meta(ge=1, le=500)]
"""Rows of a page of a list."""
LogLines = Annotated[int, Meta(ge=1, le=1000)]
"""Lines of a page of a log."""
Fetches = Annotated[int, Meta(ge=1, le=MOST_PARALLEL)]
"""Fetches at a time."""
Rounds = Annotated[int, Meta(ge=0, le=999_999_999)]
"""Rounds of a batch crawl."""
ShortText = Annotated[str, Meta(max_length=250, pattern=_LINE)]
"""A name, an id or a word of a list."""
LineText = Annotated[str, Meta(max_length=8000, pattern=_LINE)]
"""A URL, an expression, an assignment: a line."""
PathPart = Annotated[str, Meta(max_length=2000, pattern=_LINE)]
"""A part of a path: with its escapes it is shorter than what servers take."""
Text = Annotated[str, Meta(max_length=16 << 20)]
"""Lines."""
Secret = Annotated[str, Meta(max_length=1000)]
"""A password."""
Digits = Annotated[str, Meta(pattern=r"^[0-9]{0,15}(?!\n)$")]
"""A whole number that a list gave, as a text; "" for none."""
Cursor = Annotated[str, Meta(max_length=8000, pattern=r"^[A-Za-z0-9_-]*(?!\n)$")]
"""A cursor that a list gave; "" for none."""
ShortTexts = Annotated[tuple[ShortText, ...], Meta(max_length=100)]
"""Some names."""
LineTexts = Annotated[tuple[LineText, ...], Meta(max_length=200_000)]
"""Some lines."""
Texts = Annotated[tuple[Text, ...], Meta(max_length=1_000_000)]
"""Lines of a file; one may hold several."""
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
