"""Bounds of what a request carries: types of the fields of queries and bodies.

A field of one of these types says its bounds in the description of the interface, and the decoder
refuses what lies outside. A test requires bounds for each number and a length for each text.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from nacre.config.facts import choices_of
from nacre.errors import ConfigError, Problem
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
MomentText = Annotated[str, Meta(max_length=40)]
"""A time of RFC 3339 with its offset, such as `2026-11-23T10:00:00Z`."""
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
_PLACE: Final = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")
S = TypeVar("S", bound=msgspec.Struct)


class FieldMisfit(NamedTuple):
    """A field that does not fit.

    Attributes:
        path: It, such as `seeds[0]`; "" for the whole.
        words: What is wrong with it, and what it may be.
    """

    path: str
    words: str

    def __str__(self) -> str:
        """Both, in one line."""
        return f"{self.path}: {self.words}" if self.path else self.words


def misfit_of(error: msgspec.ValidationError, kind: type[msgspec.Struct]) -> FieldMisfit:
    """The field that an error of decoding is about (pure).

    Args:
        error: The error.
        kind: The struct that was wanted.
    """
    text = str(error)
    place = _PLACE.search(text)
    said = text[: place.start()] if place else text
    if "matching regex" in said:
        said = "it has a line break, another control character, or a sign that cannot be there"
    known = {one.encode_name: one for one in msgspec.structs.fields(kind)}
    field = known.get(re.split(r"[.\[]", place[1])[0]) if place else None
    choices = choices_of(field.type) if field is not None and said.startswith("Invalid") else ()
    words = f"{said}; it is one of {', '.join(choices)}" if choices else said
    return FieldMisfit(place[1] if place else "", words)


def bounded(wish: S) -> S:
    """A struct whose fields are within their bounds, so that it is read again as it is (pure).

    The bounds are looked at where something is decoded, and not where commands make a struct.

    Raises:
        ConfigError: A field is not.
    """
    kind = type(wish)
    try:
        return msgspec.json.decode(msgspec.json.encode(wish), type=kind)
    except msgspec.ValidationError as error:
        path, words = misfit_of(error, kind)
        raise ConfigError([Problem(path, words)]) from None
    except UnicodeEncodeError:  # bytes of a command line that are no text
        raise ConfigError("it has characters that are none") from None


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
