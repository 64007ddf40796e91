"""Changes by the operator: made in a running job, or in the files of one that does not run."""

import asyncio
import fcntl
import getpass
import json
import os
import pwd
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from nacre.config.ordinary import open_ordinary
from nacre.errors import ConfigError, JobError
from nacre.job.admission.rulefiles import RuleFiles
from nacre.job.admission.scoping import scope_state
from nacre.job.changes.change import Change, Changer, Said
from nacre.job.changes.live import apply
from nacre.job.changes.rehearsal import rehearse
from nacre.job.configuration.amend import amended
from nacre.job.configuration.configure import load_job
from nacre.job.configuration.preview import Touched, make_sheets, touched
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.job.offline import reading
from nacre.job.runs.notes import keep_notes
from nacre.job.session import Session
from nacre.scope.state import ScopeState
from nacre.store.seam import Disk
from nacre.store.writer import write_whole


class Wish(msgspec.Struct, kw_only=True):
    """What is asked for; all of it together or nothing.

    Attributes:
        assignments: `path=value` texts.
        place: They hold for this URL or SURT prefix only; "" for all.
        remove: Sheet to take away; "" for none.
        associate: An association to add; None for none.
        dissociate: Sheet to take off `surts`, or off all URIs; "" for none.
        surts: See `dissociate`.
        preview: Change nothing; only count what is touched.
    """

    assignments: list[str] = []
    place: str = ""
    remove: str = ""
    associate: dict[str, Any] | None = None
    dissociate: str = ""
    surts: list[str] = []
    preview: bool = False


class Changed(msgspec.Struct):
    """What was changed.

    Attributes:
        said: Path, value before, value after, of each.
        touched: With a preview: what would be touched.
    """

    said: list[tuple[str, object, object]]
    touched: Touched | None = None


def planned(wish: Wish, settings: JobSettings, root: Path, *, running: bool) -> Change:
    """The change that is asked for, checked.

    Raises:
        ConfigError: It cannot be.
    """
    changer = Changer(settings, root, running=running)
    assignments: Sequence[str] = wish.assignments
    if wish.place:
        name = changer.sheet_for(wish.place)
        assignments = [f"sheets.{name}.{text}" for text in assignments]
    if wish.dissociate:
        changer.dissociate(wish.dissociate, wish.surts)
    if wish.remove:
        changer.remove_sheet(wish.remove)
    changer.assign(assignments)
    if wish.associate is not None:
        changer.associate(wish.associate)
    change = changer.done()
    rehearse(change.settings, change.sheets, root)
    return change


async def change_running(session: Session, wish: Wish, disk: Disk, who: str) -> Changed:
    """Change a running job: its parts at once, its file, its log.

    Raises:
        ConfigError: It cannot be.
        JobError: The file cannot be changed.
    """
    parts, layout = session.parts, session.layout
    change = planned(wish, parts.settings, layout.root, running=True)
    result = _told(change)
    if wish.preview:
        then = make_sheets(change.settings, change.sheets, parts.scope_state)
        for counted in touched(parts.store, parts.sheets, then):
            result.touched = counted
            await asyncio.sleep(0)
        return result
    _write(layout, change, disk)
    apply(session, change)
    for said in change.said:
        parts.logs.job(note(said, who))
    return result


@contextmanager
def alone(layout: Layout) -> Iterator[None]:
    """Only one command at a time changes a job; others wait, and then see what it wrote.

    The lock ends with the process; where the file system knows none, there is none.
    """
    folder = os.open(layout.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def change_stopped(layout: Layout, wish: Wish, disk: Disk, who: str) -> Changed:
    """Change the file of a job that does not run; its next start logs it.

    Raises:
        ConfigError: It cannot be.
        JobError: The directory is no job, or the file cannot be changed.
    """
    settings = load_job(layout).settings
    change = planned(wish, settings, layout.root, running=False)
    result = _told(change)
    if wish.preview:
        result.touched = _preview(layout, settings, change)
        return result
    _write(layout, change, disk)
    keep_notes(layout, [note(said, who) for said in change.said])
    return result


def _preview(layout: Layout, settings: JobSettings, change: Change) -> Touched:
    if not layout.has_store:
        return Touched()
    before = Changer(settings, layout.root, running=False).done()
    with reading(layout, settings) as view:
        now = make_sheets(settings, before.sheets, _offline(layout))
        then = make_sheets(change.settings, change.sheets, _offline(layout))
        return list(touched(view.store, now, then))[-1]


def _offline(layout: Layout) -> ScopeState:
    return scope_state(layout.root, RuleFiles(layout.root))


def _write(layout: Layout, change: Change, disk: Disk) -> None:
    path = layout.config.resolve()
    try:
        with open_ordinary(path) as file:
            text = file.read().decode()
        changed = amended(text, change.edits, layout.config.name)
        mode = path.stat().st_mode
        write_whole(disk, str(path), changed.encode())
        path.chmod(mode & 0o7777)
    except (OSError, UnicodeDecodeError) as error:
        raise JobError(f"{path} cannot be changed: {error}") from error


def _told(change: Change) -> Changed:
    return Changed([(said.path, said.before, said.after) for said in change.said])


def note(said: Said, who: str) -> str:
    """The line of job.log: before, after, who."""
    return f"set {said.path}: {_json(said.before)} -> {_json(said.after)}, by {who}"


def _json(value: object) -> str:
    return "nothing" if value is None else json.dumps(value, default=str)


def user(uid: int | None = None) -> str:
    """Name and number of a user; None for the own one."""
    number = os.getuid() if uid is None else uid
    try:
        name = pwd.getpwuid(number).pw_name
    except KeyError:
        name = getpass.getuser() if uid is None else "?"
    return f"{name} (uid {number})"


def wish_of(request: Mapping[str, Any]) -> Wish:
    """The wish in a request over the socket.

    Raises:
        ConfigError: It is none.
    """
    try:
        return msgspec.convert(request.get("wish"), Wish)
    except msgspec.ValidationError as error:
        raise ConfigError(f"not a change: {error}") from None
