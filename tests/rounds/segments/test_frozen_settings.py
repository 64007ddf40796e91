"""The settings of segments and versions."""

from pathlib import Path
from typing import Any

import pytest

from nacre.errors import ConfigError, DamageError
from nacre.machine.layout import Layout
from nacre.rounds.opening import check_browser_use
from nacre.rounds.segments.frozen_settings import (
    _without_browser,
    frozen_settings,
    settings_hash,
)
from nacre.rounds.storage.local import LocalStorage
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import examine_sheets, values_of_path
from tests.rounds.lists import SEGMENT, segment, settings


def hashed(**sections: Any) -> str:
    return settings_hash(settings(**sections))


def proxy(word: str) -> dict[str, Any]:
    return {"proxy": f"http://user:{word}@proxy.test:3128"}


def test_settings_have_another_hash_when_one_of_them_is_another():
    assert len(hashed()) == 64
    assert hashed() == hashed(politeness={"delay": 0.0, "in_flight": 4})
    assert hashed() != hashed(politeness={"delay": 0.0, "in_flight": 5})
    assert hashed() != hashed(scope=[{"rule": "accept"}])


def test_no_word_can_be_tried_against_a_hash(monkeypatch: pytest.MonkeyPatch):
    assert hashed(fetch=proxy("one")) == hashed(fetch=proxy("two"))
    assert hashed(seeds=["http://u:one@a.test/"]) == hashed(seeds=["http://u:two@a.test/"])
    found = set()
    for word in ("one", "two"):
        monkeypatch.setenv("WORD", f"http://user:{word}@proxy.test:3128")
        found.add(hashed(fetch={"proxy": {"env": "WORD"}}))
    assert len(found) == 1
    monkeypatch.setenv("OTHER", "http://user:two@proxy.test:3128")
    assert found != {hashed(fetch={"proxy": {"env": "OTHER"}})}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "Input data was truncated"),
        (b"{", "truncated"),
        (b"\xff", "invalid"),
        (b'{"name": "\xff"}', "invalid start byte"),
        (b"[]", "valid dictionary"),
        (b'{"politeness": {"delay": "soon"}}', "politeness.delay: "),
    ],
)
def test_damaged_settings_of_a_segment_are_named_with_what_helps(
    tmp_path: Path, data: bytes, said: str
):
    segment(tmp_path, [["http://a.test/"]])
    storage = LocalStorage(tmp_path / "cycle")
    storage.put(f"segments/{SEGMENT}/conf/settings.json", data)
    with pytest.raises(DamageError) as caught:
        frozen_settings(storage, SEGMENT)
    text = str(caught.value)
    assert f"cycle/segments/{SEGMENT}/conf/settings.json holds no settings" in text
    assert said in text
    assert f"segments drop {SEGMENT}" in text
    assert "\n" not in text


@pytest.mark.parametrize("sheet", [{"browser.use": "always"}, {"browser": {"use": "auto"}}])
def test_units_run_no_page_in_a_browser(sheet: dict[str, Any]):
    tree = settings(browser={"use": "auto"}, sheets={"app": sheet}).model_dump(mode="json")
    _without_browser(tree)
    unit = JobSettings.model_validate(tree)
    sheets = examine_sheets(unit, Path())[0].sheets
    assert set(values_of_path(unit, sheets, "browser.use").items()) == {("browser.use", "never")}


@pytest.mark.parametrize(
    ("sections", "refused", "warned"),
    [
        ({}, "", 0),
        ({"browser": {"use": "auto"}}, "", 1),
        ({"browser": {"use": "always"}}, "browser.use", 0),
        ({"sheets": {"app": {"browser": {"use": "always"}}}}, "sheets.app.browser.use", 0),
        ({"sheets": {"app": {"politeness.delay": 1}}}, "", 0),
    ],
)
def test_what_rounds_do_with_a_browser(
    tmp_path: Path, sections: dict[str, Any], refused: str, warned: int
):
    warnings: list[str] = []
    if refused:
        with pytest.raises(ConfigError, match=refused):
            check_browser_use(Layout(tmp_path), settings(**sections), warnings.append)
    else:
        check_browser_use(Layout(tmp_path), settings(**sections), warnings.append)
    assert len(warnings) == warned
