"""Outlinks read from the record that a reference names, and compared with their digest."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from nacre.archive.fields import strip_brackets
from nacre.archive.link_reference import (
    LONGEST,
    LinkReference,
    LinksError,
    join_parts,
    links_digest,
    links_in,
    read_reference,
)
from nacre.archive.reader import WarcEntry, record_at
from nacre.archive.restoring import RecordFiles

FindLinks = Callable[[LinkReference], bytes]
"""Gives the outlink lines of a capture as `links_in` does; raises `LinksError` for none."""

FIELDS: Final = "application/warc-fields"


def may_refer(entry: WarcEntry) -> bool:
    """A record whose block may have a reference to outlinks; its block need not be read for it."""
    return (
        entry.get("WARC-Type") == "metadata"
        and entry.get("Content-Type") == FIELDS
        and entry.get("WARC-Refers-To") is not None
    )


def reference_of(entry: WarcEntry, block: bytes) -> LinkReference | None:
    """Return the reference to outlinks in a record; None if it has none.

    Args:
        entry: The record.
        block: Its block, or the beginning up to the blank line.
    """
    return read_reference(block, entry.get("WARC-Refers-To")) if may_refer(entry) else None


class LinkFiles:
    """The WARCs that may contain records with outlinks. Nothing is cached.

    Args:
        paths: The files; others may follow by `add`.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._files = RecordFiles("metadata", paths)

    def add(self, path: Path) -> None:
        """See `RecordFiles.add`."""
        self._files.add(path)

    def lines(self, reference: LinkReference, *, search: bool = True) -> bytes:
        """See `FindLinks`.

        Args:
            reference: The reference.
            search: Look in all files if it is not at the place in the reference.

        Raises:
            LinksError: They are nowhere, or are others.
        """
        path = self._files.path(reference.file)
        own = reference.record_id
        block = None if path is None else metadata_at(path, reference.offset, own)
        if block is None and search:
            place = self._files.place(own)
            block = None if place is None else metadata_at(*place, own)
        if block is None:
            place_text = f" at {reference.offset} of {reference.file}" if reference.file else ""
            message = f"<{reference.record_id}> is not{place_text}, nor in another file"
            raise LinksError("links-unresolved", message)
        lines = join_parts(reference.parts, links_in(block))
        if links_digest(lines) != reference.digest:
            message = f"those of <{reference.record_id}> do not give {reference.digest}"
            raise LinksError("links-digest", message)
        return lines


def metadata_at(path: Path, offset: int, record_id: str, longest: int = LONGEST) -> bytes | None:
    """The block of a metadata record; None when another record is there, or none that is whole.

    Args:
        path: The WARC.
        offset: Offset of the record, bytes.
        record_id: Its WARC-Record-ID, without angle brackets.
        longest: Bytes of the longest block that is read.
    """
    try:
        with record_at(path, offset) as entry:
            own = None if entry is None else strip_brackets(entry.get("WARC-Record-ID") or "")
            if entry is None or own != record_id or entry.length > longest:
                return None
            block = b"".join(iter(entry.read, b""))
            return block if len(block) == entry.length else None
    except OSError:
        return None
