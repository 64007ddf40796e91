"""The poller: asks the jobs for their numbers, once for all viewers.

A job with viewers is polled every second, any other job every ten seconds. A reader process reads
the store of a job at rest when the store has changed. Its numbers are cached, so that a console
with many jobs has them at its start.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Final

import msgspec

from nacre.core.clock import Clock
from nacre.core.message_data import from_stored_json, to_plain, to_stored_json
from nacre.errors import NacreError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import WantedKindBook
from nacre.fleet.places import Fleet, FoundJob
from nacre.fleet.snapshot import (
    JobSnapshot,
    ToeList,
    rate_point,
    snapshot_of,
    starting,
    toe_list,
    unreadable,
    unseen,
)
from nacre.job.activity import JobActivity, RatePoint
from nacre.job.control import NotRunningError, ask_command, is_running
from nacre.job.diagnosis import CrowdedKind
from nacre.job.diagnosis_facts import MANY, crowded_kind, crowded_queue, unwanted
from nacre.job.lately import NO_LINES, LastLines, last_lines
from nacre.job.overview import JobOverview
from nacre.machine.layout import Layout
from nacre.report.log_fields import CrawlLogFields
from nacre.rounds.rounds_mark import rounds_run, step_progress
from nacre.runs.passes import find_recurring
from nacre.web.live.ends import ProcessEnds
from nacre.web.live.hub import JOBS, ViewerHub, job_topic
from nacre.web.live.start_checks import StartChecks, settings_stamp
from nacre.web.supervision import words_of
from nacre.web.workers.pool import ReaderPool
from nacre.web.workers.views import folder_stamp, stamp_text

WATCHED: Final = 1.0
"""Seconds between two polls of a job with viewers."""
UNWATCHED: Final = 10.0
"""Seconds between two polls of any other job."""
SCAN: Final = 30.0
"""Seconds between two scans of the places."""
PATIENCE: Final = 2.0
"""Timeout of the answer of a running job, seconds; other jobs are polled meanwhile."""
CROWDS: Final = 60.0
"""Seconds between two checks of the queued URLs of a job."""
FIRST_READ: Final = 60.0
"""Timeout of a read of a job at rest, seconds; no page waits for it."""
SOON: Final = 0.25
"""Seconds between two scans for jobs that were requested but are not known."""
AGAIN: Final = 1.0
"""Seconds after a scan in which a request for all jobs starts no other scan."""
_LOG: Final = logging.getLogger(__name__)


class Poller:
    """Keeps the last snapshot of each job.

    Args:
        fleet: The jobs.
        readers: Read the stores of jobs at rest.
        database: Caches the numbers of jobs at rest.
        clock: The time.
        hub: Receives the changes.

    Attributes:
        begun: Directories of jobs whose process was started and has not answered yet.
    """

    def __init__(
        self,
        fleet: Fleet,
        readers: ReaderPool,
        database: ConsoleDatabase,
        clock: Clock,
        hub: ViewerHub,
    ) -> None:
        self.begun = set[str]()
        self._fleet = fleet
        self._hub = hub
        self._readers = readers
        self._database = database
        self._clock = clock
        self._snapshots: dict[str, JobSnapshot] = {}
        self._activities: dict[str, JobActivity] = {}
        self._looked: dict[str, float] = {}
        self._watched: Counter[str] = Counter()
        self._stamps: dict[str, str] = {}
        self._settings: dict[str, str] = {}
        self._looking: set[str] = set()
        self._is_list_stale = False
        self._toes: dict[str, ToeList] = {}
        self._read: dict[str, float] = {}
        self._lately: dict[str, LastLines] = {}
        self._wanted = WantedKindBook(database)
        self._crowds: dict[str, CrowdedKind] = {}
        self._crowds_at: dict[str, float] = {}
        self._toes_watched: Counter[str] = Counter()
        self._ends = ProcessEnds(self._look_soon)
        self._checks = StartChecks(readers)
        # No page waits for jobs at rest: their reads take turns, so that a process stays free.
        self._reading = asyncio.Lock()
        self._scanned = clock.monotonic()
        self._seeking = asyncio.Lock()

    def snapshot(self, job: FoundJob) -> JobSnapshot:
        """Return the last snapshot of a job, without numbers if the job was not polled yet."""
        return self._snapshots.get(job.id) or unseen(job)

    def is_running(self, job: FoundJob) -> bool:
        """Whether a job ran at its last poll."""
        return self.snapshot(job).running

    def snapshots(self) -> list[tuple[FoundJob, JobSnapshot]]:
        """Return all jobs with their last snapshots."""
        return [(job, self.snapshot(job)) for job in self._fleet.jobs]

    async def fresh(self, job: FoundJob) -> JobSnapshot:
        """Return a snapshot that is at most a second old."""
        last = self._snapshots.get(job.id)
        # If the clock was set back, the last snapshot is in the future.
        if last is None or not 0 <= self._clock.now() - last.as_of <= WATCHED:
            await self.look(job)
        return self.snapshot(job)

    async def checked(self, job: FoundJob) -> JobSnapshot:
        """Return a fresh snapshot; for a job at rest, with the problems that prevent a start."""
        snapshot = await self.fresh(job)
        if snapshot.running or snapshot.overview is None:
            return snapshot
        checked_settings = self._settings.get(job.id, "") if self._knows_check(job) else None
        await self._checks.look(job)
        if checked_settings != await asyncio.to_thread(settings_stamp, job.layout):
            await self.look(job)
        return self.snapshot(job)

    def _knows_check(self, job: FoundJob) -> bool:
        return bool(self._checks.findings_of(job, self._settings.get(job.id, "")))

    @contextmanager
    def watching(self, job: str) -> Iterator[None]:
        """Count a viewer of a job while the block runs."""
        self._watched[job] += 1
        try:
            yield
        finally:
            self._watched[job] -= 1

    def activity(self, job: FoundJob) -> JobActivity:
        """Return the last minutes of a job, without points if the job does not run."""
        return self._activities.get(job.id) or JobActivity()

    def points(self, job: FoundJob) -> tuple[RatePoint, ...]:
        """Return the last minutes of a job for charts, with times in seconds since the epoch.

        The clock may have been set since: all times are converted with its present offset.
        """
        shift = self._clock.now() - self._clock.monotonic()
        return tuple(
            msgspec.structs.replace(point, time=round(point.time + shift, 3))
            for point in self.activity(job).points
        )

    def lately(self, job: FoundJob) -> Sequence[CrawlLogFields]:
        """Return the last lines of a running job's crawl.log, at most ten seconds old, or ()."""
        return self._lately.get(job.id, NO_LINES).crawl if self.is_running(job) else ()

    def toes(self, job: FoundJob) -> ToeList | None:
        """Return the fetches in progress of a job; None if they have no viewers."""
        return self._toes.get(job.id)

    @contextmanager
    def watching_toes(self, job: str) -> Iterator[None]:
        """Count a viewer of a job and of its fetches while the block runs."""
        self._toes_watched[job] += 1
        try:
            with self.watching(job):
                yield
        finally:
            self._toes_watched[job] -= 1
            if not self._toes_watched[job]:
                self._toes.pop(job, None)

    async def look_at_toes(self, job: FoundJob) -> ToeList:
        """Ask a running job for its fetches in progress.

        Raises:
            NotRunningError: The job does not run.
            JobError: The job does not answer.
        """
        return toe_list(await ask_command(job.layout.socket, "toes", PATIENCE))

    async def run(self) -> None:
        """Poll the jobs until cancelled."""
        with closing(self._ends):
            # A slow job must not delay the others.
            async with asyncio.TaskGroup() as group:
                while True:
                    for job in self._due():
                        group.create_task(self.look(job), name=f"look at {job.id}")
                    unchecked = self._unchecked()
                    if unchecked is not None:
                        group.create_task(self.checked(unchecked), name=f"check {unchecked.id}")
                    for job in self._crowd_due():
                        group.create_task(self.look_at_crowd(job), name=f"what waits in {job.id}")
                    await self._clock.sleep(WATCHED)
                    self.tell()
                    await self.scan_after(SCAN)

    def tell(self) -> None:
        """Notify the viewers of the list of all changes since the last call, at once."""
        if self._is_list_stale:
            self._is_list_stale = False
            self._hub.changed(JOBS)

    async def scan_after(self, seconds: float = AGAIN) -> None:
        """Scan for new and removed jobs, if the last scan is long enough ago.

        Args:
            seconds: Minimum age of the last scan.
        """
        if self._clock.monotonic() - self._scanned >= seconds:
            await self.scan()

    async def seek(self, name: str) -> None:
        """Scan for an unknown job, which a command may just have created.

        Concurrent calls share a scan.

        Args:
            name: Id of the job.
        """
        began = self._clock.monotonic()
        async with self._seeking:
            if self._fleet.knows(name) or self._scanned > began:
                return
            await self._clock.sleep(max(0.0, self._scanned + SOON - self._clock.monotonic()))
            await self.scan()

    async def scan(self) -> None:
        """Scan for new and removed jobs."""
        self._scanned = self._clock.monotonic()
        before = {job.id for job in self._fleet.jobs}
        await self._fleet.scan()
        there = {job.id for job in self._fleet.jobs}
        self._is_list_stale |= there != before
        for table in (
            self._snapshots,
            self._activities,
            self._looked,
            self._stamps,
            self._settings,
            self._read,
            self._lately,
            self._crowds,
            self._crowds_at,
        ):
            for name in set(table) - there:
                table.pop(name)
                self._checks.forget(name)

    def _look_soon(self, job: str) -> None:
        """Poll a job within a second, because its process has ended."""
        self._looked.pop(job, None)

    def _due(self) -> list[FoundJob]:
        mono = self._clock.monotonic()
        return [
            job
            for job in self._fleet.jobs
            if job.id not in self._looking
            and mono - self._looked.get(job.id, -UNWATCHED)
            >= (WATCHED if self._watched[job.id] else UNWATCHED)
        ]

    def _unchecked(self) -> FoundJob | None:
        """Return an unchecked job that never ran; None while a check runs, or if there is none."""
        if self._checks.busy:
            return None
        return next(
            (
                job
                for job in self._fleet.jobs
                if self.snapshot(job).state == "NASCENT" and not self._knows_check(job)
            ),
            None,
        )

    async def look(self, job: FoundJob) -> None:
        """Poll a job now; an error is noted in its snapshot and does not affect other jobs."""
        self._looking.add(job.id)
        try:
            await self._look(job)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, others go on
            last, running = self._snapshots.get(job.id), is_running(job.layout.socket)
            text = words_of(error)
            if last is None or last.sentence.params.get("why") != text:
                _LOG.exception("%s: %s", job.id, text)
            self._keep(unreadable(job, text, self._clock.now(), last, running=running))
        finally:
            self._looking.discard(job.id)

    async def _look(self, job: FoundJob) -> None:
        self._looked[job.id] = self._clock.monotonic()
        now = self._clock.now()
        try:
            answer = await ask_command(job.layout.socket, "status", PATIENCE)
        except NotRunningError:
            self._activities.pop(job.id, None)
            await self._look_at_rest(job)
        except NacreError as error:
            last = self._snapshots.get(job.id)
            self._keep(unreadable(job, str(error), now, last, running=True))
        else:
            self.begun.discard(str(job.layout.root))
            activity = self._activities.setdefault(job.id, JobActivity())
            activity.note(rate_point(answer, now, self._clock.monotonic()))
            self._stamps.pop(job.id, None)
            self._ends.watch(job.id, job.layout.socket)
            await self._keep_toes(job)
            await self._read_log(job)
            crowd = self._crowd(job, answer)
            unknown = unwanted(crowd, self._wanted.of(job)) if crowd is not None else None
            lines = self._lately.get(job.id, NO_LINES)
            snapshot = snapshot_of(job, answer, now, activity, lines, unknown)
            self._keep(msgspec.structs.replace(snapshot, crowded=crowd))

    def _crowd(self, job: FoundJob, answer: Mapping[str, Any]) -> CrowdedKind | None:
        """Return the last known kind of most queued URLs; None if few URLs are queued."""
        is_full = "overview" in answer and answer["overview"]["queued"] > MANY
        return self._crowds.get(job.id) if is_full else None

    def _crowd_due(self) -> list[FoundJob]:
        mono = self._clock.monotonic()
        return [
            job
            for job, snapshot in self.snapshots()
            if snapshot.running
            and mono - self._crowds_at.get(job.id, -CROWDS) >= CROWDS
            and (snapshot.crowded is not None or _full_queue(snapshot))
        ]

    async def look_at_crowd(self, job: FoundJob) -> None:
        """Find the kind of most queued URLs: every minute, while the queue grows."""
        self._crowds_at[job.id] = self._clock.monotonic()
        queue = _full_queue(self.snapshot(job))
        if not queue:
            self._crowds.pop(job.id, None)
            return
        try:
            async with self._reading:
                tree = await self._readers.ask(
                    "tree", job.layout.root, prefix="", queue=queue, path="", whole=False, after="",
                    limit=1,
                )  # fmt: skip
        except NacreError:  # the job is ending, or all readers are busy; the next check reads it
            return
        first: Mapping[str, Any] = next(iter(tree["items"]), {"name": "", "waiting": 0})
        kind = crowded_kind(queue, first["name"], first["waiting"], tree["searched"])
        if kind is None:
            self._crowds.pop(job.id, None)
        else:
            self._crowds[job.id] = kind

    async def _read_log(self, job: FoundJob) -> None:
        """Read the last lines of a running job's log, every ten seconds."""
        mono = self._clock.monotonic()
        if mono - self._read.get(job.id, -UNWATCHED) < UNWATCHED:
            return
        self._read[job.id] = mono
        self._lately[job.id] = await asyncio.to_thread(last_lines, job.layout)

    async def _keep_toes(self, job: FoundJob) -> None:
        """Ask for the fetches of a job if they have viewers."""
        if not self._toes_watched[job.id]:
            return
        try:
            self._toes[job.id] = await self.look_at_toes(job)
        except NacreError:  # the job is ending, or too busy; the next poll asks again
            return
        self._hub.changed(job_topic(job.id))

    async def _look_at_rest(self, job: FoundJob) -> None:
        """Read the store of a job if it has changed since the last read."""
        now, path = self._clock.now(), str(job.layout.root)
        if path in self.begun and not job.layout.in_rounds:
            self._stamps.pop(job.id, None)
            self._keep(starting(job, now, self._snapshots.get(job.id)))
            return
        stamp = await asyncio.to_thread(stamp_of, job.layout)
        now_of_rounds = await asyncio.to_thread(rounds_now, job.layout)
        stamp += "".join(f" {name}" for name, holds in now_of_rounds.items() if holds is True)
        settings = await asyncio.to_thread(settings_stamp, job.layout)
        self._settings[job.id] = settings
        findings = self._checks.findings_of(job, settings)
        again = await asyncio.to_thread(find_recurring, job.layout)
        waits = again.rhythm if again is not None and again.waits else ""
        mark = f"{stamp} {findings} {waits}"
        if self._stamps.get(job.id) == mark and job.id in self._snapshots:
            current = msgspec.structs.replace(self._snapshots[job.id], as_of=now)
            if current.rounds is not None:
                rounds = {**current.rounds, **now_of_rounds}
                current = msgspec.structs.replace(current, rounds=rounds)
            self._keep(current)
            return
        try:
            answer = self._cached(path, stamp) if _has_run(job.layout) else _NEVER_RAN
            if answer is None:
                async with self._reading:
                    answer = await self._readers.ask("stored-status", job.layout.root, FIRST_READ)
                self._database.jot(
                    "INSERT OR REPLACE INTO rested VALUES (?, ?, ?)",
                    path, stamp, to_stored_json(answer),
                )  # fmt: skip
            if "cycle" in answer:
                answer = {"cycle": {**answer["cycle"], **now_of_rounds}}
            snapshot = snapshot_of(job, {**answer, **findings}, now, None)
            snapshot = msgspec.structs.replace(snapshot, waits=waits)
        except (NacreError, msgspec.ValidationError) as error:
            last = self._snapshots.get(job.id)
            self._keep(unreadable(job, str(error), now, last, running=False))
            return
        self._stamps[job.id] = mark
        self._keep(snapshot)

    def _cached(self, path: str, stamp: str) -> dict[str, Any] | None:
        row = self._database.row(
            "SELECT answer FROM rested WHERE path = ? AND stamp = ?", path, stamp
        )
        if row is None or not isinstance(row[0], bytes):
            return None
        try:
            return from_stored_json(row[0], dict[str, Any])
        except msgspec.MsgspecError:  # a damaged row: read the store again, which replaces it
            return None

    def _keep(self, snapshot: JobSnapshot) -> None:
        before = self._snapshots.get(snapshot.job)
        self._snapshots[snapshot.job] = snapshot
        if before is None or msgspec.structs.replace(before, as_of=snapshot.as_of) != snapshot:
            self._hub.changed(job_topic(snapshot.job))
            self._is_list_stale = True


