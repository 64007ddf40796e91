"""CDXJ lines, the same as `cdxj-indexer --post-append` makes from the finished file.

Source: CDXJ 0.1.0; compared with cdxj-indexer in tests/contract.
"""

from json.encoder import encode_basestring_ascii as quoted

from nacre.archive.field import digest_of, second_digits, uri_field
from nacre.archive.postquery import PostQuery
from nacre.archive.record import Record
from nacre.uri.surt import index_key

INDEXED = frozenset(("response", "revisit", "resource"))
"""Types of ours that are indexed; of metadata only what has a media type of its own."""

EMPTY_DIGEST = digest_of(b"")


def index_line(record: Record, name: str, offset: int, length: int) -> bytes:
    """The line of a record with its newline; b"" for a record that is not indexed.

    Args:
        record: The record.
        name: Name of the file as it will be once closed.
        offset: Where the record begins in it, bytes.
        length: Bytes that it takes there.
    """
    if record.type not in INDEXED and record.mime is None:
        return b""
    return format_line(
        uri_field(record.url),
        second_digits(record.date),
        (record.mime, record.status, record.digest or _absent_digest(record)),
        (length, offset, name),
        record.post,
    )


def _absent_digest(record: Record) -> str | None:
    """What cdxj-indexer says of a record without a payload digest, which has no payload."""
    return None if record.type == "revisit" else EMPTY_DIGEST


def format_line(
    url: str,
    timestamp: str,
    what: tuple[str | None, str | None, str | None],
    where: tuple[int, int, str],
    post: PostQuery | None = None,
) -> bytes:
    """One line with its newline.

    Args:
        url: WARC-Target-URI as written.
        timestamp: Its date, 14 digits.
        what: Media type, status, payload digest with its label; None leaves the key out.
        where: Length, offset, file name.
        post: What a POST or PUT adds; None for other requests.
    """
    mime, status, digest = what
    length, offset, name = where
    kind = "" if mime is None else f'"mime": {quoted(mime)}, '
    code = "" if status is None else f'"status": {quoted(status)}, '
    content = "" if digest is None else f'"digest": {quoted(digest)}, '
    key, request = index_key(url), ""
    if post is not None:
        key = index_key(post.appended(url))
        request = f', "requestBody": {quoted(post.query)}, "method": {quoted(post.method)}'
    if " " in key:
        key = key.replace(" ", "%20")  # only of URLs that no crawl of ours makes
    return (
        f'{key} {timestamp} {{"url": {quoted(url)}, {kind}{code}{content}'
        f'"length": "{length}", "offset": "{offset}", "filename": {quoted(name)}{request}}}\n'
    ).encode()


def sorted_index(data: bytes) -> bytes:
    """The closed form of an index: each line once, sorted by its bytes (as with LC_ALL=C)."""
    lines = sorted(set(data.split(b"\n")))
    return b"".join([line + b"\n" for line in lines if line])
