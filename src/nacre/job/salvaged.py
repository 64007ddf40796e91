"""Registers salvaged captures in the store, as if they had just been made.

Prerequisites (`dns:`, robots.txt) are fetched again when something needs them. Everything else that
was captured or has a line in crawl.log is final, even if it is queued in an older store.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from nacre.annotations import SUBRESOURCE, rendered_by
from nacre.archive.link_files import LinkFiles
from nacre.core.capture import BytesBody, Capture
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI, Hop
from nacre.core.history import Original
from nacre.core.processor import Keep, PageUnit, Visit
from nacre.core.rendered import BrowserRequest
from nacre.engine.candidates.candidates import Candidates
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.speculation import Speculation
from nacre.engine.logs import CRAWL, JobLogs
from nacre.engine.outcomes import Outcomes
from nacre.engine.readback import CaptureReader, ReadCapture
from nacre.engine.steps.archive import ArchiveStep
from nacre.frontier.frontier import Frontier
from nacre.history.dedup import NOT_MODIFIED
from nacre.job.warcs import remake_index
from nacre.report.statistics import Statistics, Stored
from nacre.store.commit import GroupCommit
from nacre.store.file_table import file_rows, get_row
from nacre.store.files import FileKind, FileState
from nacre.store.recovery import Tail
from nacre.store.seam import Disk
from nacre.store.store import Store

_MARKS = (b"salvage:", b"salvage;")
_STEP = 256
_TRIES = re.compile(r"\d+t")


class SalvageMark(NamedTuple):
    """A part of a WARC whose captures are to be registered."""

    number: int
    start: int
    end: int


class _Result(NamedTuple):
    """What is to be registered of a URL.

    Attributes:
        capture: The data of its capture; for a failure, those of crawl.log.
        number: Number of the WARC; 0 for a failure.
        file: Final name of the WARC; "" for a failure.
    """

    capture: ReadCapture
    number: int = 0
    file: str = ""


def mark_salvaged(store: Store, tail: Tail, end: int) -> None:
    """Note in the open group that the captures of a tail up to `end` are to be registered."""
    key = _MARKS[0] + tail.number.to_bytes(8, "big")
    store.put("meta", key, msgspec.msgpack.encode((tail.start, end)))


def salvage_marks(store: Store) -> list[SalvageMark]:
    """The captures to be registered."""
    skip = len(_MARKS[0])
    return [
        SalvageMark(int.from_bytes(key[skip:], "big"), *msgspec.msgpack.decode(value))
        for key, value in store.scan("meta", *_MARKS)
    ]


class SalvageParts(msgspec.Struct, frozen=True):
    """The parts that a salvaged capture is registered in.

    Attributes:
        run: Name of the run.
        store: The store of the job.
        commit: Makes it durable.
        archive: Remembers captures.
        outcomes: How each URI ended.
        frontier: What is registered leaves it.
        candidates: Take the links of captures.
        identity: Gives keys and queues.
        speculation: Learns which guesses led to a document.
        statistics: Counts captures.
        logs: The logs of the run.
        clock: The time.
        follows_errors: Links of error pages are followed.
    """

    run: str
    store: Store
    commit: GroupCommit
    archive: ArchiveStep
    outcomes: Outcomes
    frontier: Frontier
    candidates: Candidates
    identity: Identity
    speculation: Speculation
    statistics: Statistics
    logs: JobLogs
    clock: Clock
    follows_errors: bool


async def register_salvaged(parts: SalvageParts, disk: Disk) -> None:
    """Register all that is marked; a step that is cut off is done again."""
    todo = salvage_marks(parts.store)
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

    def __init__(self, parts: SalvageParts, todo: list[SalvageMark]) -> None:
        self._store, self._commit, self._files = parts.store, parts.commit, parts.commit.files
        self._archive, self._history = parts.archive, parts.archive.history
        self._outcomes = parts.outcomes
        self._frontier, self._candidates = parts.frontier, parts.candidates
        self._identity, self._speculation = parts.identity, parts.speculation
        self._logs, self._statistics, self._clock = parts.logs, parts.statistics, parts.clock
        self._crawl_log = str(PurePosixPath("runs", parts.run, "logs", CRAWL))
        self._follows_errors = parts.follows_errors
        self._todo = todo
        self._link_files = LinkFiles(_warcs(parts.store, parts.commit))
        self._results: dict[str, _Result] = {}
        self._uris: dict[str, CrawlURI] = {}
        self._logged: set[str] = set()

    async def run(self) -> None:
        """Registers results first, so that links to them are known when links are followed."""
        for capture, number, file in self._captures():
            self._keep_original(self._results.get(capture.url))
            self._results[capture.url] = _Result(replace(capture, outlinks=[]), number, file)
        self._read_log()
        await self._waiting()
        await self._lost()
        await self._links()

    def finish(self) -> None:
        """Drop the marks, in the group of the last rows."""
        store = self._store
        # Serials that lost groups had assigned are in the names of files.
        names = sum(1 for _ in file_rows(store))
        store.set_counter("warc.serial", store.counter("warc.serial") + names)
        for number, _, _ in self._todo:
            store.delete("meta", _MARKS[0] + number.to_bytes(8, "big"))
        captures = sum(1 for result in self._results.values() if result.file)
        self._logs.job(f"{captures} salvaged captures were registered")

    def _captures(self) -> Iterator[tuple[ReadCapture, int, str]]:
        for number, start, end in self._todo:
            row = get_row(self._store, number)
            if row is not None:
                path = Path(self._files.absolute(row.final))
                for capture in CaptureReader(path, start, end, self._link_files.lines):
                    yield capture, number, path.name

    def _keep_original(self, earlier: _Result | None) -> None:
        """A later capture takes its place, and may refer to it."""
        if earlier is not None and earlier.capture.revisit is None:
            capture = earlier.capture
            base = capture.base.record_id if capture.base is not None else ""
            self._archive.keep_original(
                _capture(capture),
                Original(
                    capture.url,
                    capture.date,
                    capture.record_id,
                    earlier.number,
                    capture.offset,
                    base=base,
                ),
            )

    def _read_log(self) -> None:
        """Which of them crawl.log knows, and the failures that it alone knows."""
        self._commit.log(self._crawl_log)
        with Path(self._files.absolute(self._crawl_log)).open("rb") as log:
            for line in log:
                self._read_line(line.decode("utf-8", "replace").split(" "))

    def _read_line(self, words: list[str]) -> None:
        words = [word for word in words if word]
        if len(words) < 12 or not words[1].lstrip("-").isdigit():
            return
        status, url, path, via = int(words[1]), words[3], words[4], words[5]
        if url in self._results:
            self._logged.add(url)
        elif status <= 0 and self._outcomes.get(self._identity.key(url)) is None:
            notes = words[11].strip().split(",")
            capture = ReadCapture(
                url,
                status=status,
                path=path.strip("-"),
                via=via.strip("-"),
                annotations=[n for n in notes if n != "-" and not _TRIES.fullmatch(n)],
            )
            if not capture.path.endswith(Hop.PREREQUISITE):
                self._results[url] = _Result(capture)
                self._logged.add(url)

    async def _waiting(self) -> None:
        """Those that still wait in the frontier leave it."""
        results = self._results

        def has_result(uri: CrawlURI) -> bool:
            return uri.url in results and not uri.is_prerequisite

        operator = self._frontier.operator
        for count, uri in enumerate(operator.withdraw(has_result), 1):
            if uri.url not in self._uris:
                self._register(results[uri.url], uri)
            await self._commit_step(count)

    async def _lost(self) -> None:
        """Those that lost groups had found."""
        for count, (url, result) in enumerate(self._results.items(), 1):
            if url not in self._uris:
                uri = self._uri(result.capture)
                if uri.path.endswith(Hop.PREREQUISITE):
                    self._remember(self._visit(result, uri), result)
                elif not self._is_registered(result, uri):
                    self._frontier.note([uri.key])
                    self._register(result, uri)
            await self._commit_step(count)

    async def _links(self) -> None:
        """Links lead on from these captures as from all others."""
        for count, (capture, number, file) in enumerate(self._captures(), 1):
            uri = self._uris.get(capture.url) or self._uri(capture)
            visit = replace(
                self._visit(_Result(capture, number, file), uri), outlinks=capture.outlinks
            )
            if capture.links_lost:
                self._logs.recovery(
                    f"the links of {capture.url} in {file} are lost: {capture.links_lost}"
                )
            if capture.outlinks and (200 <= visit.status < 400 or self._follows_errors):
                self._candidates.admit(visit, self._clock.now())
            await self._commit_step(count)

    def _is_registered(self, result: _Result, uri: CrawlURI) -> bool:
        """An earlier start came so far."""
        outcome = self._outcomes.get(uri.key)
        place = (result.file, result.capture.offset)
        return outcome is not None and (outcome.file, outcome.offset) == place

    def _register(self, result: _Result, uri: CrawlURI) -> None:
        """One visit, in one synchronous step like any other."""
        now = self._clock.now()
        self._uris[uri.url] = uri
        visit = self._visit(result, uri)
        stored, totals = self._remember(visit, result), self._frontier.totals
        totals.finish(visit.status, guess=uri.is_own_guess)
        self._statistics.count(visit, stored, now)
        self._outcomes.put(visit)
        self._speculation.learn(visit)
        if uri.url not in self._logged:
            self._logs.finished(visit, now)
        self._commit.visit_done()

    def _remember(self, visit: Visit, result: _Result) -> Stored:
        capture = visit.capture
        if capture is None:
            return Stored.NOTHING
        record = result.capture.record_id
        return self._archive.remember(visit, capture, record, result.number)

    def _visit(self, result: _Result, uri: CrawlURI) -> Visit:
        capture = result.capture
        visit = Visit(uri, status=_status(capture), annotations=list(capture.annotations))
        if SUBRESOURCE in capture.annotations:
            request, page = BrowserRequest("GET", capture.url), capture.page_id
            visit = replace(visit, request=request, page_id=page, queued=False)
        elif any(word.startswith(rendered_by("")) for word in capture.annotations):
            visit.become(PageUnit(capture.page_id, ""))
        if not result.file:
            return visit
        return replace(
            visit,
            mime=capture.mime,
            revisit=capture.revisit,
            keep=None if capture.base is None else Keep(base=capture.base),
            warc_file=result.file,
            warc_offset=capture.offset,
            history=self._history.get(capture.url),
            capture=_capture(capture),
        )

    def _uri(self, capture: ReadCapture) -> CrawlURI:
        identity = self._identity
        return CrawlURI(
            url=capture.url,
            key=identity.key(capture.url),
            queue=identity.queue(capture.url),
            via=capture.via,
            path=capture.path,
            source=capture.source,
            is_seed=capture.is_seed,
            force_fetch=capture.force_fetch,
        )

    async def _commit_step(self, count: int) -> None:
        if count % _STEP == 0:
            await self._commit.flush()


def _warcs(store: Store, commit: GroupCommit) -> Iterator[Path]:
    """The WARCs of a job, which a salvage has closed."""
    for _, row in file_rows(store):
        if row.kind is FileKind.WARC and row.state is not FileState.LOST:
            yield Path(commit.files.absolute(row.final))


def _status(capture: ReadCapture) -> int:
    if capture.revisit is not None and capture.revisit.kind == NOT_MODIFIED:
        return 304
    return capture.status


class _StoredBody(BytesBody):
    """A body whose bytes stay in the WARC; only its length is known here."""

    def __init__(self, length: int) -> None:
        super().__init__(b"")
        self.length = length


def _capture(capture: ReadCapture) -> Capture:
    """The facts of a capture; its bytes stay where they are."""
    body = _StoredBody(capture.length)
    # A revisit does not hold the payload whose digest it has.
    payload = capture.payload_length or int(capture.revisit is not None)
    headers = ((b"etag", capture.etag), (b"last-modified", capture.last_modified))
    return Capture(
        url=capture.url,
        request=b"",
        head=bytes(capture.size - capture.length),
        body=body,
        status=_status(capture),
        headers=[(name, value) for name, value in headers if value],
        framing="chunked" if capture.chunked else "length",
        payload_length=payload,
        began=capture.date,
        duration=capture.duration,
        payload_digest=capture.digest,
        truncated="" if capture.revisit else capture.truncated,
    )
