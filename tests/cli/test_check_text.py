"""`nacre check --explain` and `--dry-run` as facts and lines."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from nacre.cli.check_text import outlook_lines, shown_as_list
from nacre.config.check import Loaded
from nacre.errors import ConfigError
from nacre.inspect.explain.answers import RobotsAnswer
from nacre.inspect.explain.dry_run import DryRunAnswer
from nacre.machine.layout import Layout
from nacre.ops.setting_explanation import explain_settings
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings

CONFIG = """\
name: job
seeds: [http://a.test/]
politeness: {delay: 3}
fetch: {contact: 'https://library.example/', proxy: {env: PROXY}}
scope: [accept, {rule: too-many-hops, max_hops: 7}]
sheets: {slow: {politeness: {delay: 60}}, quick: {politeness.delay: 0}}
chains: {fetch: {extract: {gate: reject}, preselect: {enabled: false}}}
"""


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loaded[JobSettings]:
    (tmp_path / "crawl.yaml").write_text(CONFIG)
    monkeypatch.setenv("PROXY", "http://me:word@proxy.test:1/")
    return load_job(Layout(tmp_path), ["limits.documents=9"])


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        ("politeness.delay", {
            "value": "3.0", "from": "file crawl.yaml:3", "default": "none", "unit": "s",
            "type": "number or none", "while it runs": "can be changed",
            "sheets": "slow says 60; quick says 0",
        }),
        ("limits.documents", {
            "value": "9", "from": "--set", "default": "0", "unit": "documents",
            "sheets": "cannot change it: it holds for the whole job",
        }),
        ("robots.policy", {
            "value": "obey", "from": "default", "sheets": "can change it; none does",
        }),
        ("robots.custom", {"value": "''", "default": "''"}),
        ("cookies.enabled", {"value": "true", "type": "true or false"}),
        ("fetch.proxy", {"value": "{env: PROXY}", "default": "none", "type": "secret text"}),
        ("name", {"value": "job", "while it runs": "cannot be changed"}),
        ("scope", {"value": "accept, too-many-hops", "from": "file crawl.yaml:5"}),
        ("scope.too-many-hops.max_hops", {
            "value": "7", "from": "file crawl.yaml:5", "default": "20",
        }),
        ("scope.1.max_hops", {"setting": "scope.1.max_hops", "value": "7"}),
        ("chains.fetch.extract.gate", {
            "value": "reject", "default": "empty list", "from": "file crawl.yaml:7",
        }),
        ("chains.fetch.preselect.enabled", {"value": "false", "from": "file crawl.yaml:7"}),
        ("chains.fetch.fetch-http.enabled", {"value": "true", "from": "default"}),
        ("chains.fetch.preselect.block_all", {"value": "false", "from": "default"}),
    ],
)  # fmt: skip
def test_a_setting(loaded: Loaded[JobSettings], path: str, facts: dict[str, str]):
    (found,) = explain_settings(loaded, path)
    assert {name: found.get(name) for name in facts} == facts
    assert ("unit" in found) == ("unit" in facts or path.endswith("max_hops"))
    assert found["setting"] == path
    assert found["meaning"].endswith(".")


def test_a_section_is_all_of_its_settings(loaded: Loaded[JobSettings]):
    found = {one["setting"]: one for one in explain_settings(loaded, "politeness")}
    assert {path.partition(".")[0] for path in found} == {"politeness"}
    assert found["politeness.delay"]["value"] == "3.0"
    assert found["politeness.min_delay"]["from"] == "default"
    facts = [*found.values()]
    assert ("politeness.delay", "3.0", "file crawl.yaml:3") in shown_as_list(facts)
    rule = {one["setting"]: one["value"] for one in explain_settings(loaded, "scope.too-many-hops")}
    assert rule["scope.too-many-hops.max_hops"] == "7"


def test_a_class_of_heritrix_stands_for_its_section(loaded: Loaded[JobSettings]):
    section = explain_settings(loaded, "politeness")
    assert explain_settings(loaded, "DispositionProcessor") == section
    (one,) = explain_settings(loaded, "DispositionProcessor.delay")
    assert one in section


def test_a_chain_is_its_processors_in_order(loaded: Loaded[JobSettings]):
    rows = {
        one["setting"].rpartition(".")[2]: one for one in explain_settings(loaded, "chains.fetch")
    }
    assert [*rows][:2] == ["preselect", "runtime-limit"]
    values = {name: row["value"] for name, row in rows.items()}
    assert values["preselect"] == values["recheck-scope"] == "off"
    assert values["fetch-http"] == "on"
    assert values["extract"] == "on; gate reject"
    assert rows["extract"]["from"] == "file crawl.yaml:7"
    assert rows["quotas"]["from"] == "default"
    assert rows["extract"]["processor"] == "extract"
    assert "\n" not in "".join(row["meaning"] for row in rows.values())


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("politness.delay", "no such setting; did you mean `politeness.delay`?"),
        ("politeness.dely", "politeness.delay"),
        ("scope.too-many-hops.max_hosp", "max_hops"),
        ("nothing", "no such setting; one of: name, seeds"),
    ],
)
def test_what_does_not_exist_is_said_with_what_may_be_meant(
    loaded: Loaded[JobSettings], path: str, message: str
):
    with pytest.raises(ConfigError) as raised:
        explain_settings(loaded, path)
    (problem,) = raised.value.problems
    assert problem.path == path
    assert message in problem.message


def test_settings_that_cannot_be_read_are_not_explained():
    with pytest.raises(ConfigError, match="cannot be read"):
        explain_settings(None, "name")


# ---- the dry run

LINK = DryRunAnswer(
    "http://a.test/x",
    decision="ACCEPT",
    decider="surt-prefixed",
    queue="test,a,",
    directive="NORMAL",
    precedence=1,
    cost=2,
    politeness="3 s between fetches",
)


def test_a_link_of_a_dry_run():
    assert [*outlook_lines(LINK)] == [
        "http://a.test/x",
        "  scope       in, by the rule surt-prefixed",
        "  found       by a link on the first seed, as is assumed",
        "  sheets      none",
        "  queue       test,a, (normal, precedence 1, cost 2)",
        "  politeness  3 s between fetches",
        "  robots.txt  not fetched yet",
    ]


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"decision": "REJECT"}, "  scope       out, by the rule surt-prefixed"),
        ({"is_seed": True}, "  found       it is a seed"),
        ({"is_seed": True, "decision": "REJECT"},
         "  found       it is a seed, and fetched all the same"),
        ({"sheets": ("slow", "quick")}, "  sheets      slow, quick"),
        ({"robots": RobotsAnswer("ignore", "http://a.test")},
         "  robots.txt  not obeyed (robots.policy is ignore)"),
        ({"robots": RobotsAnswer("obey", "http://a.test", "rules", 200, True, "", 9.0)},
         "              Crawl-delay: 9 s"),
    ],
)  # fmt: skip
def test_what_a_dry_run_knows(facts: dict[str, Any], line: str):
    assert line in [*outlook_lines(structs.replace(LINK, **facts))]


def test_what_is_no_url_says_why():
    lines = [*outlook_lines(DryRunAnswer("http://", error="it has no host"))]
    assert lines == ["http://", "  no URL      it has no host"]
