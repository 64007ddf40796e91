"""Fields of forms, made of the request of an operation (pure)."""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from nacre.ops.fields import FieldShape, field_meanings, field_shape


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


_CLOSED: Final = {"no": _("no"), "yes": _("yes")}
_OPEN: Final = {"": _("as the settings say"), "yes": _("yes"), "no": _("no")}
"""The choices of a flag; and of one that may be left open."""


class FormField(NamedTuple):
    """A field of a form.

    Attributes:
        name: Name of the field of the request.
        label: Its label, in the language of the reader.
        kind: `number`, `text`, `lines` or `choice`.
        value: The value at first; "" for none.
        minimum: The least number; None for none.
        maximum: The greatest number; None for none.
        choices: The choices, each with its label.
        example: What a value looks like; "" for none.
        title: The meaning of the field, as the reference has it.
    """

    name: str
    label: str
    kind: str
    value: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[tuple[str, str], ...] = ()
    example: str = ""
    title: str = ""


def request_fields(
    request: type[msgspec.Struct], translate: Callable[[str], str]
) -> list[FormField]:
    """Return the fields of the form of a request, in its order.

    Args:
        request: The request.
        translate: Translates a label.
    """
    meanings = field_meanings(request)
    fields = []
    for field in msgspec.structs.fields(request):
        shape = field_shape(field.type)
        label = translate(shape.form.label or field.name.replace("_", " ").capitalize())
        blank = FormField(field.name, label, "text", title=meanings[field.name])
        fields.append(_with_input(blank, shape, field.default, translate))
    return fields


def _with_input(
    field: FormField, shape: FieldShape, default: object, translate: Callable[[str], str]
) -> FormField:
    """Return a field with its kind of input, and what that needs."""
    if shape.is_list:
        return field._replace(kind="lines")
    if shape.choices:
        labels = shape.form.choices or shape.choices
        pairs = zip(shape.choices, map(translate, labels), strict=True)
        return field._replace(kind="choice", choices=tuple(pairs))
    if shape.kind is bool:
        choices = _OPEN if shape.is_optional else _CLOSED
        pairs = zip(choices, map(translate, choices.values()), strict=True)
        return field._replace(kind="choice", choices=tuple(pairs))
    if shape.kind in (int, float):
        return field._replace(
            kind="number", value="" if default is None else str(default),
            minimum=shape.minimum, maximum=shape.maximum,
        )  # fmt: skip
    return field._replace(example="2h" if shape.form.metavar == "TIME" else "")
