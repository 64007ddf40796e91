"""Documents that are made to break their readers: each has an answer, and the next one as well."""

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator

import pytest

from nacre.extract.document import Document
from nacre.extract.fulltext.job import PageText, TextJob
from nacre.indexing.text_process import TextProcess

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OPC = "http://schemas.openxmlformats.org/package/2006"
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
RELATIONS = (
    f'<Relationships xmlns="{OPC}/relationships">'
    f'<Relationship Id="rId1" Type="{KIND}" Target="word/document.xml"/></Relationships>'
)


@pytest.fixture(scope="module")
def texts() -> Iterator[TextProcess]:
    made = TextProcess()
    yield made
    made.close()


def word(parts: Iterable[str]) -> bytes:
    """A file of Word whose document is made of parts, so that it may be larger than memory."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{OPC}/content-types"/>')
        file.writestr("_rels/.rels", RELATIONS)
        with file.open("word/document.xml", "w", force_zip64=True) as document:
            for part in parts:
                document.write(part.encode())
    return target.getvalue()


def paragraphs(text: str, number: int = 1, head: str = "") -> Iterator[str]:
    yield f'{head}<w:document xmlns:w="{SPACE}"><w:body>'
    for _ in range(number):
        yield f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
    yield "</w:body></w:document>"


def read(texts: TextProcess, mime: str, body: bytes, charset: str | None = None) -> PageText:
    url = "http://a.test/x"
    found = texts.text(TextJob(Document(url, mime=mime, body=body, charset_header=charset)))
    assert read_well(texts), "the next document has a text"
    return found


def read_well(texts: TextProcess) -> bool:
    return (
        texts.text(TextJob(Document("http://a.test/y", mime="text/plain", body=b"y"))).text == "y"
    )


def test_a_file_of_word_that_is_cut_or_a_bomb_is_unreadable(texts):
    good = word(paragraphs("word " * 100))
    assert read(texts, WORD, good).text.startswith("word word")
    assert read(texts, WORD, good[: len(good) // 2]).problem == "unreadable"
    bomb = word(paragraphs("word " * 100_000, 600))
    assert len(bomb) < 3_000_000
    assert read(texts, WORD, bomb).problem in {"unreadable", "memory", "crash"}


def pdf(stream: bytes, length: int | None = None, pages: int = 1, kid: int = 3) -> bytes:
    """A file of PDF with one page, whose content is a packed stream; numbers in it may lie."""
    size = len(stream) if length is None else length
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%d 0 R]/Count %d>>" % (kid, pages),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (size, stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = b"%PDF-1.4\n"
    for number, part in enumerate(parts, 1):
        body += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    return body + b"trailer<</Size 6/Root 1 0 R>>\n%%EOF"


def packed(blanks: int) -> bytes:
    """The content of a page, and blanks behind it, MB."""
    packer = zlib.compressobj()
    parts = [packer.compress(b"BT /F 12 Tf 10 10 Td (hello) Tj ET\n")]
    parts += [packer.compress(bytes(1_000_000)) for _ in range(blanks)]
    return b"".join(parts) + packer.flush()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (pdf(packed(0)), "hello"),
        (pdf(packed(0), length=999_999_999), "hello"),
        (pdf(packed(0), pages=999_999_999), "hello"),
        (pdf(packed(0), kid=2), ""),
        (pdf(packed(200)), "hello"),
    ],
)
def test_files_of_pdf_that_lie_about_sizes_or_unpack_to_many_times_theirs(texts, body, text):
    found = read(texts, "application/pdf", body)
    assert found.text.strip() == text
    assert found.problem == "" or not text


def test_entities_of_xml_are_neither_multiplied_nor_read_from_files(texts):
    lines = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "laughs">{lines}]>'
    assert len(read(texts, WORD, word(paragraphs("&e9;", head=head))).text) < 100_000
    head = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    assert "root" not in read(texts, WORD, word(paragraphs("&e;", head=head))).text


def test_elements_deep_in_one_another_in_a_file_of_word(texts):
    deep = word([f'<w:document xmlns:w="{SPACE}"><w:body>', "<w:p>" * 200_000])
    assert read(texts, WORD, deep).text.strip() == ""


@pytest.mark.parametrize(
    ("mime", "body"),
    [
        ("application/pdf", b"%PDF-1.4\n" + b"1 0 obj <</Length 99999999>> stream\n" * 1_000),
        ("application/pdf", b"%PDF-1.7\ntrailer <</Encrypt 1 0 R /Root 1 0 R>>\n%%EOF"),
        ("application/msword", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(4_000)),
        ("application/epub+zip", b"PK\3\4" + b"\xff" * 1_000),
    ],
)
def test_damaged_and_encrypted_files_are_unreadable(texts, mime, body):
    assert read(texts, mime, body).problem == "unreadable"


@pytest.mark.parametrize(
    ("body", "length"),
    [
        (b"<p>" + b"word " * 2_000_000, 999_999),
        (b"<p>" + b"x" * 10_000_000, 1_000_000),
        (b'<p title="' + b"x" * 10_000_000 + b'">t', 1),
        (b"<table><tr><td>" * 30_000 + b"x", 1),
        (b"<i>" * 100_000 + b"x" + b"</i>" * 100_000, 1),
    ],
)
def test_pages_of_one_huge_element_or_of_many_in_one_another(texts, body, length):
    found = read(texts, "text/html", body)
    assert (found.problem, len(found.text.rstrip())) == ("", length)


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        (
            "gbk",
            "<p>国家图书馆是国家总书库国家书目中心".encode(),
            "国家图书馆是国家总书库国家书目中心",
        ),
        (
            "utf-8",
            "<p>国家图书馆是国家总书库国家书目中心".encode("gbk"),
            "国家图书馆是国家总书库国家书目中心",
        ),
        (None, b"<p>a\0b\0\0c", "a b  c"),
        (None, b"<p>a&#xD800;b&#x110000;c", "a\ufffdb\ufffdc"),
        (
            None,
            "<p dir=rtl>المكتبة \u202eabc\u202c الوطنية".encode(),
            "المكتبة \u202eabc\u202c الوطنية",
        ),
    ],
)
def test_encodings_that_lie_and_characters_that_are_none(texts, charset, body, text):
    found = read(texts, "text/html", body, charset)
    assert found.text.split() == text.split()
    assert found.problem == ""
