"""The help of all commands, and what they have in common."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from rich.text import Text

from nacre.cli.app import app
from tests.cli.site import nacre


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        place = ("x",) if any(one.name == "directory" for one in command.params) and words else ()
        yield from commands(below, (*words, *place, name))


ALL = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_nothing_of_a_help_text_is_taken_for_markup(words: tuple[str, ...]):
    texts = [ALL[words].help, *(getattr(one, "help", "") for one in ALL[words].params)]
    for text in filter(None, texts):
        assert Text.from_markup(text).plain == text


@pytest.mark.parametrize("words", ["crawl", "archive x check", "history x dump", "sheet x add"])
def test_a_flag_shows_no_type(words: str):
    done = nacre(*words.split(), "--help")
    assert done.code == 0
    assert "--help" in done.out
    assert "bool" not in done.out


def test_paragraphs_of_help_are_wrapped_by_the_terminal_alone():
    assert "\n\n" in ALL["crawl",].help
    assert "Ctrl-C stops cleanly; `nacre run DIR` resumes." in ALL["crawl",].help


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("check", "{DIR} [URL]..."),
        ("set", "{DIR} {PATH=VALUE}..."),
        ("report", "{DIR} [NAME] [URL]"),
        ("sheet x associate", "{NAME}..."),
    ],
)
def test_arguments_are_not_bracketed_twice(words: str, usage: str):
    first = nacre(*words.split(), "--help").out.split("\n")[1]
    assert first.rstrip().endswith(f"[OPTIONS] {usage}")


@pytest.mark.parametrize(("group", "command"), [("archive", "check"), ("frontier", "list")])
def test_the_directory_comes_before_the_command(group: str, command: str):
    done = nacre(group, command, "crawls/demo")
    assert done.code == 2
    assert f"{group} crawls/demo {command}" in done.err
