"""The action directory: files put into `JOB/action` are imported while the job runs.

The number of imported lines of a file is a row of the store, written in the same commit group as
the results of the lines. So after a crash the import continues with the next line: each line is
imported once. The report is a log of the store, too. Source: Heritrix 3, `ActionDirectory`.

The names of files in the action directory, and what each asks for. Source: Heritrix 3.
"""

import asyncio
import re
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.config.extras import document
from nacre.config.seed_file import UTF_8, WIDE, file_coding
from nacre.core.clock import Clock, digits17
from nacre.core.events import ActionTaken, Events
from nacre.core.states import ExitStatus
from nacre.errors import NacreError
from nacre.job.frontier_edits import PORTION, yield_to_loop
from nacre.job.imports import (
    DamagedFileError,
    ImportMode,
    ImportOptions,
    ImportTally,
    LineFile,
    RejectedLine,
)
from nacre.job.session import Session
from nacre.machine.clock import machine_clock
from nacre.machine.local_files import close_to_others
from nacre.report.escape import flat
from nacre.store.file_table import delete_row
from nacre.store.seam import Disk

WAYS: dict[str, tuple[ImportMode, ...]] = {
    "seeds": (ImportMode.SEEDS,),
    "recover": (ImportMode.FINISHED, ImportMode.PENDING),
    "include": (ImportMode.INCLUDE,),
    "schedule": (ImportMode.SCHEDULE,),
    "force": (ImportMode.FORCE,),
}
"""Ending -> how its lines are read, pass by pass."""

_NAME = re.compile(rf"(?P<scoped>\.s)?\.(?P<kind>{'|'.join(WAYS)})(?:\.gz)?\Z")
_SCRIPTS = frozenset(
    (".groovy", ".bsh", ".js", ".py", ".rb", ".sh", ".pl", ".lua", ".clj", ".scala", ".kts")
)
_SETTLED = 1.0
"""A file is read if it did not change for this many seconds, or since the last scan."""
_FIRST = 10.0
"""Seconds before the first look."""
_TICK = 1.0
"""Between two looks at the clock, seconds: the setting may change, and the crawl may end."""
_NO_SCRIPTS = (
    "scripts are not run: use commands (`nacre set`, `nacre sheet`, `nacre frontier`), the Python "
    "API, or files of lines in this directory"
)


class ActionFile(NamedTuple):
    """A file in the action directory.

    Attributes:
        path: The file.
        size: Its size, bytes.
        changed: When it was changed, nanoseconds since the epoch.
        passes: How its lines are read, pass by pass; none for a script, which is refused.
    """

    path: Path
    size: int
    changed: int
    passes: Sequence[ImportOptions] = ()

    @property
    def is_script(self) -> bool:
        """See `passes`."""
        return not self.passes


def action_of(path: Path) -> ActionFile | None:
    """The action that a file asks for; None for none, or when the file is gone."""
    match = _NAME.search(path.name)
    is_script = path.suffix.lower() in _SCRIPTS
    if path.name.startswith(".") or not (match or is_script) or not path.is_file():
        return None
    try:
        facts = path.stat()
    except OSError:
        return None
    action = ActionFile(path, facts.st_size, facts.st_mtime_ns)
    if match is None:
        return action
    scoped = match["scoped"] is not None
    passes = tuple(ImportOptions(way, scoped=scoped) for way in WAYS[match["kind"]])
    return action._replace(passes=passes)


