"""The helper process that reads documents for an index; `text_process` starts it."""

import msgspec

from nacre.engine.helper_loop import keep_quiet, serve
from nacre.extract.fulltext.job import PageText, TextJob
from nacre.extract.fulltext.page_text import page_text

MEMORY = 3_000_000_000
"""Address space of the helper, bytes: libraries and models take a third of it."""
CPU = 20.0
"""Time of the processor for one document, s."""


def _text(job: TextJob) -> PageText:
    try:
        return page_text(job)
    except (MemoryError, RecursionError):
        return PageText(problem="memory")


def main() -> None:
    """The helper that makes text."""
    decoder, encoder = msgspec.msgpack.Decoder(list[TextJob]), msgspec.msgpack.Encoder()

    def answer(data: bytes) -> bytes:
        return encoder.encode([_text(job) for job in decoder.decode(data)])

    serve(answer, MEMORY, CPU)


if __name__ == "__main__":
    keep_quiet()
    main()
