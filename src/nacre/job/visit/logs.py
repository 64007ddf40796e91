"""The logs of a run, as lines that travel in the commit groups. Formats: Heritrix 3."""

import traceback
from collections.abc import Callable

from nacre.core.clock import Clock
from nacre.core.processor import Visit
from nacre.job.admission.decisions import SCOPE, decision_line
from nacre.job.configuration.settings import EngineSettings
from nacre.report.crawllog import CrawlLog, LogTimes
from nacre.report.escape import flat, safe, visible
from nacre.scope.rule import Scope, Subject
from nacre.scope.watch import Logged, decided, whole
from nacre.store.commit import GroupCommit
from nacre.store.files import FileKind

CRAWL = "crawl.log"
URI_ERRORS = "uri-errors.log"
NONFATAL = "nonfatal-errors.log"
RUNTIME = "runtime-errors.log"
ALERTS = "alerts.log"
JOB = "job.log"
PROGRESS = "progress-statistics.log"
RECOVERY = "recovery.log"


FROM_THE_START = (CRAWL, URI_ERRORS, NONFATAL, RUNTIME, ALERTS)
"""Logs that exist as soon as a run does, as Heritrix's do; the others have lines by then."""

ScopeLog = Callable[[Scope, Subject], None]
"""Writes down what a scope says of a URI."""

Line = Callable[[str, bytes], None]
"""Adds a line to the log of that name."""


class LogLines:
    """Adds lines to the logs of a run, in the open commit group; a log begins with its first line.

    Args:
        commit: Makes them durable.
        run: Name of the run.
    """

    def __init__(self, commit: GroupCommit, run: str) -> None:
        self._commit = commit
        self._prefix = f"runs/{run}/logs/"
        self._numbers: dict[str, int] = {}
        self._held: list[tuple[str, bytes]] | None = None

    def __call__(self, name: str, text: bytes) -> None:
        """Add a line; while the logs change their names it waits in memory."""
        if self._held is not None:
            self._held.append((name, text))
            return
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._commit.log(self._prefix + name)
        self._commit.line(number, text)

    def begin(self) -> None:
        """Make the logs that watchers expect (`FROM_THE_START`), empty as they may be."""
        for name in FROM_THE_START:
            self._commit.log(self._prefix + name)

    def end_all(self, suffix: str) -> None:
        """End the logs that have lines; each gets its name with a suffix once that is durable.

        Lines wait until `go_on`; nothing may be fetched meanwhile, so that none tells of a visit.

        Args:
            suffix: Such as `.cp00001-20261120151100`.
        """
        self._held = []
        self._numbers.clear()
        for number, file in list(self._commit.files.open.items()):
            path = file.row.path
            if file.row.kind == FileKind.LOG and path.startswith(self._prefix) and file.end:
                self._commit.close_file(number, f"{path}{suffix}")

    def go_on(self) -> None:
        """The old names are free: new logs begin, with the lines that waited."""
        held, self._held = self._held or [], None
        self.begin()
        for name, text in held:
            self(name, text)


class JobLogs:
    """Writes the lines.

    Args:
        line: Adds a line to a log.
        clock: For the times in front of lines.
        extra_info: Append Heritrix's `logExtraInfo` to crawl.log.

    Attributes:
        alerts: Alerts raised in this run.
        on_alert: Called with each.
    """

    def __init__(self, line: Line, clock: Clock, *, extra_info: bool = False) -> None:
        self._line = line
        self._clock = clock
        self._crawl = CrawlLog(extra_info=extra_info)
        self._times = LogTimes()
        self.alerts = 0
        self.on_alert: Callable[[str], None] = _nobody

    def finished(self, visit: Visit, now: float) -> None:
        """A final visit: crawl.log, and what its page held that was no URI."""
        self._line(CRAWL, self._crawl.line(visit, now))
        if visit.uri_errors:
            time = self._times.dashed(now)
            for href, message in visit.uri_errors:
                told = flat(message).replace('"', "'")
                text = f'{time} {safe(visit.uri.url)} "{told}" {safe(href)}\n'
                self._line(URI_ERRORS, text.encode("utf-8", "backslashreplace"))

    def nonfatal(self, visit: Visit) -> None:
        """An attempt that will be repeated: its line, then what was wrong."""
        text = flat(visit.error) or f"status {visit.status}"
        line = self._crawl.line(visit, self._clock.now())
        self._line(NONFATAL, line + f"    {text}\n".encode("utf-8", "backslashreplace"))

    def runtime_error(self, visit: Visit, error: BaseException) -> None:
        """A fault of the crawler itself, with its traceback."""
        line = self._crawl.line(visit, self._clock.now())
        self._line(RUNTIME, line + _indented(error))
        self.alert(f"{type(error).__name__} while crawling {visit.uri.url}; see {RUNTIME}")

    def command_error(self, command: str, error: BaseException) -> None:
        """A fault of the crawler in answering a command, with its traceback."""
        self._line(RUNTIME, self._told("SEVERE", f"command {command}") + _indented(error))
        self.alert(f"{type(error).__name__} in the command {command}; see {RUNTIME}")

    def alert(self, message: str) -> None:
        """Something that the operator should know."""
        self.alerts += 1
        self._line(ALERTS, self._told("WARNING", message))
        self._line(JOB, self._told("WARNING", message))
        self.on_alert(message)

    def job(self, message: str) -> None:
        """An event in the life of the job."""
        self._line(JOB, self._told("INFO", message))

    def recovery(self, message: str) -> None:
        """What a start had to mend, one line each."""
        self._line(RECOVERY, self._told("INFO", message))

    def of_scope(self, settings: EngineSettings) -> ScopeLog | None:
        """What writes scope.log; None when the settings ask for none."""
        if not settings.scope_log:
            return None
        extra = settings.scope_log_extra
        return lambda scope, subject: self.decided(
            decided(whole(SCOPE, scope.opinions, extra=extra), subject)
        )

    def decided(self, what: Logged) -> None:
        """A decision of a sequence, in its own log."""
        name, text = decision_line(what, self._times.dashed(self._clock.now()))
        self._line(name, text.encode("utf-8", "backslashreplace"))

    def progress(self, text: str) -> None:
        """A row of progress-statistics.log."""
        self._line(PROGRESS, f"{text}\n".encode())

    def _told(self, level: str, message: str) -> bytes:
        text = f"{self._times.dashed(self._clock.now())} {level} {flat(message)}\n"
        return text.encode("utf-8", "backslashreplace")


def _nobody(_: str) -> None:
    """Nobody asked to be told."""


def _indented(error: BaseException) -> bytes:
    lines = "".join(traceback.format_exception(error)).splitlines()
    text = "".join(f"    {visible(line)}\n" for line in lines)
    return text.encode("utf-8", "backslashreplace")
