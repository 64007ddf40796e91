"""Imports lines of lists, recovery journals and crawl logs as URIs, a portion at a time.

A portion is one synchronous step, so that its URIs and the note how far it is are in one commit
group. Every line is counted: as taken, as known, as skipped for the way it is read, or as rejected
with a reason. Formats: Heritrix 3.
"""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from nacre.config.effective import Effective
from nacre.config.seed_file import UTF_8, open_bytes
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI, Hop, split_path
from nacre.core.status import CountedAs, FetchStatus, counted
from nacre.engine.candidates.identity import Identity
from nacre.engine.logs import JobLogs
from nacre.engine.outcomes import Outcomes
from nacre.engine.seeding.seedbook import LoginBook, SeedBook
from nacre.errors import URIError
from nacre.frontier.frontier import Frontier
from nacre.frontier.pending import OTHER, JournalLine, JournalTag, parse_line
from nacre.frontier.policy import rank
from nacre.job.seeds import SeedScheduler
from nacre.messages import message
from nacre.report.statistics import Statistics
from nacre.scope.scope import Scope
from nacre.scope.seeds import BadSeed, Entry, Seed, SeedDirective, read_seeds
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import Sheets
from nacre.uri.parse import parse
from nacre.uri.typed import redact, take_login, without_login

_SHOWN = 200
_NO_TEXT = "(not shown)"
_TOO_LONG = "longer than 64 kB, or not UTF-8"
LONGEST = 65_536
"""Bytes of a line; a longer one is rejected."""
_FINAL = frozenset((JournalTag.SUCCEEDED, JournalTag.INCLUDED))
_FAILED = frozenset((JournalTag.FAILED, JournalTag.DISREGARDED))
_TAGGED = frozenset(JournalTag)


class ImportMode(StrEnum):
    """As what lines are read.

    `import`: pending URIs of a journal and bare URLs are scheduled, finished URIs count as seen;
    `schedule`, `force`, `include`: all of them scheduled, scheduled though seen, or marked as seen;
    `finished` and `pending`: the two passes over a recovery journal; `crawl-log`: lines of one;
    `seeds`: a seed list.
    """

    IMPORT = "import"
    SCHEDULE = "schedule"
    FORCE = "force"
    INCLUDE = "include"
    FINISHED = "finished"
    PENDING = "pending"
    CRAWL_LOG = "crawl-log"
    SEEDS = "seeds"


class InputLine(NamedTuple):
    """A line and its number; `text` is None for one that is not text, or too long."""

    number: int
    text: str | None


class RejectedLine(NamedTuple):
    """A line that was not taken."""

    number: int
    text: str
    why: str


