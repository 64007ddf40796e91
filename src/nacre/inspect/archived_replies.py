"""The replies in the archive of a job: found by its indexes, and read.

The indexes are those of all runs, read one after the other; the job may be running.
"""

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nacre.archive.delta import MEDIA, Delta, DeltaError, page_url
from nacre.archive.reader import record_at
from nacre.archive.restoring import difference_at
from nacre.core.capture import Capture
from nacre.core.clock import iso_of_digits
from nacre.engine.keeping import Bases
from nacre.engine.readback import MOST, read_at
from nacre.history.dedup import Digests
from nacre.store.file_table import file_rows
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store

_OPEN = ".open"


class ArchivedReply(NamedTuple):
    """A record of the archive that holds a reply.

    Attributes:
        url: Of what.
        date: When, `2026-11-20T10:00:00Z`.
        status: HTTP status, as written in the index.
        mime: Media type; `warc/revisit` for a revisit record.
        digest: Payload digest, as written in the index.
        file: The WARC, relative to the job; "" when it is not known.
        offset: Where the record begins, bytes.
    """

    url: str
    date: str
    status: str
    mime: str
    digest: str
    file: str
    offset: int

    @property
    def is_revisit(self) -> bool:
        """Whether it refers to another record for its payload."""
        return self.mime == "warc/revisit"


class ArchiveIndex(NamedTuple):
    """An index of a WARC of a job.

    Attributes:
        name: Its final name, relative to the job.
        path: Where it is now.
    """

    name: str
    path: Path


class ArchivedReplies:
    """Finds and reads the replies in the archive of a job.

    Args:
        root: The directory of the job.
        store: Its store.
    """

    def __init__(self, root: Path, store: Store) -> None:
        self._root = root
        self._store = store
        self._bases = Bases(root, store, Digests(store))

    def indexes(self) -> Iterator[ArchiveIndex]:
        """The indexes of all runs."""
        for _, row in file_rows(self._store):
            if row.kind is FileKind.INDEX and row.state is not FileState.LOST:
                name = row.path if row.state is FileState.OPEN else row.final
                yield ArchiveIndex(row.final, self._root / name)

    def replies(
        self, index: ArchiveIndex, keys: Collection[bytes] | None = None
    ) -> Iterator[ArchivedReply]:
        """The replies that an index lists, in its order.

        Args:
            index: The index.
            keys: Keys of lines (`uri.indexkey`) that are wanted; None: all.
        """
        directory = PurePosixPath(index.name).parent
        for line in _lines(index.path):
            if keys is not None and line.partition(b" ")[0] not in keys:
                continue
            result = self._reply(line, directory)
            if result is not None:
                yield result

    def read(self, reply: ArchivedReply, most: int = MOST) -> Capture | None:
        """The exchange of a reply; None when it is nowhere, or cannot be read.

        Args:
            reply: The reply.
            most: Bytes of a record; a longer one has no body.
        """
        if not reply.file:
            return None
        return read_at(self._root / reply.file, reply.offset, self._bases.block, most)

    def read_resource(self, reply: ArchivedReply, most: int = MOST) -> bytes:
        """Return the block of a `resource` record; b"" when it is nowhere, or cannot be read.

        Args:
            reply: The record.
            most: Bytes of a block; a longer one is not read.
        """
        with suppress(OSError), record_at(self._root / reply.file, reply.offset) as entry:
            if entry is not None and entry.length <= most:
                return b"".join(iter(entry.read, b""))
        return b""

    def read_resource_type(self, reply: ArchivedReply) -> str:
        """Return the `WARC-Resource-Type` of a record; "" for one of no page in a browser."""
        with suppress(OSError), record_at(self._root / reply.file, reply.offset) as entry:
            return (entry.get("WARC-Resource-Type") or "") if entry is not None else ""
        return ""

    def _reply(self, line: bytes, directory: PurePosixPath) -> ArchivedReply | None:
        try:
            _, when, text = line.split(b" ", 2)
            fields = json.loads(text)
            url, offset = page_url(str(fields["url"])), int(fields["offset"])
        except (ValueError, KeyError):
            return None  # a line that is just being written
        mime, status = str(fields.get("mime", "")), str(fields.get("status", ""))
        file = self._file(directory / str(fields.get("filename", "")))
        digest = str(fields.get("digest", ""))
        if mime == MEDIA:  # only of replies with status 200
            status = "200"
            delta = self._difference(file, offset)
            mime, digest = (delta.mime, delta.payload) if delta else (mime, digest)
        return ArchivedReply(url, iso_of_digits(when.decode()), status, mime, digest, file, offset)

    def _difference(self, file: str, offset: int) -> Delta | None:
        """What the record of a difference holds; None when it cannot be read."""
        try:
            return difference_at(self._root / file, offset).delta if file else None
        except (DeltaError, OSError):
            return None

    def _file(self, path: PurePosixPath) -> str:
        """Where a WARC is now, relative to the job; "" when it is nowhere."""
        names = (str(path), f"{path}{_OPEN}")
        return next((name for name in names if (self._root / name).is_file()), "")


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        return  # closed and renamed at this moment, or moved away by its owner
