"""The modules that packages and the maps of docs/ name exist."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "nacre"
BESIDE = tuple(ROOT / name / "src" for name in ("migrate", "simweb"))
"""The packages beside Nacre."""
PACKAGES = sorted(path.parent for home in (SOURCE, *BESIDE) for path in home.rglob("__init__.py"))
NAMED = re.compile(r"`([a-z_/0-9]+(?:\.py|/))`")


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_names_modules_that_it_has(package: Path):
    told = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    assert len(told) > 40
    assert [name for name in NAMED.findall(told) if not (package / name).exists()] == []


@pytest.mark.parametrize(("page", "least"), [("architecture.md", 50), ("internals.md", 50)])
def test_a_page_names_modules_that_exist(page: str, least: int):
    text = (ROOT / "docs" / page).read_text("utf-8")
    names = [name for name in NAMED.findall(text) if name.endswith(".py")]
    assert len(names) > least
    homes = (SOURCE, *BESIDE)
    everywhere = {path.name for home in homes for path in home.rglob("*.py")}
    assert [
        name
        for name in names
        if not any((home / name).exists() for home in homes)
        and ("/" in name or name not in everywhere)
    ] == []


@pytest.mark.parametrize("page", ["renamed.md", "renamed-jobs.md"])
def test_the_new_names_of_modules_exist(page: str):
    text = (ROOT / "docs" / page).read_text("utf-8")
    cells = re.findall(r"^\| .+? \| (.+) \|$", text, re.MULTILINE)
    paths = [path for cell in cells for path in re.findall(r"[a-z_]+(?:/[a-z_0-9]+)+", cell)]
    assert len(paths) > 100
    homes = (ROOT, SOURCE, *BESIDE)
    assert [
        path
        for path in paths
        if not any((home / path).is_dir() or (home / f"{path}.py").exists() for home in homes)
    ] == []


def test_the_layout_has_the_layers_of_the_import_rules():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    part = text.partition("\n## Layout, in the order a URI travels\n")[2].partition("\n\n## ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", part, re.MULTILINE)
    folders = [name for cell in cells for name in re.findall(r"`([a-z_/]+?)(?:\.py|/)`", cell)]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (flow,) = (
        one
        for one in contracts["tool"]["importlinter"]["contracts"]
        if one["name"] == "The flow runs one way"
    )
    heights = {
        name.strip(" ()").removeprefix("nacre.").replace(".", "/"): -number
        for number, layer in enumerate(flow["layers"])
        for name in layer.split("|")
    }
    del heights["__main__"]
    assert set(folders) == set(heights)
    in_order = [heights[folder] for folder in folders]
    assert in_order == sorted(in_order)


def walks() -> dict[str, list[str]]:
    """The files of each walk of docs/architecture.md, by its title."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    part = text.partition("\n## Nine walks through the code\n")[2].partition("\n## ")[0]
    steps = re.findall(
        r"^\d\. \*\*(.+?)\*\* \((\d+)\): (.*?)(?=^\d\. |\Z)", part, re.MULTILINE | re.DOTALL
    )
    found = {title: re.findall(r"`([a-z_/0-9]+\.py)`", files) for title, _, files in steps}
    assert [len(found[title]) for title, _, _ in steps] == [int(number) for _, number, _ in steps]
    return found


def test_the_walks_name_files_that_there_are():
    found = walks()
    assert len(found) == 9
    assert [name for files in found.values() for name in files if not (SOURCE / name).exists()] == (
        []
    )


def test_a_question_is_answered_by_the_word_and_the_file():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    part = text.partition("\n## Where to look\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| [A-Z].*\| (.*?) \| .*?`([a-z_/0-9]+\.py)` \|$", part, re.MULTILINE)
    assert len(rows) == 10
    for word, file in rows:
        if word.startswith("`"):
            assert word.strip("`") in (SOURCE / file).read_text("utf-8"), (word, file)
