from importlib.metadata import EntryPoint
from typing import Literal

import pytest
from pydantic import ValidationError

from nacre.job.chain.entry import Entry
from nacre.job.chain.table import ProcessorTable
from nacre.job.configuration import plugins
from nacre.job.configuration.plugins import GROUP, processors_of_plugins, rules_of_plugins
from nacre.scope.decide import Predicated, Rule
from nacre.scope.rule import Predicate
from nacre.scope.state import ScopeState
from nacre.scope.table import RULES
from tests.scope.asking import RULE, says


class LongUrl(Predicated):
    """More than `most` characters."""

    contract = 1
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


@pytest.mark.parametrize(
    ("contract", "message"), [(0, "for which contract"), (2, "contract 2"), (1, "")]
)
def test_plug_ins_say_for_which_contract_they_are(
    monkeypatch: pytest.MonkeyPatch, contract: int, message: str
):
    offered(monkeypatch, "tests.job.test_plugins:LongUrl")
    monkeypatch.setattr(EntryPoint, "load", lambda self: LongUrl)
    monkeypatch.setattr(LongUrl, "contract", contract)
    with pytest.raises(ValidationError) as caught:
        RULE.validate_python({"rule": "test-other"})
    assert message in str(caught.value)
    assert ("test-long-url" in Rule.kinds) is (not message)


def test_processors_of_plug_ins(monkeypatch: pytest.MonkeyPatch):
    class Thing(Entry):
        """A thing."""

        contract = 1
        processor: Literal["test-thing"] = "test-thing"

    entries = [EntryPoint(name, "x:y", GROUP) for name in ("bad", "thing", "other", "twin")]
    loaded = iter([LookupError("a bug"), Thing, int, type("Twin", (Thing,), {})])

    def load(_: EntryPoint) -> object:
        found = next(loaded)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(plugins, "entry_points", lambda group: entries)
    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(Entry, "kinds", dict(Entry.kinds))
    table = ProcessorTable()
    table.when_missing(processors_of_plugins)
    assert isinstance(table.read("test-thing"), Thing)
    with pytest.raises(ValueError, match="there is no processor 'other'") as caught:
        table.read("other")
    for said in ("plug-in bad (x:y) fails: LookupError: a bug", "neither a Rule nor", "already"):
        assert said in str(caught.value)


@pytest.mark.parametrize("name", ["accept", "surt-prefixed"])
def test_a_name_that_is_taken(name: str):
    taken = type("Taken", (LongUrl,), {"__annotations__": {"rule": str}, "rule": name})
    with pytest.raises(ValueError, match="already"):
        RULES.add(taken)
