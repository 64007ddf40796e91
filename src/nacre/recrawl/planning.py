"""The part of an incremental run in a session: it calls the planner, phase by phase.

After the seeds, made-up names are requested: only their replies distinguish a page that is gone
with status 200 from one that changed. Then the phases follow, each when the visits of the previous
one are done.

`CapturesReader` reads captures of runs without a planner back from their WARCs. A full crawl does
no work for incremental runs; instead, the next incremental run reads its archive once at the start,
each capture as if it had just been made. A killed process resumes at its reading position.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

from msgspec import structs

from nacre.annotations import IS_SITEMAP, PAIR, SUBRESOURCE, rendered_by
from nacre.assembly.records import RunRecords
from nacre.core.capture import BytesBody, Capture
from nacre.core.charsets import read_before_in
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import PageUnit, Visit
from nacre.core.rendered import RenderedPage
from nacre.engine.candidates.identity import Identity
from nacre.engine.logs import JobLogs
from nacre.engine.readback import ReadCapture, Reread, reread
from nacre.engine.steps.extract import ExtractStep
from nacre.engine.unasked import was_accused
from nacre.errors import StorageError
from nacre.history.rendered import RenderedDocuments, final_dom
from nacre.planner.planner import Planner
from nacre.planner.slices import Slices
from nacre.recrawl.knowledge import WHOLE, ArchivedVersions, Knowledge
from nacre.recrawl.pagestore import NEXT_FILE, run_of
from nacre.recrawl.recrawl import Recrawl, RecrawlParts
from nacre.recrawl.scheduling import timetable_of
from nacre.recrawl.translation import HTML, Revisits, VisitTranslator
from nacre.report.statistics import Stored
from nacre.runs.runs import INCREMENTAL, RunRow, all_runs
from nacre.store.commit import GroupCommit
from nacre.store.file_table import file_rows
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.store import Store

_OFFSET = "pages.offset"
_MANY = 2_000
"""Captures after which a message explains why the start takes long."""


_OF_URI = frozenset((IS_SITEMAP,))
"""Annotations that tell the purpose of a URI."""


class CapturedVisits:
    """Converts captures to visits, as if each had just been made.

    Args:
        identity: Makes the keys of URIs.
        overlay_of: The combination of sheets that applies to a URL.
        extract: Finds links.
    """

    def __init__(
        self, identity: Identity, overlay_of: Callable[[str], int], extract: ExtractStep
    ) -> None:
        self._identity = identity
        self._overlay_of = overlay_of
        self._extract = extract

    def visit(self, reread_capture: Reread) -> Visit:
        """The visit of a capture, without its links."""
        stored, capture = reread_capture
        uri = CrawlURI(
            url=stored.url,
            key=self._identity.key(stored.url),
            queue="",
            via=stored.via,
            path=stored.path,
            source=stored.source,
            is_seed=stored.is_seed,
            annotations=tuple(word for word in stored.annotations if word in _OF_URI),
        )
        overlay = self._overlay_of(stored.url)
        uri = read_before_in(uri, stored.charset)
        return Visit(uri, stored.status, capture, mime=stored.mime, overlay=overlay)

    async def find_links(self, visit: Visit) -> None:
        """Add the links of the capture to its visit, and those of its final document."""
        await self._extract.process(visit)
        dom = final_dom(visit)
        if dom and visit.capture is not None:
            document = Visit(visit.uri, 200, _as_reply(visit.capture, dom), overlay=visit.overlay)
            document.received(_as_reply(visit.capture, dom), HTML)
            await self._extract.process(document)
            visit.add_outlinks(document.outlinks)

    def add_document(self, visit: Visit, documents: RenderedDocuments) -> bool:
        """Give a visit the document that its page became in a browser.

        Returns:
            False if it is not there any more: a later run replaced it.
        """
        url, capture = visit.uri.url, visit.capture
        row = documents.get(url, judged=False)
        if row is None or capture is None or row.began != capture.began:
            return False
        rendered = RenderedPage("settled", url, dom=row.dom)
        visit.become(PageUnit("", "", rendered, reused=list(row.requested)))
        documents.drop(url, judged=False)
        return True


class CapturesReader:
    """Reads the captures since its last pass.

    Args:
        store: Has the runs, the file table, and the reading position.
        commit: Makes the learned knowledge durable.
        run: The current run; its own captures are skipped.
        visits: Converts captures to visits.
        recrawl: Learns from the visits.
        versions: Returns the originals of revisits, and the bases of differences.
        logs: The logs of the job.
        now: Returns the time, seconds since the epoch.
        tell: Called with messages for the operator.

    Attributes:
        count: Captures read so far.
    """

    def __init__(  # noqa: PLR0913 - sources and consumers of captures
        self,
        *,
        store: Store,
        commit: GroupCommit,
        run: RunRow,
        visits: CapturedVisits,
        recrawl: Recrawl,
        versions: ArchivedVersions,
        logs: JobLogs,
        now: Callable[[], float],
        tell: Callable[[str], None],
    ) -> None:
        self._store, self._commit = store, commit
        self._run, self._now = run, now
        self._visits = visits
        self._logs = logs
        self._tell = tell
        self._recrawl = recrawl
        self._teacher = recrawl.teacher
        self._versions = versions
        self._documents = RenderedDocuments(store)
        self.count = 0

    async def run(self, stopped: Callable[[], bool]) -> int:
        """Read all new captures, unless a stop is requested; return their number."""
        store = self._store
        by_name = {run.name: run for run in all_runs(store)}
        next_file, whole = store.counter(NEXT_FILE), bool(store.counter(WHOLE))
        for number, row in list(file_rows(store)):
            if (
                number < next_file
                or row.kind is not FileKind.WARC
                or row.state is not FileState.CLOSED
            ):
                continue
            run = by_name.get(run_of(row))
            own = run is not None and run.name == self._run.name
            if not own and (whole or run is None or run.mode != INCREMENTAL):
                after = store.counter(_OFFSET) if number == next_file else -1
                if not await self._read(number, row, run, after, stopped):
                    return self.count
            store.set_counter(NEXT_FILE, number + 1)
            store.set_counter(_OFFSET, -1)
        if whole:
            store.set_counter(WHOLE, 0)
        return self.count

    async def _read(
        self,
        number: int,
        row: FileRow,
        run: RunRow | None,
        after: int,
        stopped: Callable[[], bool],
    ) -> bool:
        """Read a WARC from an offset; False if it was not read to its end."""
        store, commit = self._store, self._commit
        time = run.started if run else _started(run_of(row), self._now())
        files = commit.files
        path = Path(files.absolute(row.final))
        for reread_capture in reread(path, self._original, self._versions.base):
            if stopped():
                return False
            if reread_capture.stored.offset <= after or PAIR in reread_capture.stored.annotations:
                continue
            if was_accused(store, reread_capture.stored.record_id):
                continue
            if SUBRESOURCE in reread_capture.stored.annotations:
                continue
            await self._take(reread_capture, time, run.number if run else 1)
            store.set_counter(NEXT_FILE, number)
            store.set_counter(_OFFSET, reread_capture.stored.offset)
            commit.visit_done()
            self.count += 1
            if self.count == _MANY:
                self._tell(f"{_MANY} captures of earlier runs were read; there are more")
            if commit.saturated:
                await commit.durable()
        return True

    async def _take(self, reread_capture: Reread, time: float, run: int) -> None:
        """Learn from a capture; an error here is a bug of Nacre, and no reason to stop."""
        visit = self._visits.visit(reread_capture)
        words = reread_capture.stored.annotations
        is_rendered = any(word.startswith(rendered_by("")) for word in words)
        if is_rendered and not self._visits.add_document(visit, self._documents):
            return
        try:
            await self._visits.find_links(visit)
            lesson = self._teacher.teach(visit, time)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - one page must not keep all others out
            self._logs.runtime_error(visit, error)
            return
        self._recrawl.log(
            lesson, _stored(reread_capture.stored), run, reread_capture.stored.date / 1e6
        )

    def _original(self, stored: ReadCapture) -> Capture | None:
        framing = "chunked" if stored.chunked else ""
        return self._versions.capture(stored.digest, framing)


def _as_reply(capture: Capture, dom: bytes) -> Capture:
    """Return the final document of a page as if a server had sent it."""
    return structs.replace(
        capture,
        body=BytesBody(dom),
        status=200,
        headers=((b"Content-Type", b"text/html; charset=utf-8"),),
        framing="length",
        chunks=(),
        payload_length=len(dom),
    )


def _stored(stored: ReadCapture) -> Stored:
    if stored.base is not None:
        return Stored.DELTA
    if stored.revisit is None:
        return Stored.NOVEL
    identical = stored.revisit.kind == "identical-payload-digest"
    return Stored.DUPLICATE if identical else Stored.NOT_MODIFIED


def _started(name: str, now: float) -> float:
    try:
        return datetime.strptime(name, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return now


T = TypeVar("T")

_PATIENCE = 30.0
"""Seconds that the first visits wait for the answers to made-up names: a host may be dead."""


class Planning:
    """Lets the planner choose visits, instead of following every link.

    Args:
        recrawl: Drives the run, and observes its visits.
        reader: Reads what earlier runs captured.
        knowledge: The knowledge about the pages.
        logs: The logs of the job.
        elapsed: Returns how long the run has been running, seconds.
        ended: Whether a stop was requested.

    Attributes:
        recrawl: As given.
    """

    def __init__(
        self,
        recrawl: Recrawl,
        reader: CapturesReader,
        knowledge: Knowledge,
        logs: JobLogs,
        elapsed: Callable[[], float],
        ended: Callable[[], bool],
    ) -> None:
        self._reader = reader
        self._logs = logs
        self._elapsed = elapsed
        self._ended = ended
        self._chosen = False
        self._wants = True
        self._known = knowledge
        self.recrawl = recrawl

    async def begin(self) -> None:
        """Read what earlier runs captured, and choose the first visits."""
        count = await self._reader.run(self._ended)
        if count:
            self._logs.job(f"{count} captures of earlier runs read for the planner")
        if not self._ended():
            await self._in_slices(self.recrawl.begin())
            await self.look()

    async def look(self) -> bool:
        """Choose the first visits, once the requests for made-up names are answered.

        Returns:
            Whether visits entered the frontier.
        """
        is_held = self.recrawl.probing > 0 and self._elapsed() < _PATIENCE
        return not self._chosen and not is_held and await self.more()

    async def more(self) -> bool:
        """Choose the next visits; False when there are no more, or a stop is requested."""
        self._chosen = True
        self._wants = bool(await self._in_slices(self.recrawl.more()))
        return self._wants

    @property
    def wants_more(self) -> bool:
        """Whether visits were chosen, and the last choice was not empty."""
        return self._chosen and self._wants

    def end(self) -> None:
        """Write the knowledge into the open commit group."""
        self._known.seal_all()

    async def _in_slices(self, work: Slices[T]) -> T | None:
        """Do long work, with other tasks in between; None if a stop was requested."""
        while not self._ended():
            try:
                next(work)
            except StopIteration as done:
                return cast("T", done.value)
            await asyncio.sleep(0)
        work.close()
        return None


def plan_run(
    records: RunRecords,
    elapsed: Callable[[], float],
    tell: Callable[[str], None],
    ended: Callable[[], bool],
) -> Planning:
    """The planning of an incremental run; its `recrawl` observes the visits.

    Args:
        records: The records of the run.
        elapsed: Returns how long the run has been running, seconds.
        tell: Called with messages for the operator.
        ended: Whether a stop was requested.
    """
    rules, storing, context = records.rules, records.storing, records.context
    store, commit, logs = storing.store, storing.commit, records.reporting.logs
    run, clock = context.run, context.clock
    knowledge = Knowledge(context.layout.root, store, rules.settings.change, clock.monotonic)
    recrawl = Recrawl(_recrawl_parts(records, knowledge), elapsed)
    extract = ExtractStep(rules.effective.then(lambda s: s.extract), records.fetching.parser)
    reader = CapturesReader(
        store=store,
        commit=commit,
        run=run,
        visits=CapturedVisits(records.queues.identity, rules.sheets.of_url, extract),
        recrawl=recrawl,
        versions=knowledge.versions,
        logs=logs,
        now=clock.now,
        tell=tell,
    )
    commit.on_seal(knowledge.seal)
    return Planning(recrawl, reader, knowledge, logs, elapsed, ended)


def _recrawl_parts(records: RunRecords, knowledge: Knowledge) -> RecrawlParts:
    """Return the parts of the job that the run uses, with a planner that knows the pages."""
    rules, scheduling, storing = records.rules, records.scheduling, records.storing
    reporting, run = records.reporting, records.context.run
    settings, pages = rules.settings.recrawl, knowledge.pages
    timetable = timetable_of(rules.settings, rules.sheets, rules.rule_files, pages)
    planner = Planner(pages, knowledge.sites, knowledge.judge, settings, timetable)
    identity = records.queues.identity
    return RecrawlParts(
        run=run,
        settings=settings,
        full_every=rules.effective.then(lambda s: s.keep.full_every),
        store=storing.store,
        clock=records.context.clock,
        seeds=scheduling.seeds,
        frontier=records.queues.frontier,
        statistics=reporting.statistics,
        logs=reporting.logs,
        history=storing.archive.history,
        knowledge=knowledge,
        planner=planner,
        timetable=timetable,
        teacher=VisitTranslator(scheduling.candidates, pages, planner),
        revisits=Revisits(rules, scheduling, identity, knowledge, run.started),
    )
