"""Deliveries to the console's webhooks, with retries; and changes of jobs as their events."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from nacre.console.parts import RunnerParts
from nacre.console.results.changes import NamedRun, list_changes_of_run
from nacre.console.task_answers import ASK_PATIENCE, ask_readers
from nacre.core.message_data import to_plain
from nacre.core.states import CRASHED
from nacre.errors import NacreError
from nacre.fleet.snapshot import READING, UNREADABLE, JobSnapshot
from nacre.fleet.webhook_book import HookDelivery, HookEvent, KeptHook, UnreadRun
from nacre.fleet.webhook_delivery import deliver
from nacre.inspect.changes.wording import run_counts
from nacre.job.background.webhooks import TRIES
from nacre.job.diagnosis_text import diagnosis_text
from nacre.messages import error_text

LOOK: Final = 2.0
"""Seconds between two checks for due messages and for changes of jobs."""


class SeenRun(NamedTuple):
    """The state of a job and of its last run at a check.

    Attributes:
        state: State of the job.
        running: A process worked on it.
        run: Name of the run; "" for none.
        ended: When it ended, seconds since the epoch; 0 while it runs, and after a crash.
        closed: It was ended for good.
    """

    state: str
    running: bool
    run: str = ""
    ended: float = 0.0
    closed: bool = False


class WebhookRunner:
    """Posts queued messages, those of each webhook in their order.

    A webhook that is slow or fails does not delay other webhooks. A message is tried eight times,
    with delays of 1, 2, 4 … 60 s, also across a restart of the console; then it is dropped. So is
    the reading of the changes of a run that ended.

    Args:
        parts: The parts that runners need.
    """

    def __init__(self, parts: RunnerParts) -> None:
        self._clock = parts.common.clock
        self._poller = parts.common.poller
        self._fleet, self._readers = parts.common.fleet, parts.common.readers
        self._troubles = parts.troubles
        self._book = parts.webhooks
        self._busy: set[int] = set()
        self._seen: dict[str, SeenRun] = {}
        self._is_reading = False

    async def run(self) -> None:
        """Post until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self.look()
                self._book.some.clear()
                if not self._is_reading and self._ended_unread():
                    self._is_reading = True
                    group.create_task(self._read(), name="webhooks: changes")
                for hook, delivery in self.due():
                    self._busy.add(hook.id)
                    group.create_task(self._send(hook, delivery), name=f"webhook {hook.id}")
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):
                        await self._book.some.wait()

    def due(self) -> list[tuple[KeptHook, HookDelivery]]:
        """Return the first message of each webhook that is not busy, if the message is due."""
        now, deliveries = self._clock.now(), []
        for hook in self._book.all():
            waiting = self._book.deliveries(hook.id, "waits")
            if hook.wish.paused or hook.id in self._busy or not waiting:
                continue
            if waiting[-1].due <= now:
                deliveries.append((hook, waiting[-1]))
        return deliveries

    async def _send(self, hook: KeptHook, delivery: HookDelivery) -> None:
        try:
            await self.attempt(hook, delivery)
        finally:
            self._busy.discard(hook.id)
            self._book.some.set()

    async def attempt(self, hook: KeptHook, delivery: HookDelivery) -> None:
        """Post a message once, and store the result."""
        await deliver(self._book, self._clock, hook, delivery)

    def look(self) -> None:
        """Report the changes of jobs since the last check."""
        texts = {number: snapshot_job.words for number, snapshot_job in self._book.broken().items()}
        self._troubles.set("webhook", texts, self._clock.now())
        for job, snapshot in self._poller.snapshots():
            if snapshot.state in {READING, UNREADABLE}:
                continue
            before, now = self._seen.get(job.id), seen_run(snapshot)
            self._seen[job.id] = now
            self._note_run(job.id, before, now)
            if before is None:  # changes before the first check were reported already, or are old
                continue
            events = events_of(before, now)
            if "finished" in events and self._book.receivers("changes", job.id):
                for run in ended_runs(before, now):
                    self._book.add_unread(job.id, run)
            for event in events:
                message = f"{before.state} -> {now.state}"
                self._book.tell(event, job.id, message, diagnosis_text(snapshot.sentence))

    def _note_run(self, job: str, before: SeenRun | None, now: SeenRun) -> None:
        """Store a run that has begun: it may end while the console does not run."""
        is_noted = before is not None and before.running and before.run == now.run
        if now.running and now.run and not is_noted and self._book.receivers("changes", job):
            self._book.add_unread(job, now.run)

    def _ended_unread(self) -> list[UnreadRun]:
        """Return the runs that ended and whose changes are not read; of jobs that are gone, too."""
        unread = self._book.unread_runs()
        jobs = {job.id for job in self._fleet.jobs} if unread else set()
        return [run for run in unread if not self._may_run(run, is_known=run.job in jobs)]

    def _may_run(self, unread: UnreadRun, *, is_known: bool) -> bool:
        """Return whether a run may not have ended; its job may have had no look yet."""
        seen = self._seen.get(unread.job) if is_known else SeenRun("", running=False)
        return seen is None or (seen.running and seen.run == unread.run)

    async def _read(self) -> None:
        try:
            await self.post_changes()
        finally:
            self._is_reading = False

    async def post_changes(self) -> None:
        """Read the changes of the runs that ended, and queue them.

        If they cannot be read, this is tried again at the next checks, and then reported.
        """
        for unread in self._ended_unread():
            try:
                root = self._fleet.job(unread.job).layout.root
                changes = await ask_readers(
                    self._readers, root, list_changes_of_run, NamedRun(unread.run), ASK_PATIENCE
                )
            except NacreError as error:
                if unread.tries + 1 < TRIES:
                    self._book.count_try(unread)
                else:
                    self._book.tell_changes(unread, error_text(error))
            else:
                text = run_counts(changes) if changes.entries else ""
                self._book.tell_changes(unread, text, {"changes": to_plain(changes)})


