"""The known share of each sequence of numbered pages, and its gaps (pure).

Where the pages of a template are numbered as they appear, numbers that were never seen are pages
that were deleted, never published, or missed.
"""

from collections import defaultdict

import msgspec

from nacre.core.pagerow import PageKind
from nacre.core.urlshape import shaped
from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.recrawl_data import RecrawlData
from nacre.inspect.analysis.templates import gather
from nacre.inspect.reports.base import Audience, ReportRequest
from nacre.messages import message
from nacre.planner.discovery.link_rules import Coverage, LinkRule, coverage, numbers_of
from nacre.report.document import Bars, Column, DataTable, Format, ReportDocument, Section, Series

_BINS = 40


class NumberGap(msgspec.Struct, frozen=True):
    """A run of numbers that were never seen."""

    first: int
    last: int


class NumberSequence(msgspec.Struct):
    """The numbers of one template.

    Attributes:
        template: The template.
        first: Lowest number.
        last: Highest number.
        seen: Different numbers seen.
        share: Of all numbers from the first to the last.
        a_day: Numbers given out a day, by the first and last time that new ones were seen; 0 when
            all were seen at once.
        gaps: The longest runs of numbers never seen, longest first.
        bins: Share seen of each of 40 equal parts of the sequence, or of fewer in a short one.
    """

    template: str
    first: int
    last: int
    seen: int
    share: float
    a_day: float
    gaps: list[NumberGap]
    bins: list[float]


class SequenceCoverage(msgspec.Struct):
    """All sequences, the least complete first."""

    sequences: list[NumberSequence]


def sequence_coverage(data: RecrawlData) -> SequenceCoverage:
    """Find the sequences and their gaps."""
    rules = {name: item.rule() for name, item in gather(data.rows()).items()}
    places = {name: rule.at for name, rule in rules.items() if rule.rule is LinkRule.SEQUENCE}
    pairs_by_name: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
    for row in data.rows() if places else ():
        item = shaped(row.url)
        name = row.template or item.name
        numbers = numbers_of(item.tokens)
        at = places.get(name, len(numbers))
        if row.kind is not PageKind.EMBED and at < len(numbers):
            pairs_by_name[name].append((row.first_seen, numbers[at]))
    results = [
        _sequence(name, pairs, covered)
        for name, pairs in pairs_by_name.items()
        if (covered := coverage([number for _, number in pairs])) is not None
    ]
    results.sort(key=lambda item: (item.share, item.template))
    return SequenceCoverage(results)


def _sequence(name: str, pairs: list[tuple[float, int]], covered: Coverage) -> NumberSequence:
    return NumberSequence(
        name,
        covered.first,
        covered.last,
        covered.seen,
        covered.share,
        _a_day(pairs),
        [NumberGap(*gap) for gap in covered.gaps],
        _bins(covered, {number for _, number in pairs}),
    )


def _a_day(pairs: list[tuple[float, int]]) -> float:
    """Growth of the highest number between the first time of seeing any and the last."""
    start, end = min(pairs)[0], max(pairs)[0]
    if end <= start:
        return 0.0
    before = max(number for time, number in pairs if time == start)
    return max(0, max(number for _, number in pairs) - before) / ((end - start) / 86_400.0)


def _bins(covered: Coverage, numbers: set[int]) -> list[float]:
    length = covered.last - covered.first + 1
    count = min(_BINS, length)
    inside = [0] * count
    for number in numbers:
        inside[(number - covered.first) * count // length] += 1
    # A part holds the numbers whose place in the sequence falls into it.
    edges = [-(-at * length // count) for at in range(count + 1)]
    return [
        amount / (after - before)
        for amount, before, after in zip(inside, edges, edges[1:], strict=False)
    ]


def document(results: SequenceCoverage) -> ReportDocument:
    """The gaps for people."""
    text: tuple[str, ...] = (
        message(
            "study.sequences-explained",
            "Pages whose numbers rise as they appear. A gap holds pages that were deleted, "
            "never published, or missed.",
        ),
    )
    if not results.sequences:
        text += (
            message(
                "study.no-sequence",
                "No template of this job counts its pages (rule S of `nacre report JOB "
                "templates`).",
            ),
        )
    columns = (
        Column("template", Format.URL),
        *(Column(name, Format.COUNT) for name in ("first number", "last number", "numbers seen")),
        Column("share", Format.SHARE),
        Column("numbers a day", Format.NUMBER),
        Column("gaps", Format.COUNT),
    )
    rows = tuple(
        (
            sequence.template,
            sequence.first,
            sequence.last,
            sequence.seen,
            sequence.share,
            sequence.a_day,
            len(sequence.gaps),
        )
        for sequence in results.sequences
    )
    whole = Section("", text, tables=(DataTable("Sequences", columns, rows),))
    return ReportDocument(
        "Coverage by number",
        (whole, *(_section(sequence) for sequence in results.sequences if sequence.gaps)),
    )


def _section(sequence: NumberSequence) -> Section:
    title = "Share seen along the sequence"
    length = sequence.last - sequence.first + 1
    labels = tuple(
        str(sequence.first + at * length // len(sequence.bins)) for at in range(len(sequence.bins))
    )
    plot = Bars(
        title,
        labels,
        (Series("seen", tuple(sequence.bins)),),
        "of its numbers",
    )
    names = (
        "from number",
        "to number",
        "numbers missing",
    )
    columns = tuple(Column(name, Format.COUNT) for name in names)
    rows = tuple((gap.first, gap.last, gap.last - gap.first + 1) for gap in sequence.gaps)
    return Section(
        sequence.template, plots=(plot,), tables=(DataTable("Longest gaps", columns, rows),)
    )


class CoverageReport(Analysis):
    """Gaps in numbered pages."""

    name = "coverage"
    summary = "gaps in numbered pages"
    audience = Audience.CURATOR

    def analyze(self, data: RecrawlData, request: ReportRequest) -> SequenceCoverage:
        """See `Analysis.analyze`."""
        return sequence_coverage(data)

    def document(self, data: SequenceCoverage, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
