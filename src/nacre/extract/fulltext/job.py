"""The job of reading a document, its characters, its answer, and the media types that have a text.

Links are decoded as browsers do, by the declaration. For words of an index the bytes count more
than the declaration: unreadable words are useless there.
"""

import re

import msgspec

from nacre.extract.document import Document
from nacre.wire.charset import decode, detect

HTML = frozenset(("text/html", "application/xhtml+xml"))
TABLES = frozenset(("text/csv", "text/tab-separated-values"))
PLAIN = frozenset(("text/plain", "text/markdown")) | TABLES
PDF = frozenset(("application/pdf", "application/x-pdf"))
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
EPUB = "application/epub+zip"
ZIPPED_XML = frozenset(
    (
        f"{_OFFICE}wordprocessingml.document",
        f"{_OFFICE}presentationml.presentation",
        f"{_OPEN}text",
        f"{_OPEN}spreadsheet",
        f"{_OPEN}presentation",
        f"{_OPEN}graphics",
    )
)
"""Zip files of XML that are read here: the library joins or parts words of them."""
_MACRO = "macroenabled.12"
SIBLINGS = {
    **dict.fromkeys(
        (
            f"{_OFFICE}wordprocessingml.template",
            f"application/vnd.ms-word.document.{_MACRO}",
            f"application/vnd.ms-word.template.{_MACRO}",
        ),
        f"{_OFFICE}wordprocessingml.document",
    ),
    **dict.fromkeys(
        (
            f"{_OFFICE}spreadsheetml.template",
            f"application/vnd.ms-excel.sheet.{_MACRO}",
            f"application/vnd.ms-excel.template.{_MACRO}",
        ),
        f"{_OFFICE}spreadsheetml.sheet",
    ),
    **dict.fromkeys(
        (
            f"{_OFFICE}presentationml.template",
            f"{_OFFICE}presentationml.slideshow",
            f"application/vnd.ms-powerpoint.presentation.{_MACRO}",
            f"application/vnd.ms-powerpoint.template.{_MACRO}",
            f"application/vnd.ms-powerpoint.slideshow.{_MACRO}",
        ),
        f"{_OFFICE}presentationml.presentation",
    ),
    **dict.fromkeys((f"{_OPEN}text-template", f"{_OPEN}text-master"), f"{_OPEN}text"),
    f"{_OPEN}spreadsheet-template": f"{_OPEN}spreadsheet",
    f"{_OPEN}presentation-template": f"{_OPEN}presentation",
    f"{_OPEN}graphics-template": f"{_OPEN}graphics",
}
"""Templates, shows and files with macros, and the media type by which they are read."""
OFFICE = frozenset(
    (
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        f"{_OFFICE}spreadsheetml.sheet",
        "application/rtf",
        "text/rtf",
    )
)
TYPES = HTML | PLAIN | PDF | OFFICE | ZIPPED_XML | {EPUB} | SIBLINGS.keys()
"""Media types that have a text."""

UNKNOWN = frozenset(("", "application/octet-stream", "binary/octet-stream"))
"""Media types that do not determine the type of a document."""
ENDINGS = {
    "pdf": "application/pdf",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "docx": f"{_OFFICE}wordprocessingml.document",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "pptx": f"{_OFFICE}presentationml.presentation",
    "dot": "application/msword",
    "xlt": "application/vnd.ms-excel",
    **dict.fromkeys(("pot", "pps"), "application/vnd.ms-powerpoint"),
    "dotx": f"{_OFFICE}wordprocessingml.template",
    "docm": f"application/vnd.ms-word.document.{_MACRO}",
    "dotm": f"application/vnd.ms-word.template.{_MACRO}",
    "xltx": f"{_OFFICE}spreadsheetml.template",
    "xlsm": f"application/vnd.ms-excel.sheet.{_MACRO}",
    "xltm": f"application/vnd.ms-excel.template.{_MACRO}",
    "potx": f"{_OFFICE}presentationml.template",
    "ppsx": f"{_OFFICE}presentationml.slideshow",
    "pptm": f"application/vnd.ms-powerpoint.presentation.{_MACRO}",
    "potm": f"application/vnd.ms-powerpoint.template.{_MACRO}",
    "ppsm": f"application/vnd.ms-powerpoint.slideshow.{_MACRO}",
    "ott": f"{_OPEN}text-template",
    "odm": f"{_OPEN}text-master",
    "ots": f"{_OPEN}spreadsheet-template",
    "otp": f"{_OPEN}presentation-template",
    "otg": f"{_OPEN}graphics-template",
    "odt": f"{_OPEN}text",
    "ods": f"{_OPEN}spreadsheet",
    "odp": f"{_OPEN}presentation",
    "odg": f"{_OPEN}graphics",
    "epub": EPUB,
    "rtf": "application/rtf",
}
"""Media types of files that a server sends without one, by the end of their names."""


