"""Captures that the store does not know: after it was restored from a copy, or lost its log.

What such captures hold is made known by digest, so that a page fetched again becomes a revisit of
what is there. Nothing else is taken from them: their links were never followed, so the URLs must
be fetched again, and what they led to is found again.
"""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from nacre.archive.block import BlockFacts, digest_matches, read_block
from nacre.archive.fieldrules import unbracketed
from nacre.archive.httphead import index_facts
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.core.history import Original
from nacre.history.dedup import Digests
from nacre.job.layout import Layout
from nacre.job.offline import require_store
from nacre.job.runs import run_archives
from nacre.job.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.recovery import Start, Tail, recover
from nacre.store.store import Store

_DAMAGE = frozenset(
    ("gzip-truncated", "gzip-damaged", "block-truncated", "header-truncated", "length-overrun")
)
_TRAILER = 4
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Salvaged(NamedTuple):
    """What a salvage came to.

    Attributes:
        files: WARCs that held something unknown.
        captures: Captures registered.
        moved: What was no capture and went to `lost+found/`.
    """

    files: int
    captures: int
    moved: tuple[str, ...]


def salvage(layout: Layout, settings: JobSettings) -> Salvaged:
    """Bring a stopped job's store up to its archive.

    Raises:
        JobError: It never ran.
        StorageError: It runs, or a file cannot be read or written; DamageError when committed data
            is missing as well.
    """
    require_store(layout)
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        registrar = Registrar(store)
        archives = run_archives(layout, settings.archive.directories)
        start = Start(archives=archives, salvage=registrar.register)
        recovered = recover(store, RealDisk(), str(layout.root), start)
    return Salvaged(registrar.files, registrar.captures, tuple(recovered.moved))


class Registrar:
    """Registers the captures of tails in the open group.

    Attributes:
        files: Tails seen.
        captures: Captures registered.
    """

    def __init__(self, store: Store) -> None:
        self._digests = Digests(store)
        self.files = 0
        self.captures = 0

    def register(self, tail: Tail) -> int:
        """Take the captures of a tail; the end of its last whole record."""
        self.files += 1
        damaged: list[int] = []
        end = tail.start
        held: list[tuple[WarcEntry, BlockFacts]] = []
        with Path(tail.path).open("rb") as file:
            section = io.BufferedReader(_Section(file, tail.start, tail.end))
            reader = WarcReader(section, lambda code, at, _: _note(damaged, code, at))
            for entry in reader:
                # The size of a record is known when the next one is asked for.
                held.append((entry, read_block(entry)))
                if len(held) > 1:
                    end = self._take(tail, *held.pop(0), damaged, end, plain=not reader.compressed)
            for entry, facts in held:
                end = self._take(tail, entry, facts, damaged, end, plain=not reader.compressed)
        return min(end, tail.end)

    def _take(
        self,
        tail: Tail,
        entry: WarcEntry,
        facts: BlockFacts,
        damaged: list[int],
        end: int,
        *,
        plain: bool,
    ) -> int:
        """Register one record; the end of the last whole one."""
        offset = tail.start + entry.offset
        broken = facts.length != entry.length or any(at >= entry.offset for at in damaged)
        if broken or offset != end:
            return end
        original = _original(tail, entry, facts, offset)
        if original is not None:
            framing = "chunked" if facts.chunks is not None else ""
            self._digests.put(entry.get("WARC-Payload-Digest") or "", framing, original)
            self.captures += 1
        return offset + entry.size + (_TRAILER if plain else 0)


def _note(damaged: list[int], code: str, offset: int) -> None:
    if code in _DAMAGE:
        damaged.append(offset)


def _original(tail: Tail, entry: WarcEntry, facts: BlockFacts, offset: int) -> Original | None:
    """What a revisit may refer to; None for a record that it may not."""
    digest = entry.get("WARC-Payload-Digest")
    whole = entry.get("WARC-Type") == "response" and entry.get("WARC-Truncated") is None
    if not whole or not digest or not facts.body_length or index_facts(facts.start)[1] != "200":
        return None
    if not digest_matches(digest, facts.payload_digests()[0]):
        return None
    date = _micros(entry.get("WARC-Date") or "")
    url = unbracketed(entry.get("WARC-Target-URI") or "")
    record = unbracketed(entry.get("WARC-Record-ID") or "")
    return Original(url, date, record, tail.number, offset) if date and url and record else None


def _micros(date: str) -> int:
    """µs since the epoch; 0 for what is no date."""
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return 0
    return (moment - _EPOCH) // timedelta(microseconds=1) if moment.tzinfo else 0


class _Section(io.RawIOBase):
    """Part of a file, as a file of its own."""

    def __init__(self, file: io.BufferedReader, start: int, end: int) -> None:
        self._file = file
        self._start = start
        self._end = end
        file.seek(start)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        left = max(self._end - self._file.tell(), 0)
        data = self._file.read(min(len(buffer), left))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (self._start, self._file.tell(), self._end)[whence]
        return self._file.seek(base + offset) - self._start

    def tell(self) -> int:
        return self._file.tell() - self._start
