"""The files of the experiment: table, JSON, HTML, and what was missed."""

from pathlib import Path

from nacre.report.html import html_page
from nacre.report.plain import plain_text
from nacre_simweb.paper.document import AIM, document
from nacre_simweb.paper.experiment import CrawlComparison
from nacre_simweb.paper.figures import CrawlFigures, relative, saving
from nacre_simweb.paper.missed import Missed, counted
from nacre_simweb.paper.published import PUBLISHED
from nacre_simweb.recall import share
from nacre_simweb.score import score_bytes


def as_json(found: CrawlComparison) -> bytes:
    """Every measure."""
    site = PUBLISHED.get(found.plan.world)
    runs = (found.full1, found.full2, found.incremental, found.paper)
    return score_bytes(
        {
            "plan": found.plan._asdict(),
            "keep": found.keep,
            "published": site,
            "runs": {one.name: one._asdict() for one in runs},
            "compared": {one.name: _compared(one, found) for one in runs[2:]},
            "necessary": found.least._asdict(),
            "bound": {
                "recall": AIM,
                "html": found.bound.requests(AIM),
                "curve": found.bound.curve(),
            },
            "missed": counted(found.missed),
            "problems": found.problems,
        }
    )


def _compared(one: CrawlFigures, found: CrawlComparison) -> dict[str, object]:
    return {
        "against_full_1": saving(one, found.full1)._asdict(),
        "against_full_2": saving(one, found.full2)._asdict(),
        "relative": relative(one, found.full2, found.least),
        "stored_over_necessary": share(one.stored, found.least.stored),
    }


def write_results(found: CrawlComparison, out: Path) -> None:
    """Write `table.txt`, `paper.json`, `paper.html` and `missed.tsv`."""
    report = document(found, str(out))
    (out / "table.txt").write_text(plain_text(report), "utf-8")
    (out / "paper.json").write_bytes(as_json(found))
    (out / "paper.html").write_text(html_page(report), "utf-8")
    lines = ["\t".join(one) + "\n" for one in (Missed._fields, *sorted(found.missed))]
    (out / "missed.tsv").write_text("".join(lines), "utf-8")