class TextJob(msgspec.Struct, array_like=True):
    """A request to the helper process, which answers with a `PageText`.

    Attributes:
        document: The document.
        main: Separate the text of the page from parts that every page of a site repeats.
        most: Characters of text to return at most.
        linear: Take HTML apart tag by tag, in linear time: for pages that were too much otherwise.
        agent: Product token for which directives may be written; "" for everyone's alone.
        lifted: A `noindex` of the head does not hold any more.
        shown: Its text as a browser showed it, instead of the document's; "" for none.
        shown_title: Its title there; "" for its own.
    """

    document: Document
    main: bool = True
    most: int = 1_000_000
    linear: bool = False
    agent: str = ""
    lifted: bool = False
    shown: str = ""
    shown_title: str = ""


class PageText(msgspec.Struct, array_like=True):
    """The text of a document.

    Attributes:
        title: Its title; "" for none.
        text: Its text; if `main` was requested, without the parts that every page of a site
            repeats.
        rest: The text that `text` leaves out.
        lang: Its language, lower case; "" when unknown.
        robots: Directives for robots in effect, lower case.
        type: Media type by which it was read.
        problem: Why it has no text; "" if it has been read.
    """

    title: str = ""
    text: str = ""
    rest: str = ""
    lang: str = ""
    robots: list[str] = []
    type: str = ""
    problem: str = ""


def text_type(mime: str, url: str) -> str:
    """Return the media type by which a document is read; "" if it has no text.

    Args:
        mime: As sent by the server, lower case.
        url: Its URL: the extension counts if the server sends no type.
    """
    if mime in TYPES:
        return mime
    if mime not in UNKNOWN:
        return ""
    path = url.partition("#")[0].partition("?")[0]
    return ENDINGS.get(path.rpartition(".")[2].lower(), "")


_FAR = re.compile(rb"[\x80-\xff]")
_SURE = 6
"""Non-ASCII characters that suffice to detect an encoding."""
_HAN = re.compile("[\u4e00-\u9fff]")
_OTHER = re.compile("[^\x00-\x7f]")


def document_text(document: Document) -> str:
    """Return the text of a document: in UTF-8 or GB 18030 where its bytes are, else as it declares.

    Args:
        document: The document.
    """
    body = document.body
    charset, _ = detect(body, document.charset_header, document.url, document.hints)
    text = decode(body, charset)
    if _FAR.search(body) is not None:
        decoded = _in_chinese(body) if "\ufffd" in text else None
        if charset.replace("_", "-").lower() not in {"utf-8", "utf-8-sig"}:
            decoded = _in_utf_8(body) or decoded
        text = decoded or text
    return text.replace("\0", " ")


def _in_utf_8(body: bytes) -> str | None:
    """Return the text, where the bytes are UTF-8: those of other encodings are so by no chance."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if len(_OTHER.findall(text)) >= _SURE else None


def _in_chinese(body: bytes) -> str | None:
    """Return the text, where the bytes are GB 18030 without an error, and most of them Chinese."""
    try:
        text = body.decode("gb18030")
    except UnicodeDecodeError:
        return None
    far = len(_OTHER.findall(text))
    return text if far >= _SURE and 2 * len(_HAN.findall(text)) > far else None
