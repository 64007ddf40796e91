"""Runs that begin by schedules: what is due is decided, and carried out."""

from typing import Final

from nacre.console.access.roles import Requester, Role
from nacre.console.actions import ActionOptions, act, allowed_now
from nacre.console.fleet.places import FoundJob
from nacre.console.fleet.schedule_book import KeptSchedule, ScheduleNote
from nacre.console.live.snapshot import READING
from nacre.console.services import ConsoleServices
from nacre.errors import NacreError
from nacre.job.schedules import (
    RunActivity,
    RunOverlap,
    ScheduleDecision,
    ScheduleStep,
    decide_schedule,
)

LOOK: Final = 5.0
"""Seconds between two looks at the schedules."""


class ScheduleRunner:
    """It begins what is due.

    Args:
        services: The parts of the console.
    """

    def __init__(self, services: ConsoleServices) -> None:
        self._services = services

    async def run(self) -> None:
        """Look at the schedules until cancelled."""
        while True:
            await self.turn()
            await self._services.clock.sleep(LOOK)

    async def turn(self) -> None:
        """Look at all schedules once."""
        jobs = {str(job.layout.root): job for job in self._services.fleet.jobs}
        for one in self._services.schedules.all():
            job = jobs.get(one.path)
            # Of a job that was not looked at yet it is not known whether it runs.
            if job is not None and self._services.poller.snapshot(job).state != READING:
                await self._look(one, job)

    async def _look(self, one: KeptSchedule, job: FoundJob) -> None:
        services = self._services
        now = services.clock.now()
        decision = decide_schedule(
            one.wish.times, now, one.seen, self._activity(job), waits=one.waits
        )
        if decision.step is ScheduleStep.NOTHING and (
            decision.seen == one.seen and decision.waits == one.waits
        ):
            return
        note = one.note
        if not one.wish.paused:
            note = _noted(decision, now) or note
        # It is kept before anything begins: a console that is killed here makes no run twice.
        services.schedules.keep(one.id, decision.seen, note, waits=decision.waits)
        if decision.step is ScheduleStep.NOTHING:
            if note != one.note:
                self._tell(one, job, note)
            return
        try:
            await self._carry_out(one, job, decision.step)
        except NacreError as error:
            note = ScheduleNote(now, "failed", str(error), decision.missed)
            services.schedules.keep(one.id, decision.seen, note, waits=decision.waits)
        self._tell(one, job, note)

    def _tell(self, one: KeptSchedule, job: FoundJob, note: ScheduleNote) -> None:
        """Tell the webhooks what became of a schedule."""
        missed = f", {note.missed} missed" if note.missed else ""
        said = f"schedule {one.id} ({one.wish.at} {one.wish.zone}): {note.what}{missed}"
        self._services.webhooks.tell("schedule", job.id, said, note.text)

    def _activity(self, job: FoundJob) -> RunActivity:
        """The activity of a job; one that is being started runs."""
        launch = self._services.launcher.facts(job)
        seen = self._services.poller.snapshot(job)
        if not seen.running:
            starts = launch is not None and launch.step != "failed"
            return RunActivity.RUNS if starts else RunActivity.RESTS
        return RunActivity.PAUSED if seen.state == "PAUSED" else RunActivity.RUNS

    async def _carry_out(self, one: KeptSchedule, job: FoundJob, step: ScheduleStep) -> None:
        """Begin a run, or end the paused one first.

        Raises:
            NacreError: The job refuses.
        """
        services, wish = self._services, one.wish
        who = Requester(f"schedule {one.id} of {one.owner}", Role.OPERATOR, "schedule")
        if step is ScheduleStep.END_FIRST:
            await act(services, job, "stop", ActionOptions(), who)
            return
        await services.poller.look(job)
        known = {action.name for action in allowed_now(services, job, "") if action.allowed}
        if "end" in known and wish.overlap is RunOverlap.END:
            await act(services, job, "end", ActionOptions(), who)
        elif "start" in known or "go-on" in known:
            await act(services, job, "start", ActionOptions(), who)
            return
        full = wish.mode == "recrawl-full"
        options = ActionOptions(full=full, budget="" if full else wish.budget, keep=wish.keep)
        await act(services, job, "recrawl", options, who)


def _noted(decision: ScheduleDecision, now: float) -> ScheduleNote | None:
    """The note of a decision; None where nothing was due."""
    if decision.step is ScheduleStep.BEGIN:
        return ScheduleNote(now, "begun", missed=decision.missed)
    if decision.step is ScheduleStep.END_FIRST:
        return ScheduleNote(now, "ended", missed=decision.missed)
    if decision.skipped:
        return ScheduleNote(now, "skipped", missed=decision.missed)
    return ScheduleNote(now, "waits", missed=decision.missed) if decision.waits else None
