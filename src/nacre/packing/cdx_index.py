"""The index of a WACZ: CDXJ lines in compressed blocks, and the list of these blocks (ZipNum).

Source: `cdxj-gzip-1.0` as cdxj-indexer writes it and pywb and wabac.js read it; WACZ 1.1.1, clause
"indexes".
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Final

from isal import isal_zlib

from nacre.archive.index import format_line
from nacre.archive.index_facts import PostQuery
from nacre.archive.warc_writer import GZIP
from nacre.catalogue.captures import IndexedCapture
from nacre.packing.container import WaczFile

BLOCK: Final = 1024
"""Lines of a compressed block, as py-wacz writes them."""
_NAME: Final = "index.cdx.gz"
_LEVEL: Final = 2


def packed_line(line: bytes, capture: IndexedCapture, name: str, record_digest: str) -> bytes:
    """Return the line of a capture in a WACZ; further fields of the line are kept (pure).

    Args:
        line: Its line in the index of its WARC.
        capture: What the line says.
        name: Name of the WARC in the package.
        record_digest: `sha256:` and the digest of the bytes of its record; "" if not known.
    """
    try:
        fields: dict[str, Any] = json.loads(line.split(b" ", 2)[2])
    except (ValueError, RecursionError):  # a line that is not UTF-8: its capture has escapes
        fields = json.loads(capture_line(capture).split(b" ", 2)[2])
    fields["filename"] = name
    if record_digest:
        fields["recordDigest"] = record_digest
    text = json.dumps(fields)
    return f"{capture.key} {capture.timestamp} {text}".encode("utf-8", "replace")


def capture_line(capture: IndexedCapture) -> bytes:
    """Return the CDXJ line of a capture, without its end (pure)."""
    post = PostQuery(capture.method, capture.query) if capture.method else None
    status = str(capture.status) if capture.status else None
    values = (capture.mime or None, status, capture.digest or None)
    place = (capture.length, capture.offset, capture.warc)
    return format_line(capture.url, capture.timestamp, values, place, post).rstrip(b"\n")


def write_index(wacz: WaczFile, lines: Iterable[bytes]) -> int:
    """Write the index of a WACZ.

    Args:
        wacz: The WACZ.
        lines: All lines, sorted, without their ends.

    Returns:
        The number of lines.

    Raises:
        OSError: The file cannot be written.
    """
    places = [f'!meta 0 {{"format": "cdxj-gzip-1.0", "filename": "{_NAME}"}}\n'.encode()]
    count = 0
    with wacz.entry(f"indexes/{_NAME}") as sink:
        block: list[bytes] = []

        def end_block() -> None:
            data = isal_zlib.compress(b"".join(block), _LEVEL, GZIP)
            facts = {
                "offset": sink.length, "length": len(data),
                "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
                "filename": _NAME,
            }  # fmt: skip
            first = b" ".join(block[0].split(b" ", 2)[:2])
            places.append(first + b" " + json.dumps(facts).encode() + b"\n")
            sink.write(data)
            block.clear()

        for line in lines:
            count += 1
            block.append(line + b"\n")
            if len(block) == BLOCK:
                end_block()
        if block:
            end_block()
    wacz.write("indexes/index.idx", b"".join(places))
    return count
