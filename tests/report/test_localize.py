"""Reports in another language: messages, headings and names are translated, values stay."""

from nacre.messages import message
from nacre.report.document import (
    Bars,
    Column,
    Curve,
    Curves,
    DataTable,
    Format,
    HeatMap,
    ReportDocument,
    Section,
    Series,
    TimeLine,
)
from nacre.report.localize import localize


def test_headings_and_names_are_said_and_values_stay():
    words = {name: name.upper() for name in ("title", "job", "run", "head", "fact", "host", "all",
             "found", "bars", "curves", "across", "up", "heat", "time")}  # fmt: skip
    document = ReportDocument(
        "title",
        (
            Section(
                "head", ("found 3 of 4",), (("fact", "run"),),
                (
                    Bars("bars", ("run",), (Series("found", (1.0,)),), "run"),
                    Curves("curves", "across", "up", (Curve("found", ((1.0, 0.5),)),)),
                    HeatMap("heat", ("run",), ("job",), ((1.0,),)),
                    TimeLine("time", ("run",), ()),
                ),
                (DataTable("all", (Column("host"), Column("other")), (("found", 3),)),),
            ),
            Section(""),
        ),
        (("job", "run"),),
    )  # fmt: skip
    said = localize(document, lambda text: words.get(text.code, text.template), "xx")
    first = said.sections[0]
    assert (said.title, said.about) == ("TITLE", (("JOB", "run"),))
    assert (first.heading, first.text, first.facts) == (
        "HEAD", ("found 3 of 4",), (("FACT", "run"),),
    )  # fmt: skip
    (table,) = first.tables
    assert (table.caption, [one.name for one in table.columns]) == ("ALL", ["HOST", "other"])
    assert table.rows == (("FOUND", 3),)
    bars, curves, heat, line = first.plots
    assert isinstance(bars, Bars)
    assert (bars.title, bars.series[0].name, bars.labels) == ("BARS", "FOUND", ("run",))
    assert isinstance(curves, Curves)
    assert (curves.title, curves.across, curves.up, curves.curves[0].name) == (
        "CURVES", "ACROSS", "UP", "FOUND",
    )  # fmt: skip
    assert (heat.title, line.title) == ("HEAT", "TIME")
    assert said.sections[1] == Section("")


def test_urls_and_names_of_jobs_stay():
    document = ReportDocument(
        "",
        (
            Section(
                "", tables=(DataTable("", (Column("", Format.URL), Column("")), (("a", "a"),)),)
            ),
        ),
        (("Job", "a"), ("", message("x.y", "a b"))),
    )
    said = localize(document, lambda text: text.code.upper(), "xx")
    assert said.sections[0].tables[0].rows == (("a", "A"),)
    assert said.about == (("JOB", "a"), ("", "X.Y"))


def test_names_from_the_web_stay_even_if_they_are_keys_of_the_catalogue():
    columns = Column("host", Format.NAME), Column("state")
    rows = (("run", "run"), (message("a.b", "all others"), ""))
    document = ReportDocument("", (Section("", tables=(DataTable("", columns, rows),)),))
    texts = {"run": "RUN", "a.b": "OTHERS"}
    localized = localize(document, lambda text: texts.get(text.code, text.template), "xx")
    assert localized.sections[0].tables[0].rows == (("run", "RUN"), ("OTHERS", ""))
