"""Plots as SVG: what stands where."""

import re
from xml.etree import ElementTree

import pytest

from nacre.report.charts import WIDTH, draw_plot
from nacre.report.document import Bars, Curve, Curves, HeatMap, Series, Span, TimeLine

DAY = 86_400.0
MONDAY = 1_795_392_000.0
"""Monday, 23 November 2026, 0 h UTC."""


class Drawing:
    """A plot taken apart."""

    def __init__(self, markup: str) -> None:
        self.root = ElementTree.fromstring(f"<div>{markup}</div>")
        self.svg = self.root[0]

    def all(self, name: str) -> list[ElementTree.Element]:
        return list(self.svg.iter(name))

    def numbers(self, name: str, attribute: str) -> list[float]:
        return [float(one.get(attribute, "nan")) for one in self.all(name)]

    @property
    def tips(self) -> list[str]:
        return [one.findtext("title") or "" for one in self.all("rect") + self.all("circle")]

    @property
    def words(self) -> list[str]:
        return [one.text or "" for one in self.all("text")]

    @property
    def legend(self) -> list[str]:
        return ["".join(item.itertext()) for item in self.root.iter("li")]


def bars(*values: tuple[float, ...], labels: int = 2) -> Bars:
    names = tuple(f"day {number}" for number in range(labels))
    series = tuple(Series(f"s{number}", one) for number, one in enumerate(values))
    return Bars("Changes", names, series, "pages")


def test_bars_are_stacked_in_proportion():
    drawing = Drawing(draw_plot(bars((4.0, 2.0), (4.0, 0.0))))
    heights = drawing.numbers("rect", "height")
    tops = drawing.numbers("rect", "y")
    assert heights[0] == heights[1] == pytest.approx(2 * heights[2], abs=0.2)
    assert tops[1] + heights[1] == pytest.approx(tops[0], abs=0.2)
    assert drawing.tips == ["day 0: s0 4 pages", "day 0: s1 4 pages", "day 1: s0 2 pages"]
    assert drawing.legend == ["s0", "s1"]


def test_bars_of_one_series_have_no_legend():
    assert Drawing(draw_plot(bars((1.0, 2.0)))).legend == []


def test_a_value_of_none_has_no_bar():
    assert Drawing(draw_plot(bars((0.0, 0.0)))).all("rect") == []


@pytest.mark.parametrize(("top", "scale"), [(7.0, "8"), (9.0, "10"), (130.0, "200"), (0.3, "0.4")])
def test_the_axis_ends_at_a_round_number(top: float, scale: str):
    assert scale in Drawing(draw_plot(bars((top, 0.0)))).words


def test_of_many_bars_some_have_labels():
    drawing = Drawing(draw_plot(bars(tuple(map(float, range(40))), labels=40)))
    labels = [word for word in drawing.words if word.startswith("day")]
    assert labels == ["day 0", "day 8", "day 16", "day 24", "day 32"]


def curves(*points: tuple[float, float], mark: tuple[float, float, str] | None = None) -> Curves:
    return Curves("Found", "requests", "share", (Curve("all", points),), (mark,) if mark else ())


def test_a_curve_lies_on_a_logarithmic_axis():
    drawing = Drawing(draw_plot(curves((1.0, 0.0), (10.0, 0.5), (100.0, 1.0))))
    line = drawing.all("polyline")[0].get("points", "")
    (x1, y1), (x2, y2), (x3, y3) = (
        (float(x), float(y)) for x, y in (pair.split(",") for pair in line.split())
    )
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2)
    assert {"1", "10", "100"} <= set(drawing.words)
    assert "requests; upwards: share" in drawing.words


def test_an_amount_of_none_is_not_drawn():
    line = Drawing(draw_plot(curves((0.0, 0.5), (10.0, 0.5)))).all("polyline")[0]
    assert len(line.get("points", "").split()) == 1


@pytest.mark.parametrize(("amount", "anchor"), [(2.0, "start"), (99.0, "end")])
def test_the_name_of_a_mark_stays_inside(amount: float, anchor: str):
    drawing = Drawing(draw_plot(curves((1.0, 0.0), (100.0, 1.0), mark=(amount, 0.5, "now"))))
    assert drawing.tips == ["now: 50.0 %"]
    name = next(one for one in drawing.all("text") if one.text == "now")
    assert name.get("text-anchor") == anchor


def test_a_plot_without_values_is_drawn():
    for plot in (
        Bars("b", (), ()), Curves("c", "x", "y", ()), HeatMap("h", (), (), ()),
        TimeLine("t", (), ()),
    ):  # fmt: skip
        assert Drawing(draw_plot(plot)).svg.get("aria-label") == plot.title


def test_a_field_of_a_heat_map_is_darker_where_the_value_is_higher():
    drawing = Drawing(draw_plot(HeatMap("h", ("Mon",), ("0 h", "1 h"), ((1.0, 4.0),), "changes")))
    assert drawing.numbers("rect", "fill-opacity") == [0.29, 1.0]
    assert drawing.tips == ["Mon 0 h: 1 changes", "Mon 1 h: 4 changes"]


def test_spans_of_a_time_line():
    spans = (
        Span("runs", MONDAY, MONDAY + 5 * DAY, "run 1"),
        Span("page", MONDAY + 5 * DAY, MONDAY + 10 * DAY, "there"),
        Span("page", MONDAY + 5 * DAY, MONDAY + 5 * DAY, "changed"),
    )
    drawing = Drawing(draw_plot(TimeLine("t", ("runs", "page"), spans)))
    widths = drawing.numbers("rect", "width")
    assert widths[0] == pytest.approx(widths[1], abs=0.2)
    assert widths[2] == 3.0
    assert drawing.numbers("rect", "y")[0] < drawing.numbers("rect", "y")[1]
    assert {"2026-11-23", "2026-12-03"} <= set(drawing.words)


def test_a_short_time_line_names_the_minutes():
    spans = (Span("runs", MONDAY, MONDAY + 7200.0, "run 1"),)
    words = Drawing(draw_plot(TimeLine("t", ("runs",), spans))).words
    assert "2026-11-23 00:00" in words
    assert "2026-11-23 02:00" in words


def test_no_mark_leaves_the_drawing():
    markup = draw_plot(bars(tuple(map(float, range(30))), labels=30))
    assert f'viewBox="0 0 {WIDTH} ' in markup
    drawing = Drawing(markup)
    for x, width in zip(
        drawing.numbers("rect", "x"), drawing.numbers("rect", "width"), strict=True
    ):
        assert x >= 0
        assert x + width <= WIDTH
    assert not re.search(r"<script|style=|on[a-z]+=", markup)
