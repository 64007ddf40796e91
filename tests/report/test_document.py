"""A report as data: what is taken for granted where nothing is said."""

from nacre.report.document import (
    NAMELESS,
    Bars,
    Column,
    Compared,
    Curves,
    DataTable,
    Format,
    HeatMap,
    ReportDocument,
    Section,
    Span,
    TimeLine,
)
from nacre.report.html import html_page
from nacre.report.plain import plain_text


def test_a_document_without_particulars_is_english_and_in_utc():
    document = ReportDocument("Hosts", (Section("Most", tables=(DataTable("t", (), ()),)),))
    page = html_page(document)
    assert '<html lang="en">' in page
    assert "Times are UTC." in page
    assert "none" in plain_text(document)


def test_particulars_replace_what_is_taken_for_granted():
    table = DataTable("t", (Column("host"),), ())
    document = ReportDocument(
        "主机", (Section("", tables=(table,)),), (("Job", "demo"),), "zh-CN", "完", "无"
    )
    page = html_page(document)
    assert '<html lang="zh-CN">' in page
    assert "完" in page
    assert "demo" in page
    assert "无" in plain_text(document)
    assert "UTC" not in page


def test_a_column_is_text_unless_it_says_more():
    assert Column("name").form is Format.TEXT


def test_units_are_shown_except_for_counts_and_plain_numbers():
    assert {Format.COUNT, Format.NUMBER} == NAMELESS
    columns = tuple(Column(form.value, form) for form in Format)
    row = tuple("x" if form in {Format.TEXT, Format.URL} else 2.0 for form in Format)
    text = plain_text(ReportDocument("t", (Section("", tables=(DataTable("", columns, (row,)),)),)))
    assert [word for word in ("200.00 %", "2 B", "2 d", "2 s") if word not in text] == []


def test_a_section_has_nothing_but_its_heading_unless_it_says_more():
    text = plain_text(ReportDocument("Report", (Section("Heading"),)))
    assert text.split()[0] == "Report"
    assert "Heading" in text
    assert "none" not in text
    assert Section("Heading").comparison is None


def test_a_piece_of_a_comparison_counts_unless_it_is_noise():
    assert Compared("text", "a", "b").noise == ""
    assert Compared("text", "a", "b", "a counter").noise == "a counter"


def test_plots_have_titles_by_which_a_page_names_them():
    plots = (
        Bars("bars", (), ()), Curves("curves", "", "", ()), HeatMap("heat", (), (), ()),
        TimeLine("line", ("a",), (Span("a", 0.0, 1.0, "x"),)),
    )  # fmt: skip
    page = html_page(ReportDocument("Plots", (Section("", plots=plots),)))
    assert [f'aria-label="{plot.title}"' in page for plot in plots] == [True] * 4
