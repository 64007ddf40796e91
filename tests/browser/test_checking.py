"""The check of the browser of this machine: with one, with none, with an old one."""

import os
from pathlib import Path

import msgspec
import pytest

from nacre.browser.checking import BrowserFact, _describe, _describe_fonts, check_browser
from nacre.browser.finding import InstalledBrowser
from nacre.browser.settings import BrowserSettings
from nacre.cli.check_text import browser_lines
from nacre.machine.clock import SystemClock
from tests.browser.loop import in_loop
from tests.cli.site import nacre

DAY = 86400.0


@pytest.mark.browser
@in_loop
async def test_a_browser_that_works(installed_browser: InstalledBrowser) -> None:
    command = str(installed_browser.program)
    facts = await check_browser(BrowserSettings(command=command), SystemClock())
    assert [fact.subject for fact in facts] == [
        "browser", "start", "network", "sandbox", "page", "fonts", "pages",
    ]  # fmt: skip
    assert {fact.state for fact in facts} <= {"ok", "warning"}
    assert [fact.state for fact in facts[1:5]] == ["ok"] * 4
    assert facts[4].text.startswith("https://check.nacre.test/ loaded through the proxy")
    *_, last = browser_lines(facts)
    assert last == "pages can be run in a browser here"


@pytest.mark.browser
@in_loop
async def test_a_browser_without_a_namespace_is_warned_of(
    installed_browser: InstalledBrowser,
) -> None:
    command = str(installed_browser.program)
    settings = BrowserSettings(command=command, isolation="none")
    facts = {fact.subject: fact for fact in await check_browser(settings, SystemClock())}
    assert facts["network"].state == "warning"
    assert facts["page"].state == "ok"


@in_loop
async def test_a_browser_that_is_missing_or_does_not_start(tmp_path: Path) -> None:
    facts = await check_browser(BrowserSettings(command="no-such-browser"), SystemClock())
    assert [(fact.subject, fact.state) for fact in facts] == [("browser", "missing")]
    assert "apt-get install chromium-headless-shell" in facts[0].text
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    facts = await check_browser(BrowserSettings(command=str(program)), SystemClock())
    assert [(fact.subject, fact.state) for fact in facts][1:] == [("start", "missing")]
    assert str(program) in facts[1].text
    assert "nacre check" not in facts[1].text, "that is this check"
    assert "leave browser.command out" in facts[1].remedy
    assert list(browser_lines(facts))[-1] == "pages cannot be run in a browser here"


@pytest.mark.parametrize(
    ("days", "state", "text"),
    [(0, "ok", "0 days old"), (1, "ok", "1 day old"), (60, "ok", "60 days old"),
     (61, "warning", "61 days old")],
)  # fmt: skip
def test_an_old_browser_is_warned_of(tmp_path: Path, days: int, state: str, text: str) -> None:
    program = tmp_path / "chromium"
    program.touch()
    os.utime(program, (1e9, 1e9))
    browser = InstalledBrowser(program, (), "chromium")
    fact = _describe(browser, "156.0", 1e9 + days * DAY + 5)
    assert fact.state == state
    assert fact.text == f"{program}, version 156.0, {text}"
    assert ("apt-get install chromium" in fact.remedy) == (state == "warning")
    other = browser._replace(name="/opt/own/browser")
    assert _describe(other, "1", 1e9 + 90 * DAY).remedy == ""
    assert _describe(browser, "", 0.0).text.endswith("version ?, 0 days old")


@pytest.mark.parametrize(
    ("available", "remedy"),
    [
        ((True, True, True, True), ""),
        ((False, False, False, False), "apt-get install fonts-liberation fonts-noto-cjk"),
        ((False, True, True, True), "apt-get install fonts-liberation"),
        ((True, True, True, False), "apt-get install fonts-noto-cjk"),
    ],
)
def test_fonts_that_are_missing(available: tuple[bool, ...], remedy: str) -> None:
    assert _describe_fonts(list(available)).remedy == remedy


def test_the_lines_of_a_check() -> None:
    facts = [
        BrowserFact("browser", "ok", "/b"),
        BrowserFact("network", "warning", "flags alone", "browser.isolation: namespace"),
        BrowserFact("start", "missing", "no start: apt-get x", "apt-get x"),
    ]
    assert list(browser_lines(facts)) == [
        "browser  /b",
        "network  warning: flags alone",
        "         try: browser.isolation: namespace",
        "start    missing: no start: apt-get x",
        "pages cannot be run in a browser here",
    ]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = nacre("check", "--browser", "--json")
    facts = msgspec.json.decode(done.out)["facts"]
    assert (done.code, facts[0]["state"]) == (2, "missing")
    assert facts[0]["remedy"].startswith("apt-get install")
    done = nacre("check")
    assert done.code == 2
    assert "name the directory of the job" in done.err
    done = nacre("check", "--browser", "--set", "browser.command=not-this", "--json")
    assert "not-this" in msgspec.json.decode(done.out)["facts"][0]["text"]
    done = nacre("check", "--browser", "--set", "browser.memory=little")
    assert done.code == 2
    assert "browser.memory" in done.err
    done = nacre("check", tmp_path / "missing", "--browser")
    assert "is not a job" in done.err
    (tmp_path / "crawl.yaml").write_text("browser: {command: nor-this}\n")
    done = nacre("check", tmp_path, "--browser", "--json")
    assert "nor-this" in msgspec.json.decode(done.out)["facts"][0]["text"]
