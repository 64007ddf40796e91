"""CDXJ lines, the same as cdxj-indexer makes from the finished file.

Source: CDXJ 0.1.0; reference/peers.md 2.5; compared with cdxj-indexer in tests/contract.
"""

from json.encoder import encode_basestring_ascii as quoted

from nacre.archive.field import date_digits, digest_of, uri_field
from nacre.archive.record import Record
from nacre.uri.surt import index_key

INDEXED = frozenset(("response", "revisit", "resource"))
"""Types of ours that are indexed; metadata of type `application/warc-fields` is not."""

EMPTY_DIGEST = digest_of(b"")


def index_line(record: Record, name: str, offset: int, length: int) -> bytes:
    """The line of a record with its newline; b"" for a record that is not indexed.

    Args:
        record: The record.
        name: Name of the file as it will be once closed.
        offset: Where the record begins in it, bytes.
        length: Bytes that it takes there.
    """
    if record.type not in INDEXED:
        return b""
    return format_line(
        uri_field(record.url).decode(),
        date_digits(record.date)[:14],
        (record.mime, record.status, record.digest or EMPTY_DIGEST),
        (length, offset, name),
    )


def format_line(
    url: str,
    timestamp: str,
    what: tuple[str | None, str | None, str],
    where: tuple[int, int, str],
) -> bytes:
    """One line with its newline.

    Args:
        url: WARC-Target-URI as written.
        timestamp: Its date, 14 digits.
        what: Media type and status (None leaves the key out), payload digest with its label.
        where: Length, offset, file name.
    """
    mime, status, digest = what
    length, offset, name = where
    kind = "" if mime is None else f'"mime": {quoted(mime)}, '
    code = "" if status is None else f'"status": {quoted(status)}, '
    key = index_key(url)
    return (
        f'{key} {timestamp} {{"url": {quoted(url)}, {kind}{code}"digest": {quoted(digest)}, '
        f'"length": "{length}", "offset": "{offset}", "filename": {quoted(name)}}}\n'
    ).encode()


def sorted_index(data: bytes) -> bytes:
    """The closed form of an index: each line once, sorted by its bytes (as with LC_ALL=C)."""
    lines = sorted(set(data.split(b"\n")))
    return b"".join([line + b"\n" for line in lines if line])
