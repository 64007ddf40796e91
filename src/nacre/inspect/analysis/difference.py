"""The differences between two versions of a page, and which of them are noise (pure)."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import msgspec

from nacre.core.clock import iso
from nacre.core.pagerow import PageView, Piece
from nacre.errors import JobError
from nacre.extract.pageview import page_view
from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.recrawl_data import RecrawlData
from nacre.inspect.analysis.wording import DECIDED_BY
from nacre.inspect.archived_replies import ArchivedReply
from nacre.inspect.reports.base import Audience, ReportRequest, ReportSubject
from nacre.messages import message, static
from nacre.planner.change_detection.change import ChangeSettings, compare
from nacre.planner.change_detection.pairing import in_document_order
from nacre.planner.change_detection.template import PieceDifference, Template
from nacre.report.document import Compared, Comparison, ReportDocument, Section
from nacre.report.formatting import share, url_facts
from nacre.uri.parse import authority

_INDEX = 0.5
_CONTEXT = 2
"""Pieces that both versions have, shown before and after each that differs."""
_READ = frozenset(("title", "heading", "text"))
"""Kinds of pieces that are shown as context."""
LEFT_OUT = "…"
"""Kind of a piece that stands for others, which are not shown."""
_HTML = ("text/html", "application/xhtml+xml")
NOISE = {
    "masked": message("study.clock-or-counter", "a clock or a counter"),
    "token": message("study.token", "a token of letters and digits"),
    "advert": message("study.advertisement", "is part of an advertisement"),
    "volatile": message("study.differs-within-seconds", "two fetches within seconds differ here"),
    "frame": message("study.site-frame", "a part of the frame of the site that other pages have"),
    "churn": message(
        "study.differs-at-each-visit", "differed at each visit, and once within seconds"
    ),
    "variant": message("study.variant-block", "comes and goes by itself on pages of the site"),
    "typography": message("study.typography", "other quotation marks or dashes"),
    "link-token": message(
        "study.link-token", "a token that the site writes into its links at each request"
    ),
    "event": message(
        "study.site-event", "other pages of the site changed in the same way in the same run"
    ),
    "navigation": message("study.navigation", "leads around; it is not what the page says"),
}
"""Why a piece does not count, in words."""


class DifferingPiece(msgspec.Struct, frozen=True):
    """A piece that differs.

    Attributes:
        kind: What it is, see `core.pagerow.Piece`.
        was: In the older version; None where it is new.
        now: In the newer one; None where it is gone.
        noise: Code of why it does not count, see `change_detection.excuses.Excuses.code`;
            "" when it does.
    """

    kind: str
    was: str | None
    now: str | None
    noise: str


class ComparedPages(msgspec.Struct, frozen=True):
    """The comparison of two pages, without their captures.

    Attributes:
        kind: The verdict, a class of changes.
        score: Share of the page that differs, noise weighed down.
        reason: Code of what decided.
        pieces: The differences, in document order.
        same: Pieces that both pages have.
        context: The differences, and up to two pieces around each that both pages have: their
            `was` equals `now`. A piece of the kind `…` stands for more of those.
    """

    kind: str
    score: float
    reason: str
    pieces: list[DifferingPiece]
    same: int
    context: list[DifferingPiece]


def compare_pages(
    before: PageView,
    after: PageView,
    template: Template | None = None,
    settings: ChangeSettings | None = None,
    *,
    listing: bool = False,
) -> ComparedPages:
    """Compare two pages piece by piece.

    Args:
        before: The older version.
        after: The newer one.
        template: The knowledge of their site; None for none.
        settings: When a difference is a change; None for the defaults.
        listing: The page is an index, whose links are content.
    """
    verdict = compare(
        before, after, template or Template(), settings or ChangeSettings(), listing=listing
    )
    codes = dict(verdict.differing)
    differing = in_document_order(list(codes), before.pieces, after.pieces)
    pieces = [_piece(item, codes[item]) for _, item in differing]
    return ComparedPages(
        str(verdict.kind),
        verdict.score,
        verdict.reason,
        pieces,
        len(after.pieces) - sum(item.now is not None for _, item in differing),
        _in_context([place for place, _ in differing], pieces, after.pieces),
    )


class ScoreDifference(msgspec.Struct):
    """Two versions of a page.

    Attributes:
        url: The page.
        old: Date of the older version.
        new: Date of the newer one.
        kind: The verdict on them, a class of changes.
        score: Share of the page that differs, noise weighed down.
        reason: Code of what decided.
        pieces: What differs, in document order.
        same: Pieces that both versions have.
        versions: Dates of all versions that are stored in full.
        judged: Verdict of the visit that brought the newer one, with its evidence; "" if unknown.
        shown: What differs, and up to two pieces around each that both versions have: their `was`
            equals `now`. A piece of the kind `…` stands for more of those.
    """

    url: str
    old: str
    new: str
    kind: str
    score: float
    reason: str
    pieces: list[DifferingPiece]
    same: int
    versions: list[str]
    shown: list[DifferingPiece] = []
    judged: str = ""


def page_difference(
    data: RecrawlData, url: str, dates: tuple[str, str] = ("", "")
) -> ScoreDifference:
    """The difference of two versions, by default the last two.

    Args:
        data: What is known.
        url: The page.
        dates: Beginnings of the dates of the older and the newer version; "" for the one before
            the newer, and for the last.

    Raises:
        JobError: There are no two versions, or one is not a page or cannot be read.
    """
    stored = _versions(data.captures((url,)))
    old, new = _chosen(url, stored, dates)
    row = data.row(url)
    compared = compare_pages(
        _view(data, old),
        _view(data, new),
        data.templates.get(authority(url)),
        data.change,
        listing=row is not None and row.index >= _INDEX,
    )
    return ScoreDifference(
        url,
        old.date,
        new.date,
        compared.kind,
        compared.score,
        compared.reason,
        compared.pieces,
        compared.same,
        [item.date for item in stored],
        compared.context,
        _judged(data, new),
    )


def _judged(data: RecrawlData, version: ArchivedReply) -> str:
    """The verdict of the visit that brought a version, which knew what other pages had changed."""
    result = (
        visit
        for visit in data.visits()
        if visit.url == version.url and iso(visit.time) == version.date
    )
    visit = next(result, None)
    if visit is None or not visit.kind:
        return ""
    reason = DECIDED_BY.get(visit.reason, visit.reason)
    return f"{visit.verdict} ({reason}) {visit.evidence}".strip()


def _versions(captures: Iterable[ArchivedReply]) -> list[ArchivedReply]:
    """Those with a page, each version once: a full run may store one again after a difference."""
    results: list[ArchivedReply] = []
    for item in captures:
        same = bool(results) and item.digest == results[-1].digest
        if not (item.is_revisit or item.status != "200" or same):
            results.append(item)
    return results


def _chosen(
    url: str, stored: Sequence[ArchivedReply], dates: tuple[str, str]
) -> tuple[ArchivedReply, ArchivedReply]:
    older, newer = dates
    at = _latest(stored, newer, len(stored))
    before = _latest(stored, older, at) if at is not None else None
    if at is None or before is None:
        have = ", ".join(item.date for item in stored) or message("study.no-date", "none")
        if older or newer:
            raise JobError(
                message(
                    "study.no-versions-of-dates",
                    "{url} has no two versions of the dates that were asked for in the archive; "
                    "stored in full are: {have}",
                    url=url,
                    have=have,
                )
            )
        raise JobError(
            message(
                "study.no-two-versions",
                "{url} has no two versions in the archive; stored in full are: {have}",
                url=url,
                have=have,
            )
        )
    return stored[before], stored[at]


def _latest(stored: Sequence[ArchivedReply], date: str, before: int) -> int | None:
    """The last version of a date ahead of a place in the list."""
    result = (at for at in range(before - 1, -1, -1) if stored[at].date.startswith(date))
    return next(result, None)


def _view(data: RecrawlData, capture: ArchivedReply) -> PageView:
    if capture.mime not in _HTML:
        raise JobError(
            message(
                "study.of-is",
                "{url} of {date} is {mime}: only HTML is compared",
                url=capture.url,
                date=capture.date,
                mime=capture.mime,
            )
        )
    text = data.text(capture)
    if text is None:
        raise JobError(
            message(
                "study.of-cannot-be-read",
                "{url} of {date} cannot be read from {file}; `nacre archive JOB check` reports "
                "its faults",
                url=capture.url,
                date=capture.date,
                file=capture.file or message("study.warc", "its WARC"),
            )
        )
    return page_view(text)


def _in_context(
    places: Sequence[int], differing: Sequence[DifferingPiece], after: Sequence[Piece]
) -> list[DifferingPiece]:
    """What differs, with the pieces around it.

    Args:
        places: Where the pieces that differ are in the newer version, or would be.
        differing: These pieces, in the same order.
        after: All pieces of the newer version.
    """
    changed = {at for at, item in zip(places, differing, strict=True) if item.now is not None}
    around = [at for at, piece in enumerate(after) if piece.kind in _READ and at not in changed]
    pieces: list[DifferingPiece] = []
    begin = 0
    for at, difference in zip(places, differing, strict=True):
        end = bisect_left(around, at)
        between = around[begin:end]
        pieces += _unchanged(after, between, _both_ends(between) if pieces else between[-_CONTEXT:])
        pieces.append(difference)
        begin = max(begin, end)
    following = around[begin:] if pieces else []
    return [*pieces, *_unchanged(after, following, following[:_CONTEXT])]


def _both_ends(places: Sequence[int]) -> list[int]:
    return sorted({*places[:_CONTEXT], *places[-_CONTEXT:]})


def _unchanged(
    after: Sequence[Piece], places: Sequence[int], visible: Sequence[int]
) -> list[DifferingPiece]:
    """Pieces that are shown as they are; one that stands for those left out between them."""
    results: list[DifferingPiece] = []
    for at in places:
        if at in visible:
            text = after[at].text
            results.append(DifferingPiece(after[at].kind, text, text, ""))
        elif not results or results[-1].kind != LEFT_OUT:
            results.append(DifferingPiece(LEFT_OUT, LEFT_OUT, LEFT_OUT, ""))
    return results


def _piece(item: PieceDifference, noise: str) -> DifferingPiece:
    was, now = (None if side is None else side.text for side in item)
    return DifferingPiece(item.piece.kind, was, now, noise)


def document(result: ScoreDifference) -> ReportDocument:
    """The difference for people."""
    facts = (
        *url_facts(result.url),
        (
            "Verdict",
            message(
                "study.verdict",
                "{verdict} ({reason}), score {score}",
                verdict=static(result.kind),
                reason=static(result.reason),
                score=share(result.score),
            ),
        ),
        *((("Verdict of the visit", result.judged),) if result.judged else ()),
        ("Pieces that stayed", f"{result.same:,}"),
        ("Versions stored in full", ", ".join(result.versions)),
    )
    pieces = tuple(
        Compared(piece.kind, piece.was, piece.now, NOISE.get(piece.noise, piece.noise))
        for piece in result.shown or result.pieces
    )
    text = (
        message(
            "study.grey-pieces",
            "Grey pieces differ without the page saying anything else; the last column says why.",
        ),
    )
    comparison = Comparison(result.old, result.new, pieces)
    return ReportDocument(
        "Two versions of a page", (Section("", text, facts, comparison=comparison),)
    )


class DifferenceReport(Analysis):
    """Two versions of a page side by side."""

    name = "diff"
    summary = "two versions of a page, noise marked with its reason"
    audience = Audience.CURATOR
    subject = ReportSubject.PAGE

    def analyze(self, data: RecrawlData, request: ReportRequest) -> ScoreDifference:
        """See `Analysis.analyze`."""
        return page_difference(data, request.url, (request.old, request.new))

    def document(self, data: ScoreDifference, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
