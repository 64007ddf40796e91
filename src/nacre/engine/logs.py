"""The logs of a run, as lines that travel in the commit groups. Formats: Heritrix 3.

The recovery journal of a run, `logs/frontier.recover.gz`, in Heritrix's format.

Lines are collected until their commit group is sealed and go into its batch as one gzip member, so
that the file is as durable as the events in it. Source: Heritrix 3, `FrontierJournal`.
"""

import gzip
import traceback
from collections.abc import Callable

from nacre.core.clock import Clock, digits14
from nacre.core.events import AlertLogged, Events
from nacre.core.processor import Visit
from nacre.engine.candidates.scope_state import SCOPE, decision_line
from nacre.engine.candidates.scoping import ScopeLog
from nacre.engine.counters import alerts_counter
from nacre.engine.settings import EngineSettings
from nacre.frontier.pending import JournalTag, line_of
from nacre.report.crawllog import CrawlLog, LogTimes
from nacre.report.escape import flat, safe, visible
from nacre.scope.scope import Logged, decided, whole
from nacre.store.commit import GroupCommit
from nacre.store.files import FileKind
from nacre.store.store import Store

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
        """Add a line; while log files are renamed, it is held in memory."""
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

        Lines wait until `go_on`; nothing may be fetched meanwhile, so no line is about a visit.

        Args:
            suffix: Such as `.cp00001-20261120151100`.
        """
        self._held = []
        self._numbers.clear()
        files = self._commit.files
        for number, file in list(files.open.items()):
            path = file.row.path
            if file.row.kind == FileKind.LOG and path.startswith(self._prefix) and file.end:
                self._commit.close_file(number, f"{path}{suffix}")

    def go_on(self) -> None:
        """The old names are free: new logs begin, with the lines that waited."""
        held_lines, self._held = self._held or [], None
        self.begin()
        for name, text in held_lines:
            self(name, text)


class AlertCounter:
    """Counts the alerts of a run over all of its sessions, and sends each to listeners.

    Args:
        store: Keeps their number.
        run: Name of the run.
        events: Who listens (`AlertLogged`).

    Attributes:
        total: Alerts raised in this run.
    """

    def __init__(self, store: Store, run: str, events: Events) -> None:
        self._store = store
        self._name = alerts_counter(run)
        self._events = events
        self.total = store.counter(self._name)

    def add(self, text: str) -> None:
        """Count an alert."""
        self.total += 1
        self._store.set_counter(self._name, self.total)
        self._events.emit(AlertLogged(text))


class JobLogs:
    """Writes the lines.

    Args:
        line: Adds a line to a log.
        clock: For the times in front of lines.
        alerts: Counts alerts.
        extra_info: Append Heritrix's `logExtraInfo` to crawl.log.

    Attributes:
        alerts: As given.
    """

    def __init__(
        self, line: Line, clock: Clock, alerts: AlertCounter, *, extra_info: bool = False
    ) -> None:
        self._line = line
        self._clock = clock
        self._crawl = CrawlLog(extra_info=extra_info)
        self._times = LogTimes()
        self.alerts = alerts

    def finished(self, visit: Visit, now: float) -> None:
        """Log a final visit: crawl.log, and invalid URIs of its page."""
        self._line(CRAWL, self._crawl.line(visit, now))
        if visit.uri_errors:
            time = self._times.dashed(now)
            for href, message in visit.uri_errors:
                quoted = flat(message).replace('"', "'")
                text = f'{time} {safe(visit.uri.url)} "{quoted}" {safe(href)}\n'
                self._line(URI_ERRORS, text.encode("utf-8", "backslashreplace"))

    def nonfatal(self, visit: Visit) -> None:
        """Log an attempt that will be repeated: its line, then the error."""
        text = flat(visit.error) or f"status {visit.status}"
        line = self._crawl.line(visit, self._clock.now())
        self._line(NONFATAL, line + f"    {text}\n".encode("utf-8", "backslashreplace"))

    def runtime_error(self, visit: Visit, error: BaseException) -> None:
        """An error in the crawler itself, with its traceback."""
        line = self._crawl.line(visit, self._clock.now())
        self._line(RUNTIME, line + _indent_traceback(error))
        self.alert(f"{type(error).__name__} while crawling {visit.uri.url}; see {RUNTIME}")

    def command_error(self, command: str, error: BaseException) -> None:
        """An error in the crawler in answering a command, with its traceback."""
        self._line(
            RUNTIME, self._message_line("SEVERE", f"command {command}") + _indent_traceback(error)
        )
        self.alert(f"{type(error).__name__} in the command {command}; see {RUNTIME}")

    def alert(self, message: str) -> None:
        """Log a message for the operator."""
        self._line(ALERTS, self._message_line("WARNING", message))
        self._line(JOB, self._message_line("WARNING", message))
        self.alerts.add(message)

    def job(self, message: str) -> None:
        """An event in the life of the job."""
        self._line(JOB, self._message_line("INFO", message))

    def recovery(self, message: str) -> None:
        """A line for each repair that a start made."""
        self._line(RECOVERY, self._message_line("INFO", message))

    def of_scope(self, settings: EngineSettings) -> ScopeLog | None:
        """Return the writer of scope.log; None if the settings request none."""
        if not settings.scope_log:
            return None
        extra = settings.scope_log_extra
        return lambda scope, subject: self.decided(
            decided(whole(SCOPE, scope.opinions, extra=extra), subject)
        )

    def decided(self, entry: Logged) -> None:
        """A decision of a sequence, in its own log."""
        name, text = decision_line(entry, self._times.dashed(self._clock.now()))
        self._line(name, text.encode("utf-8", "backslashreplace"))

    def progress(self, text: str) -> None:
        """A row of progress-statistics.log."""
        self._line(PROGRESS, f"{text}\n".encode())

    def _message_line(self, level: str, message: str) -> bytes:
        text = f"{self._times.dashed(self._clock.now())} {level} {flat(message)}\n"
        return text.encode("utf-8", "backslashreplace")


def _indent_traceback(error: BaseException) -> bytes:
    lines = "".join(traceback.format_exception(error)).splitlines()
    text = "".join(f"    {visible(line)}\n" for line in lines)
    return text.encode("utf-8", "backslashreplace")


NAME = "frontier.recover.gz"
_LEVEL = 1
_TIME_EVERY = 10_000
_SHORT = frozenset((JournalTag.EMITTED, JournalTag.INCLUDED, JournalTag.RESCHEDULED))
"""Lines with a URI alone."""


class RecoveryJournal:
    """Collects the lines of one run.

    Args:
        append: Adds bytes to the file, in the open commit group.
        clock: For the times in between.
    """

    def __init__(self, append: Callable[[str, bytes], None], clock: Clock) -> None:
        self._append = append
        self._clock = clock
        self._lines: list[str] = []
        self._number = 0

    def note(self, tag: JournalTag, url: str, path: str, via: str) -> None:
        """Something happened to a URI; see `frontier.pending`."""
        self._lines.append(f"{tag} {url}" if tag in _SHORT else line_of(tag, url, path, via))
        self._number += 1
        if self._number % _TIME_EVERY == 0:
            self._lines.append(f"T {digits14(self._clock.now())}")

    def seal(self) -> None:
        """The commit group is about to be sealed: its lines go with it."""
        if self._lines:
            self._lines.append("")
            text = "\n".join(self._lines).encode("utf-8", "backslashreplace")
            self._lines = []
            self._append(NAME, gzip.compress(text, _LEVEL, mtime=0))
