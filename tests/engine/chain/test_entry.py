"""Entries of chains: names, gates, and the registry of processors."""

from typing import Any

import pytest
from pydantic import ValidationError

import nacre.settings.chains  # noqa: F401 - it adds the processors
from nacre.config.effective import fixed
from nacre.engine.chain.entry import PROCESSORS, ChainName, Entry, FixedEntry
from nacre.engine.steps.dispose import Dispose, Reschedule
from nacre.engine.steps.fetching import FetchHttp
from nacre.engine.steps.preselect import Preselect
from tests.engine.chain.test_plan import kit


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("fetch-http", FetchHttp), ("FetchHTTP", FetchHttp), ("preselect", Preselect),
        ("org.archive.modules.fetcher.FetchHTTP", FetchHttp),
        ("ReschedulingProcessor", Reschedule), ("fetch", None), ("", None),
    ],
)  # fmt: skip
def test_a_processor_has_its_own_name_and_that_of_heritrix(name: str, kind: type | None):
    assert PROCESSORS.find(name) is kind


def test_the_names_of_heritrix_are_offered_too():
    assert {"FetchHTTP", "DispositionProcessor"} <= set(PROCESSORS.other_names())
    assert "" not in PROCESSORS.other_names()


@pytest.mark.parametrize(
    "value", ["reschedule", {"processor": "reschedule"}, {"processor": "ReschedulingProcessor"}]
)
def test_an_entry_is_a_name_or_a_mapping(value: Any):
    entry = PROCESSORS.read(value)
    assert type(entry) is Reschedule
    assert (entry.kind, entry.label, entry.enabled, entry.gate) == ("reschedule",) * 2 + (True, ())


def test_its_label_is_its_name_where_it_has_one():
    entry = PROCESSORS.read({"processor": "reschedule", "name": "daily"})
    assert (entry.kind, entry.label) == ("reschedule", "daily")
    with pytest.raises(ValidationError, match="pattern"):
        PROCESSORS.read({"processor": "reschedule", "name": "a.b"})


@pytest.mark.parametrize("gate", ["reject", {"rule": "reject"}, ["reject"]])
def test_a_gate_may_be_a_single_rule(gate: Any):
    entry = PROCESSORS.read({"processor": "reschedule", "gate": gate})
    assert [rule.rule for rule in entry.gate] == ["reject"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"processor": "fetch-http"}, FetchHttp),
        ({"processor": "nothing like it"}, Entry),
        ({"processor": 3}, Entry),
        ({}, Entry),
        ("fetch-http", Entry),
    ],
)
def test_a_mapping_names_the_component_that_it_means(value: object, kind: type):
    assert Entry.chosen(value) is kind


def test_what_cannot_be_missing_says_why():
    assert issubclass(Dispose, FixedEntry)
    assert Dispose.fixed
    assert not Reschedule.fixed


def test_an_entry_without_faults_has_none_and_one_without_a_worker_says_so():
    class Idle(Entry):
        """Does nothing."""

    assert list(Idle().faults(lambda name: [name])) == []
    assert (Idle().kind, Idle.chains) == ("", frozenset({ChainName.FETCH}))
    with pytest.raises(NotImplementedError, match="Idle does not say what does its work"):
        Idle.make(fixed(None), kit())
