"""The help of all commands, and what they have in common."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
import typer.main
from rich.text import Text

from nacre.cli.app import LATE, app
from nacre.cli.program import LateCommand, late_group
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
        ("check", "[DIR] [URL]..."),
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


def test_a_command_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []

    def told(info: Any, **more: Any) -> Any:
        made.append(info.callback.__name__)
        return typer.main.get_command_from_info(info, **more)

    monkeypatch.setattr("nacre.cli.program.get_command_from_info", told)
    group, whole = late_group(app), cast("Any", typer.main.get_command(app))
    assert list(group.commands) == list(whole.commands)
    assert made == []
    command = group.commands["status"]
    assert group.commands["status"] is command
    assert group.commands["archive"].commands["check"].name == "check"
    assert made == ["status", "check_archive"]
    assert "nothing" not in group.commands


def test_commands_that_are_made_late_are_those_of_typer():
    late = dict(commands(late_group(app, root=True)))
    assert late.keys() == ALL.keys()
    for words, found in late.items():
        command = found.loaded() if isinstance(found, LateCommand) else found
        assert type(command) is type(ALL[words])
        assert command.help == ALL[words].help
        assert command.help.startswith(found.help)
        assert command.rich_help_panel == found.rich_help_panel
        assert [one.opts for one in command.params] == [one.opts for one in ALL[words].params]


@pytest.mark.parametrize("name", LATE)
def test_a_command_that_is_imported_late_installs_no_completions(name: str):
    options = {word for one in LATE[name].loaded().params for word in one.opts}
    assert "--install-completion" not in options
