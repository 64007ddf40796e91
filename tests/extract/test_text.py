import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.document import Document
from nacre.extract.text import absolute_urls, read_text, text_charset, urls_within


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


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("http://a.test/x.", ["http://a.test/x."]),
        (" http://a.test/x) ", ["http://a.test/x)"]),
        (
            "See http://a.test/x, (https://b.test/y). Or HTTP://C.TEST!",
            ["http://a.test/x", "https://b.test/y", "HTTP://C.TEST"],
        ),
        ("in http://a.test/x_(y) and", ["http://a.test/x_(y)"]),
        ('<a href="http://a.test/x">', ["http://a.test/x"]),
        ("nothing at https:// all", []),
        ("ftp://a.test/ www.a.test", []),
    ],
)
def test_absolute_urls(text, urls):
    assert absolute_urls(text) == urls


@given(st.lists(st.sampled_from(["http://", "a.test", ")", "(", "]", ".", " ", "<"]), max_size=40))
def test_found_urls_stand_in_the_text(pieces):
    text = "".join(pieces)
    assert all(url in text and url.startswith("http") for url in absolute_urls(text))


def test_many_brackets_are_cut_in_linear_time():
    assert absolute_urls("x http://a.test/" + ")." * 200_000)[0].startswith("http://a.test/")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.test/x?u=http://b.test/y&v=1", ["http://b.test/y", "http://b.test/y&v=1"]),
        ("http://a.test/x?u=https%3A%2F%2Fb.test%2Fy%3Fz%3D1&v=1", ["https://b.test/y?z=1"]),
        ("http://a.test/go/http://b.test/y", ["http://b.test/y"]),
        ("http://a.test/go/http:/b.test/y", ["http://b.test/y"]),
        ("http://a.test/http%3A//b.test/", ["http://b.test/"]),
        ("http://a.test/", []),
        ("http://a.test", []),
        ("http://a.test/httpd?x=http:", []),
        ("dns:a.test", []),
    ],
)
def test_urls_within_urls(url: str, expected: list[str]):
    assert urls_within(url) == expected


@given(st.text(alphabet="htps:/?&=%32Fx.", max_size=400))
def test_any_text(text: str):
    found = urls_within("http://a.test/" + text)
    assert len(found) <= 20
    assert all(url.startswith("http") for url in found)
