"""Commands that die behind their commits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.rounds.tables.versions import Cycle, CycleChanges, CycleVersion

CHECKOUT = Path(__file__).parents[3]


class KilledError(BaseException):
    """The end of the process, before it could note anything."""


@contextmanager
def killed_commits() -> Iterator[None]:
    """Every commit is the last thing that a command does."""
    commit = Cycle.commit

    def killed(self: Cycle, parent: CycleVersion, changes: CycleChanges) -> CycleVersion:
        commit(self, parent, changes)
        raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cycle, "commit", killed)
        yield
