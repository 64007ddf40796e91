"""Counts of visits by host, media type, status and source; durable with each commit.

Rows are absolute values, written just before a commit group is sealed, and only those that changed.
They live in the store; a bounded number of them is held in memory.

What each step of the chains did, and the processors report. Source: Heritrix 3.

The counts of a step are absolute and joined to each commit group, as the statistics are.
"""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from nacre.annotations import (
    BROWSER_FAILED,
    HTTP_TRIED,
    PARSER_FAILED,
    PARSER_TIMEOUT,
    withheld_preference,
)
from nacre.core.capture import Capture
from nacre.core.crawluri import Directive
from nacre.core.processor import Visit
from nacre.core.status import CountedAs, FetchStatus, counted
from nacre.report.browser_tally import BrowserCounts
from nacre.store.store import Store
from nacre.store.tallies import FAMILY, Tallies
from nacre.uri.parse import host

_TOTALS = b"t:"
_KINDS = {"host": b"h:", "mime": b"m:", "status": b"s:", "source": b"o:"}
_CODES = b"oc:"
"""Prefix of the counts by source, host and status."""
_SWITCHED = 101
"""Status of the handshake of a WebSocket."""
_HTML = frozenset(("text/html", "application/xhtml+xml"))
_LONGEST_MIME = 127
"""Longest media type that is counted by itself, in characters; longer names are mistakes."""

DNS = "dns:"
"""Pseudo-host of all lookups, as in Heritrix."""


def _is_stood_in(visit: Visit) -> bool:
    """Return whether http is tried in the place of an https that was only a guess: no failure."""
    return HTTP_TRIED in visit.annotations


class Stored(StrEnum):
    """The additions of a capture to the archive."""

    NOTHING = ""
    NOVEL = "novel"
    DUPLICATE = "duplicate"
    NOT_MODIFIED = "not-modified"
    NOTED = "noted"
    DELTA = "delta"


# Looked up for each visit: a global name is faster than the attribute of an enumeration.
_NOVEL, _DUPLICATE, _NOT_MODIFIED = Stored.NOVEL, Stored.DUPLICATE, Stored.NOT_MODIFIED
_DELTA = Stored.DELTA
_MISSING = frozenset((404, 410))
_PARSER = frozenset((PARSER_FAILED, PARSER_TIMEOUT))


class Tally(msgspec.Struct, array_like=True, gc=False):
    """Counts of one host, media type, status or source.

    Attributes:
        urls: URIs with a reply.
        size: Their bytes, heads included.
        robots: URIs that robots.txt denied.
        novel_urls: Of the URIs, those stored in full.
        novel_bytes: Their bytes.
        duplicate_urls: Those stored as identical-payload revisits.
        duplicate_bytes: Bytes received for them.
        not_modified_urls: URIs with a reply 304.
        not_modified_bytes: Length of their stored captures.
        failures: URIs that failed.
        disregarded: URIs that were disregarded, those deleted included.
        deleted: Of these, those that the operator deleted.
        failed_pages: Of the failures, those that no other URI needed.
        delta_urls: Of the URIs, those stored as differences.
        delta_bytes: Bytes received for them.
        last_success: Time of the last success, seconds since the epoch; 0 for none.
    """

    urls: int = 0
    size: int = 0
    robots: int = 0
    novel_urls: int = 0
    novel_bytes: int = 0
    duplicate_urls: int = 0
    duplicate_bytes: int = 0
    not_modified_urls: int = 0
    not_modified_bytes: int = 0
    failures: int = 0
    disregarded: int = 0
    last_success: float = 0.0
    deleted: int = 0
    failed_pages: int = 0
    delta_urls: int = 0
    delta_bytes: int = 0

    def add(self, visit_size: int, stored: Stored, saved: int) -> None:
        """Count one capture.

        Args:
            visit_size: Its bytes, head included.
            stored: Data that it added to the archive.
            saved: For a 304: payload length of the confirmed capture, bytes.
        """
        self.urls += 1
        self.size += visit_size
        if stored is _NOVEL:
            self.novel_urls += 1
            self.novel_bytes += visit_size
        elif stored is _DUPLICATE:
            self.duplicate_urls += 1
            self.duplicate_bytes += visit_size
        elif stored is _NOT_MODIFIED:
            self.not_modified_urls += 1
            self.not_modified_bytes += saved
        elif stored is _DELTA:
            self.delta_urls += 1
            self.delta_bytes += visit_size

    def note_success(self, now: float) -> None:
        """Note when the last success was, seconds since the epoch."""
        self.last_success = now

    def miss(self, status: int, *, page: bool, guess: bool = False) -> None:
        """Count one final result that is not a success.

        Args:
            status: Its fetch status.
            page: It was not a prerequisite.
            guess: Only the crawler thought of it, as of a favicon without a link, or of https for
                a seed without a scheme: no failure.
        """
        if status == FetchStatus.ROBOTS_PRECLUDED:
            self.robots += 1
        if guess or counted(status) is CountedAs.DISREGARDED:
            self.disregarded += 1
            self.deleted += status == FetchStatus.DELETED
        else:
            self.failures += 1
            self.failed_pages += page


