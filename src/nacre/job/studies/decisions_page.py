"""Decisions about visits, for people (pure)."""

from nacre.history.worth.rates import RATES
from nacre.job.studies.decisions import WHY, AllDecisions, Decision, PageDecision
from nacre.report.document import Bars, Column, DataTable, Document, Form, Section, Series
from nacre.report.forms import url_facts, written
from nacre.report.units import share, span


def document(found: PageDecision | AllDecisions) -> Document:
    """Decisions about one page, or about all."""
    return _page(found) if isinstance(found, PageDecision) else _all(found)


def _page(found: PageDecision) -> Document:
    every = f"{span(found.every)} (90 % credible: {span(found.shortest)} to {span(found.longest)})"
    every = found.doubt or every
    facts = (
        *url_facts(found.url),
        ("Life", found.life),
        ("A run now", f"{'visits it' if found.chosen else 'leaves it out'}: {found.reason}"),
        ("Since the last visit", span(found.days)),
        ("Chance of a change", share(found.chance)),
        ("Value of a visit (V)", written(found.value, Form.NUMBER)),
        ("Price of a visit (Λ)", written(found.price, Form.NUMBER)),
        (
            "Changes a day, on average",
            f"{found.expected:.5f} (`nacre history JOB top` orders by it)",
        ),
        ("A change every, in the middle", every),
        ("Hints since the last visit", ", ".join(found.hints) or "none"),
    )
    text = (
        "A page is visited when its value reaches the price: that of the least valuable page that "
        "is still needed for the wanted recall. A budget raises the price.",
    )
    title = "Posterior of the time between two changes"
    labels = tuple(span(1.0 / rate) for rate in RATES)
    plot = Bars(title, labels, (Series("probability", tuple(found.rates)),))
    columns = (Column("a change every", Form.DAYS), Column("probability", Form.SHARE))
    rows = tuple((1.0 / rate, part) for rate, part in zip(RATES, found.rates, strict=True))
    likely = tuple(row for row in rows if row[1] >= 0.0005)
    return Document(
        "Decisions about a page",
        (
            Section("", text, facts, tables=(_decisions(found.decisions),)),
            Section("Rate", plots=(plot,), tables=(DataTable(title, columns, likely),)),
        ),
    )


def _decisions(found: list[Decision]) -> DataTable:
    columns = (
        Column("time", Form.TIME),
        Column("because"),
        Column("forecast", Form.SHARE),
        Column("propensity", Form.SHARE),
        Column("status"),
        Column("found"),
    )
    rows = tuple(
        (
            *(one.time, WHY.get(one.wanted, one.wanted), one.chance),
            *(one.propensity, str(one.status), one.kind),
        )
        for one in found
    )
    return DataTable("The last decisions", columns, rows)


def _all(found: AllDecisions) -> Document:
    columns = (
        Column("reason"),
        Column("meaning"),
        Column("visits", Form.COUNT),
        Column("visits that found something", Form.COUNT),
        Column("share", Form.SHARE),
    )
    rows = tuple(
        (name, WHY.get(name, ""), visits, kept, kept / visits)
        for name, (visits, kept) in found.reasons.items()
    )
    facts = (
        ("Mean squared error (Brier)", _known(found.brier, Form.NUMBER)),
        ("Skill against the mean", _known(found.skill, Form.SHARE)),
    )
    reliability = (
        *(Column(name, Form.SHARE) for name in ("forecasts from", "mean forecast", "came true")),
        Column("visits", Form.COUNT),
    )
    bins = tuple((one.low, one.forecast, one.found, one.visits) for one in found.forecasts)
    text = ("Where forecasts are right, `came true` is as large as `mean forecast`.",)
    return Document(
        "Decisions",
        (
            Section("", tables=(DataTable("Visits of incremental runs by reason", columns, rows),)),
            Section(
                "Forecasts", text, facts, tables=(DataTable("Reliability", reliability, bins),)
            ),
        ),
    )


def _known(value: float | None, form: Form) -> str:
    return "unknown" if value is None else written(value, form)
