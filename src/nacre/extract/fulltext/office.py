"""The text of PDF, Excel, RTF and older formats of Office, by kreuzberg; no OCR.

What unpacks to more than the library or the memory of the process allows has no text.
"""

from functools import cache
from typing import Any

from nacre.extract.fulltext.job import PageText, TextJob
from nacre.extract.lines import join_lines

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
