"""Text of documents of several kinds and encodings."""

import io
import zipfile

import pytest

from nacre.extract.document import Document
from nacre.extract.fulltext.html import left_out
from nacre.extract.fulltext.job import PageText, TextJob, text_type
from nacre.extract.fulltext.language import declared_language, guessed_language
from nacre.extract.fulltext.page_text import page_text

PAGE = (
    '<html lang="zh-CN"><head><meta charset={0}><title> 国家\n图书馆 </title>'
    "<meta name=robots content='noarchive, NOFOLLOW'></head><body><nav><a href=/>首页</a></nav>"
    "<article><h1>馆藏</h1><p>国家图书馆是国家总书库。</p></article><footer>版权</footer>"
)


def read(body: bytes, mime: str = "text/html", **more) -> PageText:
    job = {name: more.pop(name) for name in ("main", "most", "linear", "agent") if name in more}
    return page_text(TextJob(Document("http://a.test/x", mime=mime, body=body, **more), **job))


@pytest.mark.parametrize("charset", ["gbk", "utf-8", "gb18030"])
def test_a_page_in_several_encodings(charset):
    found = read(PAGE.format(charset).encode(charset))
    assert (found.title, found.lang) == ("国家 图书馆", "zh-cn")
    assert "国家图书馆是国家总书库。" in found.text
    assert "首页" not in found.text
    assert {"首页", "版权"} <= set(found.rest.split("\n"))
    assert found.robots == ["noarchive", "nofollow"]


def test_without_telling_menus_apart_all_is_content():
    found = read(PAGE.format("utf-8").encode(), main=False)
    assert "首页" in found.text
    assert found.rest == ""


def test_directives_of_headers_and_for_an_agent():
    headers = ((b"X-Robots-Tag", b"noindex"), (b"Content-Language", b"de, en"))
    found = read(b"<meta name=nacre content=nosnippet><p>x", headers=headers, agent="nacre")
    assert found.robots == ["noindex", "nosnippet"]
    assert found.lang == "de"


@pytest.mark.parametrize("body", [b"<div>" * 50_000 + b"end", b"<b>" * 5_000 + b"end"])
def test_elements_deep_in_one_another_are_read_in_linear_time(body):
    assert read(body).text.strip() == "end"


def test_linear_reading_has_title_and_text():
    found = read(PAGE.format("utf-8").encode(), linear=True)
    assert "国家图书馆是国家总书库。" in found.text
    assert found.title == "国家 图书馆"


def test_text_is_cut():
    found = read(b"<p>" + b"word " * 1000, most=100)
    assert len(found.text) == 100
    assert len(read(b"x" * 500, mime="text/plain", most=7).text) == 7


def test_plain_text_in_gbk():
    text = "国家图书馆的读者可以在这里看到所有的书和杂志。" * 20
    found = read(text.encode("gbk"), mime="text/plain")
    assert found.text == text
    assert found.lang == "zh"


def _zipped(files: dict[str, str]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return target.getvalue()


def test_word_and_epub():
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    paragraph = "<w:p><w:r><w:t>国家图书馆 in Word</w:t></w:r></w:p>"
    body = f'<w:document xmlns:w="{space}"><w:body>{paragraph}</w:body></w:document>'
    found = read(_zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": body}), kind)
    assert (found.problem, found.type) == ("", kind)
    assert "国家图书馆 in Word" in found.text


@pytest.mark.parametrize("mime", ["application/pdf", "application/epub+zip", "application/msword"])
def test_what_is_no_document_has_no_text_and_says_so(mime):
    assert read(b"junk" * 100, mime).problem == "unreadable"


@pytest.mark.parametrize(
    ("mime", "url", "kind"),
    [
        ("text/html", "http://a.test/", "text/html"),
        ("image/png", "http://a.test/x.pdf", ""),
        ("application/octet-stream", "http://a.test/x.PDF?y#z", "application/pdf"),
        ("", "http://a.test/x.odt", "application/vnd.oasis.opendocument.text"),
        ("", "http://a.test/x", ""),
    ],
)
def test_types(mime, url, kind):
    assert text_type(mime, url) == kind
    assert read(b"x", "image/png").problem == "type"


@pytest.mark.parametrize(
    ("tag", "lang"),
    [("zh_CN", "zh-cn"), (" EN-us ", "en-us"), ("iw", "he"), ("english", ""), ("", "")],
)
def test_declared_languages(tag, lang):
    assert declared_language(tag) == lang


def test_guessed_languages():
    assert guessed_language("国家图书馆是国家总书库，国家书目中心，国家古籍保护中心。") == "zh"
    assert guessed_language("The quick brown fox jumps over the lazy dog near the river") == "en"
    assert guessed_language("short") == ""


def test_what_the_main_part_leaves_out():
    assert left_out("a\nb\nb\nc", "b") == "a\nb\nc"
    assert left_out("a", "a") == ""
