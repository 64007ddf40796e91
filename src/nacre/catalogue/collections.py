"""Collections: named sets of jobs and files, with a title and Dublin Core fields.

Each is a small JSON file, `NAME.json`, in `$NACRE_COLLECTIONS`, else in `nacre/collections` of
`$XDG_DATA_HOME`. A file is replaced as a whole, under a lock that all commands take.
"""

import fcntl
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from nacre.errors import JobError
from nacre.machine.local_files import home_path, make_private, read_ordinary, replace_file
from nacre.messages import message
from nacre.store.disk import failure

ENVIRONMENT: Final = "NACRE_COLLECTIONS"
DUBLIN_CORE: Final = (
    "title", "creator", "subject", "description", "publisher", "contributor", "date", "type",
    "format", "identifier", "source", "language", "relation", "coverage", "rights",
)  # fmt: skip
"""The fifteen elements. Source: ISO 15836-1."""

RESERVED: Final = "list"
"""The command that lists all collections is typed in place of a name."""

_SUFFIX: Final = ".json"
_NAME: Final = re.compile(r"[^\W_][\w.-]{0,59}")
_LONGEST_NAME: Final = 200
_LONGEST_FILE: Final = 16 << 20


class Collection(msgspec.Struct, frozen=True):
    """A named set of jobs and files.

    Attributes:
        name: Its name.
        members: Absolute paths of its jobs and files, in order.
        fields: Its Dublin Core fields by name.
    """

    name: str
    members: tuple[str, ...] = ()
    fields: dict[str, str] = {}

    @property
    def title(self) -> str:
        """Its title; its name without one."""
        return self.fields.get("title") or self.name


def is_name(text: str) -> bool:
    """Whether a text can be the name of a collection."""
    normal = unicodedata.normalize("NFC", text)
    return (
        bool(_NAME.fullmatch(normal))
        and normal != RESERVED
        and len(normal.encode()) <= _LONGEST_NAME
    )


def check_name(name: str) -> str:
    """Return the name of a collection in its normal form (NFC).

    Raises:
        JobError: It is none.
    """
    if not is_name(name):
        raise JobError(
            message(
                "collections.name", "{name} is no name of a collection: use up to 60 letters and "
                "digits of any script, and - . _ within it, but not `list`", name=repr(name),
            )
        )  # fmt: skip
    return unicodedata.normalize("NFC", name)


class CollectionFolder:
    """The collections of a user.

    Args:
        folder: Their folder; None for the usual one.

    Attributes:
        path: Their folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = folder or _usual_folder()

    def read(self, name: str) -> Collection | None:
        """Return a collection; None if there is none of this name.

        Raises:
            JobError: Its file is damaged.
            StorageError: Its file cannot be read.
        """
        path = self._path(name)
        try:
            data = read_ordinary(path, _LONGEST_FILE)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failure("read", str(path), error) from error
        try:
            return msgspec.json.decode(data, type=Collection)
        except ValueError as error:
            raise JobError(
                message(
                    "collections.damaged", "{path} is no collection ({reason}): repair it, or "
                    "remove it and make the collection again", path=path, reason=error,
                )
            ) from None  # fmt: skip

    def names(self) -> list[str]:
        """Return the names of all collections, sorted."""
        try:
            names = [path.name for path in self.path.iterdir() if path.name.endswith(_SUFFIX)]
        except OSError:
            return []
        return sorted(name.removesuffix(_SUFFIX) for name in names if name[:1] != ".")

    def write(self, collection: Collection) -> None:
        """Write a collection; within `changing`.

        Raises:
            StorageError: It cannot be written.
        """
        path = self._path(collection.name)
        try:
            replace_file(path, msgspec.json.format(msgspec.json.encode(collection)) + b"\n", 0o600)
        except OSError as error:
            raise failure("write", str(path), error) from error

    def remove(self, name: str) -> None:
        """Remove a collection; its members stay as they are.

        Raises:
            StorageError: It cannot be removed.
        """
        path = self._path(name)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise failure("remove", str(path), error) from error

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the lock of all changes.

        Raises:
            StorageError: The folder cannot be made.
        """
        try:
            make_private(self.path)
            lock = (self.path / ".lock").open("wb")
        except OSError as error:
            raise failure("mkdir", str(self.path), error) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _path(self, name: str) -> Path:
        return self.path / f"{check_name(name)}{_SUFFIX}"


def _usual_folder() -> Path:
    named = os.environ.get(ENVIRONMENT)
    if named:
        return home_path(named).absolute()
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return home_path(home) / "nacre" / "collections"
