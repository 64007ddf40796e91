from typing import Annotated, Literal

import msgspec
import pytest

from nacre.cli.cycle.readers import READERS, SEGMENT_CHANGES
from nacre.cli.cycle.steps import STEPS
from nacre.cli.cycle.tables import TABLES
from nacre.ops.fields import (
    LARGEST,
    FieldShape,
    ShortText,
    Texts,
    Typed,
    Whole,
    field_meanings,
    field_shape,
    split_docstring,
)
from nacre.ops.job_options import JobOptions
from nacre.ops.lifecycle import LIFECYCLE
from nacre.ops.round_requests import LocalRoundsOptions, RoundsRequest
from nacre.ops.starts import RecrawlRequest, StartRequest


class Base(msgspec.Struct):
    """A request.

    Attributes:
        name: Its name, which takes
            two lines.
    """

    name: str


class Longer(Base):
    """A request with more.

    Attributes:
        number: Its number.
    """

    number: int = 0


def test_the_meanings_of_fields_are_those_of_docstrings_with_the_bases():
    assert field_meanings(Longer) == {
        "name": "Its name, which takes two lines.", "number": "Its number.",
    }  # fmt: skip
    assert split_docstring("A thing.") == ("A thing.", {})


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (Annotated[ShortText, Typed("NAME")], FieldShape(str, form=Typed("NAME"))),
        (
            Annotated[int, Typed("N", is_argument=True)],
            FieldShape(int, form=Typed("N", is_argument=True)),
        ),
        (ShortText, FieldShape(str)),
        (Whole, FieldShape(int, minimum=0, maximum=LARGEST)),
        (
            Annotated[Whole | None, Typed("N")],
            FieldShape(int, (), 0, LARGEST, is_optional=True, form=Typed("N")),
        ),
        (Annotated[Texts, Typed("URL")], FieldShape(str, is_list=True, form=Typed("URL"))),
        (Literal["", "字"], FieldShape(str, ("", "字"))),
        (bool | None, FieldShape(bool, is_optional=True)),
    ],
)
def test_the_shape_of_a_field(kind: object, form: FieldShape):
    assert field_shape(kind) == form


@pytest.mark.parametrize(
    "request_type",
    [
        *(one.request for one in LIFECYCLE),
        JobOptions,
        StartRequest,
        RecrawlRequest,
        RoundsRequest,
        LocalRoundsOptions,
        *(operation.request for operation, _ in (*STEPS, *READERS, *TABLES, SEGMENT_CHANGES)),
    ],
)
def test_every_field_of_a_request_has_a_meaning(request_type: type[msgspec.Struct]):
    names = [field.name for field in msgspec.structs.fields(request_type)]
    assert [*field_meanings(request_type)] == names
