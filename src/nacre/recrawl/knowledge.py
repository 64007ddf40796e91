"""The stored knowledge of incremental crawling, opened from the store of a job.

`ArchivedVersions` reads the last version of a page back from the WARC that holds it. `Audits` knows
which 304 replies are correct: some pages are requested without validators, to check this.
"""

from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from pathlib import Path

from msgspec.structs import replace

from nacre.annotations import AUDIT, PAIR, UNTRUSTED_VALIDATORS
from nacre.archive.delta import Delta
from nacre.core.capture import Capture
from nacre.core.pagerow import PageView, VersionRow
from nacre.core.processor import Visit
from nacre.core.urlshape import shaped
from nacre.engine.keeping import Bases
from nacre.engine.readback import read_at
from nacre.extract.pageview import page_view
from nacre.history.dedup import Digests
from nacre.history.rendered import RenderedDocuments, final_dom
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.change_detection.deletion import ErrorModel
from nacre.planner.change_detection.returning import (
    PastVersions,
    newest_version,
    unstored_version,
)
from nacre.planner.change_detection.template import Template
from nacre.planner.discovery.hints import MapRow, ReplyAudit
from nacre.planner.discovery.link_rules import RuleRow
from nacre.planner.discovery.traps import TrapRow
from nacre.planner.sites import ShownRow, SiteRow, Sites
from nacre.planner.step import Choice, random_sample
from nacre.planner.tuning import guess
from nacre.recrawl.change_log import ChangeLog
from nacre.recrawl.judge import Lessons, PageJudge
from nacre.recrawl.pagestore import (
    AUDITS,
    ERRORS,
    LISTS,
    MAPS,
    PAST,
    RULES,
    SITES,
    TEMPLATES,
    TRAPS,
    FetchLog,
    Named,
    PageStore,
)
from nacre.store.store import Store
from nacre.uri.parse import authority
from nacre.wire.charset import decode, detect
from nacre.wire.coding import decode_content

_KNOWN = guess(
    "auditing.known",
    10,
    "Number of audits without an error after which a template is trusted although"
    " others of its host had errors.",
)
_EARLY = guess(
    "auditing.early", 0.25, "Share of audits until then: they cost bytes, but no request.", most=1.0
)
_UNVISITED = frozenset(("new", "late", "start"))


class Audits:
    """The results of audits, by host and URL template.

    Args:
        rows: The rows of the store.
    """

    def __init__(self, rows: MutableMapping[str, ReplyAudit]) -> None:
        self._rows = rows

    def unconditional(self, choice: Choice, step: float, share: float) -> str:
        """Return the reason to request a choice without validators; "" if there is none.

        Args:
            choice: The visit.
            step: Time of the step, seconds since the epoch.
            share: Share of all visits that are audits.
        """
        if choice.reason == PAIR:
            return PAIR
        return "" if choice.reason in _UNVISITED else self.plain(choice.url, step, share)

    def plain(self, url: str, step: float, share: float) -> str:
        """Return the reason to request a URL without validators; "" if there is none.

        Args:
            url: The URL.
            step: Time of the step, seconds since the epoch.
            share: Share of all visits that are audits, once some were made; 0: no audits.
        """
        row, host = self._rows.get(_name(url)), self._rows.get(_host(url))
        if row is not None and not row.trusted(step):
            return UNTRUSTED_VALIDATORS
        is_clean = row is not None and row.clean >= _KNOWN
        if not is_clean and host is not None and not host.trusted(step):
            return UNTRUSTED_VALIDATORS
        if share > 0.0 and not is_clean:
            share = max(share, _EARLY)
        return AUDIT if random_sample(f"{AUDIT} {url}", step) < share else ""

    def lied(self, visit: Visit, step: float, *, changed: bool) -> bool:
        """Learn from an audit; True if the page changed under the same validators.

        Args:
            visit: The audit.
            step: Time of the step, seconds since the epoch.
            changed: The verdict on it; validators need not change with noise.
        """
        capture, record = visit.capture, visit.history
        if capture is None or record is None or visit.status != 200 or not record.date:
            return False
        validator = (
            (record.etag, b"etag") if record.etag else (record.last_modified, b"last-modified")
        )
        if not validator[0] or capture.header(validator[1]) != validator[0]:
            return False
        lied = changed and capture.payload_digest != record.served
        self.observe(visit.uri.url, step, lied=lied)
        return lied

    def observe(self, url: str, step: float, *, lied: bool) -> None:
        """Count an audit whose reply had the validators of the last 200."""
        for name in (_name(url), _host(url)):
            row = self._rows.get(name) or ReplyAudit()
            row.observe(step, lied=lied)
            self._rows[name] = row