def seen_run(snapshot: JobSnapshot) -> SeenRun:
    """The state of a job and of its last run in a snapshot (pure)."""
    overview = snapshot.overview
    if overview is None:
        return SeenRun(snapshot.state, snapshot.running)
    return SeenRun(
        snapshot.state, snapshot.running, overview.run, overview.ended_at, overview.closed
    )


def ended_runs(before: SeenRun, now: SeenRun) -> Sequence[str]:
    """The names of the runs that ended between two looks (pure).

    Args:
        before: The job at the look before.
        now: The job now.
    """
    runs = [before.run] if before.running and now.run != before.run else []
    runs += [] if now.running else [now.run]
    return [run for run in runs if run]


def events_of(before: SeenRun, now: SeenRun) -> tuple[HookEvent, ...]:
    """The events that a change of a job is, in their order (pure).

    A run may begin and end between two looks: each run has its start and its end.

    Args:
        before: It at the look before.
        now: It now.
    """
    is_other = bool(before.run) and now.run != before.run
    if before.running and now.running:
        return ("finished", "started") if is_other and now.run else _change(before, now)
    if now.running or not now.ended or (now.run, now.ended) == (before.run, before.ended):
        return _change(before, now)
    if before.running:
        return ("finished", "started", "finished") if is_other else _change(before, now)
    # A run that crashed has no end until a command ends it for good, which is no run.
    is_ended_for_good = not is_other and now.closed and not before.closed and not before.ended
    return () if before.run and is_ended_for_good else ("started", "finished")


def _change(before: SeenRun, now: SeenRun) -> tuple[HookEvent, ...]:
    """The event that a change within a run is."""
    if (now.state, now.running) == (before.state, before.running):
        return ()
    if now.state == CRASHED:
        return ("crashed",)
    if before.running and not now.running:
        return ("finished",)
    if now.running and not before.running:
        return ("started",)
    if now.state == "PAUSED":
        return ("paused",)
    goes_on = before.state in {"PAUSED", "PAUSING"} and now.state == "RUNNING"
    return ("resumed",) if goes_on else ()
