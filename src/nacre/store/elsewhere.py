"""A store that may be read but not written to, seen through a directory that may.

The binding writes its own settings into the directory of a store even when it opens it for reading:
that fails on a read-only medium and in another user's job. So the store is opened in a temporary
directory of symbolic links to its files, without those that an opening writes.
"""

import os
from pathlib import Path

from nacre.errors import StorageError
from nacre.store.temporary import HeldFolder

_WRITTEN = frozenset({"LOCK", "LOG", "rocksdict-config.json"})


def needed(path: str) -> bool:
    """Whether there is a store that can be read, and whose directory may not be written to."""
    return Path(path, "CURRENT").exists() and not os.access(path, os.W_OK)


class Elsewhere:
    """A directory of links to a store's files; for as long as the store is open.

    Args:
        path: Directory of the store.

    Attributes:
        path: Directory to open in its place.

    Raises:
        StorageError: The store's directory cannot be listed, or there is no temporary one.
    """

    def __init__(self, path: str) -> None:
        try:
            self._directory = HeldFolder("reading-")
            self.path = str(self._directory.path)
            for file in Path(path).absolute().iterdir():
                if file.name not in _WRITTEN:
                    Path(self.path, file.name).symlink_to(file)
        except OSError as error:
            raise StorageError(
                f"{path}: its directory may not be written to, and reading it through a temporary "
                f"one failed: {error}. Let TMPDIR name a directory with space."
            ) from error

    def close(self) -> None:
        """Remove the links."""
        self._directory.close()
