from importlib.metadata import EntryPoint
from typing import Literal

import pytest

from nacre.config import registry
from nacre.config.component import Component, ComponentRegistry, setting
from nacre.config.registry import COMPONENTS, Registry

HERE = __name__


class Tool(Component):
    """A tool."""


class Saw(Tool):
    """A saw."""

    contract = 1
    tool: Literal["saw"] = "saw"
    teeth: int = setting(40, "Teeth.")


class Axe(Tool):
    """An axe."""

    contract = 1
    tool: Literal["axe"] = "axe"


class Named:
    """A part that is an object."""

    contract = 1

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.fixture
def table() -> ComponentRegistry[Tool]:
    made = ComponentRegistry(Tool, "tool", "it is a name, or a mapping with `tool: NAME`")
    made.add(Saw)
    return made


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch):
    """Installs plug-ins: entry points by name, with what loading each gives or raises."""

    def install(group: str = COMPONENTS, **parts: object) -> list[str]:
        asked: list[str] = []

        def load(entry: EntryPoint) -> object:
            asked.append(entry.name)
            part = parts[entry.name]
            if isinstance(part, Exception):
                raise part
            return part

        def points(**wanted: str) -> list[EntryPoint]:
            return [EntryPoint(name, "x:y", group) for name in parts if wanted == {"group": group}]

        monkeypatch.setattr(registry, "entry_points", points)
        monkeypatch.setattr(EntryPoint, "load", load)
        return asked

    return install


def test_a_name_a_mapping_or_the_thing_itself(table: ComponentRegistry[Tool]):
    assert table.read("saw") == Saw()
    assert table.read({"tool": "saw", "teeth": 7}) == Saw(teeth=7)
    assert table.read(ready := Saw(teeth=3)) is ready


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5, "not a tool: it is a name, or a mapping"),
        ({}, "it says no `tool`"),
        ("swa", "there is no tool 'swa'; did you mean `saw`?"),
        ("hammer", "one of: saw"),
    ],
)
def test_what_is_none_is_told(table: ComponentRegistry[Tool], value: object, said: str):
    with pytest.raises(ValueError, match="tool") as caught:
        table.read(value)
    assert said in str(caught.value)


def test_plug_ins_are_looked_for_once_when_a_name_is_not_known(
    table: ComponentRegistry[Tool], offered
):
    asked = offered(axe=Axe, drill=LookupError("a bug"))
    table.read("saw")
    assert not asked
    assert table.read("axe") == Axe()
    with pytest.raises(ValueError, match=r"plug-in drill \(x:y\) fails: LookupError: a bug"):
        table.read("drill")
    assert asked == ["axe", "drill"]


def test_a_component_needs_the_field_that_names_it(table: ComponentRegistry[Tool]):
    with pytest.raises(ValueError, match="Tool needs a field `tool"):
        table.add(Tool)


def test_a_name_that_is_taken_is_refused_with_both_places(table: ComponentRegistry[Tool]):
    table.add(Saw)  # the same part again harms nothing
    twin = type("Twin", (Saw,), {"__module__": HERE})
    with pytest.raises(ValueError, match="there is a tool 'saw' already") as caught:
        table.add(twin)
    assert f"already: {HERE}.Saw, and now {HERE}.Twin" in str(caught.value)
    assert table.find("saw") is Saw


def test_a_plug_in_whose_name_is_taken_is_named(table: ComponentRegistry[Tool], offered):
    offered(twin=type("Twin", (Saw,), {"__module__": HERE}))
    with pytest.raises(ValueError, match="there is no tool 'axe'") as caught:
        table.get("axe")
    assert f"{HERE}.Saw, and now the plug-in twin (x:y)" in str(caught.value)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (int, "is nothing that Nacre can plug in"),
        (type("Unsaid", (Axe,), {"contract": 0}), "does not say for which contract"),
        (type("Later", (Axe,), {"contract": 2}), "was written for contract 2"),
    ],
)
def test_a_plug_in_that_cannot_be_used_says_why(
    table: ComponentRegistry[Tool], offered, part: object, said: str
):
    offered(other=part)
    with pytest.raises(ValueError, match=said):
        table.get("axe")
    assert table.names() == ["saw"]


def test_the_parts_of_other_registries_are_left_to_them(table: ComponentRegistry[Tool], offered):
    offered(thing=Named("thing"), axe=Axe)
    things = Registry[Named]("thing", lambda part: isinstance(part, Named))
    assert things.get("thing").name == "thing"
    assert table.get("axe") is Axe
    assert (things.names(), table.names()) == (["thing"], ["saw", "axe"])
    with pytest.raises(ValueError, match=r"there is no thing 'axe'; one of: thing$"):
        things.get("axe")


def test_a_registry_with_a_group_of_its_own(offered):
    asked = offered("nacre.things", one=Named("one"))
    things = Registry[Named]("thing", lambda part: True, group="nacre.things")
    assert things.get("one").name == "one"
    with pytest.raises(ValueError, match="no thing 'one'"):
        Registry[Named]("thing", lambda part: True).get("one")
    assert asked == ["one"]


def test_all_parts_in_the_order_in_which_they_came():
    things = Registry[Named]("thing", lambda part: isinstance(part, Named))
    b, a = Named("b"), Named("a")
    things.add(b, a)
    assert list(things) == [b, a]
    with pytest.raises(ValueError, match="and now here"):
        things.add(Named("a"), place="here")
