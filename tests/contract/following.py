"""Follows an example of docs/contributing.md or docs/extending.md literally, in a copy of sources.

An example is a section of these pages. Each of its numbered steps that begins with the path of a
file and has a block of code says what that file gets: imports go to its imports, the rest to its
end; a file that is not there is made. A block of `diff` changes the lines that it shows. Indented
lines that stand by themselves are commands.
"""

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
PAGE = "\n".join(
    (ROOT / "docs" / name).read_text("utf-8")
    for name in (
        "contributing.md",
        "extending.md",
        "extending-operations.md",
        "extending-console.md",
    )
)
COPIED = ("src", "tests", "tools", "docs", "migrate", "simweb", "examples", "bench")
FILES = ("pyproject.toml", "Makefile", "CHANGELOG.md", "README.md")
WITHOUT = shutil.ignore_patterns(".*_cache")
_STEP = re.compile(r"^\d+\. `([^`]+)`.*?(?=^\d+\. |^\S|\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


class Step(NamedTuple):
    """What one file gets."""

    path: str
    code: str
    language: str = "python"


def section(title: str) -> str:
    """The text of the section of a title, up to the next title."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, (
        f"docs/contributing.md and the pages docs/extending*.md have no section {title!r}"
    )
    return found[1]


def _plain(block: str) -> str:
    lines = block.splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[indent:] for line in lines) + "\n"


def steps(title: str) -> list[Step]:
    """The steps of an example that have code, in order."""
    found = []
    for step in _STEP.finditer(section(title)):
        found += [Step(step[1], _plain(block[2]), block[1]) for block in _BLOCK.finditer(step[0])]
    return found


def block(title: str, language: str) -> str:
    """The first block of a language in a section."""
    found = next(one for one in _BLOCK.finditer(section(title)) if one[1] == language)
    return _plain(found[2])


def commands(title: str) -> list[str]:
    """The commands that a section shows, outside of its blocks, without their comments."""
    rest = _BLOCK.sub("", section(title))
    lines = (
        line for line in rest.splitlines() if re.match(r"    +(make|\.venv/|\./nacre) ?", line)
    )
    return [line.partition("#")[0].strip() for line in lines]


def copied(folder: Path) -> Path:
    """A copy of the sources that uses the environment of this checkout."""
    tree = folder / "nacre"
    tree.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=WITHOUT)
    for name in FILES:
        shutil.copy2(ROOT / name, tree / name)
    (tree / ".venv").symlink_to(ROOT / ".venv", target_is_directory=True)
    return tree


def follow(title: str, tree: Path) -> None:
    """Apply the steps of an example to a copy."""
    made = steps(title)
    assert made, f"the section {title!r} has no steps with code"
    for step in made:
        target = tree / step.path
        if target.exists():
            target.write_text(_with_step(target.read_text("utf-8"), step), "utf-8")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(step.code, "utf-8")


def _with_step(text: str, step: Step) -> str:
    if step.language == "diff":
        lines = step.code.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        assert text.count(old) == 1, f"{step.path} does not have these lines once:\n{old}"
        return text.replace(old, "".join(line[1:] for line in lines if line[0] in " +"))
    if not step.path.endswith(".py"):
        return text + step.code
    new = step.code.splitlines()
    imports = [node for node in ast.parse(step.code).body if _is_import(node)]
    moved = [number for node in imports for number in range(node.lineno - 1, node.end_lineno or 0)]
    kept = [line for number, line in enumerate(new) if number not in moved]
    last = max(node.end_lineno or 0 for node in ast.parse(text).body if _is_import(node))
    lines = text.splitlines()
    lines[last:last] = [new[number] for number in moved]
    return "\n".join([*lines, "", "", *kept]) + "\n"


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def run(tree: Path, command: str, *, without: str = "") -> str:
    """Run a command in a copy, with the sources of the copy; what it printed.

    Args:
        tree: The copy.
        command: As the page has it. `make` does not touch the environment.
        without: A goal of `make` that is left out, since it takes long.
    """
    if command.startswith("make "):
        goals = [goal for goal in command.split()[1:] if goal != without]
        command = " ".join(("make -o environment", *goals))
    command = command.replace("./nacre ", ".venv/bin/python -m nacre ")
    paths = os.pathsep.join(str(tree / name) for name in ("src", "migrate/src", "simweb/src"))
    environment = {name: text for name, text in os.environ.items() if "COV" not in name}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tree,
        env=environment | {"PYTHONPATH": paths, "XDG_CONFIG_HOME": str(tree / "config")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout
