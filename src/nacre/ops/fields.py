"""Types of the fields of requests, and what the declaration of a field says.

A field of one of these types states its bounds in the schema of the REST API, and the decoder
refuses other values. A test requires bounds for each number and a length for each text.
"""

import re
from collections.abc import Mapping
from inspect import cleandoc
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from nacre.config.facts import choices_of
from nacre.core.message_data import to_json
from nacre.core.states import MOST_PARALLEL
from nacre.errors import ConfigError, Problem
from nacre.messages import message

LARGEST: Final = 2**53 - 1
"""The last whole number that all programs read exactly: 9 PB, 285 million years in seconds."""
_LINE: Final = r"^[^\x00-\x1f\x7f]*(?!\n)$"
"""Texts without control characters; `$` alone would let a line feed at the end pass."""

Whole = Annotated[int, Meta(ge=0, le=LARGEST)]
"""A count, a number of bytes, or a place in a text."""
Natural = Annotated[int, Meta(ge=1, le=LARGEST)]
"""A count that is not 0."""
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


class Typed(NamedTuple):
    """The form of a field on a command line and in a form; it is put into `Annotated`.

    Attributes:
        metavar: What the help shows for the value, such as `NAME`; "" for a flag, and for the
            choices of the type.
        is_argument: True for a positional argument, which has no option.
        option: The option, such as `--set`, or `--index/--no-index`; "" for the name of the field.
        letter: Other forms of the option, such as `-r`, separated by spaces; "" for none.
        panel: The panel of the help that shows it; "" for the first one.
        label: Label of the field in forms; "" for its name in words.
        choices: Labels of the choices of the type, in its order; () for the choices themselves.
    """

    metavar: str
    is_argument: bool = False
    option: str = ""
    letter: str = ""
    panel: str = ""
    label: str = ""
    choices: tuple[str, ...] = ()


class FieldShape(NamedTuple):
    """The type of a field without its annotations, and what these say.

    Attributes:
        kind: `bool`, `int`, `float` or `str`; of a list that of its items.
        choices: The texts that are allowed; () for any.
        minimum: The least number; None for none.
        maximum: The greatest number; None for none.
        is_list: It has several values.
        is_optional: It may be None.
        form: Its form on a command line and in a form.
    """

    kind: type
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    is_list: bool = False
    is_optional: bool = False
    form: Typed = Typed("")


def field_shape(kind: Any) -> FieldShape:  # noqa: ANN401 - a type
    """Return the shape of the type of a field (pure)."""
    if get_origin(kind) is Annotated:
        plain, *annotations = get_args(kind)
        shape = field_shape(plain)
        for annotation in annotations:
            if isinstance(annotation, Typed):
                shape = shape._replace(form=annotation)
            elif isinstance(annotation, Meta) and not shape.is_list:
                shape = shape._replace(minimum=annotation.ge, maximum=annotation.le)
        return shape
    parts = get_args(kind)
    if get_origin(kind) is Literal:
        return FieldShape(str, parts)
    if get_origin(kind) is tuple:
        return field_shape(parts[0])._replace(is_list=True)
    if parts:  # a type, or None
        (choice,) = (part for part in parts if part is not type(None))
        return field_shape(choice)._replace(is_optional=True)
    return FieldShape(kind)


def option_of(field: msgspec.structs.FieldInfo) -> str:
    """Return the option of a field, such as `--until-due`."""
    return field_shape(field.type).form.option or f"--{field.name.replace('_', '-')}"


def ordered_fields(request: type[msgspec.Struct]) -> list[msgspec.structs.FieldInfo]:
    """Return the fields of a request in the order of forms and help: those of its bases last."""
    bases = [base.__struct_fields__ for base in request.__mro__ if issubclass(base, msgspec.Struct)]

    def depth(field: msgspec.structs.FieldInfo) -> int:
        return sum(field.name in names for names in bases)

    return sorted(msgspec.structs.fields(request), key=depth)


_ATTRIBUTE: Final = re.compile(r" {4}(\w+): (.*)")


def split_docstring(doc: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into what the class is and what each attribute means (pure).

    Args:
        doc: The docstring, with its section `Attributes:` if it has one.
    """
    lead, _, tail = cleandoc(doc).partition("Attributes:\n")
    meanings, name = dict[str, str](), ""
    for line in tail.partition("\n\n")[0].splitlines():
        begins = _ATTRIBUTE.fullmatch(line)
        if begins:
            name = begins[1]
            meanings[name] = begins[2]
        elif name and line.startswith(" " * 8):
            meanings[name] += f" {line.strip()}"
        else:
            name = ""
    return lead.strip(), meanings


def field_meanings(struct: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return what the fields of a struct mean, from its docstring and those of its bases."""
    meanings = dict[str, str]()
    for base in reversed(struct.__mro__):
        if issubclass(base, msgspec.Struct):
            meanings |= split_docstring(base.__doc__ or "")[1]
    return meanings


_PLACE: Final = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")
S = TypeVar("S", bound=msgspec.Struct)


class FieldMisfit(NamedTuple):
    """A field that does not fit.

    Attributes:
        path: Path of the field, such as `seeds[0]`; "" for the whole.
        words: The problem, and the values that are allowed.
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
        kind: The struct that the text was decoded as.
    """
    text = str(error)
    place = _PLACE.search(text)
    reason = text[: place.start()] if place else text
    if "matching regex" in reason:
        reason = "it has a line break, another control character, or a sign that cannot be there"
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    field = fields.get(re.split(r"[.\[]", place[1])[0]) if place else None
    choices = choices_of(field.type) if field is not None and reason.startswith("Invalid") else ()
    named = ", ".join(filter(None, choices))
    words = f"{reason}; it is one of {named}" if named else reason
    return FieldMisfit(place[1] if place else "", words)


def bounded(request: S) -> S:
    """A struct whose fields are within their bounds, so that it is read again as it is (pure).

    The bounds are looked at where something is decoded, and not where commands make a struct.

    Raises:
        ConfigError: A field is not.
    """
    kind = type(request)
    try:
        return msgspec.json.decode(to_json(request), type=kind)
    except msgspec.ValidationError as error:
        path, words = misfit_of(error, kind)
        raise ConfigError([Problem(path, words)]) from None
    except UnicodeEncodeError:  # bytes of a command line that are no text
        raise ConfigError(
            message("ops.invalid-characters", "it has characters that are none")
        ) from None
