"""The interfaces of the planner: what a visit showed, and who compares versions (pure).

The planner sees HTTP and nothing else.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from nacre.core.pagerow import PageKind, PageRow, PageView
from nacre.core.urlshape import shaped
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.change_detection.template import EventKeys, PieceDifference
from nacre.planner.discovery.traps import print_of


class SeenLink(Protocol):
    """A link of a page."""

    @property
    def url(self) -> str:
        """The target URL."""
        ...

    @property
    def hop(self) -> str:
        """The kind of link that led to it, a letter of a hop path."""
        ...

    @property
    def text(self) -> str:
        """Its text; "" if it has none."""
        ...

    @property
    def lastmod(self) -> str:
        """The last change according to a sitemap or feed, as written; "" for none."""
        ...

    @property
    def rel(self) -> str:
        """Its relation, lower case, such as `next`; "" for none."""
        ...


class Visited(Protocol):
    """The result of a visit."""

    @property
    def url(self) -> str:
        """The visited URL."""
        ...

    @property
    def time(self) -> float:
        """The time of the visit, seconds since the epoch."""
        ...

    @property
    def status(self) -> int:
        """HTTP status, including 304; 0 or less if there was no reply."""
        ...

    @property
    def digest(self) -> str:
        """Digest of the payload; "" if there is none."""
        ...

    @property
    def mime(self) -> str:
        """Media type."""
        ...

    @property
    def length(self) -> int:
        """Bytes of the body received."""
        ...

    @property
    def links(self) -> Sequence[SeenLink]:
        """The links in document order, including redirects."""
        ...

    @property
    def body(self) -> Callable[[], bytes]:
        """Returns the decoded body."""
        ...

    @property
    def rendered(self) -> bool:
        """Whether the body is the final document of a page that was run in a browser."""
        ...

    @property
    def wall(self) -> str:
        """Verdict on a reply that is no page of the site, such as `challenge`; "" for a page."""
        ...


class VisitFinding(NamedTuple):
    """The verdict of a judge on a visit.

    Attributes:
        answer: Its result about the page's existence.
        kind: How the page differs from its last version.
        score: The share that differs.
        reason: Code of the reason.
        listing: Probability that it is an index page; None if it was not estimated.
        noise: Probability that an unchanged page of this template looks changed.
        suspect: Place of a difference that may be noise, which a second visit would show; 0: none.
        is_version: The visit is the version that later ones are compared with.
        proven: It is proven that a reader sees nothing new: it need not be stored.
        evidence: The first decisive differences, as text.
        unproven: The names of differences that other pages of the run may yet prove to be noise.
        differing: The differences that make it a change.
        view: The page, parsed; None if it was not.
    """

    answer: Answer
    kind: ChangeClass = ChangeClass.NONE
    score: float = 0.0
    reason: str = ""
    listing: float | None = None
    noise: float = 0.0
    suspect: int = 0
    is_version: bool = False
    proven: bool = False
    evidence: str = ""
    unproven: tuple[EventKeys, ...] = ()
    differing: Sequence[PieceDifference] = ()
    view: PageView | None = None


class Judge(Protocol):
    """Compares a visit with earlier ones, by digest alone or by the content of the page."""

    def judge(self, row: PageRow, visit: Visited) -> VisitFinding:
        """Return the finding; `row` is the row before the visit."""
        ...

    def pair(self, row: PageRow, visit: Visited) -> frozenset[int]:
        """Learn from a second visit within the step: differences from the first are noise.

        Returns:
            The places that differ; none if the page cannot be compared.
        """
        ...

    def pairs_wanted(self, url: str) -> int:
        """Return the number of second visits that are still useful for the site of a URL."""
        ...

    def says(self, visit: Visited) -> int:
        """Return a fingerprint of the text of a page, without the words of its URL; see `traps`."""
        ...

    def dropped(self, visit: Visited) -> Sequence[str]:
        """Return the URLs that the last version linked to and the page just judged does not."""
        ...


class Rows(Protocol):
    """The rows of all known pages."""

    def get(self, url: str) -> PageRow | None:
        """Return the row of a URL; None if it is unknown."""
        ...

    def put(self, row: PageRow) -> None:
        """Keep a row."""
        ...

    def scan(self) -> Iterator[PageRow]:
        """All rows; they may be put during the scan."""
        ...


class MemoryRows:
    """Rows in a dictionary."""

    def __init__(self) -> None:
        self._rows: dict[str, PageRow] = {}

    def get(self, url: str) -> PageRow | None:
        """See `Rows`."""
        return self._rows.get(url)

    def put(self, row: PageRow) -> None:
        """See `Rows`."""
        self._rows[row.url] = row

    def scan(self) -> Iterator[PageRow]:
        """See `Rows`."""
        return iter(list(self._rows.values()))


class DigestJudge:
    """Treats a page as changed if its payload changed, as Nutch and Heritrix do."""

    def judge(self, row: PageRow, visit: Visited) -> VisitFinding:
        """See `Judge`."""
        answer = answer_of(visit.status)
        if visit.status == 304 or answer is not Answer.THERE or not row.digest:
            return VisitFinding(answer)
        same = visit.digest == row.digest
        return VisitFinding(
            answer, ChangeClass.NONE if same else ChangeClass.MAJOR, reason="payload"
        )

    def pair(self, row: PageRow, visit: Visited) -> frozenset[int]:
        """A digest has nothing to learn."""
        return frozenset()

    def pairs_wanted(self, url: str) -> int:
        """See `Judge`."""
        return 0

    def says(self, visit: Visited) -> int:
        """See `Judge`."""
        return print_of(visit.digest)

    def dropped(self, visit: Visited) -> Sequence[str]:
        """A digest has no links."""
        return ()


def answer_of(status: int) -> Answer:
    """Return the evidence about a page's existence from the status alone."""
    if status == 304 or 200 <= status < 300:
        return Answer.THERE
    if status in {301, 302, 303, 307, 308}:
        return Answer.MOVED
    if status in {404, 410}:
        return Answer.GONE if status == 410 else Answer.MISSING
    return Answer.SILENT


def unknown_page(
    url: str,
    now: float,
    depth: int,
    kind: PageKind = PageKind.PAGE,
    *,
    lastmod: str = "",
    born: float = 0.0,
) -> PageRow:
    """Return the row of a new page; see the attributes of the same names."""
    return PageRow(
        url,
        kind,
        template=shaped(url).name,
        first_seen=now,
        born=born,
        lastmod=lastmod,
        depth=depth,
    )
