"""The text of Word and PowerPoint (Office Open XML), OpenDocument and EPUB: zip files of XML.

The file is read tag by tag: words that are split over runs are joined, tabs and breaks separate
them, and text beside a line (notes, comments, text boxes, readings of `ruby`) follows its
paragraph. Deleted text and repetitions for older programs are left out. Sources: ECMA-376-1, 17.3.3
and 21.1.2; OpenDocument 1.3 part 3, 6.1; EPUB 3.3, 4.2.6.3 (`container.xml`) and 5 (the package
document): chapters are read in the order of the spine, each as a page.
"""

import posixpath
import re
import zlib
from collections.abc import Iterator, Mapping
from html import unescape
from io import BytesIO
from typing import NamedTuple
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from nacre.extract.fulltext.job import PageText, TextJob
from nacre.extract.fulltext.markup import MARK, readable
from nacre.extract.html.page import with_end_tags

_MOST = 100_000_000
"""Bytes of unpacked XML; a document with more is not read."""
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)|"
    r"<(?:(?P<close>/)?(?:[\w.-]+:)?(?P<name>[\w.-]+)(?![\w.-])"
    r"(?P<attributes>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*?)(?P<empty>/)?|[?!][^<>]*)>",
    re.DOTALL,
)
"""A tag ends before the next `<`, an unclosed tag at the end of the text: linear time."""
_COUNT = re.compile(r"""\bc=["'](\d{1,4})["']""")
_MOST_SPACES = 100
"""Most spaces of an element with a count, so that a small file does not become a large text."""
_NAME = re.compile(r"""\btable:name=["']([^"']*)["']""")
_SPACE = re.compile(r"\s+")
_TITLE = re.compile(r"<dc:title[^<>]*>([^<]*)</dc:title>")
_LANGUAGE = re.compile(r"<dc:language[^<>]*>([^<]*)</dc:language>")
ZIP_ERRORS: tuple[type[Exception], ...] = (
    *(BadZipFile, KeyError, ValueError, RuntimeError, OSError, EOFError, zlib.error),
    NotImplementedError,
)
"""What reading a zip file from the web may raise."""


class _Format(NamedTuple):
    """What elements mean, by local names.

    Attributes:
        parts: Names of the files with text, in order; the first group tells them apart, the second
            numbers them.
        facts: The file with title and language.
        texts: Elements whose text counts.
        signs: Elements that are characters.
        skipped: Elements without text that counts.
        aside: Elements whose text follows the paragraph that contains them.
        cell: A cell of a table.
        row: A row.
        sheet: An element whose name is shown; "" for none.
    """

    parts: re.Pattern[str]
    facts: str
    texts: frozenset[str]
    signs: Mapping[str, str]
    skipped: frozenset[str]
    aside: frozenset[str]
    cell: str
    row: str
    sheet: str = ""


_OOXML = _Format(
    re.compile(
        r"(?:word/(?:document|footnotes|endnotes|comments|header|footer)|ppt/slides/slide"
        r"|ppt/notesSlides/notesSlide|ppt/diagrams/data)(\d*)\.xml"
    ),
    "docProps/core.xml",
    frozenset(("t",)),
    {
        "tab": "\t",
        "ptab": "\t",
        "br": "\n",
        "cr": "\n",
        "noBreakHyphen": "\N{NON-BREAKING HYPHEN}",
        "softHyphen": "\N{SOFT HYPHEN}",
    },
    frozenset(("pPr", "rPr", "Fallback", "moveFrom", "del")),
    frozenset(("txbxContent", "rt")),
    "tc",
    "tr",
)
_OPEN = _Format(
    re.compile(r"content()\.xml"),
    "meta.xml",
    frozenset(("p", "h")),
    {"tab": "\t", "line-break": "\n", "s": " "},
    frozenset(("tracked-changes", "note-citation", "forms", "scripts", "automatic-styles")),
    frozenset(("note", "annotation", "text-box", "ruby-text", "title", "desc")),
    "table-cell",
    "table-row",
)
_ORDER = ("document", "slide", "footnotes", "endnotes", "notesSlide", "data", "comments", "header")
_PARAGRAPHS = frozenset(("p", "h"))
_BARE = frozenset(("ruby-text", "title", "desc"))
"""Elements beside a line whose text is in no paragraph."""


