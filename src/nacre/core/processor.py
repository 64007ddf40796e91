"""A visit (one fetch of one URI), and the protocols of its processors."""

from collections.abc import Callable
from enum import Enum
from typing import Final, Protocol

import msgspec

from nacre.core.capture import Capture
from nacre.core.crawluri import CrawlURI, Outlink
from nacre.core.history import Base, HistoryRecord, RevisitProfile, StoredLinks
from nacre.core.rendered import BrowserRequest, RenderedPage, ReplyWriter
from nacre.core.status import FetchStatus


class Keep(msgspec.Struct):
    """The parts of a visit that an incremental run may leave out of the archive, or left out.

    Attributes:
        patchable: It may be stored as a difference from an earlier version.
        notable: A note suffices if it has the same content as before in other bytes.
        silent: The reply is no version of the page: a failure of the server, or a refusal.
        base: The base, if it is stored as a difference.
        size: Bytes of that difference.
        unrecorded: Nothing of it is written to WARC.
        links_referable: Its metadata record may refer to an earlier one that has its outlinks.
        links_digest: Set when its outlinks are many enough for that: the digest of their lines.
        links: The record to refer to from now on, its own or an earlier one; None: not decided.
    """

    patchable: bool = False
    notable: bool = False
    silent: bool = False
    base: Base | None = None
    size: int = 0
    unrecorded: bool = False
    links_referable: bool = False
    links_digest: str = ""
    links: StoredLinks | None = None

    def omit(self) -> None:
        """Leave it out of the archive."""
        self.unrecorded = True

    def as_difference(self, base: Base, size: int) -> None:
        """Have it stored as a difference of `size` bytes from an earlier version."""
        self.base, self.size = base, size

    def compare_links(self, digest: str, same: StoredLinks | None) -> None:
        """Take the digest of its outlinks, and the record that it refers to; None for none."""
        self.links_digest, self.links = digest, same

    def links_at(self, links: StoredLinks) -> None:
        """Take the record that was written with all its outlinks."""
        self.links = links


class RefusedRequest(msgspec.Struct, frozen=True):
    """A request of a page that was not sent.

    Attributes:
        url: Its URL.
        resource: As in `BrowserRequest`.
        rule: What refused it: `scope`, `robots`, `guard`, `block`, `budget`, `limit`, `wait`,
            `method`, `body`.
        detail: The rule of the scope, the line of robots.txt, or the limit.
    """

    url: str
    resource: str
    rule: str
    detail: str = ""


MOST_LISTED = 5_000
"""Requests of a page that are listed as refused, or as answered from the archive, at most."""
REPEATED: Final = "repeated"
"""Sign of a page whose requests were repeated without a browser."""


class PageUnit(msgspec.Struct):
    """A page that was run in a browser; stored in one step with the visit of its document.

    Attributes:
        id: UUID of the page, in all its records (`WARC-Page-ID`).
        sign: Why it was run: `always`, or a sign of `extract.shell`.
        rendered: How it ended; None while it is open.
        visits: The visits of its requests, in the order in which they ended.
        reused: URLs that were answered from the archive without a request.
        refused: Requests that were not sent.
        sizes: Bytes sent by servers for it, in all.
        sample: Of a page that was run although its requests are known (`browser.repeat`): how many
            of its requests were foreseen, and of how many; None for others.
        is_unchanged: Whether nothing differs from its last version, whose text and pictures are
            stored: it has no own links.
    """

    id: str
    sign: str
    rendered: RenderedPage | None = None
    visits: list["Visit"] = []
    reused: list[str] = []
    refused: list[RefusedRequest] = []
    sizes: int = 0
    sample: tuple[int, int] | None = None
    is_unchanged: bool = False

    @property
    def is_repeated(self) -> bool:
        """Whether its requests were repeated in place of running it."""
        return self.sign == REPEATED

    def compare(self, hits: int, total: int) -> None:
        """Note how many of its requests were foreseen, and of how many."""
        self.sample = hits, total

    def keep_last_state(self) -> None:
        """Leave its text and pictures out: those of its last version stand for it."""
        self.is_unchanged = True

    def add(self, visit: "Visit", size: int = 0) -> None:
        """Add the visit of a request that ended; `size`: bytes that the server sent."""
        self.visits.append(visit)
        self.sizes += size

    def refuse(self, request: RefusedRequest) -> None:
        """Add a request that was not sent; beyond 5,000 they are not kept."""
        if len(self.refused) < MOST_LISTED:
            self.refused.append(request)

    def reuse(self, url: str) -> None:
        """Add a URL that was answered from the archive, once; beyond 5,000 they are not kept."""
        if len(self.reused) < MOST_LISTED and url not in self.reused:
            self.reused.append(url)

    def begin_again(self) -> None:
        """Forget which requests were not sent: the page is opened once more."""
        self.refused.clear()
        self.reused.clear()

    def close(self, rendered: RenderedPage) -> None:
        """Note how the page ended."""
        self.rendered = rendered


