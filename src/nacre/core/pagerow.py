"""The rows of a page in incremental crawling: facts from all its visits.

`PageRow` is the hot row; `TimingRow` has the data of a schedule, `DiscoveryRow` the way to the
page, `VersionRow` the place of its last version, `PageView` its parts, which are compared.
"""

from enum import StrEnum

import msgspec


class Piece(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One piece of a page: a block of text, a link, a picture, an attachment.

    Attributes:
        kind: `text`, `heading`, `title`, `date`, `link`, `image` or `file`; `nav` and `nav-link`
            for a block that is little but links (lists, menus, "next page"); `advert` for whatever
            is within an element that is marked as one.
        place: Hash of the path of block elements around it, positions left out: pieces of one list
            share it, and so do the pages of one template.
        text: The text, spaces collapsed, NFKC; or the address of a link, picture or file without
            session IDs and cache busters.
        is_line: A line break, no block, separates it from the text before.
    """

    kind: str
    place: int
    text: str
    is_line: bool = False


class PieceEdit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Pieces of one version of a page in the place of some of another.

    Attributes:
        start: Number of the first piece that is replaced, from 0.
        end: Number of the piece behind the last; equal to `start` where pieces only come.
        pieces: What is there instead.
    """

    start: int
    end: int
    pieces: tuple[Piece, ...]


class Shape(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Measures that distinguish a list of links from a text. A Chinese character counts as three.

    Attributes:
        text: Length of all text.
        anchors: Length of the text inside links.
        links: Links with text.
        group: Links in the largest group at one place.
        group_length: Median length of their texts.
        longest: Longest block of text outside links.
        dated: Blocks that are or end with a date, as lists show it beside each link.
    """

    text: int = 0
    anchors: int = 0
    links: int = 0
    group: int = 0
    group_length: int = 0
    longest: int = 0
    dated: int = 0


class PageView(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page as pieces in document order.

    Attributes:
        pieces: Its text in pieces.
        paper: Digest of the text in `p`, `span` and beside `br`: the National Library of China's
            test.
        text: All text in document order, for whole-text signatures.
        truncated: Not all of it was read.
        shape: Measures that distinguish an index page from a content page.
        rendered: It is the final document of a page that was run in a browser.
    """

    pieces: tuple[Piece, ...] = ()
    paper: bytes = b""
    text: str = ""
    truncated: bool = False
    shape: Shape = Shape()
    rendered: bool = False


_Bytes = bytes
"""The type, where a field has its name."""


class PageKind(StrEnum):
    """The purpose of the visits to a URL."""

    PAGE = "page"
    INDEX = "index"
    SITEMAP = "sitemap"
    FEED = "feed"
    EMBED = "embed"
    FILE = "file"


class PageRow(msgspec.Struct, array_like=True):
    """One row for each URL ever fetched; survives runs. Times are seconds since the epoch, UTC.

    The validators, digests and place of the last capture are in `core.history.HistoryRecord`.

    Attributes:
        url: The URL.
        kind: What it is visited for.
        template: Its URL template.
        first_seen: Time of its discovery.
        born: When it was published, as far as known; 0: long ago, or open.
        last_visit: Last visit that gave an answer; 0 before any.
        last_change: Last visit that found it changed; 0 for none.
        visits: Visits that gave an answer.
        changes: Those that found it changed.
        noise: Those at which only noise differed.
        errors: Visits without an answer.
        evidence: Likelihood of its rate, see `change_rate.rates`; b"" before the second visit.
        arrivals: The same of the new links that it shows; b"" if it shows none.
        digest: Payload digest of its last answer.
        life: `change_detection.deletion.Life`.
        life_since: Since when.
        looks: Looks at it since it is gone.
        target: Where it moved to.
        told: Sources that reported a change since the last visit.
        lastmod: Its last change by a sitemap or feed, as written.
        listed: When a sitemap last named it; 0 for never.
        index: Probability that it is an index page.
        fertile: Visits at which it showed new links.
        steady: Of earlier versions; not used.
        weight: Its importance to the operator.
        bytes: Bytes of its last answer.
        depth: Hops from a start page.
        dated: Of earlier versions; not used.
        map: The sitemap that listed it then, `discovery.hints.map_name`; 0: unknown.
        recent: Results of its latest visits, if older visits may be forgotten, see
        `planner.change_rate.rates.with_recent`; b"" for nothing.
    """

    url: str
    kind: PageKind = PageKind.PAGE
    template: str = ""
    first_seen: float = 0.0
    born: float = 0.0
    last_visit: float = 0.0
    last_change: float = 0.0
    visits: int = 0
    changes: int = 0
    noise: int = 0
    errors: int = 0
    evidence: bytes = b""
    arrivals: bytes = b""
    digest: str = ""
    life: str = "live"
    life_since: float = 0.0
    looks: int = 0
    target: str = ""
    told: tuple[str, ...] = ()
    lastmod: str = ""
    listed: float = 0.0
    index: float = 0.0
    fertile: int = 0
    steady: int = 0
    weight: float = 1.0
    bytes: int = 0
    depth: int = 0
    dated: int = 0
    map: int = 0
    recent: _Bytes = b""

    def tell(self, source: str) -> None:
        """Record that a source of hints reports a change since the last visit."""
        if source not in self.told:
            self.told = (*self.told, str(source))

    def answered(self, time: float, *, changed: bool, noise: bool = False) -> None:
        """A visit showed the state of the page: earlier hints are settled."""
        self.visits += 1
        self.changes += changed
        self.noise += noise
        self.last_change = time if changed else self.last_change
        self.last_visit = time
        self.told = ()

    def take_back_change(self) -> None:
        """The last visit found noise: other pages of its run have shown it to be of their site."""
        self.changes -= 1
        self.noise += 1

    def unanswered(self) -> None:
        """A visit showed nothing of the page."""
        self.errors += 1

    def classify(self, kind: PageKind) -> None:
        """Record that a visit showed content of the expected kind."""
        self.kind = kind

    def live(self, life: str, since: float, looks: int, target: str) -> None:
        """Visits showed whether the page exists; see the attributes of these names."""
        self.life, self.life_since, self.looks, self.target = life, since, looks, target

    def showed(self, digest: str, length: int, listing: float | None) -> None:
        """A visit showed a version of the page.

        Args:
            digest: Payload digest; "" keeps the one before.
            length: Bytes; 0 keeps the number before.
            listing: Probability that it is an index page; None keeps the one before.
        """
        self.digest = digest or self.digest
        self.bytes = length or self.bytes
        self.index = self.index if listing is None else listing

    def rated(self, evidence: _Bytes, recent: _Bytes = b"") -> None:
        """Set its learned rate of change; b"" keeps the results of its latest visits."""
        self.evidence = evidence
        self.recent = recent or self.recent

    def showed_links(self, arrivals: _Bytes) -> None:
        """Set its learned rate of new links."""
        self.arrivals = arrivals

    def listed_in(self, name: int, time: float) -> None:
        """Record that the sitemap of a name (`discovery.hints.map_name`) lists it at a time."""
        self.listed, self.map = time, name

    def redate(self, lastmod: str) -> None:
        """Record its last change by a sitemap or feed, as written."""
        self.lastmod = lastmod


class TimingRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One page under a schedule; survives runs. Times are seconds since the epoch, UTC.

    Attributes:
        url: The page.
        kind: The schedule that wrote this; another schedule starts from zero.
        visited: The last visit that is included; earlier visits are included already.
        interval: Time between visits, s.
        due: When it is due next; infinity for never.
        modified: When it changed last, as Nutch has it; 0 when unknown.
        retries: Failures in a row.
        signed: There is a version to compare the next one with.
        mime: Its media type at the last visit that had one.
    """

    url: str
    kind: str
    visited: float
    interval: float
    due: float
    modified: float = 0.0
    retries: int = 0
    signed: bool = True
    mime: str = ""


class DiscoveryRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first way to a page, so that the scope can judge it again.

    Attributes:
        via: The page that led there; "" for a seed.
        path: Its hop path; "" for a seed.
        context: Its link context.
        source: Its source tag; "" for none.
        owner: The seed with its own scope that it descends from; "" for none.
        sitemap: Whether its page was a sitemap.
    """

    via: str = ""
    path: str = ""
    context: str = ""
    source: str = ""
    owner: str = ""
    sitemap: bool = False


class UnstoredVersion(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The newest version of a page, judged and not stored: its difference from a stored one.

    Attributes:
        base: Digest of the stored version, as it was taken apart then.
        edits: What differs, in the order of the page.
    """

    base: int
    edits: tuple[PieceEdit, ...]


class VersionRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last version of a page that is stored, to be read back when the page looks changed.

    Attributes:
        digest: Its payload digest.
        framing: Its transfer framing: `chunked` or "".
        charset: Charset it was read in; "" for none.
        full: When a version was last stored in full, seconds since the epoch.
        unstored: The version that the next one is compared with, if it is a newer one; None if
            it is this one.
        rendered: The page was run in a browser: its document is in `history.rendered`.
    """

    digest: str
    framing: str = ""
    charset: str = ""
    full: float = 0.0
    unstored: UnstoredVersion | None = None
    rendered: bool = False


class ChosenRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A visit that the planner chose in the current step, so that a killed run can go on.

    Attributes:
        url: The URL.
        chance: Its forecast.
        reason: Why.
        propensity: Probability with which it was chosen.
        done: It was made.
    """

    url: str
    chance: float = 0.0
    reason: str = ""
    propensity: float = 1.0
    done: bool = False
