"""The helper process that parses large documents; `parser` starts it and talks to it.

It imports no more than it needs: the first large document waits for its start. The extractors
only read settings, so that those come without the library that checked them (60 ms).
"""

import resource
import struct
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec

from nacre.extract.document import Document

if TYPE_CHECKING:
    from nacre.extract.settings import ExtractSettings

MEMORY = 2_000_000_000
"""Address space of the helper, bytes."""

LENGTH = struct.Struct(">I")
"""Before each message, its length in bytes."""


class ParseJob(msgspec.Struct, array_like=True):
    """A request to the helper process, which answers with an `Extraction`.

    Attributes:
        document: The document.
        settings: The fields of `ExtractSettings`.
    """

    document: Document
    settings: dict[str, Any]


def main() -> None:
    """The helper's loop: ends with the pipe."""
    # Who only starts the helper needs no parsers, which are slow to load.
    from nacre.extract.dispatch import extract  # noqa: PLC0415

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    decoder, encoder = msgspec.msgpack.Decoder(ParseJob), msgspec.msgpack.Encoder()
    while True:
        head = source.read(4)
        if len(head) < 4:
            return
        (size,) = LENGTH.unpack(head)
        data = source.read(size)
        if len(data) < size:
            return
        job = decoder.decode(data)
        settings = cast("ExtractSettings", SimpleNamespace(**job.settings))
        found = extract(job.document, settings)
        answer = encoder.encode(found)
        sink.write(LENGTH.pack(len(answer)) + answer)
        sink.flush()


if __name__ == "__main__":
    main()
