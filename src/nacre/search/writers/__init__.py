"""Writers: whatever takes documents, such as the embedded index, a file, or a search server.

A writer is opened, given batches and ids, and committed. What it is given between two commits must
be there as a whole after the second, or can be given again: a document replaces the one with its
id, and an id that is not there may be deleted. So a command that was killed does its last portion
again, with the same result.
"""

from collections.abc import Sequence
from typing import Protocol

from nacre.search.document import SearchDocument

LOCAL = "local"
"""The name of the embedded index."""


class DocumentWriter(Protocol):
    """Takes documents.

    Attributes:
        name: Its name in the settings and in the table `indexed`.
    """

    name: str

    def open(self, *, rebuild: bool = False) -> bool:
        """Make ready.

        Args:
            rebuild: Begin with an empty index: all documents follow. What it has stays until the
                first commit, where it can.

        Returns:
            Whether it is empty, so that all documents must be written again: it is new, or was
            removed.

        Raises:
            ConfigError: A setting or a library is wrong or missing.
            StorageError: It cannot be reached.
        """
        ...

    def write(self, batch: Sequence[SearchDocument]) -> None:
        """Take documents; each replaces the one with its id.

        Raises:
            StorageError: They were not taken.
        """
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Remove documents; ids that are not there are none of its business.

        Raises:
            StorageError: It failed.
        """
        ...

    def commit(self) -> None:
        """Make all earlier documents durable and visible.

        Raises:
            StorageError: It failed.
        """
        ...

    def close(self) -> None:
        """Release resources; uncommitted documents are lost."""
        ...
