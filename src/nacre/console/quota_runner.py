"""Quotas of disk space that are kept: use is measured, and jobs are held and released."""

import asyncio
from typing import Final

import msgspec

from nacre.console.parts import RunnerParts
from nacre.errors import ConfigError, NacreError
from nacre.fleet.job_books import ALL_JOBS, KeptQuota
from nacre.fleet.places import FoundJob
from nacre.job.control import ask_command, is_running
from nacre.job.holds import LARGEST, NAME, change_hold, holds_in
from nacre.job.quotas import QuotaDecision, decide_quota, disk_usage
from nacre.machine.local_files import read_ordinary
from nacre.messages import message

EVERY: Final = 300.0
"""Seconds between two measurements."""
LOOK: Final = 5.0
"""Seconds between two checks for changed limits, after which jobs are measured at once."""
REASON: Final = "quota"
"""The reason of the holds."""
_PATIENCE: Final = 60.0
_BY: Final = "quota via console"


class QuotaRunner:
    """Measures the disk usage of jobs, and holds jobs whose quota or the total quota is used up.

    It holds only running jobs and releases only its own holds. Between two measurements, it adds
    the bytes of WARC that jobs report as written to the last measurement. If the sum reaches
    another level, it measures again at once.

    Args:
        parts: The parts that runners need.
    """

    def __init__(self, parts: RunnerParts) -> None:
        self._clock = parts.common.clock
        self._fleet = parts.common.fleet
        self._poller = parts.common.poller
        self._book = parts.books.quotas
        self._webhooks = parts.webhooks
        self._written: dict[str, int] = {}
        """Bytes of WARC that each job had written at the last measurement."""

    async def run(self) -> None:
        """Keep the quotas until cancelled."""
        clock, book = self._clock, self._book
        last: float | None = None
        measured: dict[str, int] = {}
        while True:
            is_old, limits = last is None or clock.monotonic() - last >= EVERY, book.limits()
            if is_old or limits != measured or self.is_at_another_level():
                last, measured = clock.monotonic(), limits
                await self.turn()
            await clock.sleep(LOOK)

    async def turn(self) -> None:
        """Measure once, and hold and release."""
        quotas = self._book.all()
        jobs = {str(job.layout.root): job for job in self._fleet.jobs}
        paths = list(jobs) if ALL_JOBS in quotas else [path for path in jobs if path in quotas]
        written = self._written_now()
        self._written = {path: written[path] for path in paths if path in written}
        used = {path: await asyncio.to_thread(disk_usage, path) for path in paths}
        total = None
        if ALL_JOBS in quotas:
            total = self._decide(ALL_JOBS, sum(used.values()))
        for path, size in used.items():
            own = self._decide(path, size)
            if total is not None and not own.hold:
                own = total if total.hold else own
            await self._apply(jobs[path], own)

    def is_at_another_level(self) -> bool:
        """Whether a quota is at another level, by what its jobs have written since."""
        written = self._written_now()
        grown = {
            path: max(now - self._written[path], 0)
            for path, now in written.items()
            if path in self._written
        }
        if not grown:
            return False
        quotas = self._book.all()
        return any(
            decide_quota(
                quota.used + (sum(grown.values()) if path == ALL_JOBS else grown.get(path, 0)),
                quota.limit,
                quota.level,
            ).tells
            for path, quota in quotas.items()
            if quota.measured
        )

    def _written_now(self) -> dict[str, int]:
        """The bytes of WARC of each job, as it was seen last; without those that are not known."""
        return {
            str(job.layout.root): snapshot.overview.warc_bytes
            for job, snapshot in self._poller.snapshots()
            if snapshot.overview is not None
        }

    def _decide(self, path: str, used: int) -> QuotaDecision:
        """Decide about a quota by its present limit, and store the measurement."""
        # The limit may have changed during the measurement.
        quota = self._book.find(path)
        decision = decide_quota(used, quota.limit, quota.level)
        now = self._clock.now()
        self._book.keep(
            msgspec.structs.replace(quota, used=used, measured=now, level=decision.level)
        )
        if decision.tells:
            text = message(
                "console.quota-level",
                "{level}: {numbers}",
                level=decision.level.value,
                numbers=decision.text,
            )
            self._webhooks.tell("quota", self._id(path), text, quota.level.value)
        return decision

    def _id(self, path: str) -> str:
        """The id of a job by its directory; "" for all jobs."""
        ids = (job.id for job in self._fleet.jobs if str(job.layout.root) == path)
        return next(ids, "")

    async def _apply(self, job: FoundJob, decision: QuotaDecision) -> None:
        """Hold a job or release it, and store the result."""
        book = self._book
        quota = book.find(str(job.layout.root))
        if not (decision.hold or quota.held or quota.trouble):
            return
        try:
            is_held, trouble = await self._changed(job, quota, decision), ""
        except NacreError as error:
            is_held, trouble = quota.held, error.message
        # Read the quota again, to keep a limit that was set in the meantime.
        quota = book.find(str(job.layout.root))
        book.keep(msgspec.structs.replace(quota, held=is_held, trouble=trouble))

    async def _changed(self, job: FoundJob, quota: KeptQuota, decision: QuotaDecision) -> bool:
        """Hold or release a job; return whether the console holds it afterwards.

        Raises:
            JobError: The job refuses, or does not answer.
            ConfigError: Its file of holds cannot be used.
        """
        runs = is_running(job.layout.socket)
        is_held = await asyncio.to_thread(_is_held, job)
        if is_held == decision.hold or (decision.hold and not runs):
            return is_held and quota.held
        if runs:
            command = "hold" if decision.hold else "release"
            await ask_command(
                job.layout.socket, command, _PATIENCE, by=_BY, reason=REASON, note=decision.text
            )
        else:
            change_hold(job.layout.control, REASON, None)
        return decision.hold


def _is_held(job: FoundJob) -> bool:
    """Whether a job has a hold of this reason.

    Raises:
        ConfigError: Its file of holds cannot be read.
    """
    path = job.layout.control / NAME
    try:
        return path.exists() and REASON in holds_in(read_ordinary(path, LARGEST).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            message(
                "console.quota-unreadable", "{path} cannot be read: {error}", path=path, error=error
            )
        ) from None
