"""The schema says what the loader says, judged by an independent validator."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nacre.config.document import read_yaml
from nacre.machine.layout import Layout
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.layers import list_profiles
from nacre.settings.new_job import NewJob, create_job
from nacre.settings.schema import BESIDE, SHIPPED, schema


@pytest.fixture(scope="module")
def judge() -> Draft202012Validator:
    made = schema()
    Draft202012Validator.check_schema(made)
    return Draft202012Validator(made)


def errors(judge: Draft202012Validator, text: str) -> list[str]:
    layer = read_yaml(text, "f")
    assert layer.problems == []
    tree: dict[str, Any] = dict(layer.tree)
    if layer.profile[0]:
        tree["profile"] = layer.profile[0]
    if layer.includes:
        tree["include"] = [name for name, _ in layer.includes]
    return [error.message for error in judge.iter_errors(tree)]


GOOD = [
    "",
    "seeds: [http://a.test/]\ninclude: a.yaml\nprofile: site\n",
    "politeness: {delay: 2, min_delay: 1.5s, max_delay: 10 m, backoff_up_to: '90'}",
    "fetch: {max_length: 500 MB, max_header: 64KiB, proxy: {env: PROXY}}",
    "fetch: {credentials: [{origin: 'http://a.test', username: u, password: {file: p}}]}",
    "scope: [{rule: reject}, {rule: SurtPrefixedDecideRule, decision: reject, coerce: host}]",
    "dns: {hosts: {a.test: 10.0.0.1, b.test: [10.0.0.1, '::1']}}",
    "uri: {canonical: heritrix}",
    "uri: {canonical: [{rule: Lowercase}]}",
    "sheets: {slow: {politeness: {min_delay: 10s}, fetch.max_length: 5 MB}}",
    "sheets: {deep: {scope.too-many-hops.max_hops: 99}}",
    "sheet_associations: [{sheets: [slow], surts: ['http://(test,']}]",
]

BAD = [
    "polteness: {}",
    "politeness: {delya: 2}",
    "politeness: {min_delay: soon}",
    "fetch: {max_length: -1}",
    "fetch: {max_length: 5 parsecs}",
    "fetch: {proxy: {vault: x}}",
    "scope: [{rule: rejct}]",
    "scope: [{rule: too-many-hops, max_hosp: 1}]",
    "scope: {rule: reject}",
    "engine: {parallel: 0}",
    "robots: {policy: obay}",
    "sheets: {slow: {politeness: {min_dely: 1}}}",
    "sheets: {slow: {limits: {documents: 1}}}",
]


@pytest.mark.parametrize("text", GOOD)
def test_what_is_right(judge: Draft202012Validator, text: str):
    assert errors(judge, text) == []


@pytest.mark.parametrize("text", BAD)
def test_what_is_wrong(judge: Draft202012Validator, text: str):
    assert errors(judge, text)


@pytest.mark.parametrize("name", [profile.name for profile in list_profiles()])
def test_profiles_are_right(judge: Draft202012Validator, name: str):
    path = next(profile.path for profile in list_profiles() if profile.name == name)
    assert errors(judge, path.read_text()) == []


@pytest.mark.parametrize("kind", list(ScopeKind))
def test_what_new_writes_is_right_and_names_its_schema(
    tmp_path: Path, judge: Draft202012Validator, kind: ScopeKind
):
    layout = Layout(tmp_path / "job")
    rules = rules_for(kind, depth=2, include=["a"], exclude=["b"])
    create_job(layout, NewJob(["http://a.test/"], rules, {"politeness": {"delay": 2}}))
    text = layout.config.read_text()
    assert errors(judge, text) == []
    assert text.splitlines()[0] == f"# yaml-language-server: $schema={BESIDE}"
    assert json.loads((layout.root / BESIDE).read_text())["title"] == "A job of Nacre"


def test_the_shipped_schema_is_current():
    assert json.loads(SHIPPED.read_text()) == schema(), "stale: make reference"


def test_every_setting_has_its_meaning(judge: Draft202012Validator):
    politeness = judge.schema["$defs"]["PolitenessSettings"]["properties"]["min_delay"]
    assert politeness["description"].endswith("(s)")
    assert politeness["default"] == 3.0
    assert "live" not in json.dumps(politeness)
