"""Records -> bytes of the file: one gzip member per record (WARC 1.1 annex D), or plain.

isal at level 1 gives 540 MB/s, eight times zlib, for a few per cent more bytes. It releases the
GIL, so these functions may run in a thread.
"""

from collections.abc import Iterator

from isal import isal_zlib

from nacre.archive.record import Record

GZIP = 31
"""zlib's `wbits` for a gzip member."""

TRAILER = b"\r\n\r\n"
CHUNK = 1 << 20

PLAIN = -1
"""Level of a file that is not compressed."""


def pack(record: Record, level: int) -> bytes:
    """The whole record as it stands in the file; for records that fit in memory.

    Args:
        record: The record.
        level: 0 to 3 of isal, or `PLAIN`.
    """
    body = record.body
    rest = b"" if body is None else body.read(0, body.length)
    data = b"".join((record.head, record.prefix, rest, TRAILER))
    return data if level == PLAIN else isal_zlib.compress(data, level, GZIP)


def pack_chunks(record: Record, level: int) -> Iterator[bytes]:
    """The same in chunks of at most about 1 MB, for bodies of any size."""
    if level == PLAIN:
        yield from _plain(record)
        return
    gzip = isal_zlib.compressobj(level, isal_zlib.DEFLATED, GZIP)
    for data in _plain(record):
        packed = gzip.compress(data)
        if packed:
            yield packed
    yield gzip.flush()


def _plain(record: Record) -> Iterator[bytes]:
    yield record.head + record.prefix
    body = record.body
    if body is not None:
        for offset in range(0, body.length, CHUNK):
            yield body.read(offset, CHUNK)
    yield TRAILER
