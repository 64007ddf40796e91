"""The files of the experiment: table, JSON, HTML, and the missed URLs."""

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


def as_json(comparison: CrawlComparison) -> bytes:
    """Return every measure."""
    site = PUBLISHED.get(comparison.plan.world)
    runs = (comparison.full1, comparison.full2, comparison.incremental, comparison.paper)
    return score_bytes(
        {
            "plan": comparison.plan._asdict(),
            "keep": comparison.keep,
            "published": site,
            "runs": {crawl.name: crawl._asdict() for crawl in runs},
            "compared": {crawl.name: _compared(crawl, comparison) for crawl in runs[2:]},
            "necessary": comparison.least._asdict(),
            "bound": {
                "recall": AIM,
                "html": comparison.bound.requests(AIM),
                "curve": comparison.bound.curve(),
            },
            "missed": counted(comparison.missed),
            "problems": comparison.problems,
        }
    )


def _compared(crawl: CrawlFigures, comparison: CrawlComparison) -> dict[str, object]:
    return {
        "against_full_1": saving(crawl, comparison.full1)._asdict(),
        "against_full_2": saving(crawl, comparison.full2)._asdict(),
        "relative": relative(crawl, comparison.full2, comparison.least),
        "stored_over_necessary": share(crawl.stored, comparison.least.stored),
    }


def write_results(comparison: CrawlComparison, out: Path) -> None:
    """Write `table.txt`, `paper.json`, `paper.html` and `missed.tsv`."""
    report = document(comparison, str(out))
    (out / "table.txt").write_text(plain_text(report), "utf-8")
    (out / "paper.json").write_bytes(as_json(comparison))
    (out / "paper.html").write_text(html_page(report), "utf-8")
    lines = ["\t".join(fields) + "\n" for fields in (Missed._fields, *sorted(comparison.missed))]
    (out / "missed.tsv").write_text("".join(lines), "utf-8")