def _full_queue(snapshot: JobSnapshot) -> str:
    """Return the key of the queue with most URLs, if they are many and grow; "" for none."""
    if snapshot.overview is None:
        return ""
    queue = crowded_queue(snapshot.overview, snapshot.slowest, grows=snapshot.grows)
    return queue.name if queue is not None else ""


_NEVER_RAN: Final = {"overview": to_plain(JobOverview("NASCENT"))}


def _has_run(layout: Layout) -> bool:
    """Whether there is something to read.

    Raises:
        JobError: The state of the job is another user's.
    """
    return layout.in_rounds or layout.has_store


def rounds_now(layout: Layout) -> dict[str, Any]:
    """Return the state of a batch crawl that is not in its versions; {} for another job.

    Returns:
        `running`, `stopping` (after the step) and `progress` of the step, None if unknown.
    """
    if not layout.in_rounds:
        return {}
    running = rounds_run(layout)
    progress = to_plain(step_progress(layout)) if running else None
    stopping = (layout.control / "stop").exists()
    return {"running": running, "stopping": stopping, "progress": progress}


def stamp_of(layout: Layout) -> str:
    """A text that changes whenever the store of a job, or the versions of a batch crawl, do."""
    folders = layout.store, layout.cycle, layout.cycle / "versions"
    return stamp_text(map(folder_stamp, folders))
