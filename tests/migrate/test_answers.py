"""Answers of an operator: on the command line and in a file."""

import pytest

from nacre.errors import ConfigError
from nacre_migrate.answers import DROP, ClassAnswers, Question, UnansweredError, read_answers


def test_the_command_line_goes_before_the_file(tmp_path):
    file = tmp_path / "classes.txt"
    file.write_bytes(
        "# 采集任务的类\n\norg.x.A = warc-writer  # 写入\norg.图书馆.B=Drop\n".encode("gb18030")
    )
    found = read_answers(["org.x.A=drop"], file)
    assert found.answers == {"org.x.A": DROP, "org.图书馆.B": DROP}
    assert found.typed == {"org.x.A"}
    assert (found.of("", "org.x.A"), found.of("org.x.C")) == (DROP, "")


@pytest.mark.parametrize("text", ["org.x.A", "=drop", "org.x.A=", "org.x.A=#", " "])
def test_what_is_no_answer_is_told_with_all_others(tmp_path, text):
    file = tmp_path / "classes.txt"
    file.write_text("org.x.B=drop\nnonsense\n")
    with pytest.raises(ConfigError) as raised:
        read_answers([text], file)
    assert [(one.file, one.line) for one in raised.value.problems] == [
        ("classes.txt", 2),
        ("--class", 0),
    ]


def test_a_file_that_is_not_there_or_endless(tmp_path):
    for name in ("gone.txt", "/dev/zero"):
        with pytest.raises(ConfigError, match="cannot be read"):
            read_answers([], tmp_path / name)


def test_answers_typed_for_nothing_are_told():
    answers = ClassAnswers({"a.B": DROP, "c.D": DROP}, frozenset(("a.B",)))
    (problem,) = answers.unused(["a.BB", "x"], "order.xml")
    assert "nothing of order.xml is called a.B" in problem.message
    assert problem.expected == "perhaps a.BB"


def test_a_question_says_how_it_is_answered():
    one = Question("org.x.Y", "w", "is in a chain", "warc-writer", "its name", "f.xml", 7)
    said = str(UnansweredError([one]))
    assert said.startswith("f.xml:7: org.x.Y: is in a chain (w)")
    assert "--class org.x.Y=warc-writer (its name); =drop leaves it out" in said
    assert "leaves" not in str(UnansweredError([one._replace(suggestion=DROP)]))
