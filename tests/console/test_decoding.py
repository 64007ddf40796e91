"""Bodies of requests become structs, or are refused."""

from typing import Any

import msgspec
import pytest

from nacre.console.bounds import LARGEST, Moment, Whole, is_deeper
from nacre.console.decoding import decoded
from nacre.console.problems import RefusedRequestError


class Given(msgspec.Struct):
    number: Whole = 0
    until: Moment | None = None
    text: str = ""
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
