"""Every kind of mistake gives one finding with its line, in words that an operator knows."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from nacre.config.check import load_partly
from nacre.config.component import Bytes, Component, Seconds, setting
from nacre.config.document import read_yaml
from nacre.config.layer import assignment_layer, environment_layer


class Red(Component):
    rule: Literal["red", "RedRule"] = "red"
    depth: int = setting(1, "Depth.", ge=0)


class Green(Component):
    rule: Literal["green"] = "green"


class Part(Component):
    number: int = setting(5, "A number.", unit="tries", ge=1, le=9)
    ratio: float = setting(1.5, "A ratio.", gt=0)
    wait: Seconds | None = setting(None, "A wait.", unit="s")
    size: Bytes = setting(0, "A size.", unit="bytes")
    flag: bool = setting(False, "A flag.")
    word: Literal["one", "two"] = setting("one", "A word.")
    names: tuple[str, ...] = setting((), "Names.", sample="[a]")


class Whole(Component):
    seeds: tuple[str, ...] | str = setting("seeds.txt", "Seeds.")
    part: Part = setting(Part, "A part.")
    rules: tuple[Annotated[Red | Green, Field(discriminator="rule")], ...] = setting((), "Rules.")


def found(text: str) -> list[tuple[int, str, str]]:
    _, problems = load_partly(Whole, [read_yaml(text, "f.yaml")])
    return [(p.line, p.path, p.message) for p in problems]


@pytest.mark.parametrize(
    ("text", "line", "path", "said"),
    [
        ("prat: {}", 1, "prat", "no such setting; did you mean `part`?"),
        ("part:\n  nubmer: 1", 2, "part.nubmer", "did you mean `part.number`?"),
        ("number: 1", 1, "number", "did you mean `part.number`?"),
        ("part: {number: x}", 1, "part.number", "must be a whole number (it is 'x')"),
        ("part: {number: 1.5}", 1, "part.number", "must be a whole number"),
        ("part: {number: true}", 1, "part.number", "must be a whole number"),
        ("part:\n  number:", 2, "part.number", "nothing is given"),
        ("part: {number: 0}", 1, "part.number", "must be at least 1 (it is 0)"),
        ("part: {number: 10}", 1, "part.number", "must be at most 9 (it is 10)"),
        ("part: {ratio: 0}", 1, "part.ratio", "must be more than 0"),
        ("part: {ratio: .inf}", 1, "part.ratio", "must be a finite number"),
        ("part: {wait: 3 parsecs}", 1, "part.wait", "not a duration"),
        ("part: {size: many}", 1, "part.size", "not a size"),
        ("part: {flag: maybe}", 1, "part.flag", "must be true or false"),
        ("part: {word: tow}", 1, "part.word", "must be `one` or `two`; did you mean `two`?"),
        ("part: {names: a}", 1, "part.names", "must be a list"),
        ("part: {names: [a, 1]}", 1, "part.names.1", "put a number or true/false into quotation"),
        ("part: []", 1, "part", "must be a section"),
        ("seeds:\n  - 5", 2, "seeds.0", "must be text"),
        ("seeds: 5", 1, "seeds", "must be list of text or text"),
        ("rules: [red]", 1, "rules.0", "must be a section"),
        ("rules:\n- rule: red\n  detph: 1", 3, "rules.0.detph", "did you mean `rules.0.depth`?"),
        ("rules:\n- rule: red\n  depth: -1", 3, "rules.0.depth", "must be at least 0"),
        ("a: 1\npart: 1\npart: {}", 3, "part", "is given a second time; first in line 2"),
    ],
)
def test_one_mistake_one_finding(text: str, line: int, path: str, said: str):
    findings = [one for one in found(text) if one[1] == path]
    assert [(one[0], one[1]) for one in findings] == [(line, path)]
    assert said in findings[0][2]


@pytest.mark.parametrize(
    ("text", "line", "said", "rest"),
    [
        ("part: [1\nseeds: a", 1, "`]` or a comma is missing", {"seeds": "a"}),
        ("part:\n\tnumber: 1", 2, "indented with a tab", {"part": {"number": 1}}),
        ("part: 'a\nseeds: a", 1, "a quotation mark is missing", {"seeds": "a"}),
        ("part: @x\nseeds: a", 1, "cannot begin with @", {"seeds": "a"}),
        ("part:\n  flag true\n  number: 1\nseeds: a", 2, "without `: `", {"number": 1}),
        ("part:\n  number: 1\n flag: true\nseeds: a", 3, "not indented like", {"seeds": "a"}),
        ("seeds: a\n---\npart: {}", 2, "a file holds one", {"part": {}}),
        ("seeds: a: b", 1, "a second `: ` in one line", {}),
        ("- a", 1, "holds no settings", {}),
    ],
)
def test_text_that_is_no_yaml(text: str, line: int, said: str, rest: dict[str, object]):
    layer = read_yaml(text, "f.yaml")
    assert [problem.line for problem in layer.problems] == [line]
    assert said in layer.problems[0].message
    for name, value in rest.items():
        assert (layer.tree.get(name) or layer.tree.get("part", {}).get(name)) == value or not value


def test_a_broken_section_hides_no_other_finding():
    text = "part: {number: 1\nseeds: 5\nrules:\n  - rule: red\n    x: 1\nprat: 1\n"
    assert [line for line, _, _ in found(text)] == [1, 2, 5, 6]


def test_a_key_that_stands_there_twice_in_one_of_two_files():
    layers = [read_yaml("part: {number: 1, number: 2}", "a"), read_yaml("part: {size: 1}", "b")]
    loaded, problems = load_partly(Whole, layers)
    assert [(p.file, p.path) for p in problems] == [("a", "part.number")]
    assert loaded is not None
    assert (loaded.settings.part.number, loaded.settings.part.size) == (2, 1)


def test_mistakes_outside_of_files_name_their_place():
    layers = [
        environment_layer({"NACRE_PART__NUMBR": "1", "NACRE_OTHER__X": "1"}),
        assignment_layer(["part.number=x", "part", "=1"]),
    ]
    _, problems = load_partly(Whole, layers)
    assert {(p.file, p.path) for p in problems} == {
        ("NACRE_PART__NUMBR", "part.numbr"),
        ("NACRE_OTHER__X", "other"),
        ("--set", "part.number"),
        ("", ""),
    }
    assert sum("no assignment" in p.message for p in problems) == 2


def test_what_is_wrong_is_left_out_and_the_rest_is_kept():
    text = "part: {number: 0, size: 5}\nrules:\n- rule: red\n- rule: rde\n- rule: green\n  x: 1\n"
    loaded, problems = load_partly(Whole, [read_yaml(text, "f")])
    assert len(problems) == 3
    assert loaded is not None
    assert loaded.settings == Whole(part=Part(size=5), rules=(Red(), Green()))
    assert loaded.is_unknown("part.number")
    assert loaded.is_unknown("rules")
    assert not loaded.is_unknown("part.size")


def test_expectation_and_sample():
    _, problems = load_partly(Whole, [read_yaml("part: {wait: x, names: 5, number: 0}", "f")])
    said = {p.path: (p.expected, p.sample) for p in problems}
    assert said["part.wait"] == ("A wait. (number or none, s)", "wait: 10m")
    assert said["part.names"] == ("Names. (list of text)", "names: [a]")
    assert said["part.number"] == ("A number. (whole number, tries)", "number: 5")


def test_aliases_and_merged_mappings():
    layer = read_yaml("part: &p {number: 1, size: 2}\nq:\n  <<: *p\n  size: 3\n", "f")
    assert layer.tree["q"] == {"number": 1, "size": 3}
    assert "leads back to itself" in read_yaml("a: &x [*x]", "f").problems[0].message
