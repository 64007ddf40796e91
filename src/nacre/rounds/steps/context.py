"""The context that every step of a batch crawl works in."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nacre.config.check import Loaded
from nacre.machine.layout import Layout
from nacre.rounds.engine import TaskEngine
from nacre.rounds.tables.tables import TaskPlace
from nacre.rounds.tables.versions import Cycle
from nacre.settings.settings import JobSettings

_SHARED, _LEAST = 200 * 10**6, 100 * 10**6
"""Bytes of the kernels of small tasks: of all parallel tasks, and the least for each task."""

Told = Callable[[str, Mapping[str, Any]], None]
"""Progress callback: receives a name, and numbers."""


def ignore_progress(_name: str, _numbers: Mapping[str, Any]) -> None:
    """Ignore the progress."""


HostCheck = Callable[[Iterable[str]], None]
"""Raises ConfigError if units could not fetch the hosts of a list."""


def any_hosts(_hosts: Iterable[str]) -> None:
    """Check nothing."""


@dataclass(frozen=True, kw_only=True)
class StepContext:
    """The context of the driver of a step.

    Attributes:
        layout: The directory of the job.
        loaded: Its settings, with the origin of each.
        cycle: Its versions.
        engine: Runs the tasks.
        clock: The clock of the step, ms since the epoch.
        dry: Report what would be done, and commit nothing.
        tell: Receives the progress.
    """

    layout: Layout
    loaded: Loaded[JobSettings]
    cycle: Cycle
    engine: TaskEngine
    clock: int
    dry: bool = False
    tell: Told = ignore_progress

    @property
    def settings(self) -> JobSettings:
        """The settings of the job."""
        return self.loaded.settings

    @property
    def place(self) -> TaskPlace:
        """The place where its tasks read and write."""
        memory = self.settings.cycle.memory
        return TaskPlace(self.cycle.storage.place, memory, self.engine.scratch)

    @property
    def shared_place(self) -> TaskPlace:
        """The place of tasks on the seeds of a bucket, which share `_SHARED` bytes.

        More memory makes them no faster, and the kernel of a task spills to disk.
        """
        share = max(_SHARED // self.engine.workers, _LEAST)
        return self.place._replace(memory=min(self.place.memory, share))

    @property
    def interval(self) -> int:
        """Interval of a URL that has none, s."""
        return round(self.settings.recrawl.schedule.nutch.interval)
