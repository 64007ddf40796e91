"""Fills the ledger of preferences from the WARCs of a job at rest.

All replies are read, in any order; what each states is sorted by place and time in temporary files,
and the elements of pages are kept there for their revisits, so that memory is bounded. Replies that
cannot be read, such as those of other crawlers without metadata records, are left out.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from nacre.assembly.storing import rights_plan
from nacre.catalogue.job_files import job_warcs
from nacre.engine.keeping import Bases
from nacre.engine.readback import Reread, reread
from nacre.engine.rights_book import (
    FAMILY,
    RightsPlan,
    RightsRows,
    file_of,
    file_signals,
    own_key,
    stored_signals,
)
from nacre.extract.dispatch import extract
from nacre.extract.document import stored_document
from nacre.extract.settings import ExtractSettings
from nacre.history.dedup import Digests
from nacre.packing.sorted_lines import SortedLines
from nacre.rights.ledger import ABSENT, SignalVersion, renewed_signals
from nacre.rights.reply_signals import reply_signals
from nacre.rights.signals import ROBOTS, PreferenceSignal
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

_STATED: Final = re.compile(rb"robots|noai|noimageai|tdm-|license", re.IGNORECASE)
"""What a page has in its text that states something in its HTML."""
_HEAD: Final = 64
"""Bytes at the beginning of a page that show whether its characters have several bytes each."""
_ROWS: Final = 5_000
_MEMORY: Final = 16_000_000


class _Statement(NamedTuple):
    """What one capture states about a place.

    Attributes:
        url: Its URL.
        record_id: WARC-Record-ID.
        signals: What it states.
        state: See `SignalVersion`.
        is_renewal: It is a 304: its headers replace those of before.
    """

    url: str
    record_id: str
    signals: tuple[PreferenceSignal, ...]
    state: str = ""
    is_renewal: bool = False


class RebuiltRights(NamedTuple):
    """The result of a rebuild.

    Attributes:
        captures: Replies that were read.
        rows: Versions that were stored.
    """

    captures: int
    rows: int


def rebuild_rights(root: Path, store: Store, settings: JobSettings, scratch: Path) -> RebuiltRights:
    """Fill the ledger of a job from its WARCs; its old contents are replaced.

    Args:
        root: Directory of the job.
        store: Its store, open for writing by this process alone.
        settings: Its settings.
        scratch: Folder for temporary files.

    Raises:
        StorageError: A directory cannot be read, or the store cannot be written.
        OSError: A temporary file cannot be written.
    """
    rows = RightsRows(store)
    pages = Store.open(str(scratch / "pages"), memory=_MEMORY)
    with SortedLines(scratch, "rights") as lines, pages:
        captures = 0
        reader = _Reader(root, store, settings, _Elements(pages))
        for place in job_warcs(root):
            if place.start == 0:
                for statements in reader.read(place.path):
                    captures += 1
                    for line in statements:
                        lines.add(line)
        rows.clear()
        store.commit()
        count = _write(store, rows, lines)
    rows.record_since(0)
    store.commit()
    return RebuiltRights(captures, count)


def _write(store: Store, rows: RightsRows, lines: SortedLines) -> int:
    """Store the versions of all places; return their number."""
    decode = msgspec.json.Decoder(_Statement).decode
    count = 0
    for key, group in groupby(lines, lambda line: line.partition(b"\t")[0]):
        last: SignalVersion | None = None
        is_first = True
        for line in group:
            _, time, text = line.split(b"\t", 2)
            version = _next(last, int(time), decode(text), is_own=key.startswith(b"u"))
            if version is not None:
                rows.put(key, version, follows_none=not is_first)
                last, count = version, count + 1
                if not count % _ROWS:
                    store.commit()
            is_first = False
    return count


def _next(
    last: SignalVersion | None, time: int, statement: _Statement, *, is_own: bool
) -> SignalVersion | None:
    """Return the version that begins with a statement; None if nothing changes."""
    signals = statement.signals
    if statement.is_renewal:
        signals = renewed_signals(last, signals)
    if last is None:
        is_new = bool(signals) or not is_own
    else:
        is_new = not last.has_same(signals, statement.state)
    if not is_new:
        return None
    return SignalVersion(time, statement.url, statement.record_id, signals, statement.state)


class _Elements:
    """The elements of pages that state preferences, by the digest of the page.

    Args:
        store: A store for them alone.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._count = 0
        self._decode = msgspec.msgpack.Decoder(list[tuple[str, str]]).decode

    def put(self, digest: str, metas: list[tuple[str, str]]) -> None:
        """Keep the elements of a page."""
        self._store.put(FAMILY, digest.encode(), msgspec.msgpack.encode(metas))
        self._count += 1
        if not self._count % _ROWS:
            self._store.commit()

    def get(self, digest: str) -> list[tuple[str, str]]:
        """Return the elements of a page; none if it was not read."""
        row = self._store.get(FAMILY, digest.encode())
        return [] if row is None else self._decode(row)


