"""The limits by domain of `generate`, divided among its tasks: no line is sent twice.

A task is given the lines for the domains of its own buckets. Where normalizers let a URL count for
another host, which may lie in any bucket, all lines are written into one file, and tasks read it.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nacre.crawldb.kernels import parquet
from nacre.crawldb.limits import DomainLimit, limits_by_bucket, load_limits, read_limits
from nacre.errors import ConfigError, Problem
from nacre.rounds.steps.context import StepContext
from nacre.rounds.storage import localized
from nacre.rounds.tables.tables import TaskWork


class TaskLimits(NamedTuple):
    """The limits that a task is given.

    Attributes:
        lines: Those for the domains of its buckets.
        file: Name of a file with all of them, in place of `lines`; "" for none.
    """

    lines: tuple[DomainLimit, ...] = ()
    file: str = ""

    def load(self, work: TaskWork) -> None:
        """Make the table `limits` of a kernel."""
        load_limits(work.kernel, self.lines)
        if self.file:
            path = str(localized(work.storage, self.file, work.scratch))
            work.kernel.execute(f"insert into limits from {parquet([path])}")


class DividedLimits:
    """The lines of the file of limits, by bucket.

    Args:
        lines: The lines.
        buckets: Number of buckets.
        file: Name of the file with all of them, which is there; "" for none.
    """

    def __init__(self, lines: Iterable[DomainLimit], buckets: int, file: str = "") -> None:
        self._file = file
        self._lines: Mapping[int, tuple[DomainLimit, ...]] = (
            {} if file else limits_by_bucket(lines, buckets)
        )

    def of(self, buckets: Iterable[int]) -> TaskLimits:
        """The limits for some buckets."""
        numbers = dict.fromkeys(buckets)
        lines = (line for number in numbers for line in self._lines.get(number, ()))
        return TaskLimits(tuple(lines), self._file)


def divided_limits(context: StepContext, buckets: int, file: str = "") -> DividedLimits:
    """The limits of `cycle.generate.limits`, ready for tasks.

    Args:
        context: The context of the driver.
        buckets: Number of buckets.
        file: Name of a file that is made for all tasks, where any of them may need any line.

    Raises:
        ConfigError: The file cannot be read, or a line is none.
    """
    lines = _read(context)
    if file:
        with context.place.open() as work:
            load_limits(work.kernel, lines)
            if not work.send("from limits", file):
                file = ""
    return DividedLimits(lines, buckets, file)


def _read(context: StepContext) -> list[DomainLimit]:
    path = context.layout.root / context.settings.cycle.generate.limits
    try:
        return read_limits(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError([Problem("cycle.generate.limits", f"{path}: {why}")]) from error
    except ValueError as error:
        raise ConfigError([Problem("cycle.generate.limits", f"{path}, {error}")]) from error