class Visit(msgspec.Struct):
    """One trip of one URI through the chains; dies with it.

    Attributes:
        uri: What the frontier handed out.
        status: Fetch status; see `core.status`.
        capture: The exchange; None when nothing was received.
        prerequisite: URI that must be fetched first; "" for none.
        robots: Verdict and the deciding line, for `explain`; "" if not judged.
        annotations: For crawl.log, in order.
        outlinks: What the extractors found.
        dropped: Outlinks beyond the cap (`dol:n`).
        mime: Media type, parameters cut; "" when unknown.
        charset: Charset used to read it; "" when none was needed.
        extracted: An extractor claimed it; later content extractors skip it.
        history: What was known of the URL; None on its first visit.
        revisit: Set when it is not to be stored in full.
        addresses: What a `dns:` visit found, in the order to try them.
        ttl: How long they hold, seconds.
        robots_meta: Directives of meta robots and X-Robots-Tag in effect, lower case.
        metas: Names and contents of elements of the page that state preferences on its use.
        uri_errors: (reference, message) of links that are not URIs, for uri-errors.log.
        sets_cookies: The reply set a cookie that was taken.
        delay: Politeness delay for its queue, seconds; None for the default.
        crawl_delay: Delay that robots.txt requests, seconds; 0 if it requests none, None if
            robots.txt was not read.
        retry_after: Delay that the server requested, seconds; None if it requested none.
        warc_file: Name of the WARC that holds it; "" when not written.
        warc_offset: Offset of its first record there, bytes.
        record_id: WARC-Record-ID of that record, without angle brackets; "" when not written.
        toe: Number of the worker, for crawl.log.
        step: Where in its chain it is, for the threads report.
        started: Monotonic time at hand-out, seconds.
        error: Text of the failure, for the operator; "" for none.
        conclusive: A failure that another try would not change.
        starved: Whether the crawler had no file handle left; no request was sent.
        extra: Extra info for crawl.log (`logExtraInfo`).
        retire: Why its queue is retired while it stays there unfetched; "" for no such thing.
        digest: What its content is compared by for duplicates, `ALGORITHM:VALUE`; "" for the
            payload digest.
        verdict: Verdict of the history, for the metadata record; "" if there was none.
        wall: Verdict of `extract.walls` on a reply that is no page of the site; "" for a page.
        noted: Whether only a metadata record is written, since all content is stored already.
        keep: What may be left out of it; None: nothing.
        request: The request of a browser that it answers; None for all others.
        reply: Where its reply goes while it is received; None: nowhere.
        page: The page that its document became in a browser; None: it was not run.
        page_id: UUID of the page that it belongs to; "" for none.
        queued: Whether the frontier handed it out; False if it is fetched within a page.
        stored: The reply in the archive that a browser gets if the server has none newer; None: it
            is not asked.
        asks_robots: Whether robots.txt is obeyed for it, if the settings say so for others.
        overlay: Number of the combination of sheets that applies to the URI; 0 for none. With it
            each part finds its settings: `effective[visit.overlay]`.
    """

    uri: CrawlURI
    status: int = 0
    capture: Capture | None = None
    prerequisite: str = ""
    robots: str = ""
    annotations: list[str] = []
    outlinks: list[Outlink] = []
    dropped: int = 0
    mime: str = ""
    charset: str = ""
    extracted: bool = False
    history: HistoryRecord | None = None
    revisit: RevisitProfile | None = None
    addresses: tuple[str, ...] = ()
    ttl: float = 0.0
    robots_meta: frozenset[str] = frozenset()
    metas: list[tuple[str, str]] = []
    uri_errors: list[tuple[str, str]] = []
    delay: float | None = None
    crawl_delay: float | None = None
    retry_after: float | None = None
    warc_file: str = ""
    warc_offset: int = 0
    record_id: str = ""
    toe: int = 0
    step: str = ""
    started: float = 0.0
    error: str = ""
    conclusive: bool = False
    starved: bool = False
    extra: dict[str, str | int] = {}
    retire: str = ""
    digest: str = ""
    overlay: int = 0
    verdict: str = ""
    wall: str = ""
    noted: bool = False
    keep: Keep | None = None
    sets_cookies: bool = False
    request: BrowserRequest | None = None
    reply: ReplyWriter | None = None
    page: PageUnit | None = None
    page_id: str = ""
    queued: bool = True
    stored: Capture | None = None
    asks_robots: bool = True

    @property
    def is_of_url(self) -> bool:
        """Whether its reply is what its URL has: not for a POST of a page, nor its kind."""
        return self.request is None or self.request.method == "GET"

    def annotate(self, text: str) -> None:
        """Add an annotation once, keeping the order."""
        if text not in self.annotations:
            self.annotations.append(text)

    def refuse(self, status: int, reason: str, annotation: str = "") -> None:
        """Refuse the visit before the fetch: a negative status, the reason, and an annotation."""
        self.status, self.error = status, reason
        if annotation:
            self.annotate(annotation)

    def defer(self, prerequisite: str = "") -> None:
        """Send it back to its queue (-50), to wait for this URI; "" for no particular one."""
        self.status, self.prerequisite = FetchStatus.DEFERRED, prerequisite

    def proceed(self) -> None:
        """End its wait: the prerequisite is fetched."""
        self.status, self.prerequisite = 0, ""

    def answered(
        self, status: int, error: str = "", *, conclusive: bool = False, starved: bool = False
    ) -> None:
        """Take the outcome of a fetch, a failure too; see the attributes of these names."""
        self.status, self.error = status, error
        self.conclusive, self.starved = conclusive, starved

    def received(
        self,
        capture: Capture,
        mime: str = "",
        *,
        retry_after: float | None = None,
        sets_cookies: bool = False,
    ) -> None:
        """Set the exchange, and the values of its head; a known media type stays."""
        self.capture, self.mime = capture, self.mime or mime
        self.retry_after, self.sets_cookies = retry_after, sets_cookies

    def add_outlinks(self, links: list[Outlink], dropped: int = 0) -> None:
        """Add links behind those that it has; `dropped` more were beyond the cap."""
        self.outlinks = [*self.outlinks, *links] if self.outlinks else links
        self.dropped += dropped

    def filter_outlinks(self, keeps: Callable[[Outlink], bool]) -> None:
        """Drop the links for which `keeps` is false."""
        self.outlinks = [link for link in self.outlinks if keeps(link)]

    def claim(self) -> None:
        """Keep later extractors from reading its content."""
        self.extracted = True

    def fault(self, annotation: str) -> None:
        """Take a bug in a processor: status -5, the annotation, and no links."""
        self.status = FetchStatus.RUNTIME_EXCEPTION
        self.annotate(annotation)
        self.outlinks = []

    def stored_at(self, file: str, offset: int, record_id: str = "") -> None:
        """Say where its first record is: the name of the WARC, the offset in bytes, its id."""
        self.warc_file, self.warc_offset, self.record_id = file, offset, record_id

    def note_only(self, verdict: str | None = None) -> None:
        """Have a metadata record written in place of the reply; None keeps the verdict it has."""
        self.noted = True
        if verdict is not None:
            self.verdict = verdict

    def write_reply(self) -> None:
        """Have the reply written: a note alone would lose it."""
        self.noted = False

    def write_revisit(self, revisit: RevisitProfile) -> None:
        """Have a revisit record written in place of the reply, and of a note."""
        self.revisit, self.noted = revisit, False

    def enter_step(self, name: str) -> None:
        """Say which step works on it now."""
        self.step = name

    def recall(self, history: HistoryRecord | None) -> None:
        """Set the history of its URL; None: there is none."""
        self.history = history

    def resolved(self, addresses: tuple[str, ...], ttl: float) -> None:
        """Take the answer to a `dns:` URI: addresses in the order to try them, and seconds."""
        self.addresses, self.ttl = addresses, ttl

    def obey(self, crawl_delay: float) -> None:
        """Set the delay that robots.txt requests, seconds; 0 if it requests none."""
        self.crawl_delay = crawl_delay

    def disallowed(self, line: str) -> None:
        """Take the line of robots.txt that disallows it."""
        self.robots = line

    def retire_queue(self, reason: str) -> None:
        """Have it stay in its queue, and the queue retired for this reason."""
        self.retire = reason

    def wait_for(self, delay: float) -> None:
        """Take the politeness delay that its queue waits after it, seconds."""
        self.delay = delay

    def parsed(
        self, charset: str, robots_meta: frozenset[str], uri_errors: list[tuple[str, str]]
    ) -> None:
        """Set results of extraction besides outlinks; see the attributes of these names."""
        self.charset, self.robots_meta, self.uri_errors = charset, robots_meta, uri_errors

    def state(self, metas: list[tuple[str, str]]) -> None:
        """Set the elements of its page that state preferences on its use."""
        self.metas = metas

    def send_to(self, reply: ReplyWriter) -> None:
        """Set where its reply goes while it is received."""
        self.reply = reply

    def compare_with(self, stored: Capture | None) -> None:
        """Set the reply in the archive that a browser gets if the server has none newer."""
        self.stored = stored

    def become(self, page: PageUnit) -> None:
        """Note that its document was run in a browser."""
        self.page, self.page_id = page, page.id

    def compare_by(self, digest: str) -> None:
        """Have its content compared by this digest; "" for the payload digest."""
        self.digest = digest

    def meet_wall(self, wall: str) -> None:
        """Set the verdict on a reply that is no page of the site."""
        self.wall = wall

    def judged(self, verdict: str) -> None:
        """Set the verdict of the history, for the metadata record."""
        self.verdict = verdict

    def may_leave_out(self, keep: Keep) -> None:
        """Set which parts of it need not be stored in full."""
        self.keep = keep


