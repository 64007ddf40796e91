"""Runs that were not planned teach too: their captures are read back from the WARCs.

A full crawl does nothing for incremental ones, so that it costs nothing; at the start of the next
incremental run its archive is read once, each capture as if it had just been made. A killed process
goes on where it was.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from nacre.core.capture import Capture
from nacre.core.charsets import read_before_in
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.errors import StorageError
from nacre.history.dedup import Digests
from nacre.job.assemble import Parts
from nacre.job.extracting.extraction import Extract
from nacre.job.holdings.readback import Kept
from nacre.job.holdings.rereading import Reread, reread
from nacre.job.incremental.auditing import PAIR
from nacre.job.incremental.knowledge import WHOLE, Knowledge
from nacre.job.incremental.recrawl import Recrawl
from nacre.job.runrow import RunRow
from nacre.job.runs.newrun import INCREMENTAL, runs
from nacre.job.visit.unasked import was_accused
from nacre.report.stats import Stored
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.table import file_rows

_FILE, _OFFSET = "pages.file", "pages.offset"
_MANY = 2_000
"""Captures after which people are told what takes so long."""


class Remembering:
    """Reads what was captured since the last time.

    Args:
        parts: Of the job.
        recrawl: Learns.
        knowledge: What is known of the pages.
        tell: Takes what people should know.

    Attributes:
        count: Captures read so far.
    """

    def __init__(
        self,
        parts: Parts,
        recrawl: Recrawl,
        knowledge: Knowledge,
        tell: Callable[[str], None],
    ) -> None:
        self._parts = parts
        self._tell = tell
        self._recrawl = recrawl
        self._versions = knowledge.versions
        self._digests = Digests(parts.store)
        self._extract = Extract(parts.effective.then(lambda s: s.extract), parts.parser)
        self.count = 0

    async def run(self, stopped: Callable[[], bool]) -> int:
        """Read all of it, unless somebody wants the end; how many captures there were."""
        store = self._parts.store
        by_name = {run.name: run for run in runs(store)}
        done, whole = store.counter(_FILE), bool(store.counter(WHOLE))
        for number, row in list(file_rows(store)):
            if number < done or row.kind is not FileKind.WARC or row.state is not FileState.CLOSED:
                continue
            run = by_name.get(_run_of(row))
            own = run is not None and run.name == self._parts.run.name
            if not own and (whole or run is None or run.mode != INCREMENTAL):
                after = store.counter(_OFFSET) if number == done else -1
                if not await self._read(number, row, run, after, stopped):
                    return self.count
            store.set_counter(_FILE, number + 1)
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
        """Read one WARC behind an offset; False when it was not read to its end."""
        parts = self._parts
        time = run.started if run else _started(_run_of(row), parts.clock.now())
        path = Path(parts.commit.files.absolute(row.final))
        for found in reread(path, self._original, self._versions.base):
            if stopped():
                return False
            if found.kept.offset <= after or PAIR in found.kept.annotations:
                continue
            if was_accused(parts.store, found.kept.record_id):
                continue
            await self._take(found, time, run.number if run else 1)
            parts.store.set_counter(_FILE, number)
            parts.store.set_counter(_OFFSET, found.kept.offset)
            parts.commit.visit_done()
            self.count += 1
            if self.count == _MANY:
                self._tell(f"{_MANY} captures of earlier runs were read; there are more")
            if parts.commit.saturated:
                await parts.commit.durable()
        return True

    async def _take(self, found: Reread, time: float, run: int) -> None:
        """Learn of one capture; what fails at it is a bug of ours, and no reason to stop."""
        visit = self._visit(found)
        try:
            await self._extract.process(visit)
            lesson = self._recrawl.teacher.teach(visit, time)
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - one page must not keep all others out
            self._parts.logs.runtime_error(visit, error)
            return
        self._recrawl.log(lesson, _stored(found.kept), run, found.kept.date / 1e6)

    def _visit(self, found: Reread) -> Visit:
        kept, capture = found
        uri = CrawlURI(
            url=kept.url,
            key=self._parts.identity.key(kept.url),
            queue="",
            via=kept.via,
            path=kept.path,
            source=kept.source,
            is_seed=kept.is_seed,
        )
        visit = Visit(read_before_in(uri, kept.charset), kept.status, capture, mime=kept.mime)
        visit.overlay = self._parts.sheets.of_url(kept.url)
        return visit

    def _original(self, kept: Kept) -> Capture | None:
        framing = "chunked" if kept.chunked else ""
        return self._versions.capture(kept.digest, framing)


def _stored(kept: Kept) -> Stored:
    if kept.base is not None:
        return Stored.DELTA
    if kept.revisit is None:
        return Stored.NOVEL
    identical = kept.revisit.kind == "identical-payload-digest"
    return Stored.DUPLICATE if identical else Stored.NOT_MODIFIED


def _run_of(row: FileRow) -> str:
    """Name of the run that a file belongs to; "" where its directory does not tell."""
    parts = row.final.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "runs" else ""


def _started(name: str, now: float) -> float:
    try:
        return datetime.strptime(name, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return now
