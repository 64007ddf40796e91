"""Changes of settings, checked before anything happens."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import ConfigError
from nacre.job.settings_change import SettingsEditor, count_affected, require_buildable
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import make_sheets
from tests.job.opened import opened


def editor(*, running: bool = False, **sections: Any) -> SettingsEditor:
    return SettingsEditor(JobSettings.model_validate(sections), Path(), running=running)


def said(changer: SettingsEditor) -> list[tuple[str, object, object]]:
    return [(one.path, one.before, one.after) for one in changer.finish().values]


def test_values_before_and_after_are_told():
    changer = editor(politeness={"delay": 3})
    changer.assign(["politeness.delay=7", "limits.documents=10"])
    assert said(changer) == [("politeness.delay", 3.0, 7.0), ("limits.documents", 0, 10)]
    settings = changer.finish().settings
    assert (settings.politeness.delay, settings.limits.documents) == (7.0, 10)
    edits = [edit.path for edit in changer.finish().edits]
    assert edits == [("politeness", "delay"), ("limits", "documents")]


def test_every_problem_of_a_request_is_told_at_once():
    changer = editor()
    with pytest.raises(ConfigError) as caught:
        changer.assign(["politeness.dealy=7", "limits.documents=-1", "name=x"])
    assert [problem.path for problem in caught.value.problems] == [
        "politeness.dealy", "limits.documents",
    ]  # fmt: skip
    assert "did you mean" in caught.value.problems[0].message


def test_a_sheet_for_a_place_is_made_once_and_found_again():
    changer = editor()
    name = changer.sheet_for("http://a.test/x/")
    changer.assign([f"sheets.{name}.politeness.delay=9"])
    change = changer.finish()
    assert list(change.settings.sheets) == [name]
    again = SettingsEditor(change.settings, Path(), running=False)
    assert again.sheet_for("http://a.test/x/") == name
    assert again.finish().values == ()


def test_an_association_is_taken_off_in_parts_and_a_sheet_that_is_used_stays():
    changer = editor(
        sheets={"slow": {"politeness": {"delay": 9}}},
        sheet_associations=[{"surts": ["http://a.test/", "http://b.test/"], "sheets": ["slow"]}],
    )
    with pytest.raises(ConfigError, match="slow"):
        changer.remove_sheet("slow")
    changer.dissociate("slow", ["http://a.test/"])
    (left,) = changer.finish().settings.sheet_associations
    assert left.surts == ("http://b.test/",)
    changer.dissociate("slow")
    changer.remove_sheet("slow")
    settings = changer.finish().settings
    assert (settings.sheets, settings.sheet_associations) == ({}, ())


@pytest.mark.parametrize("name", ["nothing", "slow"])
def test_what_does_not_exist_cannot_be_taken_off(name: str):
    changer = editor(sheets={"slow": {"politeness": {"delay": 9}}})
    with pytest.raises(ConfigError):
        changer.dissociate(name)


def test_a_password_in_plain_text_is_refused():
    changer = editor()
    with pytest.raises(ConfigError, match="env"):
        changer.put("fetch.proxy", "http://me:word@proxy.test:1/")


GONE = {"rule": "surt-prefixed", "files": ["gone.txt"], "decision": "ACCEPT"}
UNDER_A_SHEET = {
    "sheets": {"other": {"scope": [GONE]}},
    "sheet_associations": [{"surts": ["http://a.test/"], "sheets": ["other"]}],
}


@pytest.mark.parametrize(
    ("sections", "path"),
    [
        ({"scope": [GONE]}, "scope"),
        ({"scope": [{"rule": "sequence", "rules": [GONE]}]}, "scope"),
        ({"fetch": {"midfetch": [GONE]}}, "fetch.midfetch"),
        (UNDER_A_SHEET, "scope"),
        ({"sheet_associations": [{"rules": [GONE], "sheets": ["slow"]}],
          "sheets": {"slow": {"politeness": {"delay": 9}}}}, "scope"),
    ],
)  # fmt: skip
def test_a_rule_whose_file_is_missing_cannot_be_built(
    tmp_path: Path, sections: dict[str, Any], path: str
):
    settings = JobSettings.model_validate(sections)
    changer = SettingsEditor(settings, tmp_path, running=False)
    change = changer.finish()
    with pytest.raises(ConfigError, match=r"gone\.txt cannot be read") as raised:
        require_buildable(change.settings, change.sheets, tmp_path)
    assert [problem.path for problem in raised.value.problems] == [path]
    (tmp_path / "gone.txt").write_text("http://(test,a,)/\n")
    require_buildable(change.settings, change.sheets, tmp_path)


@pytest.mark.parametrize(
    ("sections", "paths"),
    [
        ({"browser": {"block": ["gone.txt"]}}, ["browser.block"]),
        ({"browser": {"block": ["/(/"]}}, ["browser.block"]),
        ({"sheets": {"app": {"browser.scripts": ["gone.js"]}}}, ["sheets.app.browser.scripts"]),
        ({"browser": {"block": ["ads.test", "/x/"]}}, []),
    ],
)
def test_files_of_pages_are_read_before_a_change_holds(
    tmp_path: Path, sections: dict[str, Any], paths: list[str]
):
    change = SettingsEditor(JobSettings.model_validate(sections), tmp_path, running=True).finish()
    if not paths:
        require_buildable(change.settings, change.sheets, tmp_path)
        return
    with pytest.raises(ConfigError) as raised:
        require_buildable(change.settings, change.sheets, tmp_path)
    assert [problem.path for problem in raised.value.problems] == paths


def test_queued_uris_that_a_change_affects_are_counted(tmp_path: Path):
    seeds = ("http://a.test/", "http://a.test/2", "http://b.test/")

    async def play() -> None:
        async with opened(tmp_path, seeds=seeds) as session:
            rules = session.rules
            changer = SettingsEditor(rules.settings, tmp_path, running=True)
            name = changer.sheet_for("http://a.test/")
            changer.assign([f"sheets.{name}.politeness.delay=9"])
            change = changer.finish()
            then = make_sheets(change.settings, change.sheets, rules.scope_state)
            (*_, found) = count_affected(session.storing.store, rules.sheets, then)
            assert (found.urls, found.queues, found.pending) == (2, 1, 3)
            assert sorted(found.examples) == ["http://a.test/", "http://a.test/2"]
            (*_, few) = count_affected(session.storing.store, rules.sheets, then, most=1)
            assert len(few.examples) == 1
            (*_, same) = count_affected(session.storing.store, rules.sheets, rules.sheets)
            assert (same.urls, same.pending) == (0, 3)

    asyncio.run(play())