class CrawlTotals(Tally, array_like=True, gc=False):
    """Totals, and counts by kind of reply.

    The kinds leave out prerequisites (robots.txt) and requests of pages in a browser; with those,
    and with unmodified URIs, they add up to `urls`.

    Attributes:
        documents: Replies with a document, status 200 to 299; and handshakes of WebSockets.
        html: Of these, HTML pages.
        redirects: Replies that only led elsewhere.
        errors: Replies without a document: 404, 503 and their kind.
        unchanged: Replies 304.
        missing_guesses: Replies without a document for guesses of the crawler: no errors.
        readmitted: URIs that were deleted, and wait again since that was undone.
        faults: URIs that ended by an error of the crawler itself (-5), prerequisites included.
        unparsed: Replies whose content was too much for the parser, which may have died over it:
            their links are not known.
        trapped: Of the documents, those of kinds that look like traps: similar pages had nothing
            new, or there is no end to their like.
        new_pages: Documents of URLs without a capture in earlier runs.
        changed_pages: Those with other bytes than the last capture.
        same_pages: Those with the same bytes, and confirmations of the server.
        gone_pages: URLs whose last visit had a document, and that are not there now (404, 410).
        rendered_pages: Pages that were run in a browser.
        page_requests: Replies to requests of these pages, those for the pages themselves left out.
        page_bytes: Bytes of these replies, heads included.
        recorded: Requests of a person or a program through the recorder, failures included.
        withheld: Replies that were not written to WARC for a preference (`rights.enforce`).
    """

    documents: int = 0
    html: int = 0
    redirects: int = 0
    errors: int = 0
    unchanged: int = 0
    missing_guesses: int = 0
    readmitted: int = 0
    faults: int = 0
    unparsed: int = 0
    trapped: int = 0
    new_pages: int = 0
    changed_pages: int = 0
    same_pages: int = 0
    gone_pages: int = 0
    rendered_pages: int = 0
    page_requests: int = 0
    page_bytes: int = 0
    recorded: int = 0
    withheld: int = 0

    @property
    def left_deleted(self) -> int:
        """URIs that the operator deleted, and that do not wait again."""
        return self.deleted - self.readmitted

    def replied(self, status: int, mime: str, *, trap: bool = False) -> None:
        """Count the kind of a reply."""
        if 200 <= status < 300 or status == _SWITCHED:
            self.documents += 1
            self.trapped += trap
            self.html += mime in _HTML
        elif status == 304:
            self.unchanged += 1
        elif 300 <= status < 400:
            self.redirects += 1
        else:
            self.errors += 1

    def take(self, visit: Visit, capture: Capture, *, guess: bool) -> None:
        """Count a reply that no other URI needed first."""
        if visit.request is not None and visit.page_id:
            self.page_requests += 1
            self.page_bytes += len(capture.head) + capture.body.length
        elif guess:
            self.missing_guesses += 1
        else:
            trap = visit.uri.directive >= Directive.POOR
            self.replied(visit.status, visit.mime, trap=trap)
            self.compare(visit, capture)

    def compare(self, visit: Visit, capture: Capture) -> None:
        """Count whether a page changed since the last visit of its URL, by bytes only."""
        status, history = visit.status, visit.history
        was_there = history is not None and history.date > 0
        if history is None or not was_there:
            self.new_pages += 200 <= status < 300
        elif status in _MISSING:
            self.gone_pages += history.status not in _MISSING
        elif status == 304 or capture.payload_digest == history.served:
            self.same_pages += 1
        elif 200 <= status < 300:
            self.changed_pages += 1

    @property
    def changes(self) -> dict[str, int]:
        """Return counts of pages by their change since the last visit."""
        return {
            "changed": self.changed_pages,
            "unchanged": self.same_pages,
            "new": self.new_pages,
            "gone": self.gone_pages,
        }

    @property
    def prerequisites(self) -> int:
        """Replies that other URIs needed first."""
        counted = (
            self.documents + self.unchanged + self.redirects + self.errors + self.missing_guesses
        )
        return self.urls - counted - self.page_requests


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Tally).decode
_decode_totals = msgspec.msgpack.Decoder(CrawlTotals).decode


