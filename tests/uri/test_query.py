import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.uri.query import encode_query, needs_encoding, query_codec


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        *(("gbk", "gbk"), ("GB2312", "gb2312"), ("utf-8", ""), ("UTF8", ""), ("utf-16-be", "")),
        *(("base64", ""), ("", ""), ("\x00", "")),
    ],
)
def test_codecs(encoding, codec):
    assert query_codec(encoding) == codec


def test_the_error_handler_is_for_encoding_only():
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", "nacre.query")


def test_only_queries_beyond_ascii_are_encoded():
    assert needs_encoding("a?é", "cp1252")
    assert needs_encoding("a?b", "iso2022_jp"), "control characters mean something to it"
    assert not needs_encoding("é", "cp1252")
    assert not needs_encoding("a?b", "cp1252")
    assert not needs_encoding("a?é", "")


def test_what_is_escaped():
    assert encode_query("a b'\"<>%41&é=~", "cp1252") == "a%20b%27%22%3C%3E%41&%E9=~"
    assert encode_query("\x0e", "iso2022_jp") == "%26%2365533%3B"
    assert encode_query("中文", "cp1252") == "%26%2320013%3B%26%2325991%3B"


@given(st.text(max_size=30), st.sampled_from(["gbk", "big5hkscs", "cp932", "iso2022_jp", "cp1251"]))
def test_any_text_becomes_plain_ascii(text, codec):
    encoded = encode_query(text, codec)
    assert encoded.isascii()
    assert not set(encoded) & set(" #\"<>'\n\t")
