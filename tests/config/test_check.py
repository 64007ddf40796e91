import pytest

from nacre.config.check import load
from nacre.config.component import Bytes, Component, Seconds, setting
from nacre.config.document import read_yaml
from nacre.config.facts import fields, value_at
from nacre.config.layer import Layer, assignment_layer, environment_layer, merge
from nacre.errors import ConfigError


class Frontier(Component):
    max_retries: int = setting(30, "How often a URI is tried.", unit="tries", ge=0)
    retry_delay: Seconds = setting(60.0, "First wait before a retry.", unit="s")


class Job(Component):
    name: str = setting("job", "Name of the job.")
    frontier: Frontier = setting(Frontier, "The frontier.")
    limit: Bytes = setting(0, "Bytes to fetch; 0 for no limit.", unit="bytes")


def test_stronger_layers_win_and_every_value_knows_its_origin():
    file = read_yaml("name: a\nfrontier:\n  max_retries: 3\n  retry_delay: 10m\n", "crawl.yaml")
    environment = environment_layer({"NACRE_FRONTIER__MAX_RETRIES": "4", "NACRE_CASES": "x"})
    loaded = load(Job, [file, environment, assignment_layer(["limit=2 MB"])])
    assert loaded.settings == Job(
        name="a", frontier=Frontier(max_retries=4, retry_delay=600), limit=2_000_000
    )
    assert str(loaded.origin("frontier.max_retries")) == "environment NACRE_FRONTIER__MAX_RETRIES"
    assert str(loaded.origin("frontier.retry_delay")) == "file crawl.yaml:4"
    assert str(loaded.origin("limit")) == "--set"
    assert loaded.origin("job").source == "default"


def test_what_a_section_does_not_say_is_a_default_and_has_a_place_all_the_same():
    loaded = load(Job, [read_yaml("name: a\nfrontier:\n  max_retries: 3\n", "crawl.yaml")])
    assert str(loaded.origin("frontier.max_retries")) == "file crawl.yaml:3"
    assert str(loaded.origin("frontier.retry_delay")) == "default"
    assert str(loaded.place("frontier.retry_delay")) == "file crawl.yaml:2"


def test_all_problems_at_once_with_file_line_and_a_suggestion():
    text = "nmae: a\nfrontier:\n  max_retries: -1\n  retry_dealy: 5\nlimit: lots\n"
    with pytest.raises(ConfigError) as caught:
        load(Job, [read_yaml(text, "crawl.yaml")])
    found = {(p.line, p.path) for p in caught.value.problems}
    assert found == {
        (1, "nmae"),
        (3, "frontier.max_retries"),
        (4, "frontier.retry_dealy"),
        (5, "limit"),
    }
    texts = "\n".join(str(p) for p in caught.value.problems)
    assert "crawl.yaml:1: nmae: no such setting; did you mean `name`?" in texts
    assert "did you mean `frontier.retry_delay`?" in texts
    assert "How often a URI is tried. (whole number, tries)" in texts
    assert "for example: max_retries: 30" in texts


@pytest.mark.parametrize(
    ("text", "line"), [("a: [1\nb: 2\n", 1), ("a: 1\na: 2\n", 2), ("- 1\n", 1), ("\tname: x", 1)]
)
def test_malformed_text_is_a_problem_with_its_line(text: str, line: int):
    layer = read_yaml(text, "crawl.yaml")
    assert [p.line for p in layer.problems] == [line]


def test_an_include_is_kept_apart():
    layer = read_yaml("include: [a.yaml, b.yaml]\nname: x\n", "crawl.yaml")
    assert layer.includes == [("a.yaml", 1), ("b.yaml", 1)]
    assert layer.tree == {"name": "x"}
    assert read_yaml("include: {a: 1}\n", "crawl.yaml").problems


def test_an_assignment_without_a_value_is_a_problem():
    assert assignment_layer(["frontier"]).problems


def test_an_empty_file_is_no_problem():
    assert load(Job, [read_yaml("", "crawl.yaml"), Layer("file")]).settings == Job()


def test_every_property_tells_type_unit_and_default():
    facts = {f.path: f for f in fields(Job)}
    assert facts["frontier.max_retries"].unit == "tries"
    assert facts["frontier.retry_delay"].default == 60.0
    assert set(facts) == {"name", "frontier.max_retries", "frontier.retry_delay", "limit"}


def test_a_value_by_its_path():
    assert value_at(Job(), "frontier.max_retries") == 30
    with pytest.raises(ConfigError, match=r"did you mean `frontier\.max_retries`"):
        value_at(Job(), "frontier.max_retry")


def test_many_unknown_names_are_all_named_and_the_first_have_suggestions():
    text = "limits: 5\n" + "".join(f"odd{number}: {{a: [1, 2]}}\n" for number in range(500))
    with pytest.raises(ConfigError) as caught:
        load(Job, [read_yaml(text, "crawl.yaml")])
    problems = caught.value.problems
    assert [problem.line for problem in problems] == list(range(1, 502))
    assert problems[0].message == "no such setting; did you mean `limit`?"
    assert {problem.message for problem in problems[300:]} == {"no such setting"}


def test_a_section_that_a_stronger_layer_replaces_loses_its_places():
    weak = read_yaml("frontier: {max_retries: 3}\n", "weak.yaml")
    strong = read_yaml("frontier: 5\n", "strong.yaml")
    tree, origins = merge([weak, strong])
    assert tree == {"frontier": 5}
    assert [(path, origin.file) for path, origin in origins.items()] == [
        ("frontier", "strong.yaml")
    ]
    tree, origins = merge([strong, weak])
    assert tree == {"frontier": {"max_retries": 3}}
    assert {path: origin.file for path, origin in origins.items()} == {
        "frontier": "weak.yaml", "frontier.max_retries": "weak.yaml"
    }  # fmt: skip
