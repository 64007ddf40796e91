"""The text of a document, by its media type."""

from collections.abc import Callable

import msgspec

from nacre.extract.document import Document
from nacre.extract.fulltext.decoding import document_text
from nacre.extract.fulltext.job import (
    EPUB,
    HTML,
    PLAIN,
    SIBLINGS,
    TABLES,
    ZIPPED_XML,
    PageText,
    TextJob,
    text_type,
)
from nacre.extract.fulltext.language import language_of, normalize_tag
from nacre.extract.headers import header_directives, header_text
from nacre.extract.lines import join_lines, one_line


def page_text(job: TextJob) -> PageText:
    """Read a document.

    If it cannot be read, `problem` has the reason. A crash of a parser, endless time and memory are
    caught by the limits of the process.
    """
    document = job.document
    kind = text_type(document.mime, document.url)
    if not kind:
        return PageText(problem="type")
    read_as = SIBLINGS.get(kind, kind)
    text = _reader(read_as)(job, read_as)
    robots = header_directives(document.headers, job.agent)
    if job.lifted:
        robots -= {"noindex", "none"}
    declared = normalize_tag(text.lang) or _language_of_header(document)
    text = msgspec.structs.replace(
        text,
        title=one_line(text.title)[:1_000],
        text=text.text[: job.most],
        rest=text.rest[: job.most],
        robots=sorted({*text.robots, *robots}),
        type=kind,
    )
    return msgspec.structs.replace(text, lang=language_of(declared, text.text or text.rest))


def _reader(kind: str) -> Callable[[TextJob, str], PageText]:
    # A process that reads pages alone needs no library for other types.
    if kind in HTML:
        from nacre.extract.fulltext.html import html_text  # noqa: PLC0415

        return html_text
    if kind in PLAIN:
        return plain_text
    if kind in ZIPPED_XML:
        from nacre.extract.fulltext.zipped_xml import zipped_xml_text  # noqa: PLC0415

        return zipped_xml_text
    if kind == EPUB:
        from nacre.extract.fulltext.epub import epub_text  # noqa: PLC0415

        return epub_text
    from nacre.extract.fulltext.office import office_text  # noqa: PLC0415

    return office_text


def plain_text(job: TextJob, kind: str) -> PageText:
    """The text of a file of text, in the encoding that it is in; lines of a table stay apart."""
    text = document_text(job.document)
    return PageText(text=text if kind in TABLES else join_lines(text))


def _language_of_header(document: Document) -> str:
    for name, value in document.headers:
        if name.lower() == b"content-language":
            return normalize_tag(header_text(value).partition(",")[0])
    return ""
