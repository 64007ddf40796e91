"""Plots as SVG: no script, no inline style, a tooltip on each mark (pure).

Colours are classes (`s0` to `s5`, `axis`, `grid`), which the page's style sheet defines for bright
and for dark schemes.
"""

import math
from collections.abc import Iterator, Sequence

from nacre.report.document import Bars, Curves, Format, HeatMap, Plot, Span, TimeLine
from nacre.report.escape import element, text
from nacre.report.formatting import day, moment, written

WIDTH = 560
"""Units across; words in it have 12 to 17, so that they can be read where it is 390 px wide."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 14, 18, 48
_HEIGHT = 270
_CELL = 24
_LANE = 34
_LABELS = 5
_MOMENTS = 3
"""Stretches of a time line between two names of times."""
_COLOURS = 6
_SHORTEST = 3.0
_WIDEST = 80.0
_INNER = WIDTH - _LEFT - _RIGHT
_FLOOR = _HEIGHT - _BOTTOM


def draw_plot(plot: Plot) -> str:
    """Return a plot as an `svg` element with its legend."""
    if isinstance(plot, Bars):
        return _bars(plot)
    if isinstance(plot, Curves):
        return _curves(plot)
    return _heat(plot) if isinstance(plot, HeatMap) else _time_line(plot)


# ---- bars


def _bars(plot: Bars) -> str:
    totals = [sum(values) for values in zip(*(s.values for s in plot.series), strict=True)]
    top = _round_up(max(totals, default=0.0))
    step = _INNER / max(1, len(plot.labels))
    parts = list(_shelves(top))
    for at in range(len(plot.labels)):
        parts += _bar(plot, at, step, top)
    for nth, at in enumerate(_choose_labels(len(plot.labels))):
        parts.append(_tick(nth, _LEFT + (at + 0.5) * step, _FLOOR + 18, plot.labels[at]))
    return _svg(plot.title, _HEIGHT, parts) + _legend([s.name for s in plot.series])


def _bar(plot: Bars, at: int, step: float, top: float) -> Iterator[str]:
    below = 0.0
    for number, series in enumerate(plot.series):
        value = series.values[at]
        if value > 0.0:
            y = _up((below + value) / top)
            tip = f"{plot.labels[at]}: {series.name} {written(value, Format.NUMBER)} {plot.unit}"
            width = min(0.8 * step, _WIDEST)
            x = _LEFT + (at + 0.5) * step - width / 2
            yield _box(x, y, width, _up(below / top) - y, number, tip)
            below += value


def _shelves(top: float) -> Iterator[str]:
    for quarter in range(5):
        y = _up(quarter / 4)
        yield element("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=y, y2=y, class_="grid")
        yield _word(_LEFT - 6, y + 4, written(top * quarter / 4, Format.NUMBER), "end")


def _choose_labels(count: int) -> range:
    """Which of so many places get a label."""
    return range(0, count, max(1, math.ceil(count / _LABELS)))


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 8, 10 times a power of ten."""
    if value <= 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1.0, 2.0, 4.0, 8.0, 10.0) if power * step >= value)


# ---- lines


def _curves(plot: Curves) -> str:
    amounts = [x for plotted in plot.curves for x, _ in plotted.points if x > 0.0]
    amounts += [x for x, _, _ in plot.marks if x > 0.0]
    low, high = min(amounts, default=1.0), max(amounts, default=10.0)
    if high <= low:
        low, high = low / 2.0, high * 2.0
    scale = _Scale(low, high)
    parts = list(_shares())
    for nth, amount in enumerate(scale.ticks()):
        x = scale.at(amount)
        parts.append(element("line", x1=x, x2=x, y1=_TOP, y2=_FLOOR, class_="grid"))
        parts.append(_tick(nth, x, _FLOOR + 18, written(amount, Format.NUMBER)))
    parts.append(_word(_LEFT + _INNER / 2, _HEIGHT - 6, f"{plot.across}; upwards: {plot.up}"))
    for number, curve in enumerate(plot.curves):
        points = " ".join(f"{scale.at(x):.1f},{_up(y):.1f}" for x, y in curve.points if x > 0.0)
        colour = f"l{number % _COLOURS}"
        parts.append(element("polyline", points=points, class_=f"curve {colour}"))
    for x, y, name in plot.marks:
        tip = element("title", text(f"{name}: {written(y, Format.SHARE)}"))
        parts.append(element("circle", tip, cx=scale.at(x), cy=_up(y), r=5, class_="mark"))
        is_right_half = scale.at(x) > _LEFT + 0.85 * _INNER
        step, anchor = (-8, "end") if is_right_half else (8, "start")
        parts.append(_word(scale.at(x) + step, _up(y) + 14, name, anchor))
    return _svg(plot.title, _HEIGHT, parts) + _legend([plotted.name for plotted in plot.curves])


