"""Final visits of a unit: rows of the store, and the observer that writes them.

Nothing is admitted but the targets of redirects: links are judged by the scope and kept. What a
visit found joins the commit group of its records, as a row of the family `facts`; who exports the
rows removes them (`VisitFacts.forget`).
"""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Protocol

import msgspec
from msgspec.structs import replace

from nacre.assembly.records import RunRecords
from nacre.core.capture import Capture
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.engine.candidates.candidates import through_walls
from nacre.history.dedup import History
from nacre.report.statistics import Stored
from nacre.rounds.visits.page_content import PageContent, PageReader, page_reader
from nacre.rounds.visits.page_links import AcceptedLinks, PageLinks
from nacre.store.store import Store
from nacre.uri.parse import host

_FAMILY = "facts"
_NEXT = "facts.next"
_GIVEN_UP = b"unit.given-up:"
_EMBED = Hop.EMBED
_MOST_EMBEDS = 3
"""Embeds in a row that are followed: of a page, of its style, of what that imports."""
_REDIRECT = Hop.REDIRECT  # enum lookup is slow
_REFUSING = frozenset((401, 403, 429, 503))
"""Statuses with which a host refuses requests."""
_FAILED = frozenset((-1, -2, -3, -4, -6, -8, -61, -62))
"""Statuses of failed requests whose cause is the host, not a single URL."""


_NOTHING = PageContent()
_HOP, _REL = attrgetter("hop"), attrgetter("rel")
_LANGUAGE, _MODIFIED = len(b"content-language"), len(b"last-modified")


class Follow(StrEnum):
    """The links of a visit that are fetched in the same unit."""

    NONE = "none"
    REDIRECTS = "redirects"
    EMBEDS = "embeds"


class NotAttempted(StrEnum):
    """The reason why a URL of a list was not requested."""

    DEADLINE = "deadline"
    BLOCKED = "blocked"
    FAILURES = "failures"
    THROUGHPUT = "throughput"


class UnitOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of how a unit is fetched.

    Attributes:
        follow: Which links are fetched at once, only those to hosts of the unit; `embeds` are
            those and redirects.
        max_redirects: Redirects one after the other that are followed.
        max_failures: Failures of a host in a row after which its other URLs are not asked for; 0:
            they always are.
        max_wait: Longest Retry-After that is waited for, seconds; with a longer one the URL is
            final and its host given up. 0: no limit.
        deadline: When it ends, seconds since the epoch; 0: when it is done.
        throughput: Replies per second, over five minutes, below which it ends; 0: no limit.
    """

    follow: Follow = Follow.REDIRECTS
    max_redirects: int = 5
    max_failures: int = 5
    max_wait: float = 0.0
    deadline: float = 0.0
    throughput: float = 0.0


class VisitFact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The result of a final visit.

    Attributes:
        url: The requested URL.
        status: Fetch status.
        via: The page that it was found on.
        path: Hop path.
        source: Source tag.
        began: Start of the exchange, µs since the epoch; without an exchange, the visit's end.
        duration: Time to the last byte, ms.
        first_byte: Time to the first byte, ms.
        size: Bytes of payload received.
        digest: Payload digest of the reply; "" for none.
        mime: Media type; "" when unknown.
        lang: Content-Language; "" for none.
        modified: Last-Modified as received.
        address: Address of the server.
        retry_after: Seconds that the server asked for; None: it did not.
        robots: Directives of meta robots and X-Robots-Tag, sorted.
        redirect: Target of a redirect, resolved; "" for none.
        new_seed: The target becomes a seed, because a seed was redirected to it.
        canonical: The canonical URL that the page declares; "" for none.
        outlinks: Number of links on the page, including those that the scope refuses.
        stored: The kind of record in the archive (`report.statistics.Stored`).
        warc: Name of the WARC; "" when nothing was written.
        offset: Offset of its first record there.
        attempts: Attempts made.
        error: Why there was no reply, or the line of robots.txt.
        annotations: As in crawl.log.
        signature: Signature for comparisons; b"" if pages are compared by payload digest.
        history: The row of its history, msgpack of `HistoryRecord`; b"" for none.
        links: The links that the scope accepts, redirects included.
        soft_404: The page says with status 200 that it is missing.
        simhash: Simhash of the text; None if no setting needs it, or the text is too short.
    """

    url: str
    status: int
    via: str
    path: str
    source: str
    began: int
    duration: int
    first_byte: int
    size: int
    digest: str
    mime: str
    lang: str
    modified: bytes
    address: str
    retry_after: float | None
    robots: tuple[str, ...]
    redirect: str
    new_seed: bool
    canonical: str
    outlinks: int
    stored: str
    warc: str
    offset: int
    attempts: int
    error: str
    annotations: tuple[str, ...]
    signature: bytes
    history: bytes
    links: PageLinks
    soft_404: bool = False
    simhash: int | None = None


