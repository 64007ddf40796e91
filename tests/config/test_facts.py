from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from nacre.config.component import Component, Seconds, setting
from nacre.config.facts import (
    facts_at,
    fields,
    model_at,
    names_of,
    required,
    suggestion,
    type_name,
    value_at,
)
from nacre.config.secret import Secret
from nacre.errors import ConfigError


class Mode(StrEnum):
    FAST = "fast"
    SLOW = "slow"


class Hops(Component):
    rule: Literal["hops", "HopsRule"] = "hops"
    most: int = setting(20, "Hops.", unit="hops", sheets=False)


class Reject(Component):
    rule: Literal["reject"] = "reject"


AnyRule = Annotated[Hops | Reject, Field(discriminator="rule")]


class Politeness(Component):
    delay: Seconds | None = setting(None, "Fixed wait.", unit="s", live=False)
    contact: str = setting(..., "Who crawls.", sample="me@a.test")


class Job(Component):
    politeness: Politeness = setting(lambda: Politeness(contact="x"), "Politeness.")
    hosts: dict[str, Politeness] = setting(dict, "By host.")
    scope: tuple[AnyRule, ...] = setting((), "Rules.")
    mode: Mode = setting(Mode.FAST, "Mode.")


TREE = {"scope": [{"rule": "reject"}, {"rule": "HopsRule", "most": 3}], "hosts": {"a": {}}}


def test_all_properties_depth_first():
    found = {fact.path: fact for fact in fields(Job)}
    assert list(found) == ["politeness.delay", "politeness.contact", "hosts", "scope", "mode"]
    delay = found["politeness.delay"]
    assert (delay.unit, delay.live, delay.sheets, delay.doc) == ("s", False, True, "Fixed wait.")
    assert found["politeness.contact"].sample == "me@a.test"


def test_what_has_no_default_is_required():
    assert {fact.path for fact in fields(Job) if required(fact)} == {"politeness.contact"}


@pytest.mark.parametrize(
    ("path", "doc"),
    [
        ("politeness.delay", "Fixed wait."),
        ("scope.1.most", "Hops."),
        ("hosts.a.delay", "Fixed wait."),
        ("scope", "Rules."),
    ],
)
def test_a_property_by_its_path(path: str, doc: str):
    found = facts_at(Job, path.split("."), TREE)
    assert found is not None
    assert (found.path, found.doc) == (path, doc)


@pytest.mark.parametrize("path", ["scope.0.most", "scope.7.most", "politeness.dealy", "mode.x"])
def test_a_path_to_nothing(path: str):
    assert facts_at(Job, path.split("."), TREE) is None


def test_no_path_is_no_property():
    assert facts_at(Job, [], TREE) is None


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("", Job), ("politeness", Politeness), ("hosts.a", Politeness), ("scope.0", Reject),
        ("scope.1", Hops), ("scope", None), ("mode", None), ("nothing", None),
    ],
)  # fmt: skip
def test_the_model_that_a_value_is_read_as(path: str, model: Any):
    assert model_at(Job, path.split(".") if path else [], TREE) is model


def test_the_names_of_a_rule():
    assert names_of(Hops) == ("hops", "HopsRule")
    assert names_of(Politeness) == ()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (str, "text"),
        (int, "whole number"),
        (bool, "true or false"),
        (Secret, "secret text"),
        (float | None, "number or none"),
        (Seconds, "number"),
        (Literal["a", 1], "`a` or `1`"),
        (Mode, "`fast` or `slow`"),
        (Politeness, "mapping"),
        (dict[str, int], "mapping of text to whole number"),
        (tuple[str, ...], "list of text"),
        (AnyRule, "mapping"),
    ],
)
def test_types_in_words(kind: object, words: str):
    assert type_name(kind) == words


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("politeness.dealy", "did you mean `politeness.delay`?"),
        ("contact", "did you mean `politeness.contact`?"),
        ("scope.1.mots", "did you mean `scope.1.most`?"),
        ("politeness.zzzzzzzz", "one of: contact, delay"),
        ("mode.x", ""),
    ],
)
def test_what_a_mistyped_key_was_meant_to_be(path: str, words: str):
    assert suggestion(Job, path.split("."), TREE) == words


def test_a_value_by_its_path():
    job = Job(politeness=Politeness(contact="me", delay=3.0))
    assert value_at(job, "politeness.delay") == 3.0
    assert value_at(job, "mode") is Mode.FAST
    with pytest.raises(ConfigError, match=r"did you mean `politeness\.delay`"):
        value_at(job, "politeness.dealy")
    with pytest.raises(ConfigError, match="no such setting"):
        value_at(job, "mode.x")
