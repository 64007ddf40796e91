"""The public names: few, typed, documented, and loaded only when they are asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nacre

ROOT = Path(__file__).parent.parent
STUB = ROOT / "src" / "nacre" / "__init__.pyi"
HEAVY = ("pydantic", "rocksdict", "turbohtml", "uvloop", "typer", "rich", "msgspec")


def test_the_stub_names_what_there_is():
    tree = ast.parse(STUB.read_text())
    stub = {
        alias.asname
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert stub == set(nacre.__all__)
    assert set(nacre.__all__) <= set(dir(nacre))


@pytest.mark.parametrize("name", nacre.__all__)
def test_each_is_there_documented_and_from_where_the_stub_says(name: str):
    value = getattr(nacre, name)
    assert name in (ROOT / "docs" / "api.md").read_text()
    module = nacre._HOMES[name]  # type: ignore[attr-defined]
    assert f"from {module} import {name} as {name}" in STUB.read_text()
    assert getattr(value, "__doc__", None) or name == "Event"


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nacre.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("arguments", [["-c", "import nacre"], ["-m", "nacre", "--help"]])
def test_neither_the_import_nor_the_help_loads_what_crawls(arguments: list[str]):
    heavy = HEAVY if "-c" in arguments else HEAVY[:4]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "nacre" in loaded
    assert loaded.isdisjoint(heavy)


def test_a_batch_crawl_is_opened_before_and_after_the_import_of_its_package():
    begin = (
        "import nacre\n"
        "for part in range(2):\n"
        "    try:\n"
        "        nacre.rounds('nowhere')\n"
        "    except nacre.JobError as error:\n"
        "        print(error)\n"
        "    import nacre.rounds.journal\n"
    )
    done = subprocess.run([sys.executable, "-c", begin], capture_output=True, text=True, check=True)
    assert done.stdout.count("nowhere") == 2
