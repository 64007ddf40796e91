"""Directories that only their owner may enter, and whose files only their owner may read.

The mode of a directory protects all that is below it. Its files are closed, too, because they may
be copied elsewhere. RocksDB knows no modes: it makes files that all may read, less the umask, which
belongs to the whole process. So the directory gets a default access list, where the file system has
them; a new file takes its mode from there. Source: acl(5).
"""

import os
import stat
import struct
from contextlib import suppress
from pathlib import Path

_DIRECTORY = 0o700
_FILE = 0o600
_OTHERS = 0o077
_ACL = "system.posix_acl_default"
_ENTRY = struct.Struct("<HHI")
_NOBODY = 0xFFFFFFFF
_LIST = struct.pack("<I", 2) + b"".join(
    _ENTRY.pack(tag, rights, _NOBODY) for tag, rights in ((0x01, 7), (0x04, 0), (0x20, 0))
)
"""Owner: all; group and others: nothing."""


def make_private(directory: Path) -> None:
    """Make a directory for its owner only, and close it where it is there already.

    Raises:
        OSError: It cannot be made, or is not ours.
    """
    directory.mkdir(_DIRECTORY, parents=True, exist_ok=True)
    close_to_others(directory, _DIRECTORY)
    with suppress(OSError):
        os.setxattr(directory, _ACL, _LIST)


def close_to_others(path: Path, mode: int = _FILE) -> None:
    """Take the rights of group and others away.

    Raises:
        OSError: It is not ours.
    """
    if stat.S_IMODE(path.stat().st_mode) & _OTHERS:
        path.chmod(mode)


def close_below(directory: Path) -> None:
    """Close all that lies below a directory, as earlier versions of Nacre left it open.

    What belongs to others, and links, stay as they are.
    """
    for folder, folders, files in os.walk(directory):
        for name in folders:
            _close(Path(folder, name))
        for name in files:
            _close(Path(folder, name))


def _close(path: Path) -> None:
    with suppress(OSError):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            make_private(path)
        elif not stat.S_ISLNK(mode) and mode & _OTHERS:
            path.chmod(_FILE)
