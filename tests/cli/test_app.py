import subprocess
import sys

import pytest
from typer.testing import CliRunner

from nacre import __version__
from nacre.cli.app import app
from nacre.errors import ConfigError, DamageError, JobError, NacreError, Problem, URIError
from tests.cli.site import nacre

HEAVY = ("pydantic", "rocksdict", "turbohtml", "uvloop", "msgspec", "ruamel")


@pytest.mark.parametrize("arguments", ["--help", "--version"])
def test_help_is_quick(arguments: str):
    code = (
        "import sys\n"
        f"sys.argv = ['nacre', *{arguments.split()!r}]\n"
        "from nacre.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("HEAVY []\n")


def test_help_names_every_command():
    text = nacre("--help").out
    for name in (
        "crawl", "new", "check", "run", "status", "pause", "resume", "stop", "checkpoint",
        "explain", "report", "frontier", "archive",
    ):  # fmt: skip
        assert f" {name} " in text


def test_version():
    assert nacre("--version").out == f"nacre {__version__}\n"


@pytest.mark.parametrize("arguments", [("-V",), ("version",)])
def test_version_by_other_names(arguments: tuple[str, ...]):
    assert nacre(*arguments).out == f"nacre {__version__}\n"


@pytest.mark.parametrize(
    "command", ["crawl", "archive", "archive check", "frontier list", "migrate heritrix"]
)
def test_help_in_the_other_order(command: str):
    words = command.split()
    below = words if words[0] not in {"archive", "frontier"} else [words[0], "DIR", *words[1:]]
    usual = nacre(*below, "--help").out.split("\n", 3)[3].rstrip()
    assert nacre("help", *words).out.split("\n", 3)[3].rstrip() == usual


def as_one_line(framed: str) -> str:
    """A message without the frame, and without the line breaks, of its panel."""
    return " ".join(framed.replace("│", " ").split())


def test_help_of_what_there_is_not():
    done = nacre("help", "archive", "dance")
    assert done.code == 2
    names = "check, delete, digests, evidence, expand, index, pack, push, salvage"
    assert f"it has: {names}" in as_one_line(done.err)
    assert "exit-codes" in as_one_line(nacre("help", "dance").err)


def test_unknown_things_are_usage_errors():
    assert nacre("dance").code == 2
    assert nacre("crawl", "--dance", "http://a.test/").code == 2


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--depth", "x", "it should be a valid integer"),
        ("--scope", "hst", "'hst' is not one of 'page'"),
    ],
)
def test_wrong_values_of_options_are_told_in_plain_words(option: str, value: str, said: str):
    done = nacre("crawl", "http://a.test/", option, value)
    assert done.code == 2
    assert f"Invalid value for '{option}': {said}" in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError([Problem("a.b", "is wrong", file="f.yaml", line=3)]), 2),
        (JobError("no job"), 2),
        (URIError("no URI"), 2),
        (DamageError("gone"), 1),
        (NacreError("other"), 1),
    ],
)
def test_errors_become_messages_and_codes(
    error: NacreError, code: int, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("nacre.machine.layout.Layout.require", fail)
    result = CliRunner().invoke(app, ["status", "x"])
    assert result.exit_code == code
    assert result.stderr.startswith("nacre: ")
    assert result.stdout == ""