def zipped_xml_text(job: TextJob, kind: str) -> PageText:
    """Read a document."""
    form = _OPEN if "opendocument" in kind else _OOXML
    if kind.endswith(".spreadsheet"):
        form = form._replace(sheet="table")
    try:
        with ZipFile(BytesIO(job.document.body)) as file:
            budget = UnpackBudget()
            names = _parts(file.namelist(), form)
            if not names:
                return PageText(problem="unreadable")
            text = "\n".join(_Reader(form).text(budget.read(file, name)) for name in names)
            facts = budget.read(file, form.facts) if form.facts in file.namelist() else ""
    except ZIP_ERRORS:
        return PageText(problem="unreadable")
    title, language = _TITLE.search(facts), _LANGUAGE.search(facts)
    return PageText(
        title=unescape(title[1]) if title else "",
        text=text.strip(),
        lang=unescape(language[1]).strip() if language else "",
    )


def _parts(names: list[str], form: _Format) -> list[str]:
    """Return the files with text, in the order in which they are read."""
    matches = [(match, name) for name in names if (match := form.parts.fullmatch(name))]
    return [name for _, name in sorted(matches, key=lambda pair: _place(pair[1], pair[0][1]))]


def _place(name: str, number: str) -> tuple[int, int, str]:
    stem = name.rpartition("/")[2].removesuffix(".xml").rstrip("0123456789")
    rank = _ORDER.index(stem) if stem in _ORDER else len(_ORDER)
    return rank, int(number[:9] or 0), name


class UnpackBudget:
    """Reads files of a zip file, up to so many bytes in all."""

    def __init__(self) -> None:
        self._left = _MOST

    def read(self, file: ZipFile, name: str) -> str:
        """Unpack a file.

        Raises:
            ValueError: There is more than the budget, or it is no text.
        """
        with file.open(name) as part:
            data = part.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(name)
        is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        return data.decode("utf-16" if is_wide else "utf-8-sig")


class _Reader:
    """Reads one file."""

    def __init__(self, form: _Format) -> None:
        self._form = form
        self._lines: list[list[str]] = [[]]
        self._beside: list[str] = []
        self._inside = [0]

    def text(self, xml: str) -> str:
        """Return the text of a file: a line for each paragraph, and for each row of a table."""
        skipping, depth = "", 0
        for match, text in _tokens(xml):
            name = match["name"] if match is not None else None
            if skipping:
                if name == skipping and match is not None:
                    depth += -1 if match["close"] else 0 if match["empty"] else 1
                    skipping = skipping if depth else ""
            elif match is None or name is None:
                self._add(text)
            elif name in self._form.skipped and not match["close"]:
                skipping, depth = ("", 0) if match["empty"] else (name, 1)
            elif match["close"]:
                self._close(name)
            else:
                self._open(name, match["attributes"])
                if match["empty"]:
                    self._close(name)
        while len(self._lines) > 1:
            self._end_aside()
        return "".join((*self._lines[0], *self._beside))

    def _add(self, text: str) -> None:
        if self._inside[-1]:
            self._lines[-1].append(_SPACE.sub(" ", unescape(text)))

    def _open(self, name: str, attributes: str) -> None:
        form = self._form
        if name in form.aside:
            self._lines.append([])
            self._inside.append(int(bool(self._inside[-1]) and name in _BARE))
        elif name in form.texts:
            self._inside[-1] += 1
        elif name in form.signs:
            count = _COUNT.search(attributes) if name == "s" else None
            self._lines[-1].append(
                form.signs[name] * (min(int(count[1]), _MOST_SPACES) if count else 1)
            )
        elif name == form.sheet and (title := _NAME.search(attributes)):
            self._lines[-1].append(unescape(title[1]) + "\n")

    def _close(self, name: str) -> None:
        form, line = self._form, self._lines[-1]
        if name in form.aside:
            self._end_aside()
            return
        if name in form.texts and self._inside[-1]:
            self._inside[-1] -= 1
        if name in _PARAGRAPHS:
            line.append("\n")
            if len(self._lines) == 1:
                line += self._beside
                self._beside = []
        elif name in {form.cell, form.row}:
            if line and line[-1] in {"\n", "\t"}:
                line.pop()
            line.append("\t" if name == form.cell else "\n")

    def _end_aside(self) -> None:
        if len(self._lines) > 1:
            text = "".join(self._lines.pop()).strip()
            self._inside.pop()
            self._beside += [text, "\n"] if text else []


