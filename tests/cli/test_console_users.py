from pathlib import Path

import pytest

from tests.cli.site import Done, nacre

PASSWORD = "four words of one\n"


def user(folder: Path, *words: object, stdin: str = PASSWORD) -> Done:
    return nacre("console", "user", *words, "--state", folder / "state", stdin=stdin)


def test_the_first_user_is_an_admin_by_itself_and_the_next_ones_are_viewers(tmp_path: Path):
    assert "the first one must be an admin" in nacre("console", "user", "add", "--help").out
    first = user(tmp_path, "add", "anna")
    assert (first.code, first.out) == (0, "added anna, admin; the first user is an admin\n")
    assert user(tmp_path, "add", "bea").out == "added bea, viewer\n"


def test_a_first_user_of_another_role_is_refused_before_the_password(tmp_path: Path):
    refused = user(tmp_path, "add", "anna", "--role", "viewer", stdin="x")
    assert refused.code == 2
    assert "the first user has to be an admin" in refused.err
    assert user(tmp_path, "list").out.startswith("no users")


@pytest.mark.parametrize(
    "words",
    [
        ("user", "add", "bea"),
        ("user", "set", "cara"),
        ("key", "add", "script"),
        ("heritrix-key", "script"),
    ],
)
@pytest.mark.slow
def test_a_place_that_there_is_not_is_refused(tmp_path: Path, words: tuple[str, ...]):
    folder = ("--state", tmp_path / "state")
    for name in ("anna", "cara"):
        assert user(tmp_path, "add", name).code == 0
    none = nacre("console", *words, "--place", "图书", *folder, stdin="x")
    assert none.code == 2
    assert "there is no place '图书'; there are: none: start `nacre console DIR` once" in none.err
    (tmp_path / "图书馆").mkdir()
    assert nacre("console", "place", "add", tmp_path / "图书馆", *folder).code == 0
    wrong = nacre("console", *words, "--place", "图书", *folder, stdin="x")
    assert (wrong.code, wrong.err.count("there are: 图书馆")) == (2, 1)
    done = nacre("console", *words, "--place", "图书馆", *folder, stdin=PASSWORD)
    assert done.code == 0, done.err
