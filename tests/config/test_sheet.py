from typing import Annotated, Literal

import pytest
from pydantic import Field

from nacre.config.component import Component, Seconds, setting
from nacre.config.place import find, names_of, properties, with_values
from nacre.config.sheet import Overlays, Sheet, check_sheet


class Hops(Component):
    rule: Literal["hops", "HopsRule"] = "hops"
    name: str = setting("", "Its name.")
    most: int = setting(20, "Hops.", ge=0)


class Reject(Component):
    rule: Literal["reject"] = "reject"


Any = Annotated[Hops | Reject, Field(discriminator="rule")]


class Politeness(Component):
    delay: Seconds | None = setting(None, "Fixed wait.", unit="s")
    factor: float = setting(5.0, "Times the duration.", ge=0)
    slots: int = setting(1, "Of the machine.", sheets=False)


class Job(Component):
    politeness: Politeness = setting(Politeness, "Politeness.")
    hosts: dict[str, str] = setting(dict, "Names.")
    scope: tuple[Any, ...] = setting(
        (Reject(), Hops(), Hops(name="far", most=50), Hops(most=3)), "Rules."
    )


JOB = Job()


def test_items_of_a_list_go_by_name_by_kind_or_by_index():
    assert names_of(JOB.scope) == ["reject", "1", "far", "3"]
    assert find(JOB, "scope.far.most").value == 50
    assert find(JOB, "scope.3.most").value == 3
    assert "scope.far.most" in {found.path for found in properties(JOB)}


def test_values_below_make_new_settings_and_leave_the_rest_as_it_is():
    changed = with_values(JOB, {"scope.far.most": 7, "politeness.factor": 2})
    assert changed.scope[2] == Hops(name="far", most=7)
    assert changed.scope[1] is JOB.scope[1]
    assert changed.politeness == Politeness(factor=2)
    assert with_values(JOB, {"politeness.factor": 2}).scope is JOB.scope


def test_a_sheet_is_nested_or_dotted_and_its_values_are_typed():
    tree = {"politeness": {"delay": "10m", "factor": 2}, "scope.far.most": 9, "hosts": {"a.b": "c"}}
    sheet, problems = check_sheet("slow", tree, JOB)
    assert problems == []
    overlays = Overlays(JOB, {"slow": sheet})
    under = overlays.settings[overlays.number(["slow"])]
    assert under.politeness == Politeness(delay=600.0, factor=2.0)
    assert under.scope[2] == Hops(name="far", most=9)
    assert under.hosts == {"a.b": "c"}


@pytest.mark.parametrize(
    ("tree", "path", "words"),
    [
        ({"politeness.facto": 1}, "sheets.s.politeness.facto", "did you mean `politeness.factor`?"),
        ({"polite": {"factor": 1}}, "sheets.s.polite", "did you mean `politeness.factor`?"),
        ({"scope.fra.most": 1}, "sheets.s.scope.fra.most", "did you mean `scope.far.most`?"),
        ({"politeness.slots": 2}, "sheets.s.politeness.slots", "a sheet cannot change this"),
        ({"politeness.factor": "x"}, "sheets.s.politeness.factor", "(it is 'x')"),
        ({"scope.far.most": -1}, "sheets.s.scope.far.most", "must be at least 0"),
        ({"scope.far.rule": "reject"}, "sheets.s.scope.far.rule", "a sheet cannot change this"),
        (5, "sheets.s", "not a mapping"),
    ],
)
def test_what_a_sheet_cannot_say_is_a_problem(tree: object, path: str, words: str):
    sheet, (problem,) = check_sheet("s", tree, JOB)
    assert problem.path.startswith(path.rpartition(".")[0])
    assert words in str(problem)
    assert not sheet.values


def test_the_last_sheet_wins_for_each_property():
    sheets = {
        "a": Sheet("a", {"politeness.factor": 1, "politeness.delay": 1}),
        "b": Sheet("b", {"politeness.factor": 2}),
        "list": Sheet("list", {"scope": [{"rule": "hops", "name": "far", "most": 1}]}),
        "far": Sheet("far", {"scope.far.most": 2}),
    }
    overlays = Overlays(JOB, sheets)
    settings = overlays.settings
    assert settings[overlays.number(["a", "b"])].politeness == Politeness(factor=2, delay=1)
    assert settings[overlays.number(["b", "a"])].politeness == Politeness(factor=1, delay=1)
    assert overlays.number(["a", "b", "a"]) == overlays.number(["b", "a"])
    assert settings[overlays.number(["list", "far"])].scope == (Hops(name="far", most=2),)
    assert settings[overlays.number(["far", "list"])].scope == (Hops(name="far", most=1),)


def test_components_that_a_combination_does_not_touch_are_the_same_objects():
    overlays = Overlays(JOB, {"a": Sheet("a", {"politeness.factor": 1})})
    politeness = overlays.settings.then(lambda job: job.politeness)
    scope = overlays.settings.then(lambda job: job.scope)
    number = overlays.number(["a"])
    assert politeness[number] == Politeness(factor=1)
    assert scope[number] is scope[0]
    assert overlays.names(number) == ("a",)


def test_sheets_and_settings_change_under_the_same_numbers():
    overlays = Overlays(JOB, {"a": Sheet("a", {"politeness.factor": 1})})
    factor = overlays.settings.then(lambda job: job.politeness.factor)
    number = overlays.number(["a"])
    overlays.replace(Job(politeness=Politeness(factor=9)), {"a": Sheet("a", {})})
    assert factor == [9, 9]
    overlays.replace(JOB, {})
    assert factor[number] == 5


class Range(Component):
    low: int = setting(1, "Low.")
    high: int = setting(5, "High.")

    def model_post_init(self, _: object) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


class Ranges(Component):
    range: Range = setting(Range, "A range.")


def test_sheets_that_contradict_each_other_do_not_stop_anything():
    sheets = {"low": Sheet("low", {"range.low": 4}), "high": Sheet("high", {"range.high": 3})}
    overlays = Overlays(Ranges(), sheets)
    assert overlays.settings[overlays.number(["low", "high"])].range == Range(low=4)
    assert "high" in overlays.conflicts[0]
