import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.base32 import decode_sha1, encode_sha1


@given(st.binary(min_size=20, max_size=20))
def test_it_is_the_base32_of_the_standard_library_and_back(digest: bytes):
    text = encode_sha1(digest)
    assert text == base64.b32encode(digest).decode()
    assert decode_sha1(text) == digest


@pytest.mark.parametrize(
    "text", ["", "A" * 31, "A" * 33, "=" * 32, "a" * 31 + "-", "1" * 31 + "\u0663"]
)
def test_what_is_none_is_an_error(text: str):
    with pytest.raises(ValueError):  # noqa: PT011
        decode_sha1(text)
