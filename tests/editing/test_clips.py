import pytest

from nacre.config.document import read_yaml
from nacre.editing.clips import (
    clip_of,
    filled,
    find_clip,
    insert_clip,
    list_clips,
    remove_clip,
    save_clip,
)
from nacre.editing.findings import find_in_text
from nacre.errors import ConfigError, JobError
from nacre.machine.layout import Layout

BASE = "name: x\nseeds: seeds.txt\n# what we are\nfetch:\n  contact: https://a.test/x  # me\n"
SHIPPED = [clip.name for clip in list_clips() if clip.source == "shipped"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CRAWL_PASSWORD", "secret")


def test_there_are_twenty():
    assert len(SHIPPED) >= 20


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_clip_makes_a_sound_job(name, tmp_path):
    (tmp_path / "seeds.txt").write_text("http://a.test/\n")
    text = insert_clip(BASE, find_clip(name), {})
    found = find_in_text(text, Layout(tmp_path))
    assert found.lights == {"text": 0, "settings": 0, "whole": 0}
    assert not found.warnings, [one.message for one in found.warnings]
    assert "# what we are" in text
    assert "# me" in text


def test_parameters_are_values_and_never_structure():
    clip = find_clip("polite-host")
    text = insert_clip(BASE, clip, {"host": "a.test/}: {x: y", "delay": "7"})
    tree = read_yaml(text, "x").tree
    assert tree["sheet_associations"][0]["surts"] == ["http://a.test/}: {x: y/"]
    assert tree["sheets"]["polite-host"]["politeness"]["delay"] == 7
    assert (
        filled(clip, {"delay": "[1, 2]"})["sheets"]["polite-host"]["politeness"]["delay"]
        == "[1, 2]"
    )


@pytest.mark.parametrize("given", [{"hots": "a"}, {"host": ""}, {"host": "a\nb"}])
def test_wrong_parameters_are_refused(given):
    with pytest.raises(ConfigError):
        filled(find_clip("polite-host"), given)


def test_rules_come_behind_those_that_hold():
    tree = read_yaml(insert_clip(BASE, find_clip("no-calendars"), {}), "x").tree
    assert len(tree["scope"]) == 11
    assert tree["scope"][-1]["comment"] == "calendars"
    given = insert_clip(BASE + "scope:\n  - accept  # all\n", find_clip("no-calendars"), {})
    assert "- accept  # all" in given
    assert len(read_yaml(given, "x").tree["scope"]) == 2


def test_a_selection_becomes_a_clip_and_goes_again():
    save_clip("mine", "Mine", "scope", "- rule: too-many-hops\n    max_hops: 3")
    clip = find_clip("mine")
    assert (clip.source, clip.place) == ("yours", "scope")
    assert clip.settings == {"scope": [{"rule": "too-many-hops", "max_hops": 3}]}
    remove_clip("mine")
    with pytest.raises(JobError, match="no clip 'mine'"):
        find_clip("mine")


@pytest.mark.parametrize("name", ["../x", "A", "", "no-calendars"])
def test_what_is_not_the_users_stays(name):
    with pytest.raises(JobError):
        remove_clip(name)


@pytest.mark.parametrize(
    ("name", "title", "place", "text"),
    [
        ("../x", "t", "scope", "- accept"),
        ("x", "", "scope", "- accept"),
        ("x", "t", "", "- accept"),
        ("x", "t", "scope", "[a"),
    ],
)
def test_a_wrong_clip_is_not_saved(name, title, place, text):
    with pytest.raises(ConfigError):
        save_clip(name, title, place, text)


def test_a_clip_declares_its_parameters():
    with pytest.raises(ConfigError, match="does not declare: host"):
        clip_of("settings: {name: '{{host}}'}\n", "x", "yours", "x.yaml")
