"""The trust in the hints of each site: their announcements, and the results of visits (pure)."""

from collections import Counter

import msgspec

from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.recrawl_data import RecrawlData
from nacre.inspect.reports.base import ReportRequest
from nacre.messages import message
from nacre.planner.discovery.hints import HintTrust, ReplyAudit, believes
from nacre.planner.recall import beta_quantile
from nacre.planner.sites import SiteRow
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section

_HALF = 0.5
_TAIL = 0.05


class SourceTrust(msgspec.Struct, frozen=True):
    """One source of hints of one site; counts are weighted where visits were drawn at random.

    Attributes:
        site: The site.
        source: `sitemap`, `feed`, `listing` and so on.
        told: Changes that it had told.
        untold: Changes that it had not.
        false: Visits that found no change although it had told one.
        recall: Share of the changes that it announces, as the planner uses it.
        recall_low: Lower end of the 90 % credible interval of that share.
        recall_high: Its upper end.
        precision: Share of its hints that were right.
        false_days: Days between two false hints for a page, as expected.
        doubted: When its dates were last found to be invented; 0 for never.
    """

    site: str
    source: str
    told: float
    untold: float
    false: float
    recall: float
    recall_low: float
    recall_high: float
    precision: float
    false_days: float
    doubted: float


class ValidatorTrust(msgspec.Struct, frozen=True):
    """The trust in the 304 replies of one template of a host.

    Attributes:
        host: The host.
        template: The URL template.
        clean: Audits since the last lie that found the page unchanged indeed.
        lies: Audits that did not.
        lie_bound: Share of lies at most, 95 %; 1 before any audit.
        banned_until: Conditional requests are not sent before this; 0 when they are.
    """

    host: str
    template: str
    clean: int
    lies: int
    lie_bound: float
    banned_until: float


class IndexTrust(msgspec.Struct, frozen=True):
    """The accuracy of an index of sitemaps about which of them have changed.

    Attributes:
        url: The index.
        sitemaps: Sitemaps that it dated when it was read last.
        rested: Those that were not read in the last run, on its word.
        spared: Readings that its word has spared so far.
        clean: Readings since its last lie that found no change where it told of none.
        lies: Readings that found one.
        believed: Its word is followed.
    """

    url: str
    sitemaps: int
    rested: int
    spared: int
    clean: int
    lies: int
    believed: bool


class TrustTable(msgspec.Struct):
    """All sources of all sites.

    Attributes:
        believed: Hints are followed (`recrawl.hints`).
        sources: Sitemaps, feeds, lists, by site.
        validators: Audits of 304 replies, by host and template.
        indexes: Indexes of sitemaps.
    """

    believed: bool
    sources: list[SourceTrust]
    validators: list[ValidatorTrust]
    indexes: list[IndexTrust] = []


def trust_table(data: RecrawlData) -> TrustTable:
    """Make the table."""
    results = [
        _source(name, site, source, trust)
        for name, site in sorted(data.sites.items())
        for source, trust in sorted(site.trust.items())
    ]
    validators = [_validator(name, audit, data.now) for name, audit in sorted(data.audits.items())]
    return TrustTable(data.settings.hints, results, validators, _indexes(data))


def _indexes(data: RecrawlData) -> list[IndexTrust]:
    rows = list(data.maps.values())
    rested = Counter(row.index for row in rows if row.stood > row.looked)
    results = [
        IndexTrust(
            *(row.url, row.children, rested[row.url], row.spared),
            *(row.audit.clean, row.audit.lies, believes(row.audit, data.now)),
        )
        for row in rows
        if row.children
    ]
    return sorted(results, key=lambda index: index.url)


def _validator(name: str, audit: ReplyAudit, now: float) -> ValidatorTrust:
    host, _, template = name.partition(" ")
    until = 0.0 if audit.trusted(now) else audit.banned_until
    return ValidatorTrust(host, template, audit.clean, audit.lies, audit.lie_bound, until)


def _source(name: str, site: SiteRow, source: str, trust: HintTrust) -> SourceTrust:
    signal = trust.signal()
    yes, no = trust.told + _HALF, trust.untold + _HALF
    return SourceTrust(
        name,
        source,
        trust.told,
        trust.untold,
        trust.false,
        signal.recall,
        beta_quantile(_TAIL, yes, no),
        beta_quantile(1.0 - _TAIL, yes, no),
        trust.precision,
        1.0 / signal.false_rate,
        site.doubted if source == "sitemap" else 0.0,
    )


def document(result: TrustTable) -> ReportDocument:
    """The table for people."""
    columns = (
        Column("site", Format.NAME),
        Column("source"),
        *(
            Column(name, Format.NUMBER)
            for name in ("changes told", "changes untold", "false hints")
        ),
        *(Column(name, Format.SHARE) for name in ("recall", "from", "to", "precision")),
        Column("a false hint every", Format.DAYS),
        Column("dates doubted", Format.TIME),
    )
    rows = tuple(
        (
            *(source.site, source.source, source.told, source.untold, source.false),
            *(source.recall, source.recall_low, source.recall_high, source.precision),
            *(source.false_days, source.doubted or None),
        )
        for source in result.sources
    )
    text: tuple[str, ...] = (
        message(
            "study.hints-explained",
            "Changes told are those that a source had told, changes untold those that it had "
            "not; false hints are visits that found nothing although it had told a change. "
            "Visits drawn at random count for all pages that they represent. A source whose "
            "dates are doubted is not believed until they tell something again.",
        ),
    )
    if not result.believed:
        text += (message("study.hints-off", "`recrawl.hints` is off: hints are not followed."),)
    tables = (DataTable("Hints", columns, rows), *_index_table(result.indexes))
    return ReportDocument("Trust in hints", (Section("", text, tables=tables),))


def _index_table(trusts: list[IndexTrust]) -> tuple[DataTable, ...]:
    if not trusts:
        return ()
    names = (
        "sitemaps",
        "sitemaps resting",
        "readings spared",
        "times right",
        "times wrong",
    )
    columns = (
        *(
            Column("index of sitemaps", Format.URL),
            *(Column(name, Format.COUNT) for name in names),
        ),
        Column("believed"),
    )
    rows = tuple(
        (
            *(item.url, item.sitemaps, item.rested, item.spared, item.clean, item.lies),
            "yes" if item.believed else "",
        )
        for item in trusts
    )
    return (DataTable("Indexes of sitemaps", columns, rows),)


class HintsReport(Analysis):
    """The trust in the hints of each site."""

    name = "hints"
    summary = "how far sitemaps, feeds and lists can be trusted"

    def analyze(self, data: RecrawlData, request: ReportRequest) -> TrustTable:
        """See `Analysis.analyze`."""
        return trust_table(data)

    def document(self, data: TrustTable, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
