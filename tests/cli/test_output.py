import json
from pathlib import Path

import pytest

from nacre.cli.output import (
    complain,
    count,
    pairs,
    program,
    safe,
    safe_lines,
    say_json_items,
    table,
    tell,
    to_copy,
    typed,
)
from nacre.errors import ConfigError, Problem


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("日本 é", "日本 é"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb\nc\td", "a\\x0db\\x0ac\\x09d"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\u2066b\u200fc\u2028d", "a\\u2066b\\u200fc\\u2028d"),
        ("\ud800", "\\ud800"),
    ],
)
def test_nothing_that_a_terminal_obeys(text: str, shown: str):
    assert safe(text) == shown


def test_lines_stay_lines():
    assert safe_lines("a\nb\x07") == "a\nb\\x07"


def test_counts():
    assert count(1, "try", "tries") == "1 try"
    assert count(1234, "page") == "1,234 pages"


def test_tables_line_up():
    assert table([("a", 1), ("bcd", 100)]) == "  a      1\n  bcd  100"
    assert pairs({"a": 1, "long": "x\x1b"}) == "  a     1\n  long  x\\x1b"


def test_of_a_list_with_many_bad_lines_the_first_are_shown(capsys: pytest.CaptureFixture[str]):
    lines = [Problem("", f"bad {n}", file="rules.txt", line=n) for n in range(1, 1001)]
    wrong = [Problem(f"a.b{n}", "is wrong", file="crawl.yaml", line=n) for n in range(1, 41)]
    complain(ConfigError([*lines, *wrong]))
    said = capsys.readouterr().err.splitlines()
    assert said[19] == "nacre: rules.txt:20: bad 20"
    assert said[20] == "nacre: crawl.yaml:1: a.b1: is wrong"
    assert said[-2:] == ["nacre: rules.txt: and 980 more lines", "nacre: 1040 problems"]
    assert len(said) == 20 + 40 + 2


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("crawls/demo", "crawls/demo"),
        ("crawls/my crawl", "'crawls/my crawl'"),
        ("my crawl/runs/*/archive/*.warc", "'my crawl/runs/'*/archive/*.warc"),
        ("Lücke", "'Lücke'"),
        ("a;b$c", "'a;b$c'"),
    ],
)
def test_paths_as_a_shell_takes_them(path: str, text: str):
    assert typed(path) == text


@pytest.mark.parametrize(
    ("called", "text"), [("./nacre", "./nacre"), ("/my programs/nacre", "'/my programs/nacre'")]
)
def test_commands_to_copy_begin_as_nacre_was_called(
    called: str, text: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NACRE_COMMAND", called)
    assert program() == text


def test_messages_name_the_program_and_the_job(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("NACRE_COMMAND", "./nacre")
    text = "a JOB: run `nacre report JOB diff`, or `less JOB`"
    assert to_copy(text, Path("my crawl")) == (
        "a JOB: run `./nacre report 'my crawl' diff`, or `less JOB`"
    )
    assert to_copy(text) == "a JOB: run `./nacre report JOB diff`, or `less JOB`"
    tell("nacre: see `nacre check JOB`")
    assert capsys.readouterr().err == "nacre: see `./nacre check JOB`\n"


@pytest.mark.parametrize("items", [[], [{"a": "书"}], [{"a": 1}, {"a": 2}]])
def test_items_are_a_list_in_json(capsys: pytest.CaptureFixture[str], items: list[object]):
    say_json_items(iter(items))
    text = capsys.readouterr().out
    assert json.loads(text) == items
    assert text.count("\n") == max(1, len(items))
