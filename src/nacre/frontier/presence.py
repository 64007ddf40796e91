"""Who is there: a job that is alone need not tell anybody what it does.

One byte stands for being there. Who has it for itself is alone; else all share it. Who finds it
taken asks by sharing a second byte, until the one that is alone looks, tells what it does, and
shares. There is no moment at which two believe to be alone, or one has come of whom another that is
alone does not know.
"""

from nacre.frontier.lockfile import FREE, OWN, SHARED, LockFile


class Presence:
    """The presence of one job.

    Args:
        file: Has the two bytes.
        first: The first of them.

    Attributes:
        alone: No other job is there, and none can come before `share`.
        joined: It is there; before that it must do nothing.
    """

    def __init__(self, file: LockFile, first: int) -> None:
        self.alone = False
        self.joined = False
        self._file = file
        self._there = first
        self._asking = first + 1

    def reach(self) -> None:
        """Make this job known; alone, if no other job is there."""
        file = self._file
        self.alone = file.lock(self._there, OWN)
        if self.alone or file.lock(self._there, SHARED):
            self.joined = True
            file.lock(self._asking, FREE)
        else:
            file.lock(self._asking, SHARED)

    def is_asked(self) -> bool:
        """Another job asks to come in."""
        if not self._file.lock(self._asking, OWN):
            return True
        self._file.lock(self._asking, FREE)
        return False

    def share(self) -> None:
        """Let other jobs in."""
        self.alone = False
        self._file.lock(self._there, SHARED)