class VisitFacts:
    """The rows of the family `facts`, by number, in the order of the visits.

    Args:
        store: The store.

    Attributes:
        next: Number of the next row, from 0; numbers are never given again.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(VisitFact).decode
        self.next = self._saved = store.counter(_NEXT)
        self._on_cut: list[Callable[[], None]] = []
        self._on_add: list[Callable[[VisitFact], None]] = []

    def add(self, fact: VisitFact) -> None:
        """Keep a row; joins the open commit group."""
        self._store.put(_FAMILY, _key(self.next), self._encode(fact))
        self.next += 1
        for listener in self._on_add:
            listener(fact)

    def when_added(self, listener: Callable[[VisitFact], None]) -> None:
        """Call a listener with each row from now on."""
        self._on_add.append(listener)

    def seal(self) -> None:
        """Write the next number; called just before a group is sealed."""
        if self.next != self._saved:
            self._store.set_counter(_NEXT, self.next)
            self._saved = self.next

    def when_cut(self, begin_anew: Callable[[], None]) -> None:
        """Have something called when rows from then on are to need none of those before."""
        self._on_cut.append(begin_anew)

    def cut(self) -> int:
        """The number of the next row; those from it on need none of those before."""
        for begin_anew in self._on_cut:
            begin_anew()
        return self.next

    def rows(self, stop: int) -> Iterator[VisitFact]:
        """The rows with numbers below `stop`, in order."""
        for _, value in self._store.scan(_FAMILY, b"", _key(stop)):
            yield self._decode(value)

    def forget(self, stop: int) -> None:
        """Remove the rows with numbers below `stop`; joins the open commit group."""
        for key in [key for key, _ in self._store.scan(_FAMILY, b"", _key(stop))]:
            self._store.delete(_FAMILY, key)


def _key(number: int) -> bytes:
    return number.to_bytes(8, "big")


class HostFailures:
    """Counts the failures of each host in a row; who has too many is given up for the unit.

    Args:
        store: Keeps who was given up.
        most: Failures in a row; 0: no host is given up.
    """

    def __init__(self, store: Store, most: int) -> None:
        self._store = store
        self._most = most
        self._counts: dict[str, int] = {}
        self.given_up = given_up_hosts(store)

    def note(self, name: str, status: int, *, waits: bool = False) -> NotAttempted | None:
        """Count a final visit; why the host is given up now, None: it is not.

        Args:
            name: The host.
            status: Fetch status.
            waits: The server wants to be asked later than the unit waits: one visit is enough.
        """
        refused = status in _REFUSING
        if not (refused or status in _FAILED or status >= 500):
            self._counts.pop(name, None)
            return None
        count = self._counts[name] = self._counts.get(name, 0) + 1
        enough = waits or 0 < self._most <= count
        if not enough or name in self.given_up:
            return None
        reason = NotAttempted.BLOCKED if refused else NotAttempted.FAILURES
        self.given_up[name] = reason
        self._store.put("meta", _GIVEN_UP + name.encode(), reason.encode())
        return reason


def given_up_hosts(store: Store) -> dict[str, NotAttempted]:
    """Return the hosts that were given up, and the reason for each."""
    rows = store.scan("meta", _GIVEN_UP, _GIVEN_UP[:-1] + b";")
    return {
        key[len(_GIVEN_UP) :].decode(): NotAttempted(value.decode()) for key, value in list(rows)
    }


def with_content(fact: VisitFact, read: PageReader | None, visit: Visit) -> VisitFact:
    """Return the facts of a visit, with those of its content if it is a page.

    Args:
        fact: The facts.
        read: Reads pages; None if no setting needs their content.
        visit: The visit, with its capture.
    """
    if read is None or visit.status != 200:
        return fact
    facts = read(visit)
    if facts == _NOTHING:
        return fact
    return replace(fact, signature=facts.signature, soft_404=facts.soft_404, simhash=facts.simhash)


class KnownUrls(Protocol):
    """The hosts of a unit, and the URLs that are already fetched; part of `unit.UnitList`."""

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts of all its URLs."""
        ...

    def fetched(self, key: str, /) -> bool:
        """Whether an earlier round or attempt fetched a URL, by its canonical form."""
        ...


