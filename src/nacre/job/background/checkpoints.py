"""Checkpoints of a running job: made by command, on a timer, and when it stops."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.core.clock import Clock, digits14
from nacre.core.states import ExitStatus
from nacre.errors import JobError, NacreError
from nacre.inspect.reports.run_reports import write_checkpoint_reports
from nacre.job.session import Session
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.settings.settings import CheckpointSettings
from nacre.store.checkpoint import UNFINISHED, checkpoints, forget_checkpoint, make_checkpoint
from nacre.store.schema import SCHEMA
from nacre.store.seam import Disk
from nacre.store.writer import write_whole

_OWN_NAME = re.compile(r"cp[0-9]{5,}-[0-9]{14}\Z")
_PATIENCE = 30.0
"""Seconds that fetches in process are waited for before logs are rotated."""
_MOMENT = 0.05
_LOOK = 5.0
"""Seconds between two looks at the timer: its setting may change."""


class CheckpointNote(msgspec.Struct, frozen=True):
    """The contents of a checkpoint, according to its file of notes.

    Attributes:
        run: Name of the run.
        finished: URIs done.
        queued: URIs that wait.
        discovered: URIs ever found.
        ordinal: Grows with each URI that is queued.
        schema: Version of the layout of the store.
    """

    run: str
    finished: int = 0
    queued: int = 0
    discovered: int = 0
    ordinal: int = 0
    schema: int = SCHEMA


class ListedCheckpoint(NamedTuple):
    """A checkpoint.

    Attributes:
        name: Its name.
        time: When, seconds since the epoch.
        moment: What it is of; None when that was not noted.
    """

    name: str
    time: float
    moment: CheckpointNote | None


def list_checkpoints(layout: Layout) -> Iterator[ListedCheckpoint]:
    """All checkpoints of a job, the oldest first."""
    for name in checkpoints(str(layout.checkpoints)):
        time = (layout.checkpoints / name / "CURRENT").stat().st_mtime
        yield ListedCheckpoint(name, time, _moment(layout, name))


def _is_made(path: Path) -> bool:
    """Whether there is a checkpoint at a path."""
    return path.exists()


def _notes(layout: Layout, name: str) -> Path:
    return layout.checkpoints / f"{name}.json"


def _moment(layout: Layout, name: str) -> CheckpointNote | None:
    try:
        return msgspec.json.decode(_notes(layout, name).read_bytes(), type=CheckpointNote)
    except (OSError, msgspec.DecodeError):
        return None


class CheckpointService:
    """A background task that makes checkpoints of a session, and removes old ones.

    Args:
        session: The session whose store is copied.
        disk: The disk for the notes of a checkpoint.
        clock: For names and the timer.
    """

    name = "checkpoints"
    busy = False

    def __init__(self, session: Session, disk: Disk, clock: Clock) -> None:
        storing = session.storing
        self._session, self._layout = session, session.layout
        self._logs, self._lines = session.logs, session.reporting.lines
        self._store, self._commit = storing.store, storing.commit
        self._writers = storing.writers
        self._engine, self._frontier = session.engine, session.frontier
        self._disk = disk
        self._clock = clock
        self._last = clock.monotonic()
        self._making = asyncio.Lock()

    @property
    def _settings(self) -> CheckpointSettings:
        """The settings of now; they can change while the job runs."""
        settings = self._session.settings
        return settings.checkpoint

    async def run(self) -> None:
        """Make a checkpoint at each interval, until cancelled."""
        while True:
            await self._clock.sleep(_LOOK)
            interval = self._settings.interval
            if interval and self._clock.monotonic() - self._last >= interval:
                await self._by_itself()

    async def ending(self, how: ExitStatus) -> None:
        """Make a last checkpoint if the run can be resumed, where `checkpoint.on_stop` is set."""
        if self._settings.on_stop and how is not ExitStatus.FINISHED:
            await self._by_itself()

    async def _by_itself(self) -> None:
        try:
            await self.make()
        except (NacreError, OSError) as error:
            self._logs.alert(f"no checkpoint was made: {error}")

    async def make(self, name: str = "") -> str:
        """Make a checkpoint while the crawl continues.

        Args:
            name: Its name; "" for one of the form `cp00001-20261120151100`. Without a name none is
                made when nothing changed since the last.

        Returns:
            Its name; "" when nothing changed.

        Raises:
            JobError: There is one of that name, or it is not a name.
            StorageError: It could not be made.
        """
        if "/" in name or name.startswith(".") or name.endswith(UNFINISHED):
            raise JobError(
                message(
                    "job.is-not-name-for-checkpoint",
                    "{name!r} is not a name for a checkpoint: no slash, no dot at the start, "
                    "and no "
                    "{unfinished} at the end",
                    name=name,
                    unfinished=UNFINISHED,
                )
            )
        async with self._making:
            self._last = self._clock.monotonic()
            layout = self._layout
            moment = self._now()
            if not name and self._is_known(moment):
                return ""
            name = name or self._own_name()
            await self._make(name, layout.checkpoints / name)
            write_whole(self._disk, str(_notes(layout, name)), msgspec.json.encode(moment))
            await self._forget()
            return name

    async def _make(self, name: str, path: Path) -> None:
        session = self._session
        for writer in self._writers:
            writer.rotate()
        rotates = self._settings.rotate_logs and not _is_made(path)
        async with self._rotation(name) if rotates else nullcontext():
            await make_checkpoint(self._commit, self._store, str(path))
        self._logs.job(f"checkpoint {name}")
        problem = await asyncio.to_thread(
            write_checkpoint_reports,
            self._disk,
            self._layout,
            session.settings,
            path,
            session.live.figures(),
        )
        if problem:
            self._logs.alert(problem)

    @asynccontextmanager
    async def _rotation(self, name: str) -> AsyncIterator[None]:
        """Rotate the logs: the old files end at the checkpoint, and the new files begin there.

        Where fetches take too long to wait for, the logs stay as they are.
        """
        session = self._session
        engine = self._engine
        engine.pause()
        try:
            if await self._stands_still():
                await self._rotate(f".{name}")
            else:
                self._logs.alert(
                    f"checkpoint {name}: logs were not rotated, because fetches went on for "
                    f"{_PATIENCE:.0f} s"
                )
            yield
        finally:
            if not session.holds:
                engine.resume()

    async def _rotate(self, suffix: str) -> None:
        await self._commit.flush()  # which logs have lines
        self._lines.end_all(suffix)
        await self._commit.flush()  # the files that end
        await self._commit.flush()  # what their end left: their names
        self._lines.go_on()
        progress = self._session.progress
        progress.head()

    async def _stands_still(self) -> bool:
        """Wait until no fetch is in process; return False if that takes too long."""
        began = self._clock.monotonic()
        while self._engine.busy:
            if self._clock.monotonic() - began >= _PATIENCE:
                return False
            await self._clock.sleep(_MOMENT)
        return True

    def _now(self) -> CheckpointNote:
        run, totals = self._session.run_row, self._frontier.totals
        return CheckpointNote(
            run=run.name,
            finished=totals.finished,
            queued=totals.queued,
            discovered=totals.discovered,
            ordinal=totals.ordinal,
        )

    def _is_known(self, moment: CheckpointNote) -> bool:
        """The last checkpoint is of this very moment: nothing happened since."""
        names = checkpoints(str(self._layout.checkpoints))
        return bool(names) and _moment(self._layout, names[-1]) == moment

    def _own_name(self) -> str:
        """As Heritrix names them: `cp00001-20261120151100`."""
        names = checkpoints(str(self._layout.checkpoints))
        numbers = [
            int(checkpoint[2:].partition("-")[0])
            for checkpoint in names
            if _OWN_NAME.match(checkpoint)
        ]
        return f"cp{max(numbers, default=0) + 1:05}-{digits14(self._clock.now())}"

    async def _forget(self) -> None:
        """Keep only the latest of those that were made without a name."""
        keep = self._settings.keep
        directory = self._layout.checkpoints
        own = [
            checkpoint for checkpoint in checkpoints(str(directory)) if _OWN_NAME.match(checkpoint)
        ]
        for name in own[: len(own) - keep] if keep else ():
            try:
                await asyncio.to_thread(forget_checkpoint, str(directory), name)
                _notes(self._layout, name).unlink(missing_ok=True)
            except OSError as error:
                self._logs.alert(f"checkpoint {name} cannot be removed: {error}")
            else:
                self._logs.job(f"checkpoint {name} is no longer kept")
