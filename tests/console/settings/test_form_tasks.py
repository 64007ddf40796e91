from pathlib import Path

import pytest

from nacre.config.facts import fields
from nacre.console.settings.form_tasks import form_change, form_fields, form_text
from nacre.editing.cards import editor_of, field_text, value_of
from nacre.errors import ConfigError
from nacre.machine.layout import Layout
from nacre.settings.settings import JobSettings
from tests.cli.site import nacre


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    assert nacre("new", tmp_path / "one", "http://127.0.0.1:9/").code == 0
    return Layout(tmp_path / "one")


def test_every_default_comes_back_from_its_editor():
    for one in fields(JobSettings):
        if one.path.partition(".")[0] in {"scope", "chains", "sheets", "sheet_associations"}:
            continue
        kind = editor_of(one)
        text = field_text(kind, one.default, one.path)
        again = field_text(kind, value_of(kind, text), one.path)
        assert again == text, one.path


def test_fields_have_value_origin_and_default(layout: Layout):
    layout.config.write_text(layout.config.read_text() + "politeness: {min_delay: 7}\n")
    found = form_fields(layout, {"section": "", "search": ""})
    by_path = {one["path"]: one for one in found["fields"]}
    one = by_path["politeness.min_delay"]
    assert (one["value"], one["default"], one["own"], one["live"]) == ("7", "3", True, True)
    assert one["origin"].startswith("file crawl.yaml:")
    assert by_path["name"]["why"]
    assert found["total"] > 300
    several = form_fields(layout, {"section": "recrawl", "search": ""})["fields"]
    assert {one["section"] for one in several} == {"recrawl"}
    assert form_fields(layout, {"section": "recrawl", "search": ""})["lists"] == []
    searched = form_fields(layout, {"section": "", "search": "minDelayMs"})["fields"]
    assert "politeness.min_delay" in [one["path"] for one in searched]


def test_values_go_into_the_text_and_comments_stay(layout: Layout):
    text = layout.config.read_text() + "politeness: {min_delay: 7}  # 慢\n"
    layout.config.write_text(text)
    values = {"politeness.min_delay": "9", "archive.operator": "国家图书馆: 网络"}
    made = form_text(layout, {"values": values, "resets": []})["text"]
    assert "min_delay: 9}  # 慢" in made
    assert "operator: '国家图书馆: 网络'" in made
    assert made.startswith(text[:200])
    reset = form_text(layout, {"values": {}, "resets": ["politeness.min_delay"]})["text"]
    assert "min_delay: 7" not in reset
    with pytest.raises(ConfigError, match="must be at least 0"):
        form_text(layout, {"values": {"politeness.min_delay": "-1"}, "resets": []})
    lines = form_change(layout, {"values": {"fetch.accept": "A: 1\nB: 2"}})["assignments"]
    assert lines == ['fetch.accept=["A: 1","B: 2"]']


def test_rules_are_moved_disabled_and_negated(layout: Layout):
    scope = "scope:\n  - reject\n  # 种子\n  - rule: surt-prefixed  # yes\n"
    scope += "    seeds_as_prefixes: true\n"
    scope += "  - {rule: too-many-hops, max_hops: 2}\n# behind\n"
    layout.config.write_text("seeds: [http://127.0.0.1:9/]\n" + scope + "name: x\n")
    (scope_list,) = (
        one for one in form_fields(layout, {"section": "", "search": ""})["lists"] if one["title"]
    )
    assert [one["label"] for one in scope_list["cards"]] == [
        "reject",
        "surt-prefixed",
        "too-many-hops",
    ]

    def after(card: str) -> str:
        made: str = form_text(layout, {"values": {}, "resets": [], "card": f"scope {card}"})["text"]
        return made.partition("scope:\n")[2]

    up = after("2 up")
    assert up.index("too-many-hops") < up.index("# 种子") < up.index("surt-prefixed")
    assert up.endswith("# behind\nname: x\n")
    assert "enabled: false" in after("1 disable")
    assert "rule: reject" in after("0 disable")
    assert "rule: not" in after("2 negate")
    assert "too-many-hops" not in after("2 remove")


@pytest.mark.parametrize("word", ["max_hops", "depth", "hops", "levels", "深度", "层级", "跳"])
def test_the_depth_is_found_by_the_words_that_people_have_for_it(layout: Layout, word: str):
    found = form_fields(layout, {"section": "", "search": word, "spoken": "zh_CN"})
    path, _, number = found["opened"].partition(" ")
    (scope,) = (one for one in found["lists"] if one["path"] == path == "scope")
    card = next(one for one in scope["cards"] if one["number"] == int(number))
    assert "max_hops" in [one["name"] for one in card["fields"]]
    assert scope["total"] > len(scope["cards"]), "the other rules are not shown"


def test_meanings_are_searched_in_the_language_of_the_page(layout: Layout):
    def paths(spoken: str) -> list[str]:
        asked = {"section": "", "search": "同时进行的抓取数", "spoken": spoken}
        return [one["path"] for one in form_fields(layout, asked)["fields"]]

    assert "engine.parallel" in paths("zh_CN")
    assert paths("") == []