class Result(Enum):
    """The next step of a chain after a processor."""

    PROCEED = "proceed"
    FINISH = "finish"


class Candidate(msgspec.Struct):
    """A link in the candidate chain, on its way to the frontier.

    Attributes:
        link: The link; a processor before `scope` may replace it.
        via: The URI that it was found on.
        path: Hop path, its own hop included.
        overlay: Number of the combination of sheets that applies to it.
        uri: The URI that enters the frontier; None until `prepare`; later processors may replace
            it.
        rule: Why it is refused, for `explain`; "" while it is not.
    """

    link: Outlink
    via: CrawlURI
    path: str
    overlay: int = 0
    uri: CrawlURI | None = None
    rule: str = ""

    def prepared(self, uri: CrawlURI) -> CrawlURI:
        """Set the URI that enters the frontier; return the candidate."""
        self.uri = uri
        return uri

    def refuse(self, rule: str) -> Result:
        """Refuse it for a reason; a processor's `process` returns the result."""
        self.rule = rule
        return Result.FINISH


class Processor(Protocol):
    """One step of the fetch chain. Failures of the web never raise exceptions."""

    def accepts(self, visit: Visit) -> bool:
        """The gate: False leaves this step out for this visit."""
        ...

    async def process(self, visit: Visit) -> Result:
        """Do the work on the visit; FINISH leaves out the rest of the chain."""
        ...


class FinalProcessor(Protocol):
    """One step of the disposition chain, for visits that are not tried again.

    It runs within the step that makes a visit durable, so it awaits nothing.
    """

    def accepts(self, visit: Visit) -> bool:
        """False leaves this step out for this visit."""
        ...

    def process(self, visit: Visit) -> Result:
        """Do the work; FINISH leaves out later steps, but none that every visit needs."""
        ...


class LinkProcessor(Protocol):
    """One step of the candidate chain, for each link that was not judged before."""

    def accepts(self, candidate: Candidate) -> bool:
        """False leaves this step out for this link."""
        ...

    def process(self, candidate: Candidate) -> Result:
        """Do the work; FINISH refuses the link, for the reason in `candidate.rule`."""
        ...
