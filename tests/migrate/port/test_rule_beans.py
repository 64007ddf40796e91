"""The rules of a scope in the browser of beans."""

import asyncio
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nacre.settings.settings import JobSettings
from nacre_migrate.port.rule_beans import (
    RulePath,
    rule_assignments,
    rule_class,
    rule_path,
    rule_properties,
)
from tests.cli.site import PAGES, site
from tests.console.stories.running import new_job, running_job
from tests.migrate.port.test_app import port

RULES = [rule.model_dump(mode="json") for rule in JobSettings().scope]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("scope.rules", RulePath(None, "")),
        ("scope.rules[2]", RulePath(2, "")),
        ("scope.rules[2].maxHops", RulePath(2, "maxHops")),
        ("scope", None),
        ("scope.rules[-1]", None),
        ("scope.rules[99999]", None),
        ("scope.rules[1].a.b", None),
        ("scope.rules[图]", None),
    ],
)
def test_paths(path: str, found: RulePath | None) -> None:
    assert rule_path(path) == found


def test_rules_have_the_names_of_heritrix() -> None:
    assert rule_class(RULES[2]) == "TooManyHopsDecideRule"
    assert rule_properties(RULES[2])["maxHops"] == "20"
    assert rule_properties(RULES[5])["regexList"] == ""
    assert rule_class({"rule": "of-a-plug-in"}) == "of-a-plug-in"


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("scope.rules[2].maxHops", "5", ["scope.2.max_hops=5"]),
        ("scope.rules[2].enabled", "false", ["scope.2.enabled=false"]),
        ("scope.rules[2].comment", "a: b", ['scope.2.comment="a: b"']),
        ("scope.rules[5].regexList", ".*gif\n\n.*图.*", ['scope.5.regexes=[".*gif", ".*图.*"]']),
    ],
)
def test_values_become_settings(path: str, text: str, said: list[str]) -> None:
    at = rule_path(path)
    assert at is not None
    assert rule_assignments(RULES, at, text) == said


@pytest.mark.parametrize("at", [RulePath(99, "maxHops"), RulePath(2, "nope"), RulePath(None, "")])
def test_what_is_no_rule_or_property(at: RulePath) -> None:
    with pytest.raises(ValueError, match=r"there are 10 rules|has no such property"):
        rule_assignments(RULES, at, "1")


def test_a_rule_is_shown_and_changed(tmp_path: Path) -> None:
    job = tmp_path / "crawls" / "x"

    async def story() -> None:
        async with port(tmp_path) as client:
            url = "/engine/job/x/beans"
            shown = ElementTree.fromstring((await client.get(f"{url}/scope.rules")).text)
            rules = [one.findtext("propValue") for one in shown.iterfind("bean/properties/value")]
            assert rules[2] == "TooManyHopsDecideRule"
            for place in (one.text for one in shown.iterfind("bean/properties/value/url")):
                assert place
                assert "<problem/>" in (await client.get(place)).text
            form = {"beanPath": "scope.rules[2].maxHops", "newVal": "5"}
            changed = await client.post(url, data=form)
            assert "set scope.2.max_hops=5" in changed.headers["nacre-message"]
            again = await client.get(changed.headers["location"])
            assert "<propValue>5</propValue>" in again.text
            assert "<editable>true</editable>" in again.text
            wrong = await client.post(url, data=form | {"newVal": "many"})
            assert "max_hops" in wrong.headers["nacre-message"]

    with site(PAGES) as seed:
        new_job(job, seed, "politeness.delay=600s")
        with running_job(job):
            asyncio.run(story())
