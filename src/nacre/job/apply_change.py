"""Applies a change of settings: to a running job and its file, or to the file of a stopped one."""

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
from msgspec import structs

from nacre.engine.candidates.scope_state import RuleFiles, scope_state
from nacre.errors import ConfigError, JobError
from nacre.inspect.view import reading
from nacre.job.edits import TextBefore, note_edit
from nacre.job.session import Session
from nacre.job.settings_change import (
    AffectedUrls,
    SettingsChange,
    SettingsEditor,
    ValueChange,
    count_affected,
    require_buildable,
)
from nacre.machine.layout import Layout
from nacre.machine.local_files import open_ordinary
from nacre.messages import message
from nacre.runs.runs import keep_notes
from nacre.scope.state import ScopeState
from nacre.settings.amend import amended
from nacre.settings.load import load_job
from nacre.settings.secret_places import resent_secrets
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import make_sheets
from nacre.store.seam import Disk
from nacre.store.writer import write_whole


class ChangeRequest(msgspec.Struct, kw_only=True):
    """A request to change settings, sheets or associations; applied as a whole or not at all.

    Attributes:
        assignments: `path=value` texts.
        place: They hold for this URL or SURT prefix only; "" for all.
        remove: Sheet to take away; "" for none.
        associate: An association to add; None for none.
        dissociate: Sheet to take off `surts`, or off all URIs; "" for none.
        surts: See `dissociate`.
        preview: Change nothing; only count the URIs that the change affects.
        live_only: Change the running job, and leave its file as it is: the next start has the
            values of the file again.
        moves_secrets: The caller may read the secrets of the job, and so have them sent to other
            servers without entering them again: the owner at a terminal.
    """

    assignments: list[str] = []
    place: str = ""
    remove: str = ""
    associate: dict[str, Any] | None = None
    dissociate: str = ""
    surts: list[str] = []
    preview: bool = False
    live_only: bool = False
    moves_secrets: bool = False


class Changed(msgspec.Struct):
    """The result of a change.

    Attributes:
        said: Path, value before, value after, of each.
        touched: With a preview: the URIs it would affect.
    """

    said: list[tuple[str, object, object]]
    touched: AffectedUrls | None = None


def plan_change(
    request: ChangeRequest, settings: JobSettings, root: Path, *, running: bool
) -> SettingsChange:
    """Check a request, and make the change of it.

    Raises:
        ConfigError: It cannot be.
    """
    changer = SettingsEditor(settings, root, running=running)
    assignments: Sequence[str] = request.assignments
    if request.place:
        name = changer.sheet_for(request.place)
        assignments = [f"sheets.{name}.{text}" for text in assignments]
    if request.dissociate:
        changer.dissociate(request.dissociate, request.surts)
    if request.remove:
        changer.remove_sheet(request.remove)
    changer.assign(assignments)
    if request.associate is not None:
        changer.associate(request.associate)
    change = changer.finish()
    if not request.moves_secrets and (moved := resent_secrets(settings, change.settings)):
        raise ConfigError(moved)
    require_buildable(change.settings, change.sheets, root)
    return change


async def change_running(
    session: Session, request: ChangeRequest, disk: Disk, author: str
) -> Changed:
    """Change a running job: its parts at once, its file unless `live_only`, its log.

    Raises:
        ConfigError: It cannot be.
        JobError: The file cannot be changed.
    """
    rules, layout, logs = session.rules, session.layout, session.logs
    change = plan_change(request, rules.settings, layout.root, running=True)
    result = _result(change)
    if request.preview:
        then = make_sheets(change.settings, change.sheets, rules.scope_state)
        for touched in count_affected(session.storing.store, rules.sheets, then):
            result = structs.replace(result, touched=touched)
            await asyncio.sleep(0)
        return result
    if not request.live_only:
        _write(layout, change, disk, author, "live")
    session.apply(change)
    until = ", until the job ends" if request.live_only else ""
    for value_change in change.values:
        logs.job(note(value_change, author) + until)
    return result


@contextmanager
def alone(layout: Layout) -> Iterator[None]:
    """Lock the job's file: one command at a time changes it; others wait and see the result.

    The lock ends with the process; where the file system knows none, there is none.
    """
    folder = os.open(layout.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def change_stopped(layout: Layout, request: ChangeRequest, disk: Disk, author: str) -> Changed:
    """Change the file of a job that does not run; its next start logs it.

    Raises:
        ConfigError: It cannot be.
        JobError: The directory is not a job, or the file cannot be changed.
    """
    settings = load_job(layout).settings
    change = plan_change(request, settings, layout.root, running=False)
    result = _result(change)
    if request.preview:
        return structs.replace(result, touched=_preview(layout, settings, change))
    _write(layout, change, disk, author, "set")
    keep_notes(layout, [note(value_change, author) for value_change in change.values])
    return result


def _preview(layout: Layout, settings: JobSettings, change: SettingsChange) -> AffectedUrls:
    if not layout.has_store:
        return AffectedUrls()
    before = SettingsEditor(settings, layout.root, running=False).finish()
    with reading(layout, settings) as view:
        now = make_sheets(settings, before.sheets, _offline(layout))
        then = make_sheets(change.settings, change.sheets, _offline(layout))
        return list(count_affected(view.store, now, then))[-1]


def _offline(layout: Layout) -> ScopeState:
    return scope_state(layout.root, RuleFiles(layout.root))


def _write(layout: Layout, change: SettingsChange, disk: Disk, author: str, source: str) -> None:
    path = layout.config.resolve()
    try:
        with open_ordinary(path) as file:
            before = file.read()
        changed = amended(before.decode(), change.edits, layout.config.name)
        facts = path.stat()
        write_whole(disk, str(path), changed.encode())
        path.chmod(facts.st_mode & 0o7777)
        note_edit(
            layout,
            TextBefore(before, facts.st_mtime),
            author,
            ", ".join(value_change.path for value_change in change.values),
            source,
        )
    except (OSError, UnicodeDecodeError) as error:
        raise JobError(
            message(
                "job.cannot-be-changed", "{path} cannot be changed: {error}", path=path, error=error
            )
        ) from error


def _result(change: SettingsChange) -> Changed:
    return Changed(
        [
            (value_change.path, value_change.before, value_change.after)
            for value_change in change.values
        ]
    )


def note(value_change: ValueChange, author: str) -> str:
    """Return the line of job.log: the setting, its values before and after, and the author."""
    before, after = _json(value_change.before), _json(value_change.after)
    return f"set {value_change.path}: {before} -> {after}, by {author}"


def _json(value: object) -> str:
    return "nothing" if value is None else json.dumps(value, default=str)


def user_name(uid: int | None = None) -> str:
    """Name and number of a user; None for the own one."""
    number = os.getuid() if uid is None else uid
    try:
        name = pwd.getpwuid(number).pw_name
    except KeyError:
        name = getpass.getuser() if uid is None else "?"
    return f"{name} (uid {number})"


def change_request(request: Mapping[str, Any]) -> ChangeRequest:
    """Read the change in a request over the socket.

    Raises:
        ConfigError: It is not one.
    """
    try:
        return msgspec.convert(request.get("change"), ChangeRequest)
    except msgspec.ValidationError as error:
        raise ConfigError(message("job.not-change", "not a change: {error}", error=error)) from None
