from typing import Literal

import pytest

from nacre.config.component import Component, setting
from nacre.config.kinds import KindTable


class Tool(Component):
    """A tool."""


class Saw(Tool):
    """A saw."""

    tool: Literal["saw"] = "saw"
    teeth: int = setting(40, "Teeth.")


class Axe(Tool):
    """An axe."""

    tool: Literal["axe"] = "axe"


@pytest.fixture
def table() -> KindTable[Tool]:
    made = KindTable(Tool, {}, "tool", "it is a name, or a mapping with `tool: NAME`")
    made.add(Saw)
    return made


def test_a_name_a_mapping_or_the_thing_itself(table: KindTable[Tool]):
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
def test_what_is_none_is_told(table: KindTable[Tool], value: object, said: str):
    with pytest.raises(ValueError, match="tool") as caught:
        table.read(value)
    assert said in str(caught.value)


def test_others_are_asked_for_once_and_their_faults_told(table: KindTable[Tool]):
    asked = []

    def more():
        asked.append(1)
        return [Axe, "the plug-in drill fails"]

    table.when_missing(more)
    table.read("saw")
    assert not asked
    assert table.read("axe") == Axe()
    with pytest.raises(ValueError, match="the plug-in drill fails"):
        table.read("drill")
    assert asked == [1]


def test_a_name_is_needed_and_cannot_be_taken_twice(table: KindTable[Tool]):
    with pytest.raises(ValueError, match="needs a field"):
        table.add(Tool)
    with pytest.raises(ValueError, match="there is a tool 'saw' already"):
        table.add(type("Other", (Saw,), {}))
