"""Recall against requests, one line per policy: a PNG, and a page of HTML that needs nothing else.

matplotlib comes with the extra `nacre-simweb[plots]`.
"""

import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.config.extras import wanting
from nacre.errors import ConfigError
from nacre_simweb.experiment import Trial
from nacre_simweb.summary import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS = (
    ("Epoch-change recall", "epoch"),
    ("Version recall", "versions"),
    ("New-page recall", "new_pages"),
    ("Deletion recall", "deletions"),
)
_STYLE = (
    "body{font:15px system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}"
    "table{border-collapse:collapse;width:100%;margin-top:1em}"
    "td,th{padding:.3em .6em;text-align:right;border-bottom:1px solid #ccc}"
    "td:first-child,th:first-child{text-align:left}svg{width:100%;height:auto}"
)


def write_plots(trials: Sequence[Trial], title: str, directory: Path) -> list[Path]:
    """Write `recall.png` and `recall.html`.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = _figure(trials, title)
    image, page = directory / "recall.png", directory / "recall.html"
    figure.savefig(image, dpi=120, metadata={"Software": None})
    drawing = io.StringIO()
    figure.savefig(drawing, format="svg", metadata={"Date": None})
    page.write_text(_page(trials, title, drawing.getvalue()), "utf-8")
    return [image, page]


def _figure(trials: Sequence[Trial], title: str) -> "Figure":
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra
        from matplotlib.figure import Figure  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise ConfigError(wanting("plots need", "matplotlib") + "; or use --no-plots") from error
    mpl.rcParams["svg.hashsalt"] = "nacre"
    figure = Figure(figsize=(11, 8), layout="constrained")
    figure.suptitle(title)
    panels = figure.subplots(2, 2).flat
    for axes, (name, group) in zip(panels, _PANELS, strict=True):
        for policy in dict.fromkeys(trial.policy for trial in trials):
            points = _points(trials, policy, group)
            axes.plot([x for x, _ in points], [y for _, y in points], "o-", label=policy, ms=4)
        axes.set_title(name)
        axes.set_xlabel("requests of pages")
        axes.set_xscale("log")
        axes.set_ylim(-0.02, 1.02)
        axes.grid(alpha=0.3)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


def _points(trials: Sequence[Trial], policy: str, group: str) -> list[tuple[float, float]]:
    points = []
    for trial in trials:
        requests, recall = trial.scores["cost"]["requests"], trial.scores[group]["recall"]
        if trial.policy == policy and requests and recall is not None:
            points.append((requests, recall))
    return sorted(points)


def _page(trials: Sequence[Trial], title: str, drawing: str) -> str:
    head, *rows = table(trials)
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows
    )
    picture = drawing[drawing.index("<svg") :]
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>\n{picture}\n"
        f"<table><tr>{cells}</tr>\n{lines}</table></html>\n"
    )
