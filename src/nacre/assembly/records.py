"""The records of a run: its parts, stage by stage, as `parts.assemble` builds them."""

from collections.abc import Callable
from dataclasses import dataclass

from nacre.assembly.fetching import Fetching
from nacre.assembly.rules import JobRules
from nacre.assembly.scheduling import Queues, Scheduling
from nacre.assembly.storing import Storing
from nacre.engine.logs import JobLogs, LogLines
from nacre.report.statistics import ChainStatistics, Statistics
from nacre.runs.runs import RunContext


@dataclass(frozen=True)
class Reporting:
    """The parts of a run that write logs and count.

    Attributes:
        lines: Adds lines to logs.
        logs: The logs.
        alert: Logs a message for the operator, and shows it where the job runs.
        statistics: The counts by host, status and type.
        steps: The counts of the steps of the chains.
    """

    lines: LogLines
    logs: JobLogs
    alert: Callable[[str], None]
    statistics: Statistics
    steps: ChainStatistics


@dataclass(frozen=True)
class RunRecords:
    """The records of a run, all but that of the engine.

    Attributes:
        context: What the run was given.
        rules: What decides under which settings a URI is crawled, and whether.
        reporting: The parts that write logs and count.
        queues: The frontier.
        scheduling: What takes seeds and links to the frontier.
        storing: Where captures go.
        fetching: What fetches.
    """

    context: RunContext
    rules: JobRules
    reporting: Reporting
    queues: Queues
    scheduling: Scheduling
    storing: Storing
    fetching: Fetching

    @property
    def is_conditional(self) -> bool:
        """Whether conditional requests are sent for stored captures."""
        return self.rules.settings.dedup.conditional and not self.context.run.needs_bodies
