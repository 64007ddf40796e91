"""Scheduled runs: find the schedules that are due, and begin their runs."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from nacre.console.actions import act, allowed_now
from nacre.console.jobs.new_jobs import free_directory, make_at
from nacre.console.parts import RunnerParts
from nacre.core.clock import iso_millis
from nacre.errors import ConfigError, JobError, NacreError
from nacre.fleet.job_books import JobLabels, require_quota
from nacre.fleet.job_folders import forget_job
from nacre.fleet.places import FoundJob, JobPlace, dated_name
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import Requester
from nacre.fleet.schedule_book import KeptSchedule, ScheduleNote, ScheduleWish
from nacre.fleet.snapshot import READING
from nacre.job.schedules import (
    RunActivity,
    RunOverlap,
    ScheduleDecision,
    ScheduleStep,
    decide_schedule,
)
from nacre.machine.layout import Layout
from nacre.messages import COMMA, error_text, join, message
from nacre.ops.job_request import NewJobRequest
from nacre.ops.lifecycle import EndRequest, StopRequest
from nacre.ops.operation import Role
from nacre.ops.starts import RecrawlRequest, StartRequest
from nacre.runs.runs import append_note, note_line

LOOK: Final = 5.0
"""Seconds between two looks at the schedules."""
_EVENTS: Final = {
    "begun": message("console.schedule-begun", "begun"),
    "made": message("console.schedule-created", "made"),
    "skipped": message("console.schedule-skipped", "skipped"),
    "waits": message("console.schedule-waits", "waits"),
    "ended": message("console.schedule-ended", "ended"),
    "failed": message("console.schedule-failed", "failed"),
}
"""The events of a schedule, as `ScheduleNote.what`, for people."""


class ScheduleRunner:
    """Begins the runs of schedules that are due.

    Args:
        parts: The parts that runners need.
    """

    def __init__(self, parts: RunnerParts) -> None:
        self._common = parts.common
        self._actions = parts.actions
        self._clock = parts.common.clock
        self._fleet = parts.common.fleet
        self._poller = parts.common.poller
        self._book = parts.books.schedules
        self._labels = parts.books.labels
        self._quotas = parts.books.quotas
        self._troubles = parts.troubles
        self._webhooks = parts.webhooks

    async def run(self) -> None:
        """Look at the schedules until cancelled."""
        while True:
            await self.turn()
            await self._clock.sleep(LOOK)

    async def turn(self) -> None:
        """Look at all schedules once."""
        broken = self._book.broken()
        texts = {number: schedule.words for number, schedule in broken.items()}
        self._troubles.set("schedule", texts, self._clock.now())
        jobs = {str(job.layout.root): job for job in self._fleet.jobs}
        for schedule in self._book.all():
            if schedule.wish.is_of_new_jobs:
                if schedule.wish.profile or schedule.path in jobs:
                    await self._look_if_known(
                        schedule, jobs.get(schedule.made), self._id(schedule, jobs)
                    )
            elif schedule.path in jobs:
                await self._look_if_known(schedule, jobs[schedule.path], jobs[schedule.path].id)

    @staticmethod
    def _id(schedule: KeptSchedule, jobs: Mapping[str, FoundJob]) -> str:
        """Return the job id for webhooks: the template of new jobs; "" if there is none."""
        return jobs[schedule.path].id if schedule.path in jobs else ""

    async def _look_if_known(
        self, schedule: KeptSchedule, job: FoundJob | None, about: str
    ) -> None:
        """Check a schedule, unless its job has not been read yet, because the job may run."""
        if job is None or self._poller.snapshot(job).state != READING:
            await self._look(schedule, job, about)

    async def _look(self, schedule: KeptSchedule, job: FoundJob | None, about: str) -> None:
        """Check a schedule, and begin its run if it is due.

        Args:
            schedule: The schedule.
            job: The job whose run may be open; None if the schedule has not made a job yet.
            about: Id of the job in the messages of webhooks.
        """
        if schedule.wish.paused:  # times during a pause are handled when the schedule is resumed
            return
        now = self._clock.now()
        decision = decide_schedule(
            schedule.wish.times, now, schedule.seen, self._activity(job), waits=schedule.waits
        )
        if decision.step is ScheduleStep.NOTHING and (
            decision.handled_until == schedule.seen and decision.waits == schedule.waits
        ):
            return
        note = _noted(decision, now) or schedule.note
        # Stored before a run begins, so that a console that is killed here makes no run twice.
        self._book.keep(schedule.id, decision.handled_until, note, waits=decision.waits)
        if decision.step is ScheduleStep.NOTHING:
            if note != schedule.note:
                self._tell(schedule, about, note)
            return
        try:
            text = await self._carry_out(schedule, job, decision.step)
        except (NacreError, OSError) as error:  # a disk, too, fails this schedule alone
            note = ScheduleNote(now, "failed", error_text(error), decision.missed)
            self._book.keep(schedule.id, decision.handled_until, note, waits=decision.waits)
        else:
            if text:
                note = ScheduleNote(now, "made", text, decision.missed)
                self._book.keep(schedule.id, decision.handled_until, note, waits=decision.waits)
        self._tell(schedule, about, note)

    def _tell(self, schedule: KeptSchedule, about: str, note: ScheduleNote) -> None:
        """Tell the webhooks what became of a schedule."""
        text = message(
            "console.schedule-event",
            "schedule {number} ({at} {zone}): {event}",
            number=schedule.id,
            at=schedule.wish.at,
            zone=schedule.wish.zone,
            event=_EVENTS.get(note.what, note.what),
        )
        if note.missed:
            text = message(
                "console.schedule-missed",
                "{event}, {missed} missed",
                event=text,
                missed=note.missed,
            )
        self._webhooks.tell("schedule", about, text, note.text)

    def _activity(self, job: FoundJob | None) -> RunActivity:
        """The activity of a job; one that is being started runs, one that is not there rests."""
        if job is None:
            return RunActivity.RESTS
        launch = self._actions.launcher.facts(job)
        snapshot = self._poller.snapshot(job)
        if not snapshot.running:
            starts = launch is not None and launch.step != "failed"
            return RunActivity.RUNS if starts else RunActivity.RESTS
        return RunActivity.PAUSED if snapshot.state == "PAUSED" else RunActivity.RUNS

    async def _carry_out(
        self, schedule: KeptSchedule, job: FoundJob | None, step: ScheduleStep
    ) -> str:
        """Begin a run, or end the paused one first; the id of the job that was made, or "".

        Raises:
            NacreError: The job refuses, or cannot be made.
        """
        requester = Requester(
            f"schedule {schedule.id} of {schedule.owner}", Role.OPERATOR, "schedule"
        )
        if job is not None and step is ScheduleStep.END_FIRST:
            await act(self._actions, job, "stop", StopRequest(), requester)
        elif schedule.wish.is_of_new_jobs:
            return await self._make(schedule, requester)
        elif job is not None:
            await self._begin(schedule, job, requester)
        return ""

    async def _make(self, schedule: KeptSchedule, requester: Requester) -> str:
        """Make a new job and start it; its id.

        Raises:
            NacreError: It cannot be made, or started.
        """
        request, now = schedule.wish, self._clock.now()
        base = request.profile or Path(schedule.path).name
        name = dated_name(
            request.name, Path(base).stem if request.profile else base, now, request.zone
        )
        place = self._place(schedule)
        root = free_directory(place.root, name)
        planned = FoundJob(f"{place.label}~{root.name}", root.name, place.label, Layout(root))
        # Do not make a job that would not be started: each time would leave another job.
        await require_quota(self._quotas, planned)
        job, warnings = await make_at(self._common, root, _like(request, schedule.path))
        self._book.note_made(schedule.id, str(root))
        labels = self._labels.of_path(schedule.path)
        if labels.tags:
            self._labels.set(job, JobLabels(tags=labels.tags))
        line = note_line(iso_millis(now), "INFO", f"made by {requester.name}")
        await asyncio.to_thread(append_note, root, line)
        try:
            await act(self._actions, job, "start", StartRequest(), requester)
        except (ConfigError, RefusedRequestError):
            await self._unmake(schedule, job)
            raise
        return join((job.id, *warnings), *COMMA)

    async def _unmake(self, schedule: KeptSchedule, job: FoundJob) -> None:
        """Delete a job that was made but could not be started, for example for lack of space."""
        with suppress(JobError):  # a directory with other files stays
            await asyncio.to_thread(forget_job, job.layout)
            self._labels.set(job, JobLabels())
            self._book.note_made(schedule.id, schedule.made)
            await self._poller.scan()

    def _place(self, schedule: KeptSchedule) -> JobPlace:
        """The place of a new job.

        Raises:
            JobError: It is none of the console any more.
        """
        places = [place for place in self._fleet.places if not place.job]
        for place in places:
            if place.label == schedule.wish.place:
                return place
        raise JobError(
            message(
                "console.schedule-without-place",
                "there is no place {place!r} for new jobs any more: change the schedule",
                place=schedule.wish.place,
            )
        )

    async def _begin(self, schedule: KeptSchedule, job: FoundJob, requester: Requester) -> None:
        """Begin a run of a job.

        Raises:
            NacreError: The job refuses.
        """
        request = schedule.wish
        await self._poller.look(job)
        actions = {action.name for action in allowed_now(self._actions, job, "") if action.allowed}
        if "end" in actions and request.overlap is RunOverlap.END:
            await act(self._actions, job, "end", EndRequest(), requester)
        elif "start" in actions or "go-on" in actions:
            await act(self._actions, job, "start", StartRequest(), requester)
            return
        full = request.mode == "recrawl-full"
        options = RecrawlRequest(full, "" if full else request.budget, request.keep)
        await act(self._actions, job, "recrawl", options, requester)


def _like(request: ScheduleWish, path: str) -> NewJobRequest:
    """Return the new job of a schedule (pure).

    Args:
        request: The schedule.
        path: Directory of the job that it is made like, if there is no profile.
    """
    if request.profile:
        return NewJobRequest(tuple(request.seeds), profile=request.profile)
    return NewJobRequest(tuple(request.seeds), template=path, own_seeds=True)


def _noted(decision: ScheduleDecision, now: float) -> ScheduleNote | None:
    """Return the note of a decision; None if nothing was due."""
    if decision.step is ScheduleStep.BEGIN:
        return ScheduleNote(now, "begun", missed=decision.missed)
    if decision.step is ScheduleStep.END_FIRST:
        return ScheduleNote(now, "ended", missed=decision.missed)
    if decision.skipped:
        return ScheduleNote(now, "skipped", missed=decision.missed)
    return ScheduleNote(now, "waits", missed=decision.missed) if decision.waits else None