def _tokens(xml: str) -> Iterator[tuple[re.Match[str] | None, str]]:
    """Tags, each with no text, and the texts between them, without a match."""
    at = 0
    for match in _TOKEN.finditer(xml):
        if match.start() > at:
            yield None, xml[at : match.start()]
        if match["cdata"]:
            yield None, match["cdata"].replace("&", "&amp;")
        elif match["name"]:
            yield match, ""
        at = match.end()


_PACKAGE = re.compile(r"""<(?:\w+:)?rootfile\b[^<>]*?\bfull-path=["']([^"']+)["']""")
_ITEM = re.compile(r"<(?:\w+:)?item\b([^<>]*)>")
_SPINE = re.compile(r"""<(?:\w+:)?itemref\b[^<>]*?\bidref=["']([^"']+)["']""")
_ATTRIBUTE = re.compile(r"""\b(id|href|media-type)=["']([^"']*)["']""")
_FACT = r"<dc:{0}\b[^<>]*>([^<]*)</dc:{0}>"
_EPUB_TITLE = re.compile(_FACT.format("title"))
_EPUB_LANGUAGE = re.compile(_FACT.format("language"))
_CHAPTER = frozenset(("application/xhtml+xml", "text/html"))
_MOST_CHAPTERS = 5_000
"""Chapters that are read."""


def epub_text(job: TextJob, _kind: str) -> PageText:
    """Read a book."""
    budget = UnpackBudget()
    try:
        with ZipFile(BytesIO(job.document.body)) as file:
            container = budget.read(file, "META-INF/container.xml")
            match = _PACKAGE.search(container)
            if match is None:
                return PageText(problem="unreadable")
            name = unescape(match[1])
            package = budget.read(file, name)
            names = frozenset(file.namelist())
            chapters = [chapter for chapter in _chapters(package, name) if chapter in names]
            texts = [
                _chapter_text(budget.read(file, chapter)) for chapter in chapters[:_MOST_CHAPTERS]
            ]
    except ZIP_ERRORS:
        return PageText(problem="unreadable")
    title, language = _EPUB_TITLE.search(package), _EPUB_LANGUAGE.search(package)
    return PageText(
        title=unescape(title[1]) if title else "",
        text="\n\n".join(text for text, _ in texts).strip(),
        rest="\n".join(filter(None, (hidden for _, hidden in texts))),
        lang=unescape(language[1]).strip() if language else "",
    )


def _chapters(package: str, name: str) -> list[str]:
    """Names of the chapters of a book, in order.

    Args:
        package: Its package document.
        name: The name of that.
    """
    items = [dict(_ATTRIBUTE.findall(attributes)) for attributes in _ITEM.findall(package)]
    folder = posixpath.dirname(name)
    places = {
        item.get("id", ""): posixpath.normpath(
            posixpath.join(folder, unquote(unescape(item.get("href", ""))))
        )
        for item in items
        if item.get("media-type") in _CHAPTER
    }
    return [places[key] for key in _SPINE.findall(package) if key in places]


def _chapter_text(markup: str) -> tuple[str, str]:
    """Return the text of a chapter, and the readings of its `ruby` elements."""
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415 - an extra

    closed = with_end_tags(markup.encode("utf-8", "replace")).decode()
    text, readings = readable(closed)
    plain = extract_plain_text(text, preserve_formatting=True, list_bullets=False)
    return plain.replace(MARK, ""), "\n".join(readings)