def _embeds(path: str) -> int:
    """The number of embeds at the end of a hop path, redirects among them not counted."""
    return path[len(path.rstrip(_EMBED + _REDIRECT)) :].count(_EMBED)


class UnitVisits:
    """The `VisitObserver` of a unit: store the result of each final visit.

    Args:
        records: The records of the run.
        facts: Stores the results.
        options: How the unit is fetched.
        uris: The hosts of the unit, and the URLs that are already fetched.

    Attributes:
        failures: Counts the failures of hosts.
        given_up: Hosts given up since the last check; the caller that checks empties the list.
    """

    def __init__(
        self,
        records: RunRecords,
        facts: VisitFacts,
        options: UnitOptions,
        uris: KnownUrls,
    ) -> None:
        storing, queues = records.storing, records.queues
        self._canonical, self._fetched = queues.identity.canonical, uris.fetched
        effective = records.rules.effective
        self._error_pages = effective.then(lambda s: s.engine.follow_error_pages)
        self._reader = effective.then(page_reader)
        self._links = AcceptedLinks(records.scheduling.candidates)
        self._history: History = storing.archive.history
        self._frontier = queues.frontier
        self._facts = facts
        facts.when_cut(self._links.begin_anew)
        self._options = options
        self._hosts = uris.hosts
        self.failures = HostFailures(storing.store, options.max_failures)
        self.given_up: list[str] = []

    def judge(self, _visit: Visit) -> bool:
        """See `VisitObserver`; a visit is stored as it is."""
        return True

    def follow(self, visit: Visit, _judgement: object, stored: Stored, now: float) -> bool:
        """See `VisitObserver`: links are kept, and enter the frontier only behind redirects."""
        uri = visit.uri
        waits = self._frontier.wants_too_long(visit.status, visit.retry_after or 0.0)
        if not uri.url.startswith("dns:"):
            name = host(uri.url)
            if self.failures.note(name, visit.status, waits=waits):
                self.given_up.append(name)
        if uri.is_prerequisite:
            return True
        links = PageLinks()
        targets: list[CrawlURI] = []
        if visit.outlinks and (200 <= visit.status < 400 or self._error_pages[visit.overlay]):
            embeds = self._is_wanted if self._options.follow is Follow.EMBEDS else None
            links, targets = self._links.of(visit, embeds)
        history = self._history.stored(uri.url) if visit.capture is not None else None
        seeds = any(target.is_seed for target in targets)
        fact = visit_fact(visit, stored, history or b"", links, now, new_seed=seeds)
        self._facts.add(with_content(fact, self._reader[visit.overlay], visit))
        if targets and self._options.follow is not Follow.NONE:
            self._enter(visit, targets, now)
        return True

    def _is_wanted(self, url: str) -> bool:
        """Whether an embedded URL is at a host of the unit, and no earlier round has it."""
        return host(url) in self._hosts and not self._fetched(self._canonical(url))

    def _enter(self, visit: Visit, targets: list[CrawlURI], now: float) -> None:
        """Let targets of redirects and embeds enter that the unit may follow."""
        most = self._options.max_redirects
        # A seed's target is forced, so that it is fetched though it was seen: in a list it is not.
        due = [
            target if target.key == visit.uri.key else replace(target, force_fetch=False)
            for target in targets
            if host(target.url) in self._hosts
            and len(target.path) - len(target.path.rstrip(_REDIRECT)) <= most
            and _embeds(target.path) <= _MOST_EMBEDS
        ]
        if due:
            self._frontier.schedule(through_walls(visit, due), now)


