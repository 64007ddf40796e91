"""Opens files that an operator names: only ordinary files, of a limited size.

A device never ends, a pipe waits for a writer: neither may hold a command up.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_KINDS = (
    (stat.S_ISDIR, ", but a directory"),
    (stat.S_ISCHR, ", but a device"),
    (stat.S_ISBLK, ", but a device"),
    (stat.S_ISFIFO, ", but a pipe, which can be read only once"),
    (stat.S_ISSOCK, ", but a socket"),
)


def home_path(name: str) -> Path:
    """Return the path of a name: `~` at its beginning is a home; unknown users stay a name."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 - Path.expanduser fails for `~nobody`


def open_ordinary(path: Path) -> BufferedReader:
    """Open an ordinary file for reading.

    Raises:
        OSError: It is none, or cannot be opened; `strerror` has the reason.
    """
    _require(path.stat().st_mode, path)  # before the open, which is an event for some devices
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _require(os.fstat(handle).st_mode, path)
        return os.fdopen(handle, "rb")
    except OSError:
        os.close(handle)
        raise


def read_ordinary(path: Path, most: int) -> bytes:
    """Return the bytes of an ordinary file.

    Args:
        path: The file.
        most: Bytes that it may have.

    Raises:
        OSError: It is not an ordinary file, cannot be read, or has more.
    """
    with open_ordinary(path) as file:
        data = file.read(most + 1) if os.fstat(file.fileno()).st_size <= most else b""
        if len(data) > most or os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data


def why_not_ordinary(path: Path) -> str:
    """The kind of a file that is not an ordinary one; "" for an ordinary one, and for none."""
    try:
        return _other_kind(path.stat().st_mode)
    except (OSError, ValueError):
        return ""


def _require(mode: int, path: Path) -> None:
    if kind := _other_kind(mode):
        raise OSError(errno.EINVAL, kind, str(path))


def _other_kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return ""
    return "it is not a regular file" + next((text for is_it, text in _KINDS if is_it(mode)), "")
