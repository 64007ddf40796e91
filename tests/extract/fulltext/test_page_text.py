"""Text of documents of several kinds and encodings."""

import io
import zipfile

import pytest

from nacre.extract.document import Document
from nacre.extract.fulltext.job import SIBLINGS, PageText, TextJob, text_type
from nacre.extract.fulltext.language import guess_language, normalize_tag
from nacre.extract.fulltext.page_text import page_text
from nacre.search.document import kind_of
from nacre.search.webarchive_discovery import content_norm

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
    assert (found.title, found.lang) == ("国家图书馆", "zh-cn")
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
    assert found.title == "国家图书馆"


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


CELL = '<c r="A1" t="inlineStr"><is><t>国家图书馆 in a sheet</t></is></c>'


def _xlsx(cell: str = CELL) -> bytes:
    space = f'xmlns="{_OOXML}/spreadsheetml/2006/main"'
    named = f'xmlns:r="{_OOXML}/officeDocument/2006/relationships"'
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


def _epub(text: str = "<p>国家图书馆 in a book</p>") -> bytes:
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
        f"<body>{text}</body></html>"
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


def _word() -> bytes:
    space = f"{_OOXML}/wordprocessingml/2006/main"
    text = "<w:p><w:r><w:t>国家图书馆 in Word</w:t></w:r></w:p>"
    body = f'<w:document xmlns:w="{space}"><w:body>{text}</w:body></w:document>'
    return _zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": body})


def _open(kind: str) -> bytes:
    table = f"<table:table table:name='T'><table:table-row>{_CELL}</table:table-row></table:table>"
    text = "<text:p>国家图书馆 in a text</text:p>"
    body = {"spreadsheet": table}.get(kind.partition("-")[0], text)
    return _odf(f"{_OPEN}.{kind}", f"<office:text>{body}</office:text>")


_BODIES = {"document": _word, "sheet": _xlsx, "presentation": _pptx}


@pytest.mark.parametrize("mime", sorted(SIBLINGS))
def test_templates_shows_and_files_with_macros_are_read_like_their_siblings(mime):
    sibling = SIBLINGS[mime]
    name = sibling.rpartition(".")[2]
    is_open = "opendocument" in mime
    body = _open(name) if is_open else _BODIES[name]()
    found, like = read(body, mime), read(body, sibling)
    assert (found.problem, found.type) == ("", mime)
    assert found.text == like.text
    assert "国家图书馆" in found.text
    assert kind_of(mime) == kind_of(sibling)
    assert content_norm(mime) == content_norm(sibling) != "other"


@pytest.mark.parametrize("ending", ["docm", "DOTX", "dotm", "xltx", "xlsm", "potx", "ppsx", "ott"])
def test_templates_are_known_by_their_ending(ending):
    kind = text_type("application/octet-stream", f"http://a.test/x.{ending}?y")
    assert kind in SIBLINGS


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
    assert normalize_tag(tag) == lang


def test_guessed_languages():
    assert guess_language("国家图书馆是国家总书库，国家书目中心，国家古籍保护中心。") == "zh"
    assert guess_language("The quick brown fox jumps over the lazy dog near the river") == "en"
    assert guess_language("short") == ""


PLAIN = "这是一个很长的段落，用来说明图书馆的历史和藏书情况，读者可以在这里了解更多的信息。" * 3


@pytest.mark.parametrize("charset", ["gbk", "utf-8"])
@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p><span class=cap>敦</span>煌藏经洞", "敦煌藏经洞"),
        ("<p>搜索：<em>甲</em><em>骨</em>文献整理", "甲骨文献整理"),
        ("<p>这里有<b>善</b>本书库和<a href=/x>特</a>藏阅览室。", "善本书库和特藏阅览室"),
        ("<ul><li>A</li><li>B</li></ul><p><b>中</b><b>国</b>馆", "A\n  B"),
        ("<p><label>读者</label>证", "读者证"),
        ("<details><summary>目录</summary>正文</details>", "目录 正文"),
        ("<dialog>one</dialog><nav><a href=/>menu</a></nav><marquee>two</marquee>", "one\n"),
        ("<p>中华\n古籍", "中华古籍"),
    ],
)
def test_no_element_within_a_line_is_lost_and_blocks_stand_apart(charset, markup, text):
    body = f"<html><meta charset={charset}><main><p>{PLAIN}</p>{markup}<p>{PLAIN}</p></main>"
    assert text in read(body.encode(charset)).text
    assert text in read(body.encode(charset), main=False).text


