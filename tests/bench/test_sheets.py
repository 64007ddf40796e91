"""The two jobs of the comparison, and what it says."""

from bench.crawler import CrawlRun, Found, settings
from bench.process import Usage
from bench.report import table
from bench.sheets import PREFIXES, SHEETS, compared, with_sheets
from nacre.settings.settings import JobSettings


def run(cpu: float) -> CrawlRun:
    return CrawlRun(Usage(cpu, cpu, 1, 0), Found(1000, 1000, {"200": 1000}), 1)


def test_the_job_has_as_many_sheets_and_prefixes_as_it_says():
    origins = ["http://127.0.1.1:8080", "http://127.0.1.2:8080"]
    job = with_sheets(settings([origins[0]], origins, {}), origins)
    checked = JobSettings.model_validate(job)
    assert len(checked.sheets) == SHEETS
    prefixes = [text for said in checked.sheet_associations for text in said.surts]
    assert len(set(prefixes)) == PREFIXES
    assert sum(text.startswith(tuple(origins)) for text in prefixes) > 900


def test_the_middle_pair_counts():
    figures = compared([(run(0.5), run(0.51)), (run(0.5), run(0.6)), (run(0.6), run(0.606))])
    assert figures["more_percent"] == 2.0
    shown = table({"processor": "P", "load_before": 0.5, "sheets": figures})
    assert "% more CPU per URL: 2, target 5: met" in shown
