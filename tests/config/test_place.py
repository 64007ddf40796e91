from typing import Annotated, Literal

import pytest
from pydantic import Field

from nacre.config.component import Component, setting
from nacre.config.place import (
    InvalidValuesError,
    UnknownPropertyError,
    find,
    index_of,
    names_of,
    properties,
    with_values,
)


class Hops(Component):
    rule: Literal["hops"] = "hops"
    name: str = setting("", "Its name.")
    most: int = setting(20, "Hops.", ge=0)


class Reject(Component):
    rule: Literal["reject"] = "reject"


AnyRule = Annotated[Hops | Reject, Field(discriminator="rule")]


class Delays(Component):
    least: float = setting(3.0, "Least.")
    slots: int = setting(1, "Slots.", live=False)


class Politeness(Component):
    delays: Delays = setting(Delays, "Delays.", sheets=False)
    factor: float = setting(5.0, "Factor.", ge=0)


class Job(Component):
    politeness: Politeness = setting(Politeness, "Politeness.")
    scope: tuple[AnyRule, ...] = setting(
        (Reject(), Hops(), Hops(name="far", most=50)), "Rules.", live=False, items=True
    )
    hosts: tuple[str, ...] = setting((), "Hosts.")


JOB = Job()


def test_all_properties_with_items_of_lists_by_name():
    paths = [one.path for one in properties(JOB)]
    assert paths[:4] == [
        "politeness.delays.least", "politeness.delays.slots", "politeness.factor", "scope",
    ]  # fmt: skip
    assert "scope.far.most" in paths
    assert "scope.reject.rule" in paths
    assert paths[-1] == "hosts"


def test_what_holds_of_a_section_holds_of_all_in_it():
    assert not find(JOB, "politeness.delays.least").sheets
    assert find(JOB, "politeness.delays.least").live
    assert not find(JOB, "politeness.delays.slots").live
    assert find(JOB, "politeness.factor").sheets


def test_of_a_list_of_items_only_the_items_may_change():
    assert not find(JOB, "scope").live
    assert find(JOB, "scope.far.most").live
    assert not find(JOB, "scope.far.rule").live
    listed = {one.path: one.live for one in properties(JOB)}
    assert (listed["scope"], listed["scope.far.most"], listed["scope.far.rule"]) == (
        False, True, False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "wrong", "known"),
    [
        ("polite.factor", "polite", ("politeness", "scope", "hosts")),
        ("politeness.x", "politeness.x", ("politeness.delays", "politeness.factor")),
        ("scope.near.most", "scope.near", ("scope.reject", "scope.1", "scope.far")),
        ("politeness.factor.x", "politeness.factor.x", ()),
        ("scope.9.most", "scope.9", ("scope.reject", "scope.1", "scope.far")),
    ],
)
def test_a_path_to_nothing_says_what_there_is(path: str, wrong: str, known: tuple[str, ...]):
    with pytest.raises(UnknownPropertyError) as error:
        find(JOB, path)
    assert error.value.path == wrong
    if known[:1] != ("scope.reject",):
        assert error.value.known == known
    else:
        assert len(error.value.known) == 3


def test_an_item_is_found_by_name_by_kind_and_by_index():
    assert [index_of(JOB.scope, key) for key in ("reject", "far", "1", "9", "near")] == [
        0, 2, 1, None, None,
    ]  # fmt: skip
    assert index_of(("a.test",), "0") is None
    assert names_of((Hops(), Hops())) == ["0", "1"]


def test_other_values_leave_the_rest_the_same_object():
    changed = with_values(JOB, {"politeness.factor": 2, "scope.far.most": 7})
    assert changed.politeness.factor == 2.0
    assert changed.politeness.delays is JOB.politeness.delays
    assert changed.scope[2] == Hops(name="far", most=7)
    assert changed.scope[0] is JOB.scope[0]
    assert with_values(JOB, {}) is JOB
    assert JOB.politeness.factor == 5.0


def test_a_section_and_a_value_in_it_at_once():
    changed = with_values(JOB, {"politeness": {"factor": 2.0}, "politeness.delays.least": 1.0})
    assert (changed.politeness.factor, changed.politeness.delays.least) == (2.0, 1.0)


@pytest.mark.parametrize(
    ("path", "value"), [("politeness.factor", -1), ("scope.far.most", "x"), ("hosts", 5)]
)
def test_a_value_that_cannot_be_names_its_path(path: str, value: object):
    with pytest.raises(InvalidValuesError) as error:
        with_values(JOB, {path: value})
    assert [(item[0], item[2]) for item in error.value.items] == [(path, value)]


@pytest.mark.parametrize("path", ["x", "scope.near.most", "scope.far", "politeness.factor.x"])
def test_a_value_for_nothing_is_refused(path: str):
    with pytest.raises(UnknownPropertyError):
        with_values(JOB, {path: 1})
