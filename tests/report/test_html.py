import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.report.charts import draw_plot
from nacre.report.document import (
    Bars,
    Column,
    Compared,
    Comparison,
    Curve,
    Curves,
    DataTable,
    Format,
    HeatMap,
    ReportDocument,
    Section,
    Series,
    Span,
    TimeLine,
)
from nacre.report.html import MOST_ROWS, html_page
from nacre.report.plain import plain_text
from tests.report.pages import harmless, look

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title></style></svg><script>",
    "]]><!-- --><![CDATA[",
    "\u202egnp.exe\x00\x1b[2J",
    "&lt;script&gt;",
)
WORDS = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=30))


def document(word: str) -> ReportDocument:
    """A report that shows one word everywhere that a word of the web can come to stand."""
    plots = (
        Bars(word, (word, "b"), (Series(word, (1.0, 2.0)), Series("x", (0.0, 1.0))), word),
        Curves(word, word, word, (Curve(word, ((1.0, 0.1), (9.0, 1.0))),), ((2.0, 0.5, word),)),
        HeatMap(word, (word,), (word,), ((1.0,),), word),
        TimeLine(word, (word,), (Span(word, 0.0, 86_400.0, word),)),
    )
    table = DataTable(word, (Column(word, Format.URL), Column(word)), ((word, word),))
    pieces = (Compared(word, word, word), Compared(word, word, None, word))
    section = Section(
        word, (word,), ((word, word),), plots, (table,), Comparison(word, word, pieces)
    )
    empty = Section(word, tables=(DataTable(word, (Column(word),), ()),))
    return ReportDocument(word, (section, empty), ((word, word),), word, word, word)


@pytest.mark.parametrize("word", HOSTILE)
def test_a_hostile_word_is_shown_and_does_nothing(word: str):
    page = html_page(document(word))
    harmless(page)
    assert "\x00" not in page
    assert "\u202e" not in page
    assert "<script" not in page


@given(WORDS)
def test_no_word_of_the_web_becomes_markup(word: str):
    page = html_page(document(word))
    harmless(page)
    page.encode()
    assert look(page).elements == look(html_page(document("word"))).elements


@given(WORDS)
def test_no_word_of_the_web_reaches_a_terminal_as_it_came(word: str):
    text = plain_text(document(word))
    assert not any(ord(char) < 0x20 and char != "\n" for char in text)


def test_the_policy_allows_no_script():
    page = html_page(document("a"))
    policy = next(value for name, value in look(page).attributes if value.startswith("default-src"))
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "http://" not in page
    assert "https://" not in page


def test_both_schemes_have_their_colours():
    page = html_page(document("a"))
    assert "prefers-color-scheme:dark" in page
    assert "color-scheme:light dark" in page


def test_a_table_has_its_caption_and_headings():
    columns = (
        Column("page", Format.URL),
        Column("visits", Format.COUNT),
        Column("share", Format.SHARE),
    )
    table = DataTable("Pages", columns, (("http://a.test/页", 1234, 0.5), ("b", None, 0.995)))
    page = html_page(ReportDocument("t", (Section("s", tables=(table,)),)))
    assert look(page).rows == [
        ["page", "visits", "share"],
        ["http://a.test/页", "1,234", "50.0 %"],
        ["b", "-", "99.50 %"],
    ]
    assert '<th scope="col" class="n">visits</th>' in page
    assert '<th scope="row" class="t"><code>http://a.test/页</code></th>' in page
    assert "<caption>Pages</caption>" in page


def test_an_empty_table_says_so():
    table = DataTable("Pages", (Column("page"), Column("n")), ())
    assert look(html_page(ReportDocument("t", (Section("s", tables=(table,)),)))).rows[1] == [
        "none"
    ]


def test_a_long_table_is_cut_and_says_so():
    rows = tuple((number,) for number in range(MOST_ROWS + 5))
    table = DataTable("Pages", (Column("n", Format.COUNT),), rows)
    page = html_page(ReportDocument("t", (Section("s", tables=(table,)),)))
    assert f"the first {MOST_ROWS:,} of {MOST_ROWS + 5:,}" in page
    assert len(look(page).rows) == MOST_ROWS + 1


def test_noise_is_grey_with_its_reason():
    pieces = (Compared("text", "a", "b"), Compared("text", "1 view", "2 views", "a counter"))
    page = html_page(
        ReportDocument("t", (Section("s", comparison=Comparison("old", "new", pieces)),))
    )
    assert '<tr class="change">' in page
    assert '<tr class="noise">' in page
    assert look(page).rows[1:] == [
        ["text", "a", "b", ""],
        ["text", "1 view", "2 views", "a counter"],
    ]
    assert page.count('class="added"') == page.count('class="gone"') == 1


@pytest.mark.parametrize("height", [(), (0.0,), (3.0, 1.0, 0.0)])
def test_bars_stand_on_each_other(height: tuple[float, ...]):
    labels = tuple(map(str, range(len(height))))
    drawing = draw_plot(Bars("b", labels, (Series("one", height), Series("two", height))))
    seen = look(drawing)
    assert seen.elements.count("rect") == 2 * sum(value > 0.0 for value in height)


def test_a_bar_has_a_tip():
    drawing = draw_plot(Bars("b", ("Mon",), (Series("new", (3.0,)),), "pages"))
    assert "<title>Mon: new 3 pages</title>" in drawing


@pytest.mark.parametrize("points", [(), ((0.0, 0.0),), ((5.0, 0.3),), ((0.0, 0.0), (1e-9, 1.0))])
def test_curves_of_odd_points_can_be_drawn(points: tuple[tuple[float, float], ...]):
    assert "nan" not in draw_plot(Curves("c", "requests", "recall", (Curve("one", points),)))


def test_a_heat_map_shows_each_field():
    seen = look(draw_plot(HeatMap("h", ("Mon", "Tue"), ("00", "01"), ((0.0, 1.0), (2.0, 4.0)))))
    assert seen.elements.count("rect") == 4
    opacities = [value for name, value in seen.attributes if name == "fill-opacity"]
    assert opacities == ["0.05", "0.29", "0.53", "1.00"]


def test_a_moment_is_wide_enough_to_be_seen():
    line = TimeLine("t", ("visits",), (Span("visits", 0, 0, "a"), Span("visits", 9e6, 9e6, "b")))
    widths = [float(value) for name, value in look(draw_plot(line)).attributes if name == "width"]
    assert min(widths) >= 3.0
