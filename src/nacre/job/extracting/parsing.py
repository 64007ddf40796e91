"""The helper process that parses large documents; `parser` starts it and talks to it.

It imports no more than it needs: whoever meets a large document waits for its start.
"""

import resource
import struct
import sys

import msgspec

from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.settings import ExtractSettings

MEMORY = 2_000_000_000
"""Address space of the helper, bytes."""

LENGTH = struct.Struct(">I")
"""Before each message, its length in bytes."""


class Job(msgspec.Struct, array_like=True):
    """What the helper is asked; it answers with an `Extraction`."""

    document: Document
    settings: str


def main() -> None:
    """The helper's loop: ends with the pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    decoder, encoder = msgspec.msgpack.Decoder(Job), msgspec.msgpack.Encoder()
    while True:
        head = source.read(4)
        if len(head) < 4:
            return
        (size,) = LENGTH.unpack(head)
        data = source.read(size)
        if len(data) < size:
            return
        job = decoder.decode(data)
        found = extract(job.document, ExtractSettings.model_validate_json(job.settings))
        answer = encoder.encode(found)
        sink.write(LENGTH.pack(len(answer)) + answer)
        sink.flush()


if __name__ == "__main__":
    main()
