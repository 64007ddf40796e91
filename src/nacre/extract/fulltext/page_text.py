"""The text of a document, by its media type.

PDF, Excel, RTF and older formats of Office are read by kreuzberg, without OCR; what unpacks to more
than the library or the memory of the process allows has no text.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from nacre.extract.document import Document
from nacre.extract.fulltext.job import (
    EPUB,
    HTML,
    PLAIN,
    SIBLINGS,
    TABLES,
    ZIPPED_XML,
    PageText,
    TextJob,
    document_text,
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
    if job.shown:
        title = job.shown_title or text.title
        text = msgspec.structs.replace(text, title=title, text=job.shown, rest="")
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
        from nacre.extract.fulltext.zipped_xml import epub_text  # noqa: PLC0415

        return epub_text
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


_NEVER = 1_000_000
"""Time that the library gives itself, s: more than its process has (`indexing.text_process`).

On a busy machine a small document can take a minute on the clock, and is readable all the same.
With its own time limit, the library would continue in a thread, and the next document would wait
for that thread.
"""


@cache
def _settings() -> Any:  # noqa: ANN401 - an extra
    from kreuzberg import ConcurrencyConfig, ExtractionConfig  # noqa: PLC0415 - an extra

    return ExtractionConfig(  # type: ignore[call-arg] # its stub lacks an option
        use_cache=False,
        enable_quality_processing=False,
        disable_ocr=True,
        extraction_timeout_secs=_NEVER,
        concurrency=ConcurrencyConfig(max_threads=1),
    )


def office_text(job: TextJob, kind: str) -> PageText:
    """Read a document."""
    from kreuzberg import KreuzbergError, extract_bytes_sync  # noqa: PLC0415 - an extra

    mime = "application/pdf" if "pdf" in kind else kind
    try:
        extracted = extract_bytes_sync(job.document.body, mime, _settings())
    except (KreuzbergError, ValueError, RuntimeError):
        return PageText(problem="unreadable")
    metadata = extracted.metadata or {}
    title, lang = metadata.get("title"), metadata.get("language")
    text = extracted.content.replace("\r\n", "\n")
    return PageText(
        title=title if isinstance(title, str) else "",
        text=join_lines(text) if "pdf" in kind else text,
        lang=lang if isinstance(lang, str) else "",
    )
