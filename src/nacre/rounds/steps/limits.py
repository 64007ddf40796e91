"""The limits of `generate`: the lines by domain, divided among its tasks; the total; the time.

No line is sent twice. A task receives the lines for the domains of its buckets. If normalizers
count a URL for another host, which may be in any bucket, all lines are written into one file, which
tasks read.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nacre.crawldb.kernels import Kernel, parquet
from nacre.crawldb.limits import DomainLimit, limits_by_bucket, load_limits, read_limits
from nacre.crawldb.select import SelectOptions, capped_rows
from nacre.crawldb.units import HostWork, PackedUnits, pack
from nacre.errors import ConfigError, Problem
from nacre.frontier.settings import PolitenessSettings
from nacre.rounds.engine import TaskEngine
from nacre.rounds.steps.context import StepContext
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import TaskWork

LATENCY = 0.2
"""Assumed time of a fetch if that of its host is unknown, s."""

AT_ONCE = "at_once"
"""Mark of a segment of this machine: the number of its parallel units."""


def fetch_spacing(polite: PolitenessSettings, delay: float = 0.0, latency: float = 0.0) -> float:
    """Return the expected time from one fetch of a host to the next, s: delay and fetch.

    Args:
        polite: The politeness.
        delay: The learned delay, with Crawl-delay, s; 0 for none.
        latency: Time of a fetch of the host, s; 0 if unknown.
    """
    own = latency or LATENCY
    usual = min(max(own * polite.delay_factor, polite.min_delay), polite.max_delay)
    wait = usual if polite.delay is None else polite.delay
    return max(wait, delay) + own / polite.in_flight


def units_at_once(engine: TaskEngine) -> int:
    """Return the parallel units of an engine; 0: all, each a process of this machine."""
    return 0 if engine.name == "local" else engine.workers


def pack_hosts(
    context: StepContext, works: Iterable[HostWork], units: int, limit: float = 0.0
) -> PackedUnits:
    """Pack hosts into units, as the engine of a step will fetch them; see `pack`."""
    return pack(works, units, limit, units_at_once(context.engine))


def time_marks(context: StepContext, packs: PackedUnits) -> dict[str, Any]:
    """Return the marks of a segment for its time."""
    all_at_once = not units_at_once(context.engine)
    marks: dict[str, Any] = {"seconds": packs.whole}
    return {**marks, AT_ONCE: len(packs.seconds)} if all_at_once else marks


class TaskLimits(NamedTuple):
    """The limits for a task.

    Attributes:
        lines: The limits for the domains of its buckets.
        file: Name of a file with all limits, in place of `lines`; "" for none.
    """

    lines: tuple[DomainLimit, ...] = ()
    file: str = ""

    def load(self, work: TaskWork) -> None:
        """Make the table `limits` of a kernel."""
        load_limits(work.kernel, self.lines)
        if self.file:
            path = str(localize(work.storage, self.file, work.scratch))
            work.kernel.execute(f"insert into limits from {parquet([path])}")


class DividedLimits:
    """The lines of the file of limits, by bucket.

    Args:
        lines: The lines.
        buckets: Number of buckets.
        file: Name of the existing file with all lines; "" for none.
    """

    def __init__(self, lines: Iterable[DomainLimit], buckets: int, file: str = "") -> None:
        self._file = file
        self._lines: Mapping[int, tuple[DomainLimit, ...]] = (
            {} if file else limits_by_bucket(lines, buckets)
        )

    def of(self, buckets: Iterable[int]) -> TaskLimits:
        """Return the limits for some buckets."""
        numbers = dict.fromkeys(buckets)
        lines = (line for number in numbers for line in self._lines.get(number, ()))
        return TaskLimits(tuple(lines), self._file)


def divide_limits(context: StepContext, buckets: int, file: str = "") -> DividedLimits:
    """Read and divide the limits of `cycle.generate.limits`.

    Args:
        context: The context of the driver.
        buckets: Number of buckets.
        file: Name of a file to write for all tasks, if each may need any line; "" for none.

    Raises:
        ConfigError: The file cannot be read, or a line is no limit.
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
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError([Problem("cycle.generate.limits", f"{path}: {reason}")]) from error
    except ValueError as error:
        raise ConfigError([Problem("cycle.generate.limits", f"{path}, {error}")]) from error


KEPT_TABLE = (
    "create temp table kept (bucket INTEGER, key VARCHAR, host VARCHAR, counted VARCHAR, "
    "domain VARCHAR, sort DOUBLE, tie UBIGINT, host_most BIGINT, domain_most BIGINT, "
    "hosts_most BIGINT)"
)
"""SQL that makes the table of the candidates of a task."""


class KeepPlan(NamedTuple):
    """The total limits of all lists.

    Attributes:
        options: The conditions on rows, with the caps.
        most: Candidates of all lists; 0: no limit.
        segments: Number of lists.
        counting: Normalizers merge the counts of hosts, which may be in several tasks.
    """

    options: SelectOptions
    most: int
    segments: int
    counting: bool


def kept_query(kernel: Kernel, plan: KeepPlan, *, is_range: bool = False) -> tuple[str, int]:
    """Return SQL of the candidates that may be in a list, and the number that caps exclude.

    Args:
        kernel: The kernel with the table `kept`: all candidates of a task.
        plan: The limits.
        is_range: The candidates are those of a range of keys; caps include other ranges.
    """
    capped = plan.options.capped
    # Hosts that count together may be in several tasks: their cap is applied later.
    several = (plan.segments > 1 and plan.options.limits) or (plan.counting and capped)
    if is_range and capped and (plan.options.limits or several):
        return "select * from kept", 0
    rows, left_out = "select * from kept", 0
    if capped:
        within = capped_rows(plan.options, "kept", plan.segments)
        kernel.execute(f"create or replace temp table within as {within}")
        all_of, let_in = (f"select count(*) from {name}" for name in ("kept", "within"))
        left_out = int(kernel.value(f"select ({all_of}) - ({let_in})"))
    if is_range and capped:
        # The caps over all ranges exclude more, so `most` cannot be applied yet.
        return "select * from within", left_out
    if plan.most and not several:
        if capped:
            rows = "select * from within"
        if kernel.value("select count(*) from kept") > plan.most:
            rows += f" order by sort desc, tie desc limit {plan.most}"
    return rows, left_out
