"""The helper process that parses large documents; `parser` starts it and talks to it.

It imports no more than it needs: the first large document waits for its start. The extractors
only read settings, so that those come without the library that checked them (60 ms).
"""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec

from nacre.engine.helper_loop import serve
from nacre.extract.document import Document

if TYPE_CHECKING:
    from nacre.extract.settings import ExtractSettings


class ParseJob(msgspec.Struct, array_like=True):
    """A request to the helper process, which answers with an `Extraction`.

    Attributes:
        document: The document.
        settings: The fields of `ExtractSettings`.
    """

    document: Document
    settings: dict[str, Any]


def main() -> None:
    """The helper that finds links."""
    # Who only starts the helper needs no parsers, which are slow to load.
    from nacre.extract.dispatch import extract  # noqa: PLC0415

    decoder, encoder = msgspec.msgpack.Decoder(ParseJob), msgspec.msgpack.Encoder()

    def answer(data: bytes) -> bytes:
        job = decoder.decode(data)
        settings = cast("ExtractSettings", SimpleNamespace(**job.settings))
        return encoder.encode(extract(job.document, settings))

    serve(answer)


if __name__ == "__main__":
    main()
