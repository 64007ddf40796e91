"""Commands of another package, installed as pip would leave it: modules and their metadata."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.cli.plugin_commands import plugin_commands
from tests.cli.site import nacre

MODULE = """
import click
import typer

from nacre.errors import JobError

app = typer.Typer(help="Greet.")


@app.command()
def hi(name: str = "you") -> None:
    "Say hi."
    print("hi", name)


@app.command()
def refuse() -> None:
    "Refuse."
    raise JobError("there is no such job")


@click.group()
def old() -> None:
    "Calculate."


@old.command()
@click.option("--number", default=1)
def add(number: int) -> None:
    "Add one."
    click.echo(number + 1)


def status() -> None:
    "Taken."


def wave() -> None:
    "Wave."
    print("wave")


def register(app: typer.Typer) -> None:
    app.command()(wave)


def fall(app: typer.Typer) -> None:
    raise OSError("fell\\nover")
"""
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nSummary: {summary}\n"


def install(folder: Path, name: str, entries: str, summary: str = "Greets [all] people.") -> None:
    made = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(METADATA.format(name=name, summary=summary))
    (made / "entry_points.txt").write_text(f"[nacre.commands]\n{entries}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "greeting_commands.py").write_text(MODULE)
    install(
        tmp_path,
        "greeting",
        "greet = greeting_commands:app\ncalc = greeting_commands:old\n"
        "broken = greeting_nowhere:app\nnothing = greeting_commands:__name__\n"
        "status = greeting_commands:status\nwave = greeting_commands:register\n"
        "other = greeting_commands:register\nfall = greeting_commands:fall\n",
    )
    monkeypatch.syspath_prepend(tmp_path)
    plugin_commands.cache_clear()
    yield tmp_path
    plugin_commands.cache_clear()
    sys.modules.pop("greeting_commands", None)


@pytest.mark.usefixtures("folder")
class TestOfAnotherPackage:
    def test_it_runs_with_its_arguments(self):
        assert nacre("greet", "hi", "--name", "all").out == "hi all\n"

    def test_its_errors_are_those_of_nacre(self):
        done = nacre("greet", "refuse")
        assert (done.code, done.err) == (2, "nacre: there is no such job\n")

    def test_the_list_of_commands_shows_it_without_loading_it(self):
        text = nacre("--help").out
        assert "greet " in text
        assert "Greets [all] people." in text
        assert "broken" in text
        assert "greeting_commands" not in sys.modules

    @pytest.mark.parametrize(
        "asked", [("greet", "--help"), ("--help", "greet"), ("help", "greet")], ids=" ".join
    )
    def test_its_help(self, asked: tuple[str, ...]):
        text = nacre(*asked).out
        assert "Say hi." in text
        assert "completion" not in text

    def test_help_of_what_is_below_it(self):
        assert "--name" in nacre("help", "greet", "hi").out

    def test_a_command_of_click(self):
        done = nacre("calc", "add", "--number", "4")
        assert (done.code, done.out) == (0, "5\n")
        assert nacre("calc", "add", "--number", "x").code == 2
        assert "Calculate." in nacre("help", "calc").out

    def test_a_function_that_registers_it(self):
        assert nacre("wave").out == "wave\n"
        assert "Wave." in nacre("wave", "--help").out

    @pytest.mark.parametrize("option", ["x", "--help"])
    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("broken", "fails: ModuleNotFoundError: No module named 'greeting_nowhere'"),
            ("nothing", "no click command, and no function that registers one"),
            ("other", "registers no command 'other'"),
            ("fall", "fails: OSError: fell over"),
        ],
    )
    def test_one_that_cannot_be_loaded_is_one_line_that_names_it(
        self, name: str, said: str, option: str
    ):
        done = nacre(name, option)
        assert done.code == 1
        assert done.err.startswith(f"nacre: the plug-in {name} (greeting_")
        assert "of greeting 1.0" in done.err
        assert done.err.endswith(f"{said}\n")
        assert done.err.count("\n") == 1

    def test_a_command_of_nacre_comes_first(self):
        assert "Show the state of a job." in nacre("status", "--help").out
        assert "Taken." not in nacre("--help").out


def test_of_two_packages_the_first_by_name_counts(folder: Path):
    install(folder, "another", "greet = nowhere:app\n", "Another.")
    assert "nowhere:app) of another 1.0" in nacre("greet").err


def test_a_package_that_says_nothing_of_itself(folder: Path):
    install(folder, "silent", "hush = nowhere:app\n", "")
    assert "A command of silent 1.0." in nacre("--help").out
