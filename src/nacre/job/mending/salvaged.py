"""Registers salvaged captures in a running job's parts, as if they had just been made.

Prerequisites (`dns:`, robots.txt) are fetched again when something needs them; all else that was
captured or has a line in crawl.log is final, whatever an older store thinks of it.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI, Hop
from nacre.core.history import Original
from nacre.core.processor import Keep, Visit
from nacre.history.dedup import NOT_MODIFIED
from nacre.job.assemble import Parts
from nacre.job.holdings.indexing import remake_index
from nacre.job.holdings.readback import CaptureReader, Kept
from nacre.job.visit.logs import CRAWL
from nacre.report.stats import Stored
from nacre.store.recovery import Tail
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.store.table import file_rows, get_row

_MARKS = (b"salvage:", b"salvage;")
_STEP = 256
_TRIES = re.compile(r"\d+t")


class Mark(NamedTuple):
    """A part of a WARC whose captures are to be registered."""

    number: int
    start: int
    end: int


class _Found(NamedTuple):
    """What is to be registered of a URL.

    Attributes:
        kept: What is known of its capture; of a failure, what crawl.log says.
        number: Number of the WARC; 0 for a failure.
        file: Final name of the WARC; "" for a failure.
    """

    kept: Kept
    number: int = 0
    file: str = ""


def mark(store: Store, tail: Tail, end: int) -> None:
    """Note in the open group that the captures of a tail up to `end` are to be registered."""
    key = _MARKS[0] + tail.number.to_bytes(8, "big")
    store.put("meta", key, msgspec.msgpack.encode((tail.start, end)))


def marks(store: Store) -> list[Mark]:
    """What is to be registered."""
    skip = len(_MARKS[0])
    return [
        Mark(int.from_bytes(key[skip:], "big"), *msgspec.msgpack.decode(value))
        for key, value in store.scan("meta", *_MARKS)
    ]


async def register_salvaged(parts: Parts, disk: Disk) -> None:
    """Register all that is marked; a step that is cut off is done again."""
    todo = marks(parts.store)
    if todo:
        registration = _Registration(parts, todo)
        await registration.run()
        for number, _, _ in todo:
            row = get_row(parts.store, number)
            if row is not None:
                await remake_index(parts.store, parts.commit, disk, row.final)
        registration.finish()
        await parts.commit.flush()


class _Registration:
    """One registration of all marks."""

    def __init__(self, parts: Parts, todo: list[Mark]) -> None:
        self._parts = parts
        self._todo = todo
        self._found: dict[str, _Found] = {}
        self._uris: dict[str, CrawlURI] = {}
        self._logged: set[str] = set()

    async def run(self) -> None:
        """Registers results first, so that links to them are known when links are followed."""
        for kept, number, file in self._captures():
            kept.outlinks = []
            self._keep_original(self._found.get(kept.url))
            self._found[kept.url] = _Found(kept, number, file)
        self._read_log()
        await self._waiting()
        await self._others()
        await self._links()

    def finish(self) -> None:
        """Drop the marks, in the group of the last rows."""
        store = self._parts.store
        # Serials that lost groups had given stand in the names of files.
        names = sum(1 for _ in file_rows(store))
        store.set_counter("warc.serial", store.counter("warc.serial") + names)
        for number, _, _ in self._todo:
            store.delete("meta", _MARKS[0] + number.to_bytes(8, "big"))
        captures = sum(1 for found in self._found.values() if found.file)
        self._parts.logs.job(f"{captures} salvaged captures were registered")

    def _captures(self) -> Iterator[tuple[Kept, int, str]]:
        files = self._parts.commit.files
        for number, start, end in self._todo:
            row = get_row(self._parts.store, number)
            if row is not None:
                path = Path(files.absolute(row.final))
                for kept in CaptureReader(path, start, end):
                    yield kept, number, path.name

    def _keep_original(self, found: _Found | None) -> None:
        """A later capture takes its place, and may refer to it."""
        if found is not None and found.kept.revisit is None:
            kept = found.kept
            base = kept.base.record_id if kept.base is not None else ""
            self._parts.archive.keep_original(
                _capture(kept),
                Original(kept.url, kept.date, kept.record_id, found.number, kept.offset, base=base),
            )

    def _read_log(self) -> None:
        """Which of them crawl.log knows, and the failures that it alone knows."""
        parts = self._parts
        name = str(PurePosixPath("runs", parts.run.name, "logs", CRAWL))
        parts.commit.log(name)
        with Path(parts.commit.files.absolute(name)).open("rb") as log:
            for line in log:
                self._read_line(line.decode("utf-8", "replace").split(" "))

    def _read_line(self, words: list[str]) -> None:
        words = [word for word in words if word]
        if len(words) < 12 or not words[1].lstrip("-").isdigit():
            return
        status, url, path, via = int(words[1]), words[3], words[4], words[5]
        if url in self._found:
            self._logged.add(url)
        elif status <= 0 and self._parts.outcomes.get(self._parts.identity.key(url)) is None:
            kept = Kept(url, status=status, path=path.strip("-"), via=via.strip("-"))
            notes = words[11].strip().split(",")
            kept.annotations = [n for n in notes if n != "-" and not _TRIES.fullmatch(n)]
            if not kept.path.endswith(Hop.PREREQUISITE):
                self._found[url] = _Found(kept)
                self._logged.add(url)

    async def _waiting(self) -> None:
        """Those that still wait in the frontier leave it."""
        found = self._found

        def known(uri: CrawlURI) -> bool:
            return uri.url in found and not uri.is_prerequisite

        for count, uri in enumerate(self._parts.frontier.removal.withdraw(known), 1):
            if uri.url not in self._uris:
                self._register(found[uri.url], uri)
            await self._breathe(count)

    async def _others(self) -> None:
        """Those that lost groups had found."""
        for count, (url, found) in enumerate(self._found.items(), 1):
            if url not in self._uris:
                uri = self._uri(found.kept)
                if found.kept.path.endswith(Hop.PREREQUISITE):
                    self._remember(self._visit(found, uri), found)
                elif not self._is_registered(found, uri):
                    self._parts.frontier.note([uri.key])
                    self._register(found, uri)
            await self._breathe(count)

    async def _links(self) -> None:
        """Links lead on from these captures as from all others."""
        parts, follow = self._parts, self._parts.settings.engine.follow_error_pages
        for count, (kept, number, file) in enumerate(self._captures(), 1):
            uri = self._uris.get(kept.url) or self._uri(kept)
            visit = self._visit(_Found(kept, number, file), uri)
            visit.outlinks = kept.outlinks
            if kept.outlinks and (200 <= visit.status < 400 or follow):
                parts.candidates.admit(visit, parts.clock.now())
            await self._breathe(count)

    def _is_registered(self, found: _Found, uri: CrawlURI) -> bool:
        """An earlier start came so far."""
        outcome = self._parts.outcomes.get(uri.key)
        place = (found.file, found.kept.offset)
        return outcome is not None and (outcome.file, outcome.offset) == place

    def _register(self, found: _Found, uri: CrawlURI) -> None:
        """One visit, in one synchronous step like any other."""
        parts, now = self._parts, self._parts.clock.now()
        self._uris[uri.url] = uri
        visit = self._visit(found, uri)
        stored = self._remember(visit, found)
        parts.frontier.totals.finish(visit.status, guess=uri.is_own_guess)
        parts.statistics.count(visit, stored, now)
        parts.outcomes.put(visit)
        parts.speculation.learn(visit)
        if uri.url not in self._logged:
            parts.logs.finished(visit, now)
        parts.commit.visit_done()

    def _remember(self, visit: Visit, found: _Found) -> Stored:
        capture = visit.capture
        if capture is None:
            return Stored.NOTHING
        record = found.kept.record_id
        return self._parts.archive.remember(visit, capture, record, found.number)

    def _visit(self, found: _Found, uri: CrawlURI) -> Visit:
        kept = found.kept
        visit = Visit(uri, status=_status(kept), annotations=list(kept.annotations))
        if found.file:
            visit.mime, visit.revisit = kept.mime, kept.revisit
            visit.keep = None if kept.base is None else Keep(base=kept.base)
            visit.warc_file, visit.warc_offset = found.file, kept.offset
            visit.history = self._parts.archive.history.get(kept.url)
            visit.capture = _capture(kept)
        return visit

    def _uri(self, kept: Kept) -> CrawlURI:
        identity = self._parts.identity
        return CrawlURI(
            url=kept.url,
            key=identity.key(kept.url),
            queue=identity.queue(kept.url),
            via=kept.via,
            path=kept.path,
            source=kept.source,
            is_seed=kept.is_seed,
            force_fetch=kept.force_fetch,
        )

    async def _breathe(self, count: int) -> None:
        if count % _STEP == 0:
            await self._parts.commit.flush()


def _status(kept: Kept) -> int:
    if kept.revisit is not None and kept.revisit.kind == NOT_MODIFIED:
        return 304
    return kept.status


def _capture(kept: Kept) -> Capture:
    """The facts of a capture; its bytes stay where they are."""
    body = BytesBody(b"")
    body.length = kept.length
    # A revisit does not hold the payload whose digest it has.
    payload = kept.payload_length or int(kept.revisit is not None)
    headers = ((b"etag", kept.etag), (b"last-modified", kept.last_modified))
    return Capture(
        url=kept.url,
        request=b"",
        head=bytes(kept.size - kept.length),
        body=body,
        status=_status(kept),
        headers=[(name, value) for name, value in headers if value],
        framing="chunked" if kept.chunked else "length",
        payload_length=payload,
        began=kept.date,
        duration=kept.duration,
        payload_digest=kept.digest,
        truncated="" if kept.revisit else kept.truncated,
    )
