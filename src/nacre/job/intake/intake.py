"""Lines from outside become URIs: of lists, recovery journals and crawl logs, a portion at a time.

A portion is one synchronous step, so that all of it, and the note how far it is, is in one commit
group. Nothing is skipped silently: a line is taken, known, of no account for the way it is read, or
rejected with a reason. Formats: Heritrix 3.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from nacre.core.crawluri import CrawlURI, Hop, split_path
from nacre.core.status import Counted, counted
from nacre.errors import URIError
from nacre.frontier.policy import rank
from nacre.frontier.recoverlog import OTHER, JournalLine, Tag, parse_line
from nacre.job.assemble import Parts
from nacre.job.intake.entering import enter_seeds
from nacre.job.seeding.seeds import BadSeed, Directive, Entry, Seed, read_seeds
from nacre.scope.rule import Subject
from nacre.uri.login import redacted, take_login, without_login
from nacre.uri.parse import parse

_SHOWN = 200
_NO_TEXT = "(not shown)"
_TOO_LONG = "longer than 64 kB, or not UTF-8"
LONGEST = 65_536
"""Bytes of a line; a longer one is none of ours."""


class Way(StrEnum):
    """How lines are read.

    `import`: pending URIs of a journal and bare URLs are scheduled, what is finished is seen;
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


class Line(NamedTuple):
    """A line and its number; `text` is None for one that is no text, or too long."""

    number: int
    text: str | None


class Rejected(NamedTuple):
    """A line that was not taken."""

    number: int
    text: str
    why: str


class Tally(msgspec.Struct):
    """What became of the lines.

    Attributes:
        lines: Lines read, empty ones and comments left out.
        scheduled: URIs that entered the frontier; seeds that are new.
        known: URIs that were known already.
        done: URIs marked as seen.
        passed: Lines of no account for the way they are read: times, hand-outs, what the other pass
            takes, and what is fetched anew when it is needed (`dns:`, robots.txt).
        rejected: Lines that were rejected.
    """

    lines: int = 0
    scheduled: int = 0
    known: int = 0
    done: int = 0
    passed: int = 0
    rejected: int = 0


class Options(NamedTuple):
    """How lines are read.

    Attributes:
        way: As what.
        scoped: The scope is asked about each.
        force: What was done or deleted before is scheduled all the same; not what waits.
        retain_failures: What failed counts as finished, and is not scheduled again.
    """

    way: Way
    scoped: bool = False
    force: bool = False
    retain_failures: bool = False


_FINAL = frozenset((Tag.SUCCEEDED, Tag.INCLUDED))
_FAILED = frozenset((Tag.FAILED, Tag.DISREGARDED))
_TAGGED = frozenset(Tag)
_SCHEDULED = {
    Way.IMPORT: frozenset((Tag.ADDED, Tag.NONE)),
    Way.SCHEDULE: _TAGGED,
    Way.FORCE: _TAGGED,
    Way.PENDING: frozenset((Tag.ADDED,)),
    Way.CRAWL_LOG: frozenset((Tag.ADDED,)),
}
_SEEN = {
    Way.IMPORT: _FINAL | _FAILED,
    Way.INCLUDE: _TAGGED,
    Way.FINISHED: _FINAL,
    Way.CRAWL_LOG: _FINAL,
}


class _RefusalError(Exception):
    """Why a line is rejected."""


