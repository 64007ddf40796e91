"""Replies rebuilt from differences: reads the difference, its base, and compares every digest."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from nacre.archive.block import BlockFacts, algorithm, digest_matches
from nacre.archive.delta import MEDIA, Delta, DeltaError, read_delta, rebuild
from nacre.archive.field import digest_label
from nacre.archive.fieldrules import unbracketed
from nacre.archive.patch import LONGEST
from nacre.archive.reader import WarcEntry, record_at

T = TypeVar("T")

FindBase = Callable[[Delta], bytes]
"""Gives the block of a base; raises `DeltaError` when it is nowhere."""


class Difference(NamedTuple):
    """A difference with its record.

    Attributes:
        entry: The record; its block has been read.
        delta: What it holds.
    """

    entry: WarcEntry
    delta: Delta


def is_delta(entry: WarcEntry) -> bool:
    """A record that holds a difference."""
    return entry.get("WARC-Type") == "metadata" and entry.get("Content-Type") == MEDIA


def difference_of(entry: WarcEntry) -> Difference:
    """Read a record for which `is_delta` holds; its block must not have been read.

    Raises:
        DeltaError: There is no difference in it.
    """
    return Difference(
        entry, read_delta(_block(entry), unbracketed(entry.get("WARC-Refers-To") or ""))
    )


def difference_at(path: Path, offset: int) -> Difference:
    """The difference whose record begins at an offset of a WARC.

    Raises:
        DeltaError: There is none.
    """
    found: Difference | None = _at(
        path, offset, lambda e: difference_of(e) if is_delta(e) else None
    )
    if found is None:
        raise DeltaError("delta-invalid", f"no difference at {offset} of {path.name}")
    return found


def response_at(path: Path, offset: int, record_id: str) -> bytes:
    """The block of the response at an offset of a WARC, compared with its own digest.

    Args:
        path: The WARC.
        offset: Where the record begins, bytes.
        record_id: Its WARC-Record-ID, without angle brackets.

    Raises:
        DeltaError: It is not there, is damaged, or is longer than `patch.LONGEST`.
    """

    def read(entry: WarcEntry) -> bytes | None:
        own = unbracketed(entry.get("WARC-Record-ID") or "")
        if entry.get("WARC-Type") != "response" or own != record_id:
            return None
        block, digest = _block(entry), entry.get("WARC-Block-Digest") or ""
        facts = BlockFacts(http=False, block=algorithm(digest), payload="sha1")
        facts.feed(block)
        if entry.left or not digest_matches(digest, facts.block_digest()):
            raise DeltaError("delta-base", f"<{record_id}> is damaged")
        return block

    block = _at(path, offset, read)
    if block is None:
        raise DeltaError("delta-unresolved", f"<{record_id}> is not at {offset} of {path.name}")
    return block


def restored(delta: Delta, find: FindBase) -> bytes:
    """The block of a reply, exactly as it was received: base, block and payload are compared.

    Raises:
        DeltaError: It cannot be rebuilt.
    """
    block = rebuild(delta, find(delta))
    facts = BlockFacts(http=True, block="sha1", payload="sha1")
    facts.feed(block)
    facts.close()
    payload = digest_label(facts.payload_digests()[0])
    if delta.payload and payload != delta.payload:
        raise DeltaError("delta-digest", f"its payload is {payload}, not {delta.payload}")
    return block


def _block(entry: WarcEntry) -> bytes:
    if entry.length > LONGEST:
        raise DeltaError("delta-invalid", f"{entry.length} bytes; at most {LONGEST} are read")
    return b"".join(iter(entry.read, b""))


def _at(path: Path, offset: int, read: Callable[[WarcEntry], T | None]) -> T | None:
    try:
        with record_at(path, offset) as entry:
            return None if entry is None else read(entry)
    except OSError:
        return None
