import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.document import Document
from nacre.extract.text import decode_text, read_text


@pytest.mark.parametrize(
    ("body", "label", "text"),
    [
        ("é".encode(), None, "é"),
        (codecs.BOM_UTF8 + "é".encode(), "latin-1", "é"),
        (codecs.BOM_UTF16_LE + "<é".encode("utf-16-le"), None, "<é"),
        (codecs.BOM_UTF16_BE + "<é".encode("utf-16-be"), "gbk", "<é"),
        ("<?xml?>é".encode("utf-16-le"), None, "<?xml?>é"),
        ("图".encode("gbk"), "GB2312", "图"),
        ("図".encode("cp932"), ' "Shift_JIS" ', "図"),
        (b"\x80", "iso-8859-1", "€"),
        ('<?xml version="1.0" encoding="GBK"?>图'.encode("gbk"), None, None),
        ('@charset "gbk";图'.encode("gbk"), None, '@charset "gbk";图'),
        (b'<?xml version="1.0" encoding="utf-16"?>x', None, None),
        (b"\xff\xfea", "x", "\ufffd"),
        (b"a\xff", "base64", "a\ufffd"),
        (b"a", "idna", "a"),
        (b"a", "no\0such", "a"),
        (b"", None, ""),
    ],
)
def test_decode_text(body, label, text):
    found = decode_text(body, label)
    assert found == text if text is not None else found[-1] in "图x"


@given(st.binary(max_size=200), st.one_of(st.none(), st.text(max_size=20)))
def test_never_fails(body, label):
    document = Document("http://a.test/", body=body, charset_header=label)
    assert isinstance(read_text(document), str)
