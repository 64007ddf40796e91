"""How far the word of each site can be trusted: what its hints told, and what visits found (pure).

Source: reference/incremental.md 2.5 and 5.2, 7.
"""

import msgspec

from nacre.history.audit import beta_quantile
from nacre.history.hints import HintTrust
from nacre.history.sites import SiteRow
from nacre.job.studies.known import Known
from nacre.report.document import Column, DataTable, Document, Form, Section

_HALF = 0.5
_TAIL = 0.05


class SourceTrust(msgspec.Struct, frozen=True):
    """One source of hints of one site; counts are weighted where visits were drawn by lot.

    Attributes:
        site: The site.
        source: `sitemap`, `feed`, `listing` and so on.
        told: Changes that it had told.
        untold: Changes that it had not.
        false: Visits that found no change although it had told one.
        recall: Share of the changes that it tells, as the planner uses it.
        recall_low: Lower end of the 90 % credible interval of that share.
        recall_high: Its upper end.
        precision: Share of its hints that were right.
        false_days: Days between two false hints for a page, as expected.
        doubted: When its dates were last found to be of its own making; 0 for never.
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


class TrustTable(msgspec.Struct):
    """All sources of all sites."""

    believed: bool
    sources: list[SourceTrust]


def trust_table(known: Known, _: str = "") -> TrustTable:
    """Make the table."""
    found = [
        _source(name, site, source, trust)
        for name, site in sorted(known.sites.items())
        for source, trust in sorted(site.trust.items())
    ]
    return TrustTable(known.settings.hints, found)


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


def document(found: TrustTable) -> Document:
    """The table for people."""
    columns = (
        Column("site"),
        Column("source"),
        *(Column(name, Form.NUMBER) for name in ("told", "untold", "false")),
        *(Column(name, Form.SHARE) for name in ("recall", "from", "to", "precision")),
        Column("a false hint every", Form.DAYS),
        Column("dates doubted", Form.TIME),
    )
    rows = tuple(
        (
            *(one.site, one.source, one.told, one.untold, one.false),
            *(one.recall, one.recall_low, one.recall_high, one.precision),
            *(one.false_days, one.doubted or None),
        )
        for one in found.sources
    )
    text: tuple[str, ...] = (
        "`told` are changes that a source had told, `untold` those that it had not, `false` are "
        "visits that found nothing although it had told a change. Visits drawn by lot count for "
        "all that they stand for. A source whose dates are doubted is not believed until they "
        "tell something again.",
    )
    if not found.believed:
        text += ("`recrawl.hints` is off: hints are not followed.",)
    return Document(
        "Trust in hints", (Section("", text, tables=(DataTable("Hints", columns, rows),)),)
    )
