import ast
from textwrap import dedent

import pytest

from tools.refusal_texts import all_texts_of, is_worded, texts_of


def found_in(text: str) -> list[str]:
    return texts_of(ast.parse(dedent(text)))


def test_the_words_of_errors_and_findings_are_found():
    assert found_in(
        """
        def one(name):
            "Raise it."
            said = f"there is no {name!r} here" if name else "nothing is named here"
            raise JobError(said + "; look again")
            raise AssertionError("this is a bug")

        def two(x):
            yield Problem("a.path here", f"must be {x:,} at least", "a whole number", "a: 1 b")
            return not_found(f"job {x} of mine")
        """
    ) == [
        "there is no {} here; look again",
        "nothing is named here; look again",
        "must be {} at least",
        "a whole number",
        "job {} of mine",
    ]


def test_tables_of_words_count():
    table = 'x = {"no": "this one"}\n_SAYINGS: dict = {"ge": lambda c: f"must be over {c}"}\n'
    assert found_in(table) == ["must be over {}"]


def test_all_texts_of_a_module_are_those_with_words():
    module = ast.parse('"""Its doc string."""\nx = "two words"\ny = f"{x} is known"\nz = "one"\n')
    assert all_texts_of(module) == ["two words", "{} is known"]


@pytest.mark.parametrize(
    ("text", "is_one"), [("two words", True), ("word", False), ("{}: {}", False), ("a b", False)]
)
def test_a_text_has_words(text: str, is_one: bool):
    assert is_worded(text) is is_one
