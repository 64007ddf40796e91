"""Pages read back from the archive, with their bodies: for the judge, and to rebuild history."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from nacre.archive.block import BlockFacts
from nacre.archive.delta import DeltaError, page_url
from nacre.archive.reader import WarcEntry, WarcReader, record_at
from nacre.archive.record import IDENTICAL
from nacre.archive.restoring import FindBase, difference_of, is_delta, restored
from nacre.config.ordinary import open_ordinary
from nacre.core.capture import BytesBody, Capture
from nacre.job.holdings.readback import Kept, Metadata, base_of, confirmed, main_record
from nacre.wire.head import parse_head

MOST = 4_000_000
"""Bytes of a block that are read; what is longer is no page that is compared."""


class Reread(NamedTuple):
    """A capture out of the archive; of a revisit, with the body of its original.

    Attributes:
        kept: What its records tell.
        capture: The exchange, as far as it is needed.
    """

    kept: Kept
    capture: Capture


def read_at(path: Path, offset: int, find: FindBase) -> Capture | None:
    """The response at an offset of a WARC, or the one that a difference there leads to.

    Args:
        path: The WARC.
        offset: Where the record begins, bytes.
        find: Finds what a difference was made from.

    Returns:
        The exchange; None when it cannot be read.
    """
    try:
        with record_at(path, offset) as entry:
            if entry is not None and is_delta(entry):
                return _rebuilt(entry, offset, find)[1]
            if entry is None or entry.get("WARC-Type") != "response":
                return None
            return _capture(entry, offset)[1]
    except (OSError, DeltaError):
        return None


def reread(
    path: Path, original: Callable[[Kept], Capture | None], find: FindBase
) -> Iterator[Reread]:
    """The captures over HTTP of a WARC, in order; differences that lead nowhere are left out.

    Args:
        path: The file.
        original: Finds what an identical-payload revisit refers to.
        find: Finds what a difference was made from.
    """
    waiting: Reread | None = None
    with open_ordinary(path) as file:
        for entry in WarcReader(file):
            kind = entry.get("WARC-Type")
            if kind in ("response", "revisit"):
                waiting = _main(entry, original)
            elif is_delta(entry):
                waiting = _difference(entry, find)
            elif kind == "metadata":
                metadata = Metadata(entry)
                waiting = waiting or _confirmation(entry, metadata, original)
                if waiting is not None:
                    metadata.tell(waiting.kept)
                    yield waiting
                waiting = None


def _main(entry: WarcEntry, original: Callable[[Kept], Capture | None]) -> Reread:
    kept, capture = _capture(entry, entry.offset)
    return _same(kept, capture, original)


def _same(kept: Kept, capture: Capture, original: Callable[[Kept], Capture | None]) -> Reread:
    """What a revisit refers to, in its place; an error stays one."""
    if kept.revisit is not None:
        identical = kept.revisit.kind == IDENTICAL
        failed = identical and kept.status >= 400
        found = original(kept) if identical else None
        status = kept.status if failed else 304 if found is None else 200
        if found is not None:
            found.url, found.began = kept.url, kept.date
            capture = found
        capture.status = kept.status = status
    return Reread(kept, capture)


def _confirmation(
    entry: WarcEntry, metadata: Metadata, original: Callable[[Kept], Capture | None]
) -> Reread | None:
    """A note that a difference is still what is served; None for other records."""
    kept = confirmed(entry, metadata)
    if kept is None:
        return None
    return _same(
        kept, _exchange(kept, BlockFacts(http=True, block="sha1", payload="sha1"), b""), original
    )


def _difference(entry: WarcEntry, find: FindBase) -> Reread | None:
    try:
        return Reread(*_rebuilt(entry, entry.offset, find))
    except DeltaError:
        return None


def _rebuilt(entry: WarcEntry, offset: int, find: FindBase) -> tuple[Kept, Capture]:
    delta = difference_of(entry).delta
    block = restored(delta, find)
    facts = BlockFacts(http=True, block="sha1", payload="sha1")
    facts.feed(block)
    facts.close()
    kept = main_record(entry, facts, offset)
    kept.url, kept.digest, kept.base = page_url(kept.url), delta.payload, base_of(delta)
    return kept, _exchange(kept, facts, block)


def _capture(entry: WarcEntry, offset: int) -> tuple[Kept, Capture]:
    facts = BlockFacts(http=True, block="sha1", payload="sha1")
    parts: list[bytes] = []
    while data := entry.read():
        facts.feed(data)
        if facts.length <= MOST:
            parts.append(data)
    facts.close()
    kept = main_record(entry, facts, offset)
    return kept, _exchange(kept, facts, b"".join(parts))


def _exchange(kept: Kept, facts: BlockFacts, block: bytes) -> Capture:
    body = block[len(facts.head) :] if facts.length <= MOST else b""
    runs = list(facts.chunks.runs) if facts.chunks is not None and body else ()
    return Capture(
        url=kept.url,
        request=b"",
        head=facts.head,
        body=BytesBody(body),
        status=kept.status,
        headers=parse_head(facts.head).headers,
        framing="chunked" if kept.chunked else "length",
        chunks=runs,
        payload_length=kept.payload_length,
        payload_digest=kept.digest,
        began=kept.date,
        duration=kept.duration,
        truncated=kept.truncated,
    )
