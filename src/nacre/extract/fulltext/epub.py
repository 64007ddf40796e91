"""The text of EPUB: its chapters in the order of the spine, each read as a page.

Source: EPUB 3.3, 4.2.6.3 (`container.xml`) and 5 (the package document).
"""

import posixpath
import re
from html import unescape
from io import BytesIO
from urllib.parse import unquote
from zipfile import ZipFile

from nacre.extract.fulltext.job import PageText, TextJob
from nacre.extract.fulltext.markup import MARK, readable
from nacre.extract.fulltext.zipped_xml import ZIP_ERRORS, UnpackBudget
from nacre.extract.html.page import with_end_tags

_PACKAGE = re.compile(r"""<(?:\w+:)?rootfile\b[^<>]*?\bfull-path=["']([^"']+)["']""")
_ITEM = re.compile(r"<(?:\w+:)?item\b([^<>]*)>")
_SPINE = re.compile(r"""<(?:\w+:)?itemref\b[^<>]*?\bidref=["']([^"']+)["']""")
_ATTRIBUTE = re.compile(r"""\b(id|href|media-type)=["']([^"']*)["']""")
_FACT = r"<dc:{0}\b[^<>]*>([^<]*)</dc:{0}>"
_TITLE = re.compile(_FACT.format("title"))
_LANGUAGE = re.compile(_FACT.format("language"))
_CHAPTER = frozenset(("application/xhtml+xml", "text/html"))
_MOST = 5_000
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
            texts = [_chapter_text(budget.read(file, chapter)) for chapter in chapters[:_MOST]]
    except ZIP_ERRORS:
        return PageText(problem="unreadable")
    title, language = _TITLE.search(package), _LANGUAGE.search(package)
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
