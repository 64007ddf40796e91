import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.document import Document
from nacre.extract.text import read_text, text_charset


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
        ("图书馆 新闻中心".encode("gbk"), None, "图书馆 新闻中心"),
        ("/* Новости школы */".encode("koi8-r"), "no-such", "/* Новости школы */"),
        (b"a\xff", "base64", "aÿ"),
        (b"a", "idna", "a"),
        (b"a", "no\0such", "a"),
        (b"", None, ""),
    ],
)
def test_read_text(body, label, text):
    found = read_text(Document("http://a.test/", body=body, charset_header=label))
    assert found == text if text is not None else found[-1] in "图x"


@pytest.mark.parametrize(
    ("body", "label", "answer"),
    [
        (b"a", None, ("utf-8", "default")),
        ("é".encode(), None, ("utf-8", "detected")),
        ("é".encode("latin-1"), "gbk", ("gbk", "header")),
        (b'@charset "big5";', None, ("big5hkscs", "xml")),
        (b"\xef\xbb\xbfa", "gbk", ("utf-8", "bom")),
        (b"document.write('<meta charset=utf-8>') // " + "学校新闻".encode("gbk"), None,
         ("gbk", "detected")),
    ],
)  # fmt: skip
def test_where_an_encoding_comes_from(body, label, answer):
    assert text_charset(body, label, "http://a.cn/") == answer


@given(st.binary(max_size=200), st.one_of(st.none(), st.text(max_size=20)))
def test_never_fails(body, label):
    document = Document("http://a.test/", body=body, charset_header=label)
    assert isinstance(read_text(document), str)