class Statistics:
    """All counts of a run.

    Args:
        store: Where they are kept.
        in_memory: Rows of one kind held in memory; more only until the next seal.
        source_codes: Count by source, host and status, too.

    Attributes:
        totals: Counts over everything, lookups of names left out.
        dns: Lookups that succeeded; they are not documents.
        hosts: Hosts with a reply.
    """

    def __init__(
        self, store: Store, in_memory: int = 20_000, *, source_codes: bool = False
    ) -> None:
        self._store = store
        self._hosts, self._mimes, self._statuses, self._sources = (
            Tallies(store, prefix, Tally, in_memory) for prefix in _KINDS.values()
        )
        self._codes = Tallies(store, _CODES, Tally, in_memory) if source_codes else None
        self._browser = BrowserCounts(store)
        self.totals = totals(store)
        self.dns = store.counter("stats.dns")
        self.prerequisites = store.counter("stats.prerequisites")
        self.hosts = hosts_visited(store)

    def count(self, visit: Visit, stored: Stored, now: float, saved: int = 0) -> None:
        """Count a final visit.

        Args:
            visit: The visit.
            stored: What it added to the archive.
            now: Seconds since the epoch.
            saved: For a 304: payload length of the confirmed capture, bytes.
        """
        url, status, capture = visit.uri.url, visit.status, visit.capture
        guess = (not 0 < status < 400 and visit.uri.is_own_guess) or _is_stood_in(visit)
        is_dns = url.startswith("dns:")
        name = host(url)
        recorded = visit.request is not None and not visit.page_id
        self.totals.recorded += recorded
        tally = self._hosts[DNS if is_dns else name]
        if status > 0 and capture is not None:
            size = len(capture.head) + capture.body.length
            if is_dns:
                self.dns += 1
            else:
                self.hosts += not tally.urls
                if visit.uri.is_prerequisite:
                    self.prerequisites += 1
                else:
                    self.totals.take(visit, capture, guess=guess)
                self.totals.add(size, stored, saved)
                self.totals.note_success(now)
            tally.add(size, stored, saved)
            tally.note_success(now)
            self._mimes[visit.mime[:_LONGEST_MIME] or "unknown"].add(size, stored, saved)
            if visit.uri.source:
                self._sources[f"{visit.uri.source}\0{name}"].add(size, stored, saved)
        else:
            page = not visit.uri.is_prerequisite and (visit.request is None or recorded)
            tally.miss(status, page=page, guess=guess)
            self.totals.miss(status, page=page, guess=guess)
        self.totals.rendered_pages += visit.page is not None and not visit.page.is_repeated
        if visit.page is not None or BROWSER_FAILED in visit.annotations:
            self._browser.count(visit)
        self.totals.faults += status == FetchStatus.RUNTIME_EXCEPTION
        if visit.annotations:
            self.totals.unparsed += not _PARSER.isdisjoint(visit.annotations)
            self.totals.withheld += bool(withheld_preference(visit.annotations))
        if not guess:
            self._statuses[str(status)].urls += 1
        if self._codes is not None and visit.uri.source:
            self._codes[f"{visit.uri.source}\0{name}\0{status}"].urls += 1

    def readmit(self, number: int) -> None:
        """Count URIs that were deleted, and wait again; joins the open commit group."""
        if number:
            self.totals.readmitted += number
            self._store.put(FAMILY, _TOTALS, _encode(self.totals))

    @property
    def documents(self) -> int:
        """Replies but for those that other URIs needed: robots.txt, and requests of pages."""
        return self.totals.urls - self.prerequisites - self.totals.page_requests

    def seal(self) -> None:
        """Write changed counts; called just before a group is sealed."""
        if not self._hosts:
            return
        for kind in (self._hosts, self._mimes, self._statuses, self._sources):
            kind.seal()
        if self._codes is not None:
            self._codes.seal()
        self._browser.seal()
        self._store.put(FAMILY, _TOTALS, _encode(self.totals))
        self._store.set_counter("stats.dns", self.dns)
        self._store.set_counter("stats.prerequisites", self.prerequisites)
        self._store.set_counter("stats.hosts", self.hosts)


