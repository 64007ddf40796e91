from importlib.metadata import EntryPoint
from typing import Literal

import pytest
from pydantic import ValidationError

from nacre.job import plugins
from nacre.job.plugins import GROUP, rules_of_plugins
from nacre.scope.decide import Predicated, Rule
from nacre.scope.rule import Predicate
from nacre.scope.state import ScopeState
from nacre.scope.table import RULES
from tests.scope.asking import RULE, says


class LongUrl(Predicated):
    """More than `most` characters."""

    rule: Literal["test-long-url"] = "test-long-url"
    most: int = 100

    def build(self, state: ScopeState) -> Predicate:
        most = self.most
        return lambda subject: len(subject.url) > most


def offered(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    entry = EntryPoint("long-url", value, GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [entry])
    monkeypatch.setattr(Rule, "kinds", dict(Rule.kinds))
    monkeypatch.setattr(RULES, "_kinds", Rule.kinds)
    RULES.when_missing(rules_of_plugins)


def test_a_rule_of_a_plug_in(monkeypatch: pytest.MonkeyPatch):
    offered(monkeypatch, "tests.job.test_plugins:LongUrl")
    monkeypatch.setattr(EntryPoint, "load", lambda self: LongUrl)
    assert says({"rule": "test-long-url", "most": 5}, "http://a.test/") == "ACCEPT"
    with pytest.raises(ValidationError, match="most"):
        RULE.validate_python({"rule": "test-long-url", "most": "x"})


def test_one_that_fails_is_named(monkeypatch: pytest.MonkeyPatch):
    offered(monkeypatch, "nacre_no_such:Thing")
    with pytest.raises(ValidationError, match="plug-in long-url"):
        RULE.validate_python({"rule": "test-other"})


@pytest.mark.parametrize("name", ["accept", "surt-prefixed"])
def test_a_name_that_is_taken(name: str):
    taken = type("Taken", (LongUrl,), {"__annotations__": {"rule": str}, "rule": name})
    with pytest.raises(ValueError, match="already"):
        RULES.add(taken)