def _language_and_date(headers: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """The values of Content-Language and Last-Modified; of several the first one holds."""
    lang = modified = b""
    for name, value in reversed(headers):
        size = len(name)
        if size == _LANGUAGE and name.lower() == b"content-language":
            lang = value
        elif size == _MODIFIED and name.lower() == b"last-modified":
            modified = value
    return lang, modified


def _redirect_and_canonical(outlinks: Sequence[Outlink]) -> tuple[str, str]:
    """Return the first redirect and the first canonical URL of links; "" for none.

    Most pages have neither, and a loop in Python over their links would be slow.
    """
    redirect = canonical = ""
    if _REDIRECT in map(_HOP, outlinks):
        redirect = next(link.url for link in outlinks if link.hop is _REDIRECT)
    if "canonical" in map(_REL, outlinks):
        pages = (
            outlink.url
            for outlink in outlinks
            if outlink.rel == "canonical" and outlink.hop != _REDIRECT
        )
        canonical = next(pages, "")
    return redirect, canonical


def _exchange(capture: Capture | None, now: float) -> tuple[int, int, int, int, str, str]:
    """Return beginning, duration, first byte, size, digest and address, as in `VisitFact`."""
    if capture is None:
        return round(now * 1e6), 0, 0, 0, "", ""
    return (
        capture.began,
        capture.duration,
        capture.first_byte,
        capture.payload_length,
        capture.payload_digest,
        capture.address,
    )


def visit_fact(
    visit: Visit,
    stored: Stored,
    history: bytes,
    links: PageLinks,
    now: float,
    *,
    new_seed: bool,
) -> VisitFact:
    """The facts of a final visit.

    Args:
        visit: The visit.
        stored: What the archive got of it.
        history: The row of its history; b"" for none.
        links: Its links that the scope accepts.
        now: The time, s; for a visit without an exchange.
        new_seed: The target of its redirect is a seed from now on.
    """
    uri, capture, outlinks = visit.uri, visit.capture, visit.outlinks
    began, duration, first_byte, size, digest, address = _exchange(capture, now)
    lang, modified = _language_and_date(capture.headers if capture else ())
    redirect, canonical = _redirect_and_canonical(outlinks)
    return VisitFact(
        url=uri.url, status=visit.status, via=uri.via, path=uri.path, source=uri.source,
        began=began, duration=duration, first_byte=first_byte, size=size, digest=digest,
        mime=visit.mime, lang=lang.decode("latin-1")[:64], modified=modified[:64],
        address=address, retry_after=visit.retry_after,
        robots=tuple(sorted(visit.robots_meta)) if visit.robots_meta else (),
        redirect=redirect, new_seed=new_seed, canonical=canonical,
        outlinks=len(outlinks) + visit.dropped,
        stored=stored.value, warc=visit.warc_file, offset=visit.warc_offset,
        attempts=uri.attempts + 1, error=visit.error or visit.robots,
        annotations=tuple(visit.annotations), signature=b"", history=history, links=links,
    )  # fmt: skip
