"""The hostile site in a real Chromium: each attack, and each rule of replay that holds it.

`hostile.py` makes the attacks within a network namespace, beside a real console, and reports.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.netns import run_isolated
from tests.replay_server.hostile import ALONE, ATTACKS, CRASH, NAVIGATIONS

pytestmark = [pytest.mark.console, pytest.mark.timeout(600)]
_TOGETHER = sorted({*ATTACKS} - {*ALONE, CRASH})
_BY_THEMSELVES = sorted({*NAVIGATIONS, *ALONE})


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the browser and the network did."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    found: dict[str, Any] = json.loads(run_isolated("tests.replay_server.hostile", folder))
    return found


def test_the_tools_would_see_a_leak(report: dict[str, Any]):
    """A page outside of replay sends the same requests: its host and its look-up are seen."""
    assert report["control"]["hosts"] == ["control.live.test"]
    assert any("leak" in leak for leak in report["control"]["leaks"]), report["control"]


@pytest.mark.parametrize("name", _TOGETHER)
def test_an_attack_reaches_nothing(report: dict[str, Any], name: str):
    attacks = report["attacks"]
    assert name in attacks["ran"]
    assert [host for host in attacks["hosts"] if name in host] == []
    assert [leak for leak in attacks["leaks"] if name in leak] == []


def test_all_attacks_together_send_no_packet_but_to_replay(report: dict[str, Any]):
    assert report["attacks"]["leaks"] == []
    assert report["attacks"]["hosts"] == []


def test_nothing_is_read_of_the_console_the_viewer_other_jobs_or_files(report: dict[str, Any]):
    assert report["attacks"]["reports"] == []


@pytest.mark.parametrize("name", _BY_THEMSELVES)
def test_a_page_that_leads_away_stays_in_the_archive(report: dict[str, Any], name: str):
    answer = report["navigations"][name]
    assert answer["hosts"] == []
    assert answer["windows"] == 0
    assert answer["url"].startswith("http://replay.localhost:")
    frames = [url for url in answer["frames"][1:] if url.startswith("http")]
    assert frames
    assert all("mp_/http://" in url for url in frames)
    assert answer["leaks"] == []


def test_calls_between_browsers_reach_nothing(report: dict[str, Any]):
    """Chromium ends the process of a page that gets hold of WebRTC, or refuses the call."""
    assert (report["fatal"]["leaks"], report["fatal"]["hosts"]) == ([], [])


def test_no_dialog_no_download_no_window_no_error(report: dict[str, Any]):
    notes = report["notes"]
    assert (notes["dialogs"], notes["downloads"], notes["errors"]) == ([], [], [])
    # Windows of the test itself, which are outside of replay.
    assert {*notes["windows"]} == {"about:blank"}


def test_the_viewer_shows_reports_of_a_page_as_text(report: dict[str, Any]):
    attacks = report["attacks"]
    assert (attacks["scripts"], attacks["images"]) == (1, 0)
    assert "<" not in attacks["title"]
    assert attacks["url"].startswith("http://replay.localhost:")


def test_no_worker_but_ours(report: dict[str, Any]):
    assert [url for url in report["attacks"]["workers"] if not url.endswith("/-/sw.js")] == []


def test_cookies_are_ours_and_hidden_from_scripts(report: dict[str, Any]):
    assert {(name, hidden) for name, hidden in report["cookies"]} == {
        ("__Host-nacre", True),
        ("__Host-replay", True),
    }


def test_the_console_has_no_error(report: dict[str, Any]):
    assert report["console"] == ""