class Intake:
    """Takes portions of lines into a job.

    Attributes:
        tally: What became of them; it may be one that an earlier process began.
    """

    def __init__(self, parts: Parts, options: Options, tally: Tally | None = None) -> None:
        self._parts = parts
        self._options = options
        self.tally = tally or Tally()
        way = options.way
        self._scheduled = _SCHEDULED.get(way, frozenset())
        self._seen = _SEEN.get(way, frozenset())
        if way is Way.FINISHED and options.retain_failures:
            self._seen = _FINAL | _FAILED
        self._other_pass = _FINAL | _FAILED if options.retain_failures else _FINAL
        self._read: Callable[[str], JournalLine | None] = (
            self._of_crawl_log if way is Way.CRAWL_LOG else _of_journal
        )

    def take(self, lines: Sequence[Line]) -> list[Rejected]:
        """Take the next lines, in one step; those that were rejected."""
        if self._options.way is Way.SEEDS:
            rejected = self._take_seeds(lines)
        else:
            rejected = self._take_uris(lines)
        self.tally.rejected += len(rejected)
        return rejected

    # ---- URIs

    def _take_uris(self, lines: Iterable[Line]) -> list[Rejected]:
        rejected: list[Rejected] = []
        uris: list[CrawlURI] = []
        keys: list[bytes] = []
        counts = self._options.way is not Way.FINISHED
        for number, text in lines:
            stripped = text.strip() if text is not None else _NO_TEXT
            if not stripped or stripped[0] == "#":
                continue
            self.tally.lines += counts
            try:
                self._sort(stripped, uris, keys)
            except _RefusalError as refusal:
                rejected.append(Rejected(number, *_told(stripped, refusal)))
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
            raise _RefusalError(f"no URI: {error}") from None
        except ValueError:
            raise _RefusalError(f"{entry.path!r} is no hop path") from None
        subject = Subject(url, entry.path, without_login(entry.via), "import")
        overlay = self._parts.sheets.overlay(subject)
        if self._options.scoped:
            self._require_in_scope(subject, overlay)
        if entry.tag in self._seen:
            keys.append(self._parts.identity.key(url))
            if self._parts.frontier.journal is not None:
                self._parts.frontier.journal(Tag.INCLUDED, url, "", "")
        else:
            uris.append(self._uri(subject, overlay))

    @property
    def _longest(self) -> int:
        return self._parts.settings.uri.max_length

    def _without_login(self, url: str) -> str:
        """The URL; a name and a password in it are kept where those of seeds are."""
        url, login = take_login(url)
        if login is not None:
            for said in self._parts.logins.add(login):
                self._parts.logs.alert(said)
        return url

    def _pass(self, text: str, entry: JournalLine | None) -> None:
        """A line of no account; each is told of in one of two passes only."""
        way = self._options.way
        if way is Way.FINISHED or (way is Way.PENDING and entry and entry.tag in self._other_pass):
            return
        if entry is None and text.split(maxsplit=1)[0] not in OTHER and way is not Way.CRAWL_LOG:
            why = _TOO_LONG if text is _NO_TEXT else "neither a URI nor a line of a journal"
            raise _RefusalError(why)
        self.tally.passed += 1

    def _require_in_scope(self, subject: Subject, overlay: int) -> None:
        verdict = self._parts.candidates.scope[overlay].decide(subject)
        if not verdict.accepted:
            raise _RefusalError(f"out of scope, by the rule {verdict.rule}")

    def _uri(self, subject: Subject, overlay: int) -> CrawlURI:
        parts = self._parts
        settings = parts.effective[overlay].frontier
        order = rank(settings, subject.path, url=subject.url, via=subject.via)
        key = parts.identity.key(subject.url)
        return CrawlURI(
            url=subject.url,
            key=key,
            force_fetch=self._is_forced(key),
            queue=parts.identity.queue(subject.url, overlay),
            via=subject.via,
            path=subject.path,
            context="import",
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
        )

    def _is_forced(self, key: bytes) -> bool:
        if self._options.way is Way.FORCE:
            return True
        return self._options.force and self._parts.outcomes.get(key) is not None

    def _enter(self, uris: Sequence[CrawlURI], keys: Sequence[bytes]) -> None:
        frontier, tally = self._parts.frontier, self.tally
        if keys:
            marked = frontier.seen.enter(keys)
            tally.done += sum(marked)
            tally.known += len(keys) - sum(marked)
        if uris:
            entered = frontier.schedule(uris, self._parts.clock.now())
            tally.scheduled += sum(entered)
            tally.known += len(uris) - sum(entered)

    def _of_crawl_log(self, text: str) -> JournalLine | None:
        """What succeeded or was disregarded is finished; what failed is pending again."""
        words = text.split(maxsplit=6)
        try:
            status, url, path, via = int(words[1]), words[3], words[4], words[5]
        except (ValueError, IndexError):
            raise _RefusalError(
                "no line of a crawl.log: time, status, size, URI, path, via …"
            ) from None
        failed = counted(status) is Counted.FAILURE and not self._options.retain_failures
        tag = Tag.ADDED if failed else Tag.SUCCEEDED
        return _apart(JournalLine(url, tag, path.replace("-", ""), "" if via == "-" else via))

    # ---- seeds

    def _take_seeds(self, lines: Sequence[Line]) -> list[Rejected]:
        rejected: list[Rejected] = []
        seeds: list[Seed] = []
        for number, text in lines:
            for entry in read_seeds([_NO_TEXT if text is None else text]):
                self.tally.lines += 1
                try:
                    self._sort_seed(entry, seeds)
                except _RefusalError as refusal:
                    rejected.append(Rejected(number, *_told((text or _NO_TEXT).strip(), refusal)))
        new = enter_seeds(self._parts, seeds)
        self.tally.scheduled += new
        self.tally.known += len(seeds) - new
        return rejected

    def _sort_seed(self, entry: Entry, seeds: list[Seed]) -> None:
        if isinstance(entry, BadSeed):
            raise _RefusalError(entry.why)
        if isinstance(entry, Directive):
            self._parts.seeds.direct([entry.text])
            self.tally.done += 1
            return
        if self._options.scoped:
            subject = Subject(entry.url, is_seed=True)
            self._require_in_scope(subject, self._parts.sheets.overlay(subject))
        seeds.append(entry)


def _told(text: str, refusal: _RefusalError) -> tuple[str, str]:
    """A line and why it was rejected, without a password that may stand in them."""
    return (
        (redacted(text)[:_SHOWN], redacted(str(refusal)))
        if "@" in text
        else (text[:_SHOWN], str(refusal))
    )


def _of_journal(text: str) -> JournalLine | None:
    entry = parse_line(text)
    return entry and _apart(entry)


def _apart(entry: JournalLine) -> JournalLine:
    """What is fetched anew when it is needed (`dns:`, robots.txt) is only told as emitted."""
    needed = entry.path.endswith(Hop.PREREQUISITE.value) or entry.url.startswith("dns:")
    return entry._replace(tag=Tag.EMITTED) if needed else entry
