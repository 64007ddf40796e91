"""Folders in the system's temporary one, which a process that is killed leaves behind.

Each holds a file that its process has locked. The kernel ends the lock with the process, so that
the next start of a job of this user knows what nobody holds any more, and removes it.
"""

import fcntl
import os
import shutil
import socket
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = "nacre-"
_MAKING: Final = ".nacre-new-"
_LOCK: Final = "held"
_SOCKET: Final = "control"
_OLD: Final = 86_400.0
"""Seconds after which what no file can tell of is taken as left behind."""


class HeldFolder:
    """A folder for this user only; it ends with `close`, or with the next start after a kill.

    Args:
        kind: What it is for, in its name; "" for none.

    Attributes:
        path: The folder.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, kind: str = "") -> None:
        made = Path(tempfile.mkdtemp(prefix=_MAKING))
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._lock = os.open(made / _LOCK, flags, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            # Its name says that it is held only once it is.
            name = made.name.removeprefix(_MAKING)
            self.path = made.rename(made.with_name(f"{_PREFIX}{kind}{name}"))
        except OSError:
            shutil.rmtree(made, ignore_errors=True)
            raise

    def close(self) -> None:
        """Remove it and what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_left_behind(now: float) -> None:
    """Remove the folders of this user that no process holds; `now` is seconds since the epoch."""
    place = Path(tempfile.gettempdir())
    with suppress(OSError):
        for folder in [*place.glob(f"{_PREFIX}*"), *place.glob(f"{_MAKING}*")]:
            with suppress(OSError):
                _look_at(folder, now)


def _look_at(folder: Path, now: float) -> None:
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        return
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        if _is_abandoned(folder, facts, now):
            shutil.rmtree(folder)
        return
    try:
        if not folder.name.startswith(_MAKING) or _is_old(facts, now):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
    finally:
        os.close(lock)


def _is_abandoned(folder: Path, facts: os.stat_result, now: float) -> bool:
    """What earlier versions made: nobody answers at its socket; of links, only their age tells."""
    entries = {entry.name: entry.lstat().st_mode for entry in folder.iterdir()}
    if entries.keys() == {_SOCKET} and stat.S_ISSOCK(entries[_SOCKET]):
        with socket.socket(socket.AF_UNIX) as caller:
            return caller.connect_ex(str(folder / _SOCKET)) != 0
    ours = all(stat.S_ISLNK(mode) for mode in entries.values())
    return ours and _is_old(facts, now)


def _is_old(facts: os.stat_result, now: float) -> bool:
    return facts.st_mtime < now - _OLD
