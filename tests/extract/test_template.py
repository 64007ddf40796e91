import pytest

from nacre.extract.template import LinkTemplate, combinations, fill_groups


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a/?x=${n[1]}&y=$m", "http://a/?x=1/2&y=M&N"),
        ("${n}|${n[9]}|", "n=1/2||"),
        ("${n[1]|quote}${m|quote}", "1%2F2M%26N"),
        ("a$$b", "a$b"),
        ("plain", "plain"),
    ],
)
def test_places_are_filled(text: str, expected: str):
    assert LinkTemplate(text).fill({"n": ("n=1/2", "1/2"), "m": ("M&N",)}) == expected


@pytest.mark.parametrize("text", ["a$", "${", "${a b}", "${java.lang.System.exit(1)}", "$-"])
def test_a_dollar_begins_a_place(text: str):
    with pytest.raises(ValueError, match="dollar sign"):
        LinkTemplate(text)


def test_what_a_template_asks_for():
    assert LinkTemplate("${a[2]}${a}$b").places == {"a": 2, "b": 0}


def test_every_combination_up_to_a_limit():
    made = LinkTemplate("${a}${b}")
    digits = [(str(n),) for n in range(3)]
    found = list(combinations(made, {"a": [("x",), ("y",)], "b": digits}, 100))
    assert found == ["x0", "x1", "x2", "y0", "y1", "y2"]
    assert list(combinations(made, {"a": [("x",)], "b": []}, 100)) == []
    assert len(list(combinations(made, {"a": iter(digits * 999), "b": digits * 999}, 50))) == 50


@pytest.mark.parametrize(
    ("text", "expected"),
    [("$1/x", "one/x"), ("${1}0$0", "one0all"), ("\\$1$9", "$1"), ("a\\\\b", "a\\b"), ("$", "")],
)
def test_replacements_as_in_java(text: str, expected: str):
    assert fill_groups(text, ("all", "one")) == expected