class ActionScanner:
    """Lists the files of the action directory that are complete."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._seen: dict[str, tuple[int, int]] = {}
        self._odd: set[str] = set()

    def look(self, now: float) -> tuple[list[ActionFile], bool]:
        """The files to be read, in the order of their names; and whether others are being written.

        Raises:
            OSError: The directory cannot be read.
        """
        ready: list[ActionFile] = []
        before, self._seen = self._seen, {}
        actions = list(self._actions())
        for action in actions:
            state = (action.size, action.changed)
            name = action.path.name
            self._seen[name] = state
            if 0 <= action.changed / 1e9 <= now - _SETTLED or before.get(name) == state:
                ready.append(action)
        return ready, len(ready) < len(actions)

    def _actions(self) -> Iterator[ActionFile]:
        names = self._names()
        for name in names:
            action = action_of(self._directory / name)
            if action is not None:
                yield action

    def _names(self) -> list[str]:
        if not self._directory.is_dir():
            return []
        return sorted(path.name for path in self._directory.iterdir())

    def odd(self) -> list[str]:
        """Names that request no action, each reported once."""
        names = {
            name
            for name in self._names()
            if name[0] != "." and action_of(self._directory / name) is None
        }
        new = sorted(names - self._odd)
        self._odd = names
        return new


class ActionProgress(msgspec.Struct):
    """The progress of an action file; a row of the store.

    Attributes:
        size: Its size when it was begun, bytes.
        changed: When it had been changed by then, nanoseconds since the epoch.
        done_as: Its name among those that are done.
        turn: Number of the pass.
        position: Offset of the next line.
        number: Lines before that.
        tally: Counts of the lines.
        over: It is imported, and has only to be moved away.
    """

    size: int
    changed: int
    done_as: str
    turn: int = 0
    position: int = 0
    number: int = 0
    tally: ImportTally = msgspec.field(default_factory=ImportTally)
    over: bool = False

    def is_of(self, action: ActionFile) -> bool:
        """Whether it is about this very file, not another of its name."""
        return (self.size, self.changed) == (action.size, action.changed)

    def reach(self, position: int, number: int) -> None:
        """All lines before a position are taken in."""
        self.position, self.number = position, number

    def next_pass(self) -> None:
        """The lines of this pass are taken in; the next begins with the first line."""
        self.turn += 1
        self.reach(0, 0)

    def finish(self) -> None:
        """All passes are done."""
        self.over = True


class ActionDirectory:
    """A background task that imports the files in `JOB/action`, one after the other.

    Args:
        session: The running session.
        disk: For the durability of names.
        clock: For the time between two looks.
        events: Receives `ActionTaken` for each file.
    """

    name = "actions"

    def __init__(self, session: Session, disk: Disk, clock: Clock, events: Events) -> None:
        self._session, self._layout = session, session.layout
        self._run, self._directory = session.run_row.name, session.layout.action
        self._editor, self._logs, self._engine = session.editor, session.logs, session.engine
        self._store, self._commit = session.storing.store, session.storing.commit
        self._clock = clock
        self._machine = machine_clock(clock)
        self._disk = disk
        self._events = events
        self._scanner = ActionScanner(self._directory)
        self._hurry = False
        self._working = False
        self._stuck: set[tuple[str, int, int]] = set()

    # ---- the background task

    @property
    def busy(self) -> bool:
        """Files are being taken in, or wait for it: the crawl is not over yet."""
        if not self._working and self._interval and self._waiting():
            self._hurry = True
            return True
        return self._working

    async def run(self) -> None:
        """Look the directory through until cancelled."""
        with suppress(OSError):
            self._directory.mkdir(exist_ok=True)
            self.bring_back()
        clock, last_scan, first = self._clock, self._clock.monotonic(), _FIRST
        while True:
            await clock.sleep(_TICK)
            interval = self._interval
            due = last_scan + min(interval, first) <= clock.monotonic()
            if interval and (due or self._hurry):
                self._hurry, first = False, inf
                await self.look()
                last_scan = clock.monotonic()

    async def ending(self, how: ExitStatus) -> None:
        """Do nothing: the files that are left wait for the next start."""

    @property
    def _interval(self) -> float:
        """Seconds between two looks, as set now; 0: the directory is left alone."""
        settings = self._session.settings
        return settings.action.interval

    def _waiting(self) -> bool:
        with suppress(OSError):
            ready, more = self._scanner.look(self._machine.now())
            return more or any(self._identity(action) not in self._stuck for action in ready)
        return False

    def _identity(self, action: ActionFile) -> tuple[str, int, int]:
        return action.path.name, action.size, action.changed

    # ---- the work

    async def look(self) -> None:
        """Take in all files that are there, in the order of their names."""
        logs = self._logs
        try:
            for name in self._scanner.odd():
                logs.job(
                    f"action/{name}: left alone; the endings it may have: {document('running.md')}"
                )
            ready, _ = self._scanner.look(self._machine.now())
        except OSError as error:
            logs.alert(f"the action directory cannot be read: {error}")
            return
        for action in ready:
            if self._identity(action) in self._stuck:
                continue
            self._working = True
            try:
                await self._take_in(action)
            finally:
                self._working = False

    async def _take_in(self, action: ActionFile) -> None:
        progress = self._progress(action)
        trouble = ""
        if not progress.over:
            try:
                trouble = await self._read(action, progress)
            except NacreError:
                raise
            except Exception as error:  # noqa: BLE001 - a bug here is not the end of a crawl
                self._logs.command_error(f"action/{action.path.name}", error)
                trouble = f"an error in the crawler: {type(error).__name__}: {error}"
            await self._finish(action, progress, trouble)
        await self._put_away(action, progress)

    def _progress(self, action: ActionFile) -> ActionProgress:
        """The position of an earlier process, or the beginning of the file."""
        store = self._store
        row = store.get("meta", self._key(action.path.name))
        earlier = _read_row(row) if row is not None else None
        if earlier is not None and earlier.is_of(action):
            return earlier
        stamp = digits17(self._clock.now())
        progress = ActionProgress(action.size, action.changed, f"{stamp}-{action.path.name}")
        self._note(action, progress)
        return progress

    def _note(self, action: ActionFile, progress: ActionProgress) -> None:
        row = msgspec.msgpack.encode(progress)
        self._store.put("meta", self._key(action.path.name), row)

    def _key(self, name: str) -> bytes:
        """Another run takes a file in from its beginning."""
        return f"action:{self._run}:{name}".encode()

    def bring_back(self) -> None:
        """Of what a restored checkpoint has only begun, the file may be among those done."""
        layout, start = self._layout, self._key("")
        for key, row in self._store.scan("meta", start, start[:-1] + b";"):
            progress = _read_row(row)
            name = key.removeprefix(start).decode()
            if progress is None or progress.over:
                continue
            moved_file = layout.root / self._folder / progress.done_as
            if moved_file.exists() and not (self._directory / name).exists():
                shutil.move(moved_file, self._directory / name)
                self._logs.job(f"action/{name}: continues from the checkpoint")

    async def _read(self, action: ActionFile, progress: ActionProgress) -> str:
        """Take the lines in, pass by pass; what kept it from going to the end."""
        if action.is_script:
            return _NO_SCRIPTS
        try:
            while progress.turn < len(action.passes):
                await self._pass(action, progress)
                progress.next_pass()
                self._note(action, progress)
        except OSError as error:
            return f"it cannot be read: {error.strerror or error}"
        except DamagedFileError as error:
            return f"it is damaged after line {progress.number}: {error}"
        return ""

    async def _pass(self, action: ActionFile, progress: ActionProgress) -> None:
        importer = self._editor.importer(action.passes[progress.turn], progress.tally)
        place, number, codec = progress.position, progress.number, UTF_8
        if action.passes[progress.turn].way is ImportMode.SEEDS:
            codec = await asyncio.to_thread(_coding, action.path)
        with LineFile(action.path, place, number, codec) as file:
            await asyncio.to_thread(file.go)
            while lines := file.portion(PORTION):
                # One step without an await: the URIs, the report, and how far it is.
                self._report(progress, importer.take(lines))
                progress.reach(file.position, file.number)
                self._note(action, progress)
                self._engine.wake()
                await yield_to_loop(self._commit, self._clock)

    def _report(self, progress: ActionProgress, rejected: Sequence[RejectedLine]) -> None:
        for number, text, reason in rejected:
            self._say(progress, f"line {number}: {reason}: {flat(text)}")

    def _say(self, progress: ActionProgress, text: str) -> None:
        commit = self._commit
        report = commit.log(f"{self._folder}/{progress.done_as}.report")
        commit.line(report, f"{text}\n".encode("utf-8", "backslashreplace"))

    @property
    def _folder(self) -> str:
        return f"runs/{self._run}/actions-done"

    async def _finish(self, action: ActionFile, progress: ActionProgress, trouble: str) -> None:
        """Report, and let all of it become durable."""
        commit = self._commit
        summary = _summary(progress.tally)
        if trouble:
            summary = f"{trouble}; {summary}" if progress.tally.lines else trouble
        self._say(progress, summary)
        report = commit.log(f"{self._folder}/{progress.done_as}.report")
        commit.close_file(report)
        progress.finish()
        self._note(action, progress)
        message = f"action/{action.path.name}: {summary}; {self._folder}/{progress.done_as}.report"
        if trouble or progress.tally.rejected:
            self._logs.alert(message)
        else:
            self._logs.job(message)
        self._events.emit(ActionTaken(action.path.name, summary))
        await commit.flush()  # the lines, and the end of the report
        await commit.flush()  # that it is closed
        # From now on the report belongs to the operator and can be removed.
        delete_row(self._store, report)

    async def _put_away(self, action: ActionFile, progress: ActionProgress) -> None:
        """Move it to those that are done; where it cannot be moved it is not read again."""
        store, layout = self._store, self._layout
        target = layout.root / self._folder / progress.done_as
        try:
            await asyncio.to_thread(self._move, action.path, target)
        except (OSError, NacreError) as error:
            self._stuck.add(self._identity(action))
            warning = f"{action.path} is taken in, but cannot be moved to {target}: {error}"
            self._logs.alert(warning)
            return
        store.delete("meta", self._key(action.path.name))

    def _move(self, old: Path, new: Path) -> None:
        self._disk.makedirs(str(new.parent))
        with suppress(OSError):  # a line may hold a password; another's file stays as it is
            close_to_others(old)
        shutil.move(old, new)
        self._disk.fsync_dir(str(new.parent))
        self._disk.fsync_dir(str(old.parent))


def _coding(path: Path) -> str:
    """The encoding of a seed list; UTF-8 for what cannot be read line by line otherwise."""
    try:
        encoding = file_coding(path)
    except (EOFError, zlib.error):
        return UTF_8
    return UTF_8 if encoding.startswith(WIDE) else encoding


def _read_row(row: bytes) -> ActionProgress | None:
    """Decode a row; None if another version of Nacre wrote it: its file is then read again."""
    try:
        return msgspec.msgpack.decode(row, type=ActionProgress)
    except msgspec.DecodeError:
        return None


def _summary(tally: ImportTally) -> str:
    """The counts in words, those that are 0 left out."""
    words = (
        (tally.scheduled, "scheduled"),
        (tally.done, "marked as seen, or directives"),
        (tally.known, "known already"),
        (tally.passed, "of no account"),
        (tally.rejected, "rejected"),
    )
    counts = ", ".join(f"{number:,} {kind}" for number, kind in words if number)
    return f"{tally.lines:,} lines" + (f": {counts}" if counts else "")