def _host(url: str) -> str:
    return f"{authority(url)} *"


def _name(url: str) -> str:
    return f"{authority(url)} {shaped(url).name}"


LARGEST = 2_000_000
"""Bytes above which pages are compared by payload only."""
_RECENT = 50


class ArchivedVersions:
    """`Versions` of the judge that reads the old pages from the archive.

    Args:
        root: Directory of the job.
        store: Its store.
        pages: The rows with the current version of each page.
        digests: Place of each payload.
    """

    def __init__(self, root: Path, store: Store, pages: PageStore, digests: Digests) -> None:
        self._bases = Bases(root, store, digests)
        self._pages = pages
        self._digests = digests
        self._rendered = RenderedDocuments(store)
        self._views: OrderedDict[str, PageView] = OrderedDict()
        self._read = "", "", PageView()

    def last(self, url: str) -> PageView | None:
        """See `Versions`."""
        view = self._views.get(url)
        if view is not None:
            return view
        version = self._pages.version(url)
        if version is not None and version.rendered:
            row = self._rendered.get(url, judged=True)
            if row is None:
                return None
            return replace(page_view(row.dom.decode("utf-8", "replace")), rendered=True)
        stored = self._stored_view(url)
        if version is None or stored is None:
            return None
        return newest_version(stored, version.unstored)

    def _stored_view(self, url: str) -> PageView | None:
        """Return the last stored version, parsed; None if it cannot be read."""
        version = self._pages.version(url)
        if version is None:
            return None
        if (url, version.digest) != self._read[:2]:
            capture = self.capture(version.digest, version.framing)
            if capture is None:
                return None
            # What was read as windows-1252 may have been a default: it is looked at again.
            unsure = version.charset == "cp1252"
            text = page_text(capture) if unsure else text_of(capture, version.charset)
            self._read = url, version.digest, page_view(text)
        return self._read[2]

    def keep(self, url: str, view: PageView) -> None:
        """See `Versions`; a second visit within the step finds it in memory."""
        self._views[url] = view
        self._views.move_to_end(url)
        if len(self._views) > _RECENT:
            self._views.popitem(last=False)

    def leave_out(self, url: str) -> bool:
        """Keep the differences of a version that is not stored, to compare later versions with it.

        Returns:
            Whether they were kept; False if the version differs too much from the stored one.
        """
        version, stored, newest = self._pages.version(url), self._stored_view(url), self.last(url)
        if version is None or stored is None or newest is None:
            return False
        unstored = unstored_version(stored, newest)
        if unstored is not None and unstored != version.unstored:
            self._pages.put_version(url, replace(version, unstored=unstored))
        return unstored is not None

    def capture(self, digest: str, framing: str) -> Capture | None:
        """Return a payload with the first reply that had it; None if it cannot be read."""
        original = self._digests.get(digest, framing)
        path = None if original is None else self._bases.path(original)
        if original is None or path is None:
            return None
        capture = read_at(path, original.offset, self._bases.block)
        return capture if capture is not None and capture.payload_digest == digest else None

    def base(self, delta: Delta) -> bytes:
        """Return the base of a difference; see `archive.restoring.FindBase`."""
        return self._bases.block(delta)

    def moved_on(self, url: str, capture: Capture, charset: str, full: float) -> None:
        """Compare later versions with the version just stored; `full`: see `VersionRow`."""
        framing = "chunked" if capture.framing == "chunked" else ""
        version = VersionRow(capture.payload_digest, framing, charset, full)
        before = self._pages.version(url)
        if before is not None and before.rendered:
            self._rendered.drop(url, judged=True)
        self._pages.put_version(url, version)

    def moved_on_rendered(self, visit: Visit, capture: Capture, full: float) -> None:
        """Compare later versions with the final document of a page that was run in a browser."""
        url = visit.uri.url
        if capture.status == 304:
            version = self._pages.version(url) or VersionRow("")
        else:
            framing = "chunked" if capture.framing == "chunked" else ""
            version = VersionRow(capture.payload_digest, framing, visit.charset)
        version = replace(version, full=full, unstored=None, rendered=True)
        self._pages.put_version(url, version)
        self._rendered.put(url, final_dom(visit), capture.began, judged=True)


