"""The change-frequency page, for people (pure)."""

from collections.abc import Iterable, Sequence
from operator import itemgetter

from nacre.history.worth.rates import RATES
from nacre.job.studies.frequency import ChangeFrequency, Day, Pace, TemplatePace
from nacre.report.document import (
    Bars,
    Column,
    DataTable,
    Document,
    Form,
    HeatMap,
    Section,
    Series,
)
from nacre.report.forms import moment
from nacre.report.units import span

_KINDS = ("new", "changed", "deleted")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HOUR_NAMES = tuple(f"{hour:02}" for hour in range(24))


def document(found: ChangeFrequency) -> Document:
    """The page for people."""
    doubt = found.doubt
    credible = f"90 % credible: {span(found.shortest)} to {span(found.longest)}"
    next_run = moment(found.trigger.time) if found.trigger.time else "not before more is known"
    facts = (
        ("Pages", f"{found.pages:,}"),
        ("Recommended interval", doubt or f"{span(found.recommended)} ({credible})"),
        ("Next run", next_run),
        ("Because", found.trigger.why),
    )
    text = (
        "At the recommended interval 95 % of the copies are current, on average over pages and "
        "time. How sure the estimate is follows from the visits so far.",
    )
    return Document(
        "Change frequency",
        (
            Section("", text, facts),
            _days(found.days),
            _week(found),
            *(() if found.maturity.doubt else (_rates(found),)),
            _classes(found.classes),
            *(() if found.maturity.doubt else (_even(found.paces),)),
            _templates(found),
        ),
    )


def _days(days: Sequence[Day]) -> Section:
    series = tuple(
        Series(name, tuple(float(getattr(one, name)) for one in days)) for name in _KINDS
    )
    plot = Bars("New, changed and deleted pages a day", tuple(d.day for d in days), series, "pages")
    names = ("visits", *(f"{kind} pages" for kind in _KINDS))
    columns = (Column("day"), *(Column(n, Form.COUNT) for n in names))
    rows = tuple((one.day, one.visits, one.new, one.changed, one.deleted) for one in days)
    return Section(
        "By day",
        ("When visits found it; the first run is left out, in which everything was new.",),
        plots=(plot,) if days else (),
        tables=(DataTable("New, changed and deleted pages a day", columns, rows),),
    )


def _week(found: ChangeFrequency) -> Section:
    title = "Changes by weekday and hour (UTC)"
    values = tuple(map(tuple, found.week))
    plot = HeatMap(title, _WEEKDAYS, _HOUR_NAMES, values, "changes")
    columns = (Column("weekday"), Column("changes", Form.NUMBER), Column("busiest hour"))
    rows = tuple(
        (name, sum(row), _busiest(row)) for name, row in zip(_WEEKDAYS, found.week, strict=True)
    )
    text = (
        "Each change is shared among the hours between the visits before and after it; "
        f"{found.unplaced:,} lie more than eight days apart and are left out.",
    )
    if not any(map(any, found.week)):
        return Section("By hour", text)
    return Section("By hour", text, plots=(plot,), tables=(DataTable(title, columns, rows),))


def _busiest(hours: Iterable[float]) -> str:
    at, most = max(enumerate(hours), key=itemgetter(1))
    return f"{at:02}:00" if most > 0.0 else ""


def _rates(found: ChangeFrequency) -> Section:
    title = "Pages by the time between two changes"
    labels = tuple(span(1.0 / rate) for rate in RATES)
    plot = Bars(title, labels, (Series("pages", tuple(found.rates)),), "pages")
    columns = (Column("a change every", Form.DAYS), Column("pages", Form.NUMBER))
    rows = tuple((1.0 / rate, round(n, 2)) for rate, n in zip(RATES, found.rates, strict=True))
    text = ("Expected numbers: each page counts at all rates that its visits allow.",)
    return Section("Rates", text, plots=(plot,), tables=(DataTable(title, columns, rows),))


def _classes(classes: dict[str, int]) -> Section:
    total = max(1, sum(classes.values()))
    columns = (Column("class"), Column("visits", Form.COUNT), Column("share", Form.SHARE))
    rows = tuple((name, count, count / total) for name, count in classes.items())
    return Section(
        "What the differences were",
        ("Of visits of pages known before; only minor and major are changes of the page.",),
        tables=(DataTable("Visits by class", columns, rows),),
    )


def _even(paces: Sequence[Pace]) -> Section:
    columns = (
        Column("every", Form.DAYS),
        Column("copies current", Form.SHARE),
        Column("versions captured", Form.SHARE),
        Column("pages changed each time", Form.NUMBER),
    )
    rows = tuple((p.days, p.current, p.captured, round(p.changed, 1)) for p in paces)
    return Section("What an interval brings", tables=(DataTable("Even visits", columns, rows),))


def _templates(found: ChangeFrequency) -> Section:
    columns = (
        Column("template", Form.URL),
        Column("pages", Form.COUNT),
        Column("visits", Form.COUNT),
        Column("changes", Form.COUNT),
        Column("a change every", Form.DAYS),
        Column("from", Form.DAYS),
        Column("to", Form.DAYS),
    )
    rows = tuple(
        (p.template, p.pages, p.visits, p.changes, *_pace(found, p)) for p in found.templates
    )
    text = (
        "90 % of the pages of a template lie between `from` and `to`. There is no interval where "
        "too little is known yet.",
    )
    return Section("Templates", text, tables=(DataTable("By template", columns, rows),))


def _pace(found: ChangeFrequency, one: TemplatePace) -> tuple[float | None, ...]:
    """Of a template whose pages were visited once, nothing is known."""
    if found.maturity.doubt or one.visits <= one.pages:
        return None, None, None
    return one.days, one.shortest, one.longest