class _Scale:
    """An axis of amounts, spaced by their logarithm."""

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high
        self._span = math.log(high / low)

    def at(self, amount: float) -> float:
        """Return the position of an amount; the left end for None."""
        if amount <= self._low:
            return float(_LEFT)
        return _LEFT + _INNER * min(1.0, math.log(amount / self._low) / self._span)

    def ticks(self) -> Iterator[float]:
        """Powers of ten, or where there are few of them, their halves and fifths too."""
        first = math.floor(math.log10(self._low))
        last = math.ceil(math.log10(self._high))
        steps = (1.0,) if last - first > 3 else (1.0, 2.0, 5.0)
        for power in range(first, last + 1):
            for step in steps:
                if self._low <= step * 10.0**power <= self._high:
                    yield step * 10.0**power


def _shares() -> Iterator[str]:
    for fifth in range(6):
        y = _up(fifth / 5)
        yield element("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=y, y2=y, class_="grid")
        yield _word(_LEFT - 6, y + 4, f"{20 * fifth} %", "end")


# ---- heat map


def _heat(plot: HeatMap) -> str:
    top = max((max(row, default=0.0) for row in plot.values), default=0.0)
    width = min(_INNER / max(1, len(plot.columns)), 60.0)
    parts = [
        _tick(nth, _LEFT + (at + 0.5) * width, _TOP, plot.columns[at])
        for nth, at in enumerate(_choose_labels(len(plot.columns)))
    ]
    for row, name in enumerate(plot.rows):
        y = _TOP + 8 + row * _CELL
        parts.append(_word(_LEFT - 6, y + 16, name, "end"))
        for column, value in enumerate(plot.values[row]):
            tip = f"{name} {plot.columns[column]}: {written(value, Format.NUMBER)} {plot.unit}"
            part = value / top if top > 0.0 else 0.0
            parts.append(
                element(
                    "rect",
                    element("title", text(tip)),
                    x=_LEFT + column * width + 1,
                    y=y + 1,
                    width=width - 2,
                    height=_CELL - 2,
                    class_="heat",
                    fill_opacity=f"{0.05 + 0.95 * part:.2f}",
                )
            )
    return _svg(plot.title, _TOP + 12 + len(plot.rows) * _CELL, parts)


# ---- time line


def _time_line(plot: TimeLine) -> str:
    start = min((span.start for span in plot.spans), default=0.0)
    end = max((span.end for span in plot.spans), default=0.0)
    length = max(end - start, 3600.0)
    height = _TOP + len(plot.lanes) * _LANE + 30
    parts = []
    for number in range(_MOMENTS + 1):
        x = _LEFT + 50 + (_INNER - 50) * number / _MOMENTS
        time = start + length * number / _MOMENTS
        name = day(time) if length > 5 * 86_400 else moment(time)
        anchor = "end" if number == _MOMENTS else "middle"
        parts.append(element("line", x1=x, x2=x, y1=_TOP, y2=height - 26, class_="grid"))
        parts.append(_tick(number, x, height - 8, name, anchor))
    for number, lane in enumerate(plot.lanes):
        y = _TOP + number * _LANE
        parts.append(_word(_LEFT + 40, y + 20, lane, "end"))
        parts += (
            _place_span(span, start, length, (y, number))
            for span in plot.spans
            if span.lane == lane
        )
    return _svg(plot.title, height, parts)


def _place_span(span: Span, start: float, length: float, lane: tuple[int, int]) -> str:
    y, number = lane
    inner = _INNER - 50
    x = _LEFT + 50 + inner * (span.start - start) / length
    width = inner * (span.end - span.start) / length
    if width < _SHORTEST:
        x, width = x - _SHORTEST / 2, _SHORTEST
    return _box(x, y + 6, width, _LANE - 12, number, span.text)


# ---- parts


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    content = element("title", text(title)) + "".join(parts)
    box = f"0 0 {WIDTH} {height:.0f}"
    return element("svg", content, viewBox=box, role="img", aria_label=title)


def _up(part: float) -> float:
    """Height of a share of the axis."""
    return _FLOOR - (_FLOOR - _TOP) * min(max(part, 0.0), 1.0)


def _box(x: float, y: float, width: float, height: float, colour: int, tip: str) -> str:
    return element(
        "rect",
        element("title", text(tip)),
        x=x,
        y=y,
        width=max(width, 0.5),
        height=max(height, 0.5),
        class_=f"s{colour % _COLOURS}",
    )


def _tick(nth: int, x: float, y: float, word: str, anchor: str = "middle") -> str:
    """Return a name on an axis; a narrow screen leaves out every second one (`o`)."""
    kind = {"class_": "o"} if nth % 2 else {}
    return element("text", text(word), x=x, y=y, text_anchor=anchor, **kind)


def _word(x: float, y: float, word: str, anchor: str = "middle") -> str:
    return element("text", text(word), x=x, y=y, text_anchor=anchor)


def _legend(names: Sequence[str]) -> str:
    if len(names) < 2:
        return ""
    items = (
        element("li", element("i", class_=f"b{at % _COLOURS}") + text(name))
        for at, name in enumerate(names)
    )
    return element("ul", "".join(items), class_="legend")
