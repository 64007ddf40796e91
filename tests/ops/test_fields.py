from typing import Annotated

import msgspec
import pytest

from nacre.ops.fields import ShortText, Typed, field_meanings, split_docstring, typed_form
from nacre.ops.lifecycle import LIFECYCLE
from nacre.ops.starts import RecrawlRequest, RoundsRequest, StartRequest


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
        (Annotated[ShortText, Typed("NAME")], Typed("NAME")),
        (Annotated[int, Typed("N", is_argument=True)], Typed("N", is_argument=True)),
        (ShortText, None),
        (str, None),
    ],
)
def test_the_form_on_a_command_line(kind: object, form: Typed | None):
    assert typed_form(kind) == form


@pytest.mark.parametrize(
    "request_type",
    [*(one.request for one in LIFECYCLE), StartRequest, RecrawlRequest, RoundsRequest],
)
def test_every_field_of_a_request_has_a_meaning(request_type: type[msgspec.Struct]):
    names = [field.name for field in msgspec.structs.fields(request_type)]
    assert [*field_meanings(request_type)] == names