class ImportTally(msgspec.Struct):
    """Counts of imported lines.

    Attributes:
        lines: Lines read, empty ones and comments left out.
        scheduled: URIs that entered the frontier; seeds that are new.
        known: URIs that were known already.
        done: URIs marked as seen.
        passed: Lines that this mode skips: times, hand-outs, lines of the other pass, and
            prerequisites, which are fetched again when they are needed (`dns:`, robots.txt).
        rejected: Lines that were rejected.
    """

    lines: int = 0
    scheduled: int = 0
    known: int = 0
    done: int = 0
    passed: int = 0
    rejected: int = 0

    def add(self, more: "ImportTally") -> None:
        """Add the counts of more lines."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(more, name))


class ImportOptions(NamedTuple):
    """Options of how lines are read.

    Attributes:
        way: As what.
        scoped: The scope is asked about each.
        force: URIs that were finished or deleted before are scheduled anyway; queued URIs are not.
        retain_failures: Failed URIs count as finished, and are not scheduled again.
    """

    way: ImportMode
    scoped: bool = False
    force: bool = False
    retain_failures: bool = False


_SCHEDULED = {
    ImportMode.IMPORT: frozenset((JournalTag.ADDED, JournalTag.NONE)),
    ImportMode.SCHEDULE: _TAGGED,
    ImportMode.FORCE: _TAGGED,
    ImportMode.PENDING: frozenset((JournalTag.ADDED,)),
    ImportMode.CRAWL_LOG: frozenset((JournalTag.ADDED,)),
}
_SEEN = {
    ImportMode.IMPORT: _FINAL | _FAILED,
    ImportMode.INCLUDE: _TAGGED,
    ImportMode.FINISHED: _FINAL,
    ImportMode.CRAWL_LOG: _FINAL,
}


class _RefusalError(Exception):
    """Why a line is rejected."""


class ImportParts(msgspec.Struct, frozen=True):
    """The checks for imported lines, and their destination.

    Attributes:
        settings: The settings under each combination of sheets.
        sheets: Which combination applies to a URL.
        scope: Used if an import requires it.
        identity: Gives keys and queues.
        frontier: Receives URIs.
        outcomes: How each URI ended.
        book: Takes the directives of seed lists.
        seeds: Enters seeds.
        logins: Keeps names and passwords of URLs.
        logs: For alerts about logins.
        clock: The time.
        statistics: Counts those that were deleted, and come back.
    """

    settings: Effective[JobSettings]
    sheets: Sheets
    scope: Effective[Scope]
    identity: Identity
    frontier: Frontier
    outcomes: Outcomes
    book: SeedBook
    seeds: SeedScheduler
    logins: LoginBook
    logs: JobLogs
    clock: Clock
    statistics: Statistics


class LineImporter:
    """Imports portions of lines into a job.

    Args:
        parts: Receives them.
        options: How they are read.
        tally: Counts that an earlier process began; None for none.

    Attributes:
        tally: Counts of the lines.
    """

    def __init__(
        self, parts: ImportParts, options: ImportOptions, tally: ImportTally | None = None
    ) -> None:
        self._settings, self._sheets, self._scope = parts.settings, parts.sheets, parts.scope
        self._identity, self._clock = parts.identity, parts.clock
        self._frontier, self._journal = parts.frontier, parts.frontier.journal
        self._outcomes, self._book, self._seeds = parts.outcomes, parts.book, parts.seeds
        self._logins, self._logs = parts.logins, parts.logs
        self._statistics = parts.statistics
        self._options = options
        self.tally = tally or ImportTally()
        way = options.way
        self._scheduled = _SCHEDULED.get(way, frozenset())
        self._seen = _SEEN.get(way, frozenset())
        if way is ImportMode.FINISHED and options.retain_failures:
            self._seen = _FINAL | _FAILED
        self._other_pass = _FINAL | _FAILED if options.retain_failures else _FINAL
        self._read: Callable[[str], JournalLine | None] = (
            self._of_crawl_log if way is ImportMode.CRAWL_LOG else _of_journal
        )

    def take(self, lines: Sequence[InputLine]) -> list[RejectedLine]:
        """Import the next lines in one step, and return those that were rejected."""
        if self._options.way is ImportMode.SEEDS:
            rejected = self._take_seeds(lines)
        else:
            rejected = self._take_uris(lines)
        self.tally.rejected += len(rejected)
        return rejected

    # ---- URIs

    def _take_uris(self, lines: Iterable[InputLine]) -> list[RejectedLine]:
        rejected: list[RejectedLine] = []
        uris: list[CrawlURI] = []
        keys: list[bytes] = []
        counts = self._options.way is not ImportMode.FINISHED
        for number, text in lines:
            stripped = text.strip() if text is not None else _NO_TEXT
            if not stripped or stripped[0] == "#":
                continue
            self.tally.lines += counts
            try:
                self._sort(stripped, uris, keys)
            except _RefusalError as refusal:
                rejected.append(RejectedLine(number, *_redacted(stripped, refusal)))
        self._enter(uris, keys)
        return rejected

    def _sort(self, text: str, uris: list[CrawlURI], keys: list[bytes]) -> None:
        """One line to those that are scheduled, or to those that are marked as seen."""
        entry = self._read(text)
        if entry is None or not (entry.tag in self._scheduled or entry.tag in self._seen):
            self._pass(text, entry)
            return
        try:
            url = self._without_login(parse(entry.url, max_length=self._longest))
            split_path(entry.path)
        except URIError as error:
            raise _RefusalError(message("job.not-uri", "not a URI: {error}", error=error)) from None
        except ValueError:
            raise _RefusalError(
                message("job.is-not-hop-path", "{path!r} is not a hop path", path=entry.path)
            ) from None
        subject = Subject(url, entry.path, without_login(entry.via), "import")
        overlay = self._sheets.overlay(subject)
        if self._options.scoped:
            self._require_in_scope(subject, overlay)
        if entry.tag in self._seen:
            keys.append(self._identity.key(url))
            self._journal.note(JournalTag.INCLUDED, url, "", "")
        else:
            uris.append(self._uri(subject, overlay))

    @property
    def _longest(self) -> int:
        return self._settings[0].uri.max_length

    def _without_login(self, url: str) -> str:
        """The URL; a name and a password in it are kept where those of seeds are."""
        url, login = take_login(url)
        if login is not None:
            for warning in self._logins.add(login):
                self._logs.alert(warning)
        return url

    def _pass(self, text: str, entry: JournalLine | None) -> None:
        """Skip a line; each line is counted in one of two passes only."""
        way = self._options.way
        if way is ImportMode.FINISHED or (
            way is ImportMode.PENDING and entry and entry.tag in self._other_pass
        ):
            return
        if (
            entry is None
            and text.split(maxsplit=1)[0] not in OTHER
            and way is not ImportMode.CRAWL_LOG
        ):
            reason = (
                _TOO_LONG
                if text is _NO_TEXT
                else message("job.journal-line", "neither a URI nor a line of a journal")
            )
            raise _RefusalError(reason)
        self.tally.passed += 1

    def _require_in_scope(self, subject: Subject, overlay: int) -> None:
        verdict = self._scope[overlay].decide(subject)
        if not verdict.accepted:
            raise _RefusalError(
                message("job.out-of-scope", "out of scope, by the rule {rule}", rule=verdict.rule)
            )

    def _uri(self, subject: Subject, overlay: int) -> CrawlURI:
        settings = self._settings[overlay].frontier
        order = rank(settings, subject.path, url=subject.url, via=subject.via)
        key = self._identity.key(subject.url)
        return CrawlURI(
            url=subject.url,
            key=key,
            force_fetch=self._is_forced(key),
            queue=self._identity.queue(subject.url, overlay),
            via=subject.via,
            path=subject.path,
            context="import",
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
        )

    def _is_forced(self, key: bytes) -> bool:
        if self._options.way is ImportMode.FORCE:
            return True
        return self._options.force and self._outcomes.get(key) is not None

    def _enter(self, uris: Sequence[CrawlURI], keys: Sequence[bytes]) -> None:
        frontier, tally = self._frontier, self.tally
        if keys:
            marked = frontier.seen.enter(keys)
            tally.done += sum(marked)
            tally.known += len(keys) - sum(marked)
        if uris:
            entered = frontier.schedule(uris, self._clock.now())
            tally.scheduled += sum(entered)
            tally.known += len(uris) - sum(entered)
            came_in = (uri for uri, is_in in zip(uris, entered, strict=True) if is_in)
            self._statistics.readmit(sum(map(self._comes_back, came_in)))

    def _comes_back(self, uri: CrawlURI) -> bool:
        """Whether the operator had deleted a URI that entered; that is its result no more."""
        outcome = self._outcomes.get(uri.key) if uri.force_fetch else None
        if outcome is None or outcome.status != FetchStatus.DELETED:
            return False
        self._outcomes.drop(uri.key)
        return True

    def _of_crawl_log(self, text: str) -> JournalLine | None:
        """What succeeded or was disregarded is finished; what failed is pending again."""
        words = text.split(maxsplit=6)
        try:
            status, url, path, via = int(words[1]), words[3], words[4], words[5]
        except (ValueError, IndexError):
            raise _RefusalError(
                message(
                    "job.not-line-of-crawl",
                    "not a line of a crawl.log: time, status, size, URI, path, via …",
                )
            ) from None
        failed = counted(status) is CountedAs.FAILURE and not self._options.retain_failures
        tag = JournalTag.ADDED if failed else JournalTag.SUCCEEDED
        return _without_prerequisites(
            JournalLine(url, tag, path.replace("-", ""), "" if via == "-" else via)
        )

    # ---- seeds

    def _take_seeds(self, lines: Sequence[InputLine]) -> list[RejectedLine]:
        rejected: list[RejectedLine] = []
        seeds: list[Seed] = []
        for number, text in lines:
            for entry in read_seeds([_NO_TEXT if text is None else text]):
                self.tally.lines += 1
                try:
                    self._sort_seed(entry, seeds)
                except _RefusalError as refusal:
                    rejected.append(
                        RejectedLine(number, *_redacted((text or _NO_TEXT).strip(), refusal))
                    )
        new = self._seeds.enter(seeds)
        self.tally.scheduled += new
        self.tally.known += len(seeds) - new
        return rejected

    def _sort_seed(self, entry: Entry, seeds: list[Seed]) -> None:
        if isinstance(entry, BadSeed):
            raise _RefusalError(entry.reason)
        if isinstance(entry, SeedDirective):
            self._book.direct([entry.text])
            self.tally.done += 1
            return
        if self._options.scoped:
            subject = Subject(entry.url, is_seed=True)
            self._require_in_scope(subject, self._sheets.overlay(subject))
        seeds.append(entry)


def _redacted(text: str, refusal: _RefusalError) -> tuple[str, str]:
    """A line and why it was rejected, without passwords."""
    return (
        (redact(text)[:_SHOWN], redact(str(refusal)))
        if "@" in text
        else (text[:_SHOWN], str(refusal))
    )


def _of_journal(text: str) -> JournalLine | None:
    entry = parse_line(text)
    return entry and _without_prerequisites(entry)


def _without_prerequisites(entry: JournalLine) -> JournalLine:
    """Return a line as it is; prerequisites, which are fetched again when needed, as EMITTED."""
    needed = entry.path.endswith(Hop.PREREQUISITE.value) or entry.url.startswith("dns:")
    return entry._replace(tag=JournalTag.EMITTED) if needed else entry


class DamagedFileError(Exception):
    """The compressed file is damaged from here on."""


class LineFile:
    """Reads a file in order.

    Args:
        path: The file; `.gz`: compressed.
        position: Start offset in its (uncompressed) content, bytes.
        number: Lines before that.
        codec: Its encoding; one whose lines end with a byte of LF.

    Attributes:
        position: Offset of the next line.
        number: Lines read or passed so far.
    """

    def __init__(self, path: Path, position: int = 0, number: int = 0, codec: str = UTF_8) -> None:
        self._file = open_bytes(path)
        self._codec = codec
        self.position = position
        self.number = number

    def go(self) -> None:
        """Seek to the start position; a compressed file is read up to it.

        Raises:
            OSError: It cannot be read.
            DamagedFileError: It is damaged before that place.
        """
        try:
            self._file.seek(self.position)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DamagedFileError(str(error)) from error

    def portion(self, most: int) -> list[InputLine]:
        """The next lines, at most so many; none at the end.

        Raises:
            OSError: It cannot be read.
            DamagedFileError: Nothing more can be read of it.
        """
        lines: list[InputLine] = []
        try:
            lines.extend(self._lines(most))
        except (EOFError, zlib.error, gzip.BadGzipFile, DamagedFileError) as error:
            if not lines:
                raise DamagedFileError(str(error)) from error
        return lines

    def _lines(self, most: int) -> Iterator[InputLine]:
        for _ in range(most):
            data = self._file.readline(LONGEST)
            if not data:
                return
            long = len(data) == LONGEST and not data.endswith(b"\n")
            if long and b"\0" in data:
                raise DamagedFileError(
                    message("job.binary-file", "it is not text: there are NUL bytes in it")
                )
            size = len(data) + (self._skip_line() if long else 0)
            self.position += size
            self.number += 1
            yield InputLine(self.number, None if long else _text(data, self._codec))

    def _skip_line(self) -> int:
        """Skip the remainder of a line that is too long; return its size."""
        size = 0
        while data := self._file.readline(LONGEST):
            size += len(data)
            if data.endswith(b"\n"):
                break
        return size

    def close(self) -> None:
        """Give the handle back."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _text(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None