def _may_state(body: bytes) -> bool:
    """Return whether a page may have such elements; in UTF-16 and UTF-32 any may."""
    return b"\0" in body[:_HEAD] or _STATED.search(body) is not None


class _Reader:
    """Reads what the captures of a job state."""

    def __init__(
        self, root: Path, store: Store, settings: JobSettings, elements: _Elements
    ) -> None:
        self._plan: RightsPlan = rights_plan(settings)
        self._bases = Bases(root, store, Digests(store))
        self._extract: ExtractSettings = settings.extract.model_copy(
            update={"robots_agent": self._plan.agent}
        )
        self._elements = elements
        self._encode = msgspec.json.Encoder().encode

    def read(self, path: Path) -> Iterator[list[bytes]]:
        """Yield the lines of each capture of a WARC: key, time, and statement."""
        for reply in reread(path, lambda _: None, self._bases.block):
            if reply.stored.url.startswith(("http://", "https://")):
                yield self._lines(reply)

    def _lines(self, reply: Reread) -> list[bytes]:
        kept_reply = reply.stored
        pairs = [pair for pair in (self._own(reply), self._site(reply)) if pair is not None]
        return [
            b"%s\t%020d\t%s" % (key, kept_reply.date, self._encode(statement))
            for key, statement in pairs
        ]

    def _own(self, reply: Reread) -> tuple[bytes, _Statement] | None:
        kept, capture = reply.stored, reply.capture
        is_renewal = kept.revisit is not None and kept.revisit.kind == "server-not-modified"
        signals = reply_signals(capture.headers, self._metas(reply), self._plan.agent)
        status = _status(reply)
        if is_renewal:
            if not signals:
                return None
        elif not signals and not 200 <= status < 300:
            return None
        statement = _Statement(kept.url, kept.record_id, signals, is_renewal=is_renewal)
        return own_key(kept.url), statement

    def _metas(self, reply: Reread) -> list[tuple[str, str]]:
        """Return the elements of a page that state preferences; of a revisit, its original's."""
        digest, capture = reply.stored.digest, reply.capture
        if reply.stored.revisit is not None:
            return self._elements.get(digest)
        if "html" not in reply.stored.mime:
            return []
        document = stored_document(capture, self._extract.max_document)
        if not _may_state(document.body):
            return []
        metas = extract(document, self._extract).metas
        if metas and digest:
            self._elements.put(digest, metas)
        return metas

    def _site(self, reply: Reread) -> tuple[bytes, _Statement] | None:
        """Return what a robots.txt or a policy file states; a revisit of one states nothing new."""
        kept = reply.stored
        if kept.revisit is not None:
            return None
        url, status = kept.url, _status(reply)
        kind, key = file_of(url, kept.mime, reply.capture)
        if not kind:
            return None
        if 200 <= status < 300:
            signals, state = stored_signals(file_signals(kind, reply.capture, self._plan))
            return key, _Statement(url, kept.record_id, signals, state)
        if 400 <= status < 500 and (kind == ROBOTS or status != 429):
            return key, _Statement(url, kept.record_id, (), ABSENT)
        return None


def _status(reply: Reread) -> int:
    """Return the status of a reply; that of an identical revisit is that of a page."""
    revisit = reply.stored.revisit
    is_identical = revisit is not None and revisit.kind != "server-not-modified"
    return 200 if is_identical and reply.stored.status == 304 else reply.stored.status
