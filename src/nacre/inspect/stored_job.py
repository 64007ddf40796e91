"""The store of a job as a command reads it, without the job's settings: they take half a start."""

from collections.abc import Iterator
from contextlib import contextmanager

from nacre.errors import OldLayoutError, StorageError
from nacre.machine.layout import Layout
from nacre.store.store import Store

MEMORY = 32_000_000
"""Memory of a store that is only looked at, bytes."""

_TRIES = 3


@contextmanager
def reading_store(layout: Layout) -> Iterator[Store]:
    """Look at the last committed state of a job, running or not.

    Raises:
        JobError: It never ran.
        StorageError: The store cannot be read.
    """
    require_store(layout)
    with read_only(str(layout.store)) as store:
        yield store


def require_store(layout: Layout) -> None:
    """Raise JobError when the job never ran."""
    layout.require()
    if not layout.has_store:
        raise layout.never_ran()


def read_only(path: str) -> Store:
    """Open beside a running job; files that it removes at that moment make another try needed."""
    for tries_left in range(_TRIES - 1, -1, -1):
        try:
            return Store.open(path, memory=MEMORY, read_only=True)
        except OldLayoutError:
            raise
        except StorageError:
            if not tries_left:
                raise
    raise AssertionError("unreachable")
