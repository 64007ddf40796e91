"""The simulated web is a package of its own: what each of the two wheels holds."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nacre.cli.plugin_commands import plugin_commands
from nacre.config import registry
from nacre_simweb.commands import simweb
from tests.cli.site import nacre

ROOT = Path(__file__).parents[2]
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


def built(source: Path, folder: Path) -> zipfile.ZipFile:
    """Without a network, as `pip wheel` would."""
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=source, check=True)
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel)


def project(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return found


def test_the_wheel_of_nacre_has_none_of_it(tmp_path: Path):
    with built(ROOT, tmp_path) as wheel:
        names = wheel.namelist()
    assert "nacre/cli/app.py" in names
    assert [name for name in names if "simweb" in name] == ["nacre/docs/simweb.md"]


def test_its_own_wheel_has_the_modules_and_the_command(tmp_path: Path):
    with built(ROOT / "simweb", tmp_path) as wheel:
        names = wheel.namelist()
        (entries,) = (name for name in names if name.endswith("/entry_points.txt"))
        text = wheel.read(entries).decode()
    home = ROOT / "simweb" / "src"
    modules = {str(path.relative_to(home)) for path in home.rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules
    assert text.split() == ["[nacre.commands]", "simweb", "=", "nacre_simweb.commands:simweb"]
    assert simweb.registered_commands


def test_where_it_is_not_installed_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
):
    plugin_commands.cache_clear()
    monkeypatch.setattr(registry, "entry_points", lambda group: [])
    done = nacre("simweb", "worlds")
    plugin_commands.cache_clear()
    assert done.code == 2
    assert "pip install ./simweb" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("field", ["version", "requires-python", "license"])
def test_both_agree(field: str):
    assert project(ROOT)[field] == project(ROOT / "simweb")[field]
