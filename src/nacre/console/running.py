"""The console that runs with a folder of its own files, as commands find it."""

import os
from pathlib import Path
from typing import Final

import msgspec

from nacre.store.local_files import replace_file

_RUNNING: Final = "running.json"


class RunningConsole(msgspec.Struct, frozen=True):
    """The console that runs with a folder.

    Attributes:
        url: Its URL.
        pid: Its process.
        local_link: Links open it although it has users.
    """

    url: str
    pid: int
    local_link: bool = False


def publish(folder: Path, url: str, *, local_link: bool) -> None:
    """Say that this process serves a folder of a console's own files.

    Args:
        folder: It.
        url: URL of the console.
        local_link: Links open it although it has users.
    """
    found = msgspec.json.encode(RunningConsole(url, os.getpid(), local_link))
    replace_file(folder / _RUNNING, found, 0o600)


def withdraw(folder: Path) -> None:
    """Say that this process serves a folder no more; another one that says it does stays."""
    known = running_console(folder)
    if known is not None and known.pid == os.getpid():
        (folder / _RUNNING).unlink(missing_ok=True)


def running_console(folder: Path) -> RunningConsole | None:
    """The console that runs with a folder of its own files; None for none."""
    try:
        found = msgspec.json.decode((folder / _RUNNING).read_bytes(), type=RunningConsole)
        os.kill(found.pid, 0)
    except (OSError, msgspec.MsgspecError):
        return None
    return found


def running_url(folder: Path) -> str | None:
    """The URL of the console that runs with a folder of its own files; None for none."""
    found = running_console(folder)
    return found.url if found is not None else None
