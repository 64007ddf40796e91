"""Workers of an engine that are killed between two files of a task, as the kernel kills one."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nacre.rounds.engine import OnResult, TaskEngine
from nacre.rounds.steps import update_tasks
from nacre.rounds.storage import Storage
from nacre.rounds.tables.tables import FilePlan, publish
from nacre.rounds.tables.versions import TableFile


def _last_file(storage: Storage, path: Path, plan: FilePlan) -> TableFile | None:
    """Publish a file, and never come back."""
    publish(storage, path, plan)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


class KilledWorkers:
    """A task whose processes are killed behind the first file that they publish.

    Args:
        function: The task.
        folder: A file here for each kill.
        most: Kills; later attempts come to their end.
    """

    def __init__(self, function: Callable[[Any], Any], folder: Path, most: int) -> None:
        self._function = function
        self._folder = folder
        self._most = most

    def __call__(self, spec: Any) -> Any:
        try:
            number = len(list(self._folder.iterdir()))
            if number < self._most:
                (self._folder / str(number)).touch(exist_ok=False)
                vars(update_tasks)["publish"] = _last_file
        except FileExistsError:
            pass  # another process is killed in its place
        return self._function(spec)


class KillingEngine:
    """An engine of which workers are killed in tasks of `update`.

    Args:
        engine: The engine.
        folder: See `KilledWorkers`.
        most: See `KilledWorkers`.
    """

    def __init__(self, engine: TaskEngine, folder: Path, most: int) -> None:
        self.name, self.workers, self.scratch = engine.name, engine.workers, engine.scratch
        self._engine = engine
        self._folder = folder
        self._most = most
        folder.mkdir()

    @property
    def kills(self) -> int:
        """Processes that were killed."""
        return len(list(self._folder.iterdir()))

    def map(
        self,
        function: Callable[[Any], Any],
        specs: Sequence[Any],
        on_result: OnResult[Any] | None = None,
    ) -> list[Any]:
        """See `TaskEngine.map`."""
        if function is update_tasks.update_task:
            assert len(specs) > 1, "one task runs in the driver"
            function = KilledWorkers(function, self._folder, self._most)
        return self._engine.map(function, specs, on_result)

    def close(self) -> None:
        """See `TaskEngine.close`."""
        self._engine.close()
