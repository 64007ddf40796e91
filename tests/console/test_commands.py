"""Each thing that the console changes has its command."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from nacre.cli.app import app
from nacre.console.commands import COMMANDS, COMMANDS_OF, WITHOUT, command_text, commands_of
from nacre.console.frontier.changes import ACTIONS
from nacre.console.openapi import describe
from nacre.console.rendering import TEMPLATES
from nacre.console.routes import API, ROUTES
from nacre.ops.allowed_actions import ACTION_COMMANDS
from nacre.web.gate import SAFE
from tests.cli.site import nacre


def test_each_row_that_changes_something_names_its_command_or_why_there_is_none():
    rows = {(row.verb, row.path) for row in ROUTES if row.verb not in SAFE and row.changes}
    named = set(COMMANDS_OF) | set(WITHOUT)
    assert rows - named == set(), "say in console/commands.py which command does that"
    assert named - rows == set(), "there is no such row any more"
    assert not set(COMMANDS_OF) & set(WITHOUT)
    used = {name for names in COMMANDS_OF.values() for name in names}
    assert used <= set(COMMANDS)


def test_a_page_shows_the_command_of_each_of_its_actions():
    pages = "".join(one.read_text("utf-8") for one in Path(TEMPLATES).rglob("*.html"))
    shown = set(ACTION_COMMANDS)  # the table of actions on the page of a job
    for names in re.findall(r"as_commands?\((?:\[([^]]+)\]|\"[a-z-]+\")", pages):
        shown |= set(re.findall(r'"([a-z-]+)"', names))
    shown |= set(re.findall(r'(?:as_command|command_text)\("([a-z-]+)"', pages))
    if '"frontier-" ~ task.asked.action' in pages:  # the wizard
        shown |= {f"frontier-{name}" for name in ACTIONS}
    of_pages = {
        name
        for (_, path), names in COMMANDS_OF.items()
        for name in names
        if not path.startswith(f"{API}/")
    }
    assert of_pages <= shown
    assert shown - {"retired", "frontier-"} <= set(COMMANDS)
    assert set(COMMANDS) <= shown | {name for names in COMMANDS_OF.values() for name in names}


@cache
def root() -> Any:
    return get_command(app)


@pytest.mark.parametrize("name", sorted(COMMANDS))
@pytest.mark.slow
def test_each_command_is_there_with_its_options(name: str):
    values = {"job": "/crawls/图书馆", "number": 1}
    for part in re.split(r" \| | && |; ", command_text(name, values)):
        words = part.split()
        if words[0] != "nacre":
            assert words[0] in {"echo", "touch", "rm", "$EDITOR"}
            continue
        command, path = words_of(words[1:])
        said = nacre(*path, "--help")
        assert said.code == 0, said.err
        for option in re.findall(r"--[a-z-]+", " ".join(words)):
            assert option in {word for one in command.params for word in one.opts}, option


def words_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name, and its own words; directories may stand between them."""
    found, path = root(), list[str]()
    context = found.make_context("nacre", ["--help"], resilient_parsing=True)
    for word in words:
        below = found.get_command(context, word) if hasattr(found, "get_command") else None
        if below is not None:
            load = getattr(below, "loaded", None)
            found = load() if load is not None else below
            path.append(word)
        elif not hasattr(found, "get_command"):
            break
    assert path, words
    if path[0] in {"frontier", "sheet", "archive", "settings", "cycle"} and len(path) > 1:
        path.insert(1, "DIR")
    return found, path


def test_what_is_known_is_filled_in_and_quoted():
    known = {"job": "/crawls/it's 图书馆", "queue": "^cn,example,$"}
    text = command_text("frontier-wake", known)
    assert text == """nacre frontier '/crawls/it'"'"'s 图书馆' wake --queue '^cn,example,$'"""
    assert command_text("frontier-first", known).endswith("first --queue '^cn,example,$'")
    assert command_text("frontier-delete", {}) == (
        "nacre frontier DIR delete --regex REGEX --queue QUEUE"
    )
    assert command_text("quota-set", {}) == "nacre console quota set 500GB DIR"


def test_the_description_for_programs_names_the_commands():
    paths = describe(ROUTES)["paths"]
    said = paths[f"{API}/schedules"]["post"]["description"]
    assert "nacre console schedule add DIR --at '30 2 * * 1' --zone UTC" in said
    assert "As command" not in paths[f"{API}/session"]["patch"]["description"]
    assert commands_of("POST", "/none") == ()
