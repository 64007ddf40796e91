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
    names = ("main", "most", "linear", "agent", "lifted")
    job = {name: more.pop(name) for name in names if name in more}
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


def test_a_noindex_of_the_head_that_is_lifted_is_none_but_that_of_the_page_stays():
    headers = ((b"X-Robots-Tag", b"noindex, noarchive"),)
    assert read(b"<p>x", headers=headers, lifted=True).robots == ["noarchive"]
    found = read(b"<meta name=robots content=noindex><p>x", headers=headers, lifted=True)
    assert found.robots == ["noarchive", "noindex"]


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


_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_OOXML = "http://schemas.openxmlformats.org"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"


def _odf(kind: str, body: str) -> bytes:
    content = (
        f'<office:document-content xmlns:office="{_ODF}:office:1.0" xmlns:text="{_ODF}:text:1.0" '
        f'xmlns:table="{_ODF}:table:1.0" xmlns:draw="{_ODF}:drawing:1.0" office:version="1.3">'
        f"<office:body>{body}</office:body></office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0"/>'
    files = {"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest}
    return _zipped(files)


def _relations(*rows: tuple[str, str]) -> str:
    """Relationships: kinds and targets, `rId1` first."""
    listed = "".join(
        f'<Relationship Id="rId{number}" Type="{_OOXML}/officeDocument/2006/relationships/{kind}" '
        f'Target="{target}"/>'
        for number, (kind, target) in enumerate(rows, 1)
    )
    return f'<Relationships xmlns="{_OOXML}/package/2006/relationships">{listed}</Relationships>'


def _xlsx() -> bytes:
    space = f'xmlns="{_OOXML}/spreadsheetml/2006/main"'
    named = f'xmlns:r="{_OOXML}/officeDocument/2006/relationships"'
    cell = '<c r="A1" t="inlineStr"><is><t>国家图书馆 in a sheet</t></is></c>'
    sheet = f'<worksheet {space}><sheetData><row r="1">{cell}</row></sheetData></worksheet>'
    book = '<sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>'
    return _zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_OOXML}/package/2006/content-types"/>',
            "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f"<workbook {space} {named}>{book}</workbook>",
            "xl/_rels/workbook.xml.rels": _relations(("worksheet", "worksheets/sheet1.xml")),
            "xl/worksheets/sheet1.xml": sheet,
        }
    )


def _pptx() -> bytes:
    space = f'xmlns:p="{_OOXML}/presentationml/2006/main" xmlns:a="{_OOXML}/drawingml/2006/main"'
    named = f'xmlns:r="{_OOXML}/officeDocument/2006/relationships"'
    text = "<a:p><a:r><a:t>国家图书馆 on a slide</a:t></a:r></a:p>"
    shape = f"<p:sp><p:nvSpPr/><p:spPr/><p:txBody><a:bodyPr/>{text}</p:txBody></p:sp>"
    slide = f"<p:sld {space}><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:sld>"
    deck = '<p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst>'
    return _zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_OOXML}/package/2006/content-types"/>',
            "_rels/.rels": _relations(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f"<p:presentation {space} {named}>{deck}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": _relations(("slide", "slides/slide1.xml")),
            "ppt/slides/slide1.xml": slide,
        }
    )


def _epub() -> bytes:
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>书</dc:title>'
        '<dc:identifier id="i">x</dc:identifier><dc:language>zh</dc:language></metadata><manifest>'
        '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="c"/></spine></package>'
    )
    chapter = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>章</title></head>'
        "<body><p>国家图书馆 in a book</p></body></html>"
    )
    return _zipped(
        {
            "mimetype": "application/epub+zip", "META-INF/container.xml": container,
            "b.opf": package, "c.xhtml": chapter,
        }
    )  # fmt: skip


_CELL = (
    "<table:table-cell office:value-type='string'><text:p>国家图书馆 in a table</text:p>"
    "</table:table-cell>"
)


@pytest.mark.parametrize(
    ("mime", "body", "text"),
    [
        ("application/epub+zip", _epub(), "in a book"),
        (f"{_OFFICE}.spreadsheetml.sheet", _xlsx(), "in a sheet"),
        (f"{_OFFICE}.presentationml.presentation", _pptx(), "on a slide"),
        (
            f"{_OPEN}.text",
            _odf(
                f"{_OPEN}.text",
                "<office:text><text:p>国家图书馆 in a text</text:p></office:text>",
            ),
            "in a text",
        ),
        (
            f"{_OPEN}.spreadsheet",
            _odf(
                f"{_OPEN}.spreadsheet",
                f'<office:spreadsheet><table:table table:name="T"><table:table-row>{_CELL}'
                "</table:table-row></table:table></office:spreadsheet>",
            ),
            "in a table",
        ),
        (
            f"{_OPEN}.presentation",
            _odf(
                f"{_OPEN}.presentation",
                "<office:presentation><text:p>国家<text:span>图书馆</text:span><text:s/>on the "
                "wall</text:p></office:presentation>",
            ),
            "on the wall",
        ),
    ],
)
def test_books_sheets_slides_and_open_documents(mime, body, text):
    found = read(body, mime)
    assert (found.problem, found.type) == ("", mime)
    assert f"国家图书馆 {text}" in found.text


def test_word():
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    paragraph = "<w:p><w:r><w:t>国家图书馆 in Word</w:t></w:r></w:p>"
    body = f'<w:document xmlns:w="{space}"><w:body>{paragraph}</w:body></w:document>'
    found = read(_zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": body}), kind)
    assert (found.problem, found.type) == ("", kind)
    assert "国家图书馆 in Word" in found.text


@pytest.mark.parametrize(
    "mime",
    ["application/pdf", "application/epub+zip", "application/msword", f"{_OPEN}.presentation"],
)
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