def rows(store: Store, kind: str) -> Iterator[tuple[str, Tally]]:
    """Yield all rows of a kind (`host`, `mime`, `status`, `source`), in order of their names.

    The name of a `source` row is the tag, a NUL, and the host.
    """
    prefix = _KINDS[kind]
    for key, value in store.scan(FAMILY, prefix, prefix[:-1] + b";"):
        yield key[len(prefix) :].decode(), _decode(value)


def source_codes(store: Store) -> Iterator[tuple[str, str, str, int]]:
    """Yield the numbers of URIs by source, host and status, if they were counted."""
    for key, value in store.scan(FAMILY, _CODES, _CODES[:-1] + b";"):
        source, host_name, status = key[len(_CODES) :].decode().split("\0")
        yield source, host_name, status, _decode(value).urls


def totals(store: Store) -> CrawlTotals:
    """Return the totals as last committed."""
    row = store.get(FAMILY, _TOTALS)
    return CrawlTotals() if row is None else _decode_totals(row)


def hosts_visited(store: Store) -> int:
    """Hosts with a reply, as last committed."""
    return store.counter("stats.hosts")


_FAMILY = "stats"
_PREFIX, _END = b"p:", b"p;"


class StepCounts(msgspec.Struct):
    """One step of a chain.

    Attributes:
        chain: The chain.
        name: Its name there.
        kind: Its class.
        function: What it does, one sentence.
        handled: Visits that it worked on; those that are tried again count again.
        seconds: Time that these spent in it, waits included.
        links: Links that it extracted; of the candidate chain: that it scheduled.
        written: Bytes that it wrote.
        plain: The same before they were compressed.
    """

    chain: str
    name: str
    kind: str = ""
    function: str = ""
    handled: int = 0
    seconds: float = 0.0
    links: int = 0
    written: int = 0
    plain: int = 0

    def describe(self, processor: object) -> None:
        """Set its class, and the first line of its docstring, from the processor."""
        kind = type(processor)
        self.kind = f"{kind.__module__}.{kind.__qualname__}"
        self.function = (kind.__doc__ or "").partition("\n")[0]

    def wrote(self, written: int, plain: int) -> None:
        """Set the total bytes written, and their size before compression."""
        self.written, self.plain = written, plain


class ChainStatistics:
    """The steps of a running job; counts of earlier processes included."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._earlier = {(step.chain, step.name): step for step in read_step_counts(store)}
        self._steps: list[StepCounts] = []
        self._saved: list[int] = []

    def add(self, chain: str, name: str, processor: object) -> StepCounts:
        """Return the counts of a step; the caller counts on.

        Args:
            chain: The chain.
            name: Name of the step.
            processor: The worker; its class and the first line of its docstring are shown.
        """
        step = self._earlier.pop((chain, name), None) or StepCounts(chain, name)
        step.describe(processor)
        self._steps.append(step)
        return step

    def seal(self) -> None:
        """Write the counts, if there are new ones; called just before a group is sealed."""
        handled = [step.handled for step in self._steps]
        if handled == self._saved:
            return
        self._saved = handled
        # Processors of earlier processes that are not in this chain come last.
        for number, step in enumerate([*self._steps, *self._earlier.values()]):
            key = _PREFIX + number.to_bytes(2, "big")
            self._store.put(_FAMILY, key, msgspec.msgpack.encode(step))


def read_step_counts(store: Store) -> Iterator[StepCounts]:
    """Yield all steps as last committed."""
    for _, value in store.scan(_FAMILY, _PREFIX, _END):
        yield msgspec.msgpack.decode(value, type=StepCounts)
