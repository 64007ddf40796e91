from pathlib import Path

from nacre_migrate.heritrix.convert import convert
from nacre_migrate.report import Flag
from tests.migrate.heritrix.stock317 import stock_317


def test_the_stock_profile_of_317(tmp_path: Path, samples: Path) -> None:
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(stock_317(samples), "utf-8")
    draft, report = convert(file, "https://library.example/bot")
    assert {"processor": "bot-block"} in draft.settings["chains.fetch.insert"]
    assert draft.settings["engine.source_codes"] is True
    new = {"botBlockDetector", "SourceTagsReport", "SourceTagsReport.includeResCode"}
    found = {one.name: one for one in report.findings if one.name in new}
    assert len(found) == len(new)
    assert [one for one in found.values() if one.flag] == []


def test_behaviors_of_a_browser_are_flagged(tmp_path: Path, samples: Path) -> None:
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(stock_317(samples, browser=True), "utf-8")
    _, report = convert(file, "https://library.example/bot")
    flagged = {one.name for one in report.findings if one.flag is Flag.NO_EQUIVALENT}
    assert {
        "browser", "ScrollDownBehavior", "ExtractLinksBehavior", "PaginationBehavior",
        "PaginationBehavior.selector", "PaginationBehavior.maxPages",
    } <= flagged  # fmt: skip