@pytest.mark.parametrize(
    "markup",
    [
        "<h1>甲</h1>",
        "<p><u>中</u>\n<u>国</u>",
        "<dl><dt><b>甲</b>骨<dd><i>文</i>字</dl>",
        "<div>书</div>",
    ],
)
def test_single_characters_at_the_ends_of_the_content_stay(markup):
    body = f"<nav><a href=/>首页</a></nav><main>{markup}<p>{PLAIN}</p>{markup}</main>"
    found = read(f"<meta charset=utf-8>{body}".encode())
    assert found.rest == "首页"
    assert "\uf8fe" not in found.text
    alone = read(f"<meta charset=utf-8><body>{markup}".encode())
    assert alone.text
    assert not alone.rest


@pytest.mark.parametrize("linear", [True, False])
def test_readings_are_not_within_the_word(linear):
    body = "<meta charset=utf-8><p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>を読む".encode()
    found = read(body, linear=linear)
    assert "漢字を読む" in found.text
    assert found.rest == "かんじ"


@pytest.mark.parametrize("charset", ["gb18030", "utf-8"])
def test_lines_of_plain_text_are_joined_and_those_of_tables_are_not(charset):
    body = "四库\n全书的影印本，藏在图书馆里\n\n二".encode(charset)
    assert read(body, "text/plain").text == "四库全书的影印本，藏在图书馆里\n\n二"
    assert read(body, "text/csv").text.startswith("四库\n全书")


def _docx(body: str, **more: str) -> bytes:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    part = '<w:{0} xmlns:w="{1}">{2}</w:{0}>'
    files = {"word/document.xml": part.format("document", space, f"<w:body>{body}</w:body>")}
    files |= {f"word/{name}.xml": part.format(name, space, text) for name, text in more.items()}
    return _zipped(files)


def _run(text: str) -> str:
    return f"<w:r>{text}</w:r>"


WORD = f"{_OFFICE}.wordprocessingml.document"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (_run("<w:t>Foo</w:t>") + _run("<w:rPr><w:b/></w:rPr><w:t>bar</w:t>"), "Foobar"),
        (_run("<w:t>2.1</w:t><w:tab/><w:t>Fo</w:t>") + _run("<w:t>o</w:t>"), "2.1\tFoo"),
        ('<w:pPr><w:tabs><w:tab w:pos="1"/></w:tabs></w:pPr>' + _run("<w:t>a</w:t>"), "a"),
        (_run('<w:t>a</w:t><w:br w:type="page"/><w:t>b</w:t><w:cr/><w:t>c</w:t>'), "a\nb\nc"),
        (_run("<w:t>a</w:t><w:ptab/><w:t>b</w:t>"), "a\tb"),
        (_run("<w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t>"), "a\u2011b"),
        (_run("<w:t>a</w:t><w:softHyphen/><w:t>b</w:t>"), "a\u00adb"),
        (_run("<w:t>a &amp; b</w:t><w:instrText>PAGE</w:instrText>"), "a & b"),
        (f"<w:del>{_run('<w:delText>x</w:delText><w:tab/>')}</w:del>{_run('<w:t>a</w:t>')}", "a"),
        (
            f"<w:r><w:ruby><w:rt>{_run('<w:t>かん</w:t>')}</w:rt><w:rubyBase>"
            f"{_run('<w:t>漢</w:t>')}</w:rubyBase></w:ruby></w:r>{_run('<w:t>字</w:t>')}",
            "漢字\nかん",
        ),
        (_run('<w:t>a</w:t><!-- x > y --><w:t xml:space="preserve"> b</w:t>'), "a b"),
    ],
)
def test_signs_and_runs_of_word(body, text):
    assert read(_docx(f"<w:p>{body}</w:p>"), WORD).text == text


