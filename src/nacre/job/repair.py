"""Repairs a job after a loss: captures of WARCs that are missing or cut short are fetched again.

`accept_loss` marks lost captures, in the batch in which the recovery accepts the loss.
`repair_captures` is called by every start: it registers salvaged captures and queues lost ones. The
marks stay until that is done, so that a start that is cut off is repeated by the next.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import msgspec

from nacre.assembly.records import RunRecords
from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Hop, is_icon_guess
from nacre.core.history import HistoryRecord, Original, without_capture
from nacre.engine.logs import RECOVERY
from nacre.engine.outcomes import Outcome
from nacre.engine.prerequisites import HostAnswers, RobotsCache
from nacre.engine.readback import CaptureReader
from nacre.engine.seeding.seedbook import SeedBook
from nacre.frontier.policy import rank
from nacre.job.salvaged import SalvageParts, register_salvaged
from nacre.job.warcs import drop_index, remake_index
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import Sheets
from nacre.store.commit import GroupCommit
from nacre.store.files import FileKind
from nacre.store.lost_found import move_tail
from nacre.store.recovery import ExaminedFile, StartOptions, examine_files, recover
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.uri.parse import origin

_KEY = b"accepted-loss"
_STEP = 256
_encode = msgspec.msgpack.Encoder().encode


class MissingWarc(msgspec.Struct, frozen=True, array_like=True):
    """A WARC of which only the beginning is there.

    Attributes:
        number: Its number in the table of files.
        path: Its final name, relative to the job.
        start: First byte lost; 0: nothing is left.
    """

    number: int
    path: str
    start: int


_decode = msgspec.msgpack.Decoder(list[MissingWarc]).decode


def accept_loss(store: Store, disk: Disk, root: str, start: StartOptions) -> None:
    """Recover the store and accept the loss; `requeue_lost` does the rest.

    A WARC that was cut within a record is cut back to its last whole capture first.

    Args:
        store: Just opened.
        disk: The file operations.
        root: Directory of the job, absolute.
        start: With `accept_loss`.

    Raises:
        StorageError: A file or the store failed; nothing is accepted then.
    """
    missing = accepted_losses(store)
    for file in examine_files(store, disk, root):
        if file.short and file.row.kind == FileKind.WARC:
            missing.append(MissingWarc(file.number, file.row.final, _cut_back(disk, root, file)))
    if missing:
        store.put("meta", _KEY, _encode(missing))
    recover(store, disk, root, start)


def _cut_back(disk: Disk, root: str, file: ExaminedFile) -> int:
    """Cut off the remainder of an incomplete capture; return the bytes that remain in the file."""
    if not file.size:
        return 0
    reader = CaptureReader(Path(file.path), 0, file.size)
    for _ in reader:
        pass
    if reader.end < file.size:
        move_tail(disk, root, file.path, reader.end, sync=True)
    return reader.end


def accepted_losses(store: Store) -> list[MissingWarc]:
    """The losses that were accepted and are not repaired yet."""
    row = store.get("meta", _KEY)
    return [] if row is None else _decode(row)


class RepairParts(SalvageParts, frozen=True):
    """The parts that a lost capture is removed from, so that its URI is fetched again.

    Attributes:
        settings: The settings under each combination of sheets.
        sheets: Which combination applies to a URL.
        hosts: The addresses of hosts.
        robots: The rules of robots.txt.
        seeds: The seeds.
    """

    settings: Effective[JobSettings]
    sheets: Sheets
    hosts: HostAnswers
    robots: RobotsCache
    seeds: SeedBook


def make_repair(records: RunRecords) -> RepairParts:
    """Collect what a repair works on, from the records of a run."""
    rules, queues, scheduling = records.rules, records.queues, records.scheduling
    context, storing, reporting = records.context, records.storing, records.reporting
    engine = rules.settings.engine
    return RepairParts(
        run=context.run.name,
        store=storing.store,
        commit=storing.commit,
        archive=storing.archive,
        outcomes=storing.outcomes,
        frontier=queues.frontier,
        candidates=scheduling.candidates,
        identity=queues.identity,
        speculation=scheduling.speculation,
        statistics=reporting.statistics,
        logs=reporting.logs,
        clock=context.clock,
        follows_errors=engine.follow_error_pages,
        settings=rules.effective,
        sheets=rules.sheets,
        hosts=queues.hosts,
        robots=records.fetching.robots,
        seeds=scheduling.seeds,
    )


async def requeue_lost(parts: RepairParts, disk: Disk) -> str:
    """Queue lost URIs, and remove references to their captures; an interrupted step is repeated.

    Returns:
        What was done, for the operator; "" when nothing was lost.
    """
    missing = accepted_losses(parts.store)
    if not missing:
        return ""
    count = await _Requeue(parts, missing).run()
    await _remake_indexes(parts.store, parts.commit, disk, missing)
    names = ", ".join(file.path for file in missing)
    text = f"lost: {count} captures of {names}; they are fetched again, see {RECOVERY}"
    if not count:
        text = f"lost: captures of earlier runs in {names}; nothing refers to them any more"
    parts.logs.alert(text)
    parts.store.delete("meta", _KEY)
    await parts.commit.flush()
    return text


async def _remake_indexes(
    store: Store, commit: GroupCommit, disk: Disk, missing: Iterable[MissingWarc]
) -> None:
    root = commit.files.absolute("")
    for file in missing:
        if file.start:
            await remake_index(store, commit, disk, file.path)
        else:
            await drop_index(store, commit, disk, root, file.path)


class _Requeue:
    """Finds URIs whose captures were lost, or refer to lost ones, and queues them."""

    def __init__(self, parts: RepairParts, missing: list[MissingWarc]) -> None:
        self._store, self._commit, self._logs = parts.store, parts.commit, parts.logs
        self._history, self._frontier = parts.archive.history, parts.frontier
        self._hosts, self._robots, self._seeds = parts.hosts, parts.robots, parts.seeds
        self._sheets, self._settings = parts.sheets, parts.settings
        self._identity, self._clock = parts.identity, parts.clock
        self._starts = {file.number: file.start for file in missing}
        self._names = {PurePosixPath(file.path).name: file.start for file in missing}
        self._records: set[str] = set()
        self._digests: list[bytes] = []

    async def run(self) -> int:
        """Queue the lost captures; returns their number.

        Originals are dropped last, for what refers to them is found through them.
        """
        self._find_originals()
        urls = self._find_results()
        for count, (key, outcome) in enumerate(urls, 1):
            self._requeue(key, outcome)
            if count % _STEP == 0:
                await self._commit.flush()
        self._forget_history()
        await self._commit.flush()
        for digest in self._digests:
            self._store.delete("digests", digest)
        return len(urls)

    def _find_originals(self) -> None:
        decode = msgspec.msgpack.Decoder(Original).decode
        differences: list[tuple[bytes, Original]] = []
        for key, value in self._store.scan("digests", b""):
            original = decode(value)
            start = self._starts.get(original.file)
            if start is not None and original.offset >= start:
                self._drop(key, original)
            elif original.base:
                differences.append((key, original))
        for key, original in differences:
            if original.base in self._records:  # its base went, and it with it
                self._drop(key, original)

    def _drop(self, key: bytes, original: Original) -> None:
        self._digests.append(key)
        self._records.add(original.record_id)

    def _find_results(self) -> list[tuple[bytes, Outcome]]:
        decode = msgspec.msgpack.Decoder(Outcome).decode
        rows = ((key, decode(row)) for key, row in self._store.scan("urls", b""))
        return [(key, outcome) for key, outcome in rows if self._is_lost(outcome)]

    def _is_lost(self, outcome: Outcome) -> bool:
        """Whether its record is gone, or one that its revisit or its metadata record refers to."""
        start = self._names.get(outcome.file) if outcome.file else None
        if start is not None and outcome.offset >= start:
            return True
        if outcome.status <= 0:
            return False
        record = self._history.get(outcome.url)
        return record is not None and self._refers(record)

    def _refers(self, record: HistoryRecord) -> bool:
        """Whether its capture is gone, or what that is a difference from, or its outlinks."""
        base, links = record.base, record.links
        if links is not None and links.offset >= self._starts.get(links.file, sys.maxsize):
            return True
        return record.record_id in self._records or (
            base is not None and base.record_id in self._records
        )

    def _requeue(self, key: bytes, outcome: Outcome) -> None:
        self._store.delete("urls", key)
        guess = is_icon_guess(outcome.url, outcome.path, outcome.via)
        totals = self._frontier.totals
        totals.take_back(outcome.status, guess=guess)
        record = self._history.get(outcome.url)
        if record is not None:
            self._history.put(without_capture(record))
        self._logs.recovery(f"lost {outcome.url} in {outcome.file} at {outcome.offset}")
        if outcome.path.endswith(Hop.PREREQUISITE):
            self._forget_answer(outcome.url)
        else:
            self._frontier.schedule([self._uri(key, outcome)], self._clock.now())
        self._commit.visit_done()

    def _forget_answer(self, url: str) -> None:
        """A prerequisite is fetched again when something needs it."""
        if url.startswith("dns:"):
            self._hosts.drop(url[4:])
        else:
            self._robots.drop(origin(url))

    def _uri(self, key: bytes, outcome: Outcome) -> CrawlURI:
        is_seed = self._seeds.knows(outcome.url)
        overlay = self._sheets.of_url(outcome.url)
        order = rank(
            self._settings[overlay].frontier,
            outcome.path,
            is_seed=is_seed,
            url=outcome.url,
            via=outcome.via,
        )
        return CrawlURI(
            url=outcome.url,
            key=key,
            queue=self._identity.queue(outcome.url, overlay),
            via=outcome.via,
            path=outcome.path,
            context=outcome.context,
            is_seed=is_seed,
            force_fetch=True,
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
        )

    def _forget_history(self) -> None:
        """What earlier runs know of the lost records; no server is asked for their change."""
        for record in list(self._referring()):
            self._history.put(without_capture(record))

    def _referring(self) -> Iterator[HistoryRecord]:
        decode = msgspec.msgpack.Decoder(HistoryRecord).decode
        for _, row in self._store.scan("history", b""):
            record = decode(row)
            if self._refers(record):
                yield record


async def repair_captures(parts: RepairParts, disk: Disk) -> str:
    """Register salvaged captures and queue lost ones, as marked. The group commit must run.

    Args:
        parts: Of the opened job, from which nothing was handed out yet.
        disk: The file operations.

    Returns:
        What the operator should know; "" for nothing.

    Raises:
        StorageError: A file or the store failed; the next start does it again.
    """
    await register_salvaged(parts, disk)
    return await requeue_lost(parts, disk)