def body_of(capture: Capture, charset: str) -> bytes:
    """Return the decoded body as UTF-8, cut at `LARGEST`."""
    return text_of(capture, charset).encode("utf-8", "replace")


def text_of(capture: Capture, charset: str) -> str:
    """Return the text of a page without its content coding."""
    return decode(_decoded(capture), charset or "utf-8")


def page_text(capture: Capture) -> str:
    """Return the text of a page whose charset is not known: it is detected."""
    body = _decoded(capture)
    header = b"".join(capture.header_values(b"content-type")).lower()
    label = header.partition(b"charset=")[2].partition(b";")[0].strip(b" \"'")
    return decode(body, detect(body, label.decode("latin-1"), capture.url)[0])


def _decoded(capture: Capture) -> bytes:
    body = capture.payload(LARGEST)
    encodings = capture.header_values(b"content-encoding")
    if encodings and body:
        body = decode_content(body, encodings, LARGEST).data
    return body


WHOLE = "pages.whole"
"""Counter: 1 while the WARCs of all runs are to be read, incremental ones too."""
_TEMPLATES_EVERY = 5.0
"""Seconds between two writes of templates and link rules, which are large and change often.
If the process is killed, only their changes since the last write are lost."""


class Knowledge:
    """The rows, and the judge that works on them.

    Args:
        root: Directory of the job.
        store: Its store.
        settings: When a difference is a change.
        time: Returns monotonic seconds.

    Attributes:
        pages: Rows of pages.
        sites: Rows of sites, and the lists that index pages showed.
        versions: Last versions.
        judge: Compares.
        log: The fetch log.
        changes: The changes that visits found.
        audits: Whether 304 replies are correct.
    """

    def __init__(
        self, root: Path, store: Store, settings: ChangeSettings, time: Callable[[], float]
    ) -> None:
        self._time = time
        self._written = time()
        self.pages = PageStore(store)
        self.log = FetchLog(store)
        self.changes = ChangeLog(store)
        sites = Named(store, SITES, SiteRow)
        lists = Named(store, LISTS, ShownRow, capacity=200, frozen=True)
        self._rules = Named(store, RULES, RuleRow, capacity=200)
        maps = Named(store, MAPS, MapRow, frozen=True)
        self._traps = Named(store, TRAPS, TrapRow, capacity=200)
        self._templates = Named(store, TEMPLATES, Template, capacity=50)
        errors = Named(store, ERRORS, ErrorModel)
        past = Named(store, PAST, PastVersions, frozen=True)
        audits = Named(store, AUDITS, ReplyAudit)
        self._often = (sites, lists, maps, errors, past, audits)
        self.audits = Audits(audits)
        self.sites = Sites(sites, lists, self._rules, self._traps, maps)
        self.versions = ArchivedVersions(root, store, self.pages, Digests(store))
        lessons = Lessons(self._templates, errors, past)
        self.judge = PageJudge(self.versions, lessons, settings)

    def seal(self) -> None:
        """Write what changed; called just before a group is sealed."""
        for rows in self._often:
            rows.seal()
        if self._time() - self._written >= _TEMPLATES_EVERY:
            self.seal_all()

    def seal_all(self) -> None:
        """Write everything: the last group is about to be sealed."""
        for rows in (*self._often, self._templates, self._rules, self._traps):
            rows.seal()
        self._written = self._time()