def test_tables_and_notes_of_word():
    cells = "".join(f"<w:tc><w:p>{_run(f'<w:t>{one}</w:t>')}</w:p></w:tc>" for one in "ab")
    notes = f"<w:footnote><w:p>{_run('<w:t>note</w:t>')}</w:p></w:footnote>"
    body = f"<w:tbl><w:tr>{cells}</w:tr></w:tbl><w:p>{_run('<w:t>end</w:t>')}</w:p>"
    assert read(_docx(body, footnotes=notes), WORD).text == "a\tb\nend\n\nnote"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("a<text:tab/>b", "a\tb"),
        ("a<text:s/>b<text:s text:c='3'/>c", "a b   c"),
        ("a<text:line-break/>b", "a\nb"),
        ("a<text:span>b</text:span>\n  c", "ab c"),
        ("漢<text:ruby><text:ruby-base>字</text:ruby-base><text:ruby-text>じ</text:ruby-text></text:ruby>を", "漢字を\nじ"),  # noqa: E501
        ("a<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>n</text:p></text:note-body></text:note>b", "ab\nn"),  # noqa: E501
        ("a<text:soft-page-break/>b", "ab"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["text", "presentation"])
def test_signs_of_open_document(kind, body, text):
    content = f"<office:{kind}><text:p>{body}</text:p></office:{kind}>"
    assert read(_odf(f"{_OPEN}.{kind}", content), f"{_OPEN}.{kind}").text == text


def test_tables_of_open_document():
    cells = "".join(
        f"<table:table-cell>{text}</table:table-cell>"
        for text in ("<text:p>a<text:tab/>b</text:p><text:p>c</text:p>", "<text:p>d</text:p>")
    )
    body = (
        f'<table:table table:name="List"><table:table-row>{cells}</table:table-row></table:table>'
    )
    kind = f"{_OPEN}.spreadsheet"
    content = _odf(kind, f"<office:spreadsheet>{body}</office:spreadsheet>")
    assert read(content, kind).text == "List\na\tb\nc\td"


def test_breaks_and_runs_of_slides():
    runs = "<a:p><a:r><a:t>Top</a:t></a:r><a:br/><a:r><a:t>Bot</a:t></a:r><a:r><a:t>tom</a:t></a:r>"
    files = {f"ppt/slides/slide{n}.xml": f"{runs}<a:r><a:t>{n}</a:t></a:r></a:p>" for n in (10, 2)}
    kind = f"{_OFFICE}.presentationml.presentation"
    assert read(_zipped(files), kind).text == "Top\nBottom2\n\nTop\nBottom10"


def test_a_shared_string_of_excel_is_one_word():
    kind = f"{_OFFICE}.spreadsheetml.sheet"
    cell = "<is><r><t>In</t></r><r><t>line</t></r><rPh><t>カナ</t></rPh></is>"
    body = _xlsx(f'<c r="A1" t="inlineStr">{cell}</c>')
    found = read(body, kind).text
    assert "Inline" in found
    assert "Inlineカナ" not in found


def test_a_book_is_read_as_pages():
    chapter = "<p>国家\n图书馆<ruby>漢<rt>かん</rt></ruby>字</p>"
    found = read(_epub(chapter), "application/epub+zip")
    assert "国家图书馆漢字" in found.text
    assert (found.title, found.rest) == ("书", "かん")


@pytest.mark.parametrize("part", ["<!--", "<![CDATA[", "<a '", "<a \"'", "a", "a:"])
def test_tags_of_documents_that_are_not_closed_take_linear_time(part):
    body = _odf("text", "<text:p>read</text:p><" + part * 100_000)
    text = read(body, "application/vnd.oasis.opendocument.text").text
    assert text.startswith("read")  # in square time it would take minutes


def test_a_number_of_spaces_is_bounded():
    spaces = "<text:p>a<text:s text:c='3'/>b<text:s text:c='9999'/>c</text:p>"
    text = read(_odf("text", spaces), "application/vnd.oasis.opendocument.text").text
    assert text == f"a   b{' ' * 100}c"
