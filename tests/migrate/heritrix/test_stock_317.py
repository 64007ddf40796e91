from pathlib import Path

import pytest

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


def test_a_browser_and_its_behaviours(tmp_path: Path, samples: Path) -> None:
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(stock_317(samples, browser=True), "utf-8")
    draft, report = convert(file, "https://library.example/bot")
    assert draft.settings["browser.use"] == "always"
    assert draft.settings["browser.behaviours"] == ["tall", "scroll"]
    flagged = {item.name for item in report.findings if item.flag is Flag.CHECK}
    names = {"PaginationBehavior", "PaginationBehavior.selector", "PaginationBehavior.maxPages"}
    assert names <= flagged
    assert not flagged & {"browser", "ScrollDownBehavior", "ExtractLinksBehavior"}
    assert any("robots.txt" in line for line in report.advice)


@pytest.mark.parametrize(
    ("properties", "settings", "flagged"),
    [
        ('<property name="concurrency" value="20"/>', {}, False),
        ('<property name="concurrency" value="4"/>', {}, True),
        (
            '<property name="executable" value="/usr/bin/chromium"/>',
            {"browser.command": "/usr/bin/chromium"},
            False,
        ),
        ('<property name="executable" value="firefox"/>', {}, True),
        ('<property name="executable" value="/opt/chromedriver"/>', {}, True),
        ('<property name="options"><list><value>--headless</value></list></property>', {}, False),
        ('<property name="options"><list><value>--lang=de</value></list></property>', {}, True),
        (
            '<property name="behaviors"><list><bean class="org.archive.modules.behaviors.'
            'ScrollDownBehavior"><property name="timeout" value="9000"/></bean></list></property>',
            {"browser.behaviours": ["tall", "scroll"], "browser.behaviour_time": 9.0},
            False,
        ),
        ('<property name="behaviors"><list/></property>', {"browser.behaviours": []}, False),
    ],
)
def test_properties_of_a_browser(
    tmp_path: Path, samples: Path, properties: str, settings: dict[str, object], flagged: bool
) -> None:
    text = stock_317(samples, browser=True)
    first = text.index('<property name="behaviors"><list>\n<bean class')
    last = text.index("</list></property>", first) + len("</list></property>")
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(text[:first] + properties + text[last:], "utf-8")
    draft, report = convert(file, "https://library.example/bot")
    of_browser = {path: v for path, v in draft.settings.items() if path.startswith("browser.")}
    assert of_browser == {"browser.use": "always", **settings}
    items = [item for item in report.findings if item.name.startswith("browser.")]
    assert any(item.flag is Flag.CHECK for item in items) is flagged


def test_a_browser_that_no_chain_lists_is_not_used(tmp_path: Path, samples: Path) -> None:
    file = tmp_path / "crawler-beans.cxml"
    text = stock_317(samples, browser=True).replace('<ref bean="browser"/>', "")
    file.write_text(text, "utf-8")
    draft, _ = convert(file, "https://library.example/bot")
    assert "browser.use" not in draft.settings


def test_a_browser_for_some_pages(tmp_path: Path, samples: Path) -> None:
    rule = (
        '<property name="shouldProcessRule"><bean '
        'class="org.archive.modules.deciderules.MatchesRegexDecideRule">'
        '<property name="decision" value="REJECT"/><property name="regex" value=".*/plain/.*"/>'
        "</bean></property>"
    )
    behaviours = '<property name="behaviors"><list>\n<bean'
    text = stock_317(samples, browser=True).replace(behaviours, rule + behaviours)
    file = tmp_path / "crawler-beans.cxml"
    file.write_text(text, "utf-8")
    draft, _ = convert(file, "https://library.example/bot")
    (gate,) = draft.settings["chains.fetch.render.gate"]
    assert gate["regex"] == ".*/plain/.*"
