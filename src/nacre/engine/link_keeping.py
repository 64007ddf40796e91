"""Decides which outlinks of a visit are written, and which by a reference to the record with them.

Only runs that keep less (`--keep lean`, `delta`) refer to links. The row of the URL has the id of
the last record with all of its links; that row and the record are in one commit group, and the
reference is in the same group or a later one, so that it is never durable before its target.
"""

from pathlib import Path, PurePosixPath

from nacre.archive.link_files import metadata_at
from nacre.archive.link_reference import (
    LEAST,
    LinkReference,
    all_lines,
    links_digest,
    links_in,
    parts_of,
)
from nacre.archive.record import outlink_lines
from nacre.archive.warc_writer import Written
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.history import StoredLinks
from nacre.core.processor import Visit
from nacre.engine.keeping import KeepSettings
from nacre.store.file_table import get_row
from nacre.store.files import FileRow, FileState
from nacre.store.store import Store

_LONGEST = 2_000_000
"""Bytes of the longest block that is read to compare outlinks: it is read between two visits."""
_SHARE = 0.5
"""Outlinks are written in full if more than this share of their bytes is new."""


class LinkKeeping:
    """Finds the record with the same outlinks, or with most of them.

    Args:
        root: Directory of the job.
        store: Its table of files has the place of the record.
        settings: How long a record is referred to (`full_every`).
    """

    def __init__(self, root: Path, store: Store, settings: Effective[KeepSettings]) -> None:
        self._root = root
        self._store = store
        self._settings = settings

    def reference(self, visit: Visit, capture: Capture) -> LinkReference | None:
        """The record to refer to, which is noted in `visit.keep`; None: all links are written.

        Args:
            visit: The visit.
            capture: Its capture.
        """
        keep = visit.keep
        if keep is None or not keep.links_referable or not visit.outlinks:
            return None
        lines = outlink_lines(visit.outlinks).encode()
        if len(lines) < LEAST:
            return None
        stored = visit.history.links if visit.history is not None else None
        reference = None
        longest = self._settings[visit.overlay].full_every * 1e6
        digest = links_digest(lines)
        if stored is not None and 0 <= capture.began - stored.date < longest:
            reference = self._reference(stored, lines, digest)
        keep.compare_links(digest, None if reference is None else stored)
        return reference

    def _reference(self, stored: StoredLinks, lines: bytes, digest: str) -> LinkReference | None:
        row = get_row(self._store, stored.file)
        if row is None or row.state is FileState.LOST:
            return None
        same = stored.digest == digest
        parts = all_lines(lines.count(b"\r\n") + 1) if same else self._parts(stored, row, lines)
        name = PurePosixPath(row.final).name
        return (
            LinkReference(stored.record_id, digest, parts, name, stored.offset) if parts else None
        )

    def _parts(self, stored: StoredLinks, row: FileRow, lines: bytes) -> tuple[bytes, ...]:
        """The links as parts of those that a finished WARC has; none if that saves too little.

        What is read is compared with its digest.
        """
        if row.state is FileState.OPEN:
            return ()
        block = metadata_at(self._root / row.final, stored.offset, stored.record_id, _LONGEST)
        old = b"" if block is None else links_in(block)
        if not old or links_digest(old) != stored.digest:
            return ()
        parts = parts_of(old, lines)
        return parts if sum(map(len, parts)) <= _SHARE * len(lines) else ()


def note_links(visit: Visit, written: Written, began: int) -> None:
    """Record that a record has all outlinks of a visit, if later records may refer to it.

    Args:
        visit: The visit.
        written: The place of its metadata record.
        began: Its WARC-Date, µs since the epoch.
    """
    keep = visit.keep
    if keep is not None and keep.links_digest and keep.links is None:
        keep.links_at(
            StoredLinks(written.record.id, began, keep.links_digest, written.file, written.offset)
        )
