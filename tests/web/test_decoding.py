"""Bodies of requests become structs, or are refused."""

import asyncio
from typing import Any, Literal

import msgspec
import pytest
from starlette.requests import Request
from starlette.types import Message

from nacre.console.openapi import parameters_of
from nacre.console.routes import ROUTES
from nacre.fleet.refusals import RefusedRequestError
from nacre.ops.fields import LARGEST, LineText, Moment, Whole
from nacre.web.decoding import (
    PATH_VALUES,
    converted,
    decoded,
    is_deeper,
    lines_of,
    path_of,
    sent_form,
)


class Given(msgspec.Struct):
    number: Whole = 0
    until: Moment | None = None
    text: LineText = ""
    kind: Literal["one", "two"] = "one"
    more: dict[str, Any] = {}


def deep(levels: int) -> str:
    return '{"more": ' + '{"a": ' * levels + "1" + "}" * levels + "}"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b'{"number": 116089881145498637697024}', 422),
        (b'{"number": -1}', 422),
        (b'{"number": 1.5}', 422),
        (b'{"number": "1"}', 422),
        (b'{"number": ' + b"9" * 100_000 + b"}", 422),
        (b'{"until": 1e400}', 422),
        (b'{"until": 1e300}', 422),
        (b'{"until": NaN}', 400),
        (b'{"until": Infinity}', 400),
        (b'{"text": "\\ud800"}', 400),
        (b'{"text": "\xed\xa0\x80"}', 400),
        (b'{"text": "\xff"}', 400),
        (b"[1]", 422),
        (b"{", 400),
        (b"", 400),
        (deep(65).encode(), 422),
        (deep(500_000).encode(), 422),
        (b'{"other": ' + b"[" * 500_000, 422),
    ],
)
def test_a_body_that_does_not_fit_is_refused(text: bytes, status: int):
    with pytest.raises(RefusedRequestError) as refused:
        decoded(text, Given)
    assert refused.value.status == status
    assert str(refused.value)


def test_a_body_that_fits_is_taken():
    assert decoded(f'{{"number": {LARGEST}}}'.encode(), Given).number == LARGEST
    assert decoded(deep(40).encode(), Given).more


def test_depth_is_that_of_values_within_values():
    assert is_deeper([[[1]]], 2)
    assert not is_deeper([[[1]]], 3)
    assert not is_deeper("text", 0)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"number": "x"}, "number: Expected `int`"),
        ({"number": "9" * 5000}, "number: Integer value out of range"),
        ({"until": "nan"}, "until"),
        ({"until": "inf"}, "until"),
        ({"kind": "three"}, "kind: Invalid enum value 'three'; it is one of one, two"),
        ({"text": "a\nb"}, "text: it has a line break"),
        ({"text": "a\n"}, "text: it has a line break"),
        ({"text": "a\x00"}, "text: it has a line break"),
        ({"text": "a" * 8001}, "text: Expected `str` of length <= 8000"),
    ],
)
def test_a_query_that_does_not_fit_is_refused(values: dict[str, str], said: str):
    with pytest.raises(RefusedRequestError, match="the query does not fit") as refused:
        converted(values, Given, "query")
    assert (refused.value.status, refused.value.code) == (422, "bad-query")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("number", "7", 7), ("number", "0", None), ("number", "x", None), ("number", "-1", None),
        ("number", "9" * 5000, None), ("schedule", str(LARGEST), LARGEST),
        ("schedule", str(LARGEST + 1), None), ("job", "a~书", "a~书"), ("job", "a\x00", None),
        ("job", "a\n", None), ("job", "a" * 251, None), ("action", "wake", "wake"),
        ("action", "fly", None),
    ],
)  # fmt: skip
def test_a_path_names_what_can_be(name: str, text: str, value: object):
    request = Request({"type": "http", "path_params": {name: text}, "headers": []})
    if value is not None:
        assert path_of(request) == {name: value}
        return
    with pytest.raises(RefusedRequestError) as refused:
        path_of(request)
    assert refused.value.status == 404


def test_each_parameter_of_a_path_has_a_type():
    named = {name for row in ROUTES for name in parameters_of(row)}
    assert named == PATH_VALUES.keys()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"--"),
        ("multipart/form-data; boundary=x", b"--y\r\n\r\n"),
        (
            "multipart/form-data; boundary=x; charset=unicode_escape",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\\ud800\r\n--x--\r\n',
        ),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % n for n in range(2000))),
    ],
)
def test_a_form_that_cannot_be_read_is_refused(kind: str, body: bytes):
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}
    with pytest.raises(RefusedRequestError, match=r"^the form ") as refused:
        asyncio.run(sent_form(Request(scope, receive)))
    assert (refused.value.status, refused.value.code) == (400, "bad-form")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ()),
        (" \r\n", ()),
        ("/a/\r\n\r\n  /b/ c \r\n", ("/a/", "/b/ c")),
        ("/a/\n/图书馆/", ("/a/", "/图书馆/")),
        ("/a/\r/b/", ("/a/", "/b/")),
    ],
)
def test_lines_end_as_browsers_and_programs_end_them(text: str, lines: tuple[str, ...]):
    assert lines_of(text) == lines
