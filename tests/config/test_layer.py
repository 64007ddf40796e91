import pytest

from nacre.config.layer import (
    DEEPEST,
    Layer,
    SettingOrigin,
    assignment_layer,
    copy_tree,
    count_nodes,
    environment_layer,
    is_too_deep,
    merge,
    most_nodes,
    put,
)

OPTION = SettingOrigin("option")


def layer(source: str, **values: object) -> Layer:
    made = Layer(source)
    for path, value in values.items():
        put(made, path.replace("__", "."), value, SettingOrigin(source))
    return made


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (SettingOrigin("default"), "default"),
        (SettingOrigin("environment", "NACRE_A__B"), "environment NACRE_A__B"),
        (SettingOrigin("file", "crawl.yaml", 7), "file crawl.yaml:7"),
    ],
)
def test_an_origin_as_text(origin: SettingOrigin, text: str):
    assert str(origin) == text


def test_variables_of_the_environment_are_paths():
    found = environment_layer(
        {"NACRE_FRONTIER__MAX_RETRIES": "3", "NACRE_CASES": "x", "HOME": "/", "NACRE_A__B": "yes"}
    )
    assert found.tree == {"frontier": {"max_retries": 3}, "a": {"b": "yes"}}
    assert found.places["frontier.max_retries"].file == "NACRE_FRONTIER__MAX_RETRIES"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b=3", 3),
        ("a.b=true", True),
        ("a.b=[1, 2]", [1, 2]),
        ("a.b={c: d}", {"c": "d"}),
        ("a.b=", None),
        ("a.b=x=y", "x=y"),
        ("a.b=[1", "[1"),
        (" a.b =3", 3),
    ],
)
def test_an_assignment_is_read_as_yaml(text: str, value: object):
    found = assignment_layer([text])
    assert found.problems == []
    assert found.tree == {"a": {"b": value}}
    assert found.places == {"a.b": SettingOrigin("--set")}


@pytest.mark.parametrize("text", ["a.b", "=3", " =3"])
def test_an_assignment_without_a_path_or_a_value_is_a_problem(text: str):
    found = assignment_layer([text, "a.c=1"], "nacre set")
    assert [problem.expected for problem in found.problems] == ["path=value"]
    assert found.problems[0].message.startswith("nacre set ")
    assert found.tree == {"a": {"c": 1}}


def test_a_value_that_would_grow_out_of_all_bounds_stays_text():
    bomb = (
        "[&a [x,x,x,x,x,x,x,x,x,x], "
        + ", ".join(f"&{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]" for n in range(6))
        + "]"
    )
    assert assignment_layer([f"a={bomb}"]).tree == {"a": bomb}
    deep = "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)
    assert assignment_layer([f"a={deep}"]).tree == {"a": deep}


def test_a_path_through_a_value_replaces_it():
    made = Layer("option")
    put(made, "a", 3, OPTION)
    put(made, "a.b.c", 4, OPTION)
    assert made.tree == {"a": {"b": {"c": 4}}}


def test_mappings_merge_and_all_else_is_replaced():
    weak = layer("file", a__b=1, a__c=2, d=[1, 2], e__f=3)
    strong = layer("option", a__c=9, d=[3], e=4)
    tree, origins = merge([weak, strong])
    assert tree == {"a": {"b": 1, "c": 9}, "d": [3], "e": 4}
    sources = {path: origin.source for path, origin in origins.items()}
    assert sources == {"a": "option", "a.b": "file", "a.c": "option", "d": "option", "e": "option"}


def test_layers_stay_as_they_are():
    weak, strong = layer("file", a__b=[1]), layer("option", a__c=2)
    tree, _ = merge([weak, strong])
    tree["a"]["b"].append(5)
    assert weak.tree == {"a": {"b": [1]}}
    assert strong.tree == {"a": {"c": 2}}


def test_a_copy_has_lists_of_its_own():
    tree = {"a": [{"b": 1}]}
    other = copy_tree(tree)
    other["a"][0]["b"] = 2
    assert tree == {"a": [{"b": 1}]}


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[" * DEEPEST, False),
        ("[" * (DEEPEST + 1), True),
        ("{" * (DEEPEST + 1), True),
        ("[] " * 1000, False),
        ("'" + "[" * 1000 + "'", False),
        ("# " + "[" * 1000, False),
        ("\n".join(f"a{n}: [" for n in range(1000)), False),
    ],
)
def test_brackets_within_each_other_are_counted(text: str, deep: bool):
    assert is_too_deep(text) is deep


def test_values_are_counted_up_to_a_limit():
    shared = [1, 2]
    assert count_nodes({"a": shared, "b": shared}, 100) == 7
    assert count_nodes([[0] * 10] * 10, 20) == 21
    assert most_nodes("ab") > 10_000
